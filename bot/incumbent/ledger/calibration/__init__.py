"""Fits the knobs to validated overrides (docs/calibration.md; pure)."""
