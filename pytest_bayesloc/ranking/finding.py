"""What one inspection found, before it is weighed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_bayesloc.domain.evidence import Decision, Outcome
from pytest_bayesloc.domain.inspection import Signals, TestRun, Trial
from pytest_bayesloc.ranking.likelihoods import Likelihood

NO_SIGNALS = Signals(is_covered=False, has_target_assertion=False, is_failure=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came out of inspecting one target in one way.

    Attributes:
        kind: The way.
        outcome: What it amounts to.
        why: One line for a person.
        diff: The patch as a unified diff; of several, the most telling one's.
        tests: Per node id, how it went under that patch.
        signals: What was seen.
        decision: What the reflection made of it.
        seconds: Wall seconds.
        cpu_s: CPU seconds of the re-runs.
        log: Heartbeats and notes.
        trials: The patches, where several were tried.
        likelihood: What the outcome is worth, where that was learned; None: as the model says.
    """

    kind: str
    outcome: Outcome
    why: str
    diff: str = ""
    tests: Mapping[str, TestRun] = field(default_factory=dict)
    signals: Signals = NO_SIGNALS
    decision: Decision = Decision.NEUTRAL
    seconds: float = 0.0
    cpu_s: float = 0.0
    log: str = ""
    trials: tuple[Trial, ...] = ()
    likelihood: Likelihood | None = None
