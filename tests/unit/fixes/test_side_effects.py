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
        ("requests.post(path)", "import requests"),
        ("r.post(path)", "import requests as r"),
        ("send(path)", "from requests import post as send"),
        ("[n for n in path if urllib.request.urlopen(n)]", "import urllib.request"),
        ("os.write(path, db)", "import os"),
        ("os.fork() or os._exit(0)", "import os"),
    ],
)
def test_call_that_no_fence_holds_is_seen(body: str, imports: str) -> None:
    assert reaches(body, imports)


@pytest.mark.parametrize(
    "body",
    ["os.remove(path)", "subprocess.run([path])", "open(path, 'w')", "path.unlink()",
     "remove(path)", "db.execute('DROP TABLE x')", "path()()"],
)  # fmt: skip
def test_call_that_the_fence_judges_is_none(body: str) -> None:
    assert not reaches(body)


@pytest.mark.parametrize("named", ["db.execute", "execute", "db"])
def test_user_may_name_more(named: str) -> None:
    assert reaches("db.execute('DROP TABLE x')", "", named)
    assert reaches("shop.db.execute('x')", "import shop.db", "shop.db.execute", named)
