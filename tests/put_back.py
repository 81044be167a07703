"""A folder that was made once and that each test changes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def put_back(folder: Path) -> Iterator[Path]:
    """Yield the folder, and put it back as it was, at its place: documents are known by their paths."""
    with TemporaryDirectory() as aside:
        shutil.copytree(folder, aside, dirs_exist_ok=True)
        yield folder
        shutil.rmtree(folder)
        shutil.copytree(aside, folder)
