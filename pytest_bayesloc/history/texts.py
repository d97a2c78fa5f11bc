"""Source files as text."""

from __future__ import annotations

import io


def as_python_reads(data: bytes) -> str:
    """The text of a file in the encoding that it declares, its lines ended as Python sees them.

    Raises:
        SyntaxError: If it declares none that is known.
        UnicodeError: If it is not in that encoding.
    """
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    with io.TextIOWrapper(io.BytesIO(data), encoding) as stream:
        return stream.read()
