"""What in the set-up of a repository on GitHub stands in the way: read as facts, diagnosed as findings."""
