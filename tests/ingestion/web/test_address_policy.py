"""Only public places over http(s), and what the list of intranet places allows besides."""

from __future__ import annotations

import ipaddress
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.types.outcome import Refusal
from ingestion.web.address_policy import (
    addresses_to_connect,
    checked,
    is_public,
    read_exemptions,
    read_target,
    resolve_by_system,
)
from rag_engine.errors import InputError

PUBLIC = ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "8.8.8.8", "64:ff9b::808:808")
CLOSED = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "192.0.0.8", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "fec0::1", "100::1"),
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "2002:7f00:1::1", "2001:0:53aa:64c:0:0:8000:1"),
    *("64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::7f00:1", "64:ff9b:1::808:808", "64:ff9b::a9fe:a9fe"),
)
HIDING = (
    *("http://2130706433/", "http://0177.0.0.1/", "http://0x7f.1/", "http://0x7f000001/", "http://127.1/"),
    *("http://example.0x1/", "http://localhost./", "http://127.0.0.1./", "http://user:word@example.org/"),
    *("http://example.org@127.0.0.1/", "http://example.org\\@127.0.0.1/", "file:///etc/passwd", "ftp://h.org/a"),
    *("gopher://h.org/", "javascript:alert(1)", "data:text/html,x", "//example.org/", "example.org/a.pdf"),
    *("http://08.8.8.8/", "http://1.2.3.4.5/", "http://256.1.1.1/"),
)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_public_internet_may_be_connected_to(address: str) -> None:
    assert checked("example.org", 443, [address], ()) == (str(ipaddress.ip_address(address)),)


@pytest.mark.parametrize("address", CLOSED)
def test_any_other_address_is_refused_also_among_public_ones(address: str) -> None:
    for addresses in ([address], [*PUBLIC, address]):
        with pytest.raises(Refusal, match="may not be fetched") as refused:
            checked("example.org", 443, addresses, ())
        assert (refused.value.reason, refused.value.refused) == ("address_forbidden", True)


@pytest.mark.parametrize("url", HIDING)
def test_an_address_that_hides_where_it_leads_is_refused_unresolved(url: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_target(url)
    assert refused.value.reason == "address_forbidden"
    assert "word" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        *("http://", "http:///a", "http://h:99999/", "http://h:0/", "http://a b.org/", "http://[::1", "http://h_.-/"),
        "  ",
        *("http://a..b/", "http://[fe80::1%25eth0]/x\n", "http://" + "a" * 64 + ".org/", "http://h.org:x/"),
    ],
)
def test_a_text_that_is_no_address_is_invalid(url: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_target(url)
    assert refused.value.reason in (("url_invalid", "address_forbidden") if url.strip() else ("url_missing",))


def test_an_address_is_brought_into_normal_form() -> None:
    target = read_target(" HTTPS://Bücher.Example:443/a b?q=ü#part ")
    assert target.url.startswith("https://xn--bcher-kva.example")
    assert "#" not in target.url
    assert (target.host, target.port) == ("xn--bcher-kva.example", 443)
    assert target.origin == "https://xn--bcher-kva.example"
    assert read_target("http://[2606:2800::1]:8080/").origin == "http://[2606:2800::1]:8080"


@pytest.mark.parametrize(
    ("entry", "host", "port", "address", "allowed"),
    [
        ("wiki.example", "wiki.example", 80, "10.0.0.1", True),
        ("wiki.example", "WIKI.example", 8080, "127.0.0.1", True),
        ("wiki.example", "other.example", 80, "10.0.0.1", False),
        ("wiki.example:8080", "wiki.example", 8080, "10.0.0.1", True),
        ("wiki.example:8080", "wiki.example", 80, "10.0.0.1", False),
        ("*.corp.example", "a.b.corp.example", 80, "10.0.0.1", True),
        ("*.corp.example", "corp.example", 80, "10.0.0.1", False),
        ("*.corp.example", "evilcorp.example", 80, "10.0.0.1", False),
        ("127.0.0.1", "127.0.0.1", 99, "127.0.0.1", True),
        ("127.0.0.1:99", "127.0.0.1", 98, "127.0.0.1", False),
        ("10.1.0.0/16", "any.example", 80, "10.1.2.3", True),
        ("10.1.0.0/16", "any.example", 80, "10.2.2.3", False),
        ("10.1.0.0/16:81", "any.example", 80, "10.1.2.3", False),
        ("fd00::/8", "any.example", 80, "fd00::5", True),
        ("[::1]:8080", "::1", 8080, "::1", True),
        ("[::1]:8080", "::1", 8081, "::1", False),
    ],
)
def test_the_list_of_intranet_places_opens_exactly_what_it_names(
    entry: str, host: str, port: int, address: str, allowed: bool
) -> None:
    exemptions = read_exemptions([entry])
    if allowed:
        assert checked(host, port, [address], exemptions) == (address,)
    else:
        with pytest.raises(Refusal):
            checked(host, port, [address], exemptions)


@pytest.mark.parametrize("entry", ["", "*", "*.", "http://h/", "h:0", "h:99999999", "10.0.0.0/99", "a b", "2130706433"])
def test_an_entry_that_is_no_place_is_named(entry: str) -> None:
    with pytest.raises(InputError, match="intranet places"):
        read_exemptions([entry])


@given(st.integers(0, 2**32 - 1))
def test_a_wrapped_ipv4_address_is_never_more_open_than_the_address(number: int) -> None:
    plain = ipaddress.IPv4Address(number)
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    assert is_public(nat64) == is_public(plain)
    assert not is_public(ipaddress.IPv6Address((0xFFFF << 32) | number))
    assert not is_public(ipaddress.IPv6Address(number))
    assert not is_public(ipaddress.IPv6Address((0x2002 << 112) | (number << 80) | 1))
    assert not is_public(ipaddress.IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)))
    # Python's own table knows some of the closed blocks: nothing that it closes is open here.
    assert plain.is_global or not is_public(plain)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "0x{:x}", "0{:o}", "1.{}", "0x7f.{}", "0177.0.{}", "{}."]))
def test_no_numeric_form_but_four_decimal_parts_is_read(number: int, form: str) -> None:
    with pytest.raises(Refusal):
        read_target(f"http://{form.format(number)}/")


@given(st.text(max_size=60))
def test_every_text_is_read_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"https://example.org/{text}"):
        try:
            target = read_target(url)
        except Refusal:
            continue
        assert target.scheme in ("http", "https")
        assert target.host
        assert read_target(target.url) == target


def test_a_name_without_an_address_may_be_tried_again() -> None:
    def resolve(host: str, port: int) -> tuple[str, ...]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(Refusal, match=r"nowhere\.example is not known") as refused:
        addresses_to_connect("nowhere.example", 80, (), resolve, seconds=1)
    assert (refused.value.reason, refused.value.retryable) == ("host_unknown", True)


def test_a_name_server_that_never_answers_is_not_waited_for() -> None:
    never = threading.Event()

    def resolve(host: str, port: int) -> tuple[str, ...]:
        never.wait(30)
        return ()

    with pytest.raises(Refusal) as refused:
        addresses_to_connect("slow.example", 80, (), resolve, seconds=0.05)
    never.set()
    assert (refused.value.reason, refused.value.retryable) == ("timed_out", True)


def test_the_systems_names_are_resolved_to_addresses() -> None:
    assert set(resolve_by_system("localhost", 80)) & {"127.0.0.1", "::1"}
    with pytest.raises(Refusal, match="not a public address"):
        addresses_to_connect("localhost", 80, (), resolve_by_system, seconds=5)
