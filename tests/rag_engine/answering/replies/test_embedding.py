import numpy as np

from rag_engine.answering.replies import AnswerEmbedder
from tests.rag_engine.conftest import CountingEmbedder


def test_a_passage_is_encoded_once_and_its_vector_given_again(embedder: CountingEmbedder) -> None:
    once = AnswerEmbedder(embedder)
    first = once.encode_passages(["The dyke.", "The dam."])
    again = once.encode_passages(["The dam.", "The gauge.", "The dyke."])
    assert embedder.encoded == 3
    np.testing.assert_array_equal(again[[2, 0]], first)
    assert once.encode_passages([]).shape == (0, embedder.dimension)
