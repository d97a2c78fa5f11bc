"""Takes secrets out of texts that are kept, sent or published.

Memory, prompts and reports use the same rules. The shapes of tokens are those that their issuers
document, which detect-secrets and gitleaks know as well. Both look for secrets in files; here, the
rest of a text has to stay readable, so entropy alone is no reason: hashes and ids would go too.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_bayesloc.domain.texts import common_ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REDACTED = "<redacted>"

# -- by shape


def _begins(mark: str) -> str:
    """Return what finds ``mark``, but not within a word; a line end in a ``repr`` begins one."""
    return rf"(?:(?<![A-Za-z0-9]{mark})|(?<=\\[nrt]{mark}))"


#: What is a token wherever it stands: the beginnings that its issuer gives it, and the rest.
_TOKENS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])"),  # AWS
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{16,}"),  # GitHub
    (("github_pat_", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-"), r"[\w-]{16,}"),
    (("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"), r"[\w-]{10,}"),
    (("hooks.slack.com/services/",), r"[\w/]{20,}"),
    (("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{10,}"),  # Stripe
    (("whsec_",), r"[\w+/=]{20,}"),
    (("sk-",), rf"{_begins('sk-')}(?=[\w-]{{0,99}}\d)[\w-]{{16,}}"),  # OpenAI, Anthropic
    (("AIza",), r"[\w-]{30,}"),  # Google
    (("ya29.", "GOCSPX-"), r"[\w-]{20,}"),
    (("1//0",), r"[\w-]{30,}"),
    (("npm_",), rf"{_begins('npm_')}[A-Za-z0-9]{{30,}}"),
    (("pypi-",), r"(?=[\w-]{0,99}[A-Z])(?=[\w-]{0,99}\d)[\w-]{30,}"),
    (("eyJ",), r"[\w-]{8,}\.[\w-]{8,}\.[\w-]*(?:\.[\w-]+){0,2}"),  # JWT, JWE
    (("SG.",), r"[\w-]{16,}\.[\w-]{16,}"),  # SendGrid
    (("SK",), rf"{_begins('SK')}[0-9a-f]{{32}}(?!\w)"),  # Twilio
    (("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"), r"\d+/[\w-]{20,}"),
    (("sq0atp-", "sq0csp-"), r"[\w-]{20,}"),  # Square
    (("shpat_", "shpca_", "shppa_", "shpss_"), r"[0-9a-fA-F]{32}"),  # Shopify
    (("doo_v1_", "dop_v1_", "dor_v1_"), r"[0-9a-f]{40,}"),  # DigitalOcean
    (("dckr_pat_", "lin_api_"), r"[\w-]{20,}"),  # Docker, Linear
    (("hf_",), rf"{_begins('hf_')}[A-Za-z0-9]{{30,}}"),  # Hugging Face
    (("gsk_",), rf"{_begins('gsk_')}[A-Za-z0-9]{{30,}}"),  # Groq
    (("dapi",), r"[0-9a-f]{32}"),  # Databricks
    (("hvs.", "hvb."), r"[\w-]{20,}"),  # Vault
    (("dp.pt.", "dp.st.", "dp.sa.", "dp.ct."), r"[A-Za-z0-9]{30,}"),  # Doppler
    (("glsa_",), r"\w{32,}"),  # Grafana
    (("AGE-SECRET-KEY-1",), r"[A-Z0-9]{50,}"),
    (("NRAK-",), r"[A-Z0-9]{20,}"),  # New Relic
    (("ATATT3",), r"[\w=-]{50,}"),  # Atlassian
    (("rubygems_",), r"[0-9a-f]{40,}"),
)
#: The same of tokens that have their mark inside.
_MARKED = (
    ((":aa",), r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),  # Telegram
    (("-us",), r"(?<![0-9A-Za-z])[0-9a-f]{32}-us\d\d?(?!\w)"),  # Mailchimp
    ((".",), r"[MNO](?<![A-Za-z0-9].)[\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])"),  # Discord
)
#: Their beginnings, of tokens that were cut: ``ghp_0123...cdef``.
_CUT = (
    r"(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|[rs]k_(?:live|test)_|sk-(?:proj|ant)-|"
    r"AKIA|ASIA|AIza|npm_|pypi-AgE|eyJ)[\w-]{4,}\.\.\.[\w+/=-]*"
)
_PEM = (
    r"-----BEGIN (?P<kind>[A-Z ]*PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?:(?!-----)[\s\S]){0,10000}-?-----END (?P=kind)-----"
    r"|(?:[\s\\nr\"'+,-]*(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info):[^\n\\]+))+)"
)

# -- by name

# What looks ahead is bounded: unbounded ones take minutes for a long text of few words.

_PLACEHOLDER = r"(?!\{\w*\}|\$\{?\w+\}?[\"']|%s|%\(\w+\)s|\*+[\"']|<\w+>)"
_OPEN = r"[rbuRBU]{0,2}(?P<open>\\*[\"'])"
_INSIDE = r"(?:(?!(?P=open))(?:[^\\\n{}]|\\.))"
_CLOSE = r"(?:(?P=open)|\Z)"  # at the end, a text may have been cut
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-"
# Without quotes it may as well be code: only what no name looks like is taken for a value.
_BARE = (
    r"(?=[\w+/=~.-]{0,99}\d)(?![A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?![\w+/=~-]))"
    r"(?!\w*(?i:passw|token|secret|key|cookie|auth))[\w+/=~.-]{6,}(?![\w(.\[])"
)
_STRONG = (
    r"passw(?:or)?d|passwd|passphrase|pwd|secret|(?:secret|access|account|private|api|auth|"
    r"encryption|signing|shared|shared[_-]?access|secret[_-]?access)[_-]?key|authorization"
)
_STRONG_HINTS = (
    "passw", "passp", "pwd", "secret", "_key", "-key", "accesskey", "accountkey", "privatekey",
    "apikey", "authkey", "encryptionkey", "signingkey", "sharedkey", "authorization",
)  # fmt: skip
_WEAK = r"token|cookie|session[_-]?(?:id|key)|auth|credentials?"
_SUFFIX = r"(?:[_-]?(?:\d+|value|plain|raw|old|new|b64|base64|live|test|prod|staging|dev))?s?"
_EQUALS = r"\\*[\"']?\]?\s*(?:=>|:=|[!=]?=|:)\s*"


def _named(words: str) -> str:
    return rf"(?i:{words}){_SUFFIX}{_EQUALS}"


#: What a text holds, in small letters, to which a rule may apply; and the rule.
_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (hints, re.compile(pattern))
    for hints, pattern in (
        (("-----begin",), rf"(?P<secret>{_PEM})"),
        *(
            (
                tuple(map(str.lower, marks)),
                rf"(?P<secret>(?:{'|'.join(map(re.escape, marks))}){rest})",
            )
            for marks, rest in _TOKENS
        ),
        *((hints, rf"(?P<secret>{pattern})") for hints, pattern in _MARKED),
        (("...",), rf"(?P<secret>{_CUT})"),
        # Users of addresses: ``postgresql://ann:password@host``, ``https://KEY@sentry.io``.
        (
            ("://",),
            r"://(?P<secret>[^\s/@:'\"<>]*:[^\s/'\"<>]+|[\w-]{20,})@",
        ),
        (
            ("bearer", "basic", "apikey"),
            r"(?i:\bBearer|\bApiKey) +"
            r"(?P<secret>(?=[\w+/=~.-]{0,99}\d)[\w+/=~.-]{8,}|[\w+/=~.-]{20,})"
            r"|(?i:\bBasic) +(?P<quoted>(?=[\w+/]{0,99}(?:\d|=|[a-z][A-Z]\w*[a-z][A-Z]))"
            r"(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2,3}={1,2})?(?![\w+/=]))",
        ),
        (
            ("token ",),
            r"(?i:\btoken) +"
            r"(?P<secret>(?=\w{0,99}\d)(?=\w{0,99}[A-Za-z])[A-Za-z0-9]{20,})(?![\w(.\[])",
        ),
        (("cookie:",), r"(?i:\bCookie):\s*(?P<secret>[\w.-]+=[^\r\n\"'\\]{6,})"),
        (
            ("auth",),
            r"\bauth\s*=\s*\(\s*[\"'][^\"'\n]*[\"']\s*,\s*(?P<open>[\"'])"
            r"(?P<secret>[^\"'\n{}]+)(?P=open)",
        ),
        (
            _STRONG_HINTS,
            rf"{_named(_STRONG)}(?:{_OPEN}{_PLACEHOLDER}(?P<quoted>{_INSIDE}+){_CLOSE}"
            rf"|(?P<secret>{_BARE}))",
        ),
        (
            ("token", "cookie", "session", "auth", "credential"),
            rf"{_named(_WEAK)}(?:{_OPEN}{_PLACEHOLDER}(?P<secret>(?!{_UUID})"
            rf"(?={_INSIDE}*\d)(?={_INSIDE}*[A-Za-z])(?!{_INSIDE}*\s){_INSIDE}{{8,}}){_CLOSE}"
            rf"|(?<![uU][tT][hH]=)(?!{_UUID})(?=[\w+/=~.-]{{0,99}}[A-Za-z])(?P<bare>{_BARE})(?<=.{{8}}))",
        ),
        # ``assert 'hunter2' == user.password``, and pytest's ``where 'hunter2' = ....password``
        (
            _STRONG_HINTS,
            rf"(?<![\w\"'\\])(?P<open>[\"']){_PLACEHOLDER}(?P<quoted>{_INSIDE}+)(?P=open)"
            rf"\s*[!=]?=\s*(?:<[^<>\n]*>|[\w.()\[\]])*?(?i:{_STRONG})(?![\w(])",
        ),
        # Connection strings: ``Password=x;``, ``host=x password=y``, ``?api_key=z``
        (
            ("password", "pwd", "accountkey", "sharedaccesskey"),
            r"(?i:\b(?:password|pwd|accountkey|sharedaccesskey)\s*=\s*)"
            r"(?P<secret>[^;\s\"'<>{}]{1,500})(?=;)",
        ),
        (
            (" password=",),
            r"\b(?:host|dbname|user|port)=[^\s,'\"]{1,200}\s+(?:\w+=[^\s,'\"]+\s+){0,9}?password="
            r"(?P<secret>[^\s,'\"<>{}]+)",
        ),
        (
            ("=",),
            r"(?i:[?&](?:access_token|api_?key|token|sig|signature|secret|client_secret|password|"
            r"x-amz-signature|x-amz-security-token)=)(?P<secret>[^&\s\"'#<>{}]{6,})",
        ),
        (
            ("--",),
            r"(?i:--(?:password|passwd|token|api-?key|secret|auth-token)(?:=|\s+))"
            r"(?P<secret>(?=[^\s\"'<>]{0,99}\d)[^\s\"'<>{},;]{6,})",
        ),
        (("login",), r"\blogin\s+\S+\s+password\s+(?P<secret>[^\s<>]+)"),
    )
)

# -- of the environment

_SECRET_NAME = re.compile(
    r"passw|passphrase|(?:^|_)(?:pass|pwd|pw|pat)(?:$|_)|secret|token|key(?:$|_)|apikey|credential"
    r"|auth(?!or)|cookie|dsn|connection_?string|webhook"
    r"|(?:database|db|redis|mongo\w*|postgres\w*|pg|mysql|amqp|rabbitmq|broker)_?ur[il]$",
    re.IGNORECASE,
)
#: Of variables that are named like secrets, those that tell where, who or how.
_HARMLESS_NAME = re.compile(
    r"(?<!webhook)(?<!database)(?<!db)_(?:ur[il]|endpoint|host|name|user|username|file|path|dir"
    r"|sock|type|header|scope|issuer|audience|algorithm|backend)s?$",
    re.IGNORECASE,
)
_HARMLESS_VALUE = re.compile(
    r"[A-Za-z_]+(?:\.[A-Za-z_]+)+|\d{1,10}|sqlite:.*|(?i:changeme|disabled|optional|password"
    r"|postgres|required)"
)
_SHORTEST = 8  # of a value that is taken for a secret wherever it stands
_SHORTEST_SAID = 6  # of one that the same text names as such
_MEMO = 300  # characters of a text that is kept, since paths and names come again and again
_MEMOS = 20_000


class Redaction:
    """Takes secrets out of texts, and counts them.

    The values of variables of ``environment`` that are named like secrets are taken out wherever
    they stand.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        values = {
            form
            for name, value in (environment or {}).items()
            if _is_secret(name, value)
            for form in (value, repr(value)[1:-1])
        }
        self._values = sorted(values, key=lambda value: (-len(value), value))
        self._withheld: set[str] = set()
        self._cleaned_once = lru_cache(_MEMOS)(self._cleaned)

    @property
    def n_withheld(self) -> int:
        """The number of different secrets that were taken out so far."""
        return len(self._withheld)

    def clean(self, text: str, name: str = "") -> str:
        """Return ``text`` with ``<redacted>`` in the place of secrets; it has as many lines.

        ``name`` is that of the variable whose value it is, if it is one.
        """
        if name and re.search(_STRONG, name, re.IGNORECASE):
            head = f"{name}="
            cleaned = self.clean(head + text)
            return cleaned[len(head) :] if cleaned.startswith(head) else self.clean(text)
        return self._cleaned(text) if len(text) > _MEMO else self._cleaned_once(text)

    def _cleaned(self, text: str) -> str:
        for value in self._values:
            if value[:_SHORTEST] in text or value[-_SHORTEST:] in text:
                text = self._without(text, value)
        withheld: dict[str, bool] = {}
        small = text.lower()
        for hints, rule in _RULES:
            if any(hint in small for hint in hints):
                text = rule.sub(lambda match: _withhold(match, withheld), text)
        # What a text names as a secret may stand elsewhere in it, without a name.
        for value in sorted((v for v, is_quoted in withheld.items() if is_quoted), key=len):
            if len(value) >= _SHORTEST_SAID and re.search(r"\d", value):
                text = text.replace(value, REDACTED)
        self._withheld |= withheld.keys()
        return text

    def _without(self, text: str, value: str) -> str:
        """Return ``text`` without ``value``, also where ``...`` or the end cuts it."""
        pieces = "|".join(map(re.escape, sorted(set(_pieces(text, value)), key=len, reverse=True)))
        if value.isalpha():  # it may be part of a word
            pieces = rf"(?<!\w)(?:{pieces})(?!\w)"
        cleaned = re.sub(pieces, lambda match: REDACTED + "\n" * match.group().count("\n"), text)
        if cleaned != text:
            self._withheld.add(value)
        return cleaned


def redacted(text: str) -> str:
    """Return ``text`` without secrets, also those of this process's environment."""
    return _local(frozenset(os.environ.items())).clean(text)


@lru_cache(maxsize=1)
def _local(environment: frozenset[tuple[str, str]]) -> Redaction:
    return Redaction(dict(environment))


def _is_secret(name: str, value: str) -> bool:
    """Return whether a variable of the environment holds a secret."""
    if len(value) < _SHORTEST or not _SECRET_NAME.search(name) or _HARMLESS_NAME.search(name):
        return False
    is_path = value.startswith(("/", "./", "~")) and not re.search(r"[=+]|\w{40}", value)
    return not is_path and not _HARMLESS_VALUE.fullmatch(value)


def _pieces(text: str, value: str) -> Iterator[str]:
    """Yield ``value``, and what ``text`` holds of it before and behind a cut."""
    yield value
    for found in re.finditer(re.escape(value[:_SHORTEST]), text):
        n_kept, _ = common_ends(text[found.start() : found.start() + len(value)], value)
        after = text[found.start() + n_kept :]
        if not after or after.startswith(("...", " ... [")):
            yield value[:n_kept]
    for found in re.finditer(re.escape(value[-_SHORTEST:]), text):
        rest = text[max(0, found.end() - len(value)) : found.end()]
        n_kept, _ = common_ends(rest[::-1], value[::-1])
        if text[: found.end() - n_kept].endswith("..."):
            yield value[-n_kept:]


def _withhold(match: re.Match[str], withheld: dict[str, bool]) -> str:
    """Return the match without its secret, which is noted, and whether it was quoted."""
    group = next(name for name in ("quoted", "secret", "bare") if match.groupdict().get(name))
    secret, begin = match.group(group), match.start()
    if secret != REDACTED:
        withheld[secret] = group == "quoted"
    # Line for line, with the marks of a diff: whoever counts lines finds the same.
    mark = r"^([+ ]|-(?!-{4}[^-]))?.+"
    masked = re.sub(mark, rf"\g<1>{REDACTED}", secret, flags=re.MULTILINE)
    whole = match.group()
    return whole[: match.start(group) - begin] + masked + whole[match.end(group) - begin :]
