"""What validated overrides say about the knobs (docs/calibration.md; pure)."""
