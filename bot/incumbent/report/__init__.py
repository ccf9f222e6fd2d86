"""Verdicts as Markdown, console text and JSON, and the dashboard."""
