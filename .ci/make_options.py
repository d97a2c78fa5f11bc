"""Write docs/options.md from the declarations of ``pytest_bayesloc.options.settings``.

A test holds the page against what this makes of them.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_bayesloc.options.settings import declarations

if TYPE_CHECKING:
    from pytest_bayesloc.options.option import Option

PAGE = Path(__file__).resolve().parent.parent / "docs" / "options.md"
COMMAND = "python .ci/make_options.py"
HEAD = f"""\
<!-- Made by `{COMMAND}`: edit the declarations in pytest_bayesloc/options/settings.py instead. -->

# Options

For whoever looks up an option. Most options of the command line have a twin in the ini file,
wherever pytest reads its own: `pytest.ini`, `pyproject.toml`, `tox.ini` or `setup.cfg`. The command
line wins. What may be given several times is a list in the ini file. A value that is not usable
ends the run before any test, with one line that says what was expected.

```toml
[tool.pytest.ini_options]
bayesloc_source = ["src"]
bayesloc_budget = "30"
```

`pytest --help` shows the options that people use most.
"""
#: The sections in their order, and what stands above their tables.
SECTIONS = {
    "Localization": "What the numbers mean: [model.md](model.md). `--bayesloc-without` also takes\n"
    "`loops` (warnings of loops), `world-model` (advice beyond one bug), `prompt` (the prompt\n"
    "for an assistant on the page) and `redaction` (secrets are taken out of reports:\n"
    "[safety.md](safety.md#secrets)).",
    "Reports": "How to read them: [reading.md](reading.md). Without a path they are written to\n"
    "`.bayesloc/`, but `github` and `junit` go into the file that GitHub Actions or\n"
    "`--junitxml` names. `auto` stands for what the CI service at hand shows by itself, and\n"
    "`record:PATH` keeps what the tests did, to be merged with other runs: [ci.md](ci.md).",
    "Memory": "What is remembered, and how to ask: [memory.md](memory.md).",
    "Where tests are run again": "Other machines, containers, clusters: "
    "[executors.md](executors.md).",
    "Fixes": "How they are searched, checked and applied: [fixes.md](fixes.md). In the ini file\n"
    "`bayesloc_fix` is `off` or `suggest`; what changes files is asked for by hand.",
    "Language model": "What it is asked, and what leaves the machine: [llm.md](llm.md).",
}


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for title, text in SECTIONS.items():
        options = [option for option in declarations() if option.section == title]
        parts += [f"## {title}\n\n{text}\n", _table(options)]
    return "\n".join(parts)


def _table(options: list[Option]) -> str:
    lines = ["| option, and its name in the ini file | default | |", "|---|---|---|"]
    for option in options:
        flag = f"{option.flag}={option.metavar}" if option.metavar else option.flag
        names = "<br>".join(_code(name) for name in (flag, option.name if option.in_ini else ""))
        default = option.default_words or _code(option.default if option.metavar else "off")
        cells = (names.removesuffix("<br>"), default, _text(option.help))
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
