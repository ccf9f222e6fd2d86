"""Reads the customers' agent specifications and eval sets, with one reader per format."""
