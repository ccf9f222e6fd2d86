"""Incumbent: a regression eval set kept small and wide."""
