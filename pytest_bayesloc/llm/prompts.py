"""Prompts, filled from templates. What comes from elsewhere stands between marks."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.texts import storable, text_digest

if TYPE_CHECKING:
    from jinja2 import Environment

MARK_LENGTH = 12


def render(name: str, **values: Any) -> str:  # noqa: ANN401 - whatever the template shows
    """Return the text of the prompt ``name``, filled with ``values``."""
    return _environment().get_template(f"{name}.j2").render(**values).strip()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("pytest_bayesloc.llm", "templates"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - the result is text for a model, no page
        keep_trailing_newline=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data"] = data
    environment.filters["line"] = line
    return environment


def data(text: str, what: str) -> str:
    """Return ``text`` between marks that it can't hold: they are named by a digest of it."""
    text = storable(str(text)).strip("\n")
    mark = text_digest(f"{what}:{text}", MARK_LENGTH)
    return f'<data "{what}" {mark}>\n{text}\n</data {mark}>'


def line(text: str) -> str:
    """Return ``text`` on one line, short enough to be a name."""
    return " ".join(storable(str(text)).split())[:300]
