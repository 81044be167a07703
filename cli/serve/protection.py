"""Protection of a server that other machines can reach: everybody logs in, or it does not start."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rag_engine.config import ROOT
from rag_engine.errors import InputError

LOOPBACK = "127.0.0.1"
_DOCS = "docs/people.md has an example."
_SHARED, _OF_A_PROVIDER = ("redirect_uri", "cookie_secret"), ("client_id", "client_secret", "server_metadata_url")
# Shorter keys can be guessed, and with the key anybody can log in as anybody.
_LEAST_COOKIE_SECRET = 32
# Microsoft's metadata for all its customers.
_OF_MANY_TENANTS = ("common", "organizations", "consumers")


@dataclass(frozen=True, slots=True)
class Exposure:
    """The host of a server, and the address at which people log in, "" without logins."""

    host: str = LOOPBACK
    address: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names that browsers ask the server by, besides those that every machine has for itself.

        >>> Exposure("0.0.0.0", "https://library.example.org").names
        ('library.example.org',)
        """
        # A host beyond this machine is asked by the address that people log in at.
        own = "" if self.address else self.host
        return tuple(name for name in (urlsplit(self.address).hostname, own) if name)

    @property
    def reached_at(self) -> str:
        """Host by which this machine itself reaches the server, as in an address.

        >>> Exposure("0.0.0.0").reached_at, Exposure("2001:db8::7").reached_at
        ('127.0.0.1', '[2001:db8::7]')
        """
        if self.host in ("0.0.0.0", "::"):  # noqa: S104 - asked, not listened at
            return LOOPBACK if self.host == "0.0.0.0" else "[::1]"  # noqa: S104
        return f"[{self.host}]" if ":" in self.host else self.host


def secrets_files() -> tuple[Path, Path]:
    """Return where Streamlit looks for secrets, the later file over the earlier."""
    return Path.home() / ".streamlit" / "secrets.toml", ROOT / ".streamlit" / "secrets.toml"


def check_protected(host: str, files: Sequence[Path] | None = None) -> Exposure:
    """Return how a server at a host is reached.

    InputError if other machines could open it without logging in, or if logins would cross the network readable.
    """
    # Later: it brings what help must not wait for.
    from rag_engine.loopback import is_loopback

    login = _read_login(secrets_files() if files is None else files)
    beyond = not is_loopback(host)
    if not login and not beyond:
        return Exposure(host)
    if not login:
        raise InputError(
            f"At {host} everybody on the network could read and change the collection: nobody is asked to log in.",
            help=f"Name an OpenID Connect provider under [auth] in {secrets_files()[1]}, or leave out --host. {_DOCS}",
        )
    _check_login(login)
    address = urlsplit(str(login["redirect_uri"]))
    if beyond and address.scheme != "https":
        raise InputError(
            f"redirect_uri under [auth] is {login['redirect_uri']!r}: logins would cross the network readable.",
            help="Serve it by https, for example with a proxy in front, and let redirect_uri begin with https://.",
        )
    return Exposure(host, f"{address.scheme}://{address.netloc}")


def _read_login(files: Sequence[Path]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for path in files:
        try:
            found |= tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (ValueError, OSError) as error:
            raise InputError(f"{path} cannot be read: {error}.", help="Correct that line.") from error
    login = found.get("auth", {})
    if not isinstance(login, dict):
        raise InputError(f"auth in secrets.toml is {login!r}.", help=f"It is a table, [auth]. {_DOCS}")
    return login


def _check_login(login: Mapping[str, Any]) -> None:
    """Raise InputError for a login that cannot work."""
    providers: list[Mapping[str, Any]] = [one for one in login.values() if isinstance(one, dict)] or [login]
    missing = {name for name in _SHARED if not login.get(name)}
    missing |= {name for name in _OF_A_PROVIDER for provider in providers if not provider.get(name)}
    if missing:
        raise InputError(f"[auth] in secrets.toml lacks {', '.join(sorted(missing))}.", help=_DOCS)
    if len(str(login["cookie_secret"])) < _LEAST_COOKIE_SECRET:
        raise InputError(
            f"cookie_secret under [auth] has less than {_LEAST_COOKIE_SECRET} characters.",
            help="Make one with `openssl rand -hex 32`.",
        )
    for provider in providers:
        _check_vouching(provider)
    if find_spec("authlib") is None:
        raise InputError("Logging in needs the package authlib.", help="Run `pip install authlib`.")


def _check_vouching(provider: Mapping[str, Any]) -> None:
    """Raise InputError where addresses are vouched for whose issuer is anybody's organisation."""
    vouched, place = provider.get("vouch_for_addresses", False), str(provider["server_metadata_url"])
    if not isinstance(vouched, bool):
        raise InputError(f"vouch_for_addresses is {vouched!r}.", help="It is true or false, without quotation marks.")
    if vouched and any(part in _OF_MANY_TENANTS for part in urlsplit(place).path.split("/")):
        raise InputError(
            f"{place} logs in people of any organisation, so nobody can vouch for their addresses.",
            help="Give server_metadata_url with the id of your own tenant, or leave out vouch_for_addresses.",
        )
