from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_bayesloc.causes.environment import EnvironmentCauses, Machine
from pytest_bayesloc.domain.failure import Cause, CauseKind, Frame
from tests.fakes.sources import TextSources, failure_at

if TYPE_CHECKING:
    from collections.abc import Sequence

LIBRARY = Frame(
    file="/usr/lib/python3/subprocess.py",
    line=9,
    name="Popen._execute_child",
    first_line=1,
    in_app=False,
)
ENVIRON = Frame(
    file="/usr/lib/python3/os.py", line=9, name="_Environ.__getitem__", first_line=1, in_app=False
)


class SmallMachine(Machine):
    """Declares nothing, and has no files."""

    declared = ""
    own_modules = frozenset({"orders"})


def machine(**parts: object) -> Machine:
    given = {
        "rootdir": "/project",
        "folder": "/project",
        "variables": {"PATH": "/bin"},
        "has_package": lambda name: name in {"json", "app"},
        "find_program": lambda name: "/bin/sh" if name == "sh" else None,
        **parts,
    }
    return SmallMachine(**given)  # type: ignore[arg-type]


def cause_of(
    code: str, *, at: str, kind: str, message: str, above: tuple[Frame, ...] = (), **parts: object
) -> Cause | None:
    sources = TextSources({"app.py": code})
    failure = failure_at(sources.frame("app.py", at), *above, kind=kind, message=message)
    return EnvironmentCauses(sources, machine(**parts)).cause_of(failure)


def told(code: str, **asked: Any) -> tuple[CauseKind, str] | None:  # noqa: ANN401 - of ``cause_of``
    cause = cause_of(code, **asked)
    return None if cause is None else (cause.kind, cause.state)


GUARDED = """
    try:
        import wordforms
    except ImportError:
        wordforms = None


    def plural(name):
        assert wordforms, "no plural"
        return name
    """


def test_package_that_is_there_is_no_cause() -> None:
    failed: dict[str, Any] = {"at": "assert", "kind": "AssertionError", "message": ""}

    assert cause_of(GUARDED, **failed, has_package=lambda _: True) is None


def test_failure_beside_an_optional_package_has_another_cause() -> None:
    assert cause_of(GUARDED, at="return name", kind="KeyError", message="'a'") is None


@pytest.mark.parametrize(
    ("name", "is_missing"),
    [
        ("wordforms", True),
        ("ujson", True),
        ("jsno", False),
        ("urllib2", False),
        ("order", False),
        ("app", False),
    ],
)
def test_module_that_may_be_misspelt_is_no_missing_package(name: str, is_missing: bool) -> None:
    text = f"No module named '{name}'"
    cause = cause_of(f"import {name}\n", at="import", kind="ModuleNotFoundError", message=text)

    assert (cause is not None) is is_missing


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("exit 127: /bin/sh: 1: dot: not found", "dot"),
        ("bash: line 1: dot: command not found", "dot"),
        ("template: not found", None),
        ("ERROR: not found: tests/test_a.py::test_b", None),
    ],
)
def test_program_that_a_shell_does_not_find_is_named(message: str, name: str | None) -> None:
    code = "def draw():\n    raise DrawError(shell('dot'))\n"

    found = told(code, at="raise DrawError", kind="DrawError", message=message)

    assert (found and found[1]) == name


def test_program_that_was_looked_for_in_vain_is_named() -> None:
    code = """
        import shutil

        DOT = "dot"


        def draw():
            program = shutil.which(DOT)
            if program is None:
                raise RuntimeError("can't draw")
        """
    found = told(code, at="raise", kind="RuntimeError", message="can't draw")

    assert found == (CauseKind.PROGRAM, "dot")


def test_variable_that_is_not_set_is_named() -> None:
    code = "import os\n\n\ndef url():\n    return os.environ['SHOP_URL']\n"
    asked: dict[str, Any] = {
        "at": "return",
        "kind": "KeyError",
        "message": "'SHOP_URL'",
        "above": (ENVIRON,),
    }

    assert told(code, **asked) == (CauseKind.VARIABLE, "SHOP_URL")
    assert told(code, variables={"SHOP_URL": "x"}, **asked) is None


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("define the environment variable SHOP_SETTINGS or call configure()", True),
        ("the SHOP_SETTINGS environment variable is missing", True),
        ("settings SHOP_SETTINGS are not configured", False),
    ],
)
def test_variable_that_an_error_of_a_library_names_is_named(message: str, named: bool) -> None:
    asked: dict[str, Any] = {"at": "name", "kind": "RuntimeError", "message": message}
    code = "class Article:\n    name = settings.name\n"

    expected = (CauseKind.VARIABLE, "SHOP_SETTINGS") if named else None
    assert told(code, above=(LIBRARY,), **asked) == expected
    assert told(code, above=(LIBRARY,), variables={"SHOP_SETTINGS": "x"}, **asked) is None
    assert told(code, **asked) is None  # raised by the project: a test may be about it


def test_variable_that_two_modules_need_is_one_cause() -> None:
    asked: dict[str, Any] = {"kind": "RuntimeError", "message": "environment variable SHOP_ID"}
    code = "def first():\n    use()\ndef second():\n    take()\n"

    found = [cause_of(code, at=at, above=(LIBRARY,), **asked) for at in ("use()", "take()")]

    causes = [cause for cause in found if cause is not None]
    assert len({cause.location for cause in causes}) == 2
    assert len({cause.key for cause in causes}) == 1


@pytest.mark.parametrize(
    ("path", "is_of_machine"), [("/etc/shop.conf", True), ("/project/shop.conf", False)]
)
def test_file_outside_the_project_belongs_to_the_machine(path: str, is_of_machine: bool) -> None:
    text = f"[Errno 2] No such file or directory: '{path}'"
    code = f"def load():\n    open('{path}')\n"
    found = told(code, at="open", kind="FileNotFoundError", message=text)

    assert (found is not None and found[0] is CauseKind.FILE) is is_of_machine


def test_service_that_does_not_answer_is_told_unless_the_project_has_the_server() -> None:
    text = "[Errno 111] Connection refused"
    asked = {"at": "connect", "kind": "ConnectionRefusedError", "message": text}
    code = "def fetch():\n    connect()\n"

    found = told(code, **asked)
    assert found is not None
    assert found[0] is CauseKind.SERVICE
    assert told(f"{code}\n\ndef serve():\n    HTTPServer(('', 80))\n", **asked) is None


@pytest.mark.parametrize("kind", ["ConnectionError", "AssertionError"])
def test_connection_that_is_refused_in_words_of_the_project_is_no_missing_service(
    kind: str,
) -> None:
    text = "Connection refused by the mock: no call matches GET /foo"
    code = "def send():\n    fail('Connection refused by the mock')\n"

    assert cause_of(code, at="fail", kind=kind, message=text) is None
    assert cause_of("def send():\n    fail()\n", at="fail", kind=kind, message=text) is not None


@pytest.mark.parametrize(
    ("code", "message", "name"),
    [
        ("p.readfp(f)", "'ConfigParser' object has no attribute 'readfp'", "ConfigParser.readfp"),
        ("import x", "cannot import name 'Mapping' from 'collections' (x)", "collections.Mapping"),
        ("app.run(loop=1)", "run() got an unexpected keyword argument 'loop'", ""),
        ("json.dump_s(1)", "module 'json' has no attribute 'dump_s'", ""),
    ],
)
def test_name_of_another_version_is_told(code: str, message: str, name: str) -> None:
    cause = cause_of(f"{code}\n", at=code, kind="AttributeError", message=message)

    assert (cause.state if cause is not None else "") == name


@pytest.mark.parametrize(
    ("asked", "state"),
    [("os.getenv('SHOP_URL')", "SHOP_URL"), ("os.getenv('SHOP_URL', '')", ""), ("ask()", "")],
)
def test_variable_whose_lack_raises_an_error_of_the_code_is_named(asked: str, state: str) -> None:
    code = f"import os\ndef url():\n    found = {asked}\n    if not found:\n        raise NoUrl\n"

    cause = cause_of(code, at="raise NoUrl", kind="NoUrl", message="")

    assert (cause.state if cause is not None else "") == state


READER = ("app.py", 3, 2, "find")


@pytest.mark.parametrize(
    ("asked", "elsewhere", "suspected", "state"),
    [
        ("program:dot", (), False, "dot"),
        ("program:dot", ("program:dot",), False, ""),
        ("program:dot", ("program:dot",), True, "dot"),
        ("program:sh", (), False, ""),
        ("package:redis.asyncio", (), False, "redis"),
        ("package:json", (), False, ""),
        ("demand:SHOP_KEY", (), False, "SHOP_KEY"),
        ("variable:SHOP_KEY", (), False, ""),
        ("file:/etc/shop.conf", (), False, "/etc/shop.conf"),
        ("file:/etc/mime.types", (), False, ""),
        ("file:/etc/shop.conf", ("file:/no1/shop.conf",), False, "/etc/shop.conf"),
        ("file:/etc/shop.conf", [f"file:/no{n}/shop.conf" for n in range(4)], False, ""),
        ("file:/etc/shop.py", ("file:/no1/shop.py",), False, ""),  # it is searched for
    ],
)
def test_what_is_asked_in_vain_is_told_where_passing_tests_ask_otherwise(
    asked: str, elsewhere: Sequence[str], suspected: bool, state: str
) -> None:
    read = "os.environ['SHOP_KEY'], open('/etc/shop.conf'), 'shop.py'"
    code = f"import os\ndef find():\n    return {read}\n"
    sources = TextSources({"app.py": code})
    suspects = [sources.place("app.py", "find")] if suspected else []

    cause = EnvironmentCauses(sources, machine()).asked_in_vain(
        {asked: [READER]}, elsewhere, suspects
    )

    assert (cause.state if cause is not None else "") == state


def test_optional_package_is_missing_although_its_name_is_like_another() -> None:
    optional = "try:\n    import jsno\nexcept ImportError:\n    jsno = None\n"
    code = f"{optional}def load():\n    import jsno as parser\n    return parser\n"
    failed: dict[str, Any] = {"kind": "ModuleNotFoundError", "message": "No module named 'jsno'"}

    assert told(code, at="import jsno as", **failed) == (CauseKind.PACKAGE, "jsno")
