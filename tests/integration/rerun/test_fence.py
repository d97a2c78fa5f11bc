"""A process behind a fence can't harm what is not allowed, by whatever means it tries."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.rerun.aside import Aside
from pytest_bayesloc.rerun.effects import MAX_TRIES, Effects
from pytest_bayesloc.rerun.fence import ACT, AWAY, NEW, STARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

HAS_LANDLOCK = sys.platform.startswith("linux") and not subprocess.run(
    [sys.executable, "-c", "from pytest_bayesloc.rerun.fence import restrict, ruleset; "
     "raise SystemExit(not restrict(ruleset([], [], is_alone=False, is_silent=False)))"],
    check=False,
).returncode  # fmt: skip
LANDLOCK = pytest.mark.skipif(not HAS_LANDLOCK, reason="this kernel has no Landlock")
BEHIND = """
    import json, os, sys
    from pytest_bayesloc.rerun.fence import Fence

    allowed, by_kernel, scratch, log = json.loads(sys.argv[1])
    fence = Fence(scratch)
    messages = os.open(log, os.O_WRONLY | os.O_APPEND)
    fence.send = lambda message: os.write(messages, json.dumps(message).encode() + b"\\n")
    fence.install()
    fence.close(allowed, by_kernel=by_kernel)
    """


@dataclass(frozen=True)
class End:
    """How it went.

    Attributes:
        status: Of the process: 0 if it went through.
        refused: Kinds and paths.
        did: What it did that no file shows.
        output: What it printed.
    """

    status: int
    refused: list[list[str]]
    did: list[list[str]]
    output: str


class Place:
    """A folder ``precious`` with a file, one ``scratch`` that is free, and ``work``."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.precious = self.root / "precious"
        for name in ("precious/sub", "scratch", "work"):
            (self.root / name).mkdir(parents=True)
        (self.precious / "data.txt").write_text("keep\n")
        (self.precious / "sub" / "more.txt").write_text("keep\n")
        self.before = self.state()
        self.effects = Effects(Aside(lambda: self.root / "aside"))

    def run_kept(self, code: str, *, holds: bool, by_kernel: bool) -> End:
        """Run ``code`` as far as it is known, and put back what it changed."""
        with self.effects.kept(["test"], 60.0, holds=holds) as allowed:
            return self.run(code, by_kernel=by_kernel, **allowed)

    def learn(self, code: str, *, by_kernel: bool) -> End:
        """Run ``code`` until all that it does is known."""
        for _ in range(MAX_TRIES):
            end = self.run_kept(code, holds=False, by_kernel=by_kernel)
            assert self.state() == self.before, end
            told = [{"refused": x, "by": "test", "said": ""} for x in end.refused]
            told += [{"did": x, "by": "test"} for x in end.did]
            if not self.effects.take(told, ["test"]):
                break
        return end

    def state(self) -> dict[str, tuple[int, int, bytes]]:
        return {
            str(path): (
                path.lstat().st_mode,
                path.lstat().st_mtime_ns,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in (self.precious, *sorted(self.precious.rglob("*")))
        }

    def run(
        self, code: str, *, by_kernel: bool = False, by_hook: bool = True, **allowed: object
    ) -> End:
        """Run ``code`` behind a fence that holds, in ``work``."""
        log = self.root / "messages"
        log.write_bytes(b"")
        # A hook that never hears leaves all to the kernel.
        deaf = "" if by_hook else "fence._is_on = False\n"
        text = f"{dedent(BEHIND)}{deaf}ROOT = {str(self.root)!r}\n{dedent(code)}"
        spec = json.dumps(
            [{"holds": True, **allowed}, by_kernel, str(self.root / "scratch"), str(log)]
        )
        done = subprocess.run(
            [sys.executable, "-c", text, spec],
            cwd=self.root / "work",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={
                **os.environ,
                "PYTHONDONTWRITEBYTECODE": "1",
                "TMPDIR": str(self.root / "scratch"),
            },
        )
        messages = [json.loads(line) for line in log.read_text().splitlines()]
        return End(
            done.returncode,
            [m["refused"] for m in messages if "refused" in m],
            [m["did"] for m in messages if "did" in m],
            done.stdout + done.stderr,
        )


@pytest.fixture
def place() -> Iterator[Place]:
    # Sockets have short names: below a long path, multiprocessing puts them elsewhere.
    with tempfile.TemporaryDirectory() as root:
        yield Place(Path(root))


ATTACKS = {
    "write": "open(ROOT + '/precious/data.txt', 'w')",
    "append by a descriptor": "os.open(ROOT + '/precious/data.txt', os.O_WRONLY | os.O_APPEND)",
    "truncate": "os.truncate(ROOT + '/precious/data.txt', 0)",
    "unlink": "os.unlink(ROOT + '/precious/data.txt')",
    "rmtree": "import shutil; shutil.rmtree(ROOT + '/precious')",
    "rmtree that ignores errors": "import shutil; shutil.rmtree(ROOT + '/precious', True)",
    "move away": "os.rename(ROOT + '/precious', ROOT + '/scratch/away')",
    "replace": """
        open(ROOT + '/scratch/new', 'w').close()
        os.replace(ROOT + '/scratch/new', ROOT + '/precious/data.txt')
        """,
    "new file": "open(ROOT + '/precious/new.txt', 'w')",
    "new folder": "os.mkdir(ROOT + '/precious/new')",
    "new link": "os.symlink('/', ROOT + '/precious/new')",
    "relative to another folder": "os.chdir(ROOT + '/precious'); open('data.txt', 'w')",
    "dots": "open('../scratch/../precious/data.txt', 'w')",
    "link into it": """
        os.symlink(ROOT + '/precious', ROOT + '/scratch/in')
        open(ROOT + '/scratch/in/data.txt', 'w')
        """,
    "the folder of the process": """
        os.chdir(ROOT + '/precious')
        open('/proc/self/cwd/data.txt', 'w')
        """,
    "hard link": """
        os.link(ROOT + '/precious/data.txt', ROOT + '/scratch/same')
        open(ROOT + '/scratch/same', 'w').write('lost')
        """,
    "bytes": "os.unlink(os.fsencode(ROOT) + b'/precious/data.txt')",
    "a path object": "from pathlib import Path; Path(ROOT, 'precious', 'data.txt').unlink()",
    "swallowed": """
        try:
            os.unlink(ROOT + '/precious/data.txt')
        except BaseException:
            pass
        print('went on')
        """,
    "another thread": """
        import threading
        thread = threading.Thread(target=os.unlink, args=(ROOT + '/precious/data.txt',))
        thread.start()
        thread.join()
        """,
    "a fork": """
        if os.fork() == 0:
            os.unlink(ROOT + '/precious/data.txt')
            os._exit(0)
        os.wait()
        """,
    "a daemon": """
        import time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.unlink(ROOT + '/precious/data.txt')
            os._exit(0)
        time.sleep(0.5)
        """,
    "no modules": """
        import sys
        unlink, path = os.unlink, ROOT + '/precious/data.txt'
        sys.modules.clear()
        unlink(path)
        """,
    "closed descriptors": "os.closerange(3, 256); os.unlink(ROOT + '/precious/data.txt')",
    "broken names": """
        os.path.realpath = os.path.lexists = os.lstat = None
        os.unlink(ROOT + '/precious/data.txt')
        """,
    "fakes in the place of what modules bind": """
        from pytest_bayesloc.rerun import fence
        for name, value in list(vars(fence).items()):
            if getattr(value, '__module__', '') in {'posix', 'posixpath', 'os', 'genericpath'}:
                setattr(fence, name, lambda *_: False)
        os.unlink(ROOT + '/precious/data.txt')
        """,
    "a database": """
        import sqlite3
        sqlite3.connect(ROOT + '/precious/data.txt')
        """,
    "a database by a URI": """
        import sqlite3
        sqlite3.connect('file://' + ROOT + '/precious/new.db?mode=rwc', uri=True)
        """,
    "a socket's file": """
        import socket
        socket.socket(socket.AF_UNIX).bind(ROOT[:0] + '../precious/s')
        """,
}
SUITE = """
    from pathlib import Path
    Path(ROOT, 'scratch', 'test_inner.py').write_text(
        "import os\\ndef test_inner():\\n"
        f"    os.unlink({ROOT + '/precious/data.txt'!r})\\n"
    )
    options = ['-q', '-p', 'no:cacheprovider', '-p', 'no:bayesloc', ROOT + '/scratch']
    """
ATTACKS["a suite that is run in this process"] = f"""{SUITE}
    import pytest
    pytest.main(options)
    print('went on')
    """
COMMANDS = {
    "a suite that is run in another one": f"""{SUITE}
    import subprocess, sys
    subprocess.run([sys.executable, '-m', 'pytest', *options])
    """,
    "a command": "import subprocess; subprocess.run(['rm', ROOT + '/precious/data.txt'])",
    "a shell": "os.system('rm ' + ROOT + '/precious/data.txt')",
    "an exec": "os.execv('/bin/rm', ['rm', ROOT + '/precious/data.txt'])",
    "a spawn": "os.posix_spawn('/bin/rm', ['rm', ROOT + '/precious/data.txt'], {})",
    "asyncio": """
        import asyncio

        async def remove():
            process = await asyncio.create_subprocess_exec('rm', ROOT + '/precious/data.txt')
            await process.wait()

        asyncio.run(remove())
        """,
}
BENEATH = {
    "a C library": """
        import ctypes
        ctypes.CDLL(None).unlink(os.fsencode(ROOT) + b'/precious/data.txt')
        """,
    "relative to a descriptor": """
        folder = os.open(ROOT + '/precious', os.O_RDONLY)
        os.chdir(ROOT + '/scratch')
        os.open('data.txt', os.O_WRONLY | os.O_TRUNC, dir_fd=folder)
        """,
    "a named pipe": "os.mkfifo(ROOT + '/precious/pipe')",
    "another interpreter": """
        import multiprocessing
        process = multiprocessing.get_context('spawn').Process(
            target=os.unlink, args=(ROOT + '/precious/data.txt',)
        )
        process.start()
        process.join()
        """,
}
METAS = {
    "mode": "os.chmod(ROOT + '/precious/data.txt', 0o600)",
    "mode by a descriptor": """
        os.fchmod(os.open(ROOT + '/precious/data.txt', os.O_RDONLY), 0o600)
        """,
    "times": "os.utime(ROOT + '/precious/data.txt', (1, 1))",
    "owner": "os.chown(ROOT + '/precious/data.txt', 12345, 12345)",
}


@pytest.mark.parametrize("name", [*ATTACKS, *COMMANDS, *METAS])
def test_hook_ends_the_process_before_harm_is_done(place: Place, name: str) -> None:
    end = place.run({**ATTACKS, **COMMANDS, **METAS}[name])

    assert place.state() == place.before, end
    assert end.status, end
    assert "went on" not in end.output
    assert end.refused or name == "closed descriptors"


USUAL = {
    "temporary files": """
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            open(folder + '/a', 'w').close()
        """,
    "devices": "open(os.devnull, 'w').write('x'); open('/dev/tty2', 'r') if 0 else None",
    "shared memory": """
        from multiprocessing import Lock, shared_memory
        memory = shared_memory.SharedMemory(create=True, size=16)
        memory.close()
        memory.unlink()
        Lock()
        """,
    "an end of its own child": """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)'])
        child.terminate()
        child.wait()
        """,
    "a server of its own": """
        import socket, threading
        server = socket.create_server(('127.0.0.1', 0))
        threading.Thread(target=server.accept, daemon=True).start()
        socket.create_connection(server.getsockname()).close()
        """,
    "a server of a child": """
        import socket, subprocess, sys
        code = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); "
        code += "print(s.getsockname()[1], flush=True); time.sleep(60)"
        child = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE)
        socket.create_connection(('127.0.0.1', int(child.stdout.readline()))).close()
        child.kill()
        child.wait()
        """,
    "a file that is written again": "open(ROOT + '/precious/data.txt', 'w').write('new')",
    "a file that comes and goes": """
        open(ROOT + '/precious/new', 'w').close()
        os.unlink(ROOT + '/precious/new')
        """,
    "a folder that comes and stays": """
        os.makedirs(ROOT + '/precious/new/a/b', exist_ok=True)
        open(ROOT + '/precious/new/a/b/c', 'w').close()
        """,
    "a folder that is emptied": "import shutil; shutil.rmtree(ROOT + '/precious/sub')",
    "a folder that is moved": "os.rename(ROOT + '/precious/sub', ROOT + '/precious/other')",
    "a file that is replaced": """
        open(ROOT + '/precious/part', 'w').close()
        os.replace(ROOT + '/precious/part', ROOT + '/precious/data.txt')
        """,
    "mode and times": """
        os.chmod(ROOT + '/precious/data.txt', 0o600)
        os.utime(ROOT + '/precious/data.txt', (1, 1))
        """,
    "a database with a log": """
        import sqlite3
        shop = sqlite3.connect(ROOT + '/precious/shop.db')
        shop.execute('pragma journal_mode = wal')
        with shop:
            shop.execute('create table if not exists item (name)')
            shop.execute("insert into item values ('pear')")
        os._exit(0)  # -wal and -shm stay
        """,
    "a log file": """
        import logging
        logging.basicConfig(filename=ROOT + '/precious/run.log', level='INFO')
        logging.info('hello')
        """,
    "a link": "os.symlink('data.txt', ROOT + '/precious/link')",
    "strange names": """
        for name in (b'a\\nb', b'\\xff\\xfe', 'ü'.encode(), b' '):
            open(os.fsencode(ROOT) + b'/precious/' + name, 'w').close()
        """,
    "links out of it and back": """
        if not os.path.lexists(ROOT + '/scratch/back'):
            os.symlink(ROOT + '/precious', ROOT + '/scratch/back')
        os.symlink(ROOT + '/scratch', ROOT + '/precious/out')
        os.unlink(ROOT + '/precious/out/back/sub/more.txt')
        open(ROOT + '/precious/out/back/data.txt', 'w').close()
        """,
    "a folder that it changes to": """
        os.chdir(ROOT + '/precious')
        open('data.txt', 'w').close()
        os.chdir('sub')
        os.unlink('../data.txt')
        """,
    "a thousand files": """
        for number in range(1000):
            open(f'{ROOT}/precious/{number}', 'w').close()
        """,
    "a child that writes": """
        if os.fork() == 0:
            open(ROOT + '/precious/new', 'w').close()
            os._exit(0)
        os.wait()
        os.unlink(ROOT + '/precious/new')
        """,
}


def test_database_in_memory_is_free(place: Place) -> None:
    names = [":memory:", "", "file::memory:?cache=shared", "file:shop?mode=memory"]
    code = f"""
        import sqlite3
        for name in {names}:
            sqlite3.connect(name, uri=True).execute("create table item (name)")
        """

    end = place.run(code, by_kernel=HAS_LANDLOCK)

    assert (end.status, end.refused) == (0, []), end


def test_edits_of_source_beside_what_is_made_stay(place: Place) -> None:
    source, data = place.precious / "app.py", place.precious / "data.txt"
    source.write_text("as it was")
    place.effects.take([{"refused": [NEW, str(place.precious)], "by": "test"}], ["test"])

    with place.effects.kept(["test"], 60.0, holds=True):
        source.write_text("edited by somebody")
        data.write_text("overwritten by a C extension")

    assert source.read_text() == "edited by somebody"
    assert data.read_text() == "keep\n"


OF_OTHERS = """
    import socket
    with socket.create_connection(('127.0.0.1', {port})):
        print('went on')
    """
INTERPRETER = """
    import multiprocessing
    multiprocessing.get_context('spawn').Process(target=print, args=('went on',)).start()
    """


def test_a_server_of_another_process_is_not_the_own_one(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        end = place.run(OF_OTHERS.format(port=server.getsockname()[1]))

    assert "went on" not in end.output
    assert [kind for kind, _ in end.refused] == [AWAY]


def test_an_address_of_this_machine_is_no_other_machine(place: Place) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as way:
        with suppress(OSError):
            way.connect(("192.0.2.1", 9))  # this sends nothing
        host = way.getsockname()[0]
    if host.startswith(("0.", "127.")):
        pytest.skip("this machine is in no network")
    with socket.create_server((host, 0)) as server:
        end = place.run(OF_OTHERS.replace("127.0.0.1", host).format(port=server.getsockname()[1]))

    assert end.refused == [[AWAY, "connects to a server of this machine that it did not open"]]


def test_an_interpreter_that_the_test_does_not_start_is_refused(place: Place) -> None:
    end = place.run(INTERPRETER)

    assert "went on" not in end.output
    assert end.refused == [[ACT, STARTS]]


@pytest.mark.parametrize(
    "by_kernel",
    [pytest.param(False, marks=pytest.mark.thorough), pytest.param(True, marks=LANDLOCK)],
)
@pytest.mark.parametrize("name", USUAL)
def test_what_is_learned_may_be_done_and_is_put_back(
    place: Place, name: str, by_kernel: bool
) -> None:
    end = place.learn(USUAL[name], by_kernel=by_kernel)
    assert end.status == 0, end
    again = place.run_kept(USUAL[name], holds=True, by_kernel=by_kernel)

    assert (again.status, again.refused) == (0, []), again
    assert place.state() == place.before


@LANDLOCK
@pytest.mark.thorough
@pytest.mark.parametrize("name", [*ATTACKS, *COMMANDS, *BENEATH])
def test_kernel_holds_what_the_hook_does_not_hear(place: Place, name: str) -> None:
    end = place.run({**ATTACKS, **COMMANDS, **BENEATH}[name], by_kernel=True, by_hook=False)

    assert place.state() == place.before, end
    assert end.refused == []
