"""Questions with the passages that answer them, and the place of a passage in a document's text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag_engine.errors import InputError
from rag_engine.evaluation.datasets import FileLine, Split, read_objects
from rag_engine.evaluation.passage_metrics import Passage
from rag_engine.messages import Message
from rag_engine.text.folding import fold
from rag_engine.text.raised import RAISED
from rag_engine.types.document import ExtractedText

# The kind of a question that no document answers: it has no quotes.
NOT_THERE = "not there"
_UNRAISED = str.maketrans("", "", RAISED)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a page, verbatim; white space, hyphenation and quotation marks do not count."""

    document: str
    page: int
    quote: str


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with the quotes that answer it.

    Quotes of one document belong together; the quotes of another document are a second answer. `kind` is that of the
    documents or of the question. `cross_lingual` is true if no document is in the question's language. `before` is the
    question that a follow-up leans on.
    """

    id: str
    question: str
    language: str
    quotes: tuple[Quote, ...]
    cross_lingual: bool
    kind: str
    split: str
    before: str = ""


def read_gold(path: Path, split: Split) -> tuple[GoldQuestion, ...]:
    """Return the questions of a split, in the order of the file; InputError names line and remedy."""
    questions: dict[str, GoldQuestion] = {}
    for line in read_objects(path):
        id = line.field("id")
        line.refuse_second(id, questions)
        kind = line.field("kind", missing="")
        questions[id] = GoldQuestion(
            id,
            line.field("question"),
            line.field("language"),
            () if kind == NOT_THERE else read_quotes(line),
            line.values.get("cross_lingual") is True,
            kind,
            line.field("split", missing=""),
            line.field("before", missing=""),
        )
    chosen = tuple(question for question in questions.values() if split == "all" or question.split in ("", split))
    if not chosen:
        raise InputError(f"{path} has no question of the split {split!r}.", help="Use dev, heldout or all.")
    return chosen


def spread(questions: Sequence[GoldQuestion], count: int) -> tuple[GoldQuestion, ...]:
    """Return at most `count` of the questions, evenly spread over their order.

    The order may be by language or document.
    """
    if len(questions) <= count:
        return tuple(questions)
    return tuple(questions[place * len(questions) // count] for place in range(count))


def locate(quote: Quote, extracted: ExtractedText) -> list[Passage]:
    """Return every place on its page where the quote is found, in order; InputError without one."""
    on_page = [line for line in extracted.lines if line.page == quote.page]
    start = min((line.start for line in on_page), default=0)
    end = max((line.end for line in on_page), default=0 if extracted.lines else len(extracted.text))
    letters, places = letters_of(extracted.text[start:end])
    wanted, _ = letters_of(quote.quote)
    found: list[Passage] = []
    at = letters.find(wanted) if wanted else -1
    while at >= 0:
        last = places[at + len(wanted) - 1]
        found.append(Passage(quote.document, start + places[at], start + last + 1))
        at = letters.find(wanted, at + len(wanted))
    if not found:
        raise InputError(
            f"Page {quote.page} of {quote.document} does not say {quote.quote[:80]!r}.",
            help="Correct the page or the quote; a quote must not run over the end of its page.",
        )
    return found


def holds(text: str, quotes: Iterable[Quote]) -> bool:
    """Return whether a text has the words of every quote; white space and raised marks do not count.

    >>> holds("It shall meet¹ twice  a year.", [Quote("rules.pdf", 3, "shall meet twice a year")])
    True
    """
    letters, _ = letters_of(text.translate(_UNRAISED))
    return all(letters_of(quote.quote.translate(_UNRAISED))[0] in letters for quote in quotes)


def alternatives(question: GoldQuestion, texts: Mapping[str, ExtractedText]) -> list[list[Passage]]:
    """Return the complete answers to a question: the quotes of each document together.

    Quotes that a document repeats give an answer for each time.
    """
    answers: list[list[Passage]] = []
    for document in dict.fromkeys(quote.document for quote in question.quotes):
        if document not in texts:
            raise InputError(
                f"Question {question.id!r} quotes {document}, which is not among the documents.",
                help="Name the folder that has it.",
            )
        located = [locate(quote, texts[document]) for quote in question.quotes if quote.document == document]
        times = max(map(len, located))
        answers += [[places[min(time, len(places) - 1)] for places in located] for time in range(times)]
    return answers


def read_quotes(line: FileLine) -> tuple[Quote, ...]:
    """Return the quotes of a line, at least one; InputError names the line and its fault."""
    passages = line.values.get("passages")
    if not isinstance(passages, Sequence) or isinstance(passages, str) or not passages:
        cure = Message("Give at least one: document, page, quote.")
        raise line.error(Message("the field 'passages' is missing."), cure)
    quotes = []
    for values in passages:
        page = values.get("page") if isinstance(values, dict) else None
        if not isinstance(page, int) or page < 1:
            raise line.error(Message("the page is {page!r}.", page=page), Message("Count pages from 1."))
        passage = replace(line, values=values)
        quotes.append(Quote(passage.field("document"), page, passage.field("quote")))
    return tuple(quotes)


def letters_of(text: str) -> tuple[str, list[int]]:
    """Return letters and digits alone, folded, and the position of each in the text.

    >>> letters_of("A-1")
    ('a1', [0, 2])
    """
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for form in fold(character):
            if form.isalnum():
                letters.append(form)
                places.append(place)
    return "".join(letters), places
