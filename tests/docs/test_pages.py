"""What the pages name is there, and their examples can be read by what they are for."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shlex
import sys
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from pytest_bayesloc import hookspecs
from pytest_bayesloc.options.settings import declarations
from pytest_bayesloc.report.terminal import EVERYTHING, EXTENTS
from pytest_bayesloc.report.view import KINDS, ORIGINS
from tests.pages import BLOCKS, PAGES, ROOT, Block, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.one_python


MADE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "make_options.py"))
SCHEMA: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "make_schema.py"))
CHECKS: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "check_site.py"))
FLAGS = {option.flag for option in declarations()}
INI = {option.name for option in declarations() if option.in_ini}

FLAG = re.compile(r"(?<![\w-])--(?:no-)?(?:bayesloc|bug)(?![a-z])[a-z-]*")
#: Not the package, its hooks, or folders.
INI_NAME = re.compile(r"(?<!\w)(?:no_bayesloc|bug_[a-z_]+|bayesloc_[a-z_]+)(?![\w/])")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
COMMAND = re.compile(r"^(?:\$ |- run: )?((?:python -m )?pytest(?: .*)?)$")
#: The same between backticks, but for what older releases of pytest do while they parse it.
IN_TEXT = re.compile(r"(?<!`)`(pytest (?!--help)[^`\n]+)`")
#: Options of plugins that may not be there: pytest's own cache, pytest-split.
OF_OTHERS = frozenset({"--lf", "--splits", "--group"})
TOML = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
READERS = {
    "json": json.loads,
    "python": ast.parse,
    "toml": TOML.loads,
    "yaml": yaml.safe_load,
}
on_every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def test_page_of_options_is_what_the_options_make() -> None:
    page: Path = MADE["PAGE"]

    made = MADE["page"]()

    assert page.read_text("utf-8") == made, f"run {MADE['COMMAND']}"


def test_schemas_are_what_the_types_make() -> None:
    made: dict[Path, str] = SCHEMA["schemas"]()

    assert {file: file.read_text("utf-8") for file in made} == made, f"run {SCHEMA['COMMAND']}"


def test_every_option_is_on_its_page() -> None:
    text = MADE["PAGE"].read_text("utf-8")

    assert set(FLAG.findall(text)) == FLAGS
    assert INI - set(INI_NAME.findall(text)) <= {"bayesloc"}


@on_every_page
def test_options_on_a_page_exist(path: Path) -> None:
    assert set(FLAG.findall(path.read_text("utf-8"))) - FLAGS == set()


@on_every_page
def test_ini_names_on_a_page_exist(path: Path) -> None:
    mark = {"bayesloc_never_rerun"}

    assert set(INI_NAME.findall(path.read_text("utf-8"))) - INI - mark == set()


@on_every_page
def test_links_to_files_lead_somewhere(path: Path) -> None:
    links = LINK.findall(path.read_text("utf-8"))

    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize(
    "block", [b for b in BLOCKS if b.language in READERS], ids=lambda block: block.where
)
def test_block_can_be_read(block: Block) -> None:
    READERS[block.language](block.text)


def commands() -> Iterator[tuple[str, str]]:
    """Where a page shows how to call pytest, and how."""
    for block in BLOCKS:
        if block.language in {"", "bash", "console", "yaml"}:
            for line in block.text.splitlines():
                found = COMMAND.match(line.strip())
                if found:
                    yield block.where, found.group(1).partition(" # ")[0].strip()
    for path in PAGES:
        for command in IN_TEXT.findall(path.read_text("utf-8")):
            yield path.name, command


@pytest.mark.parametrize(("where", "command"), sorted(set(commands())))
def test_commands_use_options_that_exist(
    pytestconfig: pytest.Config, where: str, command: str
) -> None:
    _, _, arguments = command.partition("pytest")

    _, unknown = pytestconfig._parser.parse_known_and_unknown_args(shlex.split(arguments))

    options = [word for word in unknown if word.startswith("-")]
    assert [option for option in options if option not in OF_OTHERS] == []


def test_blocks_are_found_with_and_without_fences(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Text:\n\n    $ pytest\n    x\n\n```python\n# a/b.py\ny = 1\n```\n\n- run:\n\n"
        "  ```toml\n  z = 2\n  ```\n",
        encoding="utf-8",
    )

    found = {(block.where, block.language, block.text, block.file) for block in blocks(page)}

    assert found == {
        ("page.md:3", "", "$ pytest\nx\n", ""),
        ("page.md:6", "python", "# a/b.py\ny = 1\n", "a/b.py"),
        ("page.md:13", "toml", "z = 2\n", ""),
    }


@pytest.mark.parametrize(
    ("text", "flags", "names"),
    [
        ("`--bayesloc-budget=30` is `bayesloc_budget`", ["--bayesloc-budget"], ["bayesloc_budget"]),
        (".bayesloc/bayesloc-report.html in bayesloc_fixes/", [], []),
        ("pytest_bayesloc_localized of pytest_bayesloc", [], []),
        ("--no-bayesloc, --bug-note", ["--no-bayesloc", "--bug-note"], []),
    ],
)
def test_names_of_options_are_told_from_others(
    text: str, flags: list[str], names: list[str]
) -> None:
    assert FLAG.findall(text) == flags
    assert INI_NAME.findall(text) == names


# -- what the pages on reading say of others


READING = "".join(
    (ROOT / "docs" / page).read_text("utf-8") for page in ("reading.md", "reading-reference.md")
)


def rows_behind(head: str) -> list[list[str]]:
    """The rows of the table of those pages whose first line begins so."""
    lines = READING[READING.index(head) :].partition("\n\n")[0].splitlines()
    return [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines[2:]]


def test_names_on_the_page_on_architecture_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    names = set(re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", text)) - {"pyproject.toml"}

    assert len(names) > 40
    assert [name for name in sorted(names) if not _exists(name)] == []


def _exists(name: str) -> bool:
    """Return whether the package has a module, or something in one, of this dotted name.

    Nothing is imported: a module may need a package that is not there.
    """
    path, parts = ROOT / "pytest_bayesloc", name.split(".")
    while parts and (path / parts[0] / "__init__.py").is_file():
        path /= parts.pop(0)
    file = path / (f"{parts.pop(0)}.py" if parts else "__init__.py")
    if not file.is_file():
        return False
    body = ast.parse(file.read_text("utf-8")).body
    for part in parts:
        scopes = (ast.ClassDef, ast.FunctionDef)
        found = [node for node in body if isinstance(node, scopes) and node.name == part]
        if not found:
            return False
        body = found[0].body
    return True


def test_readme_claims_what_the_page_on_accuracy_shows() -> None:
    said = " ".join((ROOT / "README.md").read_text("utf-8").split())
    page = (ROOT / "docs" / "accuracy.md").read_text("utf-8")
    rows = [line.split("|")[1:] for line in page.splitlines() if line.startswith("|")]
    first = next(i for i, row in enumerate(rows) if "test part" in row[0])
    shares = {row[1].strip(): [*map(_percent, row[2:5])] for row in rows[first : first + 5]}

    ours, formula = (
        shares["this plugin, before it inspects"],
        shares["the best formula, Ochiai of lines"],
    )
    assert (
        f"first in {ours[0]} %, among the first three in {ours[1]} %, and among five in {ours[2]} %"
        in said
    )
    assert f"Tarantula has it first in {shares['Tarantula'][0]} %" in said
    assert f"the best formula in {formula[0]} %" in said


def _percent(cell: str) -> int:
    return round(float(cell.split(maxsplit=1)[0]))


def test_page_on_reading_knows_how_much_is_told() -> None:
    def shown(n: int) -> str:
        return "all" if n == EVERYTHING else str(n)

    told = [
        [flag, *(shown(n) for n in (e.faults, e.lines, e.diff, e.rows, e.steps))]
        for flag, e in zip(("-qq", "-q", "", "-v", "-vv"), EXTENTS.values(), strict=True)
    ]

    assert rows_behind("| | faults |") == told


def test_page_on_reading_has_every_part_of_the_result() -> None:
    schema = json.loads((ROOT / "docs" / "bayesloc-1.schema.json").read_text("utf-8"))

    assert {row[0] for row in rows_behind("| key | |\n|---|---|\n| `schema`")} == {
        *schema["properties"]
    }


def test_page_on_reading_has_every_key_of_the_page() -> None:
    template = resources.files("pytest_bayesloc") / "report" / "templates" / "report.html.j2"
    keys = re.compile(r"<dt>(<kbd>.*?)</dt><dd>(.*?)</dd>")

    assert [list(found) for found in keys.findall(template.read_text("utf-8"))] == rows_behind(
        "| key | |\n|---|---|\n| <kbd>"
    )


@pytest.mark.parametrize("words", [*ORIGINS.values(), *KINDS.values()])
def test_page_on_reading_has_the_words_of_the_terminal(words: str) -> None:
    assert f"*{words.removeprefix('likely cause: ')}*" in " ".join(READING.split())


# -- what the page on extending promises


def test_hooks_say_the_mark_that_the_page_gives_them() -> None:
    page = (ROOT / "docs" / "extending.md").read_text("utf-8")
    marks = dict(re.findall(r"^\| `(pytest_bayesloc_\w+)` \| (\w+) \|", page, re.MULTILINE))
    said = {
        name: re.findall(r"^ *(Stable|Experimental): ", hook.__doc__ or "", re.MULTILINE)
        for name, hook in vars(hookspecs).items()
        if name.startswith("pytest_")
    }

    assert said == {name: [mark.capitalize()] for name, mark in marks.items()}


# -- how long pages are


#: Lines that a page may have which is read from top to bottom.
LENGTHS = {"index.md": 59, "ci.md": 150, "reading.md": 150, "accuracy.md": 150, "model.md": 220}
MAX_LINES_OF_PARAGRAPH, MAX_WORDS_OF_CELL = 6, 25
SHORT = PAGES[1:]  # README is the first


@pytest.mark.parametrize("name", LENGTHS)
def test_page_is_read_from_top_to_bottom(name: str) -> None:
    assert len((ROOT / "docs" / name).read_text("utf-8").splitlines()) <= LENGTHS[name]


@on_every_page
def test_paragraphs_of_page_are_short(path: Path) -> None:
    prose = re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL).split("\n\n")
    other = re.compile(r"\n*(?:\||-|\d\.|#|<| {4})")
    paragraphs = [part.strip("\n") for part in prose if not other.match(part)]

    assert [part for part in paragraphs if part.count("\n") >= MAX_LINES_OF_PARAGRAPH] == []


@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.name)
def test_page_says_for_whom_it_is_and_has_short_cells(path: Path) -> None:
    text = path.read_text("utf-8")
    cells = re.findall(r"(?<=\|)[^|\n]+(?=\|)", text)

    assert re.match(r"(?:<!--.*-->\n\n)?# .*\n\nFor whoever ", text)
    assert (
        path.name == "options.md"
        or max(len(cell.split()) for cell in ["", *cells]) <= MAX_WORDS_OF_CELL
    )


# -- what the check of the built site finds


@pytest.mark.parametrize(
    ("markup", "is_loaded"),
    [
        ('<script src="https://example.org/x.js"></script>', True),
        ('<img src="//example.org/x.png">', True),
        ('<link rel="preconnect" href="https://example.org">', True),
        ('<a href="https://example.org">elsewhere</a>', False),
        ('<link rel="canonical" href="https://example.org">', False),
        ('<script src="assets/x.js"></script>', False),
    ],
)
def test_page_that_loads_something_from_elsewhere_is_found(
    tmp_path: Path, markup: str, is_loaded: bool
) -> None:
    (tmp_path / "index.html").write_text(markup, encoding="utf-8")

    assert bool(list(CHECKS["loads"](tmp_path))) == is_loaded


def test_message_without_its_anchor_is_found(tmp_path: Path) -> None:
    (tmp_path / "messages.html").write_text('<h2 id="bad-patch">', encoding="utf-8")

    lost = " ".join(CHECKS["lost_messages"](tmp_path))

    assert "#bad-tool" in lost
    assert "#bad-patch" not in lost
