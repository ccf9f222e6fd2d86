"""People's answers to verdicts, and how far they agree with them (semantics, section 8; pure)."""
