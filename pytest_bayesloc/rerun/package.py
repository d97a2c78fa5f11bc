"""This package as bytes, for places where it is not installed, or in another version."""

from __future__ import annotations

import io
import zipfile
from functools import lru_cache
from pathlib import Path

# Carried out by a gateway: it has nothing of this package yet.
UNPACK = """
import os, shutil, sys, tempfile
packed = channel.receive()
if sys.version_info < (3, 10):
    channel.send({"python": "%d.%d" % sys.version_info[:2]})
else:
    folder = tempfile.mkdtemp(prefix="bayesloc-")
    try:
        path = os.path.join(folder, "sources.zip")
        with open(path, "wb") as stream:
            stream.write(packed)
        sys.path.insert(0, path)
        channel.send({"sources": path})
        for _ in channel:
            pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)
"""


@lru_cache(maxsize=1)
def packed() -> bytes:
    """A zip archive of the package's modules, to be put on ``sys.path``."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        root = Path(__file__).resolve().parent.parent
        for module in sorted(root.rglob("*.py")):
            name = module.relative_to(root.parent).as_posix()
            archive.writestr(name, module.read_bytes())
    return stream.getvalue()
