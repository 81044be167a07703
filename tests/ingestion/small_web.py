"""A network of a few pages, a browser and a model, all written by hand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.types.outcome import OutcomeReason, Refusal
from ingestion.types.source import Fetched, Validators
from rag_engine.errors import BackendError

PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n"
WORDS = "The river authority publishes flood hazard maps every six years and reviews them after every flood. "


@dataclass(frozen=True)
class Answer:
    """Response of one address; `redirect` is another address, `refusal` a reason."""

    body: bytes = b""
    media_type: str = "text/html"
    etag: str = ""
    modified: str = ""
    file_name: str = ""
    redirect: str = ""
    refusal: OutcomeReason = ""
    retryable: bool = False
    charset: str = "utf-8"


def page(main: str, *, title: str = "", around: str = "", head: str = "", lang: str = "en") -> Answer:
    """Return an HTML page."""
    html = (
        f'<!doctype html><html lang="{lang}"><head><title>{title}</title>{head}</head>'
        f"<body>{around}<main>{main}</main></body></html>"
    )
    return Answer(html.encode())


def pdf(name: str = "", **more: str) -> Answer:
    """Return a file that begins as PDFs do and holds its name."""
    return Answer(PDF + name.encode(), "application/pdf", **more)  # type: ignore[arg-type]


def listing(*links: tuple[str, str]) -> str:
    """Return a list of links (address, text)."""
    return "<ul>" + "".join(f'<li><a href="{url}">{text}</a></li>' for url, text in links) + "</ul>"


@dataclass
class SmallWeb:
    """A Web of fixed answers that remembers what it was asked for."""

    answers: dict[str, Answer]
    asked: list[str] = field(default_factory=list)
    sent: list[Validators | None] = field(default_factory=list)

    def fetch(
        self,
        url: str,
        *,
        into: Path | None = None,
        max_bytes: int | None = None,
        validators: Validators | None = None,
        accept: str = "",
    ) -> Fetched:
        self.asked.append(url)
        self.sent.append(validators)
        urls = [url]
        answer = self.answers.get(url, Answer(refusal="not_found"))
        while answer.redirect:
            urls.append(answer.redirect)
            answer = self.answers.get(answer.redirect, Answer(refusal="not_found"))
        if answer.refusal:
            raise Refusal(answer.refusal, f"{urls[-1]} refuses ({answer.refusal}).", retryable=answer.retryable)
        same_tag = validators and answer.etag and validators.etag == answer.etag
        same_time = validators and answer.modified and validators.last_modified == answer.modified
        if same_tag or same_time:
            return Fetched(tuple(urls), 304, "", "", b"", etag=answer.etag, last_modified=answer.modified)
        return _fetched(urls, answer, into, max_bytes, "http")


@dataclass
class SmallBrowser:
    """A Browser of fixed answers."""

    answers: dict[str, Answer]
    asked: list[str] = field(default_factory=list)

    def render(self, url: str) -> Fetched:
        self.asked.append(url)
        answer = self.answers.get(url, Answer(refusal="not_found"))
        if answer.refusal or answer.media_type != "text/html":
            raise Refusal(answer.refusal or "wrong_content", f"{url} is no page.")
        return _fetched([url], answer, None, None, "browser")

    def download(self, url: str, into: Path, *, max_bytes: int | None = None) -> Fetched:
        self.asked.append(url)
        answer = self.answers.get(url, Answer(refusal="not_found"))
        if answer.refusal:
            raise Refusal(answer.refusal, f"{url} refuses.")
        return _fetched([url], answer, into, max_bytes, "browser")

    def close(self) -> None:
        """Do nothing: no process was started."""


@dataclass
class SmallJudge:
    """A Judge that gives the same reply to everything, or none."""

    reply: dict[str, object] | None
    asked: list[str] = field(default_factory=list)
    schemas: list[object] = field(default_factory=list)
    name: str = "small-model"

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        self.asked.append(user)
        self.schemas.append(schema)
        if self.reply is None:
            raise BackendError("small-model is away.")
        return self.reply


def _fetched(urls: list[str], answer: Answer, into: Path | None, most: int | None, how: str) -> Fetched:
    if most is not None and len(answer.body) > most:
        raise Refusal("too_large", f"{urls[-1]} is larger; the limit is {most}.")
    if into is not None:
        into.write_bytes(answer.body)
    return Fetched(
        tuple(urls),
        200,
        answer.media_type,
        answer.charset,
        b"" if into else answer.body,
        str(into) if into else "",
        len(answer.body),
        hashlib.sha256(answer.body).hexdigest(),
        answer.etag,
        answer.modified,
        answer.file_name,
        how,  # type: ignore[arg-type]
    )
