"""The regression set: roles, prune, admission, and its files; the only writer to R (paper, section 2.4)."""
