"""Tests that fail for a known cause that is no mistake of a function."""
