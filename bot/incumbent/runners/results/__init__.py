"""Results of other runners, read."""
