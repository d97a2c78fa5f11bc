"""Ways to inspect a suspect: one a file."""
