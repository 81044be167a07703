"""The data that flows from a document to an answer; imports nothing of ours.

Every offset counts characters of the text it names; every page counts from 1; every box is in
points with the origin at the top left of the page, as PyMuPDF draws it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag_engine.messages import Message

BlockKind = Literal["heading", "text", "table", "note"]
Tier = Literal["strong", "moderate", "weak"]
# Whether what was found is enough to answer from, may not answer, or does not.
Ground = Literal["enough", "doubtful", "none"]
AnswerStatus = Literal["answered", "insufficient_evidence", "error"]
# What an attribute of a structured answer holds: None where it is empty, NOT_STATED for a yes or no that is not stated.
AttributeContent = str | int | float | bool | tuple[str, ...] | None
NOT_STATED = "not stated"
StepKind = Literal["plan", "retrieve", "read", "reflect", "decide"]
SupportLabel = Literal["supported", "partly supported", "unsupported", "no claim"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Line:
    """Characters [start, end) of a document's text and where they stand on a page.

    `box` is None where the format has no page geometry (DOCX, HTML, ...).
    """

    start: int
    end: int
    page: int
    box: Box | None


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, table or note: characters [start, end) of a document's text.

    `rows` are the cells of a table as they are printed, its header first, a merged cell in each place it covers.
    """

    start: int
    end: int
    page: int
    kind: BlockKind
    font_size: float | None = None
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """Text of a file in reading order, with the place of every line.

    `text` joins the blocks by a blank line. `lines` and `blocks` are ordered and lie inside `text`.
    `pages` counts pages, slides or sheets (1 for formats without them); `ocr_pages` were read by OCR;
    `unread_pages` had a picture but gave no text.
    """

    text: str
    pages: int
    lines: tuple[Line, ...]
    blocks: tuple[Block, ...]
    media_type: str
    title: str = ""
    ocr_pages: tuple[int, ...] = ()
    unread_pages: tuple[int, ...] = ()
    warnings: tuple[Message, ...] = ()


# How `Metadata.superseded` says that it is not known since when.
UNDATED = "unknown"


@dataclass(frozen=True, slots=True)
class Metadata:
    """A document described in the controlled taxonomy; empty means not known.

    `geographical_level` is one of the taxonomy's labels, with "National" for every country;
    `countries` are English names; `language` is an ISO 639-1 code; `date` is an ISO date or its prefix.

    `work` is shared by the versions and translations of one work, empty for a single document. `version`
    is a label; `superseded` the ISO date or its prefix from which a newer version replaces it ("unknown" where that has
    no date), empty for the newest; `translation_of` the code of the translation that answers in its place.
    `quality_score` is ingestion's, from 0 to 100; None for a file that was added by itself.
    """

    title: str
    language: str
    authority: str = ""
    hazards: tuple[str, ...] = ()
    geographical_level: str = ""
    countries: tuple[str, ...] = ()
    document_type: str = ""
    year: int | None = None
    date: str = ""
    target: str = ""
    key_criteria: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    description: str = ""
    licence: str = ""
    source_url: str = ""
    notes: str = ""
    work: str = ""
    version: str = ""
    superseded: str = ""
    translation_of: str = ""
    quality_score: float | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One file of the collection, ready to be chunked and indexed.

    `source` is the place it came from (an absolute path or upload:FOLDER/NAME) and identifies the document
    across versions of its content; `sha256` is the hash of the file's bytes.
    """

    source: str
    file: str
    sha256: str
    metadata: Metadata
    extracted: ExtractedText

    @property
    def document_id(self) -> str:
        """First twelve hex digits of the content hash, the prefix of every child id."""
        return self.sha256[:12]


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

    `section` is the citable unit as it is cited ("Section 12A", "§ 5", "Article 9", "Annex II", "Preamble"), and
    `act` what it is a section of; both are empty where the text has none. `headings` leads from the outermost title
    to the parent's own; `depth` counts the levels above the parent.
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
class DocumentRecord:
    """A document as the catalog knows it. `key` is its row, never shown to a person.

    `strategy` names how its text was cut into parents and children, `why` says why so. `source` is where it came from;
    a version that another content of the same source has superseded has the beginning of its hash behind it.
    """

    key: int
    document_id: str
    source: str
    file: str
    sha256: str
    media_type: str
    pages: int
    ocr_pages: int
    parents: int
    children: int
    characters: int
    added: str
    metadata: Metadata
    strategy: str = ""
    why: str = ""

    @property
    def shown_title(self) -> str:
        """Its title, or the name of its file where it has none."""
        return self.metadata.title or self.file

    @property
    def origin(self) -> str:
        """Where it came from, the same for every version of a source."""
        return self.source.removesuffix(former_mark(self.sha256))

    @property
    def is_former(self) -> bool:
        """Whether another content of its source has superseded it."""
        return self.source != self.origin


def former_mark(sha256: str) -> str:
    """Return what stands behind the source of a version with this content once it is superseded."""
    return f"@{sha256[:12]}"


@dataclass(frozen=True, slots=True)
class Region:
    """A marked place: a box on a page."""

    page: int
    box: Box


@dataclass(frozen=True, slots=True)
class GeographicScope:
    """The places a question names: countries by English name, regions by the table's name."""

    countries: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.countries or self.regions)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """A question taken apart: what to search, how to answer, where in the world.

    `queries` holds the cleaned question first, then up to three variants. `keywords` are acronyms and quoted
    phrases that are searched on their own. `planner` says who made the plan.
    """

    question: str
    language: str
    queries: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    output_instructions: str = ""
    scope: GeographicScope = GeographicScope()
    planner: str = "rules"
    warnings: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageReading:
    """Reading of a passage for a question, in logits.

    `tokens` are the characters [start, end) of the passage that each token stands for; `starts` and `ends` how well an
    answer begins or ends in it; `absent` how well the passage holds no answer, on the scale of a start and an end
    together; `relevance` how relevant the passage is as a whole.
    """

    relevance: float
    absent: float
    tokens: tuple[tuple[int, int], ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A child that was found, with every score and rank that put it where it is.

    `cosine` is the best over the query variants; `similarity` maps it to 0..1 so that it means the same
    for every encoder; `chance` is that of its answering the question, by which it has its `tier`, None where it was not
    judged; ranks count from 1 and are None where that retriever did not find it; `start` and `end` are
    offsets into the document's text. `act`, `section`, `clause` and `headings` say where it is in the document;
    `indexed_under` the entries of an index under which it is listed; `reranked` is the reranker's score, None where
    it was not asked; `provenance` what the hit gained because the question names its section or act; `named` whether it
    is the section that the question names.
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
    dense_rank: int | None
    bm25: float | None
    sparse_rank: int | None
    fused: float
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

    @property
    def explanation(self) -> str:
        """The listing in words: "listed in the index under “addressee”, page 14"."""
        kind = "explained in the glossary" if self.glossary else "listed in the index"
        listed = f"{kind} under “{self.entry}”, page {self.page}"
        return f"{listed}, to which “{self.via}” refers" if self.via else listed


@dataclass(frozen=True, slots=True)
class Source:
    """A parent that will be read, numbered as [Source n].

    With the hits that brought it (best first) and the passages that it refers to, in the order of its text. `listed`
    are the entries of an index that the question names and that lead into it. An `index_context` is no whole parent
    but the few sentences to which an index leads, and comes after all that a search ranks higher.
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


@dataclass(frozen=True, slots=True)
class AbsentSection:
    """A section that the question names of an act that has none of that label.

    `section` is as the question writes it, `act` the act's name; `first` and `last` are the numbers between which the
    sections of its kind lie.
    """

    section: str
    act: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of a language model's prompts and replies, as its server counts them."""

    prompt: int
    reply: int


@dataclass(frozen=True, slots=True)
class ControllerStep:
    """A step of the controller, shown while it happens: what it does, in which iteration (0: the question itself).

    `subject` is the query, the sub-question or the reason to stop; `done` and `of` count what the step is about
    (sub-questions, passages, statements); `confidence` is the memory's after the step, from 0 to 1. `tokens` are those
    that the controller has spent until then, None where it asked no model or the server counts none.
    """

    kind: StepKind
    iteration: int
    subject: str = ""
    done: int = 0
    of: int = 0
    confidence: float = 0.0
    tokens: TokenCount | None = None


@dataclass(frozen=True, slots=True)
class ResidualGap:
    """A part of the question that is not covered when the answer is written: nothing found, or contradicted."""

    question: str
    contradicted: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """Result of retrieval: hits in rank order, their parents as sources (1 is the best).

    `ground` says whether it is enough to answer from, by the best chance of a hit, and `read` whether a reader helped
    to judge that. `steps` and `gaps` are those of the controller, where it ran.
    """

    plan: QueryPlan
    hits: tuple[Hit, ...]
    sources: tuple[Source, ...]
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    absent: tuple[AbsentSection, ...] = ()
    ground: Ground = "enough"
    steps: tuple[ControllerStep, ...] = ()
    gaps: tuple[ResidualGap, ...] = ()
    read: bool = False


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model that the server has and that writes, with its size on disk in bytes."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Input of a generator: rules, the packed user message, and the parts it was made from.

    `sources` are those that fit, in the order in which they stand in `user` (best last).
    `tokens` estimates the whole prompt; `num_ctx` is the context window it asks for.
    """

    system: str
    user: str
    plan: QueryPlan
    sources: tuple[Source, ...]
    left_out: tuple[Source, ...]
    tokens: int
    num_ctx: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Citation:
    """A [Source n] of an answer tied to its place: the quote that bears the statement out and the page it is on.

    `start` and `end` are offsets of the quote in the document's text. `authority`, `year` and `licence` are the
    document's, empty where they are not known; `section` is the heading that the quote stands under, where it is.
    """

    n: int
    child_id: str
    document_id: str
    file: str
    title: str
    page: int
    quote: str
    start: int
    end: int
    authority: str = ""
    year: int | None = None
    licence: str = ""
    section: str = ""


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """How far the passages that a sentence cites bear it out: characters [start, end) of the answer's text.

    `reasons` say what of the sentence is not in the passages ("number 40 is not in the passage").
    """

    start: int
    end: int
    label: SupportLabel
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SupportJudge:
    """Second model that was asked to label an answer's sentences; where it `failed` the labels are those without it."""

    name: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole of a reply; the text cites sources as [Source n] and every one of them exists.

    `support` has the sentences of a language model's answer in order, and nothing for quotations; `judge` is the model
    that was asked for their labels, None where none is set. `withheld` is what a
    model wrote without naming a source, which is no answer. Where a model failed before its first word the text is the
    error, and where it found no answer in passages that are likely to hold one the text says so; `quotations` are then
    what there is without a model, and the citations are theirs.
    """

    status: AnswerStatus
    text: Message | str
    citations: tuple[Citation, ...]
    evidence: Evidence
    generator: str
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    support: tuple[SentenceSupport, ...] = ()
    withheld: str = ""
    quotations: str = ""
    judge: SupportJudge | None = None


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named value of a structured answer."""

    name: str
    value: AttributeContent


@dataclass(frozen=True, slots=True)
class CitedRecord:
    """A record of a structured answer and the place that states it."""

    attributes: tuple[Attribute, ...]
    citation: Citation


@dataclass(frozen=True, slots=True)
class StructuredAnswer:
    """A reply in the shape of a JSON schema: its entities, the records of its list, and where each is stated.

    `list_name` is the property that holds the records. Where the evidence is insufficient there are neither entities
    nor records.
    """

    status: AnswerStatus
    list_name: str
    entities: tuple[Attribute, ...]
    records: tuple[CitedRecord, ...]
    evidence: Evidence
    generator: str
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
