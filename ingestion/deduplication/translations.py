"""Detection of translations: sources that say the same in different languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from datasketch import MinHash, MinHashLSH
from numpy.typing import NDArray

from ingestion.deduplication.signatures import NUMBER_HASHES, ComparedSource, hashes, jaccard, profile_similarity
from ingestion.web.urls import normal_url, url_of_any_language

# Texts to unit vectors of shape (len(texts), dimension).
EncodeTexts = Callable[[list[str]], NDArray[np.float32]]

# A translation has .5 to 2 times the length (of characters weighed by what they say).
_LEAST_LENGTH_RATIO = 0.5
# Pairs of successive numbers that two texts share: far more in translations than in other documents of one body.
_NUMBERS_AGREE = 0.5
# Where the address or the document's own symbol says the same, numbers must only not speak against it.
_NUMBERS_ALLOW = 0.3
# With fewer pairs than this, numbers say nothing; then lengths must be nearer and paragraphs agree.
_FEW_NUMBERS = 8
_CLOSE_RATIO = 0.7
_PROFILES_AGREE = 0.8
# How much less the meaning may agree where numbers or paragraphs do: what is first in two translations may differ
# (a mast head, another title), and an encoder puts translations between distant languages further apart.
_ALLOWANCE = 0.05
# Bands and rows of the hash table for numbers: a similarity s is found with the chance 1 - (1 - s^rows)^bands, which is
# .9999 for .5 and .3 for .1.
_NUMBER_BANDS = (32, 2)


@dataclass(frozen=True, slots=True)
class Twin:
    """Two codes of one work in different languages, and how that is known ("address", "symbol", "meaning")."""

    one: str
    other: str
    how: str
    similarity: float


def find_twins(
    candidates: Sequence[ComparedSource], translation_similarity: float, encode: EncodeTexts | None
) -> list[Twin]:
    """Return pairs of candidates in different languages that are translations of one work, the surest first.

    Only candidates with a partner whose numbers, or length and paragraphs, agree are encoded, by title and lead.
    """
    by_code = {one.code: one for one in candidates if one.language}
    ordered = [by_code[code] for code in sorted(by_code)]
    numbers = {one.code: hashes(one.numbers) for one in ordered}
    twins: dict[tuple[str, str], Twin] = {}
    keys: dict[str, Callable[[ComparedSource], list[str]]] = {
        "address": lambda one: [url_of_any_language(one.url)],
        "symbol": lambda one: one.symbols.split(),
    }
    for how, one, other in ((how, *pair) for how, key in keys.items() for pair in _sharing(ordered, key)):
        if one.number_pairs < _FEW_NUMBERS and other.number_pairs < _FEW_NUMBERS:
            # Two texts without numbers may cite one symbol and say different things of it.
            allowed = how == "address" or (profile_similarity(one, other) or 0.0) >= _PROFILES_AGREE
        else:
            allowed = jaccard(numbers[one.code], numbers[other.code]) >= _NUMBERS_ALLOW
        if allowed and _ratio(one, other) >= _LEAST_LENGTH_RATIO:
            twins.setdefault((one.code, other.code), Twin(one.code, other.code, how, 1.0))
    if encode is not None:
        pairs = [
            (one, other)
            for one, other in _comparable(ordered, numbers)
            if (one.code, other.code) not in twins and _ratio(one, other) >= _LEAST_LENGTH_RATIO
        ]
        for twin in _by_meaning(pairs, translation_similarity, encode):
            twins[twin.one, twin.other] = twin
    return sorted(twins.values(), key=lambda twin: (-twin.similarity, twin.one, twin.other))


def join_twins(twins: Iterable[Twin], language_of: Callable[[str], str]) -> list[list[str]]:
    """Return works as lists of codes with one member per language; the surest pairs join first."""
    work_of: dict[str, list[str]] = {}
    for twin in twins:
        one = work_of.setdefault(twin.one, [twin.one])
        other = work_of.setdefault(twin.other, [twin.other])
        if one is other or {language_of(code) for code in one} & {language_of(code) for code in other}:
            continue
        one += other
        for code in other:
            work_of[code] = one
    works = {id(work): work for work in work_of.values()}
    return sorted(sorted(work) for work in works.values() if len(work) > 1)


def _sharing(
    candidates: Sequence[ComparedSource], keys: Callable[[ComparedSource], list[str]]
) -> Iterator[tuple[ComparedSource, ComparedSource]]:
    """Yield pairs in different languages with a key in common."""
    sharing: defaultdict[str, list[ComparedSource]] = defaultdict(list)
    for candidate in candidates:
        for key in filter(None, keys(candidate)):
            sharing[key].append(candidate)
    seen = set()
    for members in sharing.values():
        for one, other in combinations(members, 2):
            pair = (one.code, other.code)
            # One address in two languages is a page that changed its language: its own affair.
            same_address = bool(one.url) and normal_url(one.url) == normal_url(other.url)
            if one.language != other.language and pair not in seen and not same_address:
                seen.add(pair)
                yield one, other


def _ratio(one: ComparedSource, other: ComparedSource) -> float:
    return min(one.length, other.length) / max(one.length, other.length, 1)


def _comparable(
    candidates: Sequence[ComparedSource], numbers: dict[str, NDArray[np.uint32]]
) -> Iterator[tuple[ComparedSource, ComparedSource]]:
    """Yield pairs in different languages that meaning must decide on."""
    rich = [one for one in candidates if one.number_pairs >= _FEW_NUMBERS]
    table = MinHashLSH(num_perm=NUMBER_HASHES, params=_NUMBER_BANDS)
    known: dict[str, ComparedSource] = {}
    for one in rich:
        minimum = MinHash(hashvalues=numbers[one.code], scheme="affine32")
        for code in sorted(table.query(minimum)):
            other = known[code]
            agreement = jaccard(numbers[one.code], numbers[code])
            if other.language != one.language and agreement >= _NUMBERS_AGREE:
                yield other, one
        table.insert(one.code, minimum)
        known[one.code] = one
    # The rest by length: each is only compared with those that are about as long.
    poor = sorted(
        (one for one in candidates if one.number_pairs < _FEW_NUMBERS), key=lambda one: (one.length, one.code)
    )
    for place, one in enumerate(poor):
        for other in poor[place + 1 :]:
            if _ratio(one, other) < _CLOSE_RATIO:
                break
            if one.language != other.language:
                profile = profile_similarity(one, other)
                if profile is None or profile >= _PROFILES_AGREE:
                    yield (one, other) if one.code < other.code else (other, one)


def _by_meaning(
    pairs: list[tuple[ComparedSource, ComparedSource]], least: float, encode: EncodeTexts
) -> Iterator[Twin]:
    """Yield the pairs whose title and lead, or lead alone, mean the same."""
    wanted = {one.code: one for pair in pairs for one in pair if one.lead}
    codes = sorted(wanted)
    if not codes:
        return
    row = {code: place for place, code in enumerate(codes)}
    leads = encode([wanted[code].lead for code in codes])
    titled = encode([f"{wanted[code].title}\n{wanted[code].lead}" for code in codes])
    for one, other in pairs:
        if one.code not in row or other.code not in row:
            continue
        first, second = row[one.code], row[other.code]
        cosine = max(float(leads[first] @ leads[second]), float(titled[first] @ titled[second]))
        few = one.number_pairs < _FEW_NUMBERS
        if cosine >= least - (0.0 if few and profile_similarity(one, other) is None else _ALLOWANCE):
            yield Twin(one.code, other.code, "meaning", min(1.0, round(cosine, 4)))
