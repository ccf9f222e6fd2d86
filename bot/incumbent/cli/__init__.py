"""The command line: one file for the commands that belong together, loaded only when it is called."""
