"""The capability taxonomy: model, loading, checks, rules, patterns, exemplars, changes and migration."""
