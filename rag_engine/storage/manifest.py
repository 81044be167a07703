"""Manifest of an index: the encoder that made it; an index is only read with that encoder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rag_engine.calibration import Calibration, calibrate, calibration_from_dict, read_pairs
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
        known = {"name": self.name, "dimension": self.dimension, "prefixes": list(self.prefixes)}
        return json.dumps(known | {"calibration": self.calibration.to_dict()})


def manifest_of(embedder: Embedder) -> IndexManifest:
    """Return the manifest of an encoder, whose scale is measured now."""
    calibration = calibrate(embedder, read_pairs())
    return IndexManifest(embedder.name, embedder.dimension, embedder.prefixes, calibration)


def read_manifest(kept: str) -> IndexManifest | None:
    """Return the manifest of `to_json`; None for an index that nothing was put into yet."""
    if not kept:
        return None
    values = json.loads(kept)
    query, passage = values["prefixes"]
    calibration = calibration_from_dict(values["calibration"])
    return IndexManifest(values["name"], values["dimension"], (query, passage), calibration)


def check_encoder(manifest: IndexManifest | None, embedder: Embedder, workspace: Path) -> None:
    """Raise WorkspaceError where the index was made by another encoder."""
    present = (embedder.name, embedder.dimension, tuple(embedder.prefixes))
    if manifest is not None and present != (manifest.name, manifest.dimension, manifest.prefixes):
        raise WorkspaceError(
            f"Workspace {workspace} was indexed with {manifest.name} ({manifest.dimension} dimensions), "
            f"not with {embedder.name} ({embedder.dimension}).",
            help="Set SEXTANT_ENCODER to the first, or run `sextant rebuild --encode` to index it anew.",
        )
