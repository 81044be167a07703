"""Recognition of questions that lean on the one before, by the patterns of data/follow_ups.toml."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from rag_engine.geography import Gazetteer, place_mentions
from rag_engine.text.folding import fold
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table

# Signs around a question that are no part of it.
MARKS = " \t\n¿¡?!.…,;:\"'«»“”„"
_WORD = re.compile(r"[^\W_]+")
_NEVER = "(?!)"
# What is longer names its own subject.
_LONGEST = 160
_COMPLEMENT_WORDS = 6
_COMPLEMENT_CONTENT = 3
# With so many words of content before it, a pronoun stands for one of them.
_LEAST_ANTECEDENT = 2
_YEAR = re.compile(r"(?:\w{1,5}\s+)?(?:18|19|20)\d\d(?:['’]\w+)?")
_SENTENCE_END = re.compile(r"[.?!]\s")
# A word with a capital within a sentence; German writes every noun so.
_NAME = re.compile(r"\w\W+\w*[A-ZÀ-Ý]")
_JOINED_PLACES = re.compile(r"\W*(?:(?:and|or|e|ed|o|et|ou|und|oder|y|u|ve|veya)\s+)?", re.IGNORECASE)
_TURKISH_SUFFIX = re.compile(r"['’]\w+")


@dataclass(frozen=True, slots=True)
class FollowUpPatterns:
    """The patterns of follow-up questions in one language; data/follow_ups.toml explains each."""

    language: str
    opened: re.Pattern[str]
    about: re.Pattern[str]
    bare: re.Pattern[str]
    asking: re.Pattern[str]
    determiner: re.Pattern[str]
    measure: re.Pattern[str]
    subjectless: re.Pattern[str]
    anaphor: re.Pattern[str]
    possessive: re.Pattern[str]
    clause: re.Pattern[str]
    expletive: re.Pattern[str]
    definition: re.Pattern[str]
    definite: re.Pattern[str]
    request: re.Pattern[str]
    nominal: re.Pattern[str]
    drops_subject: bool
    determined: re.Pattern[str]
    placed: re.Pattern[str]
    complement: re.Pattern[str]
    located: Mapping[str, str]
    ordinal: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class PlacePhrase:
    """A place with its words: "in the Netherlands" has a preposition, an article and a name."""

    preposition: str
    article: str
    name: str
    countries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leaning:
    """A question without its subject, as `patterns` know it; "And in Spain?" asks of a `place`.

    It is `sure` unless the question may be complete as well.
    """

    patterns: FollowUpPatterns
    place: PlacePhrase | None = None
    sure: bool = True


@cache
def load_follow_up_patterns() -> Mapping[str, FollowUpPatterns]:
    """Return the patterns of every language by its ISO 639-1 code, read once."""
    table = read_table("follow_ups")
    return {language: _patterns(language, entry) for language, entry in table.items()}


def find_ellipsis(question: str, language: str, gazetteer: Gazetteer) -> Leaning | None:
    """Return how a question leans on the one before it, or None if it stands alone.

    It leans by one of these:

    - a word of asking alone ("why?")
    - a place, a year, another complement or a subject alone ("and in Spain?")
    - a word that stands for something named before ("is it binding?")
    - too few words to name what is asked of ("how much does it cost?", "are there exceptions?")

    Openings of a follow-up are searched in every language, since people mix them; all else only in the question's own.

    >>> from rag_engine.geography import load_gazetteer
    >>> find_ellipsis("Who pays for flood damage?", "en", load_gazetteer()) is None
    True
    """
    # Places are found in the normal form C.
    asked = unicodedata.normalize("NFC", question.strip(MARKS))
    words = asked.split()
    if not words or len(asked) > _LONGEST:
        return None
    tables = load_follow_up_patterns()
    own = tables.get(language)
    # "O que é" asks in Portuguese; read as Spanish it would begin with "or".
    alone = own is not None and own.asking.search(asked) is not None
    # "O" is "or" in Italian, and an article in Portuguese.
    alone = alone or fold(words[0]) in stopwords(language)
    for patterns in (*filter(None, [own]), *(table for table in tables.values() if table is not own and not alone)):
        found = _by_opening(asked, question, patterns, gazetteer)
        if found:
            return found
    # What ends in a full stop tells of a case, in which somebody may be "they".
    if own and (not question.rstrip().endswith(".") or own.request.match(asked)):
        sure = _leans(asked, own, gazetteer, marked=question.rstrip().endswith("?"))
        return None if sure is None else Leaning(own, sure=sure)
    return None


def read_place(text: str, patterns: FollowUpPatterns, gazetteer: Gazetteer) -> PlacePhrase | None:
    """Return the place that is the whole text, or None."""
    mentions = [mention for mention in place_mentions(text, gazetteer, patterns.language) if not mention[0].adjective]
    if not mentions:
        return None
    position = mentions[0][1]
    for _, start, end in mentions:
        if start > position and not _JOINED_PLACES.fullmatch(text[position:start]):
            return None
        position = max(position, turkish_end(text, end, patterns))
    before = patterns.determined.fullmatch(text[: mentions[0][1]])
    if before is None or text[position:].strip():
        return None
    countries = tuple(dict.fromkeys(name for form, _, _ in mentions for name in form.countries))
    return PlacePhrase(
        (before["preposition"] or "").lower(),
        (before["article"] or "").lower(),
        text[mentions[0][1] : position],
        countries,
    )


def turkish_end(text: str, end: int, patterns: FollowUpPatterns) -> int:
    """Return where a name ends together with the case that Turkish writes after an apostrophe."""
    suffix = _TURKISH_SUFFIX.match(text, end) if patterns.language == "tr" else None
    return suffix.end() if suffix else end


def content_words(text: str, language: str) -> list[str]:
    """Return the folded words of a text that are no function words of its language.

    >>> content_words("What is the sea wall?", "en")
    ['sea', 'wall']
    """
    ordinary = stopwords(language)
    words = (fold(word) for word in _WORD.findall(text))
    return [word for word in words if word not in ordinary and (len(word) > 1 or word.isdigit())]


def without_ordinals(question: str, language: str) -> str:
    """Return a question without the words that pick one of several things: "the second one"."""
    patterns = load_follow_up_patterns().get(language)
    return patterns.ordinal.sub(" ", question) if patterns else question


def _by_opening(asked: str, question: str, patterns: FollowUpPatterns, gazetteer: Gazetteer) -> Leaning | None:
    if patterns.bare.fullmatch(asked):
        return Leaning(patterns)
    about = patterns.about.match(asked)
    opened = about or patterns.opened.match(asked)
    rest = asked[opened.end() :].strip() if opened else asked
    if not rest or patterns.asking.search(rest):
        return None
    place = read_place(rest, patterns, gazetteer)
    if place and (opened or place.preposition or question.rstrip().endswith("?")):
        return Leaning(patterns, place)
    if _YEAR.fullmatch(rest) and (opened or question.rstrip().endswith("?")):
        return Leaning(patterns)
    if not opened:
        return None
    announced = about or patterns.complement.match(rest)
    if not (announced or question.rstrip().endswith("?")):
        return None
    # An article at most: more function words make a sentence.
    spare = _COMPLEMENT_WORDS if announced else 1
    return Leaning(patterns) if _is_complement(rest, patterns, gazetteer, spare) else None


def _is_complement(rest: str, patterns: FollowUpPatterns, gazetteer: Gazetteer, spare: int) -> bool:
    """Return whether a few words ask of no place, `spare` of them function words at most."""
    words, content = _WORD.findall(rest), content_words(rest, patterns.language)
    if not 0 < len(content) <= _COMPLEMENT_CONTENT or len(words) > min(_COMPLEMENT_WORDS, len(content) + spare):
        return False
    return not any(True for _ in place_mentions(rest, gazetteer, patterns.language))


def _leans(asked: str, patterns: FollowUpPatterns, gazetteer: Gazetteer, *, marked: bool) -> bool | None:
    """Return whether a question surely leans on the one before it (True), may (False), or does not (None)."""
    opened = patterns.opened.match(asked)
    rest = asked[opened.end() :] if opened else asked
    request = patterns.request.match(rest)
    rest = rest[request.end() :] if request else rest
    named = any(True for _ in place_mentions(rest, gazetteer, patterns.language))
    if not named and patterns.subjectless.fullmatch(rest):
        return True
    if _SENTENCE_END.search(rest):
        return None
    asks = marked or request is not None or patterns.asking.search(rest) is not None
    bound = _words_of_antecedent(rest, patterns, asks=asks)
    if bound < _LEAST_ANTECEDENT:
        return bound == 0
    # A short question's language may be mistaken.
    defined = any(table.definition.search(asked) for table in load_follow_up_patterns().values())
    if named or defined or not asks or (patterns.language != "de" and _NAME.search(rest)):
        return None
    return _too_short(rest, patterns, opened=opened is not None)


def _words_of_antecedent(rest: str, patterns: FollowUpPatterns, *, asks: bool) -> int:
    """Return how many words of content may name what an anaphor stands for, at most _LEAST_ANTECEDENT.

    A pronoun of a question and what it stands for are in two clauses; a possessive may stand for a word of its own
    clause. "It" in "it is true that" stands for nothing.
    """
    empty = [match.span() for match in patterns.expletive.finditer(rest)]
    fewest = _LEAST_ANTECEDENT
    for pattern in (patterns.anaphor, patterns.possessive):
        for match in pattern.finditer(rest):
            if any(start < match.end() and match.start() < end for start, end in empty):
                continue
            before = rest[: match.start()]
            if pattern is patterns.anaphor and asks:
                clauses = [one.start() for one in patterns.clause.finditer(rest) if one.end() <= match.start()]
                before = rest[: max(clauses, default=0)]
            count = len(content_words(before, patterns.language))
            # "How many members does its board have?" asks of members, and stands for something else.
            if pattern is patterns.possessive and count and not patterns.determiner.match(rest):
                continue
            fewest = min(fewest, count)
    return fewest


def _too_short(rest: str, patterns: FollowUpPatterns, *, opened: bool) -> bool | None:
    """Return whether words surely name too little to be complete (True), may (False), or do not (None)."""
    asking = patterns.asking.search(rest)
    without = patterns.measure.sub(" ", patterns.asking.sub(" ", patterns.determiner.sub(" ", rest)))
    words = content_words(without, patterns.language)
    if not words:
        return asking is not None
    # A verb or a noun directly behind the word of asking: "who pays?", "which exceptions?"
    behind = _WORD.findall(rest[asking.end() :]) if asking else []
    determined = patterns.determiner.search(rest)
    if len(words) > 1:
        nouns = content_words(rest[determined.end() :], patterns.language) if determined else []
        known = patterns.definite.search(rest) is not None
        closed = len(words) == 2 and nouns[-2:] == words and fold(_WORD.findall(rest)[-1]) == words[1]
        return False if len(words) == 2 and (opened or closed or known) else None
    return len(behind) == 1 or (patterns.drops_subject and patterns.nominal.search(rest) is None)


def _patterns(language: str, entry: Mapping[str, object]) -> FollowUpPatterns:
    def written(name: str) -> str:
        value = entry.get(name, _NEVER)
        return str(value) if not isinstance(value, list) else "|".join(f"(?:{one})" for one in value) or _NEVER

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(pattern, re.IGNORECASE)

    opener, article = rf"^(?:{written('openers')})\s+", rf"(?P<article>{written('article')})"
    place, possessive = written("place"), written("possessive")
    after = r"(?:\s+|(?<=['’]))"
    located = entry.get("located", {})
    assert isinstance(located, dict)
    return FollowUpPatterns(
        language=language,
        opened=compiled(opener),
        about=compiled(rf"(?:{opener})?(?:{written('about')})\s*"),
        bare=compiled(written("bare")),
        asking=compiled(rf"(?<!\w)(?:{written('interrogatives')})(?!\w)"),
        determiner=compiled(rf"(?<!\w)(?:{written('determiners')})(?!\w)"),
        measure=compiled(rf"(?<!\w)(?:{written('measures')})(?!\w)"),
        subjectless=compiled(written("subjectless")),
        anaphor=compiled(rf"(?<![\w'’-])(?:{written('anaphors')})(?!\w)"),
        possessive=compiled(rf"(?<![\w'’-])(?:{written('possessives')})(?!\w)"),
        clause=compiled(written("clauses")),
        expletive=compiled(written("expletives")),
        definition=compiled(written("definitions")),
        definite=compiled(written("definite")),
        request=compiled(rf"(?:{written('requests')})(?!\w)"),
        nominal=compiled(written("nominal")),
        drops_subject=entry.get("drops_subject") is True,
        # German "der" may be either: in front of a name alone it is an article.
        determined=compiled(
            rf"(?:(?P<preposition>{place}|(?!(?:{written('article')})(?!\w))(?:{possessive})){after})?"
            rf"(?:{article}{after})?"
        ),
        placed=compiled(
            rf"(?:(?<![\w'’])(?:(?P<place>{place})|(?P<possessive>{possessive})){after})?"
            rf"(?:(?<![\w'’]){article}{after})?$"
        ),
        complement=compiled(rf"(?:{written('prepositions')})\s"),
        located={str(key): str(value) for key, value in located.items()},
        ordinal=compiled(rf"(?<!\w)(?:{written('ordinals')})(?!\w)"),
    )
