"""What a change of taxonomy or config would do to the regression set, before it is merged."""
