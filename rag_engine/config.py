"""One frozen configuration, passed along; read from the environment once, at the edge."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from rag_engine.errors import InputError

# The committed tables, and by default the workspace.
DATA = Path(__file__).resolve().parents[1] / "data"

RetrievalMode = Literal["default", "paper"]
OcrChoice = Literal["auto", "tesseract", "rapidocr", "easyocr", "none"]
Strategy = Literal["auto", "semantic", "section", "paragraph", "sentence", "fixed", "newline", "recursive"]


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How documents become parents and children.

    From `window` to `fallback_stride`: semantic chunking (Buriasco 2026, section 5.1). The sizes, in characters, hold
    for every strategy that cuts parents into children. `maximum_words`, `minimum_words` and `overlap_words` are the
    M, m and O of sentence chunks; `fixed_words` and `fixed_overlap` the size of fixed ones. Words are what white
    space parts.
    """

    strategy: Strategy = "auto"
    window: int = 3
    percentile: float = 25.0
    minimum_gap: int = 4
    fallback_stride: int = 5
    parent_size: int = 2300
    parent_split: float = 1.5
    parent_overlap: int = 200
    child_size: int = 1200
    child_overlap: int = 150
    child_minimum: int = 150
    maximum_words: int = 150
    minimum_words: int = 75
    overlap_words: int = 30
    fixed_words: int = 800
    fixed_overlap: int = 50


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """How evidence is found and ordered.

    `mode` "paper" is weighted reciprocal rank fusion as published; "default" mixes normalised scores.
    `dense_weight` is the share of the dense leg in that mix; `cross_language_sparse` scales the keyword
    leg's share for documents in another language than the question's. `variant_weight` and `keyword_weight`
    are the shares of further query variants and of keyword searches beside the question's own 1; `sibling_share`
    is what a child gains from the best other child of its parent.
    """

    mode: RetrievalMode = "default"
    top_k: int = 10
    multiplier: int = 5
    rrf_k: int = 60
    paper_dense_weight: float = 0.6
    paper_sparse_weight: float = 0.4
    paper_both_weight: float = 0.6
    dense_weight: float = 0.55
    cross_language_sparse: float = 0.1
    variant_weight: float = 0.02
    keyword_weight: float = 0.02
    sibling_share: float = 0.1
    boost_same_country: float = 1.8
    boost_same_region: float = 1.5
    boost_global: float = 1.0
    boost_other: float = 0.8
    similarity_floor: float = 0.35


@dataclass(frozen=True, slots=True)
class GenerationConfig:
    """Which model writes, and how. An empty `openai_url` means no such endpoint is used."""

    ollama_url: str = "http://127.0.0.1:11434"
    ollama_model: str = ""
    openai_url: str = ""
    openai_model: str = ""
    openai_key: str = ""
    temperature: float = 0.3
    answer_tokens: int = 1024
    planner_seconds: float = 30.0
    answer_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set, with the defaults that run without any server."""

    workspace: Path
    encoder: str = "multilingual-e5-small"
    execution: str = "auto"
    ocr: OcrChoice = "auto"
    chroma_url: str = ""
    catalog_url: str = ""
    question_characters: int = 4000
    chunking: ChunkingConfig = field(default_factory=ChunkingConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generation: GenerationConfig = field(default_factory=GenerationConfig)


def read_config(workspace: Path | str | None = None) -> Config:
    """Configuration from SEXTANT_* environment variables; an argument wins over its variable."""
    env = os.environ
    execution = _one_of("SEXTANT_EXECUTION", ("auto", "openvino", "onnx", "torch"))
    mode = _one_of("SEXTANT_RETRIEVAL", get_args(RetrievalMode))
    ocr = _one_of("SEXTANT_OCR", get_args(OcrChoice))
    strategy = _one_of("SEXTANT_CHUNKING", get_args(Strategy))
    generation = GenerationConfig(
        ollama_url=env.get("SEXTANT_OLLAMA_URL", "http://127.0.0.1:11434"),
        ollama_model=env.get("SEXTANT_OLLAMA_MODEL", ""),
        openai_url=env.get("SEXTANT_OPENAI_URL", ""),
        openai_model=env.get("SEXTANT_OPENAI_MODEL", ""),
        openai_key=env.get("SEXTANT_OPENAI_KEY", ""),
    )
    return Config(
        workspace=Path(workspace or env.get("SEXTANT_WORKSPACE") or DATA / "workspace").expanduser().absolute(),
        encoder=env.get("SEXTANT_ENCODER", "multilingual-e5-small"),
        execution=execution,
        ocr=cast(OcrChoice, ocr),
        chunking=ChunkingConfig(strategy=cast(Strategy, strategy)),
        retrieval=RetrievalConfig(mode=cast(RetrievalMode, mode)),
        chroma_url=env.get("SEXTANT_CHROMA_URL", ""),
        catalog_url=env.get("SEXTANT_CATALOG_URL", ""),
        generation=generation,
    )


def _one_of(variable: str, values: tuple[str, ...]) -> str:
    """The variable's value, which must be one of the given; the first of them when it is not set."""
    value = os.environ.get(variable) or values[0]
    if value not in values:
        raise InputError(f"{variable}={value!r} is not known.", help=f"Use {', '.join(values)}.")
    return value
