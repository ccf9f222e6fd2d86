"""The steps from a submission to a planned change, called by every command and job. Writes nothing."""
