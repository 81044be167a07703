"""A question to the plan of a search.

The plan is made by rules for seven languages, and by a language model if one answers (Buriasco 2026, section 5.3.1).
The model's plan is checked; if it fails, the rules' plan is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from rag_engine import prompts
from rag_engine.config import Config
from rag_engine.errors import BackendError, InputError
from rag_engine.geography import Gazetteer, find_places
from rag_engine.messages import Message
from rag_engine.planning.instructions import QUOTED, Phrasing, carried, load_phrasing, separate
from rag_engine.planning.states import with_states
from rag_engine.protocols import Generator
from rag_engine.text.folding import fold
from rag_engine.types.evidence import GeographicScope, QueryPlan

CONTENT_WORDS = 15
TERM_WORDS = 10
QUERY_CHARACTERS = (5, 200)

_WORD = re.compile(r"\w+(?:[-./&]\w+)*")
_APOSTROPHE = re.compile("(?<=\\w)['’](?=\\w)")
_ACRONYM = re.compile(r"(?<![\w.-])[^\W\d_]{2,5}\d{0,3}(?!\w)")
_ROMAN = re.compile("[IVXL]+")
_NUMBER = re.compile(r"(?<!\w)(?:(?:art\w*|§)\.?\s*)?\d+(?:[.,/:-]\d+)*(?:\s*(?:%|°\s?C|[^\W\d_]+))?", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w'’])[^\W\d_]+(?:-[^\W\d_]+)*(?!\w)")
_OPENERS = frozenset('.?!:¿¡«“„"')
_EXPANSION = re.compile(r"((?:[\w'’-]+\s+){1,8})\(([^\W\d_]{2,6})\)|(?<!\w)([^\W\d_]{2,6})\s*\(([^()]{6,80})\)")


def plan_question(
    question: str,
    *,
    identify: Callable[[str], str],
    gazetteer: Gazetteer,
    generator: Generator | None,
    config: Config,
) -> QueryPlan:
    """Return the plan for a question: its search, the form of its answer, and its places.

    InputError for a question without a letter or digit or longer than `config.question_characters`.

    >>> from pathlib import Path
    >>> from rag_engine.geography import load_gazetteer
    >>> plan = plan_question("Türkiye'de sel riski nedir?", identify=lambda _: "tr", gazetteer=load_gazetteer(),
    ...     generator=None, config=Config(Path()))
    >>> plan.queries, plan.scope.countries
    (("Türkiye'de sel riski nedir?", 'Türkiye sel riski'), ('Turkey',))
    """
    question = question.strip()
    if not any(character.isalnum() for character in question):
        raise InputError(
            "The question {question!r} has no word in it." if question else "The question is empty.",
            help="Ask in a few words what you want to find.",
            question=question[:40],
        )
    if len(question) > config.question_characters:
        raise InputError(
            "The question has {length:,} characters; {limit:,} are allowed.",
            help="Shorten it, or add long texts to the collection and ask about them.",
            length=len(question),
            limit=config.question_characters,
        )
    phrasing = load_phrasing()
    plan = _plan_by_rules(question, identify, gazetteer, phrasing)
    if generator is None:
        return plan
    try:
        reply = generator.complete_json(
            prompts.PLANNER_RULES,
            prompts.planner_message(question),
            prompts.PLANNER_SCHEMA,
            seconds=config.generation.planner_seconds,
        )
        queries = _model_queries(reply)
    except BackendError as error:
        return replace(
            plan, warnings=(*plan.warnings, Message("The question was planned by rules: {error}", error=error))
        )
    instructions = reply.get("output_instructions")
    wished = carried(instructions, question, phrasing) if isinstance(instructions, str) else ""
    return replace(
        plan,
        # The question itself comes first: a model's variants can only add to its results.
        queries=_distinct((plan.queries[0], *queries)),
        output_instructions=wished or plan.output_instructions,
        scope=_named_scope(reply.get("geographic_scope"), plan, gazetteer),
        planner=generator.name,
    )


def _plan_by_rules(
    question: str, identify: Callable[[str], str], gazetteer: Gazetteer, phrasing: Phrasing
) -> QueryPlan:
    language = identify(question)
    separated = separate(question, phrasing)
    sought = separated.question
    acronyms = _acronyms(sought, language, gazetteer, phrasing)
    # In quotation marks of any style.
    quotes = (next(filter(None, match.groups())) for match in QUOTED.finditer(sought))
    quoted = [" ".join(quote.split()).strip(" .,;") for quote in quotes if re.search(r"\w", quote)]
    content = _content_words(phrasing.example.sub(r" \1", sought), language, acronyms, phrasing)[:CONTENT_WORDS]
    terms = _terms(sought, language, acronyms, quoted, phrasing)
    return QueryPlan(
        question=question,
        language=language,
        queries=_distinct((sought, " ".join(content), " ".join(terms))),
        keywords=tuple(dict.fromkeys((*acronyms, *quoted))),
        output_instructions=separated.instructions,
        scope=with_states(find_places(sought, gazetteer, language), sought),
    )


def _model_queries(reply: dict[str, object]) -> tuple[str, ...]:
    """Return the model's three queries, cut at their word limits.

    BackendError if a query is missing, too short or too long.
    """
    queries: list[str] = []
    shortest, longest = QUERY_CHARACTERS
    for key, limit in (("query_1", CONTENT_WORDS), ("query_2", CONTENT_WORDS), ("query_3", TERM_WORDS)):
        value = reply.get(key)
        if not isinstance(value, str):
            raise BackendError("the model's plan has no {key}.", key=key)
        query = " ".join(value.split()[:limit])
        if not shortest <= len(query) <= longest or not any(character.isalnum() for character in query):
            raise BackendError(
                "the model's {key} has {count} characters, not {shortest} to {longest}.",
                key=key,
                count=len(query),
                shortest=shortest,
                longest=longest,
            )
        queries.append(query)
    return tuple(queries)


def _named_scope(named: object, plan: QueryPlan, gazetteer: Gazetteer) -> GeographicScope:
    """Return the places of the plan, with the places of a model that the question names.

    The rules follow the language of the question and pass over words that may be a place in another language; a model
    knows better. A place that a model invents would boost the wrong documents and get an answer refused.
    """
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    given, mentioned = find_places("; ".join(names), gazetteer), find_places(plan.queries[0], gazetteer)
    return GeographicScope(
        tuple(
            dict.fromkeys(
                (*plan.scope.countries, *(country for country in given.countries if country in mentioned.countries))
            )
        ),
        tuple(
            dict.fromkeys((*plan.scope.regions, *(region for region in given.regions if region in mentioned.regions)))
        ),
        plan.scope.states,
    )


def _distinct(queries: Sequence[str]) -> tuple[str, ...]:
    """Return the queries that find something new.

    A query with the words of an earlier one is left out. A third query is left out if it repeats a single word or more
    than half of the second. Half a question is a change of focus; nearly all of it is the same question.
    """
    kept: list[str] = []
    earlier: list[set[str]] = []
    for query in queries:
        words = {fold(word) for word in _pieces(query)}
        if not words or any(words == other for other in earlier):
            continue
        if len(earlier) == 2 and words < earlier[1] and (len(words) == 1 or 2 * len(words) > len(earlier[1])):
            continue
        kept.append(query)
        earlier.append(words)
    return tuple(kept)


def _pieces(text: str) -> list[str]:
    """Return the words of the text; an apostrophe separates words."""
    return [match.group() for match in _WORD.finditer(_APOSTROPHE.sub(" ", text))]


def _content_words(text: str, language: str, acronyms: Collection[str], phrasing: Phrasing) -> list[str]:
    """Return the words that carry the question, each once, in its order."""
    stop_words = phrasing.stop_words.get(language, frozenset())
    # What follows the apostrophe is an ending in Turkish, a word in French and Italian.
    text = re.sub("(?<=\\w)['’]\\w+", "", text) if language == "tr" else text
    words: dict[str, str] = {}
    for word in _pieces(text):
        if word in acronyms or (fold(word) not in stop_words and (len(word) > 1 or word.isdigit())):
            words.setdefault(fold(word), word)
    return list(words.values())


def _acronyms(text: str, language: str, gazetteer: Gazetteer, phrasing: Phrasing) -> list[str]:
    """Return acronyms of two to five capitals.

    Emphasis (NOT, ALL) and Roman numerals do not count; a question in capitals has none.
    """
    if _is_shouted(text):
        return []
    stop_words = phrasing.stop_words.get(language, frozenset())
    known = {acronym for table in phrasing.acronyms.values() for acronym in table}
    found: dict[str, None] = {}
    for match in _ACRONYM.finditer(QUOTED.sub(lambda quote: " " * len(quote.group()), text)):
        word = match.group()
        if not word.isupper() or _ROMAN.fullmatch(word):
            continue
        if fold(word) not in stop_words or word in known or find_places(word, gazetteer):
            found[word] = None
    return list(found)


def _terms(text: str, language: str, acronyms: Sequence[str], quoted: Sequence[str], phrasing: Phrasing) -> list[str]:
    """Return the explicit terms, each word once.

    They are examples, quotations, spelled-out acronyms, numbers and names.
    """
    sources: list[str] = [match.group(1) for match in phrasing.example.finditer(text)]
    sources += quoted
    for acronym in acronyms:
        sources += (acronym, _expansion(acronym, text, language, phrasing))
    sources += [match.group() for match in _NUMBER.finditer(text)]
    sources += _names(text, language)
    words: dict[str, str] = {}
    for source in sources:
        for word in _content_words(source, language, acronyms, phrasing):
            words.setdefault(fold(word), word)
    return list(words.values())[:TERM_WORDS]


def _expansion(acronym: str, text: str, language: str, phrasing: Phrasing) -> str:
    """Return the expansion of an acronym, or "".

    It comes from the question itself, else from the question's language, else from English.
    """
    for before, inside, outside, after in _EXPANSION.findall(text):
        if outside == acronym:
            return str(after)
        if inside == acronym:
            spelled = [word for word in before.split() if fold(word) not in phrasing.stop_words.get(language, ())]
            return " ".join(spelled[-len(acronym) :])
    for table in (language, "en"):
        if acronym in phrasing.acronyms.get(table, {}):
            return phrasing.acronyms[table][acronym]
    return ""


def _names(text: str, language: str) -> Iterator[str]:
    """Yield the words with a capital, except one that opens a sentence.

    German gives none, because every noun has a capital.
    """
    if language == "de" or _is_shouted(text):
        return
    for match in _NAME.finditer(text):
        name = match.group()
        opening = match.start() == 0 or text[: match.start()].rstrip()[-1:] in _OPENERS
        if name[0].isupper() and not opening and not _ROMAN.fullmatch(name):
            yield name


def _is_shouted(text: str) -> bool:
    words = [word for word in _pieces(text) if not word.isdigit()]
    return len(words) > 3 and not any(character.islower() for character in text)
