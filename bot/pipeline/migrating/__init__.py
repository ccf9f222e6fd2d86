"""Applies renames and splits of capabilities to the files of a platform repository."""
