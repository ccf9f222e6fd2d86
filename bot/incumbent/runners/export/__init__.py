"""The regression set in the formats of other tools' runners: one writer per format, each a pure function."""
