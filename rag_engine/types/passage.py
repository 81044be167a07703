"""A passage: what is searched, what is read, what was found and how it was read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from rag_engine.types.document import Box, DocumentRecord

Tier = Literal["strong", "moderate", "weak"]
# Where a source is: the key of its document and the offsets of its text.
Place = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Child:
    """The unit that is searched: parent.text[start:end].

    `clause` is the subdivision of the parent's section that it begins in, as it is cited: "(2)", "Abs. 3", "II".
    """

    index: int
    start: int
    end: int
    text: str
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Parent:
    """The unit that is read: document.extracted.text[start:end], cut into overlapping children.

    `section` is the citable unit as it is cited ("Section 12A", "§ 5", "Article 9", "Annex II", "Preamble"). `act` is
    the act of this section. Both are empty if the text has none. `headings` leads from the outermost title to the
    parent's own; `depth` counts the levels above the parent.
    """

    index: int
    start: int
    end: int
    text: str
    children: tuple[Child, ...]
    act: str = ""
    section: str = ""
    headings: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Region:
    """A marked place: a box on a page."""

    page: int
    box: Box


@dataclass(frozen=True, slots=True)
class NearSentence:
    """Characters [start, end) of a document's text that are a sentence of a passage.

    `nearness` says by how many standard deviations it is nearer to the question than any passage of its language.
    """

    start: int
    end: int
    nearness: float


@dataclass(frozen=True, slots=True)
class PassageReading:
    """Reading of a text for a question, in logits.

    - `tokens`: the characters [start, end) of the text for each token
    - `starts`, `ends`: how well an answer begins or ends in it
    - `absent`: how well the passage holds no answer, on the scale of a start and an end together
    - `relevance`: how relevant the passage is as a whole
    """

    relevance: float
    absent: float
    tokens: tuple[tuple[int, int], ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]

    def moved(self, by: int) -> PassageReading:
        """Return it in a text that the read one begins `by` characters into."""
        return replace(self, tokens=tuple((start + by, end + by) for start, end in self.tokens))


@dataclass(frozen=True, slots=True)
class Hit:
    """A child that was found, with every score and rank that decided its place.

    - `cosine`: the best over the query variants; `similarity` maps it to 0..1 so that it means the same for every
      encoder
    - `chance`: the chance that it answers the question, which gives its `tier`; None if it was not judged
    - `dense_rank`, `sparse_rank`: count from 1; None if that retriever did not find it
    - `start`, `end`: offsets into the document's text
    - `act`, `section`, `clause`, `headings`: its place in the document
    - `indexed_under`: the entries of an index that list it
    - `reranked`: the reranker's score, None if it was not asked
    - `provenance`: its gain because the question names its section or act
    - `named`: whether it is the section that the question names
    - `reading`: how a reader read it, or the part around its nearest sentence, at places of the document's text; None
      if none did
    """

    child_id: str
    document: DocumentRecord
    start: int
    end: int
    text: str
    page: int
    last_page: int
    cosine: float
    similarity: float
    dense_rank: int | None = None
    bm25: float | None = None
    sparse_rank: int | None = None
    fused: float = 0.0
    tier: Tier = "weak"
    chance: float | None = None
    geographic_boost: float = 1.0
    act: str = ""
    section: str = ""
    clause: str = ""
    headings: tuple[str, ...] = ()
    indexed_under: tuple[str, ...] = ()
    reranked: float | None = None
    provenance: float = 0.0
    named: bool = False
    reading: PassageReading | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Linked:
    """A parent that another one refers to, under the label it is referred to by."""

    label: str
    document: DocumentRecord
    start: int
    end: int
    text: str
    page: int
    last_page: int


@dataclass(frozen=True, slots=True)
class IndexListing:
    """An entry of an index, and a page of a document that the index lists under it.

    `via` is the entry that the question names and that refers to this one; empty where the question names this one. A
    `glossary` explains its entries on that page.
    """

    entry: str
    page: int
    via: str = ""
    glossary: bool = False

    def explain(self, page: str) -> str:
        """Return the listing in words; `page` is the page as it is cited, "" in a text without pages.

        >>> IndexListing("addressee", 14, via="recipient").explain("page 14")
        'listed in the index under “addressee”, page 14, to which “recipient” refers'
        """
        kind = "explained in the glossary" if self.glossary else "listed in the index"
        listed = ", ".join(filter(None, (f"{kind} under “{self.entry}”", page)))
        return f"{listed}, to which “{self.via}” refers" if self.via else listed


@dataclass(frozen=True, slots=True)
class Source:
    """A parent that will be read, numbered as [Source n].

    With the hits that brought it (best first) and the passages that it refers to, in the order of its text. `listed`
    are the entries of an index that the question names and that lead into it. An `index_context` is no whole parent
    but the few sentences to which an index leads, and comes after all that a search ranks higher. `sentences` are those
    of its children, with their nearness to the question; none without the encoder.
    """

    n: int
    document: DocumentRecord
    start: int
    end: int
    text: str
    page: int
    last_page: int
    hits: tuple[Hit, ...]
    act: str = ""
    section: str = ""
    headings: tuple[str, ...] = ()
    linked: tuple[Linked, ...] = ()
    listed: tuple[IndexListing, ...] = ()
    index_context: bool = False
    sentences: tuple[NearSentence, ...] = field(default=(), repr=False)

    @property
    def place(self) -> Place:
        """Its identity across searches."""
        return self.document.key, self.start, self.end
