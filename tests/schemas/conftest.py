"""The documents of tests/unit/report, for what other people's schemas and tools say of them."""

from tests.unit.report.conftest import document, read_source, result

__all__ = ["document", "read_source", "result"]
