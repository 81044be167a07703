"""Rewriting of a follow-up question by a language model if one answers, else by rules."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_engine import prompts
from rag_engine.config import Config
from rag_engine.errors import BackendError
from rag_engine.geography import Gazetteer, find_places, load_gazetteer, place_mentions
from rag_engine.messages import Message
from rag_engine.planning.ellipsis import (
    MARKS,
    FollowUpPatterns,
    Leaning,
    PlacePhrase,
    content_words,
    find_ellipsis,
    turkish_end,
    without_ordinals,
)
from rag_engine.protocols import Generator
from rag_engine.text.folding import fold
from rag_engine.text.stop_words import stopwords

# Questions before the last one that a language model is shown.
_SHOWN = 3
_TITLES = 4
# Characters of a rewritten question beyond the length of its two parts.
_JOINING = 40
# Letters by which a word is known in another of its forms.
_STEM = 5

_TOGETHER = re.compile(r"\s*(?:,|/|and|or|e|o|et|ou|und|oder|y|u|ve)?\s*(?:the\s+|l['’])?", re.IGNORECASE)
_ENDING = " \t\n?!.…"
_LOCATIVE = re.compile(r"['’]?[dt][ae]$")
_HARD = "fstkçşhp"
# Languages in which a country's name has no article as a rule, so that one name can take another's place.
_WITHOUT_ARTICLE = ("de", "es")
_ADJECTIVE_AFTER_NOUN = ("it", "fr", "es", "pt")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question as it was asked before, and the titles of the documents that its answer cites.

    `chance` is the best chance of a passage to answer it, None if it is not known.
    """

    question: str
    titles: tuple[str, ...] = ()
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class FollowUp:
    """The full form of a question that leans on another; `by` is "rules" or the model's name.

    `searched` is what is searched for in its place, so that the one before is not answered again. Unless it is `sure`,
    the question may be complete as well; `before` is then the chance of the one before it. `asked` says whether the
    full form is asked, and not the question as it is written.
    """

    question: str
    by: str
    warnings: tuple[Message, ...] = ()
    searched: str = ""
    sure: bool = True
    before: float | None = None
    asked: bool = True


def rewrite(
    question: str, before: Sequence[Exchange], *, language: str, generator: Generator | None, config: Config
) -> FollowUp | None:
    """Return the full form of a question after the ones before it, or None if it stands alone.

    The latest question is last. The rules decide whether it leans on them, so that no model changes a question that
    needs nothing. A model's wording is used if it adds no word from outside the conversation and drops none of the
    question's.
    """
    gazetteer = load_gazetteer()
    ellipsis = find_ellipsis(question, language, gazetteer)
    leant_on = next((one for one in reversed(before) if _can_be_leant_on(one.question, language, gazetteer)), None)
    if ellipsis is None or leant_on is None:
        return None
    by_rules = _completed(leant_on.question, question, ellipsis, gazetteer)
    if len(by_rules) > config.question_characters:
        return None
    in_front = by_rules.endswith(question.strip())
    searched = _behind_subject(by_rules, question, ellipsis.patterns) if in_front else by_rules
    ruled = FollowUp(by_rules, "rules", searched=searched, sure=ellipsis.sure, before=leant_on.chance)
    if generator is None or not ellipsis.sure:
        return ruled
    shown = before[-_SHOWN:]
    try:
        reply = generator.complete_json(
            prompts.FOLLOW_UP_RULES,
            prompts.follow_up_message([(exchange.question, exchange.titles[:_TITLES]) for exchange in shown], question),
            prompts.FOLLOW_UP_SCHEMA,
            seconds=config.generation.planner_seconds,
        )
        worded = _checked(reply.get("question"), question, shown, language)
        if kept := _other_places(worded, question, by_rules, language):
            raise BackendError("the model still asks of {kept}.", kept=", ".join(kept))
        return FollowUp(worded, generator.name, searched=worded)
    except BackendError as error:
        warning = Message("The follow-up question was rewritten by rules: {error}", error=error)
        return replace(ruled, warnings=(warning,))


def _checked(reply: object, question: str, before: Sequence[Exchange], language: str) -> str:
    """Return a model's question on one line; BackendError if it is not the person's made complete."""
    written = " ".join(reply.split()) if isinstance(reply, str) else ""
    if not any(character.isalnum() for character in written):
        raise BackendError("the model wrote no question.")
    carried = [
        *(exchange.question for exchange in before),
        *(title for exchange in before for title in exchange.titles[:_TITLES]),
    ]
    longest = len(question) + max(map(len, carried)) + _JOINING
    if len(written) > longest:
        raise BackendError(
            "the model's question has {count} characters, more than {longest}.", count=len(written), longest=longest
        )
    known, made = _stems(" ".join((question, *carried)), language), _stems(written, language)
    if added := sorted(made - known):
        raise BackendError("the model added {added}.", added=", ".join(added[:5]))
    # "The second one" is named, not repeated.
    if dropped := sorted(_stems(without_ordinals(question, language), language) - made):
        raise BackendError("the model left out {dropped}.", dropped=", ".join(dropped[:5]))
    if not made & _stems(" ".join(carried), language) - _stems(question, language):
        raise BackendError("the model's question still leans on the one before.")
    return written


def _other_places(worded: str, question: str, by_rules: str, language: str) -> list[str]:
    """Return the countries that a model's question keeps although another place is asked of."""
    gazetteer = load_gazetteer()
    if not find_places(question, gazetteer, language).countries:
        return []
    asked = find_places(by_rules, gazetteer, language).countries
    return [name for name in find_places(worded, gazetteer, language).countries if name not in asked]


def _stems(text: str, language: str) -> set[str]:
    """Return the first letters of a text's words of content, by which their forms are alike."""
    return {word[:_STEM] for word in content_words(re.sub(r"['’]", " ", text).strip(MARKS), language)}


def _can_be_leant_on(question: str, language: str, gazetteer: Gazetteer) -> bool:
    """Return whether a question has words, and does not surely lean on another itself."""
    ellipsis = find_ellipsis(question, language, gazetteer)
    return bool(question.strip()) and not (ellipsis and ellipsis.sure)


def _completed(before: str, question: str, ellipsis: Leaning, gazetteer: Gazetteer) -> str:
    """Return the full form of a question that leans on the one before it."""
    before = unicodedata.normalize("NFC", " ".join(before.split()))
    # Both places would be searched for if the question before were put in front.
    moved = asked_of(before, ellipsis.place, ellipsis.patterns, gazetteer) if ellipsis.place else ""
    return moved or _in_front(before, question)


def _in_front(before: str, question: str) -> str:
    """Return the question behind the first and the last sentence of the question before it."""
    sentences = _sentences(before)
    kept = [sentences[0], *sentences[1:][-1:]] if sentences else [before]
    opening = " ".join(kept)
    return f"{opening}{'' if opening[-1] in '?!.…' else '.'} {question.strip()}"


def _sentences(text: str) -> list[str]:
    parted = re.split(r"(?<=[?!.…])\s+(?=[^\W\d_]|[¿¡])", text.strip())
    return [one for one in parted if one.strip(MARKS)]


def _behind_subject(full: str, question: str, patterns: FollowUpPatterns) -> str:
    """Return a question behind the subjects of those before it: "local flood plan: who pays for it?".

    Of those before it the word of asking is left out, with the function words behind it.
    """
    ordinary, subjects = stopwords(patterns.language), []
    for sentence in _sentences(full.strip().removesuffix(question.strip())):
        words = patterns.asking.sub(" ", sentence.strip(MARKS)).split()
        kept = itertools.dropwhile(lambda word: fold(word) in ordinary, words)
        subjects.append(" ".join(kept))
    asked = patterns.opened.sub("", question.strip())
    return f"{', '.join(filter(None, subjects))}: {asked}"


@dataclass(frozen=True, slots=True)
class _PlaceSpan:
    """Characters [start, end) of a question that name places."""

    start: int
    end: int
    adjective: bool
    countries: tuple[str, ...]
    several: bool = False


def asked_of(before: str, place: PlacePhrase, patterns: FollowUpPatterns, gazetteer: Gazetteer) -> str:
    """Return the question before, asked of another place; "" where its grammar does not allow that."""
    named = _named(before, patterns, gazetteer)
    there = _there(place, patterns)
    if not named:
        return _with_complement(before, there, patterns.language) if there else ""
    alike = [span for span in named if bool(span.countries) == bool(place.countries)]
    old = (alike or named)[-1]
    if old.adjective:
        return _other_adjective(before, old, place, patterns, gazetteer)
    if patterns.language == "tr":
        return _other_turkish_name(before, old, place)
    return _other_name(before, old, place, patterns)


def _other_name(before: str, old: _PlaceSpan, place: PlacePhrase, patterns: FollowUpPatterns) -> str:
    head = patterns.placed.search(before[: old.start])
    assert head is not None, "it matches an empty end"
    located, possessive, article = head["place"], head["possessive"], head["article"]
    # Two subjects have another form of the verb than one.
    if old.several and not located and not possessive:
        return ""
    start, there = head.start(), _there(place, patterns)
    if patterns.language == "en":
        start = head.start("article") if article else old.start
        return _replaced(before, start, old.end, _opened(place.article, place.name))
    if place.preposition:
        # A German genitive has its s, and no preposition.
        if located or possessive or (patterns.language == "de" and before[: old.end].endswith("s")):
            return _replaced(before, start, old.end, there)
        plain = patterns.language in _WITHOUT_ARTICLE and not article and not place.article
        # The preposition holds no article.
        plain = plain and place.preposition == patterns.located.get("", "").strip()
        return _replaced(before, old.start, old.end, place.name) if plain else ""
    if not located and not possessive and bool(article) == bool(place.article):
        return _replaced(before, start, old.end, _opened(place.article, place.name))
    return _replaced(before, start, old.end, there) if located and there else ""


def _other_adjective(
    before: str, old: _PlaceSpan, place: PlacePhrase, patterns: FollowUpPatterns, gazetteer: Gazetteer
) -> str:
    """Return the question with another country's adjective, or with the place if adjectives inflect."""
    if patterns.language in ("en", "tr"):
        adjective = _adjective(place.countries, patterns.language, gazetteer)
        return before[: old.start] + adjective + before[old.end :] if adjective else ""
    there = _there(place, patterns)
    if not there:
        return ""
    if patterns.language in _ADJECTIVE_AFTER_NOUN:
        return before[: old.start] + there + before[old.end :]
    return _with_complement(before[: old.start] + before[old.end :].lstrip(), there, patterns.language)


def _other_turkish_name(before: str, old: _PlaceSpan, place: PlacePhrase) -> str:
    written = before[old.start : old.end]
    new, there = place.name, _LOCATIVE.search(place.name) is not None
    if _LOCATIVE.search(written):
        return _replaced(before, old.start, old.end, new if there else _turkish_locative(new))
    inflected = "'" in written or "’" in written
    if (there and inflected) or (not there and not inflected):
        return _replaced(before, old.start, old.end, new)
    return ""


def _there(place: PlacePhrase, patterns: FollowUpPatterns) -> str:
    """Return the place as where something is, "" where its preposition is not known."""
    if place.preposition:
        return _opened(place.preposition, _opened(place.article, place.name))
    if patterns.language == "tr":
        return place.name if _LOCATIVE.search(place.name) else _turkish_locative(place.name)
    opening = patterns.located.get(place.article)
    return f"{opening}{place.name}" if opening else ""


def _opened(opener: str, name: str) -> str:
    """Return a name behind its article or preposition, if it has one.

    After an elision such as "l'" there is no blank.
    """
    gap = "" if not opener or opener.endswith(("'", "’")) else " "
    return f"{opener}{gap}{name}"


def _turkish_locative(name: str) -> str:
    """Return a name in the locative: Fransa'da, Bulgaristan'da, Mısır'da, Irak'ta, Türkiye'de."""
    vowels = [letter for letter in name.lower() if letter in "aıoueiöü"]
    vowel = "a" if vowels and vowels[-1] in "aıou" else "e"
    return f"{name}'{'t' if name[-1].lower() in _HARD else 'd'}{vowel}"


def _adjective(countries: Sequence[str], language: str, gazetteer: Gazetteer) -> str:
    """Return the first adjective for one country in the table of places, or ""."""
    if len(countries) != 1:
        return ""
    forms = (form for same in gazetteer.forms.values() for form in same if form.adjective)
    found = (form for form in forms if form.language == language and form.countries == tuple(countries))
    return " ".join(next((form.words for form in found), ()))


def _named(text: str, patterns: FollowUpPatterns, gazetteer: Gazetteer) -> list[_PlaceSpan]:
    """Return where a question names places; names that a comma or "and" joins are one."""
    found: list[_PlaceSpan] = []
    for form, start, written in place_mentions(text, gazetteer, patterns.language):
        if not form.countries and not form.regions:
            continue
        end = turkish_end(text, written, patterns)
        last = found[-1] if found else None
        # "Noruega" is a country and a form of "noruego".
        if last and last.start == start:
            found[-1] = _PlaceSpan(start, end, last.adjective and form.adjective, (*last.countries, *form.countries))
        elif last and last.adjective == form.adjective and _TOGETHER.fullmatch(text[last.end : start]):
            found[-1] = _PlaceSpan(last.start, end, last.adjective, (*last.countries, *form.countries), several=True)
        else:
            found.append(_PlaceSpan(start, end, form.adjective, form.countries))
    return found


def _with_complement(before: str, phrase: str, language: str) -> str:
    """Return a question with one more complement: at its end, in Turkish at its start."""
    if language == "tr":
        # An abbreviation keeps its capitals.
        abbreviated = sum(letter.isupper() for letter in before.split(maxsplit=1)[0]) > 1
        first = before[0] if abbreviated else "i" if before[0] == "İ" else before[0].lower()
        return f"{phrase[:1].upper()}{phrase[1:]} {first}{before[1:]}"
    body = before.rstrip(_ENDING)
    return f"{body} {phrase}{before[len(body) :].rstrip()}"


def _replaced(text: str, start: int, end: int, new: str) -> str:
    """Return a text with other words in place of [start, end), with a capital if they open it."""
    opens = not text[:start].strip(MARKS)
    return text[:start] + (new[:1].upper() + new[1:] if opens else new) + text[end:]
