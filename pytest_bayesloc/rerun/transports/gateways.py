"""Places behind execnet gateways: other interpreters, machines and containers."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_bayesloc.domain.errors import ExecutionError, LostError
from pytest_bayesloc.rerun import package
from pytest_bayesloc.rerun.agent import LEAST_PYTHON
from pytest_bayesloc.rerun.process import Reply
from pytest_bayesloc.rerun.remote import Remote, told
from pytest_bayesloc.rerun.workspaces import Workspaces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execnet import Channel, Gateway, Group

    from pytest_bayesloc.rerun.command import Command
    from pytest_bayesloc.rerun.wire import Message

OPEN_S = 60.0  # for a gateway to come up
NET_S = 10.0  # more than a server may take, for the way to it and back
END_S = 3.0

_CALL = "from pytest_bayesloc.rerun import agent; "
ABOUT = f"{_CALL} channel.send(agent.about())"
DIGESTS = f"{_CALL} channel.send(agent.digests(*channel.receive()))"
SERVE = f"{_CALL} agent.serve(channel, channel.receive())"


@dataclass(kw_only=True, eq=False)
class GatewayPlace:
    """The other side of a gateway, found to be usable.

    Attributes:
        name: The specification as the user gave it.
        n_servers: That it bears at once.
        gateway: execnet's.
        line: The channel that this package came by: it is taken away there when that is closed.
        sources: Where this package lies there.
        remote: How servers are started there.
        may_fork: Whether they may fork.
        end: Ends the gateway.
    """

    name: str
    n_servers: int
    gateway: Gateway
    line: Channel
    sources: str
    remote: Remote
    may_fork: bool
    end: Callable[[], None]
    _is_open: bool = field(default=True)

    def path_of(self, file: str) -> str:
        """Its path there."""
        return self.remote.path_of(file)

    def here(self, text: str) -> str:
        """``text`` with the paths of this machine."""
        return self.remote.workspaces.here(text)

    def start(self, tests: Sequence[str], once: Message | None) -> _GatewayServer:
        """A server there."""
        return _GatewayServer(self, self.remote.told(tests, once))

    def close(self) -> None:
        """End the gateway."""
        if self._is_open:
            self._is_open = False
            self.end()


class _GatewayServer:
    """Answers ``place.Server`` over a channel of its own."""

    def __init__(self, place: GatewayPlace, opening: Message) -> None:
        self._name = place.name
        self._is_hung_up = False
        try:
            self._channel: Channel = place.gateway.remote_exec(SERVE)
            self._channel.send(place.sources)
        except OSError as error:
            raise _lost(self._name) from error
        self._ask({"open": opening}, 0.0)

    def ready(self, limit_s: float) -> Message:
        return self._ask({"ready": limit_s}, limit_s)

    def exchange(self, request: Message | None, limit_s: float) -> Reply:
        reply = self._ask({"request": request, "limit_s": limit_s}, limit_s)
        return Reply(**reply) if reply else Reply(messages=())

    def hang_up(self) -> None:
        self._is_hung_up = True
        with contextlib.suppress(OSError):  # it is gone
            self._channel.close()

    def end(self) -> None:
        self.hang_up()

    def _ask(self, asked: Message, limit_s: float) -> Message:
        """What comes back; nothing if it was hung up on."""
        try:
            self._channel.send(json.dumps(asked))
            answer: Message = json.loads(self._channel.receive(timeout=limit_s + NET_S))
        except (EOFError, OSError, self._channel.TimeoutError, self._channel.RemoteError) as error:
            if self._is_hung_up:
                return {}
            raise _lost(self._name) from error
        if "error" in answer:
            raise told(answer)
        return answer


def _lost(name: str) -> LostError:
    return LostError(
        f"{name} does not answer any more: what it had under way is done again elsewhere.",
        slug="lost-executor",
    )


class Opener:
    """Opens gateways, all of one group.

    Args:
        command: How a server is started on this machine.
        files: Of the project, relative to rootdir, that must be the same there.
    """

    def __init__(self, command: Command, files: Sequence[str]) -> None:
        import execnet

        self._group: Group = execnet.Group()
        self._command = command
        self._files = files

    def open(
        self,
        spec: str,
        *,
        name: str = "",
        workspaces: Workspaces | None = None,
        n_servers: int = 1,
        end: Callable[[], None] = lambda: None,
    ) -> GatewayPlace:
        """The place at the end of a gateway.

        Args:
            spec: execnet's.
            name: What a person knows it by; the specification if it is empty.
            workspaces: The project here and there; None: as the specification's ``chdir`` says.
            n_servers: That it bears at once.
            end: Ends what was started for it, after the gateway.

        Raises:
            ExecutionError: If it can't be opened, or what is there can't be used.
        """
        name = name or spec
        gateway = self._gateway(spec, name)

        def end_all() -> None:
            with contextlib.suppress(OSError, EOFError):
                gateway.exit()
            end()

        try:
            return self._usable(gateway, name, workspaces, n_servers, end_all)
        except BaseException:
            end_all()
            raise

    def _gateway(self, spec: str, name: str) -> Gateway:
        try:
            return self._group.makegateway(spec)
        except Exception as error:  # execnet lets through whatever it meets
            raise ExecutionError(
                f"{name} can't be reached ({_words(error)}): no tests are run again there. Check "
                "that this machine reaches it, and that a Python of 3.10 or later is there.",
                slug="no-executor",
            ) from error

    def _usable(
        self,
        gateway: Gateway,
        name: str,
        workspaces: Workspaces | None,
        n_servers: int,
        end: Callable[[], None],
    ) -> GatewayPlace:
        line, unpacked = self._told(gateway, name, package.UNPACK, package.packed())
        if "python" in unpacked:
            least = ".".join(map(str, LEAST_PYTHON))
            raise _unfit(name, f"Python {unpacked['python']}; {least} or later is needed")
        _, about = self._told(gateway, name, ABOUT)
        if not about["has_pytest"]:
            raise _unfit(name, f"no pytest in its Python {about['python']}")
        here = str(self._command.rootdir)
        if workspaces is None:
            has_folder = "chdir" in vars(gateway.spec)
            workspaces = Workspaces(here, about["folder"] if has_folder else here)
        remote = Remote(self._command, workspaces)
        asked = (workspaces.there(here), list(self._files))
        _, found = self._told(gateway, name, DIGESTS, asked)
        remote.check_tree(name, found)
        return GatewayPlace(
            name=name,
            n_servers=n_servers,
            gateway=gateway,
            line=line,
            sources=unpacked["sources"],
            remote=remote,
            may_fork=about["may_fork"],
            end=end,
        )

    @staticmethod
    def _told(gateway: Gateway, name: str, source: str, *sent: Any) -> tuple[Channel, Any]:  # noqa: ANN401 - as it comes
        """What ``source`` sends first when it is carried out there."""
        try:
            channel = gateway.remote_exec(source)
            for item in sent:
                channel.send(item)
            return channel, channel.receive(timeout=OPEN_S)
        except Exception as error:  # execnet lets through whatever it meets
            raise _unfit(name, _words(error)) from error

    def close(self) -> None:
        """End all gateways."""
        with contextlib.suppress(OSError, EOFError):
            self._group.terminate(timeout=END_S)


def _unfit(name: str, why: str) -> ExecutionError:
    return ExecutionError(
        f"{name} can't run tests again: {why}. Install what the tests need there, or name another "
        "interpreter (python=... in the specification).",
        slug="no-executor",
    )


def _words(error: BaseException) -> str:
    said = str(error).partition(": <Gateway")[0]  # of execnet's own
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
