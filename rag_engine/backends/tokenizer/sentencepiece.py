"""The packaged encoder's tokenizer, by the library that its vocabulary of 250,000 pieces was made with.

It makes the tokens of the Rust library in half the time or less and a fifth of the memory, and other threads go on
while it is loaded (benchmarks/models/tokenizers.py). Of two ways to take a word apart that have the same score it may
choose the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceNormalizer, SentencePieceProcessor

from rag_engine.backends.tokenizer.tokens import TokenizedText, parts_of, room_for
from rag_engine.text.sentences import Span

# The steps before the pieces that the library's rule stands for.
_NORMALIZERS = ["Nmt", "NFKC", "Replace", "Strip"]
_RULE = "nmt_nfkc"
_UNIGRAM, _NORMAL, _UNKNOWN, _CONTROL = 1, 1, 2, 3

_Piece = tuple[int, Span]


class SentencePieceTokenizer:
    """A Tokenizer over a model that `sentencepiece_model` has made."""

    def __init__(self, file: Path) -> None:
        self._model = SentencePieceProcessor(model_file=str(file))
        self._begin, self._end = (self._model.bos_id(), (0, 0)), (self._model.eos_id(), (0, 0))

    def count(self, text: str) -> int:
        """Return how many tokens the whole text has, special ones included."""
        return len(self._model.encode(text)) + 2

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
        found = self._model.encode(list(texts), return_type="offset_mapping")
        return [list(zip(one["ids"], one["offsets"], strict=True)) for one in found]

    def _framed(self, before: Sequence[_Piece], last: Sequence[_Piece]) -> TokenizedText:
        pieces = [self._begin, *before, *last, self._end]
        start = 1 + len(before)
        ids, spans = zip(*pieces, strict=True)
        return TokenizedText(ids, (0,) * len(ids), spans, range(start, start + len(last)))


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
    """Return the model of pieces with their scores; `framing` begin, end and stand for the unknown."""
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
