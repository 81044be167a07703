"""Manifest of an index: the encoder that made it; an index is only read with that encoder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_engine.calibration import Calibration, calibrate, read_pairs, shipped_scale
from rag_engine.errors import WorkspaceError
from rag_engine.protocols import Embedder


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """Model, dimension and prefixes of an index, and the scale of its cosines."""

    name: str
    dimension: int
    prefixes: tuple[str, str]
    calibration: Calibration

    def to_json(self) -> str:
        """Return the manifest as the catalog keeps it."""
        return json.dumps(asdict(self))


_CODEC = TypeAdapter(IndexManifest)


def manifest_of(embedder: Embedder) -> IndexManifest:
    """Return the manifest of an encoder, whose scale is shipped, or measured once by this process."""
    # To mypy nothing of a protocol is hashable.
    scale = shipped_scale(embedder.name) or _scale_of(embedder)  # type: ignore[arg-type]
    return IndexManifest(embedder.name, embedder.dimension, embedder.prefixes, scale)


@lru_cache(maxsize=2)
def _scale_of(embedder: Embedder) -> Calibration:
    return calibrate(embedder, read_pairs())


def read_manifest(kept: str) -> IndexManifest | None:
    """Return the manifest that `to_json` wrote, or None for an index that is still empty.

    A shipped scale replaces the kept one: it changes with the map of questions, while the vectors of the index stay.
    WorkspaceError for any other text.
    """
    if not kept:
        return None
    try:
        manifest = _CODEC.validate_json(kept)
    except ValidationError as error:
        raise WorkspaceError(f"{kept!r} is not the manifest of an index.", help="Build the index again.") from error
    return replace(manifest, calibration=shipped_scale(manifest.name) or manifest.calibration)


def check_encoder(manifest: IndexManifest | None, embedder: Embedder, workspace: Path) -> None:
    """Raise WorkspaceError where the index was made by another encoder."""
    present = (embedder.name, embedder.dimension, tuple(embedder.prefixes))
    if manifest is not None and present != (manifest.name, manifest.dimension, manifest.prefixes):
        raise WorkspaceError(
            "Workspace {workspace} was indexed with {former} ({former_dimension} dimensions), not with {encoder} "
            "({dimension}).",
            help="Set the encoder to the first, or index everything again with `sextant rebuild --encode`.",
            workspace=workspace,
            former=manifest.name,
            former_dimension=manifest.dimension,
            encoder=embedder.name,
            dimension=embedder.dimension,
        )
