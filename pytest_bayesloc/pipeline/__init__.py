"""Stages of a session that need more than a few lines: one a file."""
