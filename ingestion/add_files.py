"""Files into the collection: read in a child process, described, indexed; each has an outcome."""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal, TypeVar

from ingestion import workspace as folders
from ingestion.config import read_ingestion_config
from ingestion.deduplication.find_duplicates import name_copied
from ingestion.deduplication.signatures import ComparedSource
from ingestion.deduplication.works import join_versions
from ingestion.extraction.extract import EXTRACTION_VERSION
from ingestion.extraction.identifiers import identifiers_of
from ingestion.extraction.text_cache import cleaned_reading, languages_of_parts
from ingestion.file_names import check_size, file_hash
from ingestion.file_reading import FileReading
from ingestion.fingerprints import hash_of
from ingestion.metadata.rules import METADATA_VERSION
from ingestion.metadata.sidecar import describe
from ingestion.metadata_file import NAME, read_descriptions
from ingestion.phases.deduplication import compared_source, keep_candidate, kept_candidates
from ingestion.phases.definition import attempt, said_of
from ingestion.phases.indexing import former_of, index_file, keep_original
from ingestion.pipeline.run import pass_phases
from ingestion.records.refused_files import WorkerStops
from ingestion.records.source_record import ADDED, FROM_LIST, SourceRecord, described_metadata, document_code
from ingestion.records.source_store import SourceStore, now
from ingestion.tools import Tools, open_reader, open_tools
from ingestion.types.description import Description
from ingestion.types.outcome import Outcome, Refusal
from ingestion.types.run import Progress
from ingestion.types.source import Download, ListedSource
from rag_engine import workspace as paths
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import OcrChoice
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.messages import NO_MESSAGE, Message, join_messages
from rag_engine.storage.indexer import Indexer, IndexingStopped, former_version
from rag_engine.storage.stores import stored_name
from rag_engine.text.analyzer import has_analyser
from rag_engine.text.control_characters import without_direction_marks
from rag_engine.text.file_kinds import is_of_system, why_no_file
from rag_engine.types.document import Document, DocumentRecord, ExtractedText, Metadata

_Done = TypeVar("_Done")

_PUT_BACK = Message("The workspace's copy of it was missing or damaged and was put back.")
_FORMER_KEPT = Message("Its earlier text is kept as a former version.")

# The phases that record what they find in a file and never refuse it.
_JUDGING = ("licence", "extraction", "quality")

# Bytes; a disk with less room is full, whatever is added to it.
_FULL = 2**25


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """Outcome of adding one file.

    `reason` says why it was not indexed, or which step was left out for an indexed file.
    """

    path: str
    document_id: str
    status: Literal["indexed", "unchanged", "refused", "failed"]
    reason: Message
    pages: int = 0
    ocr_pages: int = 0
    children: int = 0
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    """A file that was read in full, as a source; every byte of the document is of `copy`."""

    path: Path
    copy: Path
    fingerprint: str
    document: Document
    source: SourceRecord
    reading: FileReading
    compared: ComparedSource


def add_paths(
    paths: Sequence[Path],
    engine: Engine,
    *,
    replaces: DocumentRecord | None = None,
    again: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[FileOutcome]:
    """Add every file of the paths, in order; folders are walked, hidden files left out.

    One bad file never stops the others. A file that broke its reader before is tried again if it has changed, or with
    `again`. Documents indexed before `cancelled` turned true stay; the file in progress leaves nothing. The one file
    that `replaces` a document becomes its new version; the former one stays and answers questions `as_of` an earlier
    date.
    """
    files, refused = _listed(paths)
    if replaces is not None and len(files) != 1:
        raise InputError(
            "{count} files cannot replace {file}.",
            help="Name the one new version of it.",
            count=len(files),
            file=replaces.file,
        )
    sizes = [_size(path) for path in files]
    results: list[FileOutcome] = []
    # Nobody waits for a language model at each of a thousand files.
    config = replace(read_ingestion_config(engine.config.workspace), use_model=False)
    with engine.indexer() as indexer, open_tools(engine, config, again=again) as tools:
        lane = _Lane(engine, files, refused, tools)
        indexer.stopped = cancelled
        try:
            with closing(lane.read_all()) as reading:
                for position, read in enumerate(reading):
                    progress(_progress(results, sizes, files[position].name))
                    if cancelled():
                        break
                    results.append(lane.index(read, indexer, replaces) if isinstance(read, _Read) else read)
        except IndexingStopped:
            pass
        finally:
            # Copies of files that are the same as others, or were read when the addition was broken off.
            shutil.rmtree(lane.incoming, ignore_errors=True)
        if replaces is not None:
            _supersede(replaces, results, indexer, engine)
        if any(result.status == "indexed" for result in results):
            indexer.flush()
            _join_works(engine, indexer)
        indexer.finish()
    progress(_progress(results, sizes, ""))
    return results


def _supersede(replaced: DocumentRecord, results: Sequence[FileOutcome], indexer: Indexer, engine: Engine) -> None:
    """Note that the added file replaces a document, which answers only questions about a day before it."""
    ids = {
        result.document_id
        for result in results
        if result.status == "indexed" or (result.status == "unchanged" and result.document_id != replaced.document_id)
    }
    if not ids:
        return
    indexer.flush()
    newer = next(one.metadata for one in engine.collection.documents() if one.document_id in ids)
    metadata = former_version(replaced, newer, now()[:10]).metadata
    indexer.redescribe(replaced, metadata, f"superseded {replaced.sha256}")


def _progress(results: Sequence[FileOutcome], sizes: Sequence[int], current: str) -> Progress:
    done = len(results)
    pages = sum(result.pages for result in results if result.status == "indexed")
    return Progress(done, len(sizes), sum(sizes[:done]), sum(sizes), current, pages=pages)


def _listed(paths: Sequence[Path]) -> tuple[list[Path], dict[Path, Message]]:
    """Return the files of the paths in a stable order, each once, and why some of them are not to be read."""
    found: dict[Path, None] = {}
    refused: dict[Path, Message] = {}
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


class _Lane:
    """The way of the files of one addition, with the documents that the collection holds already."""

    def __init__(self, engine: Engine, files: Sequence[Path], refused: Mapping[Path, Message], tools: Tools) -> None:
        self.workspace = engine.config.workspace
        self.incoming = paths.files(self.workspace) / ".incoming"
        self.store = SourceStore(engine.catalog)
        self._stops = WorkerStops(folders.refused(self.workspace), again=tools.again)
        self._engine = engine
        self._files = files
        self._refused = refused
        # All before the first file: a wrong line shall not end a long addition in its middle.
        self._given = {folder: read_descriptions(folder) for folder in dict.fromkeys(path.parent for path in files)}
        self._tools = tools
        # What people corrected of a file holds when it is read again.
        corrections = groupby(self.store.corrections(), key=lambda correction: correction.code)
        self._corrections = {code: tuple(some) for code, some in corrections}
        self._of_this_run = {self.source(path): path for path in files}
        self.known: dict[str, DocumentRecord] = {}
        self._by_source: dict[str, tuple[str, FileOutcome]] = {}
        self._by_content: dict[str, tuple[str, FileOutcome]] = {}
        candidates = kept_candidates(self.store)
        self._compared: dict[str, ComparedSource] = {}
        for record, print_ in engine.catalog.fingerprints():
            self.known[record.source] = record
            if not record.is_former:
                # A former version answers no question of today: what has its content is a document of its own.
                code = document_code(record)
                self._compared |= {code: candidates[code]} if code in candidates else {}
                added = FileOutcome(
                    record.source,
                    record.document_id,
                    "indexed",
                    NO_MESSAGE,
                    record.pages,
                    record.ocr_pages,
                    record.children,
                    record.metadata.language,
                )
                self.remember(record.source, record.sha256, print_, added)

    def remember(self, source: str, sha256: str, print_: str, added: FileOutcome) -> None:
        """Record that the collection has this content for this source."""
        self._by_source[source] = print_, added
        self._by_content[sha256] = source, added

    def source(self, path: Path) -> str:
        """Return the identity of a file over the versions of its content; every upload is another file."""
        return f"upload:{path.parent.name}/{_shown(path.name)}" if self._is_upload(path) else _shown(path)

    def _is_upload(self, path: Path) -> bool:
        return path.parent.parent == folders.uploads(self.workspace)

    def unchanged(self, path: Path, sha256: str, print_: str) -> FileOutcome | None:
        """Return the entry for a file that need not be read again, or None."""
        print_before, added = self._by_source.get(self.source(path), ("", None))
        reason = NO_MESSAGE
        if added is not None and print_before != print_:
            return None
        if added is None:
            source, added = self._by_content.get(sha256, ("", None))
            if added is None or (source in self._of_this_run and file_hash(self._of_this_run[source]) != sha256):
                # The other file of this content is there no longer, or is about to get another content.
                return None
            shown = Path(added.path).name if added.path.startswith("upload:") else added.path
            reason = Message("Same content as {file}.", file=shown)
        return replace(added, path=_shown(path), status="unchanged", reason=reason)

    def _put_back(self, unchanged: FileOutcome, path: Path, sha256: str) -> FileOutcome:
        """Return the entry for an unchanged file, and put back lost copies of this content.

        A copy of other bytes is lost as well.
        """
        files = paths.files(self.workspace)
        lost = [stored_name(files, sha256, record.file) for record in self.known.values() if record.sha256 == sha256]
        lost = [copy for copy in lost if not copy.exists() or file_hash(copy) != sha256]
        if not lost:
            return unchanged
        copy, copied = self._keep_copy(path)
        if copied != sha256:
            raise OSError(f"{path.name} was changed while it was read")
        for stored in lost:
            keep_original(copy, stored, sha256)
        return replace(unchanged, reason=join_messages([unchanged.reason, _PUT_BACK]))

    def read_all(self) -> Generator[_Read | FileOutcome, None, None]:
        """Yield every file read or refused, in order; some are read while another is being indexed."""
        if self._stops.one_at_a_time:
            yield from map(self._read, self._files)
            return
        readers = self._tools.config.extraction_processes
        pool = ThreadPoolExecutor(readers)
        ahead: deque[Future[_Read | FileOutcome]] = deque()
        try:
            for path in self._files:
                ahead.append(pool.submit(self._read, path))
                if len(ahead) > readers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            # Broken off: nobody waits for the file that is being read, which may take minutes.
            if ahead:
                self._tools.abort()
            pool.shutdown(cancel_futures=True)

    def _read(self, path: Path) -> _Read | FileOutcome:
        def said(error: Exception) -> Message:
            return Message("{file} cannot be read: {error}.", file=_shown(path.name), error=_cause(error))

        return _ended(path, attempt(lambda: self._read_file(path), said))

    def _read_file(self, path: Path) -> _Read | FileOutcome:
        if path in self._refused:
            raise Refusal("unsupported_type", "{why}.", help="Add the file itself.", why=self._refused[path])
        check_size(path, self._tools.config.limits)
        source, given = self.source(path), self._given[path.parent].get(path.name, {})
        # Of an upload its name alone: the folder that it came into says nothing of it.
        name = f"upload:{_shown(path.name)}" if self._is_upload(path) else source
        judged_by = [repr(self._tools.config.quality), self._tools.config.scope]
        made_of = [given, EXTRACTION_VERSION, METADATA_VERSION, name, repr(self._engine.config.chunking), judged_by]
        sha256 = file_hash(path)
        unchanged = self.unchanged(path, sha256, hash_of([sha256, *made_of]))
        if unchanged:
            return self._put_back(unchanged, path, sha256)
        # Hash, text and page images are all of this copy, whatever becomes of the file meanwhile.
        copy, sha256 = self._keep_copy(path)
        try:
            with self._stops.at(f"reading {sha256}", _shown(path.name)):
                reading = self._tools.read_anew(copy, sha256)
        except Refusal:
            shutil.rmtree(copy.parent, ignore_errors=True)
            raise
        # A title may be made of the file's name.
        extracted = replace(reading.extracted, title=_shown(reading.extracted.title))
        reading = replace(reading, extracted=extracted)
        found, description = _describe(reading, given, path)
        file = ListedSource(
            source, path=str(copy), title=_shown(path.name), licence=given.get("licence", ""), origin=ADDED
        )
        tools = replace(self._tools, reading=cleaned_reading(reading, found.language))
        place, media_type = copy.relative_to(self.workspace).as_posix(), extracted.media_type
        kept = Download(place, (), sha256, copy.stat().st_size, media_type, "file", now(), how="local")
        record = SourceRecord(
            file, {"acquisition": Outcome("done", "", evidence=kept)}, self._corrections.get(source, ())
        )
        record = pass_phases(record, _JUDGING, tools).having("metadata", Outcome("done", "", evidence=description))
        document = Document(source, file.title, sha256, described_metadata(record, found), extracted)
        print_, compared = hash_of([sha256, *made_of]), compared_source(record, tools)
        return _Read(path, copy, print_, document, record, reading, compared)

    def compare(self, read: _Read) -> Outcome:
        """Return the outcome of comparing a file with the documents of the collection, which it joins."""
        outcome = name_copied(read.compared, self._compared.values(), self._tools.config.deduplication)
        self._compared[read.source.code] = read.compared
        keep_candidate(read.compared, read.source, self.store)
        return outcome

    def index(self, read: _Read, indexer: Indexer, replaces: DocumentRecord | None) -> FileOutcome:
        """Return what comes of a file that was read, unless two workers were stopped at it."""

        def said(error: Exception) -> Message:
            return Message("{file} was not indexed: {error}", file=read.document.file, error=_cause(error))

        at = self._stops.at(f"indexing {read.document.sha256}", read.document.file)
        try:
            return _ended(read.path, attempt(lambda: _index(read, indexer, self, replaces), said, at))
        finally:
            shutil.rmtree(read.copy.parent, ignore_errors=True)

    def _keep_copy(self, path: Path) -> tuple[Path, str]:
        """Return a copy of the file under its name, and the hash of the copied bytes."""
        self.incoming.mkdir(parents=True, exist_ok=True)
        size, free = path.stat().st_size, shutil.disk_usage(self.incoming).free
        if _FULL < free < size:
            raise Refusal(
                "too_large",
                "{file} has {size:,} bytes; the disk of the workspace has room for {free:,}.",
                help="Free space on it, then add the file again.",
                file=path.name,
                size=size,
                free=free,
            )
        kept = Path(mkdtemp(dir=self.incoming)) / path.name
        with path.open("rb") as original, kept.open("wb") as copy:
            shutil.copyfileobj(original, copy, 1 << 20)
        return kept, file_hash(kept)


def _join_works(engine: Engine, indexer: Indexer) -> None:
    """Join the versions of each work among added files; of the list the comparison of its sources does."""
    known = {record.key: (record, print_) for record, print_ in engine.catalog.fingerprints()}
    added = [record for record, _ in known.values() if not record.source.startswith(FROM_LIST)]
    for record, metadata in list(join_versions(added)):
        indexer.redescribe(record, metadata, known[record.key][1])


def _index(read: _Read, indexer: Indexer, lane: _Lane, replaces: DocumentRecord | None) -> FileOutcome:
    # Again, because a file before this one in the same run may have had the same content.
    document, path = read.document, _shown(read.path)
    unchanged = lane.unchanged(read.path, document.sha256, read.fingerprint)
    if unchanged:
        return unchanged
    known = lane.known.get(document.source)
    former = former_of(known, document.sha256, document.metadata, now()[:10])
    document = replace(document, metadata=_among_versions(document.metadata, known, former is not None, replaces))
    outcomes = {**read.source.outcomes, "deduplication": lane.compare(read)}
    # Where the copy was while it was read is no place to remember.
    del outcomes["acquisition"]
    lane.store.put_description(replace(read.source, outcomes=outcomes))
    children, warnings = index_file(
        document, read.reading, read.copy, read.fingerprint, former, indexer, lane.workspace
    )
    extracted, language = document.extracted, document.metadata.language
    found = (
        outcome.message for outcome in map(outcomes.get, ("quality", "deduplication")) if outcome and outcome.reason
    )
    notes = (_FORMER_KEPT if former else "", *extracted.warnings, *warnings, _not_done(extracted, language), *found)
    reason, read_by_ocr = join_messages(notes), len(extracted.ocr_pages)
    added = FileOutcome(path, document.document_id, "indexed", reason, extracted.pages, read_by_ocr, children, language)
    lane.remember(document.source, document.sha256, read.fingerprint, added)
    return added


def _cause(error: Exception) -> Message:
    """Return the message of an error, to be shown next to the file's name."""
    return Message(getattr(error, "strerror", None) or said_of(error))


def _ended(path: Path, ended: _Done | Outcome) -> _Done | FileOutcome:
    if not isinstance(ended, Outcome):
        return ended
    return FileOutcome(_shown(path), "", "refused" if ended.status == "refused" else "failed", ended.message)


def _among_versions(
    metadata: Metadata, known: DocumentRecord | None, former: bool, replaced: DocumentRecord | None
) -> Metadata:
    """Return a file's metadata with its place among the versions of its work.

    `known` is the document of its source in the collection: a `former` version, else the file read again.
    """
    before = replaced or known
    if before is None:
        return metadata
    if replaced or former:
        return replace(metadata, work=before.metadata.work or before.origin)
    return replace(metadata, work=before.metadata.work, superseded=before.metadata.superseded)


def _describe(reading: FileReading, given: Mapping[str, Any], path: Path) -> tuple[Metadata, Description]:
    """Return the description of a file: the given values, and values found by rules for the others."""
    extracted = reading.extracted
    language = given.get("language") or identify_language(extracted.text)
    metadata, found = describe(given, extracted, language, file=path.name, declared=reading.properties)
    others, identifiers = languages_of_parts(extracted, language), identifiers_of(extracted, reading.properties)
    identifiers = metadata.identifiers or identifiers
    return replace(metadata, other_languages=others, identifiers=identifiers), found


def _not_done(extracted: ExtractedText, language: str) -> Message:
    messages: list[Message] = []
    if extracted.unread_pages:
        messages.append(
            Message("No text could be read on pages {pages}.", pages=", ".join(map(str, extracted.unread_pages)))
        )
    if not language:
        messages.append(Message("The language was not recognised; keywords are matched as they are written."))
    elif not has_analyser(language):
        messages.append(
            Message(
                "There is no stemmer for {language!r}; keywords are matched as they are written.", language=language
            )
        )
    return join_messages(messages)


def _shown(path: Path | str) -> str:
    """Return a path that can be shown and stored: without marks of direction, "?" for bytes outside UTF-8."""
    return without_direction_marks(os.fsencode(path).decode("utf-8", "replace"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_documents(
    names: Iterable[str], folder: Path, ocr: OcrChoice, progress: Callable[[int, int, str], None] = lambda *_: None
) -> list[Document]:
    """Return the named files of a folder in alphabetical order, described by its metadata.jsonl.

    InputError names a missing file, Refusal an unreadable one: without it the figures would be those of other
    questions.
    """
    wanted = sorted(set(names))
    missing = [name for name in wanted if not (folder / name).is_file() or why_no_file(folder / name, folder)]
    if missing:
        raise InputError(
            f"{folder} has no {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}.",
            help="Name the folder of the quoted documents.",
        )
    descriptions = read_descriptions(folder)
    documents: list[Document] = []
    with open_reader(ocr) as extractor:
        for done, name in enumerate(wanted):
            progress(done, len(wanted), name)
            path, given = folder / name, descriptions.get(name, {})
            sha256, reading = file_hash(path), extractor.read(path)
            metadata, _ = _describe(reading, given, path)
            documents.append(Document(f"quoted:{name}", _shown(name), sha256, metadata, reading.extracted))
    return documents
