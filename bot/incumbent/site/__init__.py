"""The regression set as a static site, for people who would rather look than read."""
