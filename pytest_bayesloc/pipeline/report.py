"""The stage that reports: it makes the result, writes reports of it, and prints the answer."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from pytest_bayesloc.domain.advice import Remembered
from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.redaction import REDACTED
from pytest_bayesloc.domain.texts import count
from pytest_bayesloc.llm.privacy import local_privacy
from pytest_bayesloc.options.option import LOOP, RECORD
from pytest_bayesloc.options.readers import offered_formats
from pytest_bayesloc.pipeline.context import own_folder, replace_text
from pytest_bayesloc.report import markdown
from pytest_bayesloc.report.ci import Checkout, marks, to_gitlab, to_sarif, with_properties
from pytest_bayesloc.report.document import ReadSource, ResultDocument, SessionEntry, UsageEntry
from pytest_bayesloc.report.encoding import Result, dumps, encode, verdict_line
from pytest_bayesloc.report.memory import advice_lines, memory_entry
from pytest_bayesloc.report.terminal import answer
from pytest_bayesloc.report.text import Line
from pytest_bayesloc.report.view import N_SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.options.option import Report
    from pytest_bayesloc.pipeline.context import Context
    from pytest_bayesloc.ranking.case import Case

#: The formats that have a place of their own, and what says where that is, if nobody did.
PLACES = {"github": "the variable GITHUB_STEP_SUMMARY", "junit": "--junit-xml"}
#: The others, and the name of their file, where no path was asked for.
FILES = {
    "html": "bayesloc-report.html",
    "json": "bayesloc-report.json",
    "sarif": "bayesloc-report.sarif",
    "gitlab": "gl-code-quality-report.json",
    "markdown": "bayesloc-report.md",
    "graphml": "bayesloc-calls.graphml",
    "dot": "bayesloc-calls.dot",
    "node-link": "bayesloc-calls.json",
}
MAX_BEFORE = 64 << 20  # bytes of a file that is read to be added to


class WritingError(BayeslocError):
    """A report that can't be written."""


def notify_plugins(context: Context, faults: Sequence[Fault]) -> None:
    """Tell plugins that listen."""
    context.call_others(
        "pytest_bayesloc_localized",
        lambda: context.config.hook.pytest_bayesloc_localized(config=context.config, faults=faults),
        effect="what it is for is missing",
        slug="broken-listener",
    )


def document_of(
    context: Context,
    faults: tuple[Fault, ...],
    cases: Sequence[Case],
    usage: UsageEntry | None,
) -> ResultDocument:
    """Return the JSON result of ``faults``."""
    from pytest_bayesloc.ranking.faults import calls_around, combine

    recorded, settings = context.recorder.recorded, context.settings
    result = Result(
        session=SessionEntry(
            pytest_version=pytest.__version__,
            python_version=platform.python_version(),
            n_passed=sum(recorded.verdicts.values()),
            n_remembered=len(recorded.remembered),
            n_traced=recorded.n_traced,
            n_failed=sum(not passed for passed in recorded.verdicts.values()),
            n_refused=context.n_refused,
            n_rejected=context.n_rejected,
            collector=recorded.collector,
            executor=context.executor,
            formula=settings.formula,
            model=settings.model,
            threshold=settings.threshold,
            seconds=context.seconds,
        ),
        ranking=combine(faults),
        faults=faults,
        edges=calls_around(faults, cases),
        partial=(*recorded.partial, *context.notes),
        memory=memory_entry(context.remembered or Remembered()),
        llm=usage or UsageEntry(),
        fixes=tuple(fix for fix, _ in context.fixes),
    )
    document = encode(result, context.redaction)
    _note_withheld(context, document)
    return document


def _note_withheld(context: Context, document: ResultDocument) -> None:
    """Say in ``document`` how many secrets it and the source lines beside it lack."""
    for row in (row for fault in document.faults for row in fault.ranking[:N_SOURCES]):
        lines = (context.sources.read(row.file) or "").splitlines()
        context.clean("\n".join(lines[row.start_line - 1 : row.end_line]))
    n = 0 if context.redaction is None else context.redaction.n_withheld
    if n:
        document.partial.append(
            f"{count(n, 'secret')} withheld, as {REDACTED}: --bayesloc-without=redaction shows "
            "what stands there."
        )


# -- writing


def write(context: Context, document: ResultDocument) -> dict[str, Path]:
    """Write the reports that were asked for; one that can't be written costs a note.

    Returns:
        Per kind of report, where it is.
    """
    written = {}
    for report in context.settings.reports:
        if report.kind in {RECORD, LOOP}:  # written in every run, by merge and below
            continue
        try:
            written[report.kind] = _written(context, report, document)
        except WritingError as error:
            context.notes.append(str(error))
    return written


def write_verdict(context: Context, document: ResultDocument) -> str:
    """Write the verdict on loops where it was asked for, and return it.

    The result of a run that passed has no faults.
    """
    is_watched = "loops" not in context.settings.without
    text = verdict_line(document, is_watched=is_watched)
    path = None
    try:
        for path in filter(None, (report.path for report in context.settings.verdicts)):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, text + "\n")
    except OSError as error:
        context.notes.append(
            f"The loop report can't be written to {path}: {error.strerror or error}. "
            "Give a path that can, as --bayesloc-report=loop:PATH. (report-not-written)"
        )
    return text


def _written(context: Context, report: Report, document: ResultDocument) -> Path:
    """Write one report, and return where it is.

    Raises:
        WritingError: If it can't be written.
    """
    kind, path = report.kind, report.path
    if path is None and kind in PLACES:
        path = _place(context, kind)
    try:
        if kind in {*FILES, *PLACES}:
            before = _text(path) if path is not None and kind in PLACES else ""
            asked = ""
            if kind == "html" and "prompt" not in context.settings.without:
                privacy = local_privacy(context.rootdir, context.settings.llm_never_send)
                reader = privacy.reader(context.sources.read)
                asked = markdown.prompt(document, reader, privacy.clean)
            around = Checkout.around(context.rootdir, context.launch.environment)
            text = render(kind, document, context.read, around, prompt=asked, before=before)
        else:
            text = _text_of_plugin(context, kind, document)
        return _put(context, text, kind, path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise WritingError(
            f"The {kind} report can't be written to {path or 'its usual place'}: {why}. "
            f"Give a path that can, as --bayesloc-report={kind}:PATH.",
            slug="report-not-written",
        ) from error


def _place(context: Context, kind: str) -> Path:
    """Return the file that others have made for a report.

    Raises:
        WritingError: If there is none.
    """
    named = {
        "github": context.launch.environment.get("GITHUB_STEP_SUMMARY"),
        "junit": getattr(context.config.option, "xmlpath", None),
    }[kind]
    if not named:
        raise WritingError(
            f"The {kind} report has no place: give one, as --bayesloc-report={kind}:PATH, or "
            f"{PLACES[kind]}.",
            slug="report-not-written",
        )
    if kind == "junit":  # pytest takes variables and the home folder in its own option
        return Path(os.path.expandvars(named)).expanduser()
    return Path(named)


def _put(context: Context, text: str, kind: str, path: Path | None) -> Path:
    """Write a report where it was asked for, else below our folder or a temporary one."""
    if path is None:
        name = FILES.get(kind, f"bayesloc-report.{kind}")
        try:
            return replace_text(own_folder(context.rootdir) / name, text)
        except OSError:
            return replace_text(Path(tempfile.mkdtemp(prefix="bayesloc-report-")) / name, text)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind != "github":  # its file holds what other steps of the job have said
        return replace_text(path, text)
    with path.open("a", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(text)
    return path


# -- printing


def print_answer(
    context: Context,
    reporter: pytest.TerminalReporter,
    document: ResultDocument | None,
    written: Mapping[str, Path],
    unsent: Sequence[str],
) -> None:
    """Print the answer below the failures; ``document`` is None if nothing failed."""
    harmless = without_commands if "github" in written else str
    lines = _lines(context, reporter, document, written)
    if lines or context.notes:
        reporter.section("bayesloc", bold=True)
    for line in lines:
        reporter.write_line(harmless(line.text), **line.markup)
    for note in context.notes:
        reporter.write_line(harmless(f"bayesloc: {note}"), yellow=True)
    if document is not None and "github" in written:
        around = Checkout.around(context.rootdir, context.launch.environment)
        for command in marks(document, around):  # GitHub reads them in the log
            reporter.write_line(command)
    for prompt_text in unsent:
        reporter.section("bayesloc: not sent", sep="-")
        reporter.write_line(harmless(prompt_text))


def _lines(
    context: Context,
    reporter: pytest.TerminalReporter,
    document: ResultDocument | None,
    written: Mapping[str, Path],
) -> list[Line]:
    if document is None:
        return [Line(text) for text in (context.remembered.messages if context.remembered else ())]
    width = reporter._tw.fullwidth  # noqa: SLF001 - no public way leads to the width
    memory, advises = document.memory, context.settings.advises
    # The notes are printed below it, in full; so is advice, where it was asked for.
    known = set(map(context.clean, context.notes))
    lines = answer(
        replace(
            document,
            partial=[text for text in document.partial if text not in known],
            memory=replace(memory, advice=[], loops=[]) if advises else memory,
        ),
        context.read,
        width=width,
        reports={kind: str(path) for kind, path in written.items()},
        verbosity=reporter.verbosity,
        is_inspected=context.settings.inspect,
    )
    return lines + advice_lines(memory, in_full=advises)


def render(
    kind: str,
    document: ResultDocument,
    read_source: ReadSource,
    checkout: Checkout,
    *,
    prompt: str = "",
    before: str = "",
) -> str:
    """Return the text of a report.

    Args:
        kind: One of ``FILES`` or ``PLACES``.
        document: A ``bayesloc/1`` result.
        read_source: Text of a file of the project, None if it can't be read.
        checkout: Where its files lie in the repository.
        prompt: For an assistant; empty: none is offered.
        before: What stands in the file now; empty if there is none.

    Raises:
        ValueError: If the text can't be added to what stands there.
    """
    if kind == "html":
        from pytest_bayesloc.report import html  # Jinja is slow to import

        return html.render(document, read_source, prompt)
    texts: Mapping[str, Callable[[], str]] = {
        "json": lambda: dumps(document),
        "sarif": lambda: dumps(to_sarif(document, checkout, _version())),
        "gitlab": lambda: dumps(to_gitlab(document, checkout)),
        "markdown": lambda: markdown.render(document, read_source),
        "github": lambda: markdown.summary(document, read_source, before),
        "junit": lambda: with_properties(before, document),
    }
    if kind in texts:
        return texts[kind]()
    from pytest_bayesloc.report import graphs  # so is networkx

    to_text = {"graphml": graphs.to_graphml, "dot": graphs.to_dot, "node-link": graphs.to_node_link}
    return to_text[kind](document)


def _version() -> str:
    try:
        return metadata.version("pytest-bayesloc")
    except metadata.PackageNotFoundError:  # run from its sources
        return "unknown"


def without_commands(text: str) -> str:
    """Return ``text`` without commands to GitHub Actions: messages that it quotes may hold some."""
    return re.sub(r"^(\s*):(?=:)", r"\1: ", text, flags=re.MULTILINE).replace("##[", "# #[")


def _text_of_plugin(context: Context, name: str, document: ResultDocument) -> str:
    """Return the text that another plugin makes.

    Raises:
        WritingError: If it fails, or its hook did.
    """
    formats, wrong = offered_formats(context.config)
    if name not in formats:
        raise WritingError(
            f"A plugin's pytest_bayesloc_report_formats failed "
            f"({wrong or 'it offered more before'}): there is no {name} report.",
            slug="broken-format",
        )
    try:
        text: object = formats[name](to_builtins(document))
    except Exception as error:  # noqa: BLE001 - it is not ours, and may raise anything
        wrong = f"{type(error).__name__}: {error}"
    else:
        if isinstance(text, str):
            return text
        wrong = f"it gave {type(text).__name__}, not text"
    raise WritingError(
        f"The plugin that makes {name} reports failed ({wrong}): there is none.",
        slug="broken-format",
    )


def _text(path: Path) -> str:
    """Return the text of a file; what is no UTF-8 is kept as it is."""
    if not path.exists():
        return ""
    if path.stat().st_size > MAX_BEFORE:
        raise ValueError(f"what stands there is larger than {MAX_BEFORE >> 20} MiB")
    return path.read_text(encoding="utf-8", errors="surrogateescape")
