"""An answer with all that it was made from, as a ZIP that another machine can read and ask again."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from rag_engine.answering.circumstances import Circumstances, shareable
from rag_engine.atomic_write import write_atomic
from rag_engine.config import Config
from rag_engine.errors import InputError
from rag_engine.messages import Message, change_texts
from rag_engine.text.file_kinds import check_file, pages_text
from rag_engine.types.answer import Answer, AnswerStatus, Citation
from rag_engine.types.evidence import QueryPlan
from rag_engine.types.language_model import Prompt
from rag_engine.types.passage import Hit

_FORMAT, _VERSION = "sextant-answer", 1
# An answer takes some 50 kB; nothing that is larger is one of ours.
_LARGEST_FILE, _LARGEST_MEMBER = 8_000_000, 4_000_000
_CURE = "Give a file that `sextant ask --bundle` wrote."
_NOT_OURS = "is not an answer that `sextant ask --bundle` kept"

Part = Literal["plan", "evidence", "prompt", "model", "settings", "index", "versions", "answer"]

_SHOWN = 120  # characters of a text that is shown
_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as it was asked; `top_k`, `profile` and `mmr` are empty where the settings decided."""

    question: str
    filters: Mapping[str, tuple[str, ...]]
    top_k: int | None = None
    profile: str = ""
    mmr: float | None = None


@dataclass(frozen=True, slots=True)
class KeptPassage:
    """A passage that was found: its ids, and the hashes of its document and its text."""

    child_id: str
    document_id: str
    file: str
    page: int
    document_sha256: str
    text_sha256: str


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """Prompt that the generator was given; `sources` are the numbers of its sources, in order."""

    system: str
    user: str
    sources: tuple[int, ...]
    left_out: tuple[int, ...]
    tokens: int
    num_ctx: int
    temperature: float


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer with its citations and warnings."""

    status: AnswerStatus
    text: Message | str
    citations: tuple[Citation, ...]
    generator: str
    warnings: tuple[Message, ...]
    quotations: str = ""


@dataclass(frozen=True, slots=True)
class AnswerBundle:
    """An answer and everything it was made from.

    `prompt` is None if no language model was asked.
    """

    asked: AskedQuestion
    plan: QueryPlan
    evidence: tuple[KeptPassage, ...]
    prompt: KeptPrompt | None
    answer: KeptAnswer
    circumstances: Circumstances


_CODECS: dict[str, TypeAdapter[Any]] = {
    "asked": TypeAdapter(AskedQuestion),
    "plan": TypeAdapter(QueryPlan),
    "evidence": TypeAdapter(tuple[KeptPassage, ...]),
    "prompt": TypeAdapter(KeptPrompt | None),
    "answer": TypeAdapter(KeptAnswer),
    "circumstances": TypeAdapter(Circumstances),
}
_MEMBERS = (_MANIFEST, *(f"{name}.json" for name in _CODECS))


def bundle_of(
    asked: AskedQuestion, answer: Answer, prompt: Prompt | None, circumstances: Circumstances, config: Config
) -> AnswerBundle:
    """Return the bundle of an answer; warnings lose the paths of this machine."""

    def without_machine(given: Iterable[Message]) -> tuple[Message, ...]:
        return tuple(
            Message(change_texts(message, lambda text: shareable(text, config))) for message in dict.fromkeys(given)
        )

    plan, found = answer.evidence.plan, answer.evidence
    read = [*found.hits, *(source.hits[0] for source in found.sources if source.index_context)]
    text = shareable(answer.text, config) if answer.status == "error" else answer.text
    return AnswerBundle(
        asked=asked,
        plan=replace(plan, warnings=without_machine(plan.warnings)),
        evidence=tuple(map(_kept_passage, read)),
        prompt=_kept_prompt(prompt) if prompt else None,
        answer=KeptAnswer(
            status=answer.status,
            text=text,
            citations=answer.citations,
            generator=shareable(answer.generator, config),
            warnings=without_machine((*answer.evidence.warnings, *answer.warnings)),
            quotations=answer.quotations,
        ),
        circumstances=circumstances,
    )


def write_bundle(path: Path, bundle: AnswerBundle) -> None:
    """Write a bundle; the same bundle is the same file. InputError where the folder cannot be written."""
    contents = {f"{name}.json": _json(codec.dump_python(getattr(bundle, name))) for name, codec in _CODECS.items()}
    manifest = _json({"format": _FORMAT, "version": _VERSION})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {_MANIFEST: manifest, **contents}.items():
            # Without a time: ZipInfo's own is 1 January 1980.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    try:
        write_atomic(path, packed.getvalue())
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", help="Name a file in a folder of yours."
        ) from error


def read_bundle(path: Path) -> AnswerBundle:
    """Return a bundle that was written; nothing is unpacked to the disk.

    InputError if the file is missing, damaged, too large, or no bundle.
    """
    contents = _contents(path)
    _check_manifest(path, contents[_MANIFEST])
    try:
        parts = {name: codec.validate_json(contents[f"{name}.json"]) for name, codec in _CODECS.items()}
    except ValidationError as error:
        raise InputError(f"{path} {_NOT_OURS}: {error.errors()[0]['msg']}.", help=_CURE) from error
    return AnswerBundle(**parts)


def _contents(path: Path) -> dict[str, bytes]:
    """Return the members by name, each within the allowed size.

    The sizes that the archive states are not trusted. InputError if it cannot be read or is not ours.
    """
    check_file(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise InputError(f"{path} has {path.stat().st_size:,} bytes and {_NOT_OURS}.", help=_CURE)
        with zipfile.ZipFile(path) as archive:
            listed = archive.infolist()
            if sorted(member.filename for member in listed) != sorted(_MEMBERS):
                raise InputError(f"{path} {_NOT_OURS}: it holds other files.", help=_CURE)
            return {member.filename: _member(path, archive, member) for member in listed}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.", help=_CURE) from error
    # A password is a RuntimeError, an unknown compression a NotImplementedError, which is one too.
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as error:
        raise InputError(f"{path} {_NOT_OURS}, or is damaged: {error}.", help=_CURE) from error


def _member(path: Path, archive: zipfile.ZipFile, listed: zipfile.ZipInfo) -> bytes:
    if listed.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{path} {_NOT_OURS}: {listed.filename} is compressed in another way.", help=_CURE)
    with archive.open(listed) as member:
        content = member.read(_LARGEST_MEMBER + 1)
    if len(content) > _LARGEST_MEMBER:
        raise InputError(f"{path} {_NOT_OURS}: {listed.filename} is too large.", help=_CURE)
    return content


def _check_manifest(path: Path, content: bytes) -> None:
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} {_NOT_OURS}: its manifest is not JSON.", help=_CURE) from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise InputError(f"{path} {_NOT_OURS}.", help=_CURE)
    if manifest.get("version") != _VERSION:
        raise InputError(
            f"{path} has version {manifest.get('version')!r}; this program reads version {_VERSION}.",
            help="Ask again with a program of that version.",
        )


def _kept_passage(hit: Hit) -> KeptPassage:
    document = hit.document
    text_hash = hashlib.sha256(hit.text.encode("utf-8", "surrogatepass")).hexdigest()
    return KeptPassage(hit.child_id, document.document_id, document.file, hit.page, document.sha256, text_hash)


def _kept_prompt(prompt: Prompt) -> KeptPrompt:
    return KeptPrompt(
        system=prompt.system,
        user=prompt.user,
        sources=tuple(source.n for source in prompt.sources),
        left_out=tuple(source.n for source in prompt.left_out),
        tokens=prompt.tokens,
        num_ctx=prompt.num_ctx,
        temperature=prompt.temperature,
    )


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """A difference: its part of the bundle, and the value before and now."""

    part: Part
    message: str


def compare_bundles(
    kept: AnswerBundle, now: AnswerBundle, documents: Mapping[str, Collection[str]]
) -> tuple[ReplayDifference, ...]:
    """Return the differences between two answers to one question, the plan first, the answer last.

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
    return f"{_place(passage.file, passage.page)} ({passage.child_id})"


def _place(file: str, page: int) -> str:
    """Return a place by the sheet alone, which no reading of the file changes."""
    return ", ".join(filter(None, (file, pages_text(file, {page: None}))))


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
            "answer by": bundle.answer.generator,
            "language model": bundle.circumstances.model,
            "digest": bundle.circumstances.model_digest,
            "digest of the judge": bundle.circumstances.judge_digest,
            "encoder": bundle.circumstances.encoder,
        }
        for bundle in (kept, now)
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
    values = [
        {"status": answer.status, "text": answer.text, "quotations": answer.quotations} for answer in (before, after)
    ]
    yield from _fields("", *values)
    cited, cited_now = _places(before), _places(after)
    yield from (f"not cited any more: {place}" for place in cited if place not in cited_now)
    yield from (f"cited now, not before: {place}" for place in cited_now if place not in cited)
    if cited != cited_now and sorted(cited) == sorted(cited_now):
        yield "the citations are in another order"


def _places(answer: KeptAnswer) -> list[str]:
    """Return the place and the quote of each citation."""
    return [
        f"[Source {citation.n}] {_place(citation.file, citation.page)}: {_shown(citation.quote)}"
        for citation in answer.citations
    ]


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
    """Return whether the answer itself is another."""
    return any(difference.part == "answer" for difference in differences)
