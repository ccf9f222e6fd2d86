"""After the merge: what the default branch holds becomes what the regression set should be."""
