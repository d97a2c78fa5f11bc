"""Keeps a re-run from doing to the world what the test as it is does not do.

An audit hook judges what Python does. Landlock, where the kernel has it, holds what C extensions
and commands do beneath it. Temporary folders are free.

Reference:
    PEP 578, and the table of audit events in the documentation of Python; Linux,
    Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import stat
import struct
import sys
import weakref
from contextlib import suppress
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Message = dict[str, Any]  # a value of JSON

_shutil = vars(shutil)

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Where other interpreters are started, of which no command tells.
_STARTERS = frozenset(
    f"multiprocessing.popen_{way}" for way in ("spawn_posix", "forkserver", "spawn_win32")
)
_OF_REGISTRY = ("winreg.CreateKey", "winreg.SetValue", "winreg.DeleteKey")
_O_TMPFILE = getattr(os, "O_TMPFILE", 0)
_MAX_PATH = 3000  # characters that are told, so that a message is sent in one piece
_EPHEMERAL = 32768  # ports from here on are given out by the system, another one each time
_LOOPBACK = re.compile(r"127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$|localhost$|$", re.IGNORECASE)

#: The kinds of a change: a path is written, goes away or is replaced, has other attributes (mode,
#: owner, times), or a folder gets new entries.
WRITE, REMOVE, META, NEW = "write", "remove", "meta", "new"
#: Of an effect that no file shows, and of one that leads off this machine.
ACT, AWAY = "act", "away"
STARTS = "starts other interpreters"
#: In the place of a test: what plugins do as they are imported, before conftest files are.
PLUGINS = "::plugins"


class Real:
    """Functions as they are now: tests replace what modules bind (pyfakefs), and no more."""

    close = os.close
    fsdecode = os.fsdecode
    fspath = os.fspath
    getcwd = os.getcwd
    getpid = os.getpid
    kill = os.kill
    listdir = os.listdir
    lstat = os.lstat
    read = os.read
    readlink = os.readlink
    write = os.write
    open = open
    socket = socket.socket
    dirname = os.path.dirname
    isabs = os.path.isabs
    join = os.path.join
    lexists = os.path.lexists
    realpath = os.path.realpath
    relpath = os.path.relpath
    split = os.path.split


class Fence:
    """Judges the audit events of this process against what may be done.

    It is wide open until it is closed. What is refused ends the process before it takes place.

    Args:
        scratch: A folder that is free, with all in it.

    Attributes:
        send: Takes a message for each thing that was done or refused, once each.
        test: The node id of the test under way; empty while tests are collected.
    """

    def __init__(self, scratch: str) -> None:
        self.send: Callable[[Message], None] = lambda _: None
        self.test = ""
        self._free = (Real.realpath(scratch),)
        self._is_on = self._holds = False
        self._owner = Real.getpid()
        self._prepared: dict[bool, int] = {}
        self._changes: Mapping[str, frozenset[str]] = {}
        self._acts: frozenset[str] = frozenset()
        self._log = -1
        self._told: set[tuple[str, str, str]] = set()
        self._made: set[str] = set()
        self._bound: weakref.WeakSet[Any] = weakref.WeakSet()

    def _judges(self) -> dict[str, Callable[..., None]]:
        """Return who judges an event, by its name."""
        return {
            "open": self._open,
            "os.truncate": lambda path, _: self._write(path),
            "os.remove": self._remove,
            "os.rmdir": self._remove,
            "shutil.rmtree": self._remove_tree,
            "os.rename": self._rename,
            "os.link": self._link,
            "os.symlink": lambda _, path, dir_fd=-1: self._make(path, dir_fd),
            "os.mkdir": lambda path, _, dir_fd=-1: self._make(path, dir_fd),
            "os.chmod": lambda path, _, dir_fd=-1: self._meta(path, dir_fd),
            "os.chown": lambda path, _uid, _gid, dir_fd=-1: self._meta(path, dir_fd),
            "os.utime": lambda path, _times, _ns, dir_fd=-1: self._meta(path, dir_fd),
            "os.chflags": lambda path, _: self._meta(path),
            "os.setxattr": lambda path, *_: self._meta(path),
            "os.removexattr": lambda path, *_: self._meta(path),
            "sqlite3.connect": self._database,
            "subprocess.Popen": lambda _, args, cwd, __: self._command(args, cwd),
            "os.system": self._command,
            "os.exec": lambda _, args, *__: self._command(args),
            "os.posix_spawn": lambda _, args, *__: self._command(args),
            "os.spawn": lambda _, __, args, *___: self._command(args),
            "os.startfile": lambda path, *_: self._command(path),
            "pty.spawn": self._command,
            "os.kill": self._signal,
            "os.killpg": lambda group, n: self._signal(-group if group > 1 else group and -1, n),
            "import": self._import,
            "socket.connect": self._connect,
            "socket.sendto": self._connect,
            "socket.sendmsg": self._connect,
            "socket.bind": self._bind,
            "socket.getaddrinfo": lambda host, *_: self._look_up(host),
            "socket.gethostbyname": self._look_up,
            "ctypes.dlopen": lambda name: self._act(f"loads {name}"),
            **dict.fromkeys(_OF_REGISTRY, lambda *_: self._act("writes to the registry")),
        }

    def install(self) -> None:
        """Hear every event of this process from now on, and of those that it forks."""
        judges = self._judges()

        # Most events, hundreds of thousands of them, are not judged: a default is found fastest.
        def hear(
            event: str, args: tuple[Any, ...], judged: frozenset[str] = frozenset(judges)
        ) -> None:
            if event not in judged or not self._is_on:
                return
            try:
                judges[event](*args)
            except Exception:  # noqa: BLE001 - a test may have broken what is needed
                self._refuse(ACT, event, f"does what can't be judged ({event})")

        sys.addaudithook(hear)

    def close(self, allowed: Message, *, by_kernel: bool = False) -> None:
        """Refuse what ``allowed`` does not name, from now on.

        Args:
            allowed: Per kind of change, paths; ``acts``; ``free`` folders; ``dirs``, in which the
                kernel lets anything be done; ``log``, the file that gets the name of all that is
                made; and whether it ``holds``.
            by_kernel: Whether this thread, and all that it starts, is held by Landlock too. It
                can't be opened again.
        """
        self._is_on = False
        self._made = set()  # what was made before is put back, or stays
        changes = allowed.get("changes", {})
        self._changes = {k: frozenset(changes.get(k, ())) for k in (WRITE, REMOVE, META, NEW)}
        self._acts = frozenset(allowed.get("acts", ()))
        self._free = (self._free[0], *allowed.get("free", ()))
        self._holds = allowed.get("holds", False)
        self._owner = Real.getpid()
        if allowed.get("log"):
            self._log = os.open(allowed["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if by_kernel:
            restrict(self._rules(allowed.get("dirs", ())))
        self._is_on = True

    def prepare(self) -> None:
        """Make the rules of the usual re-runs, which are those of tests that change nothing."""
        self._prepared = {
            holds: ruleset(self._free, (), is_alone=holds, is_silent=holds)
            for holds in (False, True)
        }

    def _rules(self, dirs: Sequence[str]) -> int:
        files = [*self._changes[WRITE], *self._changes[REMOVE]]
        verbs = {act.partition(" ")[0] for act in self._acts}
        is_alone = self._holds and "connects" not in verbs
        if files or dirs or self._free[1:] or is_alone is not self._holds or not self._prepared:
            free = [*self._free, *dirs]
            return ruleset(free, files, is_alone=is_alone, is_silent=self._holds)
        return self._prepared[self._holds]

    def open(self) -> None:
        """Let anything be done, until it is closed again."""
        self._is_on = False

    # -- what is judged

    def _open(self, path: Any, _mode: object, flags: Any) -> None:  # noqa: ANN401 - of an event
        if not flags & _WRITING or isinstance(path, int):
            return
        if _O_TMPFILE and flags & _O_TMPFILE == _O_TMPFILE:  # in a folder, without a name
            self._change(NEW, Real.join(_real(path), "#"), "makes")
        else:
            self._write(path, is_made=bool(flags & os.O_CREAT))

    def _write(self, path: Any, *, is_made: bool = False) -> None:  # noqa: ANN401
        if isinstance(path, int):  # it was opened to be written
            return
        real = _real(path)
        if Real.lexists(real):
            self._change(WRITE, real, "writes to")
        elif is_made:
            self._change(NEW, real, "makes")

    def _remove(self, path: Any, dir_fd: int | None = -1) -> None:  # noqa: ANN401
        real = _place(path, dir_fd)
        if Real.lexists(real):
            self._change(REMOVE, real, "removes")

    def _remove_tree(self, path: Any, dir_fd: int | None = -1) -> None:  # noqa: ANN401
        if isinstance(_shutil["os"], ModuleType):  # else pyfakefs has nothing but fakes removed
            self._remove(path, dir_fd)

    def _rename(self, old: Any, new: Any, old_fd: int = -1, new_fd: int = -1) -> None:  # noqa: ANN401
        self._remove(old, old_fd)
        real = _place(new, new_fd)
        if Real.lexists(real):
            self._change(REMOVE, real, "replaces")
        else:
            self._change(NEW, real, "makes")

    def _link(self, old: Any, new: Any, old_fd: int = -1, new_fd: int = -1) -> None:  # noqa: ANN401
        # What is written by the new name is written by the old one.
        self._change(WRITE, _place(old, old_fd), "writes to")
        self._make(new, new_fd)

    def _make(self, path: Any, dir_fd: int | None = -1) -> None:  # noqa: ANN401
        real = _place(path, dir_fd)
        if not Real.lexists(real):
            self._change(NEW, real, "makes")

    def _meta(self, path: Any, dir_fd: int | None = -1) -> None:  # noqa: ANN401
        real = _descriptor(path) if isinstance(path, int) else _real(_at(path, dir_fd))
        if Real.lexists(real):
            self._change(META, real, "changes the attributes of")

    def _database(self, name: Any) -> None:  # noqa: ANN401
        text = name if isinstance(name, str) else Real.fsdecode(Real.fspath(name))
        if text.startswith("file:"):
            text, _, query = text[len("file:") :].partition("?")
            if re.search(r"mode=(?:ro|memory)|immutable=1", query):
                return
            text = unquote(re.sub("^//(?:localhost)?(?=/)", "", text))
        if not text or text.startswith(":memory:"):
            return
        real = _real(text)
        self._change(WRITE if Real.lexists(real) else NEW, real, "opens the database")
        for end in ("-journal", "-wal", "-shm"):  # it comes and goes
            self._change(REMOVE, f"{real}{end}", "opens the database")

    def _command(self, command: Any, folder: Any = None) -> None:  # noqa: ANN401
        parts = [command] if isinstance(command, (str, bytes, os.PathLike)) else list(command)
        said = " ".join(Real.fsdecode(Real.fspath(part)) for part in parts)
        if folder is not None or not _is_in(Real.getcwd(), self._free):
            said += f" in {_real(folder or '.')}"
        for free in self._free:
            said = re.sub(rf"{re.escape(free)}(?!\S*\.\.)[^\s'\":;,]*", "<tmp>", said)
        self._act(f"runs {said}")

    def _import(self, name: str, *_: object) -> None:
        if name in _STARTERS:
            self._act(STARTS)

    def _signal(self, pid: int, number: int) -> None:
        leader = -pid if pid < -1 else pid  # of a group
        has_proc = Real.lexists("/proc/self")
        is_gone = leader > 0 and has_proc and not Real.lexists(f"/proc/{leader}")
        own = {Real.getpid(), self._owner}
        if number and leader and not is_gone and not descends(leader, own):
            self._act("signals a process that it did not start", AWAY)

    def _connect(self, by: Any, address: Any) -> None:  # noqa: ANN401
        if not isinstance(address, tuple) or len(address) < 2 or not isinstance(address[1], int):
            if isinstance(address, (str, bytes)):
                path = Real.fsdecode(address)
                address = "<tmp>" if self._is_free(_real(path)) else path
            self._act(f"connects to {address!s}")
            return
        host, port = str(address[0]), address[1]
        if not (_LOOPBACK.match(host) or _is_own_address(by, host)):
            self._act(f"connects to {host}:{port}", AWAY)
        elif port in self._ports() or _is_served_by(port, {Real.getpid(), self._owner}):
            self._act("connects to its own server")
        elif port >= _EPHEMERAL:
            self._act("connects to a server of this machine that it did not open", AWAY)
        else:
            self._act(f"connects to {host}:{port}")

    def _ports(self) -> set[int]:
        ports = set()
        for bound in self._bound:
            with suppress(Exception):  # closed by now
                ports.add(bound.getsockname()[1])
        return ports

    def _bind(self, by: Any, address: Any) -> None:  # noqa: ANN401
        if isinstance(address, tuple):
            with suppress(TypeError):
                self._bound.add(by)
        elif isinstance(address, (str, bytes)) and address and address[:1] not in {"\0", b"\0"}:
            self._make(address)

    def _look_up(self, host: Any) -> None:  # noqa: ANN401
        name = "" if host is None else Real.fsdecode(host)
        if not _LOOPBACK.match(name) and not re.fullmatch(r"[\d.]+|.*:.*", name):
            self._act(f"looks up {name}")

    # -- the verdict

    def _is_free(self, real: str, kind: str = WRITE) -> bool:
        if _is_in(real, self._free):
            return True
        if real.startswith("/dev/shm/") and kind in {WRITE, NEW}:  # noqa: S108 - memory
            return True
        if kind != WRITE:
            return False
        if real.startswith("/dev/"):
            with suppress(OSError):
                return stat.S_ISCHR(Real.lstat(real).st_mode)
        return real.startswith(f"/proc/{Real.getpid()}/")

    def _change(self, kind: str, real: str, verb: str) -> None:
        """Judge a change of ``real``; of a new one, its folder is asked for."""
        if self._is_free(real, kind) or _is_in(real, self._made):
            return
        changes = self._changes
        if _is_in(real, changes[REMOVE]) or (kind == WRITE and real in changes[WRITE]):
            return
        if kind == META and (real in changes[META] or real in changes[WRITE]):
            return
        folder = Real.dirname(real)
        if kind == NEW:
            if not Real.lexists(folder):
                return  # it can't be made
            if folder in changes[NEW]:
                self._made.add(real)
                if self._log >= 0:
                    Real.write(self._log, os.fsencode(real) + b"\0")
                return
        self._refuse(kind, folder if kind == NEW else real, f"{verb} {real}")

    def _act(self, act: str, kind: str = ACT) -> None:
        if act in self._acts:
            return
        if self._holds:
            self._refuse(kind, act, act)
        self._tell("did", kind, act, act)

    def _tell(self, how: str, kind: str, what: str, said: str) -> None:
        news = (self.test, kind, what)
        if news not in self._told:
            self._told.add(news)
            with suppress(OSError):  # the test may have closed the line
                self.send({how: [kind, what], "said": said[:_MAX_PATH], "by": self.test})

    def _refuse(self, kind: str, what: str, said: str) -> NoReturn:
        # An error that is raised would be handled, by code that sends it to somebody perhaps.
        self._tell("refused", kind, what, said)
        if Real.getpid() != self._owner:
            with suppress(OSError):
                Real.kill(self._owner, getattr(signal, "SIGKILL", signal.SIGTERM))
        os._exit(1)


def _at(path: Any, dir_fd: int | None) -> str:  # noqa: ANN401
    text = Real.fsdecode(Real.fspath(path))
    return text if dir_fd is None or dir_fd < 0 else Real.join(_descriptor(dir_fd), text)


def _descriptor(number: int) -> str:
    """The path of what is open; a name that nothing has where the platform does not say."""
    try:
        return Real.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return f"\0{number}"


def _real(path: Any) -> str:  # noqa: ANN401
    try:
        return Real.realpath(Real.fsdecode(Real.fspath(path)))
    except (ValueError, FileNotFoundError):  # it holds a zero, or its folder is gone
        return "\0"


def _place(path: Any, dir_fd: int | None = -1) -> str:  # noqa: ANN401
    """The path of an entry itself, where it may be a link."""
    head, tail = Real.split(_at(path, dir_fd).rstrip("/"))
    return Real.join(_real(head or "."), tail) if tail not in {"", ".", ".."} else _real(path)


def _is_in(real: str, roots: Iterable[str]) -> bool:
    """Whether ``real`` is one of ``roots``, or beneath one."""
    if not roots:
        return False
    while real not in roots:
        upper = Real.dirname(real)
        if upper == real:
            return False
        real = upper
    return True


def descends(pid: int, own: set[int]) -> bool:
    """Whether a process is one of ``own``, or was started by one; False where nobody says."""
    with suppress(OSError, ValueError, IndexError):
        while pid > 1 and pid not in own:
            with Real.open(f"/proc/{pid}/stat", "rb") as stream:
                pid = int(stream.read().rpartition(b")")[2].split()[1])
    return pid in own


def _is_own_address(by: Any, host: str) -> bool:  # noqa: ANN401
    """Whether a stream goes to an address of this machine: others can't be bound here."""
    if by.type != socket.SOCK_STREAM or not re.fullmatch(r"[\d.]+|[\da-f:]+", host.lower()):
        return False  # a datagram may go to an address that many machines have
    with suppress(OSError), Real.socket(by.family, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return True
    return False


def _is_served_by(port: int, own: set[int]) -> bool:
    """Whether processes that descend from ``own`` listen at ``port``, and no others; Linux only."""
    with suppress(OSError, ValueError, IndexError):
        listening = set(_listening_at(port))
        if listening:
            pids = (int(name) for name in Real.listdir("/proc") if name.isdigit())
            held = (_open_in(pid) for pid in pids if descends(pid, own))
            return listening <= {name for names in held for name in names}
    return False


def _listening_at(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(FileNotFoundError), Real.open(table, "rb") as stream:
            for row in map(bytes.split, stream.read().splitlines()[1:]):
                if row[3] == b"0A" and int(row[1].rpartition(b":")[2], 16) == port:
                    yield f"socket:[{int(row[9])}]"


def _open_in(pid: int) -> Iterator[str]:
    """Yield what a process has open, as ``/proc`` names it."""
    with suppress(OSError):
        for name in Real.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                yield Real.readlink(f"/proc/{pid}/fd/{name}")


# -- Landlock

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # on every architecture but Alpha
_NO_NEW_PRIVILEGES = 38
_FS_WRITE, _FS_REFER, _FS_TRUNCATE = 1 << 1, 1 << 13, 1 << 14
_FS_CHANGES = sum(1 << bit for bit in range(4, 13))  # remove a folder, a file; make one of 7 kinds
_NET_CONNECT, _SCOPE_SIGNAL = 1 << 1, 1 << 1


@cache
def _devices() -> tuple[str, ...]:
    """Paths of character devices, and of the folders of terminals and of shared memory."""
    found = ["/dev/pts", "/dev/shm"]  # noqa: S108 - memory
    for folder in ("/dev", "/dev/dri"):
        with suppress(OSError):
            found += [e.path for e in os.scandir(folder) if stat.S_ISCHR(e.stat().st_mode)]
    return tuple(found)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def ruleset(dirs: Iterable[str], files: Iterable[str], *, is_alone: bool, is_silent: bool) -> int:
    """Return a descriptor of rules, by which only ``files`` and in ``dirs`` may be written.

    Args:
        dirs: Folders, with all in them; devices and shared memory are open in any case.
        files: Of which the content may change; those that are not there don't count.
        is_alone: Whether no connection by TCP may be made either.
        is_silent: Whether no signal may be sent to what was not started behind them.

    Returns:
        -1 where the kernel has no Landlock.
    """
    if not sys.platform.startswith("linux"):
        return -1
    libc = _libc()
    version: int = libc.syscall(_CREATE, None, 0, 1)
    if version < 1:
        return -1
    one = _FS_WRITE | (_FS_TRUNCATE if version >= 3 else 0)
    every = one | _FS_CHANGES | (_FS_REFER if version >= 2 else 0)
    parts = [
        every,
        *[_NET_CONNECT * is_alone] * (version >= 4),
        *[_SCOPE_SIGNAL * is_silent] * (version >= 6),
    ]
    rules: int = libc.syscall(_CREATE, struct.pack(f"{len(parts)}Q", *parts), 8 * len(parts), 0)
    for path in (*files, *dirs, *_devices()) if rules >= 0 else ():
        with suppress(OSError):
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rights = every if stat.S_ISDIR(os.fstat(handle).st_mode) else one
            libc.syscall(_ADD, rules, 1, struct.pack("=Qi", rights, handle), 0)
            os.close(handle)
    return rules


def restrict(rules: int) -> bool:
    """Hold this thread, and all that it starts, to ``rules`` for ever; return whether it is."""
    if rules < 0:
        return False
    libc = _libc()
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    is_done: bool = libc.syscall(_RESTRICT, rules, 0) == 0
    return is_done
