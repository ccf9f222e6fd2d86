"""Renames and splits of capabilities, carried through the files of a platform repository."""
