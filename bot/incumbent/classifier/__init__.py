"""Query → values and confidences: specification path, inference path, arbitration."""
