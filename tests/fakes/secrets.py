"""Secrets in the shapes of their issuers, none of them real: each with the text it stands in.

They are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

_LETTERS = "Zq7Xw2Vn9Kt4Rb6Mj3Hf8Gd5Sc1PaLeYuIoTr"
_HEX = "9f3ad0c4b7e812659f3ad0c4b7e81265"
_KEY = " PRIVATE" + " KEY-----"
_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"

#: By kind, the secret and a text that holds it.
SECRETS: dict[str, tuple[str, str]] = {
    kind: (secret, text.replace("{}", secret))
    for kind, secret, text in (
        ("aws", "AKI" + "A" + "QX7Z2VNK4TRB6MJ3", "key {} is refused"),
        ("aws secret", "wJalrX" + _LETTERS[:34], "aws_secret_access_key={}"),
        ("github", "gh" + "p_" + _LETTERS[:36], "remote: {}"),
        ("github fine", "github" + "_pat_" + _LETTERS[:22] + "_" + _LETTERS, "pat={}"),
        ("gitlab", "glp" + "at-" + _LETTERS[:20], "PRIVATE-TOKEN {}"),
        ("slack", "xo" + "xb-123456789012-" + _LETTERS[:24], "slack said no to {}"),
        ("slack hook", "T0A1B2C3D/B0A1B2C3D/" + _LETTERS[:24],
         "https://hooks.slack" + ".com/services/{}"),
        ("stripe", "sk" + "_live_" + _LETTERS[:24], "charge with {}"),
        ("openai", "sk" + "-proj-" + _LETTERS, "model at {}"),
        ("google", "AI" + "za" + _LETTERS[:35], "maps?key={}"),
        ("npm", "np" + "m_" + _LETTERS[:36], "//registry/:_authToken {}"),
        ("pypi", "pyp" + "i-AgEIcHlwaS5vcmc" + _LETTERS, "upload by {}"),
        ("sendgrid", "S" + "G." + _LETTERS[:22] + "." + _LETTERS, "mail by {}"),
        ("hugging face", "h" + "f_" + _LETTERS[:34], "weights by {}"),
        ("jwt", "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + _LETTERS[:32],
         "session {} is over"),
        ("database", "s3cret-Hunter", "postgresql://ann:{}@db.example/shop"),
        ("odbc", "Tr0ub4dor", "Server=db;User Id=sa;Password={};Encrypt=yes"),
        ("libpq", "opensesame", "host=db user=ann password={} dbname=shop"),
        ("private key", _BODY, f"-----BEGIN{_KEY}\n{{}}\n-----END{_KEY}"),
        ("bearer", "mF9-" + _LETTERS[:20], "Authorization: Bearer {}"),
        ("basic", "YW5uOmNvcnJlY3Qx", "Authorization: Basic {}"),
        ("password", "c0rrect-horse", "login(user='ann', password='{}')"),
        ("password in json", "batt3ry-staple", '{"password": "{}"}'),
        ("token", _HEX, "refresh_token={}"),
        ("query", "a1b2c3d4e5", "https://api.example/v1?api_key={}&page=2"),
        ("cookie", "sid=" + _HEX[:20], "Set-Cookie: {}"),
    )
}  # fmt: skip
#: Such as no shape tells: by the names of their variables.
ENVIRONMENT = {"DEPLOY_TOKEN": "justw0rds-of-ours", "SHOP_DB_PASSWORD": "plain'qu0ted\\w0rds"}
