"""The words of deleted documents leave the disk, and nothing else does."""

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.backends.tantivy import TantivyIndex, open_sparse_index
from rag_engine.errors import WorkspaceError
from tests.rag_engine.backends.conftest import ROWS, found


def stored_words(folder: Path, field: str = "surface") -> set[str]:
    """Words that the files of the index hold, of living and deleted children."""
    opened = tantivy.Index.open(str(folder))
    opened.reload()
    return {term for term, _ in opened.searcher().terms_with_prefix(field, "")}


def rows_of(documents: Collection[int]) -> list[tuple[int, int, str, str]]:
    return [row for row in ROWS if row[1] in documents]


def test_the_words_of_a_deleted_document_leave_the_disk_when_compacted(index: TantivyIndex, folder: Path) -> None:
    assert found(index, "calore", "it") == [5]
    before = {query: index.search(query, "en", 10) for query in ("flooded city", "WHO heat", "2030")}
    index.add([(20, 20, "en", "Zyxomma ZYX-7 names a secret witness.")])
    index.delete_documents([3])
    index.commit()
    index.delete_documents([20])
    index.commit()
    assert {"bologna", "alluvioni"} <= stored_words(folder)
    index.compact(rows_of)
    for field in ("surface", "stems", "acronyms", "language"):
        left = " ".join(stored_words(folder, field))
        assert not [word for word in ("bologna", "alluvion", "zyx", "witness", "oms", "it:") if word in left]
    assert not list(folder.glob("*.del"))
    assert not [path for path in folder.iterdir() if b"bologna" in path.read_bytes().lower()]
    assert index.keys() == {1, 2, 3, 6, 7}
    assert {query: [key for key, _ in index.search(query, "en", 10)] for query in before} == {
        query: [key for key, _ in hits if key not in (4, 5)] for query, hits in before.items()
    }


def test_compacting_writes_only_what_lies_beside_deleted_children(index: TantivyIndex, folder: Path) -> None:
    assert index.compact(rows_of) == 0
    index.add([(20, 20, "en", "Wildfire"), (21, 21, "en", "Drought")])
    index.commit()
    index.delete_documents([20])
    index.commit()
    asked: list[int] = []

    def children_of(documents: Collection[int]) -> list[tuple[int, int, str, str]]:
        asked.extend(documents)
        return [(21, 21, "en", "Drought")]

    assert index.compact(children_of) == 1
    assert asked == [21]
    assert "wildfire" not in stored_words(folder)
    assert index.keys() == {21, *(row[0] for row in ROWS)}
    assert index.compact(children_of) == 0


def test_a_compaction_beyond_its_limit_does_nothing_and_says_so(index: TantivyIndex, folder: Path) -> None:
    index.delete_documents([3])
    index.commit()
    assert index.compact(rows_of, at_most=4) is None
    assert "bologna" in stored_words(folder)
    assert index.compact(rows_of, at_most=5) == 5
    assert "bologna" not in stored_words(folder)


def test_an_index_whose_last_document_was_deleted_holds_no_words(index: TantivyIndex, folder: Path) -> None:
    index.delete_documents([1, 2, 3, 4, 5])
    index.commit()
    index.compact(rows_of)
    assert stored_words(folder) == set()
    assert index.keys() == set()


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_compacting_keeps_every_child_and_no_deleted_word(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("compacted")
    index = open_sparse_index(folder, writable=True)
    # A commit makes a segment, so documents lie across several.
    commits = data.draw(st.lists(st.lists(st.integers(1, 6), max_size=6), max_size=10))
    rows = []
    for number, documents in enumerate(commits):
        here = [(100 * number + place, one, "en", f"word{one} plan") for place, one in enumerate(documents)]
        index.add(here)
        index.commit()
        rows += here
    deleted = data.draw(st.sets(st.integers(1, 6)))
    index.delete_documents(deleted)
    index.commit()
    index.compact(lambda documents: [row for row in rows if row[1] in documents])
    kept = [row for row in rows if row[1] not in deleted]
    assert index.keys() == {row[0] for row in kept}
    assert stored_words(folder) == {word for row in kept for word in row[3].split()}


def test_a_compaction_that_breaks_off_loses_nothing_and_can_be_repeated(index: TantivyIndex, folder: Path) -> None:
    index.delete_documents([3])
    index.commit()

    def children_of(documents: Collection[int]) -> Iterator[tuple[int, int, str, str]]:
        yield from rows_of(documents)[:1]
        raise WorkspaceError("The catalog is away.")

    with pytest.raises(WorkspaceError, match="away"):
        index.compact(children_of)
    index.commit()
    assert index.keys() == {1, 2, 3, 6, 7}
    index.compact(rows_of)
    assert index.keys() == {1, 2, 3, 6, 7}
    assert "bologna" not in stored_words(folder)


def test_a_reader_that_was_open_follows_a_compaction(index: TantivyIndex, folder: Path) -> None:
    reader = open_sparse_index(folder, writable=False)
    assert found(reader, "flood")[0] in {1, 3}
    index.delete_documents([1])
    index.commit()
    index.compact(rows_of)
    assert found(reader, "flood") == [3]


def test_what_was_deleted_when_a_process_was_killed_before_its_commit_can_be_deleted_again(
    index: TantivyIndex, folder: Path, tmp_path: Path
) -> None:
    killed = tmp_path / "killed"
    shutil.copytree(folder, killed)
    other = open_sparse_index(killed, writable=True)
    other.delete_documents([3])
    other.commit()
    # Written before the commit, and there without it where the process ends between the two.
    [deleted] = killed.glob("*.del")
    shutil.copy(deleted, folder)
    index.delete_documents([3])
    index.commit()
    assert found(index, "calore", "it") == []
