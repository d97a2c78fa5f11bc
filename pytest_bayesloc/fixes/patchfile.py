"""A change of a text as a change of the file's bytes, and as a patch that ``git apply`` takes."""

from __future__ import annotations

import difflib
import io
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_bayesloc.domain.errors import FixError
from pytest_bayesloc.domain.source import lines_of

_ENDS = ("\r\n", "\n", "\r")
_NO_END = b"\\ No newline at end of file\n"


def changed_bytes(data: bytes, before: str, after: str, file: str) -> bytes:
    """The bytes of a file after a change of its text; line ends, encoding and BOM stay.

    Args:
        data: Bytes of the file.
        before: Its text, as it was read: lines end in a line feed alone.
        after: The same with the change.
        file: Its name, for messages.

    Raises:
        FixError: If ``data`` does not say what ``before`` does, or its encoding can't say what
            ``after`` does.
    """
    encoding = encoding_of(data, file)
    try:
        lines = lines_of(data.decode(encoding))
    except UnicodeDecodeError as error:
        raise _not_written(file, f"it is not all {encoding}", "mend its encoding first") from error
    if [_with_plain_end(line) for line in lines] != lines_of(before):
        raise _not_written(file, "it changed since the tests ran", "run them again")
    ends = Counter(_end_of(line) for line in lines if _end_of(line))
    usual = ends.most_common(1)[0][0] if ends else "\n"
    written = "".join(_changed(lines, lines_of(before), lines_of(after), usual))
    try:
        made = written.encode(encoding)
    except UnicodeEncodeError as error:
        why = f"its encoding, {encoding}, has no {error.object[error.start : error.end]!r}"
        raise _not_written(file, why, "change its encoding first") from error
    if encoding_of(made, file) != encoding:
        raise _not_written(file, "the fix changes its encoding", "apply it by hand")
    return made


def encoding_of(data: bytes, file: str) -> str:
    """The encoding that a Python file declares; of other files UTF-8, with a BOM or without."""
    if not file.endswith(".py"):
        return "utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8"
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        raise _not_written(file, str(error), "mend its encoding first") from error


def unified(before: bytes, after: bytes, file: str) -> bytes:
    """The change as a patch, for ``git apply`` in the folder that ``file`` is relative to."""
    # Each byte a character: what is between line feeds stays as it is.
    old, new = (
        io.StringIO(data.decode("latin-1"), newline="\n").readlines() for data in (before, after)
    )
    # A tab ends a name with blanks in it.
    name = file.encode("utf-8", "surrogateescape").decode("latin-1")
    tail = "\t" if " " in name else ""
    found = difflib.unified_diff(old, new, f"a/{name}{tail}", f"b/{name}{tail}")
    return b"".join(_ended(line.encode("latin-1")) for line in found)


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n" + _NO_END


def _changed(
    lines: Sequence[str], before: Sequence[str], after: Sequence[str], usual: str
) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, j, k, n in matcher.get_opcodes():
        if tag == "equal":
            yield from lines[i:j]
            continue
        # A line that takes the place of another ends as that did.
        ends = [_end_of(line) for line in lines[i:j]]
        for at, line in enumerate(after[k:n]):
            end = (ends[at] if at < len(ends) else "") or usual
            yield line[:-1] + end if line.endswith("\n") else line


def _end_of(line: str) -> str:
    return next((end for end in _ENDS if line.endswith(end)), "")


def _with_plain_end(line: str) -> str:
    end = _end_of(line)
    return line[: len(line) - len(end)] + "\n" if end else line


def _not_written(file: str, why: str, then: str) -> FixError:
    return FixError(f"The fix of {file} is not applied: {why}; {then}.", slug="fix-refused")
