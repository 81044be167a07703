"""Example questions drawn from the documents of a collection, which answers each of them."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain, islice, zip_longest

from rag_engine.engine import Engine
from rag_engine.filters import DOCUMENT, Filter
from rag_engine.geography import load_gazetteer
from rag_engine.planning.plan import plan_question
from rag_engine.storage.catalog import ParentRecord, set_state
from rag_engine.text.folding import fold
from rag_engine.text.sentences import sentence_spans
from rag_engine.text.stop_words import stopwords
from rag_engine.text.tables import read_table
from rag_engine.types.answer import Answer, Citation
from rag_engine.types.document import DocumentRecord

# Numbers in front of a heading or a sentence: "3.3", "II.", "§ 4", "(2)", "Art. 5".
_NUMBER = re.compile(
    r"^(?:(?:Art\.|Article|Artikel|Madde)\s*\d+(?:-\w)?[.ºo]*\s*[-–:]?\s*"
    r"|[§\W]*(?:\d+(?:\.\d+)*[a-z]?[.)]?|[IVX]{2,}[.)]?|[A-Z][.)])\s+|§+\s*\d+[a-z]?\s*|\(\w{1,3}\)\s*)+(?=\w)"
)
# Words of a question, words that name its topic, and the least letters of such a word.
_WORDS, _TOPIC_WORDS, _TOPIC_LETTERS = range(5, 17), 3, 5
# Documents that are tried; how many of them in the wanted language if there are others; questions of each that are
# asked; documents that are read, since many suggest nothing, for example tables. This takes no longer in a large
# collection, and delays a question that is asked meanwhile by a few searches at most.
_TRIED, _WANTED, _OF_ONE, _READ = 8, 5, 2, 40
_SHOWN = 4
# Characters of a text whose sentences are read.
_OPENING = 60_000
# Name under which the catalog keeps the examples, with the state of the collection that they belong to.
_KEPT = "example questions"


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question and the words that answer it: characters [start, end) of its document's text."""

    question: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question in the language of the document that it is drawn from."""

    question: str
    language: str
    document_id: str


def example_questions(engine: Engine, language: str) -> tuple[ExampleQuestion, ...]:
    """Return the questions of `find_examples`, searched again only if the collection has changed.

    The catalog keeps them, so that a server that starts has them at once and its first question has the processor.
    """
    change = engine.catalog.change()
    kept = _kept(engine, change)
    if language in kept:
        return tuple(ExampleQuestion(**one) for one in kept[language])
    found = find_examples(engine, language)
    with engine.catalog.begin() as connection:
        # Read again: examples in another language may have been found meanwhile.
        by_language = _kept(engine, change) | {language: [asdict(question) for question in found]}
        text = json.dumps({"change": change, "by language": by_language}, ensure_ascii=False)
        set_state(connection, _KEPT, text)
    return found


def _kept(engine: Engine, change: int) -> dict[str, list[dict[str, str]]]:
    """Return the kept examples of this state of the collection, by language."""
    kept = json.loads(engine.catalog.state(_KEPT) or "{}")
    return dict(kept.get("by language", {})) if kept.get("change") == change else {}


def forget_examples(engine: Engine) -> None:
    """Forget the kept examples: they may have words of a document that is erased."""
    with engine.catalog.begin() as connection:
        set_state(connection, _KEPT, "")


def find_examples(engine: Engine, language: str, only: Collection[str] = ()) -> tuple[ExampleQuestion, ...]:
    """Return questions that the collection answers, each from another document.

    Most are in `language`, one is in another. With `only` they are drawn from the documents of these ids. A candidate
    counts if the first quotation that answers it overlaps the words that it was made from. EncoderError if the
    collection cannot be searched.
    """
    documents = [document for document in engine.collection.documents() if not only or document.document_id in only]
    wanted = [document for document in reversed(documents) if document.metadata.language == language]
    others = _in_turn([document for document in documents if document.metadata.language != language])
    within = {DOCUMENT: tuple(only)} if only else {}
    first = list(islice(_suggesting(engine, wanted), _WANTED if others else _TRIED))
    found = list(islice(_answered(engine, first, within), _SHOWN - 1 if others else _SHOWN))
    then = islice(_suggesting(engine, others), _TRIED - len(first))
    return (*found, *islice(_answered(engine, then, within), _SHOWN - len(found)))


def _in_turn(documents: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """Return documents, the newest first, one of each language in turn, that of most documents first."""
    of_language: dict[str, list[DocumentRecord]] = {}
    for document in reversed(documents):
        of_language.setdefault(document.metadata.language, []).append(document)
    by_size = sorted(of_language.values(), key=len, reverse=True)
    turns = chain.from_iterable(zip_longest(*by_size))
    return [document for document in turns if document is not None]


def _suggesting(
    engine: Engine, documents: Sequence[DocumentRecord]
) -> Iterator[tuple[DocumentRecord, list[AnsweredQuestion]]]:
    """Yield the documents that suggest questions, each with its first ones."""
    for document in documents[:_READ]:
        text = engine.catalog.text(document.key)[:_OPENING]
        parents = dict.fromkeys(child.parent for child in engine.catalog.document_children(document.key))
        suggested = candidates(text, parents, document.metadata.language)
        if questions := list(islice(suggested, _OF_ONE)):
            yield document, questions


def _answered(
    engine: Engine, suggested: Iterable[tuple[DocumentRecord, list[AnsweredQuestion]]], within: Filter
) -> Iterator[ExampleQuestion]:
    """Yield for each document the first of its questions that the collection answers from it."""
    for document, questions in suggested:
        for question in questions:
            cited = _first_citation(engine, question.question, within)
            if (
                cited
                and cited.document_id == document.document_id
                and cited.start < question.end
                and question.start < cited.end
            ):
                yield ExampleQuestion(question.question, document.metadata.language, document.document_id)
                break


def _first_citation(engine: Engine, question: str, within: Filter) -> Citation | None:
    """Return the first quotation that answers a question without a language model, or None."""
    plan = plan_question(
        question, identify=engine.language_of, gazetteer=load_gazetteer(), generator=None, config=engine.config
    )
    evidence = engine.find(plan, within)
    if evidence.ground != "enough":
        return None
    *_, answer = engine.answer_from(evidence, None)
    return answer.citations[0] if isinstance(answer, Answer) and answer.citations else None


def candidates(text: str, parents: Iterable[ParentRecord], language: str) -> Iterator[AnsweredQuestion]:
    """Yield questions that a document suggests: headings that are questions, then others.

    The others are made from sentences that answer them.

    >>> text = "The dyke authority shall inspect the dykes every two years."
    >>> [suggested.question for suggested in candidates(text, [], "en")]
    ['How often must the dyke authority inspect the dykes?', 'Who must inspect the dykes every two years?']
    """
    headings = ((_bare(parent.headings[-1]), parent) for parent in parents if parent.headings)
    found = chain(
        (AnsweredQuestion(heading, parent.start, parent.end) for heading, parent in headings if heading.endswith("?")),
        _from_sentences(text, language),
    )
    unclear = _patterns(language)[1]
    asked = set()
    for question in found:
        fits = len(question.question.split()) in _WORDS and not unclear.search(question.question)
        if fits and question.question not in asked:
            asked.add(question.question)
            yield question


def _from_sentences(text: str, language: str) -> Iterator[AnsweredQuestion]:
    """Yield the questions that the sentences of a text answer, kind by kind."""
    patterns = _patterns(language)[0]
    spans = sentence_spans(text, language) if patterns else []
    sentences = [(_bare(text[start:end]), start, end) for start, end in spans]
    for pattern, question in patterns:
        for sentence, start, end in sentences:
            found = pattern.fullmatch(sentence)
            if found and _names_topic(found, language):
                yield AnsweredQuestion(_asked(question, found), start, end)


def _names_topic(found: re.Match[str], language: str) -> bool:
    """Return whether the words that a question takes from its sentence name its topic; a term does."""
    taken = " ".join(filter(None, found.groups())).split()
    known = stopwords(language)
    topic = [word for word in taken if len(word) >= _TOPIC_LETTERS and fold(word) not in known]
    return "term" in found.groupdict() or (len(topic) >= _TOPIC_WORDS and fold(taken[-1]) not in known)


def _asked(question: str, found: re.Match[str]) -> str:
    """Return a question with the words of its sentence.

    The word that opened the sentence gets a small letter.
    """
    words = {name: value or "" for name, value in found.groupdict().items()}
    for name, value in words.items():
        if value and found.start(name) == 0:
            words[name] = value[0].lower() + value[1:]
    made = question.format(**words)
    return made[0].upper() + made[1:]


@cache
def _patterns(language: str) -> tuple[tuple[tuple[re.Pattern[str], str], ...], re.Pattern[str]]:
    """Return the patterns of a language with their questions, and the pattern of unclear words."""
    table = read_table("example_questions").get(language, {"names": {}, "patterns": [], "unclear": "(?!)"})
    patterns = []
    for one in table["patterns"]:
        sentence = one["sentence"]
        for name, part in table["names"].items():
            sentence = sentence.replace(name, part)
        patterns.append((re.compile(sentence), one["question"]))
    return tuple(patterns), re.compile(rf"\b(?:{table['unclear']})\b", re.IGNORECASE)


def _bare(words: str) -> str:
    return _NUMBER.sub("", " ".join(words.split()), count=1)
