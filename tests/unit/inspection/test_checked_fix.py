"""A function that somebody else rewrote does nothing new to the world."""

from __future__ import annotations

import re

import pytest

from pytest_bayesloc.domain.errors import PatchError
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.inspection.edits import checked_edit, checked_fix, edited_unit

FILE = """import json


class Cart:
    @property
    def total(self):
        # all of it
        return self.net - self.tax


def after():
    pass
"""
REFUSED = {
    "def total(self):\n    import os\n    return 1\n": "it adds `import os`",
    "def total(self):\n    open('x', 'w')\n    return 1\n": "it uses `open`",
    "def total(self):\n    return self.__class__\n": "it uses `__class__`",
    "def total(self):\n    self.net.unlink()\n    return 1\n": "it uses `unlink`",
    "def total(self):\n    global json\n    return 1\n": "it adds `global json`",
    "def total(self, more=0):\n    return 1\n": "it changes the signature",
    "@cache\ndef total(self):\n    return 1\n": "it changes the signature or the decorators",
    "import os\n\n\ndef total(self):\n    return 1\n": "it is not the one function",
    "def total(self):\n    return self.net +\n": "it does not parse",
    "": "it is not the one function",
    "def total(self):\n" + "    x = 1\n" * 500: "it has 501 lines",
}


def rewritten(text: str, named: tuple[str, ...] = ()) -> str:
    source = SourceMap(FILE, "cart.py")
    unit = next(unit for unit in source.units if unit.location.qualname == "Cart.total")
    return checked_fix(source, unit, text, named)


@pytest.mark.parametrize(
    "text",
    [
        "def total(self):\n    # both\n    return self.net + self.tax\n",
        "    def total(self):\n        # both\n        return self.net + self.tax",
        "@property\ndef total(self):\n    # both\n    return self.net + self.tax\n\n",
        "    @property\n    def total(self):\n        # both\n        return self.net + self.tax\n",
    ],
)
def test_the_function_stands_in_its_place_with_its_decorators(text: str) -> None:
    assert rewritten(text) == FILE.replace("# all of it", "# both").replace("net - ", "net + ")


@pytest.mark.parametrize("blanks", ["", "    "])
def test_texts_over_several_lines_stay_as_they_are(blanks: str) -> None:
    text = (
        "{0}def total(self):\n{0}    said = '''\n  \tone\n'''\n"
        "{0}    more = f'''{{said}}\n two'''\n{0}    return (\n{0}        more\n{0}    )\n"
    )
    made = rewritten(text.format(blanks))

    assert "        said = '''\n  \tone\n'''\n        more = f'''{said}\n two'''\n" in made
    assert "        return (\n            more\n        )\n" in made


@pytest.mark.parametrize("text", REFUSED)
def test_what_does_more_is_refused(text: str) -> None:
    with pytest.raises(PatchError) as raised:
        rewritten(text)

    assert REFUSED[text] in str(raised.value)


def test_what_the_user_names_is_not_called() -> None:
    with pytest.raises(PatchError, match="reaches out of the process"):
        rewritten("def total(self):\n    return self.net.send_mail()\n", ("send_mail",))


IMPORTING = """import logging
import math
import os
from sqlite3 import connect as link


def name_of(path):
    return os.path.basename(path)
"""


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("go = os.system\n    return go(path)", "it uses `system`"),
        ("return list(map(os.remove, [path]))", "it uses `os.remove` in a new way"),
        ("return logging.getLogger(path)", "it uses `logging.getLogger` in a new way"),
        ("return link(path)", "it uses `link` in a new way"),
    ],
)
def test_what_is_imported_is_used_as_it_was(body: str, why: str) -> None:
    source = SourceMap(IMPORTING, "names.py")
    unit = source.units[-1]
    answer = f"def name_of(path):\n    {body}\n"

    with pytest.raises(PatchError) as error:
        checked_fix(source, unit, answer)

    assert why in str(error.value)


def test_what_only_computes_may_be_used_anew() -> None:
    source = SourceMap(IMPORTING, "names.py")
    text = "def name_of(path):\n    return os.path.basename(path)[: math.floor(2.5)]\n"

    assert "math.floor" in checked_fix(source, source.units[-1], text)


# -- edits of what an import executes

MODULE_FILE = """import os
from shapes import Round

LIMITS = {"low": 1, "high": 9}


class Cart(Round):
    size = 3

    def total(self, net=1):
        return net + self.size
"""
ADMITTED = {
    "Cart": ("size = 3", "size = 4"),
    "<module>": ('"high": 9', '"high": 10'),
    "<module> default": ("net=1", "net=2"),
    "<module> base": ("(Round)", "(dict)"),
    "<module> import": ("import os\n", "import os\nimport math\n"),
    "Cart.total": ("net + self.size", "net - self.size"),
}
KEPT_OUT = {
    "it reaches out of the process": ('"low": 1', '"low": order("x")'),
    "it uses `os`": ('"low": 1', '"low": os.system'),
    "it uses `system`": ('"low": 1', '"low": LIMITS.system'),
    "it adds `import sys`": ("import os\n", "import os\nimport sys\n"),
    "it uses `eval`": ("size = 3", 'size = eval("4")'),
    "it uses `Square` in a new way":
        ("import Round\n\nLIMITS =", "import Round, Square\n\nLIMITS = Square() or"),
    "it edits more than one place":
        ("9}\n\n\nclass Cart(Round):\n    size = 3", "8}\n\n\nclass Cart(Round):\n    size = 4"),
    "it adds, drops or renames a function or class":
        ("size = 3", "size = 3\n    def all(self): pass"),
    "it changes nothing": ("size = 3", "size =  3"),
    "it does not parse": ("size = 3", "size ="),
}  # fmt: skip


def edited(old: str, new: str) -> str:
    source, text = SourceMap(MODULE_FILE, "cart.py"), MODULE_FILE.replace(old, new)
    unit = edited_unit(source, text)
    assert checked_edit(source, unit, text, ("order",)) == text
    return unit.location.qualname


@pytest.mark.parametrize("name", ADMITTED)
def test_an_edit_of_one_body_is_admitted(name: str) -> None:
    assert edited(*ADMITTED[name]) in {name.partition(" ")[0], "Cart"}


@pytest.mark.parametrize("why", KEPT_OUT)
def test_a_body_does_no_more_than_before(why: str) -> None:
    with pytest.raises(PatchError, match=re.escape(why)):
        edited(*KEPT_OUT[why])
