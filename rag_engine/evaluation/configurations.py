"""The ways of searching that are compared, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal, get_args

from rag_engine.config import ChunkingConfig, Config, Strategy, changed
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
        """Return the configuration with its changes made; InputError names a setting that there is not."""
        try:
            retrieval = changed(config.retrieval, **self.retrieval)
            chunking = changed(config.chunking, **self.chunking)
        except InputError as error:
            raise InputError(f"Configuration {self.name!r} cannot be applied: {error}") from None
        return replace(config, retrieval=retrieval, chunking=chunking)


CONFIGURATIONS: tuple[Configuration, ...] = (
    Configuration("default", "what a question is answered with"),
    Configuration(
        "paper",
        "the paper's recipe: words between spaces, dense .6, keywords .4, .6 where both found it",
        {"profile": "paper"},
        keywords="spaces",
    ),
    Configuration("bm25", "BM25 over words between spaces, whole documents", keywords="documents"),
    Configuration("bm25-lucene", "BM25 as published for English data sets, whole documents", keywords="lucene"),
    Configuration("dense", "meaning alone", {"retrievers": "dense"}),
    Configuration("sparse", "keywords alone", {"retrievers": "sparse"}),
    Configuration("rrf", "both retrievers by reciprocal rank, dense .6, keywords .4", {"profile": "rrf"}),
    Configuration("paper-fusion", "both of our retrievers by the paper's weights", {"profile": "paper"}),
    Configuration("passage-only", "the default without the nearest sentence", {"sentence_share": 0.0}),
    Configuration("one-scale", "the default with one scale of similarity for all languages", {"language_scale": False}),
    Configuration("no-rerank", "the default without the cross-encoder", {"rerank": False}),
    Configuration("mmr", "the default with maximal marginal relevance", {"mmr_lambda": 0.5}),
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
    """Return the named strategies, all of them where none is named; InputError names the known ones."""
    known = get_args(Strategy)
    for name in names:
        if name not in known:
            raise InputError(f"There is no strategy {name!r}.", help=f"Use {', '.join(known)}.")
    return list(dict.fromkeys(names or known))


def by_chunking(
    configurations: Sequence[Configuration], config: Config
) -> Mapping[ChunkingConfig, list[Configuration]]:
    """Return the configurations by how they chunk: those that chunk alike share one collection."""
    groups: dict[ChunkingConfig, list[Configuration]] = {}
    for one in configurations:
        groups.setdefault(one.applied(config).chunking, []).append(one)
    return groups


# What the paper's rows have in common: its recipe over our indexes, without what a row adds.
_PUBLISHED = {"profile": "paper", "geography": False}
_WHERE_LAST = "the best source stands last in the prompt, which changes no retrieval"


def configurations() -> list[Configuration]:
    """Every configuration of the ablation: the default first, the published eleven, the factorial, the index signal."""
    return [
        Configuration("default", "what a question is answered with"),
        *published(),
        *factorial(),
        *signals(),
    ]


def published() -> list[Configuration]:
    """Return the eleven configurations of Buriasco 2026, in the order of its table, as far as they are retrieval."""
    plain = {"header": False}
    rows: list[tuple[int, bool, bool, int, str]] = [
        (5, False, False, 1, "k = 5"),
        (10, False, False, 1, "k = 10"),
        (15, False, False, 1, "k = 15"),
        (20, False, False, 1, "k = 20"),
        (10, True, False, 1, "k = 10, geographic boost"),
        (15, True, False, 1, "k = 15, geographic boost"),
        (15, True, True, 1, "k = 15, geographic boost, header"),
        (15, True, True, 3, "k = 15, three queries"),
        (10, True, True, 3, f"k = 10, three queries; {_WHERE_LAST}"),
        (15, True, True, 3, f"k = 15, three queries; {_WHERE_LAST}"),
        (20, True, True, 3, f"k = 20, three queries; {_WHERE_LAST}"),
    ]
    return [
        Configuration(
            f"published-{number}",
            says,
            {**_PUBLISHED, "top_k": top_k, "geography": geography},
            {} if header else plain,
            queries=queries,
        )
        for number, (top_k, geography, header, queries, says) in enumerate(rows, start=1)
    ]


def factorial() -> list[Configuration]:
    """Sections or fixed pieces, each with every combination of retrievers, provenance, MMR and reranker.

    Both retrievers are fused by reciprocal rank as in the paper of the structural pipeline; "dense" and "sparse" are
    its baselines of one retriever, and "fixed both" without the rest is the usual retrieval-augmented generation.
    """
    rows = product(("section", "fixed"), ("both", "dense", "sparse"), (True, False), (True, False), (True, False))
    return [
        Configuration(
            " ".join(
                [strategy, retrievers]
                + [step for step, on in (("provenance", provenance), ("mmr", mmr), ("rerank", rerank)) if on]
            ),
            f"{strategy} chunks, {'both by reciprocal rank' if retrievers == 'both' else f'{retrievers} alone'}",
            {
                "profile": "rrf",
                "retrievers": retrievers,
                "mmr_lambda": 0.5 if mmr else None,
                "rerank": rerank,
                **({} if provenance else {"provenance_weight": 0.0}),
            },
            {"strategy": strategy},
        )
        for strategy, retrievers, provenance, mmr, rerank in rows
    ]


def signals() -> list[Configuration]:
    """Return the default without one of its signals, or with another fusion."""
    return [
        Configuration("no index signal", "the default without what indexes list", {"index_weight": 0.0}),
        Configuration("no provenance", "the default without the bonus for a named section", {"provenance_weight": 0.0}),
        Configuration("no reranker", "the default without the cross-encoder", {"rerank": False}),
        Configuration("references", "the default, what a good passage refers to lifted", {"reference_weight": 0.1}),
        Configuration("siblings", "the default with a lift from a passage's neighbours", {"sibling_share": 0.1}),
        Configuration("no sentences", "the default by whole passages alone", {"sentence_share": 0.0}),
        Configuration("one scale", "the default on one scale for all languages", {"language_scale": False}),
        Configuration("MMR", "the default with maximal marginal relevance", {"mmr_lambda": 0.5}),
        Configuration("no geography", "the default without the boost for named places", {"geography": False}),
        Configuration("dense alone", "the default by meaning alone", {"retrievers": "dense"}),
        Configuration("sparse alone", "the default by keywords alone", {"retrievers": "sparse"}),
        Configuration("reciprocal rank", "the default with reciprocal rank fusion", {"profile": "rrf"}),
    ]
