"""pytest's hooks: no decisions here."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain import standard_library  # noqa: F401 - before any test can patch it
from pytest_bayesloc.options import option
from pytest_bayesloc.options.settings import Settings, add_options

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_bayesloc.spectrum.recorder import Recorder

_UMASK = os.umask(0o077)  # it can be read by setting it alone
os.umask(_UMASK)
AT_START = option.Launch(path=tuple(sys.path), environment=dict(os.environ), umask=_UMASK)
RECORDER: pytest.StashKey[Recorder] = pytest.StashKey()
_running: list[pytest.Config] = []  # the outermost run of this process first


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the command line and the ini file."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks by which others take part."""
    from pytest_bayesloc import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Record from before the first conftest: what it imports is executed only once."""
    _running.append(early_config)
    early_config.add_cleanup(lambda: _running.remove(early_config))
    if _is_on(early_config) and not option.is_listing(early_config):
        _recorder(early_config).start(early=True)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Answer a question instead of running tests."""
    is_asked = option.is_about_fixes(config) or option.is_about_memory(config)
    if not _is_on(config) or not is_asked:
        return None
    settings = Settings.from_config(config, _trusts(config))
    from pytest_bayesloc.pipeline.ask import answer

    return answer(config, settings)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register our mark, and the session only when it has work."""
    mark = "bayesloc_never_rerun: run this test as it is, never with changed code."
    config.addinivalue_line("markers", mark)
    if not _is_on(config):
        return
    settings = Settings.from_config(config, _trusts(config))
    if option.is_listing(config):
        return
    from pytest_bayesloc.spectrum import start

    register = config.pluginmanager.register
    recorder = _recorder(config)
    register(recorder, "bayesloc-recorder")
    if config.pluginmanager.hasplugin("bayesloc-server"):
        return
    if start.is_worker(config):
        register(start.Worker(recorder), "bayesloc-worker")
        return
    if start.is_controller(config):
        recorder.give_up()
        register(start.Controller(recorder), "bayesloc-controller")
    from pytest_bayesloc.session import LocalizationSession

    session = LocalizationSession(config, settings, recorder, AT_START)
    register(session, "bayesloc-session")
    if settings.merge:
        from pytest_bayesloc.pipeline.run_files import RecordMerger

        recorder.give_up()
        register(RecordMerger(recorder, settings.merge, session.context.note), "bayesloc-merging")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give back what recording took, however the run ended."""
    recorder = config.stash.get(RECORDER, None)
    if recorder is not None:
        recorder.stop()


def _trusts(config: pytest.Config) -> option.Trusts:
    """Return what knows whether the user trusts what the project's ini file asks for."""

    def is_known(path: Path, name: str, value: str) -> bool:
        from pytest_bayesloc.domain.own_files import is_trusted, setting_key, user_folder
        from pytest_bayesloc.domain.texts import text_digest

        folder, key = user_folder(), setting_key(path.resolve(), name)
        # A project that holds the user's configuration could trust itself.
        is_own = folder.resolve().is_relative_to(config.rootpath.resolve())
        return not is_own and is_trusted(key, text_digest(value), folder)

    return is_known


def _is_on(config: pytest.Config) -> bool:
    """Whether the plugin does anything in this run.

    Nothing in one that a test runs inside another (pytester): what is printed there is tested, and
    what is imported there is taken out of ``sys.modules`` again.
    """
    is_nested = bool(_running) and _running[0] is not config
    return option.is_enabled(config) and not is_nested


def _recorder(config: pytest.Config) -> Recorder:
    """The recorder of this run, made at the first call."""
    recorder = config.stash.get(RECORDER, None)
    if recorder is None:
        from pytest_bayesloc.pipeline.context import FOLDER
        from pytest_bayesloc.spectrum.start import recorder_for

        collect = option.early(config, "bayesloc_collect")
        keeps = collect != "always" and option.early(config, "bayesloc_memory") != "off"
        recorder = recorder_for(
            config,
            tuple(option.early(config, "bayesloc_source")),
            warnings.warn,
            traces=collect not in ("on-failure", "never"),
            folder=config.rootpath / FOLDER if keeps else None,
        )
        config.stash[RECORDER] = recorder
    return recorder
