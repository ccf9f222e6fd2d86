"""Extension candidates: finds and drafts capabilities that customers ask for and the taxonomy lacks."""
