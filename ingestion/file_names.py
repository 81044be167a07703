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
# File systems count bytes, commonly 255 of them; the rest is for what is put before and behind the name.
_LONGEST_BYTES = 180
_ELLIPSIS, _SEPARATORS = "…", " _-"


def slug_of(*names: str) -> str:
    """Return the first name with letters or digits in plain ASCII, joined by hyphens.

    It has at most 60 characters, cut between words if this leaves most of the name. It is "document" if no name has
    such letters.

    >>> slug_of("Loi sur l'eau: 2019")
    'loi-sur-l-eau-2019'
    """
    for name in names:
        plain = fold(name[:1000]).replace("þ", "th").encode("ascii", "ignore").decode("ascii")
        if slug := _shortened(_NOT_SLUG.sub("-", plain).strip("-"), _LONGEST_SLUG, "-"):
            return slug
    return "document"


def download_name(*names: str) -> str:
    """Return a slug for the file that a browser saves.

    A name in another script than Latin keeps its letters.
    """
    for name in names:
        words = "-".join(_WORDS.findall(unicodedata.normalize("NFC", name[:1000]).casefold()))
        if any(letter > _LAST_LATIN and letter.isalpha() for letter in words):
            return _shortened(words, _LONGEST_SLUG, "-")
    return slug_of(*names)


def safe_code(code: str) -> str:
    """Return the code as it may be in a file name.

    A changed code ends in a hash, so that no two become one.

    >>> safe_code("EEA001"), safe_code("EEA/001")
    ('EEA001', 'EEA-001-a0a961')
    """
    kept = _NOT_CODE.sub("-", code).lstrip(".-")[:_LONGEST_CODE].replace("..", "-")
    if kept and kept == code:
        return kept
    return f"{kept or 'source'}-{hashlib.sha256(code.encode('utf-8', 'replace')).hexdigest()[:6]}"


def place_for(folder: Path, code: str, slug: str, suffix: str, sha256: str) -> Path:
    """Return the path for a file with this content; the name gains a hash if other content has it.

    An older version therefore stays at its path, and the same content always gets the same name. `folder` is the folder
    of downloads. A file keeps its name in quarantine, so names there count as taken.
    """
    name = f"{safe_code(code)}_{slug}"
    plain = folder / f"{name}.{suffix}"
    apart = folders.quarantine(folder.parent) / plain.name
    if all(file_hash(path) == sha256 for path in (plain, apart) if path.exists()):
        return plain
    return folder / f"{name}_{sha256[:8]}.{suffix}"


def check_size(path: Path, limits: ExtractionLimits) -> None:
    """Raise Refusal for a file larger than the limit of reading, before it is copied anywhere."""
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


def safe_name(name: str) -> str:
    """Return a file name without folders, control characters or a leading dot; never empty.

    It has at most 180 bytes; a longer name is cut between words and ends in an ellipsis.

    >>> safe_name("../../etc/Piano alluvioni?.pdf")
    'Piano alluvioni_.pdf'
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
    """Return the first `length` characters, cut before a separator if that leaves most of them."""
    if len(text) <= length:
        return text
    end = max(text.rfind(separator, 0, length + 1) for separator in separators)
    return text[: end if end > length // 2 else length].rstrip(separators)
