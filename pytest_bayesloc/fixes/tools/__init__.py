"""The shelf: one tool a file, each with its definition beside it."""
