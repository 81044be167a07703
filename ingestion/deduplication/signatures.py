"""Signatures of sources that deduplication compares, and the similarity of two of them."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from datasketch import MinHash
from numpy.typing import NDArray

from ingestion.deduplication.versions import consolidation_date
from ingestion.types.source import Extraction, ListedSource
from ingestion.web.urls import registered_name
from rag_engine.text.identifiers import WorkPlace, work_place
from rag_engine.types.document import ExtractedText

# Counted up whenever a signature of the same text becomes another one: stored candidates are then made anew.
SIGNATURE_VERSION = 5

TEXT_HASHES = 128
NUMBER_HASHES = 64
_SHINGLE = 5
# Where a document states its own symbols: title page and running head.
_HEAD = 3000
# Shingles hashed at once: the permutations of a batch take this many times 128 numbers of 4 bytes.
_BATCH = 20_000

# Samples of a text, each from the middle of one of so many equal parts, and their characters; a shorter text has none.
SAMPLES = 8
_SAMPLE = 400
_LEAST_SAMPLED = 800

# Scripts without spaces: every character counts as a word (Thai to Khmer, kana, Han).
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_HAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
# A character of Chinese, Japanese or Korean says about as much as this many letters.
_LETTERS_OF_A_HAN = 3
# 1,000 and 1.000 and 1 000 are one number.
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?:[., \u00a0\u202f’']\d{3}(?!\d))+|\d+")
_SYMBOLS = (
    # United Nations: FCCC/PA/CMA/2022/10/Add.1, A/RES/70/1.
    re.compile(r"\b[A-Z]{1,8}(?:/[A-Z]{1,8}){0,4}(?:\.\d{1,4})?(?:/\d{1,4}){1,3}(?:/(?:Add|Rev|Corr)\.\d{1,3}){0,2}"),
    # Its printing job, the same for all languages: GE.23-04726(E).
    re.compile(r"\bGE\.\d\d-\d{4,6}"),
    # European acts by CELEX number: 32021R1119.
    re.compile(r"\b3(?:19|20)\d\d[RLDH]\d{4}\b"),
    re.compile(r"\bdoi:? ?10\.\d{4,9}/[\w./-]{3,60}", re.IGNORECASE),
)
# European acts as they are cited: (EU) 2021/1119, (UE) 2021/1119.
_ACT = re.compile(r"\((?:EU|UE|AB|EG|CE|EC)\)(?: (?:No|Nr|n[.°º]))? ?(\d{2,4}/\d{1,4})\b")
_ISBN = re.compile(r"\b97[89](?:[- ]?\d){10}\b")


@dataclass(frozen=True, slots=True)
class ComparedSource:
    """A source as deduplication sees it: texts and numbers alone, so that JSON keeps it unchanged.

    `signature` is the MinHash of the word 5-shingles of the text. `numbers` is that of its `number_pairs`
    pairs of successive numbers. Both are hexadecimal, 4 bytes a hash.

    - `symbols`: the document symbols of its first pages, parted by blanks
    - `length`: the number of characters, where a Han character counts as several letters
    - `samples`: SAMPLES lines from equal parts of the text, in its order, or ""
    - `characters`: the number of characters of the analyst's text
    - `as_of`: the date of consolidation that a consolidated text states
    - `names_host`: how often the text names the site that it comes from
    - `identifiers`: the official identifiers of the document, a line each
    """

    code: str
    url: str
    sha256: str
    text_hash: str
    title: str
    language: str
    date: str
    characters: int
    score: float
    signature: str
    file_name: str = ""
    numbers: str = ""
    number_pairs: int = 0
    symbols: str = ""
    length: int = 0
    samples: str = ""
    as_of: str = ""
    names_host: int = 0
    from_portal: bool = False
    identifiers: str = ""

    @property
    def place(self) -> WorkPlace:
        """Its works by its identifiers, and its place among their versions."""
        return work_place(self.identifiers.splitlines())


def candidate_of(
    source: ListedSource,
    extraction: Extraction,
    extracted: ExtractedText,
    cleaned: str,
    *,
    score: float,
    date: str,
    sha256: str = "",
    url: str = "",
) -> ComparedSource:
    """Return the source with its signatures; `url` is the final address of a file that was redirected.

    It costs about a second for a million words. The caller keeps it until text or SIGNATURE_VERSION change.
    """
    text = cleaned or extracted.text
    signature, _ = _min_hash(_shingles(text), TEXT_HASHES)
    numbers, number_pairs = _min_hash(_number_pairs(extracted.text), NUMBER_HASHES)
    title = extraction.title or source.title
    file_name = source.path.replace("\\", "/").rpartition("/")[2]
    return ComparedSource(
        code=source.code,
        url=url or source.url,
        sha256=sha256,
        text_hash=extraction.text_hash,
        title=title,
        language=extraction.language,
        date=date,
        characters=extraction.characters,
        score=score,
        signature=signature,
        file_name=file_name,
        numbers=numbers,
        number_pairs=number_pairs,
        symbols=" ".join(_symbols(f"{title}\n{extracted.text[:_HEAD]}")),
        length=len(text) + (_LETTERS_OF_A_HAN - 1) * sum(1 for _ in _HAN.finditer(text)),
        samples=_samples(text),
        as_of=work_place(extraction.identifiers).date
        or consolidation_date(extracted.text[:_HEAD], (url or source.url, file_name)),
        names_host=_mentions(extracted.text, registered_name(url or source.url)),
        from_portal=bool(source.parent),
        identifiers="\n".join(extraction.identifiers),
    )


def hashes(signature: str) -> NDArray[np.uint32]:
    """Return the hashes of a signature, shape (128,) or (64,)."""
    return np.frombuffer(bytes.fromhex(signature), dtype="<u4")


def jaccard(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> float:
    """Return the estimated Jaccard similarity of the sets behind two signatures (Broder 1997).

    It is 0 if there is no signature or the lengths differ.
    """
    if not one.size or one.size != other.size:
        return 0.0
    return float(np.mean(one == other))


def _samples(text: str) -> str:
    """Return the middle of each of SAMPLES equal parts, a line each; "" for a short text."""
    if len(text) < _LEAST_SAMPLED:
        return ""
    middles = ((2 * part + 1) * len(text) // (2 * SAMPLES) for part in range(SAMPLES))
    half = min(_SAMPLE, len(text) // SAMPLES) // 2
    return "\n".join(" ".join(text[middle - half : middle + half].split()) for middle in middles)


def _min_hash(items: Iterable[bytes], permutations: int) -> tuple[str, int]:
    """Return the MinHash in hexadecimal and the number of different items; "" and 0 without any."""
    different = sorted(set(items))
    if not different:
        return "", 0
    minimum = MinHash(num_perm=permutations, hashfunc=zlib.crc32, scheme="affine32")
    for start in range(0, len(different), _BATCH):
        minimum.update_batch(different[start : start + _BATCH])
    return np.asarray(minimum.hashvalues, dtype="<u4").tobytes().hex(), len(different)


def _shingles(text: str) -> Iterator[bytes]:
    """Yield runs of five words; the whole text where it has fewer."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    if 0 < len(words) < _SHINGLE:
        yield " ".join(words).encode()
    for run in zip(*(islice(words, start, None) for start in range(_SHINGLE)), strict=False):
        yield " ".join(run).encode()


def _number_pairs(text: str) -> Iterator[bytes]:
    """Yield pairs of successive numbers of two digits or more, which a translation keeps.

    A pair in counting order (Art. 15, Art. 16) is left out: every law has it.
    """
    found = (int(re.sub(r"\D", "", match[0])[:15]) for match in _NUMBER.finditer(text))
    for one, other in pairwise(number for number in found if number > 9):
        if other != one + 1:
            yield f"{one} {other}".encode()


def _symbols(head: str) -> list[str]:
    found = {match[0].rstrip(".").upper() for pattern in _SYMBOLS for match in pattern.finditer(head)}
    found |= {f"EU:{match[1]}" for match in _ACT.finditer(head)}
    found |= {"ISBN:" + re.sub(r"\D", "", match[0]) for match in _ISBN.finditer(head)}
    return sorted(one.replace(" ", "") for one in found)


def _mentions(text: str, site: str) -> int:
    """Return how often a text names a site, by its address (who.int) or its acronym (WHO).

    A publisher names itself in its documents; a site that copies them does not.
    """
    if not site:
        return 0
    label = site.partition(".")[0]
    named = sum(1 for _ in re.finditer(rf"(?<![\w-]){re.escape(site)}(?![\w-])", text, re.IGNORECASE))
    # A word of the language in capitals is no acronym.
    acronym = len(label) > 2 and not re.search(rf"\b{re.escape(label)}\b", text)
    return named + (len(re.findall(rf"\b{re.escape(label.upper())}\b", text)) if acronym else 0)
