"""Invocation quality: the intrinsic adapter, the relational contextualizer, text similarity (paper, section 2.3)."""
