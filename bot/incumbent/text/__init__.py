"""Functions from strings to strings: comparison, digests, “did you mean”, masking of secrets and personal data."""
