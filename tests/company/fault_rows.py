"""Faults around and inside of a run, as small values; ``test_fault_table`` runs each of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Row:
    """One fault.

    Attributes:
        files: More or other files than those of the project with the faulty ``calc.add``.
        test: Body of a test that runs before all others.
        make: Shell commands that prepare the project.
        shell: Shell commands in the process that becomes pytest, such as ``ulimit``.
        streams: Redirections of the shell.
        mounts: Whether ``shell`` mounts something, which is gone when the process ends.
        args: Of the command line.
        env: Variables; None: unset.
        needs: Modules that must be there.
        n: Runs at once.
        lost: What one line says that the plugin lost; empty: nothing, the fault is found.
        is_silent: Whether nothing can be said: the run ends before, or nobody can hear it.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    test: str = ""
    make: str = ""
    shell: str = ""
    streams: str = ""
    mounts: bool = False
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    n: int = 1
    lost: str = ""
    is_silent: bool = False


def conftest(text: str) -> dict[str, str]:
    """Returns a row's files with a conftest alone."""
    return {"conftest.py": text}


FOLDER = "mkdir -p .bayesloc; mount -t tmpfs -o {} none .bayesloc"
GIT = "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one"

DISKS = {
    **{
        f"our folder on a disk of {size} kB": Row(
            shell=FOLDER.format(f"size={size}k"), mounts=True, lost="can't be|is full"
        )
        for size in (4, 16, 64, 256)
    },
    **{
        f"files of at most {size} kB": Row(shell=f"ulimit -f {size}", lost="can't be|is full")
        for size in (1, 8, 32)
    },
    "no inode is left": Row(shell=FOLDER.format("nr_inodes=3"), mounts=True, lost="can't be"),
    "our folder is read-only": Row(shell=FOLDER.format("ro"), mounts=True, lost="can't be"),
    "temporary folder is full": Row(shell='mount -t tmpfs -o size=4k none "$TMPDIR"', mounts=True),
    "temporary folder is missing": Row(env={"TMPDIR": "/nowhere"}),
    "project is read-only": Row(
        shell="mount --bind . . && mount -o remount,bind,ro . && cd $PWD", mounts=True
    ),
    "our folder is a dangling link": Row(make="ln -s /nowhere/at/all .bayesloc"),
    "our folder is a link to itself": Row(make="ln -s .bayesloc .bayesloc"),
    "our files are links to a device": Row(
        make="mkdir .bayesloc; for f in memory.sqlite green.sqlite last-run.json; "
        "do ln -s /dev/full .bayesloc/$f; done",
    ),
}
LIMITS = {
    "24 open files": Row(shell="ulimit -n 24"),
    "12 open files": Row(shell="ulimit -n 12"),
    "500 MB of memory": Row(shell="ulimit -v 500000"),
    "no process can be started": Row(
        files=conftest(
            """
            import errno
            import os
            import subprocess


            def refuse(*args, **kwargs):
                raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


            os.fork = subprocess.Popen.__init__ = refuse
            """
        ),
    ),
    "stack of 100 frames": Row(test="import sys; sys.setrecursionlimit(100)"),
    "recursion limit is taken away": Row(test="import sys; sys.setrecursionlimit(1 << 30)"),
    "6 runs at once": Row(n=6),
}
PLACES = {
    "home is missing": Row(env={"HOME": None, "XDG_CONFIG_HOME": None}),
    "home is nowhere": Row(env={"HOME": "/nowhere"}),
    "home is a file": Row(env={"HOME": "/dev/null"}),
    "nothing in PATH": Row(env={"PATH": "/nowhere"}),
    "plain C locale": Row(env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "ASCII streams": Row(env={"PYTHONIOENCODING": "ascii:strict"}),
    "no byte code": Row(env={"PYTHONDONTWRITEBYTECODE": "1"}),
    "no cache": Row(args=("-p", "no:cacheprovider")),
    "no capture": Row(args=("-s",)),
    "no terminal": Row(args=("-p", "no:terminal"), is_silent=True),
    "warnings are errors": Row(args=("-W", "error")),
    "development mode": Row(env={"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "error"}),
    "one column": Row(env={"COLUMNS": "1"}),
    "stdout is closed": Row(streams=">&-", is_silent=True),
    "stderr is closed": Row(streams="2>&-"),
    "stdin is closed": Row(streams="<&-"),
    "stdout is full": Row(streams=">/dev/full", is_silent=True),
    "name of the folder is no UTF-8": Row(
        make="mkdir $'f\\xff' && mv *.py pytest.ini $'f\\xff'", shell="cd $'f\\xff'"
    ),
    "name of the folder has a line end": Row(
        make="mkdir $'a\\nb' && mv *.py pytest.ini $'a\\nb'", shell="cd $'a\\nb'"
    ),
}
REPOSITORIES = {
    "broken repository": Row(make="mkdir .git; echo nonsense > .git/HEAD"),
    "repository that is elsewhere": Row(make="echo 'gitdir: /nowhere' > .git"),
    "repository without a commit": Row(make="git init -q ."),
    "repository without objects": Row(make=f"{GIT} && rm -rf .git/objects/*"),
    "bare repository": Row(make=f"{GIT} && git config core.bare true"),
    "shallow repository": Row(
        make=f"{GIT} && git clone -q --depth=1 file://$PWD ../$$ && "
        "mv ../$$/.git g && rm -rf .git ../$$ && mv g .git"
    ),
    "locked repository": Row(make=f"{GIT} && touch .git/index.lock"),
    "work tree": Row(make=f"{GIT} && git worktree add -q w && rm *.py", shell="cd w"),
    "submodule": Row(
        make=f"mkdir m && mv *.py pytest.ini m && cd m && {GIT} && cd .. && git init -q . && "
        "git -c protocol.file.allow=always submodule --quiet add ./m m",
        shell="cd m",
    ),
    "repository of 60,000 files": Row(
        make=f"{GIT} && h=$(git hash-object -w calc.py) && seq 60000 | "
        'sed "s/.*/100644 $h\\td\\/f&.py/" | git update-index --index-info'
    ),
    "git that hangs": Row(
        make="mkdir .bin && printf '#!/bin/sh\\nexec sleep 1000\\n' > .bin/git && "
        "chmod +x .bin/git",
        shell="export PATH=$PWD/.bin:$PATH",
    ),
    "git that prints nonsense": Row(
        make="mkdir .bin && printf '#!/bin/sh\\nhead -c 9999 /dev/urandom\\n' > .bin/git && "
        "chmod +x .bin/git",
        shell="export PATH=$PWD/.bin:$PATH",
    ),
}
SOURCES = {
    "source that is no UTF-8": Row(make="printf 'a = \"\\xe9\"\\n' > data.py"),
    "name that is no UTF-8": Row(make="printf 'a = 1\\n' > $'caf\\xe9.py'"),
    "source that is a pipe": Row(make="mkfifo pipe.py"),
    "source that is a folder": Row(make="mkdir data.py"),
    "source that is a loop": Row(make="ln -s data.py data.py; ln -s . here"),
    "source of the future": Row(make="touch -d 2099-01-01 *.py"),
    "source that is rewritten by a test": Row(
        test="from pathlib import Path; Path('calc.py').write_text('def add(:')",
        lost="written-meanwhile",
    ),
    "source that a test deletes": Row(
        test="from pathlib import Path; Path('calc.py').unlink()", lost="empty-spectrum"
    ),
}
VALUES = {
    "message of 10 MB": Row(test="raise ValueError('x' * (10 << 20))"),
    "message that raises": Row(
        test="""
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no")
            __repr__ = __str__
        raise Mute
        """
    ),
    "value that raises": Row(
        test="""
        class Mute:
            def __getattribute__(self, name):
                raise BaseException(name)
        mute = Mute()
        assert not [mute]
        """
    ),
    "exception that is its own cause": Row(
        test="""
        error = ValueError(1)
        error.__cause__ = KeyError(2)
        error.__cause__.__context__ = error
        raise error
        """
    ),
    "chain of 3,000 exceptions": Row(
        test="""
        error = ValueError(0)
        for n in range(3000):
            error.__context__, error = error, ValueError(n)
        raise error
        """
    ),
    "error too deep": Row(test="f = lambda n: f(n + 1) + 1\nf(0)"),
    "SystemExit": Row(test="raise SystemExit(0)"),
    "line ends and colours": Row(test=r"raise ValueError('a\r\nb\x1b[31m\x00\ud800')"),
}
if sys.version_info >= (3, 11):
    VALUES["exception group"] = Row(
        test="""
        inner = ExceptionGroup("inner", [ValueError(n) for n in range(500)])
        raise ExceptionGroup("outer", [inner, BaseExceptionGroup("x", [KeyError(1)])])
        """
    )
PROCESSES = {
    "test ends the process": Row(test="import os; os._exit(3)", is_silent=True),
    "worker dies": Row(
        test="import os; os._exit(3)", args=("-p", "xdist.plugin", "-n2"), needs=("xdist",)
    ),
    "SIGTERM amidst": Row(test="import os; os.kill(os.getpid(), 15)", is_silent=True),
    "SIGINT amidst": Row(test="import os; os.kill(os.getpid(), 2)", is_silent=True),
    "lock that a thread takes and gives": Row(
        files={
            **conftest(
                """
                import threading
                import time

                lock = threading.Lock()


                def work():
                    while True:
                        with lock:
                            time.sleep(0.01)


                threading.Thread(target=work, daemon=True).start()
                """
            ),
            "test_lock.py": """
                from conftest import lock


                def test_lock():
                    with lock:
                        pass
                """,
        },
    ),
    "thread that a test leaves": Row(
        test="""
        import threading, time
        threading.Thread(target=time.sleep, args=(1,)).start()
        """
    ),
    "numpy": Row(
        files=conftest("import numpy\n\nnumpy.dot(numpy.ones((300, 300)), numpy.ones((300, 300)))"),
        needs=("numpy",),
    ),
    "gevent": Row(
        files=conftest("from gevent import monkey\n\nmonkey.patch_all()\n"), needs=("gevent",)
    ),
    "trace function is taken": Row(test="import sys; sys.settrace(lambda *a: None)"),
    "profile function is taken": Row(test="import sys; sys.setprofile(lambda *a: None)"),
}
PATCHED = {
    name: Row(test=text)
    for name, text in {
        "folder is changed": "import os; os.chdir('/')",
        "folder is deleted": (
            "import os, tempfile\nos.chdir(tempfile.mkdtemp())\nos.rmdir(os.getcwd())"
        ),
        "open": "import builtins; builtins.open = None",
        "os": "import os; os.fork = os.replace = os.fsync = os.pipe = None",
        "subprocess": "import subprocess; subprocess.Popen = subprocess.run = None",
        "sqlite3": "import sqlite3; sqlite3.connect = None",
        "json": "import json; json.load = json.loads = None",
        "tempfile": "import tempfile; tempfile.mkstemp = None",
        "hashes": "import hashlib; hashlib.sha256 = hashlib.blake2b = hashlib.md5 = None",
        "clocks": "import time; time.time = time.monotonic = time.perf_counter = lambda: 7.0",
        "stdout": "import sys; sys.stdout = sys.stderr = None",
        "sys.path": "import sys; sys.path[:] = []",
        "sys.meta_path": "import sys; sys.meta_path[:] = []",
        "sys.modules": "import sys; del sys.modules['calc']",
        "environment": "import os; os.environ.clear()",
        "mode of new files": "import os; os.umask(0o777)",
        "descriptors": "import os; os.closerange(10, 200)",
        "alarm": "import signal; signal.alarm(1); signal.signal(14, lambda *a: None)",
        "garbage collector": "import gc; gc.disable(); gc.freeze()",
        "audit hook": (
            "import sys\n"
            "def refuse(event, args):\n"
            "    if event in ('sqlite3.connect', 'subprocess.Popen', 'os.fork'):\n"
            "        raise PermissionError(event)\n"
            "sys.addaudithook(refuse)"
        ),
    }.items()
} | {
    "clock that jumps": Row(
        files=conftest(
            """
            import time


            def pytest_runtest_setup(item):
                now = iter([1e9, 0.0, -1e6, 5e9] * 1000)
                time.time = time.monotonic = time.perf_counter = lambda: next(now)
                time.time_ns = time.monotonic_ns = lambda: int(next(now) * 1e9)
            """
        ),
    ),
    "temporary folder is set to nowhere": Row(
        test="import tempfile; tempfile.tempdir = '/nowhere'", lost="no-server"
    ),
    "time that is frozen": Row(
        test="import freezegun; freezegun.freeze_time('1970-01-02').start()", needs=("freezegun",)
    ),
}
ROWS: Mapping[str, Row] = {
    **DISKS,
    **LIMITS,
    **PLACES,
    **REPOSITORIES,
    **SOURCES,
    **VALUES,
    **PROCESSES,
    **PATCHED,
}
