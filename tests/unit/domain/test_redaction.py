from __future__ import annotations

import pytest

from pytest_bayesloc.domain.masking import redacted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('password = "hunter2"', 'password = "<redacted>"'),
        ("{'api_key': 'abc', 'n': 3}", "{'api_key': '<redacted>', 'n': 3}"),
        ("DB_PASSWORD=hunter2hunter2", "DB_PASSWORD=<redacted>"),
        ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer <redacted>"),
        ("postgresql://ann:hunter2@db/shop", "postgresql://<redacted>@db/shop"),
        (f"ghp_{'a' * 36} leaked", "<redacted> leaked"),
        ("AKIAABCDEFGHIJKLMNOP", "<redacted>"),
        ("sk-proj-abcdefghijklmnop1234", "<redacted>"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2ln", "<redacted>"),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\nrest",
            "<redacted>\nrest",
        ),
    ],
)
def test_secret_is_taken_out(text: str, expected: str) -> None:
    assert redacted(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "token = self.token",
        "token = make_token(12345678)",
        "def password(user): return user.password",
        "assert token == 3",
        "task-list-of-something-long",
        "sk-learn-like-estimators",
    ],
)
def test_code_that_handles_secrets_is_left_alone(text: str) -> None:
    assert redacted(text) == text
