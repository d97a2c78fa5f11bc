"""A definition that is none says what is wrong with it."""

from __future__ import annotations

import re

import pytest

from pytest_bayesloc.domain.errors import ToolError
from pytest_bayesloc.domain.fixing import Level
from pytest_bayesloc.fixes.definition import MAX_BYTES, parse_definition

WHOLE = b"""
name: add-brackets
type: fix
description: Adds brackets.
command: python
args: [fix.py, --quick]
input_format: json
output_format: json
tags: [fix]
metadata:
  error_pattern: "^SyntaxError: "
  applies_to: ["src/*.py"]
  category: syntax
  priority: high
  level: safe
  auto_apply: true
"""
LEAST = b"name: a\ndescription: b\ncommand: c\n"
BAD = {
    b"- 1\n": "it holds list, expected a mapping",
    b"name: [": "it is no YAML",
    b"name: !!python/object/apply:os.system [ls]\n": "it is no YAML",
    LEAST.replace(b"name: a", b"name: A b"): "name is 'A b', expected words in lower case",
    LEAST.replace(b"name: a", b"name: -rf"): "name is '-rf', expected words",
    LEAST.replace(b"command: c", b"command: 3"): "command is 3, expected str",
    LEAST.replace(b"command: c", b"command: ''"): "command is '', expected a text",
    LEAST + b"args: x\n": "args is 'x', expected list",
    LEAST + b"args: [1]\n": "args is '[1]', expected a list",
    LEAST
    + b"metadata: {error_pattern: '('}\n": "error_pattern is '(', expected a regular expression",
    LEAST + b"metadata: {priority: urgent}\n": "priority is 'urgent', expected one of high, medium",
    LEAST + b"metadata: {level: harmless}\n": "level is 'harmless', expected one of safe, unsafe",
    LEAST + b"metadata: {auto_apply: 'yes'}\n": "auto_apply is 'yes', expected bool",
    LEAST + b"type: linter\n": "type is 'linter', expected one of fix",
    b"a: &a [1, 2]\nb: [*a, *a]\n": "it has anchors or aliases",
    b"a: !!seq &a [x]\n"
    + b"".join(
        b"%c: !!seq &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in range(98, 122)
    ): "it has anchors or aliases",
    b"#" * (MAX_BYTES + 1): "it has 65,537 bytes, expected 65,536 at most",
    b"\xff\xfe\xfa": "it is no YAML",
}


def test_a_definition_of_the_first_format_is_taken() -> None:
    text = WHOLE.replace(b"add-brackets", b"add_brackets").replace(b": fix\n", b": executable\n")

    assert parse_definition(text, "add_brackets.yaml").name == "add_brackets"


def test_an_asterisk_in_words_is_no_alias() -> None:
    text = LEAST.replace(b"description: ", b"description: Forwards *args and & more, ")

    assert "*args" in parse_definition(text, "add.yaml").description


def test_a_whole_definition_is_read() -> None:
    made = parse_definition(WHOLE, "add.yaml")

    assert (made.name, made.args, made.tags) == ("add-brackets", ("fix.py", "--quick"), ("fix",))
    assert (made.priority, made.level, made.auto_apply) == ("high", Level.SAFE, True)
    assert made.error_pattern is not None
    assert made.error_pattern.search("SyntaxError: oops")
    assert made.may_change("src/a.py")
    assert not made.may_change("a.py")


def test_what_is_not_said_is_careful() -> None:
    made = parse_definition(LEAST, "a.yaml")

    assert (made.level, made.auto_apply, made.applies_to) == (Level.UNSAFE, False, ("*.py",))
    assert made.error_pattern is None


@pytest.mark.parametrize(("text", "what"), BAD.items())
def test_a_bad_definition_is_refused_by_its_field(text: bytes, what: str) -> None:
    with pytest.raises(ToolError, match=re.escape(what)) as raised:
        parse_definition(text, "bad.yaml")

    assert "bad.yaml" in str(raised.value)
