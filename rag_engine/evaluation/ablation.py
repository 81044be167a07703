"""The configurations whose differences say what each step is worth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from rag_engine.config import Config
from rag_engine.errors import InputError
from rag_engine.evaluation.configurations import Configuration

# What the paper's rows have in common: its recipe over our indexes, without what a row adds.
_PUBLISHED = {"fusion": "paper", "geography": False}
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
    """The eleven configurations of Buriasco 2026, in the order of its table, as far as they are retrieval."""
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
    """Sections or fixed pieces, each with every combination of legs, provenance, MMR and reranker.

    The fusion of both legs is by reciprocal rank as in the paper of the structural pipeline; "dense" and "sparse" are
    its baselines of one leg, and "fixed both" without the rest is the usual retrieval-augmented generation.
    """
    rows = product(("section", "fixed"), ("both", "dense", "sparse"), (True, False), (True, False), (True, False))
    return [
        Configuration(
            " ".join(
                [strategy, legs]
                + [step for step, on in (("provenance", provenance), ("mmr", mmr), ("rerank", rerank)) if on]
            ),
            f"{strategy} chunks, {'both legs by reciprocal rank' if legs == 'both' else f'{legs} alone'}",
            {
                "fusion": "rrf",
                "legs": legs,
                "mmr": mmr,
                "rerank": rerank,
                **({} if provenance else {"provenance_weight": 0.0}),
            },
            {"strategy": strategy},
        )
        for strategy, legs, provenance, mmr, rerank in rows
    ]


def signals() -> list[Configuration]:
    """The default without one of its signals, or with another fusion."""
    return [
        Configuration("no index signal", "the default without what indexes list", {"index_weight": 0.0}),
        Configuration("no provenance", "the default without the bonus for a named section", {"provenance_weight": 0.0}),
        Configuration("no reranker", "the default without the cross-encoder", {"rerank": False}),
        Configuration("references", "the default, what a good passage refers to lifted", {"reference_weight": 0.1}),
        Configuration("siblings", "the default with a lift from a passage's neighbours", {"sibling_share": 0.1}),
        Configuration("no sentences", "the default by whole passages alone", {"sentence_share": 0.0}),
        Configuration("one scale", "the default on one scale for all languages", {"language_scale": False}),
        Configuration("MMR", "the default with maximal marginal relevance", {"mmr": True}),
        Configuration("no geography", "the default without the boost for named places", {"geography": False}),
        Configuration("dense alone", "the default by meaning alone", {"legs": "dense"}),
        Configuration("sparse alone", "the default by keywords alone", {"legs": "sparse"}),
        Configuration("reciprocal rank", "the default with reciprocal rank fusion", {"fusion": "rrf"}),
    ]


def possible(chosen: Sequence[Configuration], config: Config) -> tuple[list[Configuration], list[str]]:
    """The configurations whose settings there are, and what is to be said of the others."""
    kept: list[Configuration] = []
    said: list[str] = []
    for one in chosen:
        try:
            one.applied(config)
            kept.append(one)
        except InputError as error:
            said.append(f"Left out: {error}")
    return kept, said
