"""From the raw queries of production traffic to an eval set of the few that would have merit (docs/triage.md)."""
