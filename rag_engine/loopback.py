"""Hosts of addresses that are this machine."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return whether a host of an address, without port, is this machine.

    Of names only localhost counts; others are not looked up.

    >>> is_loopback("127.0.0.1")
    True
    >>> is_loopback("example.org")
    False
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
