from __future__ import annotations

import pytest

from pytest_bayesloc.domain.source import SourceMap
from pytest_bayesloc.fixes.side_effects import reaches_out


def reaches(body: str, imports: str = "import os, shutil, subprocess", *named: str) -> bool:
    source = SourceMap(f"{imports}\n\n\ndef f(path, db):\n    return {body}\n", "m.py")
    unit = next(unit for unit in source.units if unit.is_function)
    return reaches_out(source, unit, named)


@pytest.mark.parametrize(
    ("body", "imports"),
    [
        ("os.remove(path)", "import os"),
        ("o.remove(path)", "import os as o"),
        ("wipe(path)", "from shutil import rmtree as wipe"),
        ("subprocess.run([path])", "import subprocess"),
        ("[n for n in path if os.kill(n, 9)]", "import os"),
        ("urllib.request.urlopen(path)", "import urllib.request"),
        ("path.unlink()", ""),
        ("path.parent.write_text('x')", ""),
        ("open(path, 'w')", ""),
        ("open(path, mode='r+')", ""),
        ("open(path, db)", ""),
        ("path.open('a')", ""),
    ],
)
def test_call_that_changes_the_world_is_seen(body: str, imports: str) -> None:
    assert reaches(body, imports)


@pytest.mark.parametrize(
    "body",
    [
        "os.path.join(path, 'a')",
        "os.environ.get('HOME')",
        "shutil.which('git')",
        "open(path)",
        "open(path, 'rb').read()",
        "path.open()",
        "path.replace('a', 'b')",
        "remove(path)",
        "db.execute('DROP TABLE x')",
        "path()()",
    ],
)
def test_call_that_only_asks_is_none(body: str) -> None:
    assert not reaches(body)


@pytest.mark.parametrize("named", ["db.execute", "execute", "db"])
def test_user_may_name_more(named: str) -> None:
    assert reaches("db.execute('DROP TABLE x')", "", named)
    assert reaches("shop.db.execute('x')", "import shop.db", "shop.db.execute", named)
