"""Bayesian fault localization inside a pytest run.

PYTEST_DONT_REWRITE: a re-run imports it before pytest is there.
"""
