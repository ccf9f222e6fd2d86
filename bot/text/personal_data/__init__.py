"""Personal data in what users write: found, masked, replaced.  Strings in, values out (docs/personal-data.md)."""
