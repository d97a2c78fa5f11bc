"""Projects whose tests touch the world, and whose small edits would harm it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.integration.conftest import asserting


@dataclass(frozen=True, kw_only=True)
class World:
    """A project with one function at fault.

    Attributes:
        code: Of ``app.py``.
        tests: Of ``test_app.py``.
        is_put_back: Whether the edits do harm to a file that the tests change themselves.
    """

    code: str
    tests: str
    is_put_back: bool = False

    @property
    def files(self) -> dict[str, str]:
        return {
            "app.py": self.code,
            "test_app.py": self.tests,
            "precious.txt": "keep\n",
            "data/precious.db.txt": "keep this too\n",
        }


HARMLESS = {
    "rmtree": World(
        code="""
            import os
            import shutil

            ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


            def put(name):
                folder = os.path.join(ROOT, "jobs", name)
                os.makedirs(folder, exist_ok=True)
                return folder


            def drop(name, top="jobs"):
                clean = name.strip()
                if len(clean) < 1 or clean == "..":
                    raise ValueError("a job has a name")
                folder = ROOT
                if top and clean:
                    folder = os.path.join(ROOT, top, clean)
                shutil.rmtree(folder, ignore_errors=True)
                return folder
            """,
        tests="""
            import os

            from app import ROOT, drop, put


            def test_drop():
                folder = put("one")
                assert drop("one") == folder
                assert not os.path.isdir(folder)


            def test_drop_other_case():
                put("two")
                try:
                    assert drop("Two") == os.path.join(ROOT, "jobs", "two")
                finally:
                    drop("two")
            """,
    ),
    "unlink by a pattern": World(
        code="""
            from pathlib import Path

            ROOT = Path(__file__).parent


            def sweep(kind, suffix=".tmp"):
                pattern = "*.txt"
                if kind and suffix:
                    pattern = kind + "-*" + suffix
                names = sorted(path.name for path in ROOT.glob(pattern))
                for name in names:
                    (ROOT / name).unlink()
                return names
            """,
        tests="""
            from app import ROOT, sweep


            def test_sweep():
                (ROOT / "old-1.tmp").write_text("x")
                assert sweep("old") == ["old-1.tmp"]


            def test_sweep_other_case():
                (ROOT / "old-2.tmp").write_text("x")
                try:
                    assert sweep("OLD") == ["old-2.tmp"]
                finally:
                    (ROOT / "old-2.tmp").unlink(missing_ok=True)
            """,
    ),
    "replaced by a rename": World(
        code="""
            import os
            from pathlib import Path

            ROOT = Path(__file__).parent


            def target_of(name, is_draft=True):
                if is_draft and name:
                    return name + ".draft"
                return "precious.txt"


            def store(name, text):
                new = ROOT / "new.part"
                new.write_text(text)
                os.replace(new, ROOT / target_of(name))
                return target_of(name)
            """,
        tests=asserting(
            "import os\n\nfrom app import ROOT, store",
            store='made = store("a", "x"); (ROOT / made).unlink(); assert made == "a.draft"',
            lower_case='made = store("B", "x"); (ROOT / made).unlink(); assert made == "b.draft"',
        ),
    ),
    "rows of a database": World(
        is_put_back=True,
        code="""
            import sqlite3
            from contextlib import closing
            from pathlib import Path

            PLACE = Path(__file__).parent / "shop.db"


            def where(kind):
                if kind and kind != "all":
                    return f"kind = '{kind}'"
                return "1"


            def opened():
                shop = sqlite3.connect(PLACE)
                shop.execute("create table if not exists item (kind, name unique)")
                return closing(shop)


            def drop(kind):
                with opened() as shop, shop:
                    return shop.execute(f"delete from item where {where(kind)}").rowcount
            """,
        tests="""
            import pytest

            from app import drop, opened


            @pytest.fixture(autouse=True)
            def rows():
                with opened() as shop, shop:
                    shop.execute("insert or ignore into item values ('fruit', 'pear')")
                    shop.execute("insert or ignore into item values ('root', 'beet')")


            def test_drop():
                assert drop("root") == 1


            def test_drop_other_case():
                assert drop("ROOT") == 1
            """,
    ),
    "rm by a command": World(
        code="""
            import os
            import subprocess

            ROOT = os.path.dirname(os.path.abspath(__file__))


            def path_of(name, ending=".tmp"):
                if name and ending:
                    return os.path.join(ROOT, name + ending)
                return os.path.join(ROOT, "precious.txt")


            def drop(name):
                subprocess.run(["rm", "-f", path_of(name)], check=True)
                return path_of(name)
            """,
        tests=asserting(
            "import os\n\nfrom app import ROOT, drop",
            drop='drop("a") == os.path.join(ROOT, "a.tmp")',
            drop_lower_case='drop("B") == os.path.join(ROOT, "b.tmp")',
        ),
    ),
}
