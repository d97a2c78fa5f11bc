"""Projects on disk, as the tests in tests/integration make them."""

from tests.integration.conftest import forks, projects

__all__ = ["forks", "projects"]
