"""Which of the changes that mended a bug its tests need to pass."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.errors import BayeslocError
from pytest_bayesloc.domain.inspection import Verdict
from pytest_bayesloc.inspection.strategies.counterfactual import patch_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_bayesloc.domain.location import Location
    from pytest_bayesloc.history.changes import Changes
    from pytest_bayesloc.pipeline.execute import Executing

MAX_CHANGES = 10
MAX_TESTS = 5
LIMIT_S = 10.0  # of one re-run: where it takes longer it is not cheap


def needed(executing: Executing, changes: Changes, tests: Sequence[str]) -> list[Location]:
    """The changed locations without whose change one of ``tests`` fails.

    Each is put back as it was by itself, in memory. None where that can't be tried, or all
    changes are needed only together.

    Args:
        executing: Where tests are run again.
        changes: What changed while the tests began to pass.
        tests: Node ids.
    """
    if len(changes.every) > MAX_CHANGES:
        return []
    texts = {file: change.now.text for file, change in changes.files.items()}
    chosen = list(tests[:MAX_TESTS])
    found = []
    try:
        with closing(executing.crew(chosen, texts)) as crew:
            for where in changes.every:
                patch = patch_back(changes, [where])
                if patch is None:
                    continue
                rerun = crew.first.rerun(patch, chosen, limit_s=LIMIT_S)
                failed = any(run.verdict is Verdict.FAIL for run in rerun.tests.values())
                if rerun.n_swapped and failed:
                    found.append(where)
    except BayeslocError:  # the root cause is what was changed, then
        return []
    return found
