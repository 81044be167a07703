"""Files into the collection: read in a child process, described, indexed; each ends with a status and a reason."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ingestion.backends.sandbox import Sandbox
from ingestion.describing import NAME, describe, read_descriptions
from ingestion.types import ExtractionLimits, FileRefused
from rag_engine import workspace as places
from rag_engine.analysis import has_analyser
from rag_engine.backends.language import identify_language
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.indexing import Indexer, fingerprint
from rag_engine.stores import stored_name
from rag_engine.types import Document, DocumentRecord, ExtractedText

Status = Literal["indexed", "unchanged", "rejected", "failed"]

# Raised when the text that is extracted from the same file becomes another, so that it is read again.
_EXTRACTION_VERSION = "1"


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one file. `reason` says why it was not indexed, or what was not done with one that was."""

    path: str
    document_id: str
    status: Status
    reason: str
    pages: int = 0
    ocr_pages: int = 0
    children: int = 0
    language: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an addition is; bytes tell the remaining time better than files do."""

    done: int
    total: int
    done_bytes: int
    total_bytes: int
    current: str


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that was read in full."""

    path: Path
    sha256: str
    fingerprint: str
    given: dict[str, Any]
    extracted: ExtractedText


def add_paths(
    paths: Sequence[Path],
    engine: Engine,
    *,
    limits: ExtractionLimits | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[Added]:
    """What became of every file of the paths, in order; folders are walked, hidden files left out.

    One bad file never stops the others. What was indexed before `cancelled` turned true stays.
    """
    files = list_files(paths)
    sizes = [_size(path) for path in files]
    results: list[Added] = []
    with engine.indexer() as indexer, Sandbox(limits or ExtractionLimits()) as sandbox:
        known = _Known(engine)
        for position, read in enumerate(_read_ahead(files, sandbox, known)):
            progress(Progress(position, len(files), sum(sizes[:position]), sum(sizes), files[position].name))
            if cancelled():
                break
            results.append(_index(read, indexer, engine, known) if isinstance(read, _Read) else read)
        indexer.finish()
    progress(Progress(len(results), len(files), sum(sizes[: len(results)]), sum(sizes), ""))
    return results


def list_files(paths: Sequence[Path]) -> list[Path]:
    """The files of the paths in a stable order, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and p.name != NAME)
            visible = [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
            found.update(dict.fromkeys(p.absolute() for p in visible))
        else:
            found[path.absolute()] = None
    return list(found)


class _Known:
    """What the collection holds already, by source and by content; grows with the run."""

    def __init__(self, engine: Engine) -> None:
        self.uploads = places.uploads(engine.config.workspace)
        self.chunking = engine.config.chunking
        self._by_source: dict[str, tuple[str, Added]] = {}
        self._by_content: dict[str, Added] = {}
        for record, print_ in engine.catalog.fingerprints():
            self.remember(record.source, record.sha256, print_, _added(record))

    def remember(self, source: str, sha256: str, print_: str, added: Added) -> None:
        self._by_source[source] = print_, added
        self._by_content[sha256] = added

    def source(self, path: Path) -> str:
        """What identifies a file over the versions of its content."""
        return f"upload:{path.name}" if path.parent == self.uploads else str(path)

    def unchanged(self, path: Path, sha256: str, print_: str) -> Added | None:
        """The entry for a file that need not be read again, or None."""
        print_before, before = self._by_source.get(self.source(path), ("", None))
        if before and print_before == print_:
            return _unchanged(before, path, "")
        same = self._by_content.get(sha256)
        if same and before is None:
            return _unchanged(same, path, f"Same content as {same.path}.")
        return None


def _read_ahead(files: Sequence[Path], sandbox: Sandbox, known: _Known) -> Iterator[_Read | Added]:
    """Every file read or refused, in order; one is read in the child process while another is being indexed."""
    descriptions: dict[Path, dict[str, dict[str, Any]]] = {}
    with ThreadPoolExecutor(1) as pool:
        ahead: deque[Future[_Read | Added]] = deque()
        for path in files:
            if path.parent not in descriptions:
                descriptions[path.parent] = read_descriptions(path.parent)
            given = descriptions[path.parent].get(path.name, {})
            ahead.append(pool.submit(_read, path, given, sandbox, known))
            if len(ahead) > 1:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def _read(path: Path, given: dict[str, Any], sandbox: Sandbox, known: _Known) -> _Read | Added:
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return Added(str(path), "", "failed", f"{path.name} cannot be read: {error.strerror}.")
    described = json.dumps(given, sort_keys=True) + _EXTRACTION_VERSION + known.source(path)
    print_ = fingerprint(sha256, described, known.chunking)
    unchanged = known.unchanged(path, sha256, print_)
    if unchanged:
        return unchanged
    try:
        return _Read(path, sha256, print_, given, sandbox.extract(path))
    except FileRefused as refusal:
        return Added(str(path), sha256[:12], refusal.status, str(refusal))


def _index(read: _Read, indexer: Indexer, engine: Engine, known: _Known) -> Added:
    # Again, because a file before this one in the same run may have had the same content.
    unchanged = known.unchanged(read.path, read.sha256, read.fingerprint)
    if unchanged:
        return unchanged
    extracted = read.extracted
    language = read.given.get("language") or identify_language(extracted.text)
    metadata = describe(read.given, extracted, language, engine.gazetteer())
    document = Document(known.source(read.path), read.path.name, read.sha256, metadata, extracted)
    _keep_copy(read.path, stored_name(places.files(engine.config.workspace), read.sha256, read.path.name))
    try:
        children = indexer.add(document, read.fingerprint)
    except BackendError as error:
        return Added(str(read.path), document.document_id, "failed", f"{read.path.name} was not indexed: {error}")
    added = Added(
        path=str(read.path),
        document_id=document.document_id,
        status="indexed",
        reason=_not_done(extracted, language),
        pages=extracted.pages,
        ocr_pages=len(extracted.ocr_pages),
        children=children,
        language=language,
    )
    known.remember(document.source, read.sha256, read.fingerprint, added)
    return added


def _not_done(extracted: ExtractedText, language: str) -> str:
    said = list(extracted.warnings)
    if extracted.unread_pages:
        said.append(f"No text could be read on pages {', '.join(map(str, extracted.unread_pages))}.")
    if not language:
        said.append("The language was not recognised; keywords are matched as they are written.")
    elif not has_analyser(language):
        said.append(f"There is no stemmer for {language!r}; keywords are matched as they are written.")
    return " ".join(said)


def _keep_copy(path: Path, copy: Path) -> None:
    """A copy that is either whole or not there."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.exists():
        temporary = copy.with_name(f"{copy.name}.{os.getpid()}.new")
        shutil.copyfile(path, temporary)
        temporary.replace(copy)


def _added(record: DocumentRecord) -> Added:
    return Added(
        path=record.source,
        document_id=record.document_id,
        status="indexed",
        reason="",
        pages=record.pages,
        ocr_pages=record.ocr_pages,
        children=record.children,
        language=record.metadata.language,
    )


def _unchanged(before: Added, path: Path, reason: str) -> Added:
    return Added(
        path=str(path),
        document_id=before.document_id,
        status="unchanged",
        reason=reason,
        pages=before.pages,
        ocr_pages=before.ocr_pages,
        children=before.children,
        language=before.language,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
