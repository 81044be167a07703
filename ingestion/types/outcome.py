"""An outcome of a phase: its status, its reason, its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ingestion.types.source import Download
from rag_engine.errors import SextantError
from rag_engine.messages import NO_MESSAGE, Message

OutcomeStatus = Literal["done", "skipped", "refused", "failed"]
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
_PASSING: frozenset[OutcomeReason] = frozenset({"not_a_portal", "translation", "superseded", "not_modified", ""})
# We could not read the file in time, in memory or for lack of a program; it may be tried again.
_OUR_FAILURES: frozenset[OutcomeReason] = frozenset(
    {
        *("host_unknown", "connection_failed", "timed_out", "rate_limited"),
        *("too_slow", "too_much_memory", "crashed", "ocr_missing", "office_missing"),
    }
)


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
        """Whether the source passes to the next phase: also with the former file, if no newer was got.

        >>> Outcome("skipped", "not_modified").passes, Outcome("refused", "licence_reserved").passes
        (True, False)
        """
        if self.status == "failed":
            return isinstance(self.evidence, Download) and bool(self.evidence.path)
        return self.status == "done" or (self.status == "skipped" and self.reason in _PASSING)


class Refusal(SextantError):  # noqa: N818 - refusing is an answer, not an accident
    """Refusal of an address or a file, with the reason from the fixed list.

    `refused` says that the source is at fault; else we have failed. Without `retryable` the reason tells whether the
    same call may succeed later.
    """

    def __init__(
        self,
        reason: OutcomeReason,
        message: str,
        *,
        help: str = "",
        retryable: bool | None = None,
        refused: bool = True,
        **values: object,
    ) -> None:
        retryable = reason in _OUR_FAILURES if retryable is None else retryable
        super().__init__(message, help=help, retryable=retryable, **values)
        self.reason: OutcomeReason = reason
        self.refused = refused and not retryable

    def again(self, *, help: str = "") -> Refusal:
        """Return a new refusal that says the same, with another remedy if one is given."""
        cure, later, refused = help or self.help, self.retryable, self.refused
        return Refusal(self.reason, self.fault, help=cure, retryable=later, refused=refused)

    @property
    def status(self) -> Literal["refused", "failed"]:
        """Status of an outcome with this refusal."""
        return "refused" if self.refused else "failed"

    def outcome(self, evidence: object | None = None) -> Outcome:
        """Return the outcome that this refusal is."""
        return Outcome(self.status, self.reason, self.message, evidence, self.retryable)
