"""A fault of the plugin's own: said, and without consequence for the tests."""

from __future__ import annotations

import warnings
from contextlib import suppress

import pytest


class BayeslocWarning(pytest.PytestWarning):
    """Something of ours went wrong; the tests and pytest's exit status are as they would be."""


def warn_of(config: pytest.Config, error: Exception) -> str:
    """Issue a warning of ``error``; the same as a note."""
    text = (
        f"pytest-bayesloc failed ({type(error).__name__}: {error}): the tests and the exit "
        "status are not affected. Please report it, or run with --no-bayesloc. (own-fault)"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with suppress(BayeslocWarning):  # where warnings are errors, the note has to do
            config.issue_config_time_warning(BayeslocWarning(text), stacklevel=2)
    return text
