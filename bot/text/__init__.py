"""Strings in, strings out: comparison, digests, secrets and personal data hidden, “did you mean”."""
