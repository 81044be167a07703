"""The tokenizer in the folder of an exported model."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_engine.backends.tokenizer.rust import RustTokenizer
from rag_engine.backends.tokenizer.sentencepiece import SentencePieceTokenizer, build_model, sentencepiece_model
from rag_engine.backends.tokenizer.tokens import Tokenizer

_FILE = "tokenizer.json"
_PIECES = "sentencepiece.model"

_tokenizers: dict[str, Tokenizer] = {}
_lock = threading.Lock()


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write a tokenizer of the Rust library into a folder, and for SentencePiece where that reads it alike."""
    tokenizer.save(str(folder / _FILE))
    described = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    if model := sentencepiece_model(described):
        (folder / _PIECES).write_bytes(model)


def save_pieces(pieces: Sequence[tuple[str, float]], special: tuple[int, int, int, int], folder: Path) -> None:
    """Write the tokenizer of pieces with their scores; `special` begin, end, fill and stand for the unknown."""
    begin, end, _, unknown = special
    (folder / _PIECES).write_bytes(build_model(pieces, (begin, end, unknown), special))


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of a folder, one for all models that have the same: it takes time and memory to load."""
    pieces = folder / _PIECES
    file = pieces if pieces.is_file() else folder / _FILE
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    with _lock:
        if digest not in _tokenizers:
            _tokenizers[digest] = SentencePieceTokenizer(file) if file == pieces else RustTokenizer(file)
        return _tokenizers[digest]
