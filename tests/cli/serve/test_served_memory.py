"""The memory of the Chroma that `sextant serve` starts: what of it gets into files."""

from __future__ import annotations

import gc
import platform
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from cli.serve.protection import LOOPBACK, Exposure
from cli.serve.servers import Servers, end_all
from rag_engine import workspace as paths
from rag_engine.backends.chroma import ChromaIndex, open_chroma
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.protocols import ChildFacets
from tests.rag_engine.conftest import CountingEmbedder

WORD = "Wardens"


def put(index: ChromaIndex, keys: range, word: str) -> None:
    vectors = np.random.default_rng(keys.start).standard_normal((len(keys), 384)).astype(np.float32)
    texts = [f"{word} walk along the crest {key} and write down every crack that {word} see. " * 8 for key in keys]
    facets: list[ChildFacets] = [{"document": 1, "parent_text": f"{word} " * 200} for _ in keys]
    index.upsert(np.array(keys), vectors, texts, facets)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory of another library than glibc")
def test_files_that_a_served_chroma_makes_later_hold_no_words_of_what_was_deleted(tmp_path: Path) -> None:
    with closing(Engine(read_config(tmp_path / "workspace"), embedder=CountingEmbedder())) as engine:
        workspace = engine.config.workspace
        here = paths.new_serving(workspace, f"http://{LOOPBACK}:1")
        servers = Servers(engine, Exposure(), here, workspace / "serving.log")
        try:
            servers.start_chroma()
            serving = servers.here
            index = open_chroma(paths.chroma(workspace), "any-1", url=serving.chroma_url, key=serving.key)
            for first in range(0, 400, 100):
                put(index, range(first, first + 100), WORD)
            index.delete(np.arange(400))
            # As every rebuild makes one.
            for number in range(2, 10):
                put(index.sibling(f"any-{number}"), range(20), "Others")
            index.close()
        finally:
            end_all(servers.processes)
    # Connections that were left open would be reported now.
    del index
    gc.collect()
    files = [path.read_bytes() for path in paths.chroma(workspace).glob("*/data_level0.bin")]
    assert len(files) > 1
    assert sum(WORD.encode() in one for one in files) == 0
