"""Damage in Chroma's files of vectors is found by asking it in another process, and mended by a rebuild."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cli.doctor import examine
from rag_engine.config import ChunkingConfig, ChunkSizes, Config, read_config
from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import Written, document_of

# Chroma writes its vectors to files by the thousand.
_PASSAGES = 1100
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
