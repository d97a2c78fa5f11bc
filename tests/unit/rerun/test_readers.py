from __future__ import annotations

import asyncio
import datetime
import importlib.util
import os
import random
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun.readers import Readers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType

OWN = Path(__file__).name


def asked(
    call: Callable[[], object], scratch: str = ""
) -> Mapping[str, list[tuple[str, int, int, str]]]:
    """Who in this file asks for which condition while ``call`` runs."""
    readers = Readers(lambda file: OWN if file == __file__ else "", scratch)
    readers.start()
    call()
    return readers.stop()


def clock() -> object:
    return datetime.datetime.now()


def chance() -> object:
    return random.choice("ab")


def folder() -> object:
    return list(Path("/usr").iterdir())


def variable() -> object:
    return os.environ.get("SHOP_TAX", "")


def variable_without_a_default() -> object:
    with suppress(KeyError):
        return os.environ["NO_SUCH_KEY"]
    return None


def pause() -> object:
    return time.monotonic()


def opened() -> object:
    return Path("/etc/shop.conf").exists()


def nearby() -> object:
    return Path("shop.conf").exists()


def package() -> object:
    return importlib.util.find_spec("no_such_package")


class Card:
    def __hash__(self) -> int:
        return hash("ace")


def hashed() -> object:
    return hash(("a", "b"))


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (package, "package:no_such_package"),
        (hashed, "hash"),
        (clock, "clock"),
        (clock, "time-zone"),
        (chance, "random"),
        (folder, "listing"),
        (variable, "variable:SHOP_TAX"),
        (variable_without_a_default, "demand:NO_SUCH_KEY"),
        (pause, "waiting"),
        (opened, "file:/etc/shop.conf"),
        (nearby, "folder"),
    ],
)
def test_code_that_asks_is_noted_by_condition(call: FunctionType, condition: str) -> None:
    found = asked(call)[condition]

    assert [(file, name) for file, _, _, name in found] == [(OWN, call.__name__)]


@pytest.mark.parametrize(("scratch", "n"), [("", 1), ("/usr", 1), ("/dev", 0)])
def test_what_is_there_is_noted_but_for_the_scratch_folder_and_code(scratch: str, n: int) -> None:
    paths = [Path(path) for path in ("/dev/null", "/missing/run.lock", __file__)]

    found = asked(lambda: [path.exists() for path in paths], scratch)

    assert [name for name in found if name.startswith("found:")] == ["found:/dev/null"] * n


@pytest.mark.parametrize(
    "call", [variable, lambda: {**os.environ}, os.environ.copy, shutil.get_terminal_size]
)
def test_variable_that_is_there_or_has_a_default_is_not_demanded(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)

    found = asked(call)

    assert [name for name in found if name.startswith("demand:")] == []
    assert [name for name in found if name.startswith("variable:")]


def test_hash_that_dicts_and_sets_ask_of_an_object_is_not_noted() -> None:
    assert "hash" not in asked(lambda: {re.ASCII, Card()})


def test_nothing_is_noted_after_its_end() -> None:
    readers = Readers(lambda _: OWN)

    readers.start()
    readers.stop()
    clock()

    assert "clock" not in readers.stop()


def test_clock_that_a_library_reads_for_itself_is_no_wait_of_the_code() -> None:
    loop = asyncio.new_event_loop()

    found = asked(loop.time)
    loop.close()

    assert "waiting" not in found
