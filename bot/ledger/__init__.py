"""Stored facts and people's decisions: what the orphan branch ``incumbent/ledger`` holds (docs/ledger.md)."""
