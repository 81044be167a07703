"""A server that other machines can reach asks people to log in, or does not start."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.serve import protection
from cli.serve.protection import check_protected
from rag_engine.errors import InputError

LOGIN = """
[auth]
redirect_uri = "https://sextant.example.org/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "sextant"
client_secret = "known to both"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    return tmp_path / "secrets.toml"


@pytest.fixture
def authlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package that logs people in be there: the decision does not need it."""
    monkeypatch.setattr(protection, "find_spec", lambda _: object())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_on_this_machine_alone_nobody_has_to_log_in(host: str, secrets: Path) -> None:
    exposure = check_protected(host, [secrets])
    assert (exposure.host, exposure.address, exposure.names) == (host, "", (host,))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "sextant.example.org", "localhost.example.org"])
@pytest.mark.parametrize("text", ["", "[database]\npassword = 'x'\n", "[auth]\n"])
def test_beyond_it_nothing_starts_without_a_login(host: str, text: str, secrets: Path) -> None:
    secrets.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"nobody is asked to log in.*OpenID Connect provider"):
        check_protected(host, [secrets])


@pytest.mark.usefixtures("authlib")
def test_with_a_login_the_page_is_asked_for_by_the_name_that_people_come_back_to(secrets: Path) -> None:
    secrets.write_text(LOGIN, encoding="utf-8")
    exposure = check_protected("0.0.0.0", [secrets])
    assert exposure.address == "https://sextant.example.org"
    assert exposure.names == ("sextant.example.org",)
    assert exposure.reached_at == "127.0.0.1"


@pytest.mark.usefixtures("authlib")
@pytest.mark.parametrize("line", LOGIN.split("\n")[2:-1])
def test_a_login_that_cannot_work_is_refused_by_what_it_lacks(line: str, secrets: Path) -> None:
    secrets.write_text(LOGIN.replace(f"{line}\n", ""), encoding="utf-8")
    with pytest.raises(InputError, match=f"lacks {line.partition(' ')[0]}"):
        check_protected("127.0.0.1", [secrets])


@pytest.mark.usefixtures("authlib")
@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("https://sextant.example.org", "http://sextant.example.org", "https"),
        ("0123456789abcdef0123456789abcdef", "short", "openssl rand"),
        ("[auth]", "[auth", "cannot be read"),
        ("[auth]", "auth = 'yes'\n[others]", "table"),
        ("[auth]", "[auth]\nvouch_for_addresses = 'yes'", "true or false"),
    ],
)
def test_a_login_that_protects_nobody_is_refused(before: str, after: str, message: str, secrets: Path) -> None:
    secrets.write_text(LOGIN.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        check_protected("0.0.0.0", [secrets])


@pytest.mark.usefixtures("authlib")
@pytest.mark.parametrize("tenant", ["common", "organizations", "consumers"])
def test_nobody_vouches_for_the_addresses_of_everybody(tenant: str, secrets: Path) -> None:
    own, anybody = (f"https://login.example.com/{one}/v2.0/.well-known/openid-configuration" for one in ("1f", tenant))
    text = LOGIN.replace("https://login.example.org/.well-known/openid-configuration", own)
    secrets.write_text(text + "vouch_for_addresses = true\n", encoding="utf-8")
    assert check_protected("127.0.0.1", [secrets]).address
    secrets.write_text(text.replace(own, anybody) + "vouch_for_addresses = true\n", encoding="utf-8")
    with pytest.raises(InputError, match="your own tenant"):
        check_protected("127.0.0.1", [secrets])


def test_a_login_without_its_package_is_refused_with_the_cure(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protection, "find_spec", lambda _: None)
    secrets.write_text(LOGIN, encoding="utf-8")
    with pytest.raises(InputError, match="pip install authlib"):
        check_protected("0.0.0.0", [secrets])


def test_serve_says_why_it_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protection, "secrets_files", lambda: (tmp_path / "a", tmp_path / "b"))
    refused = CliRunner().invoke(app, ["serve", "--host", "0.0.0.0", "-w", str(tmp_path / "workspace")])
    assert refused.exit_code == 2
    assert "nobody is asked to log in" in refused.stderr.replace("\n", " ")
    assert not (tmp_path / "workspace").exists()
