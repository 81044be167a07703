"""Sentences as spans of the original text, for prose, laws, lists and tables in many languages.

A rule splitter: every full stop, line break and white-space gap is examined once, in one pass. So a thousand pages take
a second or two, and offsets are exact by construction. The words of the rules are in data/abbreviations.toml. syntok
finds four of five sentence ends in legal text and takes a hundred times as long (benchmarks/results/sentences.md).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from rag_engine.text.bullets import BULLETS, DASHES
from rag_engine.text.raised import RAISED
from rag_engine.text.tables import read_table

Span = tuple[int, int]

LONG_SENTENCE = 600
LONGEST_SENTENCE = 1200

# A blank line, a page break, or a gap as wide as that between the columns of a table.
_WIDE_GAP = 40
# How far before a stop its abbreviation or label may begin.
_LOOK_BACK = 32
_LONGEST_LABEL = 40
_GAP = re.compile(r"\s{2,}|[\f\u2029]")

# Places where a sentence may end: stops before white space, stops that need none, line breaks.
_CANDIDATE = re.compile(
    r"""(?<![.!?…])(?P<stop>[.!?…]++|[؟۔।॥])
        (?P<closers>(?:[]"'”’“»«›)}*_¹²³⁰⁴⁵⁶⁷⁸⁹⁽⁾ºª]|\[[A-Z]?\d{1,3}\]|\([¹²³⁰⁴-⁹]{1,3}\)|[ \u00a0\u202f]»(?=\s))*+)
        (?P<footnote>(?:(?<=[a-zß-öø-ÿ]\.)\d{1,2})?)
        (?=\s)
      | (?P<east>[。！？｡][。！？｡」』）”’"]*+)
      | (?P<line>\n)[^\S\n]*+(?=\S)""",
    re.VERBOSE,
)
_NEXT = re.compile(r"\s*+[\"'«»„“”‘’‹›*_¿¡]*+(?P<bracket>[(\[]?)(?P<word>\w*+)(?P<mark>['’.]?)")
_ITEM = re.compile(
    rf"""(?P<bullet>[{BULLETS}|\uf0b7\uf0a7]|[+{DASHES}](?=\s))
      | (?P<letter>\(?(?:\d{{1,3}}|[a-zA-Z]{{1,2}}|[ivxlc]{{1,6}})\))\s
      | (?P<number>(?:\d{{1,3}}\.)++|\d{{1,3}}(?:\.\d{{1,3}})++|[IVXLC]{{1,6}}\s?[-–.]|§{{1,2}}\s?\d++)[ºª°]?\s""",
    re.VERBOSE,
)
# Tried only where a run of dots begins, and once: a page of nothing but dots must not take minutes.
_LEADER = re.compile(r"(?<!\.)(?<!\.[ ])(?:\.[ ]?){4,}+[ ]*+(?:\d{1,4}|[ivxlc]{1,7})$")
_LABEL = re.compile(
    r"[^\w§]*(?:(?P<noun>[^\W\d]+)\.?\s+|§\s*)?\(?(?:\d{1,4}(?:\.\d{1,3})*(?:-?[A-Z])?[ºª°"
    rf"{RAISED}]*|[IVXLC]{{1,6}}|[A-Za-z])\)?"
)
_ROMAN = re.compile(r"[IVXLC]+")
_LETTERS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_VOWELLESS = re.compile(r"[b-df-hj-np-tv-xzß]{2,}")
_BEFORE_WORD = re.compile(r".*[’'(/\[“„‘\"«»–—-]", re.DOTALL)
_WORD = re.compile(r"[^\W_]")

# Where a sentence longer than LONG_SENTENCE may be cut, and the pieces it may not be cut into.
_SEMICOLON = re.compile(r"[;；؛]")
_COMMA = re.compile(r"[,、，،](?!\d)")
_LINE_END = re.compile(r"\n")
_SPACE = re.compile(r"\s")
_NOT_WHITE = re.compile(r"\S")
_SHORTEST_PIECE = 100
_TABLE_LINE = 45


@dataclass(frozen=True, slots=True)
class _Rules:
    """The words of one language that matter around a full stop."""

    never: frozenset[str]
    number: frozenset[str]
    ending: frozenset[str]
    starters: frozenset[str]
    labelled: frozenset[str]
    ordinals: bool
    sign_last: bool


@dataclass(frozen=True, slots=True)
class _Following:
    """The text after a stop.

    It has the next word, whether a bracket opens before it, and whether the word begins sentences.
    """

    word: str
    bracket: bool
    starter: bool

    @property
    def counts(self) -> bool:
        """Whether an abbreviation such as "Art." may introduce it: 5, IV, a, (2), §, FAA-2020."""
        return self.bracket or len(self.word) <= 1 or self.word[0].isdecimal() or self.word.isupper()


def sentence_spans(text: str, language: str) -> list[Span]:
    """Return sentences as (start, end) offsets in reading order, none longer than 1,200 characters.

    They do not overlap. Together they hold every character that is not white space, and neither begin nor end with
    white space. None crosses a blank line. List items and table rows are separate sentences. A sentence longer than 600
    characters is cut at semicolons, line ends or commas. `language` is an ISO 639-1 code; a language without rules is
    read with the rules of all languages.

    >>> sentence_spans("See Art. 5. It applies.", "en")
    [(0, 11), (12, 23)]
    """
    rules = _rules(language.lower()[:2])
    return [
        piece
        for start, end in _blocks(text)
        for sentence in _with_words(text, _sentences(text, start, end, rules))
        for piece in _bounded(text, *sentence)
    ]


@cache
def _rules(language: str) -> _Rules:
    tables = read_table("abbreviations")
    chosen = [tables["shared"], tables[language]] if language in tables else list(tables.values())
    kinds = ("never", "number", "ending", "starters", "labelled")
    words = {kind: frozenset(word for table in chosen for word in table.get(kind, ())) for kind in kinds}
    own = tables.get(language, {})
    return _Rules(**words, ordinals=bool(own.get("ordinals")), sign_last=bool(own.get("sign_last")))


def _blocks(text: str) -> Iterator[Span]:
    start = 0
    for gap in _GAP.finditer(text):
        white = gap.group()
        if len(white) >= _WIDE_GAP or white.count("\n") > 1 or "\f" in white or "\u2029" in white:
            if gap.start() > start:
                yield start, gap.start()
            start = gap.end()
    if text[start:].strip():
        yield start, len(text)


def _sentences(text: str, start: int, end: int, rules: _Rules) -> Iterator[Span]:
    """Yield spans without white space at their ends, some of them empty, from the block text[start:end]."""
    start, end = stripped(text, start, end)
    previous_line = start
    for found in _CANDIDATE.finditer(text, start, end):
        if found["line"]:
            cut = found.start()
            ends = _ends_at_line(text, previous_line, cut, found.end(), rules)
            previous_line = found.end()
        elif found["east"]:
            cut, ends = found.end(), True
        else:
            cut = found.end()
            ends = _ends_at_stop(text, start, found, rules)
        if ends:
            yield stripped(text, start, cut)
            start = cut
    yield stripped(text, start, end)


def _ends_at_line(text: str, line: int, cut: int, following: int, rules: _Rules) -> bool:
    """Return whether the line break at `cut` parts sentences.

    It does before a list item, and after a semicolon or a dot leader.
    """
    before = text[line:cut].rstrip()
    if before.endswith((";", "|")) or (".." in before and _LEADER.search(before)):
        return True
    item = _ITEM.match(text, following)
    if not item:
        return False
    if item["bullet"]:
        return True
    # A wrapped line may happen to begin like an item: "under Article 3 | (2) thereof", "am | 3. Mai".
    words = before.split()
    if words and words[-1].rstrip(".").lower() in rules.labelled | rules.number:
        return False
    if before.endswith((".", ":", "!", "?", ".”", '."', ".»")) or _ITEM.match(before):
        return True
    return bool(item["letter"]) and (before.endswith(",") or text[item.end() : item.end() + 1].isupper())


def _ends_at_stop(text: str, start: int, found: re.Match[str], rules: _Rules) -> bool:
    """Return whether the stop ends the sentence that began at `start`."""
    stop, mark = found.start(), found["stop"]
    following = _following(text, found.end(), rules)
    if following.word[:1].islower() and not following.bracket:
        return False
    if mark != ".":
        inserted = text[max(start, stop - 1) : stop] in {"(", "["}  # "(!)", "[...]"
        dots = set(mark) <= {".", "…"}
        return not inserted and not (dots and (len(mark) > 3 or following.word[:1].isdecimal()))
    if stop - start <= _LONGEST_LABEL and _is_label(text[start:stop], rules):
        return False
    tokens = text[max(start, stop - _LOOK_BACK) : stop].split()
    if not tokens or text[stop - 1].isspace():
        return True
    number = tokens[-1].lstrip("([„“\"'")
    if rules.sign_last and text[found.end() : found.end() + 3].lstrip()[:1] == "§":
        return False
    if number.isdecimal() or (len(number) > 1 and _ROMAN.fullmatch(number)):
        before = tokens[-2].strip("(.").lower() if len(tokens) > 1 else ""
        return not _is_ordinal(number, before, following, rules)
    return not _is_abbreviation(tokens, following, rules, noted=bool(found["footnote"]))


def _following(text: str, end: int, rules: _Rules) -> _Following:
    found = _NEXT.match(text, end)
    if not found:
        return _Following("", bracket=False, starter=False)
    word = found["word"]
    initial = len(word) == 1 and found["mark"] == "."  # "J. A. Souza", though "A" begins sentences too
    starter = not initial and word.lower() + found["mark"].replace("’", "'").rstrip(".") in rules.starters
    return _Following(word, bracket=bool(found["bracket"]), starter=starter)


def _is_label(sentence: str, rules: _Rules) -> bool:
    """Return whether the sentence so far is only a number: "5.2.", "Art. 10.", "• II."."""
    label = _LABEL.fullmatch(sentence)
    if not label:
        return False
    noun = label["noun"]
    return noun is None or noun.lower() in rules.labelled or noun.lower() in rules.number


def _is_ordinal(number: str, before: str, following: _Following, rules: _Rules) -> bool:
    """Return whether the stop makes the number an ordinal ("3. Mai") or part of a date ("3. 5. 2021")."""
    if len(number) <= 2 and following.word[:1].isdecimal():
        return True
    if not rules.ordinals or not following.word or (number.isdecimal() and len(number) > 3):
        return False
    return not following.starter and before not in rules.labelled and before not in rules.number


def _is_abbreviation(tokens: list[str], following: _Following, rules: _Rules, *, noted: bool) -> bool:
    """Return whether the last token is an abbreviation after which the sentence continues."""
    surface = _BEFORE_WORD.sub("", tokens[-1])
    word = surface.lower()
    names = {word, tokens[-1].lower()}
    joined = word
    for token in reversed(tokens[-4:-1]):  # "i. V. m" is looked up as "i.v.m"
        if not (token.endswith(".") and len(token) <= 5):
            break
        joined = _BEFORE_WORD.sub("", token).lower() + joined
        names.add(joined)
    if names & rules.never:
        return True
    if names & rules.number and (noted or following.counts):
        return True
    before = tokens[-2] if len(tokens) > 1 else ""
    if len(word) == 1 and before.lower() in rules.labelled:
        return False  # "Annex A. Member States"
    # "Nds", "StGB" and the like; but units ("5 km") and acronyms in capitals do end sentences.
    consonants = _VOWELLESS.fullmatch(word) and not surface.isupper() and not before.isdecimal()
    may_hold = names & rules.ending or _LETTERS.fullmatch(word) or consonants
    return bool(may_hold) and not following.starter


def _with_words(text: str, sentences: Iterable[Span]) -> list[Span]:
    """Return the sentences of a block, each with a letter or digit.

    A piece without one (a bullet, a table rule) joins the next sentence.
    """
    joined: list[Span] = []
    wordless: Span | None = None
    for start, end in sentences:
        if start == end:
            continue
        first = wordless[0] if wordless else start
        wordless = None if _WORD.search(text, start, end) else (first, end)
        if not wordless:
            joined.append((first, end))
    if wordless:
        first = joined.pop()[0] if joined else wordless[0]
        joined.append((first, wordless[1]))
    return joined


def _bounded(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentence, or its pieces when it is long."""
    if end - start > LONG_SENTENCE:
        line_ends = [end_of_line.end() for end_of_line in _LINE_END.finditer(text, start, end)]
        ragged = (end - start) / (len(line_ends) + 1) < _TABLE_LINE
        cuts = [[found.end() for found in cut.finditer(text, start, end)] for cut in (_SEMICOLON, _COMMA)]
        # Lines of prose break anywhere, lines of a table where a row ends.
        ordered = [line_ends, *cuts] if ragged else [*cuts, line_ends]
        ordered.append([space.start() for space in _SPACE.finditer(text, start, end)])
        while end - start > LONG_SENTENCE:
            cut = _cut(ordered, start, end)
            if cut is None:
                break
            yield stripped(text, start, cut)
            rest = _NOT_WHITE.search(text, cut, end)
            start = rest.start() if rest else end
    yield start, end


def _cut(ordered: list[list[int]], start: int, end: int) -> int | None:
    """Return where to cut the long piece [start, end); None when it may stay as long as it is."""
    for farthest in (LONG_SENTENCE, LONGEST_SENTENCE):
        for cuts in ordered[:3]:
            at = bisect_right(cuts, min(start + farthest, end - _SHORTEST_PIECE)) - 1
            if at >= 0 and cuts[at] >= start + _SHORTEST_PIECE:
                return cuts[at]
    if end - start <= LONGEST_SENTENCE:
        return None
    spaces = ordered[3]
    at = bisect_right(spaces, start + LONGEST_SENTENCE) - 1
    return spaces[at] if at >= 0 and spaces[at] > start else start + LONGEST_SENTENCE


def stripped(text: str, start: int, end: int) -> Span:
    """Return the span without white space at its ends."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(piece.strip())
