"""The ways of searching that are compared, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from rag_engine.config import ChunkingConfig, Config, Strategy
from rag_engine.errors import InputError

# Who answers for keywords: the index on disk, or the paper's BM25 over words between spaces, of children or of whole
# documents, or Lucene's BM25 over whole documents. The last two search by nothing else.
Keywords = Literal["index", "spaces", "documents", "lucene"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A way of searching: what it changes of the configured retrieval and chunking, and what it is in words.

    Of the query variants that a question is planned into the first `queries` are searched.
    """

    name: str
    says: str
    retrieval: Mapping[str, object] = field(default_factory=dict)
    chunking: Mapping[str, object] = field(default_factory=dict)
    keywords: Keywords = "index"
    queries: int = 3

    @property
    def whole_documents(self) -> bool:
        """Whether whole documents are ranked by their words alone, without a collection."""
        return self.keywords in ("documents", "lucene")

    def applied(self, config: Config) -> Config:
        """The configuration with its changes made; InputError names a setting that there is not."""
        return replace(
            config,
            retrieval=_changed(self.name, config.retrieval, self.retrieval),
            chunking=_changed(self.name, config.chunking, self.chunking),
        )


CONFIGURATIONS: tuple[Configuration, ...] = (
    Configuration("default", "what a question is answered with"),
    Configuration(
        "paper",
        "the paper's recipe: words between spaces, dense .6, keywords .4, .6 where both found it",
        {"fusion": "paper"},
        keywords="spaces",
    ),
    Configuration("bm25", "BM25 over words between spaces, whole documents", keywords="documents"),
    Configuration("bm25-lucene", "BM25 as published for English data sets, whole documents", keywords="lucene"),
    Configuration("dense", "meaning alone", {"legs": "dense"}),
    Configuration("sparse", "keywords alone", {"legs": "sparse"}),
    Configuration("rrf", "both legs by reciprocal rank, dense .6, keywords .4", {"fusion": "rrf"}),
    Configuration("paper-fusion", "both of our legs by the paper's weights", {"fusion": "paper"}),
    Configuration("passage-only", "the default without the nearest sentence", {"sentence_share": 0.0}),
    Configuration("one-scale", "the default with one scale of similarity for all languages", {"language_scale": False}),
    Configuration("no-rerank", "the default without the cross-encoder", {"rerank": False}),
    Configuration("mmr", "the default with maximal marginal relevance", {"mmr": True}),
    Configuration("no-provenance", "the default without the bonus for a named section", {"provenance_weight": 0.0}),
    Configuration("no-index", "the default without what indexes list", {"index_weight": 0.0}),
)


def chosen_of(configurations: Sequence[Configuration], names: Sequence[str]) -> list[Configuration]:
    """Those of the configurations that are named, in that order, all of them where none is."""
    known = {one.name: one for one in configurations}
    for name in names:
        if name not in known:
            raise InputError(f"There is no configuration {name!r}.", help=f"Use {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(names or known)]


def chunking_strategies(names: Sequence[str]) -> list[str]:
    """The named strategies, all of them where none is named; InputError names the known ones."""
    known = get_args(Strategy)
    for name in names:
        if name not in known:
            raise InputError(f"There is no strategy {name!r}.", help=f"Use {', '.join(known)}.")
    return list(dict.fromkeys(names or known))


def _changed(name: str, settings: Any, changes: Mapping[str, object]) -> Any:
    known = {one.name for one in fields(settings)}
    unknown = ", ".join(sorted(changes.keys() - known))
    if unknown:
        raise InputError(
            f"Configuration {name!r} changes {unknown}, which {type(settings).__name__} has not.",
            help="Leave the configuration out.",
        )
    return replace(settings, **changes)


def by_chunking(
    configurations: Sequence[Configuration], config: Config
) -> Mapping[ChunkingConfig, list[Configuration]]:
    """The configurations by how they chunk: those that chunk alike share one collection."""
    groups: dict[ChunkingConfig, list[Configuration]] = {}
    for one in configurations:
        groups.setdefault(one.applied(config).chunking, []).append(one)
    return groups
