"""A reader of one's own choice: any extractive question-answering model of transformers, by folder or name."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from rag_engine.backends import model_source
from rag_engine.backends.model_export import first_line, open_quietly
from rag_engine.errors import BackendError
from rag_engine.protocols import Scores
from rag_engine.text.templates import kept_sentence
from rag_engine.types import PassageReading

_CURE = kept_sentence(
    "Give the path of a question-answering model or its name on the hub, or leave SEXTANT_READER unset."
)
_TOKENS = 384


class QuestionAnsweringReader:
    """A PassageReader and a Reranker over a model with a head for start and end; made by `load_question_answering`.

    How relevant a passage is follows from how much better its best answer is than none.
    """

    languages: frozenset[str] | None = None

    def __init__(self, source: model_source.ModelSource) -> None:
        from transformers import AutoModelForQuestionAnswering, AutoTokenizer

        location = str(source.folder)
        self.name, self.execution = source.name, "torch"
        self._lock = threading.Lock()
        self._tokenizer = open_quietly(
            "Reader", location, lambda: AutoTokenizer.from_pretrained(location, use_fast=True), _CURE
        )
        self._model = open_quietly(
            "Reader", location, lambda: AutoModelForQuestionAnswering.from_pretrained(location).eval(), _CURE
        )

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return what it reads in each passage; BackendError when the model breaks off."""
        with self._lock:
            try:
                return [self._read(question, passage) for passage in passages]
            except RuntimeError as error:
                raise BackendError(
                    "Reader {model} broke off: {error}.", retryable=True, model=self.name, error=first_line(error)
                ) from error

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return the relevance of each text, of shape (len(texts),); BackendError when the model breaks off."""
        return np.array([one.relevance for one in self.read(query, texts)], dtype=np.float32)

    def _read(self, question: str, passage: str) -> PassageReading:
        import torch

        given = self._tokenizer(
            question,
            passage,
            truncation="only_second",
            max_length=_TOKENS,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = given.pop("offset_mapping")[0].tolist()
        own = [at for at, of in enumerate(given.sequence_ids(0)) if of == 1]
        with torch.no_grad():
            output = self._model(**given)
        starts, ends = output.start_logits[0].tolist(), output.end_logits[0].tolist()
        absent = starts[0] + ends[0]
        begun, ended = [starts[at] for at in own], [ends[at] for at in own]
        best = max(begun, default=0.0) + max(ended, default=0.0)
        places = tuple((int(offsets[at][0]), int(offsets[at][1])) for at in own)
        return PassageReading(best - absent, absent, places, tuple(begun), tuple(ended))


def load_question_answering(name: str) -> QuestionAnsweringReader:
    """Return the reader of a folder or of a name on the hub; BackendError for one that is nowhere or not whole."""
    source = model_source.in_folder(name) or model_source.on_hub("Reader", name, name, "", _CURE)
    return QuestionAnsweringReader(source)
