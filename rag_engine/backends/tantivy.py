"""The keyword index of the whole collection, one tantivy index in a folder."""

from __future__ import annotations

import atexit
import json
import math
import os
import shutil
import struct
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp

import tantivy
from tantivy import Occur, Query

from rag_engine.errors import WorkspaceError
from rag_engine.messages import Message
from rag_engine.protocols import ChildrenOf
from rag_engine.text.analyzer import acronyms, analyse, shared_terms, surface
from rag_engine.text.words.key_words import WantedWord, WantedWords, stands_for_longer, star_pattern
from rag_engine.text.words.search_words import Every, Node, Some, Without

_REBUILD = "Run `sextant rebuild`: the index is made again from the catalog."
# The length of the footer before it, and the number that marks a footer.
_END, _MARK = struct.Struct("<2I"), 1337
_WRITER_MEMORY = 64_000_000

# From this share of all children on, sifting the hits is faster than searching the allowed documents alone.
_SIFTED_SHARE = 0.2
_IDEAL_TERMS = 12
# Of a word that only begins with a wanted one; the word itself seldom scores as little.
_LONGER_SCORE = 0.5


def open_sparse_index(folder: Path, *, writable: bool) -> TantivyIndex:
    """Return the keyword index in the folder; a writable one is created if it is missing.

    Any number of processes may read while one writes. Raises WorkspaceError when the index is missing,
    damaged or of another layout.
    """
    missing = not folder.is_dir() or not tantivy.Index.exists(str(folder))
    if missing and not writable:
        raise WorkspaceError("There is no keyword index in {folder}.", help=_REBUILD, folder=folder)
    if missing:
        # Files of an index that has lost its list of files hold words that would never be removed.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    check_files(folder)
    with _readable(folder):
        index = tantivy.Index(_schema(), path=str(_lockable(folder)), reuse=True)
        # The default reader polls from a separate thread; ours looks when it is asked.
        index.config_reader("manual")
    return TantivyIndex(index, folder, writable=writable)


def _lockable(folder: Path) -> Path:
    """Return a folder in which a reader can make its lock.

    It is the index's folder, or a folder of links to its files if that cannot be written.
    """
    if os.access(folder, os.W_OK):
        return folder
    links = Path(mkdtemp(prefix="sextant-keywords-"))
    atexit.register(shutil.rmtree, links, ignore_errors=True)
    for path in (one for one in folder.iterdir() if one.suffix != ".lock"):
        (links / path.name).symlink_to(path.absolute())
    return links


def check_files(folder: Path) -> None:
    """Raise WorkspaceError if a file of the index is not as it was written.

    That takes a tenth of a second for 100 MB. At the end of each file, tantivy writes a checksum that it does not
    look at when it reads. Files that a writer removes meanwhile are no longer part of the index.
    """
    try:
        segments = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
        named = {str(one["segment_id"]).replace("-", ""): one.get("deletes") or {} for one in segments}
    except FileNotFoundError:
        return
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise WorkspaceError(
            "The keyword index in {folder} is damaged: meta.json.", help=_REBUILD, folder=folder
        ) from error
    for path in sorted(folder.iterdir()):
        segment, *rest = path.name.split(".")
        part_of_it = segment in named and (rest[-1] != "del" or rest[0] == str(named[segment].get("opstamp")))
        if part_of_it and not _is_whole(path):
            raise WorkspaceError(
                "The keyword index in {folder} is damaged: {file}.", help=_REBUILD, folder=folder, file=path.name
            )


def _is_whole(path: Path) -> bool:
    """Return whether a file of tantivy has the checksum that its last bytes give."""
    try:
        content = memoryview(path.read_bytes())
    except FileNotFoundError:
        return True
    length, mark = _END.unpack(content[-_END.size :]) if len(content) > _END.size else (0, 0)
    end = len(content) - _END.size - length
    if mark != _MARK or end < 0:
        return False
    try:
        checksum = json.loads(bytes(content[end : -_END.size]))["crc"]
    except (ValueError, KeyError, TypeError):
        return False
    return bool(checksum == zlib.crc32(content[:end]))


class TantivyIndex:
    """A SparseIndex on disk. Searches may come from any thread.

    - `stems`: the terms of a child with its language in front (it:alluvion), so that rarity counts within the language
    - `surface`: its words in sequence, for phrases and for words that are the same in every language
    - `acronyms`: its words in capitals, so that WHO is not who
    """

    def __init__(self, index: tantivy.Index, folder: Path, *, writable: bool) -> None:
        self._index = index
        self._schema = index.schema
        self._folder = folder
        self._writable = writable
        self._writer: tantivy.IndexWriter | None = None
        self._writing = threading.Lock()

    def add(self, rows: Iterable[tuple[int, int, str, str]]) -> None:
        """Add children as (key, document key, language, text); searches see them after `commit`."""
        with self._writing:
            writer = self._take_writer()
            for key, document, language, text in rows:
                entry = tantivy.Document()
                entry.add_unsigned("key", key)
                entry.add_unsigned("document", document)
                entry.add_text("language", language)
                entry.add_text("stems", _joined(analyse(text, language), f"{language}:"))
                entry.add_text("surface", _joined(surface(text)))
                entry.add_text("acronyms", _joined(acronyms(text)))
                with _writable(self._folder):
                    writer.add_document(entry)

    def delete_documents(self, documents: Collection[int]) -> None:
        """Delete the children of the documents, as of the next `commit`."""
        with self._writing, _writable(self._folder):
            writer = self._take_writer()
            for document in documents:
                # By a query: tantivy 0.27 finds nothing to delete for an unsigned term given as such.
                writer.delete_documents_by_query(self._term("document", document))

    def commit(self) -> None:
        """Write additions and deletions to the disk and let another process write."""
        with self._writing:
            if self._writer is None:
                return
            # A failed writer is released, so that no later commit takes half of its changes.
            writer, self._writer = self._writer, None
            with _writable(self._folder):
                writer.commit()
                writer.wait_merging_threads()

    def compact(self, children_of: ChildrenOf, *, at_most: int | None = None) -> int | None:
        """Write children again so that the words of deleted ones leave the disk, and return their number.

        If that is more than `at_most`, return None and do nothing.

        To be called after the `commit` of an erasure. tantivy keeps deleted children in their segment until it merges
        the segment. Deletions never bring this about, and its Python binding cannot ask for it. A segment that loses
        all of its children goes at once, though. So the documents that share a segment with deleted children are
        written again. A break-off leaves either the old segments or the new ones.

        `children_of` gives the children of such documents; a document it does not give is gone. Takes as long as adding
        them did (100,000 children of 800 characters: 17 s; 0.2 ms if nothing was deleted).
        """
        self.commit()
        with _readable(self._folder):
            documents, children = self._beside_deleted()
        if not documents:
            return 0
        if at_most is not None and children > at_most:
            return None
        try:
            self.delete_documents(documents)
            self.add(children_of(documents))
            self.commit()
        finally:
            self._discard()
        return children

    def search(
        self, query: str, language: str, top_k: int, *, allowed: Collection[int] | None = None, exact: bool = False
    ) -> list[tuple[int, float]]:
        """Return child keys with their BM25, best first, of the allowed documents if given.

        Children in the question's language match by stems. Children in other languages match by words that are the same
        everywhere: numbers, acronyms, names. Without a language all match by their words as written. `exact` matches
        the words as written, as a phrase, in any language.
        """
        if top_k < 1 or (allowed is not None and not allowed):
            return []
        with _readable(self._folder):
            searcher = self._searcher()
            if exact:
                asked = self._as_written(searcher, query)
            elif not language:
                asked = _any_of([self._term("surface", word) for word in dict.fromkeys(surface(query))])
            else:
                asked = _any_of([*self._by_stems(searcher, query, language), self._across(searcher, query, language)])
            if allowed is None:
                return _scored(searcher, searcher.search(asked, top_k, count=False).hits)
            return _scored(searcher, self._permitted(searcher, asked, top_k, frozenset(allowed)))

    def holding(self, wanted: WantedWords, *, allowed: Collection[int] | None = None) -> list[tuple[int, float]]:
        """Return every child that holds what is wanted and nothing excluded, with its BM25, best first.

        In a language of long words, a longer word that begins with a wanted one counts too, for less.
        """
        if not wanted or (allowed is not None and not allowed):
            return []
        with _readable(self._folder):
            searcher = self._searcher()
            if not searcher.num_docs:
                return []
            asked = self._wanted(wanted.tree)
            for language in wanted.passed:
                asked = asked.and_must_not_match(self._term("language", language))
            if allowed is not None:
                asked = _all_of([asked, self._among(allowed)])
            return _scored(searcher, searcher.search(asked, searcher.num_docs, count=False).hits)

    def ideal(self, query: str, language: str) -> float:
        """Return about the BM25 of a child in the language with each of the query's rarest twelve terms once.

        If none of them is known it is 0. A child of usual length scores a term's inverse document frequency. No child
        holds every word of a long question; its rarest words say what it is about.
        """
        with _readable(self._folder):
            searcher = self._searcher()
            of_language = searcher.doc_freq("language", language)
            found = (searcher.doc_freq("stems", f"{language}:{term}") for term in analyse(query, language))
            rarities = sorted((_rarity(count, of_language) for count in found if count), reverse=True)
        return sum(rarities[:_IDEAL_TERMS])

    def count(self) -> int:
        """Return the number of children that can be found."""
        with _readable(self._folder):
            return int(self._searcher().num_docs)

    def keys(self) -> set[int]:
        """Return the keys of all children that can be found."""
        with _readable(self._folder):
            return {int(key) for key, _ in _all_hits(self._searcher(), "key")}

    def _discard(self) -> None:
        """Forget uncommitted changes, so that no later commit takes half of them."""
        with self._writing:
            if self._writer is not None:
                writer, self._writer = self._writer, None
                with _writable(self._folder):
                    writer.rollback()

    def _beside_deleted(self) -> tuple[set[int], int]:
        """Documents with children in a segment that holds deleted ones, and the number of their children."""
        # The searcher numbers segments in the order of this file; its binding does not tell their content.
        segments = json.loads((self._folder / "meta.json").read_text(encoding="utf-8"))["segments"]
        touched = {number for number, segment in enumerate(segments) if segment["deletes"]}
        if not touched:
            return set(), 0
        held = [(int(document), address.segment_ord) for document, address in _all_hits(self._searcher(), "document")]
        documents: set[int] = set()
        # A document may lie in several segments, and taking it out of one leaves deleted children in the others.
        while found := {document for document, segment in held if segment in touched} - documents:
            documents |= found
            touched |= {segment for document, segment in held if document in documents}
        return documents, sum(document in documents for document, _ in held)

    def _searcher(self) -> tantivy.Searcher:
        """Return a view of the last commit of any process; looking for it takes 0.03 ms."""
        self._index.reload()
        return self._index.searcher()

    def _take_writer(self) -> tantivy.IndexWriter:
        """Return the writer, taken at the first change and held until `commit`."""
        if not self._writable:
            raise WorkspaceError("The keyword index in {folder} was opened for reading only.", folder=self._folder)
        if self._writer is None:
            try:
                # One thread: our analysis in Python is slower than tantivy, and one segment a commit is enough.
                self._writer = self._index.writer(_WRITER_MEMORY, 1)
            except ValueError as error:
                if "LockBusy" not in str(error):
                    raise _not_written(self._folder, error) from error
                raise WorkspaceError(
                    "The keyword index in {folder} is being written by another process ({error}).",
                    help="Wait until it has finished, or stop it.",
                    retryable=True,
                    folder=self._folder,
                    error=error,
                ) from error
            _remove_uncommitted(self._folder)
        return self._writer

    def _term(self, field: str, value: str | int) -> Query:
        return Query.term_query(self._schema, field, value)

    def _stem(self, language: str, stem: str) -> Query:
        """Return a query for a stem in a language, and for the longer words that it stands for."""
        term = self._term("stems", f"{language}:{stem}")
        if not stands_for_longer(stem, language):
            return term
        longer = Query.regex_query(self._schema, "stems", f"{language}:{stem}.+")
        return _any_of([term, Query.const_score_query(longer, _LONGER_SCORE)])

    def _wanted(self, node: Node[WantedWord]) -> Query:
        """Return the query for a part of what is wanted."""
        if isinstance(node, Some):
            return _any_of([self._wanted(part) for part in node.parts])
        if isinstance(node, Every | Without):
            parts = node.parts if isinstance(node, Every) else (node,)
            found = [self._wanted(part) for part in parts if not isinstance(part, Without)]
            asked = _all_of(found or [Query.const_score_query(Query.all_query(), 0.0)])
            for part in parts:
                if isinstance(part, Without):
                    asked = asked.and_must_not_match(self._wanted(part.part))
            return asked
        options = [
            _all_of([self._stem(language, stem) for stem in group])
            for language, groups in node.stems.items()
            for group in groups
        ]
        options += [self._in_sequence(words) for words in node.sequences]
        options += [Query.const_score_query(self._term("language", one), 0.0) for one in node.passed]
        # A word counts once, however many of its spellings are met.
        return Query.disjunction_max_query(options)

    def _in_sequence(self, words: Sequence[str]) -> Query:
        if any("*" in word for word in words):
            patterns = [star_pattern(word) for word in words]
            if len(words) > 1:
                return Query.regex_phrase_query(self._schema, "surface", patterns)
            return Query.const_score_query(Query.regex_query(self._schema, "surface", patterns[0]), _LONGER_SCORE)
        return (
            Query.phrase_query(self._schema, "surface", list(words))
            if len(words) > 1
            else self._term("surface", words[0])
        )

    def _among(self, allowed: Collection[int]) -> Query:
        """Return the query for the children of the allowed documents, with score 0."""
        return Query.const_score_query(Query.term_set_query(self._schema, "document", list(allowed)), 0.0)

    def _by_stems(self, searcher: tantivy.Searcher, query: str, language: str) -> list[Query]:
        """Return a query for each term, weighted by its rarity among the children of its language.

        tantivy counts rarity among all children, which makes every word of a small language look rare. The boost is the
        ratio of the two inverse document frequencies.
        """
        of_language = searcher.doc_freq("language", language)
        queries = []
        for term in analyse(query, language):
            found = searcher.doc_freq("stems", f"{language}:{term}")
            if found:
                boost = _rarity(found, of_language) / _rarity(found, max(searcher.num_docs, of_language))
                queries.append(Query.boost_query(self._term("stems", f"{language}:{term}"), boost))
        return queries

    def _across(self, searcher: tantivy.Searcher, query: str, language: str) -> Query:
        """Return a query for words that the languages share, in children of other languages."""
        shared = [self._as_written(searcher, term) for term in shared_terms(query)]
        return _any_of(shared).and_must_not_match(self._term("language", language)) if shared else Query.empty_query()

    def _as_written(self, searcher: tantivy.Searcher, text: str) -> Query:
        """Return the words of the text as a phrase, or its one word in capitals as an acronym.

        A word is an acronym only if the index holds it as one.
        """
        words = surface(text)
        capitals = acronyms(text)
        if len(words) == 1 and capitals and searcher.doc_freq("acronyms", capitals[0]):
            return self._term("acronyms", capitals[0])
        return self._in_sequence(words) if words else Query.empty_query()

    def _permitted(
        self, searcher: tantivy.Searcher, asked: Query, top_k: int, allowed: frozenset[int]
    ) -> list[tuple[float, tantivy.DocAddress]]:
        """Return the best hits of the allowed documents, with the scores they have without a filter.

        If the filter lets much through, the hits of a deeper search are sifted. Else, or if that does not give enough,
        tantivy walks the allowed documents only. Each way is the faster one on its side.
        """
        share = self._share(searcher, allowed)
        if share >= _SIFTED_SHARE:
            depth = math.ceil(1.5 * top_k / share) + 20
            hits = searcher.search(asked, depth, count=False).hits
            documents = searcher.fast_field_values("document", [address for _, address in hits])
            kept = [hit for hit, document in zip(hits, documents, strict=True) if document in allowed]
            if len(kept) >= top_k or len(hits) < depth:
                return kept[:top_k]
        both = _all_of([asked, self._among(allowed)])
        return list(searcher.search(both, top_k, count=False).hits)

    def _share(self, searcher: tantivy.Searcher, allowed: frozenset[int]) -> float:
        """Return the share of all children that the allowed documents hold, judged by a few of them."""
        few = list(islice(allowed, 16))
        children: int = sum(searcher.doc_freq("document", document) for document in few)
        all_children: int = max(1, searcher.num_docs)
        return min(1.0, len(allowed) * children / len(few) / all_children)


def _schema() -> tantivy.Schema:
    """Terms come analysed and joined by spaces; tantivy only splits them again."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", fast=True)
    builder.add_unsigned_field("document", indexed=True, fast=True)
    builder.add_text_field("language", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("stems", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("surface", tokenizer_name="whitespace", index_option="position")
    builder.add_text_field("acronyms", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def _joined(words: list[str], prefix: str = "") -> str:
    """Return the words with a space between, as the tokenizer takes them apart."""
    return prefix + f" {prefix}".join(words) if words else ""


def _all_hits(searcher: tantivy.Searcher, field: str) -> list[tuple[float, tantivy.DocAddress]]:
    """Return every child's value of a number field with its address."""
    if not searcher.num_docs:
        return []
    return list(searcher.search(Query.all_query(), searcher.num_docs, count=False, order_by_field=field).hits)


def _any_of(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _all_of(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Must, query) for query in queries])


def _rarity(found: int, total: int) -> float:
    """Return the inverse document frequency as Lucene and tantivy compute it.

    It is ln(1 + (N - n + 0.5) / (n + 0.5)).
    """
    return math.log((total + 1) / (found + 0.5))


def _scored(searcher: tantivy.Searcher, hits: list[tuple[float, tantivy.DocAddress]]) -> list[tuple[int, float]]:
    """Return keys with scores, best first.

    Equal scores come by key, so that the order does not depend on segments.
    """
    keys = searcher.fast_field_values("key", [address for _, address in hits])
    scored = [(int(key), float(score)) for key, (score, _) in zip(keys, hits, strict=True) if key is not None]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    """Turn tantivy's errors of reading into a WorkspaceError with its remedy."""
    try:
        yield
    except ValueError as error:
        raise WorkspaceError(
            "The keyword index in {folder} cannot be read: {error}", help=_REBUILD, folder=folder, error=error
        ) from error


def _remove_uncommitted(folder: Path) -> None:
    """Remove the lists of deleted children that a killed process wrote and did not commit.

    The next writer that deletes from the same segment writes a file of the same name, which tantivy would refuse.
    """
    committed = int(json.loads((folder / "meta.json").read_text(encoding="utf-8"))["opstamp"])
    for path in folder.glob("*.*.del"):
        if int(path.name.split(".")[1]) > committed:
            path.unlink()


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """Turn tantivy's errors of writing into a WorkspaceError with its remedy."""
    try:
        yield
    except ValueError as error:
        raise _not_written(folder, error) from error


def _not_written(folder: Path, error: ValueError) -> WorkspaceError:
    full = "No space left on device" in str(error)
    return WorkspaceError(
        "The keyword index in {folder} cannot be written: {error}.",
        help="See that its disk has room and can be written; the next change finishes the work.",
        folder=folder,
        error=Message("the disk is full") if full else error,
    )
