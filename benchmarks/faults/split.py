"""Which packages the model is fitted on, checked on, and judged on."""

from __future__ import annotations

from hashlib import sha256

from benchmarks.suites.subjects import KNOWN

FIT, VALIDATE, TEST = PARTS = ("fit", "validate", "test")
#: Looked at before the split was made: never judged on.
SEEN = ("boltons", "marshmallow", "sqlparse", "toolz", "markdown", "parso", "wtforms", "h11")
#: Too slow a suite to plant hundreds of faults in.
LEFT_OUT = ("python-dateutil",)


def part_of(name: str) -> str:
    """The part that the package ``name`` belongs to: decided by its name's hash alone."""
    return _SPLIT[name]


def all_packages() -> list[str]:
    """Every package of the benchmark."""
    return list(_SPLIT)


def packages_of(part: str) -> list[str]:
    """The packages of one part."""
    return [name for name, own in _SPLIT.items() if own == part]


def _split() -> dict[str, str]:
    names = [name for name in KNOWN if name not in LEFT_OUT]
    others = sorted((n for n in names if n not in SEEN), key=_hashed)
    third = len(names) // 3
    parts = dict.fromkeys(others[:third], TEST)
    rest = sorted((n for n in names if n not in parts), key=_hashed)
    parts |= {name: (FIT, VALIDATE)[n % 2] for n, name in enumerate(rest)}
    return dict(sorted(parts.items()))


def _hashed(name: str) -> str:
    return sha256(f"part {name}".encode()).hexdigest()


_SPLIT = _split()
