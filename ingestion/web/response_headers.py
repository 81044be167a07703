"""The file name that an answer suggests: Content-Disposition (RFC 6266), with its encodings undone."""

from __future__ import annotations

import re
from email.header import decode_header, make_header
from urllib.parse import unquote_to_bytes

from ingestion.file_names import safe_name

_MOST = 4_000
# One parameter: its name, and a quoted string (with backslash escapes) or a token. Linear: no two parts overlap.
_PARAMETER = re.compile(r';[ \t]*([A-Za-z0-9_*-]{1,40})[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;"]*))')


def suggested_name(disposition: str) -> str:
    """Return a safe file name without folders, or "" where none is suggested.

    The extended form (filename*=UTF-8''...) wins over the plain one, as RFC 6266 asks. Encoded words (RFC 2047) and
    percent signs in the plain form are against the rules, but seen often enough.
    """
    parameters: dict[str, str] = {}
    for name, quoted, token in _PARAMETER.findall(";" + disposition[:_MOST].partition(";")[2]):
        value = re.sub(r"\\(.)", r"\1", quoted) if quoted else token.strip()
        parameters.setdefault(name.lower(), value)
    name = _extended(parameters.get("filename*", "")) or _plain(parameters.get("filename", ""))
    return safe_name(name) if name.strip(" ./\\") else ""


def _extended(value: str) -> str:
    charset, quote, rest = value.partition("'")
    _language, second, encoded = rest.partition("'")
    if not (quote and second):
        return ""
    try:
        return unquote_to_bytes(encoded).decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return ""


def _plain(value: str) -> str:
    if value.startswith("=?"):
        try:
            return str(make_header(decode_header(value)))
        except (LookupError, ValueError, UnicodeDecodeError):
            return value
    if "%" in value:
        try:
            return unquote_to_bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            return value
    return value
