"""The ways of searching that are compared, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal, get_args

from rag_engine.config import ChunkingConfig, Config, Strategy, changed
from rag_engine.errors import InputError
from rag_engine.text.tables import read_table

# The keyword search: the index on disk; the paper's BM25 over words between spaces, of children or of whole documents;
# or Lucene's BM25 over whole documents. The last two search by keywords alone.
Keywords = Literal["index", "spaces", "documents", "lucene"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A way of searching: its changes to the settings of retrieval and chunking, and a description.

    A question is planned into several queries; the first `queries` are searched.
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
        """Return the configuration with its changes made; InputError names an unknown setting."""
        try:
            retrieval = changed(config.retrieval, **self.retrieval)
            chunking = changed(config.chunking, **self.chunking)
        except InputError as error:
            raise InputError(f"Configuration {self.name!r} cannot be applied: {error}") from None
        return replace(config, retrieval=retrieval, chunking=chunking)


def configurations_of(table: str) -> list[Configuration]:
    """Return the rows of a table of data/configurations.toml."""
    rows = read_table("configurations")[table]
    return [Configuration(**row) for row in rows]


CONFIGURATIONS = tuple(configurations_of("retrieval"))


def chosen_of(configurations: Sequence[Configuration], names: Sequence[str]) -> list[Configuration]:
    """Return the named configurations in the order of the names, all of them without a name."""
    known = {configuration.name: configuration for configuration in configurations}
    for name in names:
        if name not in known:
            raise InputError(f"There is no configuration {name!r}.", help=f"Use {', '.join(known)}.")
    return [known[name] for name in dict.fromkeys(names or known)]


def chunking_strategies(names: Sequence[str]) -> list[str]:
    """Return the named strategies, all of them without a name; InputError names the known ones."""
    known = get_args(Strategy)
    for name in names:
        if name not in known:
            raise InputError(f"There is no strategy {name!r}.", help=f"Use {', '.join(known)}.")
    return list(dict.fromkeys(names or known))


def by_chunking(
    configurations: Sequence[Configuration], config: Config
) -> Mapping[ChunkingConfig, list[Configuration]]:
    """Return the configurations by their chunking: those that chunk alike share one collection."""
    groups: dict[ChunkingConfig, list[Configuration]] = {}
    for configuration in configurations:
        groups.setdefault(configuration.applied(config).chunking, []).append(configuration)
    return groups


def configurations() -> list[Configuration]:
    """Return every configuration of the ablation.

    They are the default, the published eleven, the factorial and the signals.
    """
    return [CONFIGURATIONS[0], *configurations_of("published"), *factorial(), *configurations_of("signals")]


def factorial() -> list[Configuration]:
    """Return sections and fixed pieces with every combination of the other steps.

    The steps are retrievers, provenance, MMR and reranker. Both retrievers are fused by reciprocal rank as in the paper
    of the structural pipeline. "dense" and "sparse" are its baselines of one retriever. "fixed both" without the rest
    is the usual retrieval-augmented generation.
    """
    rows = product(("section", "fixed"), ("both", "dense", "sparse"), (True, False), (True, False), (True, False))
    found = []
    for strategy, retrievers, provenance, mmr, rerank in rows:
        steps = [step for step, on in (("provenance", provenance), ("mmr", mmr), ("rerank", rerank)) if on]
        fused = "both by reciprocal rank" if retrievers == "both" else f"{retrievers} alone"
        changes = {
            "profile": "rrf",
            "retrievers": retrievers,
            "mmr_lambda": 0.5 if mmr else None,
            "rerank": rerank,
            **({} if provenance else {"provenance_weight": 0.0}),
        }
        name, says = " ".join([strategy, retrievers, *steps]), f"{strategy} chunks, {fused}"
        found.append(Configuration(name, says, changes, {"strategy": strategy}))
    return found
