"""A tool made of how people mended bugs by hand: a file to read, and to trust or not.

Reference:
    docs/fixes.md, section "Learned tools".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

_PROGRAM = '''\
"""A fix tool that was learned: `{before}` became `{after}`.

It has mended {bugs} by hand. It is not run before you trust it, and not after you edit it,
before you trust it again:

    pytest --bayesloc-trust={path}
"""

from pytest_bayesloc.fixes.pattern import run

# Names such as _1_ stand for any expression, the same for the same.
BEFORE = {before!r}
AFTER = {after!r}

# Where it was learned: the functions as they were, and as they are.
EXAMPLES = [
{examples}]

if __name__ == "__main__":
    run(BEFORE, AFTER)
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One bug that was mended by hand.

    Attributes:
        bug: Its id.
        error: Type of the exception.
        before: The function as it was.
        after: The function as it is.
    """

    bug: str
    error: str
    before: str
    after: str


def tool_files(pattern: str, lessons: Sequence[Lesson], folder: str) -> dict[str, str]:
    """The files of a tool, by their names: its program and its definition.

    Args:
        pattern: Before and after, as JSON.
        lessons: The bugs that were mended so.
        folder: Where the files will lie, for the comment in them.
    """
    before, after = json.loads(pattern)
    name = f"learned-{hashlib.sha256(pattern.encode()).hexdigest()[:6]}"
    bugs = " and ".join(f"bug {lesson.bug}" for lesson in lessons)
    examples = "".join(
        f"    # bug {lesson.bug}, {lesson.error}\n"
        f"    ({lesson.before!r},\n     {lesson.after!r}),\n"
        for lesson in lessons
    )
    errors = "|".join(sorted({lesson.error for lesson in lessons if lesson.error.isidentifier()}))
    definition = {
        "name": name,
        "type": "fix",
        "description": f"Puts `{after}` for `{before}`, which mended {bugs} by hand.",
        "command": "python",
        "args": [f"{name}.py"],
        "input_format": "json",
        "output_format": "json",
        "tags": ["fix", "learned"],
        "metadata": {
            "error_pattern": rf"^({errors})\b" if errors else ".",
            "applies_to": ["*.py"],
            "category": "learned",
            "priority": "medium",
            "level": "unsafe",
            "auto_apply": False,
        },
    }
    return {
        f"{name}.py": _PROGRAM.format(
            before=before,
            after=after,
            bugs=bugs,
            path=f"{folder}/{name}.yaml",
            examples=examples,
        ),
        f"{name}.yaml": yaml.safe_dump(definition, sort_keys=False, allow_unicode=True),
    }
