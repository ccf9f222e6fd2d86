"""What in a repository's set-up on GitHub blocks the bot: read as facts, diagnosed as findings."""
