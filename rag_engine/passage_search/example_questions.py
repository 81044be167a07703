"""Example questions drawn from the documents of a collection, each of which the collection answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice, zip_longest

from rag_engine.engine import Engine
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
# Documents that are looked at, and candidates of each that are tried: they take no longer in a large collection, and
# keep the processor from a question that is asked meanwhile for a few searches at most.
_DOCUMENTS, _OF_ONE = 8, 2
# Characters of a text in which definitions are looked for.
_OPENING = 60_000
# Name under which the catalog keeps what was found, with the state of the collection that it was found in.
_KEPT = "example questions"


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question in the language of the document that it is drawn from."""

    question: str
    language: str


def example_questions(engine: Engine) -> tuple[ExampleQuestion, ...]:
    """Return what `find_examples` does, looked for anew only where the collection has changed since.

    They are kept, so that a server that starts has them at once and its first question has the processor.
    """
    change = engine.catalog.change()
    kept = json.loads(engine.catalog.state(_KEPT) or "{}")
    if kept.get("change") == change:
        return tuple(ExampleQuestion(**one) for one in kept["questions"])
    found = find_examples(engine)
    with engine.catalog.begin() as connection:
        kept = {"change": change, "questions": [asdict(one) for one in found]}
        set_state(connection, _KEPT, json.dumps(kept, ensure_ascii=False))
    return found


def forget_examples(engine: Engine) -> None:
    """Keep no examples: their words may be those of a document that is erased."""
    with engine.catalog.begin() as connection:
        set_state(connection, _KEPT, "")


def find_examples(engine: Engine, most: int = 4) -> tuple[ExampleQuestion, ...]:
    """Return questions that the collection answers, each from another document, languages in turn.

    A candidate counts where its own document is the best source and the evidence is enough. EncoderError where the
    collection cannot be searched.
    """
    found = (one for document in _in_turn(engine.collection.documents()) for one in _answered(engine, document))
    return tuple(islice(found, most))


def _in_turn(documents: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """Return the newest documents, one of each language in turn, that of most documents first."""
    of_language: dict[str, list[DocumentRecord]] = {}
    for document in reversed(documents):
        of_language.setdefault(document.metadata.language, []).append(document)
    by_size = sorted(of_language.values(), key=len, reverse=True)
    turns = chain.from_iterable(zip_longest(*by_size))
    return [document for document in turns if document is not None][:_DOCUMENTS]


def _answered(engine: Engine, document: DocumentRecord) -> Iterator[ExampleQuestion]:
    """Yield the first question from a document that the collection answers from it, if there is one."""
    text = engine.catalog.text(document.key)[:_OPENING]
    headings = [name for child in engine.catalog.document_children(document.key) for name in child.parent.headings]
    for question in islice(candidates(text, headings, document.metadata.language), _OF_ONE):
        evidence = engine.search(question)
        if evidence.ground == "enough" and evidence.sources[0].document.key == document.key:
            yield ExampleQuestion(question, document.metadata.language)
            return


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
    yield from (table["topic"].format(words=one) for one in dict.fromkeys(bare) if _is_topic(one))


def _bare(heading: str) -> str:
    return _LABEL.sub("", _NUMBER.sub("", " ".join(heading.split()), count=1), count=1)


def _is_topic(heading: str) -> bool:
    """Return whether a heading says what is below it: not a number alone, a sentence, or shouted words."""
    fits = len(heading.split()) in _WORDS and len(heading) in _CHARACTERS
    known = heading.isupper() or any(letter.isdigit() for letter in heading)
    return fits and not known and heading[-1].isalnum() and not _SECTION.fullmatch(heading)
