"""Example questions drawn from the documents of a collection, each of which the collection answers."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, zip_longest

from rag_engine.engine import Engine
from rag_engine.filters import DOCUMENT, Filter
from rag_engine.storage.catalog import set_state
from rag_engine.text.tables import read_table
from rag_engine.types import DocumentRecord

# Numbers and names of sections in front of a heading: "3.3", "II.", "§ 4", "Article 2:".
_NUMBER = re.compile(r"^(?:[§\W]*(?:\d+(?:\.\d+)*[a-z]?|[IVX]+|[A-Z])[.)]?\s+|§+\s*\d+[a-z]?\s*)(?=\w)")
# A section's label in front of what it is about: "Erster Abschnitt", "Seção II", "Chapter 3:".
_LABEL = re.compile(
    r"^(?:(?:erste|zweite|dritte|vierte|fünfte|sechste)[rs]?\s+(?:abschnitt|kapitel|teil|titel)"
    r"|(?:section|chapter|part|title|annex|abschnitt|kapitel|teil|titel|anhang|chapitre|partie|titre|annexe|capítulo"
    r"|sección|seção|título|parte|anexo|capo|sezione|titolo|allegato|bölüm|kısım)\s+(?:[ivxlc]+|\d+)\b)\W*(?=\w)",
    re.IGNORECASE,
)
_SECTION = re.compile(r"\w+\.?\s*(?:\d+[\w/.º°]*|[IVX]+)\W*", re.IGNORECASE)
_WORDS, _CHARACTERS = range(2, 10), range(12, 80)
# Documents that are tried, those of them in the language that is wanted where there are others, and candidates of each:
# they take no longer in a large collection, and keep the processor from a question that is asked meanwhile for a few
# searches at most. More are read, since many suggest nothing, as tables do.
_TRIED, _WANTED, _OF_ONE, _READ = 8, 5, 2, 40
# Characters of a text in which definitions are looked for.
_OPENING = 60_000
# Name under which the catalog keeps what was found, with the state of the collection that it was found in.
_KEPT = "example questions"


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question in the language of the document that it is drawn from."""

    question: str
    language: str
    document_id: str


def example_questions(engine: Engine, language: str) -> tuple[ExampleQuestion, ...]:
    """Return what `find_examples` does, looked for anew only where the collection has changed since.

    They are kept, so that a server that starts has them at once and its first question has the processor.
    """
    change = engine.catalog.change()
    kept = _kept(engine, change)
    if language in kept:
        return tuple(ExampleQuestion(**one) for one in kept[language])
    found = find_examples(engine, language)
    with engine.catalog.begin() as connection:
        # Read again: those in another language may have been found meanwhile.
        by_language = _kept(engine, change) | {language: [asdict(one) for one in found]}
        text = json.dumps({"change": change, "by language": by_language}, ensure_ascii=False)
        set_state(connection, _KEPT, text)
    return found


def _kept(engine: Engine, change: int) -> dict[str, list[dict[str, str]]]:
    """Return what is kept of this state of the collection, by the language that was wanted."""
    kept = json.loads(engine.catalog.state(_KEPT) or "{}")
    return dict(kept.get("by language", {})) if kept.get("change") == change else {}


def forget_examples(engine: Engine) -> None:
    """Keep no examples: their words may be those of a document that is erased."""
    with engine.catalog.begin() as connection:
        set_state(connection, _KEPT, "")


def find_examples(
    engine: Engine, language: str, only: Collection[str] = (), most: int = 4
) -> tuple[ExampleQuestion, ...]:
    """Return questions that the collection answers, each from another document: most in a language, one in another.

    With `only` they are drawn from the documents of these ids. A candidate counts where its own document is the best
    source and the evidence is enough. EncoderError where the collection cannot be searched.
    """
    documents = [one for one in engine.collection.documents() if not only or one.document_id in only]
    wanted = [one for one in reversed(documents) if one.metadata.language == language]
    others = _in_turn([one for one in documents if one.metadata.language != language])
    within = {DOCUMENT: tuple(only)} if only else {}
    first = list(islice(_suggesting(engine, wanted), _WANTED if others else _TRIED))
    found = list(islice(_answered(engine, first, within), most - 1 if others else most))
    then = islice(_suggesting(engine, others), _TRIED - len(first))
    return (*found, *islice(_answered(engine, then, within), most - len(found)))


def _in_turn(documents: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """Return documents, the newest first, one of each language in turn, that of most documents first."""
    of_language: dict[str, list[DocumentRecord]] = {}
    for document in reversed(documents):
        of_language.setdefault(document.metadata.language, []).append(document)
    by_size = sorted(of_language.values(), key=len, reverse=True)
    turns = chain.from_iterable(zip_longest(*by_size))
    return [document for document in turns if document is not None]


def _suggesting(engine: Engine, documents: Sequence[DocumentRecord]) -> Iterator[tuple[DocumentRecord, list[str]]]:
    """Yield those of the documents that suggest questions, each with its first ones."""
    for document in documents[:_READ]:
        text = engine.catalog.text(document.key)[:_OPENING]
        headings = [name for child in engine.catalog.document_children(document.key) for name in child.parent.headings]
        if questions := list(islice(candidates(text, headings, document.metadata.language), _OF_ONE)):
            yield document, questions


def _answered(
    engine: Engine, suggested: Iterable[tuple[DocumentRecord, list[str]]], within: Filter
) -> Iterator[ExampleQuestion]:
    """Yield of each document the first of its questions that the collection answers from it, if there is one."""
    for document, questions in suggested:
        for question in questions:
            evidence = engine.search(question, within)
            if evidence.ground == "enough" and evidence.sources[0].document.key == document.key:
                yield ExampleQuestion(question, document.metadata.language, document.document_id)
                break


def candidates(text: str, headings: Sequence[str], language: str) -> Iterator[str]:
    """Yield questions that a document suggests: headings that ask one, terms that it defines, then other headings."""
    bare = [_bare(heading) for heading in dict.fromkeys(headings)]
    yield from dict.fromkeys(one for one in bare if one.endswith("?") and len(one) in _CHARACTERS)
    table = read_table("example_questions").get(language)
    if table is None:
        return
    for pattern in table["definitions"]:
        terms = (" ".join(term.split()) for term in re.findall(pattern, text))
        yield from (table["meaning"].format(words=term) for term in dict.fromkeys(terms))
    # "Why a plan": the start of a question, and no topic.
    asks = re.compile(rf"(?:{read_table('follow_ups')[language]['interrogatives']})(?!\w)", re.IGNORECASE)
    topics = (one for one in dict.fromkeys(bare) if _is_topic(one) and not asks.match(one))
    yield from (table["topic"].format(words=one) for one in topics)


def _bare(heading: str) -> str:
    return _LABEL.sub("", _NUMBER.sub("", " ".join(heading.split()), count=1), count=1)


def _is_topic(heading: str) -> bool:
    """Return whether a heading says what is below it: not a number alone, a sentence, or shouted words."""
    fits = len(heading.split()) in _WORDS and len(heading) in _CHARACTERS
    known = heading.isupper() or any(letter.isdigit() for letter in heading)
    return fits and not known and heading[-1].isalnum() and not _SECTION.fullmatch(heading)
