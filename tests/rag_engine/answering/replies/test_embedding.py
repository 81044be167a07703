from __future__ import annotations

import numpy as np

from rag_engine.answering.replies import AnswerEmbedder
from rag_engine.protocols import Embedder
from tests.rag_engine.conftest import CountingEmbedder


def test_a_passage_is_encoded_once_and_its_vector_given_again(embedder: CountingEmbedder) -> None:
    once = AnswerEmbedder(embedder)
    first = once.encode_passages(["The dyke.", "The dam."])
    again = once.encode_passages(["The dam.", "The gauge.", "The dyke."])
    assert embedder.encoded == 3
    np.testing.assert_array_equal(again[[2, 0]], first)
    assert once.encode_passages([]).shape == (0, embedder.dimension)


def test_it_stands_in_for_the_encoder_it_was_made_of(embedder: CountingEmbedder) -> None:
    once = AnswerEmbedder(embedder)
    assert isinstance(once, Embedder)
    assert (once.name, once.dimension, once.execution) == (embedder.name, embedder.dimension, embedder.execution)
    assert once.count_tokens("The dyke.") == embedder.count_tokens("The dyke.")
    np.testing.assert_array_equal(once.encode_queries(["dyke"]), embedder.encode_queries(["dyke"]))
