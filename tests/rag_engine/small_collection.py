"""A small collection of texts made for searching, and a reranker and a reader by hand."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rag_engine.book_index.anchors import IndexRecord
from rag_engine.config import Config, changed, read_config
from rag_engine.engine import Engine
from rag_engine.protocols import Embedder, Scores
from rag_engine.types.document import Document, ExtractedText, Line, Metadata
from rag_engine.types.passage import PassageReading
from tests.rag_engine.conftest import unread


@dataclass(frozen=True)
class Written:
    """A document by its title: pages of text, their language, and what its own index lists."""

    title: str
    pages: tuple[str, ...]
    language: str = "en"
    records: tuple[IndexRecord, ...] = ()


def statute(title: str, articles: Mapping[str, str], language: str = "en") -> Written:
    """Return an act whose articles are long enough that each is read on its own."""
    return Written(
        title, ("\n\n".join([title, *(f"{head}\n\n{rule * 4}" for head, rule in articles.items())]),), language
    )


DYKES = statute(
    "Dyke Protection Act",
    {
        "Article 1\nDefinitions": "Dyke means a wall of earth that keeps the water of a river off the land. ",
        "Article 2\nMaps": "The authority draws a map of every dyke as defined in Article 1 and reviews it yearly. ",
        "Article 3\nShares": "Owners of land behind the wall pay what the assembly of the district sets each spring. ",
        "Article 4\nWatch": "Wardens walk along the crest after a storm and write down every crack that they see. ",
    },
)
INSURANCE = statute(
    "Flood Insurance Act",
    {
        "Article 1\nCover": "A policy covers what rising water does to a house, a barn and the tools in them. ",
        "Article 2\nPremiums": "The insurer asks a premium that follows the height of the house above the gauge. ",
        "Article 3\nClaims": "Who loses a house tells the insurer within thirty days and keeps what is left of it. ",
        "Article 4\nAppeals": "Against a refusal the insured may turn to the ombudsman, whose word binds both sides. ",
    },
)
# The passage on the second page is listed under a word that it does not hold.
GUIDE = Written(
    "Guide to small dams",
    (
        "Grass on the slope is cut twice a year, and trees are kept away from the toe of the embankment. " * 12,
        "When the lake stands a metre under the edge, the keeper opens the gate by hand and lets it run. " * 12,
        "A siren on the roof of the mill warns the village, and the radio repeats the warning hourly. " * 12,
    ),
    records=(
        IndexRecord("freeboard", pages=(2,)),
        IndexRecord("alarm", "acoustic", pages=(3,)),
        IndexRecord("safety margin", see=("freeboard",)),
    ),
)
# Two notices that say nearly the same, and a third about the same thing.
NOTICE = Written("Notice of May", ("Volunteers fill sandbags at the town hall and stack the sandbags by the bridge.",))
REPRINT = Written(
    "Notice of June", ("Volunteers fill sandbags at the town hall and stack the sandbags at the bridge.",)
)
REPORT = Written("Report", ("Of the sandbags that were stacked in May half had burst; the engineers advise boards.",))
GERMAN = Written(
    "Merkblatt", ("Freiwillige füllen Sandsäcke am Rathaus. Die Feuerwehr holt die vollen Säcke ab.",), "de"
)

COLLECTION = (DYKES, INSURANCE, GUIDE, NOTICE, REPRINT, REPORT, GERMAN)


def weighed(config: Config) -> Config:
    """Return the configuration with weights that no other fit changes."""
    retrieval = changed(config.retrieval, provenance_weight=0.5, index_weight=0.1)
    return replace(config, retrieval=retrieval)


def indexed(
    workspace: Path, embedder: Embedder | None, written: Sequence[Written] = COLLECTION, *, reads: bool = False
) -> Engine:
    """Return an engine over a workspace with the documents; models read hits if it `reads`."""
    engine = Engine(weighed(read_config(workspace) if reads else unread(workspace)), embedder=embedder)
    with engine.indexer() as indexer:
        for one in written:
            indexer.add(document_of(one), one.title, one.records)
        indexer.finish()
    return engine


def document_of(written: Written) -> Document:
    """Return the document as it is indexed."""
    text = "\n\n".join(written.pages)
    starts = [sum(len(page) + 2 for page in written.pages[:number]) for number in range(len(written.pages))]
    lines = tuple(
        Line(start, start + len(page), number, None)
        for number, (start, page) in enumerate(zip(starts, written.pages, strict=True), start=1)
    )
    extracted = ExtractedText(text, len(written.pages), lines, (), "text/plain", written.title)
    metadata = Metadata(written.title, written.language)
    file = f"{written.title}.txt"
    return Document(f"/in/{file}", file, hashlib.sha256(text.encode()).hexdigest(), metadata, extracted)


@dataclass
class ByHand:
    """A Reranker that gives each text the score its function does, and remembers what it was given."""

    of: Callable[[str], float]
    name: str = "by hand"
    execution: str = "by hand"
    scored: list[str] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        self.scored += texts
        return np.array([self.of(text) for text in texts], dtype=np.float32)


class ReadingByHand(ByHand):
    """A PassageReader that finds a text as relevant as its function says, and remembers it.

    The answer is the whole text, as surely as it is relevant.
    """

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        self.scored += passages
        found = [(self.of(one), len(one)) for one in passages]
        return [PassageReading(relevant, 0.0, ((0, end),), (relevant,), (0.0,)) for relevant, end in found]
