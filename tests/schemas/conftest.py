"""The documents of tests/unit/report, for what other people's schemas and tools say of them."""

from tests.integration.conftest import projects
from tests.unit.report.conftest import document, read_source, result

__all__ = ["document", "projects", "read_source", "result"]
