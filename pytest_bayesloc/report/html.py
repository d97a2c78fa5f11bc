"""The report as one self-contained HTML page, that works from ``file://`` without a network.

Python source on it has comments, strings, keywords and numbers marked up.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import resources

import jinja2
from markupsafe import Markup, escape

from pytest_bayesloc.report import memory, words
from pytest_bayesloc.report.document import Document, ReadSource
from pytest_bayesloc.report.drawings import belief_chart, call_graph
from pytest_bayesloc.report.text import one_line, percent, score, seconds, visible
from pytest_bayesloc.report.view import answers, faults_of, sources_of

# Good enough for broken source as well, which the standard tokenizer refuses.
_STRINGS = (
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)',
    r"'''(?:[^\\]|\\.)*?(?:'''|\Z)",
    r'"(?:[^"\\\n]|\\.)*"?',
    r"'(?:[^'\\\n]|\\.)*'?",
)
_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)"
    rf"|(?P<string>(?:\b[rbfuRBFU]{{1,2}})?(?:{'|'.join(_STRINGS)}))"
    rf"|(?P<keyword>\b(?:{'|'.join(keyword.kwlist)})\b)"
    r"|(?P<number>\b\d[\w.]*)",
    re.DOTALL,
)
_MARKED = Markup('<span class="{}">{}</span>')


def coloured(lines: Sequence[str]) -> list[Markup]:
    """Return lines of Python as markup; tokens are elements with their kind as class."""
    return Markup("").join(_pieces("\n".join(lines))).split("\n")


def _pieces(text: str) -> Iterator[Markup]:
    at = 0
    for match in _TOKEN.finditer(text):
        yield escape(visible(text[at : match.start()]))
        parts = (_MARKED.format(match.lastgroup, visible(part)) for part in match[0].split("\n"))
        yield Markup("\n").join(parts)
        at = match.end()
    yield escape(visible(text[at:]))


def with_code(text: str) -> Markup:
    """Return text as markup, in which what stands between backticks is code."""
    shown = visible(text)
    parts = shown.split("`")
    if len(parts) % 2 == 0:  # one of them has no partner
        return escape(shown)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if n % 2 else escape(part)
        for n, part in enumerate(parts)
    )


TEMPLATE = "report.html.j2"
MAX_PLAIN = 400_000  # characters of long parts
#: Put parts of the document into words.
FILTERS: dict[str, Callable[..., object]] = {
    "bare_name": words.bare_name,
    "caution": words.caution,
    "changed": words.changed_lines,
    "chart": belief_chart,
    "coloured": coloured,
    "counts": words.counts_of,
    "curves": memory.curves,
    "diff": lambda patch: list(words.diff_lines(patch)),
    "failure_groups": words.failure_groups,
    "heat": words.heat,
    "is_empty": memory.is_empty,
    "kinds": words.kinds_of,
    "link": words.link_to,
    "month_rows": memory.month_rows,
    "name": words.name_of,
    "next_step": words.next_step,
    "one_line": one_line,
    "per_cent": lambda value: round(value * 100, 1),
    "percent": percent,
    "place": words.place_of,
    "rank": words.rank_of,
    "ratio": words.ratio_of,
    "reached": words.reached,
    "said": words.said_of,
    "score": score,
    "seconds": seconds,
    "shown_values": words.shown_values,
    "similar_lines": memory.similar_lines,
    "summary": words.summary_of,
    "suspiciousness": words.suspiciousness_of,
    "telling": words.telling,
    "tracebacks": words.tracebacks,
    "trial_lines": memory.trial_lines,
    "verdict": words.verdict_of,
    "where": words.where_of,
    "with_code": with_code,
    "words": words.words_of,
}


def render(document: Document, read_source: ReadSource, prompt: str = "") -> str:
    """Return the page of ``document``, which offers ``prompt`` if there is one.

    It can be written as UTF-8, whatever a message holds.
    """
    faults = faults_of(document, read_source)
    style, script = _asset("static/report.css"), _asset("static/report.js")
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            document=document,
            faults=faults,
            answers=answers(faults),
            sources=list(sources_of(document["faults"], read_source)),
            llm=words.llm_words(document["llm"]),
            calls=document["call_graph"]["edges"],
            memory=document["memory"],
            drawing=call_graph(document),
            prompt=prompt,
            figures=[name for _, name, _ in memory.FIGURES],
            glyphs=words.GLYPHS,
            pack=_packer(),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            policy=_policy(style, script),
        )
    )


def _packer() -> Callable[..., Markup]:
    """Return what folds away parts that would make the page slow; the script unfolds them.

    The first ``MAX_PLAIN`` characters stay as they are, so that a page of the usual size can be
    searched and printed as a whole.
    """
    left = MAX_PLAIN

    def pack(markup: Markup, holds: str = "", *, keep: bool = False) -> Markup:
        """Return ``markup``, or it compressed.

        Args:
            markup: Of our templates, escaped.
            holds: What the names of its anchors begin with.
            keep: Whether it stays as it is in any case.
        """
        nonlocal left
        if keep or len(markup) <= left:
            left -= len(markup)
            return markup
        data = gzip.compress(markup.encode("utf-8", "backslashreplace"), mtime=0)
        packed = base64.b64encode(data).decode("ascii")
        return Markup(
            '<div class="packed" aria-busy="true" data-holds="{}" data-packed="{}">'
            "<p>This part is unpacked by a script, which did not run.</p></div>"
        ).format(holds, packed)

    return pack


def _environment() -> jinja2.Environment:
    """Return what escapes everything, and spells out unsafe characters (``finalize``)."""
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(lambda name: _asset(f"templates/{name}")),
        finalize=_safe,
    )
    environment.filters.update(FILTERS)
    return environment


def _safe(value: object) -> object:
    return visible(value) if type(value) is str else value


def _asset(name: str) -> str:
    """Return a file shipped beside this module."""
    text = resources.files("pytest_bayesloc.report").joinpath(name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # the policy's hashes hold for Unix line ends only


def _policy(style: str, script: str) -> str:
    """Return the content security policy: nothing but the page's own style and script."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
