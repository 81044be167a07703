"""One frozen configuration, passed along; made of the settings once, at the edge."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from rag_engine import installation
from rag_engine.errors import InputError
from rag_engine.settings import Settings, environment_value, read_settings

ROOT, DATA = installation.ROOT, installation.DATA
# Tokens; context windows are asked for in these steps, so that few different ones are.
CONTEXT_STEP = 512
# Tokens that a reply in JSON may have: a plan, or a dozen records.
REPLY_TOKENS = 2048

_FITTED: dict[str, float] = tomllib.loads((DATA / "ranking.toml").read_text(encoding="utf-8"))["weights"]

RetrievalProfile = Literal["default", "rrf", "paper", "statutes"]
RetrieverChoice = Literal["both", "dense", "sparse"]
OcrChoice = Literal["auto", "tesseract", "rapidocr", "easyocr", "none"]
ControllerMode = Literal["auto", "off"]
Strategy = Literal["auto", "semantic", "section", "paragraph", "sentence", "fixed", "newline", "recursive"]
# How many passages each recipe asks for.
_TOP_K: dict[RetrievalProfile, int] = {"default": 10, "rrf": 10, "paper": 15, "statutes": 5}


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """Sizes of the chunking strategies, which only an evaluation changes.

    From `window` to `fallback_stride`: semantic chunking (Buriasco 2026, section 5.1). The sizes, in characters, hold
    for every strategy that cuts parents into children. `maximum_words`, `minimum_words` and `overlap_words` are the
    M, m and O of sentence chunks; `fixed_words` and `fixed_overlap` the size of fixed ones. Words are what white
    space parts. A section longer than `section_size` is split, so that one of a hundred paragraphs does not fill a
    model's context alone.
    """

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
    section_size: int = 8000

    def __post_init__(self) -> None:
        if self.child_size < 3 * max(self.child_minimum, self.child_overlap + 1):
            raise InputError(
                f"child_size={self.child_size} is too small for child_minimum={self.child_minimum} "
                f"and child_overlap={self.child_overlap}.",
                help="Make it more than three times as large as either.",
            )


@dataclass(frozen=True, slots=True)
class ChunkingConfig:
    """How documents become parents and children.

    `header` says whether the encoder reads a description of the document before each child.
    """

    strategy: Strategy = "auto"
    header: bool = True
    sizes: ChunkSizes = ChunkSizes()


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """The weight of each signal in a ranking: fitted and kept in data/ranking.toml.

    Only an evaluation changes them. A signal of weight 0 is not computed.

    - `dense_weight`: the share of the dense retriever in the mix. Five standard deviations of cosine weigh as much as
      the best keyword match.
    - `sentence_share`: the share of a passage's best sentence against the whole passage.
    - `cross_language_sparse`: scales keyword scores of documents in another language than the question's.
    - `variant_weight`: the weight of further query variants against the question's 1.
    - `rule_variants`: search variants made by rules, which repeat the question's words; other profiles may do so too.
    - `provenance_weight`: the greatest gain of a child whose section the question names. The best candidate has 1.
    - `index_weight`: the same for a child that an index lists under the question's terms.
    - `rerank_weight`: the share of the reader's score, or of a cross-encoder's, in reranking.
    - `repeat_share`: each passage that a document has brought leaves this share of the score of its others.
    - `candidates`: the least depth of each retriever.
    - `mmr_lambda`: asks for maximal marginal relevance at the end.
    """

    dense_weight: float = _FITTED["dense_weight"]
    sentence_share: float = _FITTED["sentence_share"]
    cross_language_sparse: float = _FITTED["cross_language_sparse"]
    variant_weight: float = _FITTED["variant_weight"]
    provenance_weight: float = _FITTED["provenance_weight"]
    index_weight: float = _FITTED["index_weight"]
    rerank_weight: float = _FITTED["rerank_weight"]
    repeat_share: float = _FITTED["repeat_share"]
    candidates: int = 100
    language_scale: bool = True
    rule_variants: bool = False
    mmr_lambda: float | None = None


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """How evidence is found and ordered.

    `profile` names the recipe (rag_engine/retrieval/fuse_ranks.py); the papers' have no setting but `top_k` and
    `similarity_floor`. `retrievers` which of the two are asked. `rerank` lets a cross-encoder, or else the reader,
    order the best passages; with `read_all` the reader reads every passage that is found, with `read_whole` a document
    that is asked by itself from end to end. `geography` boosts documents about the places that a question names.
    """

    profile: RetrievalProfile = "default"
    retrievers: RetrieverChoice = "both"
    top_k: int = 10
    similarity_floor: float = 0.35
    rerank: bool = True
    read_all: bool = False
    read_whole: bool = True
    geography: bool = True
    weights: RankingWeights = RankingWeights()


@dataclass(frozen=True, slots=True)
class ControllerConfig:
    """When and how long the controller searches on for a question of several parts.

    `auto` lets it run if the first search leaves a part uncovered. Confidence is `coverage_weight` x coverage +
    `agreement_weight` x agreement; the weights add up to 1. The controller stops at `threshold`, and after `budget`
    further searches at the latest. A statement supports a part from `least_support` on; `top_k` passages are asked for
    each. The values are among the best on development questions, by complete answers (`python -m
    benchmarks.answers.controller --fit`), at 1.4 searches a question.
    """

    mode: ControllerMode = "auto"
    coverage_weight: float = 0.8
    agreement_weight: float = 0.2
    threshold: float = 0.8
    budget: int = 4
    least_support: float = 0.85
    top_k: int = 5


@dataclass(frozen=True, slots=True)
class GenerationConfig:
    """Which model writes, and how. An empty `openai_url` means no such endpoint is used.

    `planner_seconds` is how long a model may take to plan or to rephrase a question, `answer_seconds` how long to
    answer it. `judge_model` is a second model of the same server that labels the sentences of answers, "" for none.
    """

    ollama_url: str = "http://127.0.0.1:11434"
    ollama_model: str = ""
    openai_url: str = ""
    openai_model: str = ""
    openai_key: str = ""
    temperature: float = 0.3
    answer_tokens: int = 1024
    planner_seconds: float = 30.0
    answer_seconds: float = 300.0
    judge_model: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set, with defaults that run without any server.

    An empty `reader` is the packaged one, "none" no reader. An empty `reranker` is the reader.
    """

    workspace: Path
    encoder: str = "multilingual-e5-small"
    execution: str = "auto"
    ocr: OcrChoice = "auto"
    reranker: str = ""
    reader: str = ""
    chroma_url: str = ""
    catalog_url: str = ""
    question_characters: int = 4000
    chunking: ChunkingConfig = field(default_factory=ChunkingConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generation: GenerationConfig = field(default_factory=GenerationConfig)
    controller: ControllerConfig = ControllerConfig()


# 700 tokens of a whole section with an overlap of 85, at four characters each.
_STATUTES = ChunkSizes(child_size=2800, child_overlap=340)


def recipe_chunking(profile: RetrievalProfile) -> ChunkingConfig:
    """Return how a recipe cuts documents without another choice."""
    if profile == "statutes":
        return ChunkingConfig("section", sizes=_STATUTES)
    return ChunkingConfig("semantic" if profile == "paper" else "auto")


def read_config(
    workspace: Path | str | None = None, profile: str = "", mmr: float | None = None, *, kept: bool = True
) -> Config:
    """Return the settings of a workspace: arguments, then variables, then its file, then defaults.

    The first of these that sets a value wins. The variables are SEXTANT_*, the file is settings.toml. A recipe
    (`paper`, `statutes`) brings its published values if no setting says otherwise. Without `kept` the workspace's file
    is not read.
    """
    folder = Path(workspace).expanduser().absolute() if workspace else default_workspace()
    settings = read_settings(folder) if kept else Settings({}, {})
    value = settings.value
    if profile and profile not in get_args(RetrievalProfile):
        raise InputError(f"There is no profile {profile!r}.", help=f"Use {', '.join(get_args(RetrievalProfile))}.")
    name = cast("RetrievalProfile", profile or value("retrieval"))
    strategy: Strategy | None = value("chunking")
    reranker: str = value("reranker", "")
    # A key is not sent to an address from the workspace's settings, which other people may write.
    key = value("openai_key", "") if settings.state("openai_url").origin != "workspace" else ""
    return Config(
        workspace=folder,
        encoder=value("encoder"),
        # The paper's encoder is one of sentence-transformers.
        execution=value("execution", "torch" if name == "paper" else "auto"),
        ocr=value("ocr"),
        chunking=ChunkingConfig(strategy) if strategy else recipe_chunking(name),
        retrieval=RetrievalConfig(
            profile=name,
            top_k=_TOP_K[name],
            rerank=reranker != "none",
            weights=RankingWeights(mmr_lambda=value("mmr") if mmr is None else mmr),
        ),
        reranker="" if reranker == "none" else reranker,
        reader=value("reader", ""),
        chroma_url=value("chroma_url", ""),
        catalog_url=value("catalog_url", ""),
        generation=GenerationConfig(
            ollama_url=value("ollama_url"),
            ollama_model=value("ollama_model", ""),
            openai_url=value("openai_url", ""),
            openai_model=value("openai_model", ""),
            openai_key=key,
            planner_seconds=value("planner_seconds"),
            answer_seconds=value("answer_seconds"),
            judge_model=value("judge_model", ""),
        ),
        controller=ControllerConfig(value("controller")),
    )


def default_workspace() -> Path:
    """Return the folder of the collection for commands that name none."""
    unset = DATA / "workspace" if installation.IS_CHECKOUT else "~/.local/share/sextant"
    return Path(environment_value("workspace") or unset).expanduser().absolute()


def label_judge_settings(generation: GenerationConfig) -> GenerationConfig:
    """Return the settings of the model that labels the sentences of answers.

    It runs on the server of the model that writes.
    """
    name = generation.judge_model
    return replace(generation, openai_model=name) if generation.openai_url else replace(generation, ollama_model=name)


def judge_settings(generation: GenerationConfig, model: str, url: str = "") -> GenerationConfig:
    """Return the settings of a second model, "ollama/NAME" or "openai/NAME".

    `url` is its address; without one, the configured address is used. The configured key is sent to the configured
    address alone.
    """
    server, slash, name = model.partition("/")
    if server == "ollama" and name:
        return replace(
            generation, ollama_url=url or generation.ollama_url, ollama_model=name, openai_url="", openai_model=""
        )
    if server == "openai" and name and (url or generation.openai_url):
        key = generation.openai_key if url in ("", generation.openai_url) else ""
        return replace(generation, openai_url=url or generation.openai_url, openai_model=name, openai_key=key)
    raise InputError(
        "{model!r} names no judge with an address."
        if server == "openai" and slash and name
        else "{model!r} names no judge.",
        help="Use ollama/NAME, or openai/NAME with --judge-url or SEXTANT_OPENAI_URL.",
        model=model,
    )


def changed(settings: Any, **changes: object) -> Any:
    """Return retrieval or chunking settings with some values changed.

    The names of weights or sizes are given like the others. InputError names a setting that does not exist.

    >>> changed(ChunkingConfig(), strategy="sections").strategy
    'sections'
    """
    inner_name = "weights" if isinstance(settings, RetrievalConfig) else "sizes"
    inner = getattr(settings, inner_name)
    own, nested = ({one.name for one in fields(part)} for part in (settings, inner))
    unknown = ", ".join(sorted(changes.keys() - own - nested))
    if unknown:
        raise InputError(
            f"{type(settings).__name__} has no setting {unknown}.",
            help=f"Use {', '.join(sorted((own | nested) - {inner_name}))}.",
        )
    values = {name: value for name, value in changes.items() if name in own}
    deeper = {name: value for name, value in changes.items() if name not in own}
    return replace(settings, **values, **({inner_name: replace(inner, **deeper)} if deeper else {}))


def cache_folder() -> Path:
    """Return the folder of exported models and evaluation vectors: SEXTANT_CACHE or ~/.cache/sextant."""
    return Path(environment_value("cache")).expanduser()


def easyocr_folder() -> Path:
    """Return where EasyOCR's weights lie: SEXTANT_EASYOCR_MODELS or the folder that EasyOCR itself uses."""
    return Path(environment_value("easyocr_models")).expanduser()


def shared_folder() -> Path:
    """Return the folder of the real documents that evaluations read: SEXTANT_SHARED or ../shared."""
    return Path(environment_value("shared"))
