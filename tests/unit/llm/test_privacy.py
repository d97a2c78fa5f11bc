"""What never leaves the machine."""

from __future__ import annotations

import pytest

from pytest_bayesloc.llm.endpoint import OpenAIEndpoint
from pytest_bayesloc.llm.privacy import Privacy

PRIVACY = Privacy(
    rootdir="/srv/checkouts/shop",
    home="/home/mallory",
    user="mallory",
    environment={"DEPLOY_TOKEN": "a-value-like-no-token"},
    never_sent=("shop/billing/*", "*.csv"),
)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("it is a-value-like-no-token.", "it is <redacted>."),
        ("/srv/checkouts/shop/cart.py:3", "<rootdir>/cart.py:3"),
        ("/home/mallory/.cache", "<home>/.cache"),
        ("/home/eve/x and /Users/eve/x", "<home>/x and <home>/x"),
        (r"C:\Users\eve\x", r"<home>\x"),
        ("by mallory, or mallory2", "by <user>, or mallory2"),
    ],
)
def test_text_is_cleaned(text: str, cleaned: str) -> None:
    assert PRIVACY.clean(text) == cleaned


def test_account_that_names_nobody_is_an_ordinary_word() -> None:
    assert Privacy(user="root").clean("the root of a tree") == "the root of a tree"


@pytest.mark.parametrize(
    ("file", "is_sent"),
    [
        ("shop/cart.py", True),
        (".env", False),
        ("deploy/.env.production", False),
        ("certs/server.KEY", False),
        ("app/Secrets/load.py", False),
        ("settings/credentials.py", False),
        ("shop/billing/tax.py", False),
        ("data/prices.csv", False),
        ("shop\\billing\\tax.py", False),
    ],
)
def test_files_that_are_named_are_never_sent(file: str, is_sent: bool) -> None:
    assert PRIVACY.may_send(file) is is_sent


@pytest.mark.parametrize("has_key", [True, False])
def test_key_of_the_user_goes_to_the_address_of_the_user(
    monkeypatch: pytest.MonkeyPatch, has_key: bool
) -> None:
    at_start = {"OPENAI_BASE_URL": "http://ours/v1", "OPENAI_API_KEY": "k" if has_key else ""}
    monkeypatch.setenv("OPENAI_BASE_URL", "http://theirs/v1")

    address = OpenAIEndpoint(environment=at_start).address

    assert address == ("http://ours/v1" if has_key else "http://theirs/v1")
