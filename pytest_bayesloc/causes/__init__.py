"""Causes of failures that are no mistake of a function: what lies around the code, and tests."""
