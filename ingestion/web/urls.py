"""An address in its normal form, so that two spellings of one address are equal; and its language."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from rag_engine.text.languages import names_to_codes

_DEFAULT_PORTS = {"http": 80, "https": 443}
# What says where a reader came from, and not what is read; and sessions.
_TRACKING = frozenset({
    "_ga", "_gl", "_hsenc", "_hsmi", "dclid", "fbclid", "gbraid", "gclid", "igshid", "jsessionid", "mc_cid", "mc_eid",
    "mkt_tok", "msclkid", "oly_anon_id", "oly_enc_id", "phpsessid", "piwik_campaign", "piwik_kwd", "ref_src", "s_cid",
    "sessionid", "session_id", "sid", "trk", "twclid", "vero_id", "wbraid", "wt.mc", "wt.mc_id", "wt_mc", "yclid",
})  # fmt: skip
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_", "at_medium", "at_campaign")
_INDEX_PAGES = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_PATH_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
_LANGUAGE_KEYS = frozenset({
    "dil", "hl", "idioma", "lang", "language", "langue", "lingua", "lng", "locale", "spraak", "sprache", "taal",
    "uilang",
})  # fmt: skip
# Path segments and file suffixes in which a language is written: /en/, /en-gb/, report_fr.pdf, page.de.html, -es.
_SEGMENT = re.compile(r"([a-z]{2})(?:[-_][a-z]{2})?")
_FILE_SUFFIX = re.compile(r"[-_.]([a-z]{2})(?=(?:\.[a-z]{3,5})?$)")
# The languages whose names are written out in addresses.
_WRITTEN_OUT = ("en", "it", "es", "fr", "de", "pt", "tr", "no", "nl", "ar", "zh", "ru")
_NAME_SUFFIX = re.compile(r"[-_.]([^\W\d_]{4,12})(?=(?:\.[a-z]{3,5})?$)")
# ISO 639-1 codes that addresses use; left out are those that mean something else more often (id, is, my, so, am).
_LANGUAGES = frozenset({
    "ar", "az", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr",
    "ga", "gl", "he", "hi", "hr", "hu", "hy", "it", "ja", "ka", "ko", "lt", "lv", "mk", "mt", "nb", "nl", "nn",
    "no", "pl", "pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "th", "tr", "uk", "ur", "uz", "vi",
    "zh",
})  # fmt: skip
# Two letters that are a language as a whole segment of a path, not at the end of a name (report-no, part-el).
_ONLY_SEGMENTS = frozenset({"ca", "el", "et", "no", "ta"})


def normal_url(url: str) -> str:
    """Return the address without what does not change what is read; "" for what is not http(s).

    Scheme and host are in lower case, "www.", default ports, user names, fragments, index pages, the last slash,
    tracking and session parameters are left out, the parameters sorted, and percent-encoding is in one form. http and
    https are one. The language stays: two languages are two addresses. This is for comparing, not for fetching.
    """
    parts = _split(url)
    if parts is None:
        return ""
    host, path, query = parts
    return urlunsplit(("https", host, path, urlencode(query, quote_via=quote, safe=""), ""))


def url_language(url: str) -> str:
    """Return the ISO 639-1 code in a parameter, a path segment, the host or the file's name of an address; or ""."""
    return _language_and_key(url)[0]


def url_of_any_language(url: str) -> str:
    """Return the normal address without its language, equal for the language variants of one page.

    So report.pdf, report_fr.pdf and /fr/report.pdf are one; "" for what is not http(s).
    """
    return _language_and_key(url)[1]


def _language_and_key(url: str) -> tuple[str, str]:
    parts = _split(url)
    if parts is None:
        return "", ""
    host, path, query = parts
    language = ""
    # All places are looked at, for an address may name its language twice (/en/report_en.pdf).
    kept = []
    for key, value in query:
        named = _code(value) if key.lower() in _LANGUAGE_KEYS else ""
        language = language or named
        if not named:
            kept.append((key, value))
    *folders, file = path.split("/")
    file, suffix = _file_language(file)
    others = []
    for folder in folders:
        named = _code(folder)
        language = language or named
        if not named:
            others.append(folder)
    language = language or suffix
    path = "/".join([*others, file]).rstrip("/")
    first, dot, rest = host.partition(".")
    if dot and "." in rest and len(first) == 2 and first in _LANGUAGES:
        language = language or first
        host = rest
    return language, urlunsplit(("https", host, path, urlencode(kept, quote_via=quote, safe=""), ""))


def _file_language(file: str) -> tuple[str, str]:
    """Return the last segment of a path without its language, and that language or ""."""
    if named := _code(file):
        return "", named
    lowered = file.lower()
    match = _FILE_SUFFIX.search(lowered) or _NAME_SUFFIX.search(lowered)
    if match is None:
        return file, ""
    named = names_to_codes(_WRITTEN_OUT).get(match[1]) or (match[1] if match[1] in _LANGUAGES - _ONLY_SEGMENTS else "")
    return (file[: match.start()] + file[match.end() :], named) if named else (file, "")


def _code(value: str) -> str:
    lowered = value.strip().lower()
    match = _SEGMENT.fullmatch(lowered)
    return names_to_codes(_WRITTEN_OUT).get(lowered) or (match[1] if match and match[1] in _LANGUAGES else "")


def _split(url: str) -> tuple[str, str, list[tuple[str, str]]] | None:
    """Return host (with a port that is not the default), path, and the parameters that matter in order."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
        host = (parts.hostname or "").rstrip(".")
    except ValueError:  # a port or an IPv6 address that is none
        return None
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not host:
        return None
    try:
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except UnicodeError:  # labels that no registry would take; compared as they are written
        host = host.casefold()
    host = host.removeprefix("www.")
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        host = f"{host}:{port}"
    path = _PATH_SESSION.sub("", parts.path)
    path = quote(unquote(_INDEX_PAGES.sub("/", path)), safe="/:@!$&'()*+,;=~-._").rstrip("/")
    path = re.sub(r"/{2,}", "/", path)
    query = sorted(
        (key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if not _is_tracking(key.lower())
    )
    return host, path, query


def _is_tracking(key: str) -> bool:
    return key in _TRACKING or key.startswith(_TRACKING_PREFIXES)
