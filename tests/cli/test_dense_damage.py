"""Damage in Chroma's files of vectors is found by asking it in another process, and mended by a rebuild."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from cli.doctor import _asked, examine
from cli.serve.protection import LOOPBACK, Exposure
from cli.serve.servers import Servers, end_all
from rag_engine import workspace as paths
from rag_engine.config import ChunkingConfig, ChunkSizes, Config, read_config
from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import Written, document_of

# Chroma writes its vectors to files by the thousand.
_PASSAGES = 1100
ALL_WRITTEN = f"all {_PASSAGES} vectors as they were written"
_DENSE = "Dense index (Chroma)"


def config_of(workspace: Path) -> Config:
    chunking = ChunkingConfig("fixed", header=False, sizes=ChunkSizes(fixed_words=12, fixed_overlap=0))
    return replace(read_config(workspace), chunking=chunking)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workspace = tmp_path_factory.mktemp("made") / "workspace"
    chance = random.Random(7)
    words = [f"{chance.choice('bcdfg')}{chance.choice('aeiou')}{number:03}" for number in range(900)]
    text = " ".join(chance.choice(words) for _ in range(_PASSAGES * 12))
    with closing(Engine(config_of(workspace), embedder=CountingEmbedder())) as engine, engine.indexer() as indexer:
        indexer.add(document_of(Written("Words", (text,))), "words")
        indexer.finish()
    assert list((workspace / "index" / "chroma").glob("*/data_level0.bin"))
    return workspace


def dense(engine: Engine) -> tuple[str, str]:
    check = next(one for one in examine(engine) if one.name == _DENSE)
    return check.state, check.found


def flipped(content: bytes) -> bytes:
    """Flip a bit of every thousandth byte."""
    changed = bytearray(content)
    for place in range(500, len(changed), 1000):
        changed[place] ^= 0x40
    return bytes(changed)


def with_one_vector_changed(workspace: Path) -> None:
    """Flip a bit of one number of one vector, the last in the file, in which a search of others sees nothing."""
    [path] = (workspace / "index" / "chroma").glob("*/data_level0.bin")
    content = bytearray(path.read_bytes())
    # Behind the number of the record and before the links of the next.
    content[-8 - 41] ^= 0x40
    path.write_bytes(content)


def test_one_changed_vector_among_all_is_a_finding(made: Path, tmp_path: Path) -> None:
    workspace = Path(shutil.copytree(made, tmp_path / "workspace"))
    with closing(Engine(config_of(workspace), embedder=CountingEmbedder())) as engine:
        assert dense(engine) == ("good", f"{_PASSAGES} entries, 0 missing, 0 waiting for removal, {ALL_WRITTEN}")
    with_one_vector_changed(workspace)
    with closing(Engine(config_of(workspace), embedder=CountingEmbedder())) as engine:
        state, found = dense(engine)
        assert state == "bad"
        assert found.startswith(f"1 of {_PASSAGES} vectors compared are not as they were written")


@pytest.mark.parametrize("changed", [False, True])
def test_the_server_of_sextant_serve_is_asked_for_all_vectors(made: Path, tmp_path: Path, *, changed: bool) -> None:
    workspace = Path(shutil.copytree(made, tmp_path / "workspace"))
    if changed:
        with_one_vector_changed(workspace)
    with ExitStack() as at_end:
        engine = at_end.enter_context(closing(Engine(config_of(workspace), embedder=CountingEmbedder())))
        here = paths.new_serving(workspace, f"http://{LOOPBACK}:1")
        servers = Servers(engine, Exposure(), here, workspace / "serving.log")
        at_end.callback(end_all, servers.processes)
        at_end.callback(paths.withdraw, workspace)
        servers.start_chroma()
        state, found = dense(engine)
    assert state == ("bad" if changed else "good"), found
    assert (f"1 of {_PASSAGES} vectors compared" if changed else ALL_WRITTEN) in found


def test_what_there_is_no_time_to_compare_is_said(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Engine(config_of(made), embedder=CountingEmbedder())) as engine:
        compared, altered = engine.collection.altered_in_dense(0)
        assert (0 < compared < _PASSAGES, altered) == (True, 0)
        monkeypatch.setattr("cli.doctor._DENSE_SECONDS", 0.0)
        assert _asked(engine) == ("", f"{compared} of {_PASSAGES}, as many as 0 s allow, vectors as they were written")


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("data_level0.bin", flipped),
        ("header.bin", lambda content: content[:40] + b"\xff" * 8 + content[48:]),
    ],
    ids=["vectors and links", "header"],
)
def test_damage_in_the_files_of_vectors_is_a_finding_and_is_made_anew(
    made: Path, tmp_path: Path, file: str, change: Callable[[bytes], bytes]
) -> None:
    workspace = Path(shutil.copytree(made, tmp_path / "workspace"))
    [path] = (workspace / "index" / "chroma").glob(f"*/{file}")
    path.write_bytes(change(path.read_bytes()))
    with closing(Engine(config_of(workspace), embedder=CountingEmbedder())) as engine:
        state, found = dense(engine)
        assert state == "bad", found
        engine.rebuild()
    with closing(Engine(config_of(workspace), embedder=CountingEmbedder())) as engine:
        assert dense(engine)[0] == "good"
        assert engine.collection.misplaced_in_dense()[1] == 0
