"""Rewriting of a follow-up question by rules, so that it stands alone.

"And in Spain?" becomes the question before, asked of Spain. Where the words of the two cannot be joined without
breaking their grammar, the question before is put in front.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from rag_engine.geography import Gazetteer, place_mentions
from rag_engine.planning.leaning import FollowUpPatterns, Leaning, leaning, preposition_of, read_place
from rag_engine.planning.other_place import asked_of
from rag_engine.planning.question_parts import (
    as_in,
    body_of,
    capitalised,
    ending_of,
    sentences_of,
    uncapitalised,
    with_complement_added,
)

_YEAR = re.compile(r"(?<!\d)(?:18|19|20)\d\d(?!\d)(?:['’]\w+)?")
# A name of several words with capitals, as English writes titles: "Framework Convention on Climate Change".
_NAME = re.compile(r"(?<=\s)(?:the\s+)?[A-Z][\w’'-]*(?:\s+(?:(?:of|on|for|and|the|in)\s+){0,2}[A-Z][\w’'-]*)+")
_PHRASE_WORDS = 5
_REFERENT_WORDS = 5


def stand_alone(previous: Sequence[str], question: str, language: str, gazetteer: Gazetteer) -> str | None:
    """Return a follow-up question so that it stands alone, None where it does so already.

    `previous` are the questions before it, the latest last, each as it was asked; the latest that stands alone is what
    the question leans on. `language` is that of the question (ISO 639-1). Every word of the result is one of the two
    questions', but for words that join them, prepositions, and a country's adjective.
    """
    leans = leaning(question, language, gazetteer)
    if leans is None:
        return None
    kept = (unicodedata.normalize("NFC", " ".join(one.split())) for one in reversed(previous))
    before = next((one for one in kept if one and leaning(one, language, gazetteer) is None), "")
    if not before:
        return None
    return _joined(before, leans, gazetteer) or _in_front(before, question)


def _joined(before: str, leans: Leaning, gazetteer: Gazetteer) -> str:
    """Return one question made of the two, "" where only their sequence is right in every language."""
    match leans.way:
        case "asked":
            return _ask_more(before, leans)
        case "place":
            place = read_place(leans.rest, leans.patterns, gazetteer)
            return asked_of(before, place, leans.patterns, gazetteer) if place else ""
        case "year":
            return _in_year(before, leans)
        case "complement":
            return _with_complement(before, leans)
        case "anaphor":
            return _with_referent(before, leans, gazetteer)
        case "subject":
            return ""


def _in_front(before: str, question: str) -> str:
    """Return the question with what it leans on in front: the first and the last sentence of that."""
    sentences = list(sentences_of(before))
    kept = [sentences[0], *sentences[1:][-1:]] if sentences else [before]
    opening = " ".join(kept)
    return f"{opening}{'' if opening[-1] in '?!.…' else '.'} {question.strip()}"


def _ask_more(before: str, leans: Leaning) -> str:
    patterns, asked = leans.patterns, uncapitalised(leans.rest)
    body = body_of(before)
    if len(list(sentences_of(before))) > 1:
        return ""
    if patterns.fronted.fullmatch(asked) and before.endswith("?") and not patterns.interrogative.match(body):
        if patterns.language == "tr":
            return _asked_in_turkish(body, asked, patterns)
        spanish = "¿" if body.startswith("¿") else ""
        return f"{spanish}{capitalised(asked)} {uncapitalised(body.lstrip('¿'))}{ending_of(before)}"
    return patterns.joined.format(before=body, asked=asked)


def _asked_in_turkish(body: str, asked: str, patterns: FollowUpPatterns) -> str:
    """Return a question for yes or no with a word of asking in its place, in front of what is said."""
    statement = patterns.particle.sub("", body)
    if statement == body or " " not in statement:
        return patterns.joined.format(before=body, asked=asked)
    subject, _, said = statement.rpartition(" ")
    return f"{subject} {asked} {said}?"


def _in_year(before: str, leans: Leaning) -> str:
    asked, years = _YEAR.search(leans.rest), list(_YEAR.finditer(before))
    assert asked is not None, "a year was found in it"
    if len(years) == 1:
        return before[: years[0].start()] + asked.group() + before[years[0].end() :]
    if years or asked.start() == 0:
        return ""
    return with_complement_added(before, uncapitalised(leans.rest), leans.patterns.language)


def _with_complement(before: str, leans: Leaning) -> str:
    """Return the question before with a complement in the place of the one with the same preposition."""
    patterns = leans.patterns
    group = preposition_of(leans.rest, patterns)
    found = list(re.finditer(rf"(?<![\w'’])(?:{group})\s+", before, re.IGNORECASE))
    if not found:
        return with_complement_added(before, uncapitalised(leans.rest), patterns.language)
    if len(found) > 1:
        return ""
    start, after = found[0].span()
    end = _phrase_end(before, after, patterns)
    if len(before[after:end].split()) > _PHRASE_WORDS:
        return ""
    return before[:start] + as_in(before[:start], leans.rest) + before[end:]


def _phrase_end(text: str, start: int, patterns: FollowUpPatterns) -> int:
    """Return where the phrase ends that a preposition opens: at its noun in German, else at the next preposition."""
    if patterns.language == "de":
        noun = re.compile(r"[A-ZÄÖÜ][\w-]*").search(text, start)
        return noun.end() if noun else len(body_of(text))
    nexts = re.compile(rf"\s+(?:{'|'.join(patterns.prepositions)})(?=\s)|\s*[,;:?!.…]", re.IGNORECASE)
    following = nexts.search(text, start)
    return following.start() if following else len(text)


def _with_referent(before: str, leans: Leaning, gazetteer: Gazetteer) -> str:
    """Return the question with what its only pronoun stands for, where the question before names one thing."""
    patterns = leans.patterns
    pronouns = list(patterns.subject.finditer(leans.rest))
    if len(pronouns) != 1 or patterns.anaphor.sub("", leans.rest, count=1) != patterns.subject.sub("", leans.rest):
        return ""
    referent = _defined(before, patterns) or (_name(before, gazetteer) if patterns.language == "en" else "")
    if not referent:
        return ""
    start, end = pronouns[0].span()
    return capitalised(f"{leans.rest[:start]}{referent}{leans.rest[end:]}?")


def _defined(before: str, patterns: FollowUpPatterns) -> str:
    asked = patterns.definition.fullmatch(body_of(before))
    if asked is None or len(asked[1].split()) > _REFERENT_WORDS:
        return ""
    prepositions = re.compile(rf"\s(?:{'|'.join(patterns.prepositions)})\s", re.IGNORECASE)
    return "" if prepositions.search(asked[1]) else asked[1]


def _name(before: str, gazetteer: Gazetteer) -> str:
    """Return the only title that an English question has, with its article."""
    names = [match.group() for match in _NAME.finditer(body_of(before))]
    if len(names) != 1 or _is_place(names[0], gazetteer):
        return ""
    return names[0]


def _is_place(text: str, gazetteer: Gazetteer) -> bool:
    """Return whether an English text is nothing but a place."""
    mentions = list(place_mentions(text, gazetteer, "en"))
    return any(end - start >= len(text.removeprefix("the ")) for _, start, end in mentions)
