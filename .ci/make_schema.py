"""Write the JSON schemas of the result and of the verdict on loops into docs.

A test holds the files against what this makes of the types.
"""

from __future__ import annotations

import json
import re
import sys
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from pytest_bayesloc.report import document
from pytest_bayesloc.report.document import SCHEMA, LoopVerdict, ResultDocument

DOCS = Path(__file__).resolve().parent.parent / "docs"
COMMAND = "python .ci/make_schema.py"
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n        .*)*)", re.MULTILINE)


def schemas() -> dict[Path, str]:
    """Return the texts of the schemas by their files."""
    kinds = ((SCHEMA, ResultDocument), ("bayesloc-loop/1", LoopVerdict))
    return {
        DOCS / f"{name.replace('/', '-')}.schema.json": _schema(name, kind) for name, kind in kinds
    }


def _schema(name: str, kind: type) -> str:
    (root,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
    made = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:pytest-bayesloc:{name.replace('/', '-')}",
        **_described(root["$ref"], parts.pop(root["$ref"])),
        "title": name,
        "$defs": {_short(key): _described(key, part) for key, part in sorted(parts.items())},
    }
    return json.dumps(_linked(made), indent=1) + "\n"


def _described(name: str, part: dict[str, Any]) -> dict[str, Any]:
    """Return ``part`` with the texts of its type's docstring as descriptions."""
    kind = getattr(document, name, object)
    del part["title"]
    part.pop("description", None)
    if "properties" in part:  # else an enumeration, whose words are about the code
        part |= {"required": list(part["properties"]), "additionalProperties": False}
        part["description"] = " ".join(cleandoc(kind.__doc__ or "").split("Attributes:")[0].split())
        for field, words in _attributes(kind).items():
            part["properties"][field]["description"] = words
    return part


def _attributes(kind: type) -> dict[str, str]:
    """Return the texts on the fields of ``kind``, those of the types it extends included."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        _, _, listed = cleandoc(base.__doc__ or "").partition("Attributes:\n")
        found |= {name: " ".join(words.split()) for name, words in _ATTRIBUTE.findall(listed)}
    return found


def _linked(node: Any) -> Any:  # noqa: ANN401 - JSON
    """Return ``node`` with references to short names, integers from 0 on, and no defaults."""
    if isinstance(node, dict):
        least = {"minimum": 0} if node.get("type") == "integer" else {}
        return least | {
            key: f"#/$defs/{_short(value)}" if key == "$ref" else _linked(value)
            for key, value in node.items()
            if key != "default"
        }
    return [*map(_linked, node)] if isinstance(node, list) else node


def _short(name: str) -> str:
    """``BugTrialEntry`` is ``bug_trial`` in the schema."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Entry")).lower()


if __name__ == "__main__":
    for file, text in schemas().items():
        file.write_text(text, encoding="utf-8")
    sys.exit(0)
