from __future__ import annotations

import pytest

from pytest_bayesloc.domain.redaction import Redaction, redacted
from tests.fakes.secrets import SECRETS

_END = " PRIVATE" + " KEY-----"
KEY = f"-----BEGIN RSA{_END}\n{'MIIEvQIBADANBgkq' * 2}\nMIIE\n-----END RSA{_END}"


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", ["{}", "x = '{}'", "printed\\n{}\\n", "a {}... b"])
def test_secret_is_taken_out_wherever_it_stands(kind: str, around: str) -> None:
    secret, text = SECRETS[kind]

    cleaned = redacted(around.replace("{}", text))

    assert secret not in cleaned
    assert secret[-8:] not in cleaned
    assert redacted(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('password = "hunter2"', 'password = "<redacted>"'),
        ("{'api_key': 'abc', 'n': 3}", "{'api_key': '<redacted>', 'n': 3}"),
        (r"{\"password\": \"abc\", \"n\": 3}", r"{\"password\": \"<redacted>\", \"n\": 3}"),
        ("DB_PASSWORD=hunter2hunter2", "DB_PASSWORD=<redacted>"),
        ("os.environ['PASSWORD'] = 'abc'", "os.environ['PASSWORD'] = '<redacted>'"),
        ("auth=('ann', 'abc')", "auth=('ann', '<redacted>')"),
        ("--password hunter2x", "--password <redacted>"),
        ("machine x login ann password abc", "machine x login ann password <redacted>"),
        ("postgresql://ann:hunter2@db/shop", "postgresql://<redacted>@db/shop"),
        ('{"Authorization": "opensesame"}', '{"Authorization": "<redacted>"}'),
        (f"gh{'p_'}{'a' * 36} leaked", "<redacted> leaked"),
        (f"{'gh'}p_0123...cdef", "<redacted>"),
        (
            "assert 'hunter2' == 'x'\n +  where 'hunter2' = <User object at 0x7f>.password",
            "assert '<redacted>' == 'x'\n +  where '<redacted>' = <User object at 0x7f>.password",
        ),
        (f"{KEY}\nrest", "<redacted>\n" * 4 + "rest"),
        ("+x\n+" + KEY.replace("\n", "\n+"), "+x\n+<redacted>" + "\n+<redacted>" * 3),
        ("-x\n-" + KEY.replace("\n", "\n-"), "-x\n-<redacted>" + "\n-<redacted>" * 3),
    ],
)
def test_rest_of_a_text_stays(text: str, expected: str) -> None:
    cleaned = redacted(text)

    assert cleaned == expected
    assert cleaned.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "token = self.token",
        "token = make_token(12345678)",
        "def password(user): return user.password",
        "def f(password=None, secret: str = settings.v2.secret, api_key=api_key_2): ...",
        "password = sha256.new(salt1)",
        "assert token == 3",
        "assert token == '('",
        "token='IDENTIFIER'",
        "unexpected token 1234567890123456789012",
        'headers = {"Authorization": f"Bearer {token}"}',
        'url = f"https://{user}@host/x"',
        'connect(password="%s")',
        "task-list-of-something-long",
        "sk-learn-like-estimators",
        "pk_users_2024_by_customer_index",
        "basic functionality of a basic WebSocket, bearer certificates",
        "commit 9f3ad0c4b7e812659f3ad0c4b7e812650123abcd",
        "sha256:9f3ad0c4b7e812659f3ad0c4b7e812659f3ad0c4b7e812659f3ad0c4b7e81265",
        "order 3fa85f64-5717-4562-b3fc-2c963f66afa6 of 12345678901234567890",
        "session_id='3fa85f64-5717-4562-b3fc-2c963f66afa6'",
        "primary_key=12345678, cache_key='abc12345678', keyboard='qwerty12345'",
        "ssh://git@github.com/a/b.git, https://example.com:8080/x@2.0",
        "AssertionError: assert 'abcdefghijklmnopqrstuvwxyz012345' == ''",
        "tests/test_auth.py::test_password_is_hashed[sha256-1000000]",
        'if text.startswith("-----BEGIN PRIVATE" + " KEY-----"):\n    return load(text)',
    ],
)
def test_ordinary_code_hashes_and_ids_stay(text: str) -> None:
    assert redacted(text) == text


# -- values of the environment


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEPLOY_TOKEN", "just-words"),
        ("DATABASE_URL", "postgresql://db/shop"),
        ("SENTRY_DSN", "https://a@sentry.example/1"),
        ("MYSQL_PWD", "correct horse"),
        ("STRIPE_KEY", "back\\slash and 'quote'"),
    ],
)
def test_value_of_a_variable_that_is_named_like_a_secret_goes(name: str, value: str) -> None:
    redaction = Redaction({name: value})

    cleaned = redaction.clean(f"x {value} y{value!r}z")

    assert cleaned in {"x <redacted> y'<redacted>'z", 'x <redacted> y"<redacted>"z'}
    assert redaction.n_withheld in {1, 2}  # as it is, and as ``repr`` has it


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_AUTHOR_NAME", "Ann Example"),
        ("SSH_AUTH_SOCK", "/tmp/ssh/agent.1"),
        ("SECRET_FILE", "keys/production"),
        ("SIGNING_KEY", "/run/secrets/key"),
        ("AUTH_BACKEND", "shop.auth.backends.Local"),
        ("OPENAI_BASE_URL", "http://localhost:8080/v1"),
        ("DATABASE_URL", "sqlite:///shop.sqlite3"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("TOKEN_TTL", "31536000"),
        ("API_KEY", "short"),
        ("EDITOR", "emacs -nw"),
    ],
)
def test_other_values_of_the_environment_stay(name: str, value: str) -> None:
    assert Redaction({name: value}).clean(f"got {value}!") == f"got {value}!"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("got just-words-o...", "got <redacted>..."),
        ("got ...s-of-ours'", "got ...<redacted>'"),
        ("got just-words-o", "got <redacted>"),
        ("just-words alone, of-ours alone", "just-words alone, of-ours alone"),
    ],
)
def test_value_that_was_cut_goes_too(text: str, expected: str) -> None:
    assert Redaction({"DEPLOY_TOKEN": "just-words-of-ours"}).clean(text) == expected


def test_value_of_letters_is_no_part_of_a_word() -> None:
    redaction = Redaction({"DB_PASSWORD": "container"})

    assert redaction.clean("containers, a container") == "containers, a <redacted>"


def test_value_of_a_variable_is_known_by_its_name() -> None:
    assert Redaction().clean("'hunter2'", "password") == "'<redacted>'"
    assert Redaction().clean("'hunter2'", "user") == "'hunter2'"


def test_each_secret_is_counted_once() -> None:
    redaction = Redaction()

    redaction.clean('password = "hunter2" and again password = "hunter2"')
    redaction.clean('{"password": "hunter2", "secret": "other"}')

    assert redaction.n_withheld == 2


@pytest.mark.parametrize(
    "text",
    [
        "password=" * 20_000,
        "token=a" * 20_000,
        "host=a " * 20_000 + " password=",
        "token='" + "a1" * 50_000,
    ],
    ids=["keys", "tokens", "pairs", "value"],
)
def test_no_text_takes_long(text: str) -> None:
    """It would take minutes, and the test suite's limit of time ends it."""
    assert redacted(text)
