"""Recovery from a crash: half-finished changes are finished or undone."""

from __future__ import annotations

import shutil

import sqlalchemy as sql

from rag_engine.storage import schema as tables
from rag_engine.storage.erase_document import ERASING, purge
from rag_engine.storage.rebuild import WAITING
from rag_engine.storage.stores import Stores
from rag_engine.storage.vector_rows import forget_missing_vectors, forget_unused_models, free_rows, sweep


def recover(stores: Stores) -> int:
    """Undo half additions, finish half deletions, and return the number of documents concerned.

    Vectors of an interrupted addition stay, so that the next one finds them. The vectors of a generation that waits
    stay too. These are removed:

    - vectors of a model that no document uses
    - copies of files that no document names
    - names of vectors that are not on the disk
    """
    d = tables.documents.c
    unfinished = d.status.not_in(("active", WAITING))
    half = [str(row[0]) for row in stores.catalog.read(sql.select(d.status).where(unfinished))]
    purge(stores, *{*half} - {"pending"})
    purge(stores, "pending", keep_vectors=True)
    if stores.catalog.state(ERASING):
        # Words and vectors leave the files of the indexes with `Collection`.
        sweep(stores)
    forget_unused_models(stores)
    forget_missing_vectors(stores)
    stores.vectors.erase(free_rows(stores))
    _remove_unknown_files(stores)
    return len(half)


def _remove_unknown_files(stores: Stores) -> None:
    # Compared and not opened, so that it need not be asked of each whether it leads out of the folder.
    known = {stores.files / document.sha256[:12] / document.file for document in stores.catalog.active_documents()}
    for folder in stores.files.glob("*"):
        for path in folder.rglob("*"):
            if path.is_file() and path not in known:
                path.unlink()
        if not any(path.is_file() for path in folder.rglob("*")):
            shutil.rmtree(folder)
    for folder in stores.drawings.glob("*"):
        if not (stores.files / folder.name).exists():
            shutil.rmtree(folder)
