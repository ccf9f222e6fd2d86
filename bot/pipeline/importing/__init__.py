"""A team's present regression set becomes R, or a part of it."""
