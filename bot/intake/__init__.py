"""What a customer brings: agent specifications and eval sets, one reader per format."""
