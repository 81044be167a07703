"""Types that the phases pass on: sources, outcomes with their reasons and evidence, requests for runs.

There are two kinds of failure: a source that is at fault is rejected and stays so until it is changed; one that we
could not fetch or read in time, in memory or for lack of a program has failed and may be tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from rag_engine.errors import InputError, SextantError
from rag_engine.messages import NO_MESSAGE, Message

# Name of a phase: of its folder in ingestion/, whose phase.py defines it.
Phase = str
# The phases in order. A new one is a folder with a phase.py and its name here.
PHASES: tuple[Phase, ...] = (
    "licence",
    "acquisition",
    "portals",
    "extraction",
    "quality",
    "deduplication",
    "metadata",
    "indexing",
)

OutcomeStatus = Literal["done", "skipped", "rejected", "failed"]

OutcomeReason = Literal[
    "",
    # licence
    "licence_green", "licence_unclear", "licence_conflict", "licence_reserved",
    # any phase that uses the network
    "robots_forbidden", "address_forbidden", "host_unknown", "connection_failed", "certificate_invalid",
    "timed_out", "too_large", "too_many_redirects", "http_error", "not_found", "access_denied", "rate_limited",
    # acquisition
    "url_missing", "url_invalid", "wrong_content", "empty_page", "off_topic", "no_document_link",
    "browser_missing", "directory", "not_modified", "file_missing",
    # portals
    "not_a_portal", "nothing_found",
    # extraction
    "empty", "unsupported_type", "mislabelled", "encrypted", "damaged", "no_pages", "too_many_pages",
    "no_text", "not_utf8", "too_slow", "too_much_memory", "crashed", "ocr_missing", "office_missing",
    # quality
    "file_too_small", "too_few_pages", "too_little_text", "unreadable_text", "title_refused", "low_score",
    "out_of_scope",
    # deduplication
    "same_content", "same_text", "same_work", "same_address", "superseded", "translation",
    # metadata
    "model_missing", "model_failed",
    # a person
    "decided", "unexpected",
]  # fmt: skip

# How a request can end without an answer: the address, its host or the way there is at fault.
_NetworkReason = Literal[
    "robots_forbidden", "address_forbidden", "host_unknown", "connection_failed", "certificate_invalid",
    "timed_out", "too_large", "too_many_redirects", "http_error", "not_found", "access_denied", "rate_limited",
]  # fmt: skip
NETWORK_REASONS: frozenset[OutcomeReason] = frozenset(get_args(_NetworkReason))

Light = Literal["GREEN", "YELLOW", "RED"]


@dataclass(frozen=True, slots=True)
class SeedSource:
    """A row of the analyst's list, a document found under one, or a file of the analyst's own.

    `code` identifies it for ever (Document_Code); `path` is set instead of `url` for a local file. `parent` is
    the code of the portal it was found under. `origin` says where the row stood ("seeds.xlsx, Sheet1, row 7").
    `title`, `authority`, `notes` and `licence` are what the list says and may be empty.
    """

    code: str
    url: str = ""
    path: str = ""
    title: str = ""
    authority: str = ""
    notes: str = ""
    licence: str = ""
    parent: str = ""
    origin: Message = NO_MESSAGE

    @property
    def shown_title(self) -> str:
        """Its title, or its address or path where the list gives none."""
        return self.title or self.url or self.path


@dataclass(frozen=True, slots=True)
class Outcome:
    """End of a phase for one source: a reason from the fixed list, a sentence, and the evidence.

    `evidence` is a frozen dataclass of this module or None. A phase after this one runs only where it `passes`.
    `retryable` means that the same call may succeed later.
    """

    status: OutcomeStatus
    reason: OutcomeReason
    message: Message = NO_MESSAGE
    evidence: object | None = None
    retryable: bool = False

    @property
    def passes(self) -> bool:
        """Whether the source passes to the next phase: also with the former file, if no newer was got."""
        if self.status == "failed":
            return isinstance(self.evidence, Download) and bool(self.evidence.path)
        return self.status == "done" or (self.status == "skipped" and self.reason in _PASSING)


_PASSING: frozenset[OutcomeReason] = frozenset({"not_a_portal", "translation", "superseded", "not_modified", ""})


# We could not read the file in time, in memory or for lack of a program; it may be tried again.
_OUR_FAILURES: frozenset[OutcomeReason] = frozenset(
    {
        *("host_unknown", "connection_failed", "timed_out", "rate_limited"),
        *("too_slow", "too_much_memory", "crashed", "ocr_missing", "office_missing"),
    }
)


class Refusal(SextantError):  # noqa: N818 - refusing is an answer, not an accident
    """Refusal of an address or a file, with the reason from the fixed list.

    `rejected` says that the source is at fault; else we have failed. Without `retryable` the reason tells whether the
    same call may succeed later.
    """

    def __init__(
        self,
        reason: OutcomeReason,
        message: str,
        *,
        help: str = "",
        retryable: bool | None = None,
        rejected: bool = True,
        **values: object,
    ) -> None:
        retryable = reason in _OUR_FAILURES if retryable is None else retryable
        super().__init__(message, help=help, retryable=retryable, **values)
        self.reason: OutcomeReason = reason
        self.rejected = rejected and not retryable

    def again(self, *, help: str = "") -> Refusal:
        """Return a fresh one that says the same, with another remedy where one is given."""
        cure, later, rejected = help or self.help, self.retryable, self.rejected
        return Refusal(self.reason, self.fault, help=cure, retryable=later, rejected=rejected)

    @property
    def status(self) -> Literal["rejected", "failed"]:
        """Status of an outcome with this refusal."""
        return "rejected" if self.rejected else "failed"

    def outcome(self, evidence: object | None = None) -> Outcome:
        """Return the outcome that this refusal is."""
        return Outcome(self.status, self.reason, self.message, evidence, self.retryable)


# --- licence


LicenceSubject = Literal["", "document", "part", "data", "quoted"]


@dataclass(frozen=True, slots=True)
class LicenceMark:
    """One piece of evidence: what was read, where it stood, which layer read it, and what it says.

    `light` is what this mark alone would mean; `score` its weight on the paper's scale (20 decides). `place` is for
    a person: "rel=license", "footer", "page 2", "XMP xmpRights:WebStatement", "trusted domain ec.europa.eu".
    `licence` is the normalised name ("CC BY-NC 4.0", "OGL 3.0", "Public domain", "All rights reserved", ...). `rule`
    names the rows of data/licences.toml that decided: "granted-for-a-purpose it.granted.2"; "" where a value or a
    person did. It is no part of what makes two pieces of evidence one. `subject` is what the statement speaks of: only
    one about the document, or one in a field for its licence, frees it; "" where it does not say.
    """

    layer: Literal["domain", "mark", "pattern", "model", "person"]
    light: Light
    licence: str
    score: float
    quote: str
    place: str
    rule: str = field(default="", compare=False)
    subject: LicenceSubject = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class LicenceVerdict:
    """The traffic light for one source with everything it rests on.

    `restrictions` holds "NC", "ND", "SA" where the licence has them; `language` is that of the deciding statement.
    """

    light: Light
    licence: str
    marks: tuple[LicenceMark, ...]
    restrictions: tuple[str, ...] = ()
    language: str = ""
    conflict: bool = False


# --- acquisition and portals

PageKind = Literal["directory", "landing", "content", "file"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Answer of an address. Exactly one of `body` (in memory) and `path` (streamed to a file) is set.

    `urls` are all hops, the one asked for first, the final one last. `media_type` is the declared one without
    parameters, in lower case; `charset` its charset parameter or "". `status` is 304 where nothing has changed.
    `how` tells a plain request from a browser.
    """

    urls: tuple[str, ...]
    status: int
    media_type: str
    charset: str
    body: bytes
    path: str = ""
    size: int = 0
    sha256: str = ""
    etag: str = ""
    last_modified: str = ""
    file_name: str = ""
    how: Literal["http", "browser"] = "http"

    @property
    def url(self) -> str:
        """The final address."""
        return self.urls[-1]


@dataclass(frozen=True, slots=True)
class Validators:
    """Validators of a conditional request."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Download:
    """A local file of a source: `path` is relative to the workspace (downloads/ADM001_flood-plan.pdf).

    `urls` lead from the source's address to the file's, through landing pages and redirects. `title` is what the
    page or link called it. `how` is "local" for a file that the analyst had.
    """

    path: str
    urls: tuple[str, ...]
    sha256: str
    size: int
    media_type: str
    kind: PageKind
    retrieved: str
    title: str = ""
    etag: str = ""
    last_modified: str = ""
    how: Literal["http", "browser", "local"] = "http"


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document that a portal offers; becomes a source with the portal's code as parent."""

    url: str
    title: str = ""
    authority: str = ""
    licence: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True)
class PortalFindings:
    """Result of exploring a portal: documents in order, pages visited, and what was left out."""

    found: tuple[FoundDocument, ...]
    visited: tuple[str, ...]
    left_out: tuple[Message, ...] = ()


# --- extraction, quality, deduplication


@dataclass(frozen=True, slots=True)
class Extraction:
    """Summary of a file that was read; its text with positions is in the workspace's readings/ folder.

    `text_hash` is the SHA-256 of the cleaned text (the paper's content hash); `characters` and
    `cleaned_characters` count the analyst's text and the encoder's. `licence_marks` is what the document says of its
    licence, where that speaks against what its page says.
    """

    text_hash: str
    media_type: str
    pages: int
    ocr_pages: int
    unread_pages: int
    characters: int
    cleaned_characters: int
    title: str
    language: str
    size: int
    warnings: tuple[Message, ...] = ()
    licence_marks: tuple[LicenceMark, ...] = ()


@dataclass(frozen=True, slots=True)
class Quality:
    """The score 0-100 and its four parts (Buriasco 2026).

    Length has at most 50, chunks 20, sections 15, cleaning 15.
    `readability` is the share 0..1 of words that look like words of the text's language; 1 where no OCR was used.
    """

    score: float
    length: float
    chunks: float
    sections: float
    cleaning: float
    readability: float = 1.0
    sections_found: tuple[str, ...] = ()
    key_terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """Relation of a source to the others: copy, version, translation.

    `work` is the code of the work's preferred member, itself included. `translation_of` is the preferred
    translation's code, or "". `version` is a label ("2016", "rev. 2", "draft"), or "". `superseded` is the ISO date
    (or its prefix) from which a newer version replaces it, "unknown" where it has no date, or "" for the newest.
    `duplicate_of` is the code of the source that is kept instead of this one, or "". `similarity` is 0..1, of
    whatever `how` names ("title", "text", "address", "meaning").
    """

    work: str
    translation_of: str = ""
    version: str = ""
    superseded: str = ""
    duplicate_of: str = ""
    how: str = ""
    similarity: float = 0.0


# --- metadata

FieldName = Literal[
    "title", "authority", "document_type", "hazards", "target", "key_criteria", "tags", "description", "language",
    "date", "geographical_level", "countries", "notes", "licence", "source_url",
]  # fmt: skip
ALL_FIELDS: tuple[FieldName, ...] = get_args(FieldName)
# Licence and address are stated by a person, but of sources of the list: those have the list's.
FIELDS, STATED_FIELDS = ALL_FIELDS[:-2], ALL_FIELDS[-2:]
LIST_FIELDS: frozenset[FieldName] = frozenset({"hazards", "key_criteria", "tags", "countries"})


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One value of a field: its origin, the sentence that justifies it, and how sure it is (0..1).

    A list field has one FieldValue for each of its elements. `page` is where the sentence is, None if nowhere.
    """

    field: FieldName
    value: str
    source: Literal["model", "rule", "person", "seed"]
    sentence: str = ""
    page: int | None = None
    confidence: float = 0.0


def surest(values: Iterable[FieldValue]) -> list[FieldValue]:
    """Return the surest of the values that are alike but for case, each in the place of the first."""
    best: dict[str, FieldValue] = {}
    for value in values:
        known = best.setdefault(value.value.casefold(), value)
        if value.confidence > known.confidence:
            best[value.value.casefold()] = value
    return list(best.values())


@dataclass(frozen=True, slots=True)
class Description:
    """A source described in the controlled taxonomy; `warnings` say what the model did not do.

    `year` is one that was given without a date.
    """

    values: tuple[FieldValue, ...]
    warnings: tuple[Message, ...] = ()
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Indexed:
    """Entry of a source in the index."""

    document_id: str
    children: int
    fingerprint: str


Which = Literal["due", "failed", "all"]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Request for a run: phases, sources by code (none means all), which of them.

    "due" takes what is new or changed and what may be tried again by now, "failed" only what failed, "all"
    everything. `refresh` asks the addresses of downloaded files whether they have changed. `without` are codes that
    are left out, with what is under them.
    """

    phases: tuple[Phase, ...] = PHASES
    codes: tuple[str, ...] = ()
    which: Which = "due"
    refresh: bool = False
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """Figures of a phase in a run: sources by status, by reason, and seconds."""

    phase: Phase
    done: int
    skipped: int
    rejected: int
    failed: int
    reasons: Mapping[str, int]
    seconds: float


def check_phases(names: Sequence[str]) -> tuple[Phase, ...]:
    """Return the phases of these names in their order, all of them for none."""
    unknown = sorted(set(names) - set(PHASES))
    if unknown:
        raise InputError(
            "There is no phase {names}.", help="Phases are {all}.", names=", ".join(unknown), all=", ".join(PHASES)
        )
    return tuple(phase for phase in PHASES if phase in names) or PHASES


def check_field(name: str) -> FieldName:
    """Return the field of this name; InputError where there is none."""
    found = next((field for field in ALL_FIELDS if field == name.strip().lower().replace(" ", "_")), None)
    if found is None:
        raise InputError(
            "There is no field {name!r}.", help="Fields are {fields}.", name=name, fields=", ".join(ALL_FIELDS)
        )
    return found


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of work; bytes tell the remaining time of an addition better than files do.

    `phase` names the phase of a run over sources, whose `done` and `total` count sources. `pages` counts those that an
    addition has read and indexed, not those of files that were unchanged. `now` are the codes of the sources that are
    being worked on, `waiting` those of the next ones, as many as a page can show.
    """

    done: int
    total: int
    done_bytes: int
    total_bytes: int
    current: Message | str
    phase: str = ""
    pages: int = 0
    now: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


ControlSignal = Literal["", "pause", "cancel"]
