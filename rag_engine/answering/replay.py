"""The differences between an answer that was kept and the same question asked again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from rag_engine.answering.bundle import AnswerBundle, KeptAnswer, KeptPassage

Part = Literal["plan", "evidence", "prompt", "model", "settings", "index", "versions", "answer"]

_SHOWN = 120  # characters of a text that is shown


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A thing that differs: the part of the bundle it is in, and what it was and is now."""

    part: Part
    message: str


def compare_bundles(
    kept: AnswerBundle, now: AnswerBundle, documents: Mapping[str, Collection[str]]
) -> tuple[ReplayDifference, ...]:
    """Return what differs between two answers to one question, the question's plan first, the answer last.

    `documents` are the hashes of the collection's documents by file name: they tell a document that is gone from one
    whose content changed.
    """
    parts: tuple[tuple[Part, Iterator[str]], ...] = (
        ("plan", _fields("", asdict(kept.plan), asdict(now.plan))),
        ("evidence", _evidence(kept, now, documents)),
        ("prompt", _prompt(kept, now)),
        ("model", _model(kept, now)),
        ("settings", _fields("", kept.circumstances.settings, now.circumstances.settings)),
        ("index", _index(kept, now)),
        ("versions", _fields("", kept.circumstances.versions, now.circumstances.versions)),
        ("answer", _answer(kept, now)),
    )
    return tuple(ReplayDifference(part, message) for part, messages in parts for message in messages)


def _evidence(kept: AnswerBundle, now: AnswerBundle, documents: Mapping[str, Collection[str]]) -> Iterator[str]:
    before = {passage.child_id: passage for passage in kept.evidence}
    after = {passage.child_id: passage for passage in now.evidence}
    for child_id, passage in before.items():
        if child_id not in after:
            yield f"{_named(passage)}: {_why_missing(passage, documents)}"
        elif after[child_id].text_sha256 != passage.text_sha256:
            yield f"{_named(passage)}: the text of the passage has changed"
    for child_id, passage in after.items():
        if child_id not in before:
            yield f"{_named(passage)}: found now, not before"
    same = [child_id for child_id in before if child_id in after]
    order = [child_id for child_id in after if child_id in before]
    if same != order:
        ranks = ", ".join(str(same.index(child_id) + 1) for child_id in order)
        yield f"the passages found both times are in another order: {ranks}"


def _why_missing(passage: KeptPassage, documents: Mapping[str, Collection[str]]) -> str:
    if passage.document_sha256 in documents.get(passage.file, ()):
        return "not found any more"
    if passage.file in documents:
        return f"the document has changed (hash {passage.document_sha256[:12]} before)"
    return "the document is not in the collection"


def _named(passage: KeptPassage) -> str:
    return f"{passage.file}, page {passage.page} ({passage.child_id})"


def _prompt(kept: AnswerBundle, now: AnswerBundle) -> Iterator[str]:
    if kept.prompt is None or now.prompt is None:
        if kept.prompt is not now.prompt:
            yield "a prompt was given before, none now" if kept.prompt else "a prompt is given now, none before"
        return
    for field in fields(kept.prompt):
        before, after = getattr(kept.prompt, field.name), getattr(now.prompt, field.name)
        if before != after:
            written = isinstance(before, str)
            yield f"{field.name}: another text" if written else f"{field.name}: {before} before, {after} now"


def _model(kept: AnswerBundle, now: AnswerBundle) -> Iterator[str]:
    values = [
        {
            "answer by": one.answer.generator,
            "language model": one.circumstances.model,
            "digest": one.circumstances.model_digest,
            "digest of the judge": one.circumstances.judge_digest,
            "encoder": one.circumstances.encoder,
        }
        for one in (kept, now)
    ]
    return _fields("", *values)


def _index(kept: AnswerBundle, now: AnswerBundle) -> Iterator[str]:
    before, after = kept.circumstances, now.circumstances
    if before.generation != after.generation:
        yield f"generation {before.generation} before, {after.generation} now"
    if before.collection != after.collection:
        yield "the collection holds other documents"


def _answer(kept: AnswerBundle, now: AnswerBundle) -> Iterator[str]:
    before, after = kept.answer, now.answer
    values = [{"status": one.status, "text": one.text, "quotations": one.quotations} for one in (before, after)]
    yield from _fields("", *values)
    cited, cited_now = _places(before), _places(after)
    yield from (f"not cited any more: {place}" for place in cited if place not in cited_now)
    yield from (f"cited now, not before: {place}" for place in cited_now if place not in cited)
    if cited != cited_now and sorted(cited) == sorted(cited_now):
        yield "the citations are in another order"


def _places(answer: KeptAnswer) -> list[str]:
    """Return the place and the quote of each citation."""
    return [f"[Source {one.n}] {one.file}, page {one.page}: {_shown(one.quote)}" for one in answer.citations]


def _fields(prefix: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each value that differs, down to the innermost names."""
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _fields(f"{prefix}{name}.", old, new)
        elif _listed(old) != _listed(new):
            yield f"{prefix}{name}: {_shown(old)} before, {_shown(new)} now"


def _listed(value: Any) -> Any:
    """Return the value as JSON keeps it, which knows no tuples."""
    return [_listed(one) for one in value] if isinstance(value, (tuple, list)) else value


def _shown(value: Any) -> str:
    text = " ".join(str(value).split()) if isinstance(value, str) else str(value)
    quoted = f"“{text[:_SHOWN]}{'...' if len(text) > _SHOWN else ''}”"
    return quoted if isinstance(value, str) else text[:_SHOWN]


def answer_differs(differences: Collection[ReplayDifference]) -> bool:
    """Whether the answer itself is another."""
    return any(one.part == "answer" for one in differences)
