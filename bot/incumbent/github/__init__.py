"""The GitHub interface: events, commands, the verdict comment, the check, and the writes, planned as values."""
