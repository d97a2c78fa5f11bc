"""Frozen values that every room shares, and the ports that adapters fill."""
