"""Exports for other runners, and readers of their results."""
