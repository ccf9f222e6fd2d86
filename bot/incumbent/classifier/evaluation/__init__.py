"""How good the classifier is: labels, predictions, measures and comparisons (semantics, section 8; pure)."""
