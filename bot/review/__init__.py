"""What people make of the verdicts: their agreement, which of their words may teach, and what these would teach."""
