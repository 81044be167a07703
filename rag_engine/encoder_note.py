"""What an index remembers of the encoder that made it; an index is only read with the encoder of its note."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rag_engine.calibration import Calibration, calibrate, calibration_from_dict, read_pairs
from rag_engine.errors import WorkspaceError
from rag_engine.protocols import Embedder


@dataclass(frozen=True, slots=True)
class EncoderNote:
    """Model, size and prefixes of an index, and the scale of its cosines."""

    name: str
    dimension: int
    prefixes: tuple[str, str]
    calibration: Calibration

    def to_json(self) -> str:
        """The note as it is kept in the catalog."""
        known = {"name": self.name, "dimension": self.dimension, "prefixes": list(self.prefixes)}
        return json.dumps(known | {"calibration": self.calibration.to_dict()})


def note_of(embedder: Embedder) -> EncoderNote:
    """The note of an encoder, whose scale is measured now."""
    calibration = calibrate(embedder, read_pairs())
    return EncoderNote(embedder.name, embedder.dimension, embedder.prefixes, calibration)


def read_note(kept: str) -> EncoderNote | None:
    """The note of `to_json`; None for an index that nothing was put into yet."""
    if not kept:
        return None
    values = json.loads(kept)
    query, passage = values["prefixes"]
    calibration = calibration_from_dict(values["calibration"])
    return EncoderNote(values["name"], values["dimension"], (query, passage), calibration)


def check(note: EncoderNote | None, embedder: Embedder, workspace: Path) -> None:
    """Nothing; WorkspaceError where the index was made by another encoder."""
    mine = (embedder.name, embedder.dimension, tuple(embedder.prefixes))
    if note is not None and mine != (note.name, note.dimension, note.prefixes):
        raise WorkspaceError(
            f"Workspace {workspace} was indexed with {note.name} ({note.dimension} dimensions), "
            f"not with {embedder.name} ({embedder.dimension}).",
            help="Set SEXTANT_ENCODER to the first, or run `sextant rebuild --encode` to index it anew.",
        )
