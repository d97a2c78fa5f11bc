"""Per-test coverage and outcomes, from an ordinary run of pytest."""
