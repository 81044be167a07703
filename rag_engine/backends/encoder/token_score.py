"""BERTScore by the library of its authors, over the weights of the packaged encoder, so that no hub is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_engine.backends.encoder.load import locate, model_folder
from rag_engine.backends.encoder.packaged_e5 import packaged_name
from rag_engine.backends.model_export import open_quietly
from rag_engine.config import cache_folder
from rag_engine.errors import InputError

# Of twelve. The last layers of an encoder of sentences make all tokens of a text alike; the library itself takes the
# ninth of multilingual BERT, which has as many.
_LAYER = 9


def token_score_name() -> str:
    """Return which model and layer the figures are of: those of another cannot be compared with them."""
    return f"{packaged_name()}, layer {_LAYER}"


def load_token_score(cache: Path | None = None) -> Callable[[str, str], float]:
    """Return the F1 of BERTScore (Zhang et al. 2020) of a text against a reference, neither weighted nor rescaled.

    InputError where the library is not installed.
    """
    try:
        from bert_score import BERTScorer
    except ImportError as error:
        raise InputError(
            f"The package {error.name} is not installed.", help='Run: pip install "sextant[text-metrics]".'
        ) from error
    folder = model_folder(locate(packaged_name()), cache or cache_folder())

    def load() -> Any:
        return BERTScorer(model_type=folder, num_layers=_LAYER, device="cpu")

    scorer = open_quietly("BERTScore's model", folder, load, "Remove the folder; it is made again.")

    def compare(text: str, reference: str) -> float:
        _, _, f1 = scorer.score([text], [reference])
        return float(f1[0])

    return compare
