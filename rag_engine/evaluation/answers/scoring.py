"""Figures of an answer without a judge: abstention, words, cited pages, contexts, support."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from rag_engine.answering.replies import CHECKED_MARK
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.gold import Quote, holds
from rag_engine.text.folding import fold
from rag_engine.types.answer import Answer, SentenceSupport

METRICS = (
    "abstention",
    "answer_match",
    "citation_precision",
    "citation_recall",
    "context_precision",
    "context_recall",
    "first_quotation",
    "support",
)

# A file and a page of it.
CitedPage = tuple[str, int]
Figures = Mapping[str, float | None]

# Length, in words, of the runs that are compared: two texts on one subject share most single words.
_RUN = 3
_WORD = re.compile(r"\w+")
_STEM = 6  # letters compared of a key word: enough to pass over most endings
_BETWEEN = 4  # other words that may be between those of a key word
# Kinds of files with pages. In any other kind a page is the whole document, or a sheet of it.
_PAGED = ("application/pdf", "application/vnd.openxmlformats-officedocument.presentationml.presentation")
_NO_PAGE = 0
# The share of a gold sentence that a cited passage must hold if its file has no pages.
_BEARS_OUT = 0.5


def score(question: AnswerQuestion, answer: Answer) -> Figures:
    """Return the figures of an answer, 0 to 1; None for a metric without a figure.

    For a question without an answer only abstention is measured. For an answer that failed nothing is. An answer that
    refuses, or cites nothing, has neither right words nor right citations: 0.
    """
    if answer.status == "error":
        return dict.fromkeys(METRICS)
    abstained = answer.status == "insufficient_evidence"
    if not question.answerable:
        return {**dict.fromkeys(METRICS), "abstention": float(abstained)}
    contexts = [source.text for source in answer.evidence.sources]
    precision, recall = citation_scores(() if abstained else cited_pages(answer, question.passages), question.passages)
    matched = 0.0 if abstained else answer_match(answer.text, question)
    return {
        "abstention": float(not abstained),
        "answer_match": matched if question.keywords else None,
        "citation_precision": precision,
        "citation_recall": recall,
        "context_precision": average_precision([best_match(context, question.passages) for context in contexts]),
        "context_recall": context_recall(contexts, question.passages),
        "first_quotation": 0.0 if abstained else float(is_first_right(answer, question.passages)),
        "support": None if abstained else supported_share(answer.support),
    }


def supported_share(support: Sequence[SentenceSupport]) -> float | None:
    """Return the share of an answer's claims that the cited passages support.

    Without a labelled sentence it is None. Quotations are in the passages' own words and are not labelled. The labels
    are those of the second model if one is set, else those that the answer came with.
    """
    labels = [one.label for one in support if one.label != "no claim"]
    return labels.count("supported") / len(labels) if labels else None


def is_first_right(answer: Answer, passages: Sequence[Quote]) -> bool:
    """Return whether the first quote of an answer bears out a gold sentence of its document.

    Either holds half of the other: a gold sentence may be a part of the quote, or go on after it.
    """
    first = next(iter(answer.citations), None)
    if first is None:
        return False
    there = [quote for quote in passages if quote.document == first.file]
    cited = Quote(first.file, first.page, first.quote)
    return best_match(first.quote, there) >= _BEARS_OUT or any(
        best_match(one.quote, [cited]) >= _BEARS_OUT for one in there
    )


def cited_pages(answer: Answer, passages: Sequence[Quote]) -> list[CitedPage]:
    """Return the pages that an answer cites.

    Any citation of a document without pages would be on the answering page. So its page is 0, unless the cited passage
    holds the answer.
    """
    sources = {source.n: source for source in answer.evidence.sources}
    cited: list[CitedPage] = []
    for citation in answer.citations:
        source = sources.get(citation.n)
        if source is not None and source.document.media_type not in _PAGED:
            there = [quote for quote in passages if quote.document == citation.file and quote.page == citation.page]
            bears_out = best_match(source.text, there) >= _BEARS_OUT
            cited.append((citation.file, citation.page if bears_out else _NO_PAGE))
        else:
            cited.append((citation.file, citation.page))
    return cited


def answer_match(text: str, question: AnswerQuestion) -> float:
    """Return 1 for a text with the gold sentence of a document, else its share of the key words.

    A reference answer is not the only way of putting it. So the words of a key word may be in any order, with a few
    others between them. Scattered over the text they are not the key word.
    """
    plain = CHECKED_MARK.sub(" ", text)
    if any(holds(plain, quotes) for quotes in _answers(question.passages)):
        return 1.0
    written = _stems(plain)
    held = [_is_together(_stems(keyword), written) for keyword in question.keywords]
    return sum(held) / len(held) if held else 0.0


def citation_scores(cited: Collection[CitedPage], passages: Sequence[Quote]) -> tuple[float, float]:
    """Return precision and recall of the cited pages.

    Precision is the share of the cited pages that answer, recall the share of a document's answering pages that are
    cited. Recall is that of the best document. Without citations both are 0.

    >>> citation_scores([("plan.pdf", 3), ("plan.pdf", 4)], [Quote("plan.pdf", 3, "raised by one metre")])
    (0.5, 1.0)
    """
    pages = set(cited)
    if not pages:
        return 0.0, 0.0
    gold = {(quote.document, quote.page) for quote in passages}
    wanted = [{(quote.document, quote.page) for quote in quotes} for quotes in _answers(passages)]
    recall = max((len(one & pages) / len(one) for one in wanted), default=0.0)
    return len(pages & gold) / len(pages), recall


def best_match(context: str, passages: Sequence[Quote]) -> float:
    """Return the largest share of a gold sentence that a context holds.

    >>> best_match("Dykes are raised by one metre.", [Quote("plan.pdf", 3, "raised by one metre")])
    1.0
    """
    runs = _runs(context)
    return max((_held(quote, runs) for quote in passages), default=0.0)


def average_precision(relevances: Sequence[float]) -> float:
    """Return the precision at each rank, weighted by the relevance of the context at that rank.

    With relevances of 0 and 1 it is the context precision of RAGAS (Es et al. 2024); a partial match counts in part.
    Without a relevant context it is 0.

    >>> average_precision([0.0, 1.0])
    0.5
    """
    total = sum(relevances)
    if not total:
        return 0.0
    gathered, summed = 0.0, 0.0
    for rank, relevance in enumerate(relevances, start=1):
        gathered += relevance
        summed += relevance * gathered / rank
    return summed / total


def context_recall(contexts: Sequence[str], passages: Sequence[Quote]) -> float:
    """Return the share of a document's gold sentences that the contexts have together.

    The document with the largest share counts.

    >>> context_recall(["Dykes are raised."], [Quote("plan.pdf", 3, "raised by one metre")])
    0.0
    """
    runs = frozenset[tuple[str, ...]]().union(*map(_runs, contexts))
    shares = [sum(_held(quote, runs) for quote in quotes) / len(quotes) for quotes in _answers(passages)]
    return max(shares, default=0.0)


def _answers(passages: Sequence[Quote]) -> list[list[Quote]]:
    """Return the quotes of each document, which answer together."""
    documents = dict.fromkeys(quote.document for quote in passages)
    return [[quote for quote in passages if quote.document == document] for document in documents]


def _held(quote: Quote, runs: Collection[tuple[str, ...]]) -> float:
    wanted = _runs(quote.quote)
    return len(wanted.intersection(runs)) / len(wanted) if wanted else 0.0


def _is_together(stems: Sequence[str], written: Sequence[str]) -> bool:
    """Return whether the words are found within one stretch of others."""
    wanted, length = set(stems), len(stems) + _BETWEEN
    places = [place for place, stem in enumerate(written) if stem in wanted]
    return any(wanted <= set(written[place : place + length]) for place in places)


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in _WORD.findall(fold(text))]


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of words of a text; a text with fewer words is one run."""
    found = _WORD.findall(fold(text))
    count = max(len(found) - _RUN + 1, 1 if found else 0)
    return frozenset(tuple(found[place : place + _RUN]) for place in range(count))
