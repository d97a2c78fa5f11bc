"""An attribute that is missing answers to the ``__init__`` that leaves it unset."""

from __future__ import annotations

import pytest

from pytest_bayesloc.domain.failure import Frame
from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.ranking.evidence.provenance import Unset, unset_attributes
from tests.fakes.sources import failure_at

BASE = """\
class Shape:
    def __init__(self, name):
        self.name = name
        self.tags = []

    def tag(self, text):
        self.tags.append(text)
"""


def found(code: str, message: str, exc_type: str = "AttributeError") -> Unset:
    files = {"base.py": SourceMap(BASE, "base.py"), "m.py": SourceMap(code, "m.py")}
    frame = Frame(file="base.py", line=7, name="Shape.tag", first_line=6, in_app=True)
    failed = failure_at(frame, kind=exc_type, message=message)
    executed = {unit.location for source in files.values() for unit in source.units}
    return unset_attributes([failed, failed], executed, files.get)


LACKS_TAGS = "'Circle' object has no attribute 'tags'"


@pytest.mark.parametrize(
    "code",
    [
        "class Circle(base.Shape):\n    def __init__(self):\n        self.r = 1\n",
        "import base\n\nclass Round(base.Shape):\n    def __init__(self):\n        self.r = 1\n\n"
        "class Circle(Round):\n    def __init__(self):\n        super().__init__()\n",
        "class Circle:\n    def __init__(self, tags):\n        tags = tags\n",
    ],
    ids=["base not called", "base of a base not called", "variable not kept"],
)
def test_init_that_leaves_the_attribute_unset_is_named(code: str) -> None:
    ((function, (missed_in, why)),) = found(code, LACKS_TAGS).items()

    assert function.file == "m.py"
    assert function.qualname.endswith(".__init__")
    assert missed_in.qualname == "Shape.tag"
    assert why.startswith("leaves `tags` unset: it does not ")


@pytest.mark.parametrize(
    "code",
    [
        "class Circle(Shape):\n    def __init__(self):\n        super().__init__('c')\n",
        "class Circle(Shape):\n    def __init__(self):\n        self.tags = []\n",
        "class Circle(Shape):\n    pass\n",
        "class Circle:\n    def __init__(self, r):\n        self.r = r\n",
        "class Circle(Unknown):\n    def __init__(self, r):\n        self.r = r\n",
        "class Other:\n    pass\n",
    ],
)
def test_init_that_is_not_plainly_wrong_is_not_named(code: str) -> None:
    assert not found(code, LACKS_TAGS)


def test_other_error_names_none() -> None:
    code = "class Circle(Shape):\n    def __init__(self):\n        self.r = 1\n"

    assert not found(code, "'Circle' object is not iterable", "TypeError")
    assert found(code, LACKS_TAGS)
