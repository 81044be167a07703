"""An engine over the measured documents, and the options that say where they lie."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from ingestion.add_files import add_paths
from rag_engine.config import ROOT, read_config
from rag_engine.engine import Engine, open_engine


def add_corpus_options(parser: argparse.ArgumentParser) -> None:
    """Add the options --workspace and --shared."""
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))


@contextmanager
def corpus_engine(options: argparse.Namespace) -> Iterator[Engine]:
    """Yield an engine over the workspace of the options, or over one made of the documents for a while."""
    with (
        TemporaryDirectory(prefix="sextant-measure-") as folder,
        closing(open_engine(read_config(options.workspace or Path(folder)))) as engine,
    ):
        if not options.workspace:
            add_paths([options.shared / "data" / "corpus"], engine)
        yield engine
