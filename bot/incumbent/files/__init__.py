"""Reads and writes files: snapshots, limits, YAML and JSON, validation, atomic writes."""
