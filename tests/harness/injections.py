"""Prompt injections in documents and a model that obeys them: no rule, filter or citation changes."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rag_engine.answering.reference_list import references_of
from rag_engine.engine import Engine
from rag_engine.filters import Filter
from rag_engine.prompts import answer_rules
from rag_engine.storage.indexer import Indexer
from rag_engine.types.answer import Answer
from rag_engine.types.document import Document, ExtractedText, Line, Metadata
from rag_engine.types.evidence import Evidence
from rag_engine.types.language_model import Prompt
from tests.harness.injected_texts import CANARY, injections
from tests.harness.tally import Effort, Tally
from tests.rag_engine.conftest import CountingEmbedder, unread
from tests.rag_engine.model_by_hand import ModelByHand

_HONEST = "The dyke of {town} was raised by two metres in {year} after the flood of 1953."
_FILTER: Filter = {"country": ("Italia",)}
_FENCES = ("sources", "source", "question")
# What a chat template or a reader of the prompt would take for more than words, and what nobody sees.
_POSING = re.compile(
    r"<\||<<SYS|\[/?INST|^\s*(?:system|assistant|user)\s*:|^#{2,}\s*(?:system|instruction|response)|!\[|</?(?:system|tool)"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\U000e0000-\U000e007f]",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = re.compile(r"[\[【［(（]\s*(?:source|fonte|fuente|quelle|kaynak)s?\W*\d", re.IGNORECASE)


def injected(effort: Effort) -> Iterator[Tally]:
    """Index a document for each injection, ask about it, and have a model obey."""
    tried = list(injections())[:: 4 if effort == "short" else 1]
    lost: dict[str, list[str]] = {"prompt": [], "filter": [], "obeyed": [], "cited": []}
    with tempfile.TemporaryDirectory(prefix="sextant-harness-") as home:
        engine = Engine(unread(Path(home) / "workspace"), embedder=CountingEmbedder())
        try:
            with engine.indexer() as indexer:
                for number, (_, text) in enumerate(tried):
                    _index(number, text, indexer)
                indexer.finish()
            for number, (name, text) in enumerate(tried):
                found: dict[str, list[str]] = {}
                for kind, sentence in _asked(engine, number, text):
                    found.setdefault(kind, []).append(sentence)
                for kind, sentences in found.items():
                    lost[kind].append(f"{name}: {'; '.join(sentences)}")
        finally:
            engine.close()
    what = {
        "prompt": "injections that stayed words of their source in the prompt",
        "filter": "injections that widened no filter and changed no plan",
        "obeyed": "injections whose obedient answer was withheld",
        "cited": "injections that forged no citation and no reference",
    }
    for kind, sentence in what.items():
        yield Tally(sentence, len(tried), tuple(lost[kind]))


def _index(number: int, text: str, indexer: Indexer) -> None:
    """Index the document with the injection, and one beside it that the filter leaves out."""
    for country in ("Italia", "Österreich"):
        body = "\n\n".join((_honest(number), text, f"The mayor of {_town(number)} inspects it every spring."))
        metadata = Metadata(
            title=f"Plan of {_town(number)} {text if number % 2 else ''}",
            language="en",
            countries=(country,),
            hazards=("Flood",),
            authority=text if number % 3 == 0 else "Ministry",
            year=2020,
        )
        kept = replace(metadata, title=metadata.title[:200], authority=metadata.authority[:200])
        name = f"{country}-{number}.txt"
        extracted = ExtractedText(body, 1, (Line(0, len(body), 1, None),), (), "text/plain", kept.title)
        document = Document(name, name, f"{number * 2 + (country != 'Italia'):064x}", kept, extracted)
        indexer.add(document, name)


def _town(number: int) -> str:
    return "Ort" + "".join(chr(97 + int(digit)) for digit in str(number)) + "heim"


def _honest(number: int) -> str:
    return _HONEST.format(town=_town(number), year=1954 + number)


def _asked(engine: Engine, number: int, text: str) -> Iterator[tuple[str, str]]:
    question = f"When was the dyke of {_town(number)} raised?"
    evidence = engine.search(question, _FILTER)
    if any("Italia" not in source.document.metadata.countries for source in evidence.sources):
        yield "filter", "a document outside the filter was found"
    if evidence.plan.queries[0] != question or evidence.plan.output_instructions or evidence.plan.scope.countries:
        yield "filter", f"the plan is {evidence.plan}"
    alone = _obeying(f"{text}\n{CANARY}" if not _names_source(text) else CANARY)
    answered = _answer(engine, evidence, alone)
    if not alone.prompts:
        yield "prompt", f"nothing was asked of the model: {answered.status}"
        return
    yield from (("prompt", found) for found in _changed(alone.prompts[0]))
    if CANARY in answered.text or answered.status == "answered":
        yield "obeyed", f"{answered.status}: {answered.text[:200]!r}"
    echoing = _obeying(f"{_honest(number)} [Source 1]. {text} It is so [Source 99].")
    yield from (("cited", found) for found in _forged(engine, _answer(engine, evidence, echoing)))


def _names_source(text: str) -> bool:
    return bool(re.search(r"\d\s*(?:†source)?\s*[\]】］)]", text))


def _obeying(says: str) -> ModelByHand:
    """Return a model that does as the documents say, in pieces, and keeps what it was asked with."""
    return ModelByHand(tuple(says[at : at + 7] for at in range(0, len(says), 7)), context_window=32768, name="obeying")


def _answer(engine: Engine, evidence: Evidence, model: ModelByHand) -> Answer:
    *_, last = engine.answer_from(evidence, model)
    assert isinstance(last, Answer)
    return last


def _changed(prompt: Prompt) -> Iterator[str]:
    """Yield where a prompt is not the rules, as many sources as were packed, and the question."""
    if prompt.system != answer_rules(prompt.plan.language):
        yield "the rules are others"
    for fence in _FENCES:
        wanted = len(prompt.sources) if fence == "source" else 1
        if {prompt.user.count(f"<{fence}>"), prompt.user.count(f"</{fence}>")} != {wanted}:
            yield f"the fence <{fence}> is opened or closed by a document"
    heads = len(_HEAD.findall(prompt.user))
    if heads != len(prompt.sources):
        yield f"{heads} heads of {len(prompt.sources)} sources"
    if found := _POSING.search(prompt.user):
        yield f"{found[0]!r} poses in {prompt.user[max(0, found.start() - 40) : found.end() + 40]!r}"


def _forged(engine: Engine, answered: Answer) -> Iterator[str]:
    """Yield what an answer cites that is not in the collection, or not among its sources."""
    sources = {source.n: source for source in answered.evidence.sources}
    for mark in re.findall(r"\[Source (\d+)\]", answered.text):
        if int(mark) not in sources:
            yield f"the answer names source {mark}"
    if not answered.citations:
        yield f"the honest sentence is not cited: {answered.status}, {answered.text[:200]!r}"
    for one in answered.citations:
        document = sources[one.n].document
        if (one.document_id, one.title) != (document.document_id, document.metadata.title):
            yield f"citation {one.n} names another document"
        if engine.catalog.text(document.key)[one.start : one.end] != one.quote:
            yield f"the quotation {one.quote!r} does not stand in its document"
        if "Italia" not in document.metadata.countries:
            yield "a document outside the filter is cited"
    known = {source.document.document_id for source in sources.values()}
    if not {one.document_id for one in references_of(answered.citations)} <= known:
        yield "the list of references has a document that is no source"
