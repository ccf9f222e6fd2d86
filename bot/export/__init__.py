"""The regression set in the forms that other tools' runners read: one writer per format, each a pure function."""
