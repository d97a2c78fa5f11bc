"""The model's numbers. Written by a command, not by hand.

Choices until they are fitted: see docs/model.md.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.failure import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Weights of the blend's terms, in nats.
PRIOR: Mapping[str, float] = MappingProxyType(
    {
        "ochiai of lines": 6.0,
        "ochiai": 4.0,
        "rank by op2 of lines": -0.5,
        "module body": 0.0,
        "class body": 0.0,
    }
)

#: What a piece of test code starts from, in nats: the most suspicious code may have the sum of the
#: first two weights.
TESTS: Mapping[Role, float] = MappingProxyType(
    {Role.TEST: 7.0, Role.FIXTURE: 5.8, Role.HELPER: 5.8, Role.DATA: 5.4, Role.PART: 3.0}
)
