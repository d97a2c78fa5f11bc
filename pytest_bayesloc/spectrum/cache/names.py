"""What a test is known as, whose node id is another one in each run."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

# Moments, addresses and random names, as they get into parameters.
_VOLATILE = re.compile(
    r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}|\d{1,2}:\d\d(?::\d\d)?|0x[0-9a-f]+|[0-9a-f]{8,}(?:\.\d+)?|\d{4,}(?:\.\d+)?",
    re.IGNORECASE,
)


def known_as(node_ids: Collection[str], known: Collection[str]) -> dict[str, str]:
    """Per node id that is known, or differs from one in a moment, address or random name only.

    The latter are as good as the same test: the files that it stands on are. Should it fail where
    the other one passed, it is traced all the same.

    Args:
        node_ids: Tests as they were collected.
        known: Those of earlier runs.
    """
    found = {node_id: node_id for node_id in node_ids if node_id in known}
    unknown = [n for n in node_ids if n not in found and _VOLATILE.search(n.partition("[")[2])]
    if not unknown:
        return found
    gone: dict[str, list[str]] = defaultdict(list)
    for node_id in sorted(set(known).difference(found), reverse=True):
        gone[_masked(node_id)].append(node_id)
    for node_id in unknown:
        like = gone[_masked(node_id)]
        if like:
            found[node_id] = like.pop()
    return found


def _masked(node_id: str) -> str:
    name, bracket, parameters = node_id.partition("[")
    return name + bracket + _VOLATILE.sub("*", parameters)
