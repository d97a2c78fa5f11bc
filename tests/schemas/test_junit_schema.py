"""pytest's XML with our properties still conforms to the schema that pytest holds it against."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conftest import Projects

XSD = "testing/example_scripts/junit-10.xsd"
#: Where tox has put pytest's source distribution, which alone has the schema.
PLACE = Path(sys.prefix) / "pytest-sdist"


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    xml = pytest.importorskip("xmlschema", reason="pip install xmlschema")
    found = next(PLACE.glob("pytest-*.tar.gz"), None)
    if found is None:
        pytest.skip(f"pip download --no-deps --no-binary pytest --dest {PLACE} pytest")
    with tarfile.open(found) as archive:
        member = archive.extractfile(f"{found.name.removesuffix('.tar.gz')}/{XSD}")
        assert member is not None
        path = tmp_path_factory.mktemp("junit") / "junit-10.xsd"
        path.write_bytes(member.read())
    validate: Callable[[Path], None] = xml.XMLSchema(path).validate
    return validate


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["one", "xdist"])
def test_xml_conforms(
    projects: Projects,
    schema: Callable[[Path], None],
    workers: tuple[str, ...],
) -> None:
    project = projects.buggy({"conftest.py": RECORDS})

    run = project.run("--junit-xml=junit.xml", "--bayesloc-report=junit", *workers, lean=False)

    assert run.outcomes == {"failed": 2, "passed": 4}
    names = [p.get("name") for p in ET.parse(project.root / "junit.xml").iter("property")]
    assert ("theirs" in names) == (not workers)  # xdist hands none of the suite's on
    assert "bayesloc.fault.1.suspect.1" in names
    schema(project.root / "junit.xml")


RECORDS = """
    import pytest


    @pytest.fixture(scope="session", autouse=True)
    def _recorded(record_testsuite_property):
        record_testsuite_property("theirs", 1)
    """
