"""What customers expect of answers, understood: the ways in which formats say it, one module each."""
