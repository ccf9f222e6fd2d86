"""Reads expectations of answers in the forms of the formats, one module for each form."""
