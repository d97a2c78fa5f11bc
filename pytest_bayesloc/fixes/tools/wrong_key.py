"""A key that is not there: the one that was meant, or the one below which the value lies."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import PurePosixPath

from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.domain.source import tree_of
from pytest_bayesloc.fixes.calls import is_placed, picked
from pytest_bayesloc.fixes.library import package_tool
from pytest_bayesloc.fixes.project import Made, Project, Task
from pytest_bayesloc.syntax.expressions import is_json
from pytest_bayesloc.syntax.nodes import similar, walk


@package_tool(
    "A key does not exist because it is written otherwise, or what is wanted lies below another "
    "key. Takes the keys of JSON files, of dicts in the code and of those in the test.",
    error_pattern=r"^KeyError: ['\"]|^TypeError: .*indices must be integers",
    level=Level.UNSAFE,
    priority="medium",
)
def wrong_key(task: Task, project: Project) -> Iterator[Made]:
    """The line with a key that is nearly the missing one, or with one more key before it."""
    subscripts = [node for node in task.nodes if isinstance(node, ast.Subscript)]
    is_index = "indices" in task.message
    if not is_index and all(ast.unparse(node.slice) != task.message for node in subscripts):
        return
    text, dicts = task.text, list(_dicts(task, project))
    if task.message.startswith("list indices"):  # the key of its first item is asked for
        nodes = [node for node in subscripts if is_placed(text, node)]
        asked = [
            n for n in nodes if isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str)
        ]
        for base in dict.fromkeys(text.of(node.value) for node in asked):
            same = [node.value for node in asked if text.of(node.value) == base]
            words = f"`{base}` is a list: its first item has the key"
            yield [text.replace(part, f"{base}[0]", words) for part in same]
    for node in task.nodes:
        if isinstance(node, ast.Subscript):
            yield from _other_keys(task, node, dicts)
        for part in picked(node, "looped") if is_index else ():
            lists = dict.fromkeys(k for own in dicts for k in own if isinstance(own[k], list))
            for key in lists if is_placed(text, part) else ():
                made = f'{text.of(part)}["{key}"]'
                yield text.replace(part, made, f"the items lie in `{key}`")


def _other_keys(task: Task, node: ast.Subscript, dicts: list[dict[str, object]]) -> Iterator[Made]:
    key, text = node.slice, task.text
    is_text = isinstance(key, ast.Constant) and isinstance(key.value, str)
    if not is_text or ast.unparse(key) != task.message:
        return
    said = text.of(key)
    wrong, quote = task.message[1:-1], said[-1:]
    if said[1:-1] != wrong or not is_placed(text, node):
        return
    for other in similar(wrong, (known for own in dicts for known in own)):
        yield text.replace(key, f"{quote}{other}{quote}", f"the key is `{other}`, not `{wrong}`")
    pairs = (pair for own in dicts for pair in own.items())
    above = (name for name, value in pairs if isinstance(value, dict) and wrong in value)
    for name in dict.fromkeys(above):
        made = f"{text.of(node.value)}[{quote}{name}{quote}]"
        yield text.replace(node.value, made, f"`{wrong}` lies in `{name}`")


def _dicts(task: Task, project: Project) -> Iterator[dict[str, object]]:
    """Yields the dicts that the file, its JSON and the test's file write, inner ones too."""
    pending: list[object] = []
    folder = PurePosixPath(task.filename).parent
    for tree in (task.tree, tree_of(project.text(task.test_file) or "")):
        for node in walk(tree) if tree is not None else ():
            if isinstance(node, ast.Dict):
                pending.append(_value(node))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                name = str(folder / node.value) if node.value.endswith(".json") else ""
                said = project.text(name) or "" if name else node.value
                is_document = said[:1] in {"{", "["} and is_json(said)
                pending.append(json.loads(said) if is_document else None)
    while pending:
        value = pending.pop(0)
        if isinstance(value, dict):
            yield {str(key): inner for key, inner in value.items()}
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def _value(node: ast.expr) -> object:
    """Dicts and lists as they are written; None for all else."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {k.value: _value(v) for k, v in pairs if isinstance(k, ast.Constant)}
    return [_value(item) for item in node.elts] if isinstance(node, ast.List) else None
