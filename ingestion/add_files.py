"""Files into the collection: read in a child process, described, indexed; each ends with a status and a reason."""

from __future__ import annotations

import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal

from ingestion import workspace as folders
from ingestion.book_index.read import index_of_document
from ingestion.config import read_ingestion_config
from ingestion.extraction.extract import EXTRACTION_VERSION
from ingestion.file_names import check_size, file_hash
from ingestion.metadata.rules import METADATA_VERSION
from ingestion.metadata.sidecar import describe
from ingestion.metadata_file import NAME, read_descriptions
from ingestion.own_disk import raise_of_own_disk
from ingestion.protocols import Extractor
from ingestion.records.document_corrections import Correction, entered_corrections, standing
from ingestion.records.file_descriptions import DescribedFile, FileDescription, put_description
from ingestion.records.refused_files import RefusedFiles, WorkerStops
from ingestion.tools import open_reader, open_readers, reader_of
from ingestion.types import ExtractionLimits, FileReading, Progress, Refusal
from rag_engine import workspace as paths
from rag_engine.atomic_write import replacing
from rag_engine.backends.language_identification import identify_language
from rag_engine.book_index.anchors import IndexRecord
from rag_engine.config import OcrChoice
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError
from rag_engine.geography import Gazetteer, load_gazetteer
from rag_engine.storage.indexer import FormerVersion, Indexer, IndexingStopped, fingerprint, former_version
from rag_engine.storage.stores import stored_name
from rag_engine.text.analyzer import has_analyser
from rag_engine.text.control_characters import without_direction_marks
from rag_engine.text.file_kinds import is_of_system, why_no_file
from rag_engine.text.templates import kept_sentence
from rag_engine.types import Document, DocumentRecord, ExtractedText, Metadata

Status = Literal["indexed", "unchanged", "rejected", "failed"]

_PUT_BACK = kept_sentence("The workspace's copy of it was missing or damaged and was put back.")
_FORMER_KEPT = kept_sentence("Its earlier text is kept as a former version.")

_Descriptions = Mapping[Path, Mapping[str, dict[str, Any]]]

# Bytes; a disk with less room is full, whatever is added to it.
_FULL = 2**25


@dataclass(frozen=True, slots=True)
class Added:
    """Result of adding one file. `reason` says why it was not indexed, or what was not done with one that was."""

    path: str
    document_id: str
    status: Status
    reason: str
    pages: int = 0
    ocr_pages: int = 0
    children: int = 0
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that was read in full."""

    path: Path
    copy: Path
    fingerprint: str
    document: Document
    described: FileDescription
    records: tuple[IndexRecord, ...]


def add_paths(
    paths: Sequence[Path],
    engine: Engine,
    *,
    replaces: DocumentRecord | None = None,
    again: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[Added]:
    """Add every file of the paths, in order; folders are walked, hidden files left out.

    One bad file never stops the others; one that broke its reader before is tried only with `again`, unless it has
    changed. What was indexed before `cancelled` turned true stays, and nothing of the one it was at. The one file that
    `replaces` a document becomes its new version; the former one stays and answers questions `as_of` an earlier date.
    """
    files, refused = _listed(paths)
    if replaces is not None and len(files) != 1:
        raise InputError(
            "{count} files cannot replace {file}.",
            help="Name the one new version of it.",
            count=len(files),
            file=replaces.file,
        )
    # All before the first file: a wrong line shall not end a long addition in its middle.
    descriptions = {folder: read_descriptions(folder) for folder in dict.fromkeys(path.parent for path in files)}
    sizes = [_size(path) for path in files]
    results: list[Added] = []
    with engine.indexer() as indexer, open_readers(engine) as extractor:
        reader = _Reader(engine, files, refused, descriptions, extractor, again=again)
        indexer.stopped = cancelled
        with _nothing_left(engine.config.workspace), closing(reader.read_all()) as reading:
            for position, read in enumerate(reading):
                progress(_progress(results, sizes, files[position].name))
                if cancelled():
                    break
                if not isinstance(read, _Read):
                    results.append(read)
                    continue
                try:
                    results.append(reader.watched(read, partial(_index, read, indexer, engine, reader, replaces)))
                except IndexingStopped:
                    break
        if replaces is not None and any(_is_new_version(one, replaces) for one in results):
            _supersede(replaces, indexer)
        indexer.finish()
    progress(_progress(results, sizes, ""))
    return results


def _progress(results: Sequence[Added], sizes: Sequence[int], current: str) -> Progress:
    done = len(results)
    pages = sum(one.pages for one in results if one.status == "indexed")
    return Progress(done, len(sizes), sum(sizes[:done]), sum(sizes), current, pages=pages)


def _listed(paths: Sequence[Path]) -> tuple[list[Path], dict[Path, str]]:
    """Return the files of the paths in a stable order, each once, and why some of them are not to be read."""
    found: dict[Path, None] = {}
    refused: dict[Path, str] = {}
    for path in paths:
        if path.is_dir() and not is_of_system(path):
            inside = sorted(p for p in path.rglob("*") if (p.is_symlink() or not p.is_dir()) and p.name != NAME)
            visible = [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
            found.update(dict.fromkeys(p.absolute() for p in visible))
            refused |= {p.absolute(): why for p in visible if (why := why_no_file(p, path))}
        else:
            found[path.absolute()] = None
            refused |= {path.absolute(): why} if (why := why_no_file(path)) else {}
    return list(found), refused


class _Reader:
    """Reads the files of one addition, each from a copy of its own, and knows what the collection holds already."""

    def __init__(
        self,
        engine: Engine,
        files: Sequence[Path],
        refused: Mapping[Path, str],
        descriptions: _Descriptions,
        extractor: Extractor,
        *,
        again: bool,
    ) -> None:
        folder = folders.refused(engine.config.workspace)
        self._refused_before = RefusedFiles(folder, reader_of(engine.config.ocr, ExtractionLimits()), again=again)
        self._stops = WorkerStops(folder, again=again)
        self._workspace = engine.config.workspace
        self._chunking = engine.config.chunking
        self._files = files
        self._refused = refused
        self._descriptions = descriptions
        self._extractor = extractor
        self._readers = read_ingestion_config(engine.config.workspace).extraction_processes
        self._gazetteer = load_gazetteer()
        # What people corrected of a file holds when it is read again.
        self._corrections: dict[str, list[Correction]] = {}
        for one in standing(entered_corrections(engine.config.workspace)):
            self._corrections.setdefault(one.code, []).append(one)
        self._by_source: dict[str, tuple[str, Added]] = {}
        self._records: dict[str, DocumentRecord] = {}
        self._by_content: dict[str, tuple[str, Added]] = {}
        self._of_this_run = {self.source(path): path for path in files}
        for record, print_ in engine.catalog.fingerprints():
            self._records[record.source] = record
            if not record.is_former:
                # A former version answers no question of today: what has its content is a document of its own.
                self.remember(record.source, record.sha256, print_, _added(record))

    def remember(self, source: str, sha256: str, print_: str, added: Added) -> None:
        """Record that the collection has this content for this source."""
        self._by_source[source] = print_, added
        self._by_content[sha256] = source, added

    def known(self, source: str) -> DocumentRecord | None:
        """Return the document that the collection had of this source before the addition."""
        return self._records.get(source)

    def source(self, path: Path) -> str:
        """Return the identity of a file over the versions of its content; every upload is a file of its own."""
        return f"upload:{path.parent.name}/{_shown(path.name)}" if self._is_upload(path) else _shown(path)

    def _is_upload(self, path: Path) -> bool:
        return path.parent.parent == folders.uploads(self._workspace)

    def unchanged(self, path: Path, sha256: str, print_: str) -> Added | None:
        """Return the entry for a file that need not be read again, or None."""
        print_before, added = self._by_source.get(self.source(path), ("", None))
        reason = ""
        if added is not None and print_before != print_:
            return None
        if added is None:
            source, added = self._by_content.get(sha256, ("", None))
            if added is None or (source in self._of_this_run and file_hash(self._of_this_run[source]) != sha256):
                # The other file of this content is there no longer, or is about to get another content.
                return None
            shown = Path(added.path).name if added.path.startswith("upload:") else added.path
            reason = kept_sentence("Same content as {file}.", file=shown)
        return replace(added, path=_shown(path), status="unchanged", reason=reason)

    def _put_back(self, unchanged: Added, path: Path, sha256: str) -> Added:
        """Return the entry for an unchanged file, with the workspace's copies of this content where they were lost.

        A copy of other bytes is lost as well.
        """
        files = paths.files(self._workspace)
        lost = [stored_name(files, sha256, record.file) for record in self._records.values() if record.sha256 == sha256]
        lost = [copy for copy in lost if not copy.exists() or file_hash(copy) != sha256]
        for copy in lost:
            copy.parent.mkdir(parents=True, exist_ok=True)
            with replacing(copy, durable=True) as temporary:
                shutil.copyfile(path, temporary)
                if file_hash(temporary) != sha256:
                    raise OSError(f"{path.name} was changed while it was read")
        return replace(unchanged, reason=f"{unchanged.reason} {_PUT_BACK}".strip()) if lost else unchanged

    def watched(self, read: _Read, work: Callable[[], Added]) -> Added:
        """Return what comes of a file that was read, unless two workers were stopped at it."""
        try:
            with self._stops.at(f"indexing {read.document.sha256}", read.document.file):
                return work()
        except Refusal as refusal:
            shutil.rmtree(read.copy.parent, ignore_errors=True)
            return Added(_shown(read.path), "", refusal.status, str(refusal))

    def read_all(self) -> Generator[_Read | Added, None, None]:
        """Yield every file read or refused, in order; some are read side by side while another is being indexed."""
        if self._stops.one_at_a_time:
            yield from map(self._read, self._files)
            return
        pool = ThreadPoolExecutor(self._readers)
        ahead: deque[Future[_Read | Added]] = deque()
        try:
            for path in self._files:
                ahead.append(pool.submit(self._read, path))
                if len(ahead) > self._readers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            # Broken off: nobody waits for the file that is being read, which may take minutes.
            if ahead:
                self._extractor.abort()
            pool.shutdown(cancel_futures=True)

    def _read(self, path: Path) -> _Read | Added:
        try:
            if path in self._refused:
                raise Refusal("unsupported_type", "{why}.", help="Add the file itself.", why=self._refused[path])
            check_size(path, ExtractionLimits())
            return self._read_copy(path)
        except Refusal as refusal:
            return Added(_shown(path), "", refusal.status, str(refusal))
        except (OSError, UnicodeError) as error:
            raise_of_own_disk(error)
            cause = error.strerror if isinstance(error, OSError) and error.strerror else error
            return Added(
                _shown(path),
                "",
                "failed",
                kept_sentence("{file} cannot be read: {error}.", file=_shown(path.name), error=cause),
            )

    def _read_copy(self, path: Path) -> _Read | Added:
        given = self._descriptions[path.parent].get(path.name, {})
        # Of an upload its name alone: the folder that it came into says nothing of it.
        name = f"upload:{_shown(path.name)}" if self._is_upload(path) else self.source(path)
        described = f"{json.dumps(given, sort_keys=True)}{EXTRACTION_VERSION}{METADATA_VERSION} {name}"
        sha256 = file_hash(path)
        unchanged = self.unchanged(path, sha256, fingerprint(sha256, described, self._chunking))
        if unchanged:
            return self._put_back(unchanged, path, sha256)
        # Hash, text and page images are all of this copy, whatever becomes of the file meanwhile.
        copy = _keep_copy(path, paths.files(self._workspace))
        sha256 = copy.parent.name.rpartition("-")[2]
        try:
            with self._stops.at(f"reading {sha256}", _shown(path.name)):
                reading = self._refused_before.read(self._extractor, copy, sha256)
        except Refusal:
            shutil.rmtree(copy.parent, ignore_errors=True)
            raise
        # A title may be made of the file's name.
        title, table = _shown(reading.extracted.title), index_of_document(reading)
        warnings = (*reading.extracted.warnings, *table.warnings)
        reading = replace(reading, extracted=replace(reading.extracted, title=title, warnings=warnings))
        found = _describe(reading, given, self._gazetteer, path)
        metadata = DescribedFile(self.source(path), found, tuple(self._corrections.get(self.source(path), ()))).metadata
        document = Document(self.source(path), _shown(path.name), sha256, metadata, reading.extracted)
        return _Read(path, copy, fingerprint(sha256, described, self._chunking), document, found, table.records)


def _index(
    read: _Read, indexer: Indexer, engine: Engine, reader: _Reader, replaces: DocumentRecord | None = None
) -> Added:
    # Again, because a file before this one in the same run may have had the same content.
    document, path = read.document, _shown(read.path)
    unchanged = reader.unchanged(read.path, document.sha256, read.fingerprint)
    if unchanged:
        return unchanged
    known = reader.known(document.source)
    former = former_version(known, _today()) if known is not None and known.sha256 != document.sha256 else None
    document = replace(document, metadata=_among_versions(document.metadata, known, former, replaces))
    try:
        kept = stored_name(paths.files(engine.config.workspace), document.sha256, document.file)
        kept.parent.mkdir(exist_ok=True)
        read.copy.replace(kept)
        put_description(engine.config.workspace, document.source, read.described)
        children = indexer.add(document, read.fingerprint, read.records, former)
    except (BackendError, OSError) as error:
        raise_of_own_disk(error)
        return Added(
            path,
            document.document_id,
            "failed",
            kept_sentence("{file} was not indexed: {error}", file=document.file, error=error),
        )
    finally:
        shutil.rmtree(read.copy.parent, ignore_errors=True)
    added = Added(
        path=path,
        document_id=document.document_id,
        status="indexed",
        reason=f"{_FORMER_KEPT if former else ''} {_not_done(document.extracted, document.metadata.language)}".strip(),
        pages=document.extracted.pages,
        ocr_pages=len(document.extracted.ocr_pages),
        children=children,
        language=document.metadata.language,
    )
    reader.remember(document.source, document.sha256, read.fingerprint, added)
    return added


def _is_new_version(added: Added, former: DocumentRecord) -> bool:
    """Return whether the file is in the collection, as another document than the one it replaces."""
    return added.status == "indexed" or (added.status == "unchanged" and added.document_id != former.document_id)


def _supersede(former: DocumentRecord, indexer: Indexer) -> None:
    """Have the former version answer only questions about a day before this one."""
    indexer.flush()
    indexer.redescribe(former, former_version(former, _today()).metadata, f"superseded {former.sha256}")


def _among_versions(
    metadata: Metadata, known: DocumentRecord | None, former: FormerVersion | None, replaced: DocumentRecord | None
) -> Metadata:
    """Return a file's metadata with its place among the versions of its work, which the collection alone knows.

    `known` is what the collection has of its source: `former` where its content was another, else the file read anew.
    """
    if replaced is not None:
        return replace(metadata, work=former_version(replaced, "").metadata.work)
    if former is not None:
        return replace(metadata, work=former.metadata.work)
    if known is None:
        return metadata
    return replace(metadata, work=known.metadata.work, superseded=known.metadata.superseded)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _describe(reading: FileReading, given: Mapping[str, Any], gazetteer: Gazetteer, path: Path) -> FileDescription:
    """Return the description of a file: what was given, and for the rest what rules find."""
    language = given.get("language") or identify_language(reading.extracted.text)
    return describe(given, reading.extracted, language, gazetteer, file=path.name, declared=reading.properties)


def _not_done(extracted: ExtractedText, language: str) -> str:
    messages = list(extracted.warnings)
    if extracted.unread_pages:
        messages.append(
            kept_sentence("No text could be read on pages {pages}.", pages=", ".join(map(str, extracted.unread_pages)))
        )
    if not language:
        messages.append(kept_sentence("The language was not recognised; keywords are matched as they are written."))
    elif not has_analyser(language):
        messages.append(
            kept_sentence(
                "There is no stemmer for {language!r}; keywords are matched as they are written.", language=language
            )
        )
    return " ".join(messages)


@contextmanager
def _nothing_left(workspace: Path) -> Iterator[None]:
    """Remove the copies of files that are the same as others, or were read when the addition was broken off."""
    try:
        yield
    finally:
        shutil.rmtree(_incoming(paths.files(workspace)), ignore_errors=True)


def _incoming(files: Path) -> Path:
    return files / ".incoming"


def _keep_copy(path: Path, files: Path) -> Path:
    """Return a copy of the file under its own name, in a folder named by the hash of what was copied."""
    incoming = _incoming(files)
    incoming.mkdir(parents=True, exist_ok=True)
    size, free = path.stat().st_size, shutil.disk_usage(incoming).free
    if _FULL < free < size:
        raise Refusal(
            "too_large",
            "{file} has {size:,} bytes; the disk of the workspace has room for {free:,}.",
            help="Free space on it, then add the file again.",
            file=path.name,
            size=size,
            free=free,
        )
    folder = Path(mkdtemp(dir=incoming))
    with path.open("rb") as original, (folder / path.name).open("wb") as copy:
        shutil.copyfileobj(original, copy, 1 << 20)
    named = folder.with_name(f"{folder.name}-{file_hash(folder / path.name)}")
    folder.rename(named)
    return named / path.name


def _shown(path: Path | str) -> str:
    """Return a path as it can be shown and stored: without marks of direction; what is no UTF-8 is a question mark."""
    return without_direction_marks(os.fsencode(path).decode("utf-8", "replace"))


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


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_documents(
    names: Iterable[str], folder: Path, ocr: OcrChoice, progress: Callable[[int, int, str], None] = lambda *_: None
) -> list[Document]:
    """Return the named files of a folder in alphabetical order, described by its metadata.jsonl where there is one.

    InputError names a file that is missing, Refusal one that cannot be read: without it the figures would not be
    those of the questions.
    """
    wanted = sorted(set(names))
    missing = [name for name in wanted if not (folder / name).is_file() or why_no_file(folder / name, folder)]
    if missing:
        raise InputError(
            f"{folder} has no {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}.",
            help="Name the folder of the quoted documents.",
        )
    descriptions, gazetteer = read_descriptions(folder), load_gazetteer()
    documents: list[Document] = []
    with open_reader(ocr) as extractor:
        for done, name in enumerate(wanted):
            progress(done, len(wanted), name)
            path, given = folder / name, descriptions.get(name, {})
            sha256, reading = file_hash(path), extractor.read(path)
            metadata = _describe(reading, given, gazetteer, path).metadata
            documents.append(Document(f"quoted:{name}", _shown(name), sha256, metadata, reading.extracted))
    return documents
