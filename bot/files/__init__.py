"""The only way bytes become data: snapshots, limits, YAML and JSON, validation, atomic writes."""
