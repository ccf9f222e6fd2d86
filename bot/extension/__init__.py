"""Extension candidates: what customers ask for and the taxonomy has no capability for, found and drafted for people."""
