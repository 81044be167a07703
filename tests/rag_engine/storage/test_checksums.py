"""Changed bytes in vectors or the keyword index are noticed, named, and made again alone."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rag_engine.backends.tantivy import check_files, open_sparse_index
from rag_engine.engine import Engine
from rag_engine.errors import WorkspaceError
from rag_engine.storage.manifest import manifest_of
from rag_engine.storage.vector_file import VectorFile
from tests.rag_engine.conftest import CountingEmbedder, unread


def open_engine(workspace: Path, embedder: CountingEmbedder | None = None) -> Engine:
    return Engine(unread(workspace), embedder=embedder or CountingEmbedder())


def damage(workspace: Path, row: int, value: bytes) -> None:
    [file] = (workspace / "vectors").glob("*.f32")
    with file.open("r+b") as vectors:
        vectors.seek(row * 4 * CountingEmbedder.dimension + 8)
        vectors.write(value)


@pytest.mark.parametrize("value", [np.float32("nan").tobytes(), b"\x01", np.full(9, 1e30, np.float32).tobytes()])
def test_a_damaged_vector_is_named_and_answers_nothing_until_it_is_encoded_again(workspace: Path, value: bytes) -> None:
    with closing(open_engine(workspace)) as engine:
        assert engine.collection.damaged_vectors() == []
        vectors = np.array(engine.collection.view().vectors)
        row = int(engine.collection.snapshot().rows[0])
        named = engine.collection.snapshot().documents[int(engine.collection.snapshot().owners[0])].file
    damage(workspace, row, value)
    embedder = CountingEmbedder()
    manifest_of(embedder)  # its scale, which is measured once
    with closing(open_engine(workspace, embedder)) as engine:
        assert [one.file for one in engine.collection.damaged_vectors()] == [named]
        with pytest.raises(WorkspaceError, match=r"1 vectors of .* are damaged, or from before.*rebuild --encode"):
            engine.collection.view()
        with pytest.raises(WorkspaceError, match="are damaged, or from before"):
            engine.rebuild()
        embedder.encoded = 0
        engine.rebuild(encode=True)
        with_damage = embedder.encoded
        assert engine.collection.damaged_vectors() == []
        again = engine.collection.view()
        assert np.isfinite(again.vectors).all()
        assert {one.tobytes() for one in again.vectors[again.snapshot.rows]} == {
            one.tobytes() for one in vectors if one.any()
        }
        embedder.encoded = 0
        engine.rebuild(encode=True)
    # What chunking reads is encoded each time; of the passages the damaged one alone, with its sentences.
    assert 0 < with_damage - embedder.encoded < 20


def test_a_row_without_a_checksum_counts_as_damaged_and_no_other_write_gives_it_one(tmp_path: Path) -> None:
    store = VectorFile(tmp_path, "model", 4)
    vectors, checksums = tmp_path / "model-4.f32", tmp_path / "model-4.crc"
    store.write(np.arange(3), np.eye(3, 4, dtype=np.float32))
    checksums.write_bytes(checksums.read_bytes()[:8])
    assert store.damaged(np.arange(9)).tolist() == [2]
    # Row 4 lies between what was there and what is written.
    store.write(np.array([5]), np.ones((1, 4), np.float32))
    assert store.damaged(np.arange(9)).tolist() == [2, 3, 4]
    store.erase(np.array([3]))
    assert store.damaged(np.arange(9)).tolist() == [2, 3, 4]
    checksums.unlink()
    assert store.damaged(np.arange(9)).tolist() == [0, 1, 2, 3, 4, 5]
    store.write(np.array([0]), np.eye(1, 4, dtype=np.float32))
    assert store.damaged(np.arange(9)).tolist() == [1, 2, 3, 4, 5]
    store.keep_only_this_model()
    assert {path.name for path in tmp_path.iterdir()} == {vectors.name, checksums.name}


def test_rows_that_are_zero_already_are_not_erased_once_more(tmp_path: Path) -> None:
    store = VectorFile(tmp_path, "model", 4)
    store.write(np.arange(3), np.eye(3, 4, dtype=np.float32))
    store.erase(np.array([0, 2]))
    assert not store.all()[[0, 2]].any()
    assert store.damaged(np.arange(3)).tolist() == []
    before = (tmp_path / "model-4.crc").stat().st_mtime_ns
    store.erase(np.array([0, 2]))
    assert (tmp_path / "model-4.crc").stat().st_mtime_ns == before


def change_sentences(workspace: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the kept sentences of the first passage that has some."""
    with closing(sqlite3.connect(workspace / "catalog.sqlite")) as connection:
        first = "SELECT row, sentences FROM vectors WHERE length(sentences) > 256 ORDER BY row"
        row, kept = connection.execute(first).fetchone()
        connection.execute("UPDATE vectors SET sentences = ? WHERE row = ?", (change(kept), row))
        connection.commit()


@pytest.mark.parametrize(
    "change",
    [lambda kept: bytes([kept[0] ^ 1]) + kept[1:], lambda kept: kept[:-4], lambda _: b""],
    ids=["a flipped bit", "without a checksum", "nothing"],
)
def test_damaged_vectors_of_sentences_are_named_and_answer_nothing_until_they_are_encoded_again(
    workspace: Path, change: Callable[[bytes], bytes]
) -> None:
    def hits(engine: Engine) -> list[tuple[str, float]]:
        return [(hit.child_id, hit.cosine) for hit in engine.search("Who publishes the flood maps?").hits]

    with closing(open_engine(workspace)) as engine:
        before, kept = hits(engine), engine.catalog.sentences("counting", range(100))
    change_sentences(workspace, change)
    with closing(open_engine(workspace)) as engine:
        assert len(engine.collection.damaged_vectors()) == 1
        rows = engine.collection.snapshot().rows.tolist()
        with pytest.raises(WorkspaceError, match=r"sentences of 1 passages of .*damaged.*rebuild --encode"):
            engine.collection.view().sentences(rows)
        engine.rebuild(encode=True)
        assert engine.collection.damaged_vectors() == []
        assert sorted(engine.catalog.sentences("counting", range(100)).values()) == sorted(kept.values())
        assert hits(engine) == before != []


def test_without_checksums_nothing_answers_until_all_is_encoded_again(workspace: Path) -> None:
    [checksums] = (workspace / "vectors").glob("*.crc")
    checksums.unlink()
    with closing(open_engine(workspace)) as engine:
        rows = np.unique(engine.collection.snapshot().rows)
        with pytest.raises(WorkspaceError, match=rf"{len(rows)} vectors of .* are damaged, or from before"):
            engine.collection.view()
        # Neither whoever writes next nor a new index takes what lies there for what was written.
        with pytest.raises(WorkspaceError, match="are damaged, or from before"):
            engine.rebuild()
        engine.rebuild(encode=True)
        assert engine.collection.damaged_vectors() == []
        engine.collection.view()


def test_a_flipped_byte_anywhere_in_the_keyword_index_is_told_and_made_anew(workspace: Path) -> None:
    folder = workspace / "index" / "1" / "keywords"
    check_files(folder)
    files = [path for path in folder.iterdir() if path.suffix in (".idx", ".pos", ".term", ".store", ".fast")]
    assert len(files) >= 5
    for path in files:
        content = path.read_bytes()
        for place in (0, len(content) // 2, len(content) - 1):
            flipped = bytearray(content)
            flipped[place] ^= 0x10
            path.write_bytes(flipped)
            with pytest.raises(WorkspaceError, match=rf"is damaged: {path.name}\. Run `sextant rebuild`"):
                open_sparse_index(folder, writable=False)
        path.write_bytes(content[: len(content) // 2])
        with pytest.raises(WorkspaceError, match=rf"is damaged: {path.name}"):
            open_sparse_index(folder, writable=True)
        path.write_bytes(content)
    path.write_bytes(b"")
    with closing(open_engine(workspace)) as engine:
        with pytest.raises(WorkspaceError, match="is damaged"):
            engine.collection.sparse()
        engine.rebuild()
        assert engine.collection.sparse().keys() == set(engine.collection.snapshot().keys.tolist())
