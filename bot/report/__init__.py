"""Verdicts as Markdown, console text and JSON."""
