"""Stored facts and people's decisions: the contents of the orphan branch ``incumbent/ledger`` (docs/ledger.md)."""
