"""What release runs say of entries: results as evidence, which no verdict rests on."""
