"""Finds, masks and replaces personal data in users' texts (docs/personal-data.md)."""
