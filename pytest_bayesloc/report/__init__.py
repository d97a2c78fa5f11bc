"""Draws the result of a run for a terminal, a browser and other programs."""
