"""Any tokenizer, by the library of Hugging Face that is written in Rust."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine.backends.tokenizer.tokens import TokenizedText, parts_of, room_for

if TYPE_CHECKING:
    from tokenizers import Encoding


class RustTokenizer:
    """A Tokenizer over a file tokenizer.json."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def count(self, text: str) -> int:
        """Return how many tokens the whole text has, special ones included."""
        return len(self._tokenizer.encode(text).ids)

    def read(self, texts: Sequence[str], limit: int) -> list[TokenizedText]:
        """Return the tokens of each text, at most `limit`."""
        room = limit - self._tokenizer.num_special_tokens_to_add(is_pair=False)
        return [_tokens(self._tokenizer.post_process(_cut(one, room)), 0) for one in self._encoded(texts)]

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
        return self._tokenizer.encode_batch(list(texts), add_special_tokens=False)


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
