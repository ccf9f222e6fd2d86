"""What capabilities exist: model, rules over a specification, loading."""
