"""Write docs/options.md: every option that the plugin declares, with its ini twin and default.

A test holds the page against what this makes of the options.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pytest_bayesloc.options import add_options
from pytest_bayesloc.options.reading import VALUES

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).resolve().parent.parent / "docs" / "options.md"
COMMAND = "python .ci/make_options.py"
HEAD = f"""\
<!-- Made by `{COMMAND}`: edit the help texts in pytest_bayesloc/options instead. -->

# Options

Most options of the command line have a twin in the ini file, wherever pytest reads its own:
`pytest.ini`, `pyproject.toml`, `tox.ini` or `setup.cfg`. The command line wins. What may be given
several times is a list in the ini file. A value that is not usable ends the run before any test,
with one line that says what was expected.

```toml
[tool.pytest.ini_options]
bayesloc_source = ["src"]
bayesloc_budget = "30"
```

`pytest --help` has the same texts for the version that is installed.
"""


class Section(NamedTuple):
    """A table of the page: of the options whose names begin in one of these ways."""

    title: str
    starts: tuple[str, ...]
    said: str


#: An option stands in the last one that it fits.
SECTIONS = (
    Section("Localization", ("",), "What the numbers mean: [model.md](model.md)."),
    Section(
        "Reports",
        ("report", "record", "merge"),
        "How to read them: [reading.md](reading.md). Without a path they are written to\n"
        "`.bayesloc/`, but `github` and `junit` go into the file that GitHub Actions or\n"
        "`--junitxml` names. The kind `auto` stands for what the CI service at hand shows by\n"
        "itself: [ci.md](ci.md).",
    ),
    Section(
        "Memory",
        ("bug", "memory", "experiment", "max_", "embedding", "world", "loop"),
        "What is remembered, and how to ask: [memory.md](memory.md).",
    ),
    Section(
        "Where tests are run again",
        ("executor", "workers", "host_workspace", "container_workspace", "docker"),
        "Other machines, containers, clusters: [executors.md](executors.md).",
    ),
    Section(
        "Fixes",
        ("fix", "allow_dirty", "trust"),
        "How they are searched, checked and applied: [fixes.md](fixes.md). In the ini file\n"
        "`bayesloc_fix` is `off` or `suggest`; what changes files is asked for by hand.",
    ),
    Section(
        "Language model",
        ("llm",),
        "What it is asked, and what leaves the machine: [llm.md](llm.md).",
    ),
)
#: What holds where nothing is given, for defaults that depend on the run.
IN_WORDS = {
    "bayesloc_green": "what is remembered, else found in git",
    "bayesloc_executor": "`local`",
    "bayesloc_host_workspace": "rootdir",
    "bayesloc_container_workspace": "the same as here",
    "bayesloc_workers": "`auto`: as many as the run had, at most 4; one a place elsewhere",
    "bayesloc_source": "coverage's `source`, else rootdir",
    "bayesloc_report": "`html` with `--bayesloc`",
    "bayesloc_llm_fast_model": "`bayesloc_llm_model`",
}


@dataclass(kw_only=True)
class Entry:
    """One option: on the command line, in the ini file, or both."""

    help: str
    flag: str = ""
    ini: str = ""
    default: str = ""


@dataclass
class Declared:
    """Stands in for pytest's parser, and keeps what is declared."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def getgroup(self, *_: str) -> Declared:
        """All options are one group."""
        return self

    def addoption(self, flag: str, **given: Any) -> None:  # noqa: ANN401 - as pytest's own
        """An option of the command line."""
        entry = self._entry(flag.strip("-").replace("-", "_"), given["help"])
        entry.flag = f"{flag}={given['metavar']}" if "metavar" in given else flag

    def addini(self, name: str, text: str, **given: Any) -> None:  # noqa: ANN401 - as pytest's own
        """An entry of the ini file."""
        entry = self._entry(name, text)
        entry.ini = name
        if given.get("type") == "bool":
            entry.default = "`off`"

    def _entry(self, name: str, text: str) -> Entry:
        return self.entries.setdefault(name, Entry(help=text))


def declared() -> dict[str, Entry]:
    """Every option by its name in the ini file, or what it would be there."""
    found = Declared()
    add_options(cast("pytest.Parser", found))
    for option in VALUES:
        entry = found.entries[f"bayesloc_{option.name}"]
        entry.help, entry.default = option.help, _code(option.default)
    for name, words in IN_WORDS.items():
        found.entries[name].default = words
    return found.entries


def page() -> str:
    """The page."""
    rows: dict[str, list[Entry]] = {section.title: [] for section in SECTIONS}
    for name, entry in sorted(declared().items(), key=_place):
        rows[_section(name).title].append(entry)
    parts = [HEAD]
    for section in SECTIONS:
        parts += [f"## {section.title}\n\n{section.said}\n", _table(rows[section.title])]
    return "\n".join(parts)


def _section(name: str) -> Section:
    own = name.removeprefix("bayesloc_")
    return next(section for section in reversed(SECTIONS) if own.startswith(section.starts))


def _place(item: tuple[str, Entry]) -> bool:
    """What a section is named after comes first, the others as they are declared."""
    name = item[0].removeprefix("bayesloc_")
    return name not in _section(name).starts


def _table(entries: list[Entry]) -> str:
    lines = ["| option, and its name in the ini file | default | |", "|---|---|---|"]
    for entry in entries:
        names = "<br>".join(_code(name) for name in (entry.flag, entry.ini) if name)
        cells = (names, entry.default, _text(entry.help))
        lines.append(f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    # A bar ends a cell, and is not written alike in code by all that read Markdown.
    return f"<code>{_text(text)}</code>" if "|" in text else f"`{text}`" if text else ""


def _text(text: str) -> str:
    return escape(text, quote=False).replace("|", "&#124;")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE} is written.\n")
