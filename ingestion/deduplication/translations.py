"""Detection of translations: sources that say the same in different languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ingestion.deduplication.signatures import SAMPLES, ComparedSource, hashes, jaccard
from ingestion.web.urls import normal_url, url_of_any_language

# Texts to unit vectors of shape (len(texts), dimension).
EncodeTexts = Callable[[list[str]], NDArray[np.float32]]

# A translation has .5 to 2 times the length (of characters weighed by what they say).
_LEAST_LENGTH_RATIO = 0.5
# With fewer pairs of successive numbers than this, numbers say nothing.
_FEW_NUMBERS = 8
# Pairs of numbers that two texts share at the least: far fewer are shared by other documents of one body.
_NUMBERS_AGREE = 0.3
# Of samples in the order of the text (`benchmarks/pipeline/translations.py`): how much nearer a sample is to that of
# its own place than to those of other places, and how many are nearest to it.
_LEAST_MARGIN = 0.035
_LEAST_IN_PLACE = 0.75
# Translations drift: the same place is one sample before or after as well.
_DRIFT = 1


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

    An address or a document symbol in common makes translations where the numbers of both texts do not speak against
    it; a symbol alone, in texts without numbers, and pairs without either need samples that agree in their order.
    """
    by_code = {one.code: one for one in candidates if one.language}
    ordered = [by_code[code] for code in sorted(by_code)]
    numbers = {one.code: hashes(one.numbers) for one in ordered}
    twins: dict[tuple[str, str], Twin] = {}
    keys: dict[str, Callable[[ComparedSource], list[str]]] = {
        "address": lambda one: [url_of_any_language(one.url)],
        "symbol": lambda one: one.symbols.split(),
    }
    aligned = {(twin.one, twin.other): twin for twin in _aligned(ordered, translation_similarity, encode)}
    for how, one, other in ((how, *pair) for how, key in keys.items() for pair in _sharing(ordered, key)):
        # Two texts without numbers may cite one symbol and say different things of it.
        known = how == "address" or _has_numbers(one, other) or (one.code, other.code) in aligned
        if known and _ratio(one, other) >= _LEAST_LENGTH_RATIO and _numbers_allow(one, other, numbers):
            twins.setdefault((one.code, other.code), Twin(one.code, other.code, how, 1.0))
    for pair, twin in aligned.items():
        if _numbers_allow(by_code[twin.one], by_code[twin.other], numbers):
            twins.setdefault(pair, twin)
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


def _has_numbers(one: ComparedSource, other: ComparedSource) -> bool:
    return max(one.number_pairs, other.number_pairs) >= _FEW_NUMBERS


def _numbers_allow(one: ComparedSource, other: ComparedSource, numbers: Mapping[str, NDArray[np.uint32]]) -> bool:
    return not _has_numbers(one, other) or jaccard(numbers[one.code], numbers[other.code]) >= _NUMBERS_AGREE


def _aligned(candidates: Sequence[ComparedSource], least: float, encode: EncodeTexts | None) -> Iterator[Twin]:
    """Yield pairs in different languages and of like length whose samples mean the same, in the same order."""
    sampled = [one for one in candidates if one.samples]
    if encode is None or len({one.language for one in sampled}) < 2:
        return
    texts = [sample for one in sampled for sample in one.samples.split("\n")]
    vectors = encode(texts).reshape(len(sampled), SAMPLES, -1)
    languages = np.array([one.language for one in sampled])
    lengths = np.array([one.length for one in sampled], dtype=np.float64)
    for place, one in enumerate(sampled[:-1]):
        rest = slice(place + 1, None)
        ratio = np.minimum(lengths[rest], one.length) / np.maximum(lengths[rest], one.length)
        others = np.flatnonzero((languages[rest] != one.language) & (ratio >= _LEAST_LENGTH_RATIO)) + place + 1
        similarity = np.tensordot(vectors[others], vectors[place], axes=(2, 1))
        for other, cosine in zip(others, _alignment(similarity, least), strict=True):
            if cosine:
                yield Twin(one.code, sampled[other].code, "meaning", min(1.0, round(float(cosine), 4)))


def _alignment(similarity: NDArray[np.float32], least: float) -> NDArray[np.float32]:
    """Return how alike the samples of each pair are, place by place; 0 where they do not align.

    `similarity` are cosines of shape (pairs, SAMPLES, SAMPLES). The nearest sample about the same place must be `least`
    near on average, nearer than samples elsewhere, and mostly the nearest of all.
    """
    places = np.arange(SAMPLES)
    about = np.abs(places[:, None] - places) <= _DRIFT
    near = np.where(about, similarity, -1.0).max(axis=2).mean(axis=1)
    far = similarity[:, ~about].mean(axis=1)
    in_place = [np.abs(similarity.argmax(axis=axis) - places) <= _DRIFT for axis in (1, 2)]
    share = np.concatenate(in_place, axis=1).mean(axis=1)
    holds = (near >= least) & (near - far >= _LEAST_MARGIN) & (share >= _LEAST_IN_PLACE)
    return np.where(holds, near, 0.0).astype(np.float32)
