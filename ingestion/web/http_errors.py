"""Refusals for HTTP statuses and network errors."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpcore

from ingestion.types import Refusal

_DENIED = frozenset({401, 403, 451})
_GONE = frozenset({404, 410})


def status_refusal(status: int, url: str, retry_after: float | None = None) -> Refusal:
    """Return the refusal that an HTTP status means; one of our own failures where a later call may succeed."""
    if status in _GONE:
        return Refusal("not_found", f"There is nothing at {url} (HTTP {status}).")
    if status in _DENIED:
        return Refusal("access_denied", f"{url} may not be read without leave (HTTP {status}).")
    if status == 429:
        later = f" It asks to wait {retry_after:.0f} s." if retry_after else ""
        return Refusal("rate_limited", f"{url} gets too many requests (HTTP 429).{later}", retryable=True)
    return Refusal("http_error", f"{url} answered with HTTP {status}.", retryable=status >= 500 or status == 408)


def error_refusal(error: Exception, url: str) -> Refusal:
    """Return the refusal that a broken, refused or slow connection means."""
    if certificate := _certificate_error(error):
        return Refusal(
            "certificate_invalid",
            f"The certificate of {url} is not valid: {certificate.verify_message or certificate.reason}.",
            help="Ask the site's owner; a certificate authority of your own is named in SSL_CERT_FILE.",
        )
    if isinstance(error, httpcore.TimeoutException):
        return Refusal("timed_out", f"{url} did not answer in time ({_words(error)}).", retryable=True)
    if isinstance(error, httpcore.LocalProtocolError | httpcore.UnsupportedProtocol):
        return Refusal("http_error", f"{url} cannot be asked for: {_words(error)}.")
    return Refusal("connection_failed", f"The connection to {url} failed: {_words(error)}.", retryable=True)


def retry_after_seconds(value: str, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After header (a number or a date) asks to wait; None where it says nothing."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
