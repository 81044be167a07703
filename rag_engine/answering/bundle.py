"""An answer with all that it was made from, as a ZIP that another machine can read and ask again."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag_engine.answering.circumstances import Circumstances, shareable
from rag_engine.atomic_write import write_atomic
from rag_engine.config import Config
from rag_engine.errors import InputError
from rag_engine.filters import Filter
from rag_engine.text.file_kinds import check_file
from rag_engine.types import Answer, AnswerStatus, Citation, Hit, Prompt, QueryPlan

_FORMAT, _VERSION = "sextant-answer", 1
# An answer takes some 50 kB; nothing that is larger is one of ours.
_LARGEST_FILE, _LARGEST_MEMBER = 8_000_000, 4_000_000
_CURE = "Give a file that `sextant ask --bundle` wrote."
_NOT_OURS = "is not an answer that `sextant ask --bundle` kept"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as it was asked; `top_k`, `profile` and `mmr` are None or empty where the settings decided."""

    question: str
    filters: Mapping[str, tuple[str, ...]]
    top_k: int | None = None
    profile: str = ""
    mmr: float | None = None


@dataclass(frozen=True, slots=True)
class KeptPassage:
    """A passage that was found: its ids, and the hashes of its document and of its own text."""

    child_id: str
    document_id: str
    file: str
    page: int
    document_sha256: str
    text_sha256: str


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """Prompt that the generator was given; `sources` are the numbers of those in it, in their order."""

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
    text: str
    citations: tuple[Citation, ...]
    generator: str
    warnings: tuple[str, ...]
    quotations: str = ""


@dataclass(frozen=True, slots=True)
class AnswerBundle:
    """An answer and what it was made from; `prompt` is None where nothing was generated."""

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
_MANIFEST = "manifest.json"
_MEMBERS = (_MANIFEST, *(f"{name}.json" for name in _CODECS))


def bundle_of(
    asked: AskedQuestion, answer: Answer, prompt: Prompt | None, circumstances: Circumstances, config: Config
) -> AnswerBundle:
    """Return what is kept of an answer; warnings lose the paths of this machine."""

    def without_machine(given: Iterable[str]) -> tuple[str, ...]:
        return tuple(shareable(warning, config) for warning in dict.fromkeys(given))

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


def asked_question(
    question: str, wanted: Filter, *, top_k: int | None = None, profile: str = "", mmr: float | None = None
) -> AskedQuestion:
    """Return a question as it is kept."""
    return AskedQuestion(question, dict(wanted), top_k, profile, mmr)


def write_bundle(path: Path, bundle: AnswerBundle) -> None:
    """Write a bundle; the same bundle is the same file. InputError where the folder cannot be written."""
    contents = {f"{name}.json": _json(codec.dump_python(getattr(bundle, name))) for name, codec in _CODECS.items()}
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    manifest = _json({"format": _FORMAT, "version": _VERSION, "sha256": hashes})
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

    InputError for what is missing, damaged, larger than a bundle can be, or no bundle.
    """
    contents = _contents(path)
    manifest = _manifest(path, contents.pop(_MANIFEST))
    for name, content in contents.items():
        if manifest.get(name) != hashlib.sha256(content).hexdigest():
            raise InputError(f"{path} is damaged: {name} is not as it was written.", help=_CURE)
    try:
        parts = {name: codec.validate_json(contents[f"{name}.json"]) for name, codec in _CODECS.items()}
    except ValidationError as error:
        raise InputError(f"{path} {_NOT_OURS}: {error.errors()[0]['msg']}.", help=_CURE) from error
    return AnswerBundle(**parts)


def _contents(path: Path) -> dict[str, bytes]:
    """Return the members by name, each no longer than allowed whatever the archive says of it."""
    check_file(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise InputError(f"{path} has {path.stat().st_size:,} bytes and {_NOT_OURS}.", help=_CURE)
        with zipfile.ZipFile(path) as archive:
            listed = archive.infolist()
            if sorted(one.filename for one in listed) != sorted(_MEMBERS):
                raise InputError(f"{path} {_NOT_OURS}: it holds other files.", help=_CURE)
            return {one.filename: _member(path, archive, one) for one in listed}
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


def _manifest(path: Path, content: bytes) -> Mapping[str, str]:
    """Return the hashes of the members."""
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
    hashes = manifest.get("sha256")
    return hashes if isinstance(hashes, dict) else {}


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
