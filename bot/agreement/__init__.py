"""What people answer to verdicts, and how far they agree (semantics, section 8; pure)."""
