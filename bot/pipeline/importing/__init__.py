"""Imports a team's present regression set as R, or as a part of it."""
