"""Bayesian fault localization inside a pytest run."""
