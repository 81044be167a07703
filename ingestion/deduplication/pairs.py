"""Judgement of two sources with like texts: copies, versions of one work, or two works."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from ingestion.config import DeduplicationConfig
from ingestion.deduplication.signatures import ComparedSource, hashes
from ingestion.deduplication.versions import Version, is_periodical, version_of
from rag_engine.text.identifiers import WorkPlace

# Code of a source to its text.
ReadText = Callable[[str], str]
# Likeness (Jaccard of word 5-shingles) from which texts of one title are one work. Reports of two years share their
# frame, a revised text most of its sentences; an agreement and the decision that it is annexed to, about half.
SAME_WORK = 0.6
_LIKE_ENOUGH = {"marked": 0.1, "years": 0.3, "dates": 0.5, "amended": 0.7}
LEAST_LIKENESS = min(_LIKE_ENOUGH.values())
# From which similarity (0-100) two words of titles are one, misread or inflected.
_SAME_WORD = 75
# From here on another date of the same title is a mistake and no version, unless the texts say otherwise themselves.
_IDENTICAL = 0.98
# Numbers, Roman numerals and single letters tell Volume 1 from Volume 2, Part I from Part II, Annex A from Annex B.
_NUMBERING = re.compile(r"[\d./-]*\d[\d./-]*|[ivxl]{1,6}|[a-z]")
_SMALL_WORDS = frozenset({"a", "e", "o", "y", "i", "d", "l", "n", "s"})
# Words beyond these are not compared; aligning so many takes about a second.
_MOST_WORDS = 60_000
# Likeness (0-100) of the letters from which a replaced passage is the same one, misread, hyphenated or spaced.
_SAME_LETTERS = 75
# So many equal words between two differences are chance, and a passage of so many elsewhere was moved.
_CHANCE = 2
_MOVED = 4
# A subject is another's when so many of its mentions are replaced, of so many words at most and letters at least.
_OFTEN = 3
_LONGEST_NAME = 3
_NAME_LETTERS = 3
_WORD = re.compile(r"\w+")
_HYPHEN = re.compile("(?<=\\w)[-\u2010]\\s*\n\\s*(?=\\w)|\u00ad")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Member:
    """A candidate with what is compared again and again."""

    candidate: ComparedSource
    version: Version
    hashes: NDArray[np.uint32]
    numbering: frozenset[str]
    place: WorkPlace

    @property
    def code(self) -> str:
        """The code of its source."""
        return self.candidate.code


def member_of(candidate: ComparedSource) -> Member:
    """Return the candidate with the version and the numbers that its title names."""
    title = candidate.title
    # A list may carry the code in the title: ADM001 Flood plan.
    if candidate.code:
        title = re.sub(rf"\A{re.escape(candidate.code)}(?!\w)", "", title, flags=re.IGNORECASE)
    version = version_of(title, candidate.file_name, candidate.url)
    words = version.work_title.split()
    numbering = frozenset(word for word in words if word not in _SMALL_WORDS and _NUMBERING.fullmatch(word))
    return Member(candidate, version, hashes(candidate.signature), numbering, candidate.place)


def are_identified_versions(member: Member, other: Member) -> bool:
    """Return whether the identifiers of two texts of one language name different versions of one work."""
    mine, others = member.place, other.place
    same_version = (mine.date, mine.revision) == (others.date, others.revision)
    same_language = member.candidate.language == other.candidate.language
    return same_language and not same_version and mine.is_version_with(others)


def _corrects(member: Member, other: Member) -> bool:
    """Return whether one of two texts is a corrigendum and the other is none."""
    return member.place.corrects != other.place.corrects


class Pairs:
    """Judge of pairs; it reads the texts of nearly equal pairs, each pair once.

    Without `text_of` only likeness, titles and dates decide. `dates` gathers by code from when a version is.
    """

    def __init__(self, config: DeduplicationConfig, text_of: ReadText | None) -> None:
        self._config = config
        self._text_of = text_of
        self._found: dict[tuple[str, str], Differences] = {}
        self._today = datetime.now(UTC).year
        self.dates: dict[str, str] = {}

    def are_copies(self, member: Member, other: Member, similarity: float) -> bool:
        """Return whether two texts are so alike that one can replace the other, under any titles.

        Of forms on one pattern few words and the number of the title differ: they are no copies. Nor are two texts that
        each say something that the other does not.
        """
        least = self._config.text_similarity if member.numbering == other.numbering else 1.0
        if similarity < least or _corrects(member, other) or self.are_versions(member, other, similarity):
            return False
        return not self._differences(member, other).contradict

    def are_one_work(self, member: Member, other: Member, similarity: float) -> float:
        """Return similarity 0..1 of titles where one text is the other reformatted or in part, else 0."""
        if similarity < SAME_WORK or _years_apart(member, other) or _corrects(member, other):
            return 0.0
        alike = _title_similarity(member, other, self._config.title_similarity)
        return 0.0 if not alike or self._differences(member, other).contradict else alike

    def are_versions(self, member: Member, other: Member, similarity: float) -> bool:
        """Return whether two texts are versions of one work.

        A marker (draft, rev. 2, consolidated) needs little similarity of the texts, for it names the version itself.
        Years in titles need more. Dates alone need most of the text, and so does an amended law. An identifier of the
        work with another day or revision needs nothing else; a corrigendum is no version.
        """
        if _corrects(member, other) or are_identified_versions(member, other):
            return not _corrects(member, other)
        if _title_similarity(member, other, max(self._config.title_similarity, 0.9)) == 0:
            return False
        marked = member.version.marked or other.version.marked
        if not marked and (is_periodical(member.version.work_title) or is_periodical(other.version.work_title)):
            return False
        if self._by_title_and_date(member, other, similarity, marked=marked):
            return similarity < SAME_WORK or not self._differences(member, other).renamed
        return self._by_text(member, other, similarity)

    def date_of(self, member: Member) -> str:
        """Return since when a version is, as far as it is known."""
        return self.dates.get(member.code) or member.candidate.as_of or member.candidate.date

    def _by_title_and_date(self, member: Member, other: Member, similarity: float, *, marked: bool) -> bool:
        dates = member.candidate.date, other.candidate.date
        if len(dates[0]) == 10 and dates[0] == dates[1] and not marked:
            # One in a year's folder, the other not: two files of one version.
            return False
        if _years_apart(member, other):
            return similarity >= _LIKE_ENOUGH["years"]
        if member.version.rank != other.version.rank or member.version.label != other.version.label:
            return similarity >= _LIKE_ENOUGH["marked" if marked else "dates"] and (marked or similarity < _IDENTICAL)
        differ = all(dates) and not dates[0].startswith(dates[1]) and not dates[1].startswith(dates[0])
        if not differ or similarity < _LIKE_ENOUGH["dates"]:
            return False
        if self._text_of is None:
            return similarity < _IDENTICAL
        # A cover page has the date on which somebody fetched the copy.
        return self._differences(member, other).inside

    def _by_text(self, one: Member, other: Member, similarity: float) -> bool:
        """Return whether one text is the other amended: the same act, and it is known which came later."""
        if similarity < _LIKE_ENOUGH["amended"]:
            return False
        found = self._differences(one, other)
        if found.renamed or not (found.contradict or found.inside):
            return False
        stated = [member.candidate.as_of or member.candidate.date for member in (one, other)]
        consolidated = any(member.candidate.as_of for member in (one, other))
        if consolidated and all(stated) and len({date[: min(map(len, stated))] for date in stated}) > 1:
            return True
        years = found.latest_years(self._today)
        if years[0] == years[1]:
            return False
        for member, year in zip((one, other), years, strict=True):
            if year:
                self.dates[member.code] = max(self.dates.get(member.code, ""), str(year), self.date_of(member)[:4])
        return True

    def _differences(self, member: Member, other: Member) -> Differences:
        if self._text_of is None:
            return Differences()
        pair = member.code, other.code
        if pair not in self._found:
            self._found[pair] = find_differences(self._text_of(member.code), self._text_of(other.code))
        return self._found[pair]


def _title_similarity(member: Member, other: Member, least: float) -> float:
    """Return similarity 0..1 of two titles of one language without years, signs and markers.

    0 below `least`.
    """
    if member.candidate.language != other.candidate.language or member.numbering != other.numbering:
        return 0.0
    titles = member.version.work_title, other.version.work_title
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


def _years_apart(member: Member, other: Member) -> bool:
    years = member.version.year, other.version.year
    return all(years) and years[0] != years[1]


@dataclass(frozen=True, slots=True)
class Differences:
    """Words that each of two texts has where the other has none or others.

    `contradict`: each text has words that the other lacks. Otherwise one holds the other, as a copy with a cover page
    does. `inside` tells whether anything differs between their first and last common words. `renamed`: one word
    replaces another throughout, as in plans of two towns from one template.
    """

    one: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    contradict: bool = False
    inside: bool = False
    renamed: bool = False

    def latest_years(self, today: int) -> tuple[int, int]:
        """Return the latest year up to today's that only the one and only the other text names; 0 for none."""
        return _latest(self.one, today), _latest(self.other, today)


def find_differences(one: str, other: str) -> Differences:
    """Return how two texts differ, apart from misread letters and moved passages.

    >>> differences = find_differences("The mayor of Como orders it.", "The mayor of Lecco orders it.")
    >>> differences.one, differences.other, differences.contradict
    (('como',), ('lecco',), True)
    """
    left, right = _words(one), _words(other)
    moved = frozenset(_runs(left)) & frozenset(_runs(right))
    own_left, own_right = list[str](), list[str]()
    inside = False
    replaced: Counter[tuple[str, str]] = Counter()
    for start, end, from_, to in _spans(left, right):
        ours, theirs = _own(left[start:end], moved), _own(right[from_:to], moved)
        common = Counter(ours) & Counter(theirs)
        ours, theirs = _without(ours, common), _without(theirs, common)
        if _same_letters(ours, theirs):
            continue
        own_left += ours
        own_right += theirs
        if max(len(ours), len(theirs)) <= _LONGEST_NAME:
            replaced[" ".join(ours), " ".join(theirs)] += 1
        at_edge = (start == 0 and from_ == 0) or (end == len(left) and to == len(right))
        inside = inside or not at_edge or bool(ours and theirs)
    return Differences(
        tuple(own_left),
        tuple(own_right),
        contradict=bool(own_left and own_right),
        inside=inside,
        renamed=any(count >= _OFTEN and _are_names(*pair) for pair, count in replaced.items()),
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", _HYPHEN.sub("", text)).casefold())[:_MOST_WORDS]


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_MOVED)), strict=False)


def _spans(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield [start, end) in both texts of the differing passages.

    A few equal words between two are chance.
    """
    open_span: tuple[int, int, int, int] | None = None
    for step in Indel.opcodes(left, right):
        if step.tag == "equal":
            if open_span and step.src_end - step.src_start > _CHANCE:
                yield open_span
                open_span = None
        elif open_span:
            open_span = open_span[0], step.src_end, open_span[2], step.dest_end
        else:
            open_span = step.src_start, step.src_end, step.dest_start, step.dest_end
    if open_span:
        yield open_span


def _own(words: Sequence[str], moved: frozenset[tuple[str, ...]]) -> list[str]:
    """Return the words of a passage outside any run of words that occurs elsewhere in the other text."""
    elsewhere = set[int]()
    for start, run in enumerate(_runs(words)):
        if run in moved:
            elsewhere.update(range(start, start + _MOVED))
    return [word for place, word in enumerate(words) if place not in elsewhere]


def _without(words: Sequence[str], common: Counter[str]) -> list[str]:
    left = Counter(common)
    kept = []
    for word in words:
        if left[word] > 0:
            left[word] -= 1
        else:
            kept.append(word)
    return kept


def _same_letters(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two passages are one, misread or otherwise spaced; figures must be the same."""
    one, other = "".join(ours), "".join(theirs)
    figures = [re.sub(r"\D", "", text) for text in (one, other)]
    return figures[0] == figures[1] and fuzz.ratio(one, other) >= _SAME_LETTERS


def _are_names(one: str, other: str) -> bool:
    return all(text.replace(" ", "").isalpha() and len(text) >= _NAME_LETTERS for text in (one, other))


def _latest(words: Sequence[str], today: int) -> int:
    return max((int(word) for word in words if _YEAR.fullmatch(word) and int(word) <= today), default=0)
