"""Build what a release uploads into .cache/dist, and check it.

Metadata must be as PyPI shows it, the wheel must hold the package, its types and nothing else, and
the unpacked sdist must pass its own unit tests. Where a tag is built, it must name the version,
and the changelog must have it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / ".cache" / "dist"
TYPED = "pytest_bayesloc/py.typed"


def main() -> int:
    """Return 0 if a release could be uploaded, else 1."""
    shutil.rmtree(DIST, ignore_errors=True)
    run("build", "--outdir", str(DIST))
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run("twine", "check", "--strict", str(sdist), str(wheel))
    run("check_wheel_contents", str(wheel))
    # A version that is out has used its fragments up.
    if not is_out(version := wheel.name.split("-")[1]):
        run("towncrier", "build", "--draft", "--version", version)
    problems = [*missing(wheel), *off_the_tag(version, os.environ)]
    print("".join(f"{problem}\n" for problem in problems), end="", file=sys.stderr)
    test(sdist)
    return int(bool(problems))


def run(module: str, *arguments: str, folder: Path = ROOT) -> None:
    """Run a module of this Python.

    Raises:
        subprocess.CalledProcessError: It failed.
    """
    print("$", module, *arguments, flush=True)
    subprocess.run([sys.executable, "-m", module, *arguments], cwd=folder, check=True)


def missing(wheel: Path) -> Iterator[str]:
    """Yield a sentence for each module and data file of the package that the wheel has not."""
    package = ROOT / "pytest_bayesloc"
    paths = (path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    with ZipFile(wheel) as archive:
        held = set(archive.namelist())
    for name in sorted({TYPED, *(path.relative_to(ROOT).as_posix() for path in paths)} - held):
        yield f"{wheel.name} has no {name}"


def off_the_tag(version: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each thing that is not as the tag that is built says."""
    tag = environment.get("GITHUB_REF_NAME")
    if environment.get("GITHUB_REF_TYPE") != "tag":
        return
    if tag != f"v{version}":
        yield f"the tag is {tag}, and the version in pyproject.toml {version}"
    if not is_out(version):
        yield f"CHANGELOG.md has no section {version}: run towncrier build"


def is_out(version: str) -> bool:
    """Return whether the changelog has a section of this version."""
    return f"\n## {version} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test(sdist: Path) -> None:
    """Run the unit tests of the unpacked sdist, with the package that lies beside them.

    Raises:
        subprocess.CalledProcessError: One fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        run("pytest", "-q", "-n", "2", "tests/unit", folder=unpacked)


if __name__ == "__main__":
    sys.exit(main())
