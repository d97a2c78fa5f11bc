"""The composition root: collect, localize, inspect, report."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

import pytest

from pytest_bayesloc.domain.errors import BayeslocError, StoreError
from pytest_bayesloc.domain.standard_library import as_at_start, monotonic
from pytest_bayesloc.pipeline.context import Context, has_counted_passes, has_work, mend_folder
from pytest_bayesloc.pipeline.trace import complete_spectra, keep, note_empty_spectrum, past_runs

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.domain.result import Fault
    from pytest_bayesloc.fixes.search import Search
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.options.option import Launch
    from pytest_bayesloc.options.settings import Settings
    from pytest_bayesloc.pipeline.guide import LlmStage
    from pytest_bayesloc.pipeline.remember import Remembering
    from pytest_bayesloc.ranking.case import Case
    from pytest_bayesloc.report.document import ResultDocument
    from pytest_bayesloc.spectrum.recorder import Recorder


FIX_SHARE = 1 / 3  # of the budget, which the search for fixes has at least


class LocalizationSession:
    """One run: from what the recorder, a plugin of its own, saw to the terminal and the reports."""

    def __init__(
        self, config: pytest.Config, settings: Settings, recorder: Recorder, launch: Launch
    ) -> None:
        self.context = Context(config=config, settings=settings, launch=launch, recorder=recorder)
        self._settings = settings
        self._recorder = recorder
        self._started = monotonic()
        self._document: ResultDocument | None = None
        self._written: dict[str, Path] = {}
        self._verdict = ""
        self._stopped_by_hand = False
        self._past = past_runs(self.context)
        if settings.refusal:
            self.context.note(settings.refusal)
        self._remembering: Remembering | None = None
        self._tries: Sequence[Search | None] = ()

    def _memory(self) -> Remembering:
        # No property: pytest 7 reads those of every plugin, in search of fixtures.
        if self._remembering is None:
            from pytest_bayesloc.pipeline.remember import Remembering

            prove = self._needed if self._settings.inspect else None
            self._remembering = Remembering(self.context, self._past, prove)
        return self._remembering

    @cached_property
    def _llm(self) -> LlmStage | None:
        if not self._settings.asks_llm:
            return None
        try:
            from pytest_bayesloc.pipeline.guide import LlmStage
        except ImportError as error:
            why = "missing" if isinstance(error, ModuleNotFoundError) else "too old"
            self.context.note(
                f"No language model is asked: {error.name} is {why}. "
                "pip install 'pytest-bayesloc[llm]'. (llm-missing)"
            )
            return None
        return LlmStage(self.context)

    def _result(self, faults: tuple[Fault, ...] = (), cases: Sequence[Case] = ()) -> ResultDocument:
        """Return the JSON result of ``faults``; of a run that passed there are none."""
        from pytest_bayesloc.pipeline.report import document_of

        usage = None if self._llm is None else self._llm.usage()
        return document_of(self.context, faults, cases, usage)

    # -- pytest's side

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Stop recording right after the last test, before outer plugins stop measuring."""
        started = monotonic()
        self.context.collected_s = started - self._started
        try:
            return (yield)
        finally:
            self._recorder.stop()
            self.context.tests_s = monotonic() - started

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what was collected: where a file can't be, pytest runs none of the rest."""
        if self._settings.searches_fixes:
            self.context.collected = [item.nodeid for item in session.items]

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Tell Ctrl-C from an end that pytest chose, which is an interrupt to it as well."""
        self._stopped_by_hand = excinfo.type is KeyboardInterrupt

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Localize; whatever goes wrong costs one line, never the run."""
        self._recorder.stop()
        with as_at_start():
            try:
                self._finish()
            except KeyboardInterrupt:
                self.context.notes.append("Localization was interrupted.")
            except BayeslocError as error:
                self.context.notes.append(str(error))
            except Exception as error:  # noqa: BLE001 - no fault of ours takes the summary down
                self.context.warn(error)
            finally:
                self._tell_loops()
                self.context.close()

    def _finish(self) -> None:
        mend_folder(self.context.rootdir, self.context.note)
        verdicts = self._recorder.recorded.verdicts
        is_red = not all(verdicts.values())
        if is_red:
            self._localize()
        elif self._settings.record is not None or self._recorder.recorded.reruns:
            complete_spectra(self.context, may_run=not self._stopped_by_hand)
        if self._settings.record is not None:
            from pytest_bayesloc.pipeline.run_files import keep_record

            keep_record(self.context, self._settings.record)
        if self._settings.merge:  # nothing ran here
            return
        if verdicts and not is_red:
            has_counted = not has_work(self.context, is_red=False)
            if not (has_counted and has_counted_passes(self.context)):
                self._remember()
        failure = keep(self.context, self._past)
        if failure and self._document is not None:  # nothing was asked of a passing run
            self.context.note(failure)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Print the verdict on loops as the last line, for programs that read it."""
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if self._verdict and reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(self._verdict)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the answer below the failures."""
        said = self.context.remembered is not None and self.context.remembered.messages
        if self._document is None and not self.context.notes and not said:
            return
        try:
            from pytest_bayesloc.pipeline.report import print_answer

            with as_at_start():
                unsent = () if self._llm is None else self._llm.prompts
                print_answer(self.context, terminalreporter, self._document, self._written, unsent)
                if "fix" in self.context.seconds and self._settings.fix == "review":
                    self._review(terminalreporter)
        except Exception as error:  # noqa: BLE001 - see above
            self.context.warn(error)

    def _review(self, reporter: pytest.TerminalReporter) -> None:
        from pytest_bayesloc.pipeline.fix_tools import mark_applied, review
        from pytest_bayesloc.pipeline.report import write

        n_said = len(self.context.notes)
        review(self.context, reporter)
        for note in self.context.notes[n_said:]:
            reporter.write_line(f"bayesloc: {note}", yellow=True)
        if self._document is not None and mark_applied(self.context, self._document):
            self._written = write(self.context, self._document)

    # -- the stages

    def _localize(self) -> None:
        from pytest_bayesloc.pipeline.report import notify_plugins, write
        from pytest_bayesloc.pipeline.run_files import keep_last
        from pytest_bayesloc.ranking.faults import fault_of

        cases = self._open_cases()
        is_rerun = self._settings.inspect or self._settings.searches_fixes
        if is_rerun and self._settings.remembers and not self._stopped_by_hand:
            with self.context.stage("remember"), self._memory_may_fail():
                self._memory().recall(cases)
        if self._llm is not None and not self._stopped_by_hand:
            with self.context.stage("guide"):
                with self._memory_may_fail():
                    self._llm.learn(*self._memory().guide_record(self._llm.advisor.name))
                with self._memory_may_fail():
                    self._stopped_by_hand = not self._llm.has_judged(cases)
        if self._settings.inspect and not self._stopped_by_hand:
            with self.context.stage("inspect"):
                cases = self._inspect(cases)
        if self._settings.searches_fixes and not self._stopped_by_hand:
            with self.context.stage("fix"):
                self._fix(cases)
        faults = tuple(fault_of(case) for case in cases)
        notify_plugins(self.context, faults)
        if has_work(self.context, is_red=True) and not self._stopped_by_hand:
            with self.context.stage("remember"):
                self._remember(cases, faults)
        if self.context.fixes and self._settings.fix == "apply":
            from pytest_bayesloc.pipeline.fix_tools import apply_best

            apply_best(self.context)
        with self.context.stage("report"):
            self._document = self._result(faults, cases)
            self._written = write(self.context, self._document)
            if has_work(self.context, is_red=True):
                with suppress(OSError):  # said already: the memory lies in the same folder
                    keep_last(self.context, self._document, cases)

    def _tell_loops(self) -> None:
        """Write the verdict on loops; of passing and broken runs too, else an old one stays."""
        asked = self._settings.verdicts
        if not asked:
            return
        try:
            from pytest_bayesloc.pipeline.report import write_verdict

            text = write_verdict(self.context, self._document or self._result())
        except Exception as error:  # noqa: BLE001 - see above
            self.context.warn(error)
        else:
            self._verdict = text if any(report.path is None for report in asked) else ""

    def _open_cases(self) -> list[Case]:
        """Return the groups of failing tests, each with its prior and the evidence at hand."""
        from pytest_bayesloc.pipeline.causes import explain_packages, with_causes
        from pytest_bayesloc.ranking.belief import ModelChoice
        from pytest_bayesloc.ranking.groups import open_groups
        from pytest_bayesloc.spectrum.build import build_failures, build_spectrum

        recorded = self._recorder.recorded
        with self.context.stage("localize"):
            complete_spectra(self.context, may_run=not self._stopped_by_hand)
            spectrum = build_spectrum(recorded, self.context.sources)
            failures = build_failures(recorded, self.context.sources)
            failures = with_causes(self.context, spectrum, failures)
            cases = open_groups(
                spectrum,
                failures,
                self.context.sources,
                ModelChoice(
                    formula=self._settings.formula,
                    belief=self._settings.model,
                    without=self._settings.without,
                ),
                partial(self._past.changes, present=recorded.verdicts),
                self._past.newest_changes,
            )
            explain_packages(self.context, self._past, cases)
        # Code that can't be imported is a suspect, though no test executes it.
        broken = (
            c for c in cases if any(f.phase == "collect" or f.syntax_error for f in c.failures)
        )
        is_code_suspected = any(not where.is_test for case in broken for where in case.prior)
        if not is_code_suspected and not spectrum.reached():
            note_empty_spectrum(self._recorder.files, self.context.note)
        return cases

    def _needed(self, changes: Changes, tests: Sequence[str]) -> Sequence[Location]:
        """Return those of the changes that fixed a bug which its tests need."""
        from pytest_bayesloc.pipeline.execute import needed_changes

        with self.context.stage("inspect"):
            return needed_changes(self.context, changes, tests)

    def _remember(self, cases: Sequence[Case] = (), faults: Sequence[Fault] = ()) -> None:
        with self._memory_may_fail():
            self.context.remembered = self._memory().take_in(cases, faults, self._tries, self._llm)

    @contextmanager
    def _memory_may_fail(self) -> Iterator[None]:
        """Whatever goes wrong with the memory, or with a model, the answer stands."""
        try:
            yield
        except StoreError as error:
            self.context.note(str(error))
        except Exception as error:  # noqa: BLE001 - a fault of ours
            self.context.warn(error)

    def _inspect(self, cases: Sequence[Case]) -> list[Case]:
        from pytest_bayesloc.pipeline.inspect import inspect

        more = () if self._llm is None else self._llm.strategies()
        spent_s = self.context.spent_s("guide")
        return inspect(self.context, cases, self._past.history, spent_s=spent_s, more=more)

    def _fix(self, cases: Sequence[Case]) -> None:
        from pytest_bayesloc.pipeline.fix import FixStage
        from pytest_bayesloc.pipeline.fix_tools import write_patches

        if not self._settings.inspect:
            from pytest_bayesloc.pipeline.inspect import look_back

            limit_s = self._settings.budget_s * FIX_SHARE
            look_back(self.context, cases, self._past.history, limit_s)
        # Inspections have what they have without it: to ask for a fix makes no answer worse.
        left_s = self._settings.budget_s - self.context.spent_s("guide", "inspect")
        stage = FixStage(context=self.context, llm=self._llm)
        self._tries = stage.run(cases, max(self._settings.budget_s * FIX_SHARE, left_s))
        write_patches(self.context)
