"""What every command and job calls: the steps from a submission to a planned change.  Writes nothing."""
