"""Kinds of inspection patches, one a file."""
