"""Comparison of sources: copies, versions of one work, translations of one work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
from datasketch import MinHash, MinHashLSH
from numpy.typing import NDArray

from ingestion.config import DeduplicationConfig
from ingestion.deduplication.pairs import (
    LEAST_LIKENESS,
    Member,
    Pairs,
    ReadText,
    are_identified_versions,
    member_of,
)
from ingestion.deduplication.signatures import SAMPLES, TEXT_HASHES, ComparedSource, hashes, jaccard
from ingestion.deduplication.versions import order_versions
from ingestion.types.outcome import Outcome
from ingestion.types.source import Relation
from ingestion.web.urls import normal_url, url_of_any_language
from rag_engine.messages import NO_MESSAGE, Message, join_messages
from rag_engine.types.document import UNDATED

# Bands and rows of the hash table for texts: a similarity s is found with the chance 1 - (1 - s^rows)^bands, which is
# .998 for .3 and .15 for .05.
_TEXT_BANDS = (64, 2)
_DuplicateReason = Literal["same_content", "same_address", "same_text", "same_work"]
# What was compared.
_COMPARED: dict[_DuplicateReason, str] = {
    "same_content": "text",
    "same_address": "address",
    "same_text": "text",
    "same_work": "title",
}
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
class _Duplicate:
    kept: str
    reason: _DuplicateReason
    similarity: float


def relate(
    candidates: Sequence[ComparedSource],
    config: DeduplicationConfig,
    encode: EncodeTexts | None,
    text_of: ReadText | None = None,
) -> dict[str, Outcome]:
    """Return the outcome of every candidate by code, with a Relation as evidence, in any order.

    Of copies the best is kept. They are compared in this order: preferred language, listed by the analyst before found
    in a portal, publisher, fullest text, highest score, smallest code. Of versions the newest is "done", of
    translations the preferred language. Without `encode` translations are known by address and document symbol alone;
    without `text_of` nearly equal texts by their likeness alone.
    """
    places = {language: place for place, language in enumerate(config.preferred_languages)}

    def preference(source: ComparedSource) -> tuple[int, bool, int, int, float, str]:
        place = places.get(source.language, len(places))
        return place, source.from_portal, -source.names_host, -source.characters, -source.score, source.code

    judge = Pairs(config, text_of)
    members = [
        member_of(source)
        for source in sorted({candidate.code: candidate for candidate in candidates}.values(), key=preference)
    ]
    duplicates: dict[str, _Duplicate] = {}
    members = _drop_equal(members, "same_content", _contents, duplicates)
    members = _drop_equal(members, "same_address", lambda source: [normal_url(source.url)], duplicates)
    members, pairs = _drop_alike(members, judge, duplicates)
    members, versions = _drop_same_works(members, pairs, judge, duplicates)
    versions += _identified(members)
    series = _series(versions, judge)
    newer = {code: (one[place + 1 :], one[-1]) for one in series for place, code in enumerate(one[:-1])}
    newest = [one.candidate for one in members if one.code not in newer]
    twins = find_twins(newest, config.translation_similarity, encode)
    by_code = {member.code: member for member in members}
    rank = {member.code: place for place, member in enumerate(members)}
    preferred: dict[str, str] = {}
    for work in join_twins(twins, lambda code: by_code[code].candidate.language):
        preferred |= dict.fromkeys(work, min(work, key=rank.__getitem__))
    sureness = {frozenset((twin.one, twin.other)): twin for twin in reversed(twins)}
    outcomes = {member.code: _outcome(member, by_code, newer, preferred, sureness, judge) for member in members}
    for code in sorted(candidate.code for candidate in candidates if candidate.code in duplicates):
        outcomes[code] = _rejection(duplicates, code, outcomes)
    return outcomes


def _drop_equal(
    members: list[Member],
    reason: _DuplicateReason,
    keys: Callable[[ComparedSource], list[str]],
    duplicates: dict[str, _Duplicate],
) -> list[Member]:
    """Return members whose content or address no other has, in order of preference."""
    kept_by: dict[str, str] = {}
    kept: list[Member] = []
    for member in members:
        own = [key for key in keys(member.candidate) if key]
        first = next((kept_by[key] for key in own if key in kept_by), None)
        for key in own:
            kept_by.setdefault(key, first or member.code)
        if first is None:
            kept.append(member)
        else:
            duplicates[member.code] = _Duplicate(first, reason, 1.0)
    return kept


def _contents(source: ComparedSource) -> list[str]:
    return [source.sha256 and f"file {source.sha256}", source.text_hash and f"text {source.text_hash}"]


def _drop_alike(
    members: list[Member], judge: Pairs, duplicates: dict[str, _Duplicate]
) -> tuple[list[Member], list[tuple[Member, Member, float]]]:
    """Return members whose text is their own, and pairs of them as similar as versions may be."""
    table = MinHashLSH(num_perm=TEXT_HASHES, params=_TEXT_BANDS)
    kept: dict[str, Member] = {}
    pairs: list[tuple[Member, Member, float]] = []
    for member in members:
        if member.hashes.size:
            minimum = MinHash(hashvalues=member.hashes, scheme="affine32")
            alike = [(kept[code], jaccard(kept[code].hashes, member.hashes)) for code in sorted(table.query(minimum))]
            copy = _copied(member, alike, judge)
            if copy is not None:
                duplicates[member.code] = _Duplicate(copy[0].code, "same_text", round(copy[1], 3))
                continue
            pairs += [(other, member, similarity) for other, similarity in alike if similarity >= LEAST_LIKENESS]
            table.insert(member.code, minimum)
        kept[member.code] = member
    return list(kept.values()), pairs


def _copied(member: Member, alike: Iterable[tuple[Member, float]], judge: Pairs) -> tuple[Member, float] | None:
    """Return the nearest of the members that this one is a copy of, and its likeness."""
    nearest = sorted(alike, key=lambda one: (-one[1], one[0].code))
    return next((one for one in nearest if judge.are_copies(one[0], member, one[1])), None)


def name_copied(candidate: ComparedSource, others: Iterable[ComparedSource], config: DeduplicationConfig) -> Outcome:
    """Return the outcome of an added file: it passes, and its message names what it nearly equals.

    Likeness alone decides, for the texts of the others are not read.
    """
    member = member_of(candidate)
    likeness = (
        (source, jaccard(hashes(source.signature), member.hashes)) for source in others if source.code != candidate.code
    )
    alike = ((member_of(source), likely) for source, likely in likeness if likely >= config.text_similarity)
    copy = _copied(member, alike, Pairs(config, None))
    if copy is None:
        return Outcome("done", "")
    of, similarity = copy[0].code, round(copy[1], 3)
    relation = Relation(candidate.code, duplicate_of=of, how=_COMPARED["same_text"], similarity=similarity)
    # Of a file that was added the code is its path.
    message = _said_of_copy("same_text", Path(of).name, similarity)
    return Outcome("done", "same_text", join_messages([message, Message("As a local file it is kept too.")]), relation)


def _drop_same_works(
    members: list[Member],
    pairs: list[tuple[Member, Member, float]],
    judge: Pairs,
    duplicates: dict[str, _Duplicate],
) -> tuple[list[Member], list[tuple[Member, Member]]]:
    """Return members that are no other's work reformatted, and the pairs of them that are versions."""
    versions: list[tuple[Member, Member]] = []
    place = {member.code: place for place, member in enumerate(members)}
    # The kept one of a pair is first; a pair whose first member has gone itself drops nothing.
    for one, other, similarity in sorted(pairs, key=lambda pair: (place[pair[1].code], place[pair[0].code])):
        if judge.are_versions(one, other, similarity):
            versions.append((one, other))
        elif (
            one.code not in duplicates
            and other.code not in duplicates
            and (alike := judge.are_one_work(one, other, similarity)) > 0
        ):
            duplicates[other.code] = _Duplicate(one.code, "same_work", round(alike, 3))
    gone = duplicates.keys()
    return (
        [member for member in members if member.code not in gone],
        [pair for pair in versions if not {pair[0].code, pair[1].code} & gone],
    )


def _identified(members: Sequence[Member]) -> Iterator[tuple[Member, Member]]:
    """Yield the pairs of members that their identifiers alone make versions of one work."""
    of_work: dict[str, list[Member]] = {}
    for member in members:
        for key in member.place.works:
            of_work.setdefault(key, []).append(member)
    for some in of_work.values():
        yield from (pair for pair in combinations(some, 2) if are_identified_versions(*pair))


def _series(pairs: Iterable[tuple[Member, Member]], judge: Pairs) -> list[list[str]]:
    """Return versions of each work as codes, the oldest first."""
    joined: dict[str, dict[str, Member]] = {}
    for member, other in pairs:
        first = joined.setdefault(member.code, {member.code: member})
        second = joined.setdefault(other.code, {other.code: other})
        if first is not second:
            first |= second
            for code in second:
                joined[code] = first
    works = {id(work): work for work in joined.values()}.values()
    return [order_versions((m.code, m.version, judge.date_of(m)) for m in work.values()) for work in works]


def _outcome(
    member: Member,
    by_code: dict[str, Member],
    newer: dict[str, tuple[list[str], str]],
    preferred: dict[str, str],
    sureness: dict[frozenset[str], Twin],
    judge: Pairs,
) -> Outcome:
    code, label = member.code, member.version.label
    if code in newer:
        later, last = newer[code]
        dates = (judge.date_of(by_code[one]) or by_code[one].version.year for one in later)
        since = next((date for date in dates if date), UNDATED)
        similarity = round(jaccard(member.hashes, by_code[later[0]].hashes), 3)
        work = preferred.get(last, last)
        evidence = Relation(work, version=label, superseded=since, how="text", similarity=similarity)
        message = Message(
            "{code} is a newer version of it." if since == UNDATED else "{code} is a newer version of it since {date}.",
            code=last,
            date=since,
        )
        return Outcome("skipped", "superseded", message, evidence)
    head = preferred.get(code, code)
    if head == code:
        return Outcome("done", "", NO_MESSAGE, Relation(code, version=label))
    # Members of one work need not be twins of its head themselves: es may be known by fr, and fr by en.
    twin = sureness.get(frozenset((code, head))) or next(one for pair, one in sureness.items() if code in pair)
    evidence = Relation(head, translation_of=head, version=label, how=twin.how, similarity=twin.similarity)
    message = Message("It is a translation of {code}, which answers in its place.", code=head)
    return Outcome("skipped", "translation", message, evidence)


def _rejection(duplicates: dict[str, _Duplicate], code: str, outcomes: dict[str, Outcome]) -> Outcome:
    """Return the rejection of a copy, which points to the finally kept one."""
    found = duplicates[code]
    kept = found.kept
    while kept in duplicates:
        kept = duplicates[kept].kept
    relation = outcomes[kept].evidence
    work = relation.work if isinstance(relation, Relation) else kept
    how = _COMPARED[found.reason]
    evidence = Relation(work, duplicate_of=kept, how=how, similarity=found.similarity)
    return Outcome("refused", found.reason, _said_of_copy(found.reason, kept, found.similarity), evidence)


def _said_of_copy(reason: _DuplicateReason, kept: str, similarity: float) -> Message:
    kept += f" ({similarity:.0%})" if similarity < 1 else ""
    match reason:
        case "same_content":
            return Message("It has the same content as {kept}, which is kept.", kept=kept)
        case "same_address":
            return Message("It has the same address as {kept}, which is kept.", kept=kept)
        case "same_text":
            return Message("It has nearly the same text as {kept}, which is kept.", kept=kept)
        case "same_work":
            return Message("It has the title and most of the text of {kept}, which is kept.", kept=kept)


@dataclass(frozen=True, slots=True)
class Twin:
    """Two codes of one work in two languages, and how that is known ("address", "symbol", "meaning")."""

    one: str
    other: str
    how: str
    similarity: float


def find_twins(
    candidates: Sequence[ComparedSource], translation_similarity: float, encode: EncodeTexts | None
) -> list[Twin]:
    """Return pairs of candidates that are translations of one work, the surest first.

    A common address or document symbol makes translations, unless the numbers of both texts speak against it. A symbol
    alone, in texts without numbers, needs samples that agree in their order. So do pairs without address and symbol.
    """
    by_code = {candidate.code: candidate for candidate in candidates if candidate.language}
    ordered = [by_code[code] for code in sorted(by_code)]
    numbers = {source.code: hashes(source.numbers) for source in ordered}
    twins: dict[tuple[str, str], Twin] = {}
    keys: dict[str, Callable[[ComparedSource], list[str]]] = {
        "address": lambda source: [url_of_any_language(source.url)],
        "symbol": lambda source: source.symbols.split(),
    }
    aligned = {(twin.one, twin.other): twin for twin in _aligned(ordered, translation_similarity, encode)}
    for how, source, other in ((how, *pair) for how, key in keys.items() for pair in _sharing(ordered, key)):
        # Two texts without numbers may cite one symbol and say different things of it.
        known = how == "address" or _has_numbers(source, other) or (source.code, other.code) in aligned
        known = known and source.place.corrects == other.place.corrects
        if known and _ratio(source, other) >= _LEAST_LENGTH_RATIO and _numbers_allow(source, other, numbers):
            twins.setdefault((source.code, other.code), Twin(source.code, other.code, how, 1.0))
    for pair, twin in aligned.items():
        if _numbers_allow(by_code[twin.one], by_code[twin.other], numbers):
            twins.setdefault(pair, twin)
    return sorted(twins.values(), key=lambda twin: (-twin.similarity, twin.one, twin.other))


def join_twins(twins: Iterable[Twin], language_of: Callable[[str], str]) -> list[list[str]]:
    """Return works as lists of codes with one member per language; the surest pairs join first.

    >>> twins = [Twin("LAW1", "LAW2", "title", 0.9), Twin("LAW2", "LAW3", "title", 0.8)]
    >>> join_twins(twins, {"LAW1": "en", "LAW2": "it", "LAW3": "en"}.__getitem__)
    [['LAW1', 'LAW2']]
    """
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
        for source, other in combinations(members, 2):
            pair = (source.code, other.code)
            # One address in two languages is a page that changed its language: its own affair.
            same_address = bool(source.url) and normal_url(source.url) == normal_url(other.url)
            if source.language != other.language and pair not in seen and not same_address:
                seen.add(pair)
                yield source, other


def _ratio(source: ComparedSource, other: ComparedSource) -> float:
    return min(source.length, other.length) / max(source.length, other.length, 1)


def _has_numbers(source: ComparedSource, other: ComparedSource) -> bool:
    return max(source.number_pairs, other.number_pairs) >= _FEW_NUMBERS


def _numbers_allow(source: ComparedSource, other: ComparedSource, numbers: Mapping[str, NDArray[np.uint32]]) -> bool:
    return not _has_numbers(source, other) or jaccard(numbers[source.code], numbers[other.code]) >= _NUMBERS_AGREE


def _aligned(candidates: Sequence[ComparedSource], least: float, encode: EncodeTexts | None) -> Iterator[Twin]:
    """Yield pairs in two languages of like length whose samples mean the same in the same order."""
    sampled = [candidate for candidate in candidates if candidate.samples]
    if encode is None or len({source.language for source in sampled}) < 2:
        return
    texts = [sample for source in sampled for sample in source.samples.split("\n")]
    vectors = encode(texts).reshape(len(sampled), SAMPLES, -1)
    languages = np.array([source.language for source in sampled])
    lengths = np.array([source.length for source in sampled], dtype=np.float64)
    for place, source in enumerate(sampled[:-1]):
        rest = slice(place + 1, None)
        ratio = np.minimum(lengths[rest], source.length) / np.maximum(lengths[rest], source.length)
        others = np.flatnonzero((languages[rest] != source.language) & (ratio >= _LEAST_LENGTH_RATIO)) + place + 1
        similarity = np.tensordot(vectors[others], vectors[place], axes=(2, 1))
        for other, cosine in zip(others, _alignment(similarity, least), strict=True):
            if cosine:
                yield Twin(source.code, sampled[other].code, "meaning", min(1.0, round(float(cosine), 4)))


def _alignment(similarity: NDArray[np.float32], least: float) -> NDArray[np.float32]:
    """Return how alike the samples of each pair are, place by place; 0 if they do not align.

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
