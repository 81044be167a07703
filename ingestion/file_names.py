"""Names of downloads: {code}_{slug}.{suffix}, safe on every disk."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

from ingestion import workspace as folders
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from rag_engine.text.folding import fold

_LONGEST_SLUG, _LONGEST_CODE = 60, 60
_NOT_CODE = re.compile(r"[^A-Za-z0-9._-]+")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_WORDS = re.compile(r"[^\W_]+")
# Of the Latin letters; those of other scripts come after it.
_LAST_LATIN = "\u024f"


def slug_of(*names: str) -> str:
    """Return the first name that has letters or digits in plain ASCII, joined by hyphens, of at most 60 characters.

    A name is cut between words where that leaves most of it. "document" where none has anything left.
    """
    for name in names:
        plain = fold(name[:1000]).replace("þ", "th").encode("ascii", "ignore").decode("ascii")
        if slug := _shortened(_NOT_SLUG.sub("-", plain).strip("-"), _LONGEST_SLUG, "-"):
            return slug
    return "document"


def download_name(*names: str) -> str:
    """Return the same for what a browser saves, where a name that has no such letters keeps those of its script."""
    for name in names:
        words = "-".join(_WORDS.findall(unicodedata.normalize("NFC", name[:1000]).casefold()))
        if any(letter > _LAST_LATIN and letter.isalpha() for letter in words):
            return _shortened(words, _LONGEST_SLUG, "-")
    return slug_of(*names)


def safe_code(code: str) -> str:
    """Return the code as it may be in a file name.

    One that had to be changed ends in a hash, so that no two become one.
    """
    kept = _NOT_CODE.sub("-", code).lstrip(".-")[:_LONGEST_CODE].replace("..", "-")
    if kept and kept == code:
        return kept
    return f"{kept or 'source'}-{hashlib.sha256(code.encode('utf-8', 'replace')).hexdigest()[:6]}"


def place_for(folder: Path, code: str, slug: str, suffix: str, sha256: str) -> Path:
    """Return where a file with this content goes: a name of its own when another content has the plain one.

    An older version therefore stays where it is, and the same content comes to the same name however often. `folder`
    is the workspace's downloads; a file keeps its name in quarantine, so that those names are taken as well.
    """
    name = f"{safe_code(code)}_{slug}"
    plain = folder / f"{name}.{suffix}"
    apart = folders.quarantine(folder.parent) / plain.name
    if all(file_hash(one) == sha256 for one in (plain, apart) if one.exists()):
        return plain
    return folder / f"{name}_{sha256[:8]}.{suffix}"


def check_size(path: Path, limits: ExtractionLimits) -> None:
    """Raise Refusal for a file that is larger than what is read, before it is copied anywhere."""
    size = path.stat().st_size
    if size > limits.max_bytes:
        raise Refusal(
            "too_large",
            "{file} has {size:,} bytes; the limit is {limit:,}.",
            help="Split it into smaller files and add those.",
            file=path.name,
            size=size,
            limit=limits.max_bytes,
        )


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# File systems count bytes, commonly 255 of them; the rest is for what is put before and behind the name.
_LONGEST_BYTES = 180
_ELLIPSIS, _SEPARATORS = "…", " _-"


def safe_name(name: str) -> str:
    """Return a file name without folders, control characters or a leading dot, of at most 180 bytes; never empty.

    One that is too long is cut between words, and ends in an ellipsis.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    printable = "".join(c for c in last if unicodedata.category(c)[0] not in "CZ" or c == " ")
    kept = re.sub(r'[<>:"|?*]', "_", printable).strip().lstrip(".") or "upload"
    stem, dot, suffix = kept.rpartition(".")
    if not dot or len(suffix) > 10:
        return _cut(kept, _LONGEST_BYTES)
    return f"{_cut(stem, _LONGEST_BYTES - len(suffix.encode()) - 1)}.{suffix}"


def is_too_long(name: str) -> bool:
    """Return whether a file name has to be shortened to be kept."""
    return len(name.encode()) > _LONGEST_BYTES


def _cut(text: str, size: int) -> str:
    if len(text.encode()) <= size:
        return text
    kept = text.encode()[: size - len(_ELLIPSIS.encode())].decode(errors="ignore")
    # The first letter beyond says whether a word ends here.
    return _shortened(text[: len(kept) + 1], len(kept), _SEPARATORS) + _ELLIPSIS


def _shortened(text: str, length: int, separators: str) -> str:
    """Return at most so many characters of a text, cut before a separator where that leaves most of them."""
    if len(text) <= length:
        return text
    end = max(text.rfind(one, 0, length + 1) for one in separators)
    return text[: end if end > length // 2 else length].rstrip(separators)
