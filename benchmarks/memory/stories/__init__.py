"""Stories of edits and runs, each with what has to be told in which run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.memory.stories import lessons, loops, more, progress

if TYPE_CHECKING:
    from benchmarks.memory.replay import Story

STORIES: tuple[Story, ...] = (
    *loops.STORIES,
    *progress.STORIES,
    *more.STORIES,
    *lessons.STORIES,
)
