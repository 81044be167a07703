"""Address policy: the public addresses over http(s), and the exemptions of an explicit list.

A pure function decides. Names are looked up by a function given as an argument, once for each connection. The
connection then goes to the very address that was judged. A name that changes its answer in between (DNS rebinding)
gains nothing by it.
"""

from __future__ import annotations

import ipaddress
import queue
import re
import socket
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from ingestion.types.outcome import Refusal
from rag_engine.errors import InputError
from rag_engine.messages import Message, without_passwords

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
# A host name and a port to its addresses in text; OSError when there are none.
Resolve = Callable[[str, int], Sequence[str]]

# A host, in small letters, and a port.
HostAndPort = tuple[str, int]

PORTS = {"http": 80, "https": 443}
_INTRANET_CURE = "If the host belongs to your own network, name it in SEXTANT_INTRANET."

# IANA special-purpose registry: every block that is not for the public internet, whatever the Python version holds.
_V4_CLOSED = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
# Only 2000::/3 is handed out; these parts of it tunnel to IPv4 (Teredo, 6to4) or are set apart.
_V6_OPEN = ipaddress.IPv6Network("2000::/3")
_V6_CLOSED = tuple(
    ipaddress.IPv6Network(block)
    for block in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3ffe::/16", "3fff::/20")
)
# Networks without IPv4 reach the IPv4 internet by this prefix; the local one (64:ff9b:1::/48) has no fixed layout.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

# Browsers read such a last label as (part of) an IPv4 address in decimal, octal or hexadecimal.
_NUMERIC = re.compile(r"(?:0[xX][0-9a-fA-F]*|[0-9]+)\Z")
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """An address whose text is allowed; `url` is in normal form, without a fragment."""

    url: str
    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        """Scheme, host and port: what one robots.txt is for."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == PORTS[self.scheme] else f":{self.port}")


@dataclass(frozen=True, slots=True)
class Exemption:
    """An intranet exemption: a network, a host or all hosts under a suffix, for one port or all."""

    network: Network | None = None
    host: str = ""
    suffix: str = ""
    port: int | None = None

    def covers_host(self, host: str, port: int) -> bool:
        """Return whether all addresses of this name may be used."""
        named = bool(self.host and host == self.host) or bool(self.suffix and host.endswith(self.suffix))
        return named and self.port in (None, port)

    def covers_address(self, address: Address, port: int) -> bool:
        """Return whether this address may be used, under any name."""
        return self.network is not None and address in self.network and self.port in (None, port)


def read_exemptions(entries: Sequence[str]) -> tuple[Exemption, ...]:
    """Return the intranet exemptions that the entries name.

    An entry is host, host:port, *.suffix, address or network; InputError for any other.
    """
    return tuple(_exemption(entry) for entry in entries)


def read_target(url: str) -> Target:
    """Return the target of an address.

    Refusal (url_missing, url_invalid, address_forbidden) if it is forbidden.
    """
    if not url.strip():
        raise Refusal("url_missing", "There is no address.")
    try:
        parts = urlsplit(url.strip())
        if parts.scheme.lower() not in PORTS:
            raise _forbidden(
                url, Message("only http and https are read, not {scheme}", scheme=parts.scheme or "nothing")
            )
        if "@" in parts.netloc:
            raise _forbidden(url, Message("it holds a user name"))
        if _refusable_host(parts.hostname or ""):
            raise _forbidden(url, _refusable_host(parts.hostname or ""))
        parsed = httpx.URL(url.strip()).copy_with(fragment=None)
        host = parsed.raw_host.decode("ascii").lower()
    except (ValueError, httpx.InvalidURL) as error:
        raise Refusal("url_invalid", "{url} is not an address: {error}.", url=_short(url), error=error) from error
    if parsed.userinfo or parsed.scheme not in PORTS or _refusable_host(host):
        raise _forbidden(url, _refusable_host(host) or Message("its host is unclear"))
    port = parsed.port or PORTS[parsed.scheme]
    if not host or not _is_host(host) or not 0 < port < 65536 or parsed.port == 0:
        raise Refusal("url_invalid", "{url} is not an address: it has no proper host and port.", url=_short(url))
    return Target(str(parsed), parsed.scheme, host, port)


def is_public(address: Address) -> bool:
    """Return whether the address is on the public internet.

    IPv6 forms that wrap an IPv4 address are not; of NAT64 the wrapped address decides.

    >>> is_public(ipaddress.ip_address("192.168.1.7")), is_public(ipaddress.ip_address("8.8.8.8"))
    (False, True)
    """
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in block for block in _V4_CLOSED)
    if address.scope_id:
        return False
    if address in _NAT64:
        return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _V6_OPEN and not any(address in block for block in _V6_CLOSED)


def checked(host: str, port: int, addresses: Sequence[str], exemptions: Sequence[Exemption]) -> tuple[str, ...]:
    """Return the addresses in order; Refusal unless every one of them is public or exempted."""
    if problem := _refusable_host(host):
        raise _forbidden(host, problem)
    if not addresses:
        raise _unknown(host, Message("it has no address"))
    named = any(exemption.covers_host(host.lower(), port) for exemption in exemptions)
    kept = []
    for text in addresses:
        try:
            address = ipaddress.ip_address(text)
        except ValueError as error:
            raise _forbidden(host, Message("its address {address} cannot be read", address=text)) from error
        listed = any(exemption.covers_address(address, port) for exemption in exemptions)
        if not (named or listed or is_public(address)):
            raise _forbidden(f"{host}:{port}", Message("{address} is not a public address", address=text))
        kept.append(str(address))
    return tuple(kept)


def check_port(
    host: str, port: int, addresses: Sequence[str], exemptions: Sequence[Exemption], named: Collection[HostAndPort] = ()
) -> None:
    """Raise Refusal for a port other than 80 and 443, unless it is named or the host is exempted."""
    if port in PORTS.values() or (host.lower(), port) in named:
        return
    if any(exemption.covers_host(host.lower(), port) for exemption in exemptions):
        return
    for address in map(ipaddress.ip_address, addresses):
        if not any(exemption.covers_address(address, port) for exemption in exemptions):
            raise _forbidden(f"{host}:{port}", Message("no address on the list names port {port}", port=port))


def addresses_to_connect(
    host: str,
    port: int,
    exemptions: Sequence[Exemption],
    resolve: Resolve,
    *,
    seconds: float,
    named: Collection[HostAndPort] = (),
) -> tuple[str, ...]:
    """Return the addresses of a host that may be connected to.

    Refusal (address_forbidden, host_unknown, timed_out) otherwise. `named` are the hosts that may be reached at a port
    other than 80 and 443.
    """
    if problem := _refusable_host(host):
        raise _forbidden(host, problem)
    addresses = checked(host, port, _resolved_within(host, port, resolve, seconds), exemptions)
    check_port(host, port, addresses, exemptions, named)
    return addresses


def resolve_by_system(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses that this machine's resolver gives, in its order of preference."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))


def _resolved_within(host: str, port: int, resolve: Resolve, seconds: float) -> Sequence[str]:
    answers: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(resolve(host, port))
        except Exception as error:
            answers.put(error)

    # The system's resolver cannot be interrupted; a thread of its own that holds up nothing is left behind instead.
    threading.Thread(target=ask, name=f"resolve {host}", daemon=True).start()
    try:
        answer = answers.get(timeout=max(seconds, 0.001))
    except queue.Empty as error:
        raise Refusal(
            "timed_out", "The address of {host} was not found within {seconds:.0f} s.", host=host, seconds=seconds
        ) from error
    if isinstance(answer, (OSError, UnicodeError)):
        raise _unknown(host, str(answer)) from answer
    if isinstance(answer, Exception):
        raise answer
    return answer


def _exemption(entry: str) -> Exemption:
    place, port = _split_port(entry.strip().lower())
    try:
        network = ipaddress.ip_network(place, strict=False)
    except ValueError:
        network = None
    if network is not None:
        return Exemption(network=network, port=port)
    if place.startswith("*.") and _is_host(place[2:]):
        return Exemption(suffix=place[1:], port=port)
    if _is_host(place) and not _refusable_host(place):
        return Exemption(host=place, port=port)
    raise InputError(
        "{entry!r} in the list of intranet places is not a place.",
        help="Write host, host:port, *.suffix, an address or a network such as 10.1.0.0/16.",
        entry=entry,
    )


def _split_port(entry: str) -> tuple[str, int | None]:
    bracketed = re.fullmatch(r"\[([^\[\]]+)\](?::([0-9]{1,5}))?", entry)
    if bracketed:
        return bracketed[1], int(bracketed[2]) if bracketed[2] else None
    place, colon, port = entry.rpartition(":")
    if colon and ":" not in place and port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536:
        return place, int(port)
    return entry, None


def _refusable_host(host: str) -> str:
    """Return the fault in the way the host is written, or ""."""
    if host.endswith("."):
        return Message("its host is written with a dot at its end")
    if ":" in host or not _NUMERIC.match(host.rpartition(".")[2]):
        return ""
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return Message("its host is a number that hides an address")
    return ""


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            # A zone (fe80::1%eth0) is for link-local addresses, and no part of an address on the web.
            return ipaddress.IPv6Address(host).scope_id is None
        except ValueError:
            return False
    return len(host) <= 253 and all(len(label) <= 63 and _NAME.match(label) for label in host.split("."))


def _forbidden(place: str, why: str) -> Refusal:
    shown = _short(without_passwords(place))
    return Refusal(
        "address_forbidden", "{place} may not be fetched: {error}.", help=_INTRANET_CURE, place=shown, error=why
    )


def _unknown(host: str, why: str) -> Refusal:
    return Refusal("host_unknown", "The host {host} is not known: {error}.", host=_short(host), error=why)


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."
