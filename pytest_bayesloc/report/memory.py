"""The part of the JSON result that speaks of the memory."""

from __future__ import annotations

from pytest_bayesloc.domain.advice import Advice, Remembered, Similar
from pytest_bayesloc.domain.bug import BugRecord, DebugTrial
from pytest_bayesloc.report.text import clip

MAX_TRIALS = 20  # of a bug, the last ones
MAX_TESTS = 100  # of a bug
MAX_DIFF = 4_000


def memory_to_json(remembered: Remembered) -> dict[str, object]:
    """``memory`` of ``bayesloc/1``."""
    shown = remembered.advice if remembered.is_shown else ()
    return {
        "said": [clip(text) for text in remembered.said],
        "records": [_record(item.record) for item in remembered.advice],
        "advice": [_advice(item) for item in shown],
        "loops": [
            {"fault": item.fault + 1, "kind": loop.kind, "n": loop.n, "said": list(loop.said)}
            for item in shown
            for loop in item.loops
        ],
        "months": [
            {
                "month": month.name,
                "n_bugs": month.n_bugs,
                "mended": month.mended,
                "trials": month.trials,
                "hours": month.hours,
            }
            for month in remembered.months
        ],
        "world_model": {
            kind: [clip(text) for text in texts if remembered.is_shown]
            for kind, texts in remembered.world.items()
        },
    }


def _record(record: BugRecord) -> dict[str, object]:
    symptom = record.symptom
    return {
        "id": record.id,
        "state": record.state.value,
        "tests": [clip(node_id) for node_id in symptom.tests[:MAX_TESTS]],
        "signature": clip(symptom.signature),
        "category": symptom.category.value,
        "hypothesis": clip(symptom.hypothesis),
        "plan": clip(record.plan),
        "created_at": record.created_at.isoformat(),
        "completed_at": record.completed_at.isoformat() if record.completed_at else None,
        "root_cause": clip(record.root_cause),
        "trials": [_trial(trial) for trial in record.trials[-MAX_TRIALS:]],
        "notes": [clip(note) for note in record.notes],
    }


def _trial(trial: DebugTrial) -> dict[str, object]:
    why, strategy, lesson = trial.learned
    return {
        "number": trial.number,
        "made_at": trial.made_at.isoformat(),
        "outcome": trial.outcome.value,
        "plan": clip(trial.edit.plan),
        "functions": [clip(name) for name in trial.edit.functions],
        "diff": clip(trial.edit.diff, MAX_DIFF),
        "error": clip(trial.error),
        "metric": trial.metric,
        "why": why,
        "strategy": strategy,
        "lesson": lesson,
        "cause": trial.success.cause if trial.success else "",
    }


def _advice(advice: Advice) -> dict[str, object]:
    record = advice.record
    return {
        "fault": advice.fault + 1,
        "bug": record.id,
        "said": clip(advice.said),
        "lies": clip(advice.lies),
        "guard": clip(advice.guard),
        "similar": [_similar(item) for item in advice.similar],
        "failed_strategies": [clip(text) for text in record.failed_strategies],
        "constraints": [clip(text) for text in record.learned_constraints],
        "notes": [clip(text) for text in record.notes],
    }


def _similar(similar: Similar) -> dict[str, object]:
    record = similar.record
    success = record.success
    return {
        "bug": record.id,
        "score": round(similar.score, 3),
        "why": clip(similar.why),
        "state": record.state.value,
        "seen_at": record.seen_at.isoformat(),
        "signature": clip(record.symptom.signature),
        "root_cause": clip(record.root_cause),
        "strategy": clip(success.strategy) if success else "",
        "insight": clip(success.insight) if success else "",
        "failed": [clip(text) for text in record.failed_strategies[:2]] if not success else [],
        "notes": [clip(text) for text in record.notes],
    }
