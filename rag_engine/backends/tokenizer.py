"""The tokenizer of an exported model, by the library of Hugging Face or by SentencePiece."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sentencepiece import SentencePieceNormalizer, SentencePieceProcessor

from rag_engine.text.raised import RAISED
from rag_engine.text.sentences import Span

if TYPE_CHECKING:
    from tokenizers import Encoding

_FILE = "tokenizer.json"
_UNREAD = re.compile(rf"(?<=[\d{RAISED}])[{RAISED[1:]}]|\u00ad")
# Raised digits become digits in brackets; a soft hyphen becomes a control, which is not read.
_SPELLINGS = str.maketrans(f"{RAISED[1:]}\u00ad", "⑴⑵⑶⑷⑸⑹⑺⑻⑼\x01")
_PIECES = "sentencepiece.model"

_tokenizers: dict[str, Tokenizer] = {}
_lock = threading.Lock()

# The steps before the pieces that the library's rule stands for.
_NORMALIZERS = ["Nmt", "NFKC", "Replace", "Strip"]
_RULE = "nmt_nfkc"
_UNIGRAM, _NORMAL, _UNKNOWN, _CONTROL = 1, 1, 2, 3

_Piece = tuple[int, Span]


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write a tokenizer of the Rust library into a folder.

    A model for SentencePiece is written next to it if SentencePiece reads texts alike.
    """
    tokenizer.save(str(folder / _FILE))
    described = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    if model := sentencepiece_model(described):
        (folder / _PIECES).write_bytes(model)


def save_pieces(pieces: Sequence[tuple[str, float]], special: tuple[int, int, int, int], folder: Path) -> None:
    """Write the tokenizer of scored pieces into a folder.

    `special` numbers the pieces for begin, end, filling and unknown.
    """
    begin, end, _, unknown = special
    (folder / _PIECES).write_bytes(build_model(pieces, (begin, end, unknown), special))


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer of a folder, shared by all models with the same file.

    Loading takes time and memory.
    """
    pieces = folder / _PIECES
    file = pieces if pieces.is_file() else folder / _FILE
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    with _lock:
        if digest not in _tokenizers:
            _tokenizers[digest] = SentencePieceTokenizer(file) if file == pieces else RustTokenizer(file)
        return _tokenizers[digest]


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """Token ids and types of a text or pair, with the characters of each token.

    Special tokens are included. `own` are the places of the last text's own tokens: no special ones, and of a pair not
    the first text's.
    """

    ids: Sequence[int]
    types: Sequence[int]
    spans: Sequence[Span]
    own: Sequence[int]


class Tokenizer(Protocol):
    """Texts to tokens; safe to call from several threads."""

    def count(self, text: str) -> int:
        """Return how many tokens the whole text has, special ones included."""
        ...

    def read(self, texts: Sequence[str], limit: int) -> list[TokenizedText]:
        """Return the tokens of each text, at most `limit`."""
        ...

    def read_pairs(self, pairs: Sequence[tuple[str, str]], limit: int) -> list[TokenizedText]:
        """Return the tokens of each pair, at most `limit`: more is left out of the longer text (`room_for`)."""
        ...


def room_for(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how many tokens of each of two texts are read.

    The longer text loses tokens first, so that no text is pushed out.

    >>> room_for(10, 900, 510)
    (10, 500)
    """
    if first + second <= room:
        return first, second
    shorter = min(first, second, room // 2)
    return (room - shorter, shorter) if first > second else (shorter, room - shorter)


def parts_of(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return each text of the pairs once: the pairs of a question all hold the question."""
    return list(dict.fromkeys(part for pair in pairs for part in pair))


class RustTokenizer:
    """A Tokenizer over a file tokenizer.json."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._reads_compatibility_forms = "(" in "".join(self._tokenizer.encode("⑴").tokens)

    def count(self, text: str) -> int:
        """Return how many tokens the whole text has, special ones included."""
        return len(self._tokenizer.encode(self._written(text)).ids)

    def read(self, texts: Sequence[str], limit: int) -> list[TokenizedText]:
        """Return the tokens of each text, at most `limit`."""
        room = limit - self._tokenizer.num_special_tokens_to_add(is_pair=False)
        return [_tokens(self._tokenizer.post_process(_cut(encoding, room)), 0) for encoding in self._encoded(texts)]

    def read_pairs(self, pairs: Sequence[tuple[str, str]], limit: int) -> list[TokenizedText]:
        """Return the tokens of each pair, at most `limit`."""
        room = limit - self._tokenizer.num_special_tokens_to_add(is_pair=True)
        parts = parts_of(pairs)
        found = dict(zip(parts, self._encoded(parts), strict=True))
        read = []
        for first, second in pairs:
            of_first, of_second = room_for(len(found[first].ids), len(found[second].ids), room)
            pair = _cut(found[first], of_first), _cut(found[second], of_second)
            read.append(_tokens(self._tokenizer.post_process(*pair), 1))
        return read

    def _encoded(self, texts: Sequence[str]) -> list[Encoding]:
        # Cut by `read` and not by the tokenizer's own setting, since models that read differently much share one.
        return self._tokenizer.encode_batch(list(map(self._written, texts)), add_special_tokens=False)

    def _written(self, text: str) -> str:
        return _spelled(text) if self._reads_compatibility_forms else text


def _tokens(encoding: Encoding, last: int) -> TokenizedText:
    own = [at for at, of in enumerate(encoding.sequence_ids) if of == last]
    return TokenizedText(encoding.ids, encoding.type_ids, encoding.offsets, own)


def _cut(tokens: Encoding, room: int) -> Encoding:
    if len(tokens.ids) <= room:
        return tokens
    # A copy, since several pairs hold the same question.
    shorter = copy.copy(tokens)
    shorter.truncate(room)
    return shorter


class SentencePieceTokenizer:
    """A Tokenizer over a model that `sentencepiece_model` has made."""

    def __init__(self, file: Path) -> None:
        self._model = SentencePieceProcessor(model_file=str(file))
        self._begin, self._end = (self._model.bos_id(), (0, 0)), (self._model.eos_id(), (0, 0))

    def count(self, text: str) -> int:
        """Return how many tokens the whole text has, special ones included."""
        return len(self._model.encode(_spelled(text))) + 2

    def read(self, texts: Sequence[str], limit: int) -> list[TokenizedText]:
        """Return the tokens of each text, at most `limit`."""
        return [self._framed([], one[: limit - 2]) for one in self._encoded(texts)]

    def read_pairs(self, pairs: Sequence[tuple[str, str]], limit: int) -> list[TokenizedText]:
        """Return the tokens of each pair, at most `limit`."""
        parts = parts_of(pairs)
        found = dict(zip(parts, self._encoded(parts), strict=True))
        read = []
        for first, second in pairs:
            of_first, of_second = room_for(len(found[first]), len(found[second]), limit - 4)
            read.append(self._framed([*found[first][:of_first], self._end, self._end], found[second][:of_second]))
        return read

    def _encoded(self, texts: Sequence[str]) -> list[list[_Piece]]:
        found = self._model.encode(list(map(_spelled, texts)), return_type="offset_mapping")
        return [list(zip(one["ids"], one["offsets"], strict=True)) for one in found]

    def _framed(self, before: Sequence[_Piece], last: Sequence[_Piece]) -> TokenizedText:
        pieces = [self._begin, *before, *last, self._end]
        start = 1 + len(before)
        ids, spans = zip(*pieces, strict=True)
        return TokenizedText(ids, (0,) * len(ids), spans, range(start, start + len(last)))


def _spelled(text: str) -> str:
    """Return a text as long in which no raised digit becomes one of the number before: 21¹ not 211.

    For tokenizers that read compatibility forms.
    """
    return text if text.isascii() else _UNREAD.sub(lambda found: found[0].translate(_SPELLINGS), text)


def sentencepiece_model(described: Mapping[str, Any]) -> bytes | None:
    """Return the model of a tokenizer that a file tokenizer.json describes, None for one of another form."""
    model, frame = described["model"], described["post_processor"]
    normalizers = [one["type"] for one in (described["normalizer"] or {}).get("normalizers", ())]
    if model["type"] != "Unigram" or normalizers != _NORMALIZERS or frame["type"] != "TemplateProcessing":
        return None
    special = {one["content"]: one["id"] for one in described["added_tokens"]}
    begin, end = (special[one["SpecialToken"]["id"]] for one in frame["single"] if "SpecialToken" in one)
    return build_model(model["vocab"], (begin, end, model["unk_id"]), special.values())


def build_model(pieces: Iterable[tuple[str, float]], framing: tuple[int, int, int], special: Iterable[int]) -> bytes:
    """Return the model of scored pieces; `framing` are the marks of begin, end and unknown."""
    from sentencepiece import sentencepiece_model_pb2 as proto

    built = proto.ModelProto()
    # The rule's table of characters is inside the library.
    built.ParseFromString(SentencePieceNormalizer(rule_name=_RULE).serialized_model_proto())
    begin, end, unknown = framing
    trainer = proto.TrainerSpec(model_type=_UNIGRAM, bos_id=begin, eos_id=end, unk_id=unknown)
    built.trainer_spec.CopyFrom(trainer)
    kinds = dict.fromkeys(special, _CONTROL) | {unknown: _UNKNOWN}
    del built.pieces[:]
    for id, (piece, score) in enumerate(pieces):
        built.pieces.add(piece=piece, score=score, type=kinds.get(id, _NORMAL))
    return bytes(built.SerializeToString())
