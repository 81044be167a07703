"""Comparison of sources: copies, versions of one work, translations of one work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from datasketch import MinHash, MinHashLSH
from numpy.typing import NDArray
from rapidfuzz import fuzz

from ingestion.config import DeduplicationConfig
from ingestion.deduplication.signatures import TEXT_HASHES, ComparedSource, hashes, jaccard
from ingestion.deduplication.translations import EncodeTexts, Twin, find_twins, join_twins
from ingestion.deduplication.versions import Version, order_versions, version_of
from ingestion.types import Outcome, Relation
from ingestion.web.urls import normal_url

# Bands and rows of the hash table for texts: a similarity s is found with the chance 1 - (1 - s^rows)^bands, which is
# .998 for .3 and .15 for .05.
_TEXT_BANDS = (64, 2)
# Likeness (Jaccard of word 5-shingles) from which texts of one title are one work. Reports of two years share their
# frame, a revised text most of its sentences; an agreement and the decision that it is annexed to, about half.
_SAME_WORK = 0.6
_LIKE_ENOUGH = {"marked": 0.1, "years": 0.3, "dates": 0.5}
# From which similarity (0-100) two words of titles are one, misread or inflected.
_SAME_WORD = 75
# From here on another date of the same title is a mistake and no version.
_IDENTICAL = 0.98

# Numbers, Roman numerals and single letters tell Volume 1 from Volume 2, Part I from Part II, Annex A from Annex B.
_NUMBERING = re.compile(r"[\d./-]*\d[\d./-]*|[ivxl]{1,6}|[a-z]")
_SMALL_WORDS = frozenset({"a", "e", "o", "y", "i", "d", "l", "n", "s"})

_DuplicateReason = Literal["same_content", "same_address", "same_text", "same_work"]
# What was compared, and what is said of a copy.
_WORDS: dict[_DuplicateReason, tuple[str, str]] = {
    "same_content": ("text", "has the same content as"),
    "same_address": ("address", "has the same address as"),
    "same_text": ("text", "has nearly the same text as"),
    "same_work": ("title", "has the title and most of the text of"),
}


@dataclass(frozen=True, slots=True)
class _Member:
    """A candidate with what is compared again and again."""

    candidate: ComparedSource
    version: Version
    hashes: NDArray[np.uint32]
    numbering: frozenset[str]

    @property
    def code(self) -> str:
        return self.candidate.code


@dataclass(frozen=True, slots=True)
class _Duplicate:
    kept: str
    reason: _DuplicateReason
    similarity: float


def relate(
    candidates: Sequence[ComparedSource], config: DeduplicationConfig, encode: EncodeTexts | None
) -> dict[str, Outcome]:
    """Return the outcome of every candidate by code, with a Relation as evidence, whatever the candidates' order.

    Among copies the preferred language is kept, then the fullest, then the one with the highest score, then the
    smallest code. Of versions the newest is "done", of translations the preferred language. Without `encode`
    translations are known by address and document symbol alone.
    """
    places = {language: place for place, language in enumerate(config.preferred_languages)}

    def preference(one: ComparedSource) -> tuple[int, int, float, str]:
        return places.get(one.language, len(places)), -one.characters, -one.score, one.code

    members = [_member(one) for one in sorted({one.code: one for one in candidates}.values(), key=preference)]
    duplicates: dict[str, _Duplicate] = {}
    members = _drop_equal(members, "same_content", _contents, duplicates)
    members = _drop_equal(members, "same_address", lambda one: [normal_url(one.url)], duplicates)
    members, pairs = _drop_alike(members, config, duplicates)
    members, versions = _drop_same_works(members, pairs, config, duplicates)
    series = _series(versions)
    newer = {code: (one[place + 1 :], one[-1]) for one in series for place, code in enumerate(one[:-1])}
    newest = [one.candidate for one in members if one.code not in newer]
    twins = find_twins(newest, config.translation_similarity, encode)
    return _outcomes(candidates, members, duplicates, newer, twins)


def _member(candidate: ComparedSource) -> _Member:
    title = candidate.title
    # A list may carry the code in the title: ADM001 Flood plan.
    if candidate.code and title.casefold().startswith(candidate.code.casefold()):
        title = title[len(candidate.code) :]
    version = version_of(title, candidate.file_name, candidate.url)
    words = version.work_title.split()
    numbering = frozenset(word for word in words if word not in _SMALL_WORDS and _NUMBERING.fullmatch(word))
    return _Member(candidate, version, hashes(candidate.signature), numbering)


def _drop_equal(
    members: list[_Member],
    reason: _DuplicateReason,
    keys: Callable[[ComparedSource], list[str]],
    duplicates: dict[str, _Duplicate],
) -> list[_Member]:
    """Return members with a content or an address of their own, in order of preference."""
    kept_by: dict[str, str] = {}
    kept: list[_Member] = []
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


def _contents(one: ComparedSource) -> list[str]:
    return [one.sha256 and f"file {one.sha256}", one.text_hash and f"text {one.text_hash}"]


def _drop_alike(
    members: list[_Member], config: DeduplicationConfig, duplicates: dict[str, _Duplicate]
) -> tuple[list[_Member], list[tuple[_Member, _Member, float]]]:
    """Return members whose text is their own, and the pairs of them with a similarity that versions may have."""
    table = MinHashLSH(num_perm=TEXT_HASHES, params=_TEXT_BANDS)
    kept: dict[str, _Member] = {}
    pairs: list[tuple[_Member, _Member, float]] = []
    for member in members:
        if member.hashes.size:
            minimum = MinHash(hashvalues=member.hashes, scheme="affine32")
            alike = [(kept[code], jaccard(kept[code].hashes, member.hashes)) for code in sorted(table.query(minimum))]
            copies = [
                (similarity, other.code)
                for other, similarity in alike
                # Of forms on one pattern few words and the number of the title differ: they are no copies.
                if similarity >= (config.text_similarity if other.numbering == member.numbering else 1.0)
                and not _are_versions(other, member, similarity, config)
            ]
            if copies:
                similarity, code = min(copies, key=lambda one: (-one[0], one[1]))
                duplicates[member.code] = _Duplicate(code, "same_text", round(similarity, 3))
                continue
            pairs += [
                (other, member, similarity) for other, similarity in alike if similarity >= min(_LIKE_ENOUGH.values())
            ]
            table.insert(member.code, minimum)
        kept[member.code] = member
    return list(kept.values()), pairs


def _drop_same_works(
    members: list[_Member],
    pairs: list[tuple[_Member, _Member, float]],
    config: DeduplicationConfig,
    duplicates: dict[str, _Duplicate],
) -> tuple[list[_Member], list[tuple[_Member, _Member]]]:
    """Return members that are not another's work reformatted, and the pairs of them that are versions of one work."""
    versions: list[tuple[_Member, _Member]] = []
    place = {member.code: place for place, member in enumerate(members)}
    # The kept one of a pair is first; a pair whose first member has gone itself drops nothing.
    for one, other, similarity in sorted(pairs, key=lambda pair: (place[pair[1].code], place[pair[0].code])):
        if _are_versions(one, other, similarity, config):
            versions.append((one, other))
        elif (
            similarity >= _SAME_WORK
            and one.code not in duplicates
            and other.code not in duplicates
            and (alike := _title_similarity(one, other, config.title_similarity)) > 0
            and not _years_apart(one, other)
        ):
            duplicates[other.code] = _Duplicate(one.code, "same_work", round(alike, 3))
    gone = duplicates.keys()
    return (
        [member for member in members if member.code not in gone],
        [pair for pair in versions if not {pair[0].code, pair[1].code} & gone],
    )


def _title_similarity(one: _Member, other: _Member, least: float) -> float:
    """Return similarity 0..1 of two titles of one language without years, signs and markers; 0 below `least`."""
    if one.candidate.language != other.candidate.language or one.numbering != other.numbering:
        return 0.0
    titles = one.version.work_title, other.version.work_title
    if not all(titles) or _named_apart(*titles):
        return 0.0
    return float(fuzz.ratio(*titles, score_cutoff=least * 100)) / 100


def _named_apart(one: str, other: str) -> bool:
    """Return whether each of two titles has a word that the other has nothing like.

    Plans made after one pattern ("Emergency plan of Aix", "Emergency plan of Pau") differ in just that word.
    """
    left = [word for word in one.split() if word not in other.split()]
    right = [word for word in other.split() if word not in one.split()]
    return _unmatched(left, right) and _unmatched(right, left)


def _unmatched(words: Sequence[str], others: Sequence[str]) -> bool:
    return any(all(fuzz.ratio(word, other) < _SAME_WORD for other in others) for word in words)


def _years_apart(one: _Member, other: _Member) -> bool:
    years = one.version.year, other.version.year
    return all(years) and years[0] != years[1]


def _are_versions(one: _Member, other: _Member, similarity: float, config: DeduplicationConfig) -> bool:
    """Return whether two texts are versions of one work.

    A marker (draft, rev. 2, consolidated) needs little similarity of the texts, for it says so itself; years in titles
    need more, for reports of two years are two works; dates alone need most of the text.
    """
    if _title_similarity(one, other, max(config.title_similarity, 0.9)) == 0:
        return False
    dates = one.candidate.date, other.candidate.date
    if len(dates[0]) == 10 and dates[0] == dates[1] and not (one.version.marked or other.version.marked):
        # One in a year's folder, the other not: two files of one version.
        return False
    if _years_apart(one, other):
        return similarity >= _LIKE_ENOUGH["years"]
    if one.version.rank != other.version.rank or one.version.label != other.version.label:
        marked = one.version.marked or other.version.marked
        return similarity >= _LIKE_ENOUGH["marked" if marked else "dates"] and (marked or similarity < _IDENTICAL)
    differ = all(dates) and not dates[0].startswith(dates[1]) and not dates[1].startswith(dates[0])
    return differ and _LIKE_ENOUGH["dates"] <= similarity < _IDENTICAL


def _series(pairs: Iterable[tuple[_Member, _Member]]) -> list[list[str]]:
    """Return versions of each work as codes, the oldest first."""
    joined: dict[str, dict[str, _Member]] = {}
    for one, other in pairs:
        first = joined.setdefault(one.code, {one.code: one})
        second = joined.setdefault(other.code, {other.code: other})
        if first is not second:
            first |= second
            for code in second:
                joined[code] = first
    works = {id(work): work for work in joined.values()}.values()
    return [order_versions((m.code, m.version, m.candidate.date) for m in work.values()) for work in works]


def _outcomes(
    candidates: Sequence[ComparedSource],
    members: Sequence[_Member],
    duplicates: dict[str, _Duplicate],
    newer: dict[str, tuple[list[str], str]],
    twins: Sequence[Twin],
) -> dict[str, Outcome]:
    by_code = {member.code: member for member in members}
    rank = {member.code: place for place, member in enumerate(members)}
    preferred: dict[str, str] = {}
    for work in join_twins(twins, lambda code: by_code[code].candidate.language):
        preferred |= dict.fromkeys(work, min(work, key=rank.__getitem__))
    sureness = {frozenset((twin.one, twin.other)): twin for twin in reversed(twins)}
    outcomes = {member.code: _outcome(member, by_code, newer, preferred, sureness) for member in members}
    for code in sorted(one.code for one in candidates if one.code in duplicates):
        outcomes[code] = _rejection(duplicates, code, outcomes)
    return outcomes


def _outcome(
    member: _Member,
    by_code: dict[str, _Member],
    newer: dict[str, tuple[list[str], str]],
    preferred: dict[str, str],
    sureness: dict[frozenset[str], Twin],
) -> Outcome:
    code, label = member.code, member.version.label
    if code in newer:
        later, last = newer[code]
        dates = (by_code[one].candidate.date or by_code[one].version.year for one in later)
        since = next((date for date in dates if date), "unknown")
        similarity = round(jaccard(member.hashes, by_code[later[0]].hashes), 3)
        work = preferred.get(last, last)
        evidence = Relation(work, version=label, superseded=since, how="text", similarity=similarity)
        stand = f" since {since}" if since != "unknown" else ""
        return Outcome("skipped", "superseded", f"{last} is a newer version of it{stand}.", evidence)
    head = preferred.get(code, code)
    if head == code:
        return Outcome("done", "", "", Relation(code, version=label))
    # Members of one work need not be twins of its head themselves: es may be known by fr, and fr by en.
    twin = sureness.get(frozenset((code, head))) or next(one for pair, one in sureness.items() if code in pair)
    evidence = Relation(head, translation_of=head, version=label, how=twin.how, similarity=twin.similarity)
    return Outcome("skipped", "translation", f"It is a translation of {head}, which answers in its place.", evidence)


def _rejection(duplicates: dict[str, _Duplicate], code: str, outcomes: dict[str, Outcome]) -> Outcome:
    """Return the rejection of a copy, which points to the one that is kept in the end."""
    found = duplicates[code]
    kept = found.kept
    while kept in duplicates:
        kept = duplicates[kept].kept
    relation = outcomes[kept].evidence
    work = relation.work if isinstance(relation, Relation) else kept
    how, words = _WORDS[found.reason]
    evidence = Relation(work, duplicate_of=kept, how=how, similarity=found.similarity)
    figure = f" ({found.similarity:.0%} alike)" if found.similarity < 1 else ""
    return Outcome("rejected", found.reason, f"It {words} {kept}{figure}, which is kept.", evidence)
