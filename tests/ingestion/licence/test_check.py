from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits, FileReading
from ingestion.licence.check import judge_licence
from ingestion.licence.page_sections import terms_link
from ingestion.types.licence import LicenceVerdict
from ingestion.types.outcome import Outcome, Refusal
from ingestion.types.source import Fetched, ListedSource
from ingestion.web.html import parse
from tests.ingestion.context import NoReader
from tests.ingestion.small_web import SmallJudge

BY = "https://creativecommons.org/licenses/by/4.0/"
URL = "https://example.org/report"
LICENSED = "This work is licensed under CC BY 4.0."
FILLER = "The river rose by two metres in the night and fell again in the morning of the next day."


class Pages:
    """A web of a few pages that remembers what was asked for."""

    def __init__(self, pages: Mapping[str, str | bytes], media_type: str = "text/html") -> None:
        self.pages = pages
        self.media_type = media_type
        self.asked: list[str] = []

    def fetch(self, url: str, into: Path) -> Fetched:
        self.asked.append(url)
        if url not in self.pages:
            raise Refusal("not_found", f"{url} is not there.")
        found = self.pages[url]
        into.write_bytes(found if isinstance(found, bytes) else found.encode())
        return Fetched((url,), 200, self.media_type, "utf-8", b"", str(into))


class Reader(NoReader):
    """The real extraction, in this process."""

    def read(self, path: Path, patience: float = 1.0) -> FileReading:
        return FileReading(extract(path, ExtractionLimits(), None))


def judged(
    page: str | bytes | Pages,
    tmp_path: Path,
    *,
    source: ListedSource | None = None,
    language_model: SmallJudge | None = None,
    render: Callable[[str], Fetched | None] = lambda _: None,
) -> Outcome:
    web, source = page if isinstance(page, Pages) else Pages({URL: page}), source or ListedSource("A1", URL)
    folder = tmp_path / "kept"
    outcome = judge_licence(source, web.fetch, Reader().read, language_model, folder=folder, seconds=1, render=render)
    assert not list((tmp_path / "kept").glob("*")), "downloads are removed"
    return outcome


def verdict(outcome: Outcome) -> LicenceVerdict:
    assert isinstance(outcome.evidence, LicenceVerdict)
    return outcome.evidence


def html(text: str, head: str = "") -> str:
    return f"<html><head><title>T</title>{head}</head><body><p>Floods.</p><footer>{text}</footer></body></html>"


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("This work is licensed under CC BY-NC 4.0.", "done", "licence_green"),
        ("© 2020 Ministry", "skipped", "licence_unclear"),
        ("This work is licensed under CC BY 4.0. All rights reserved.", "skipped", "licence_conflict"),
        ("© 2020 Ministry. All rights reserved.", "refused", "licence_reserved"),
    ],
)
def test_each_light_has_its_outcome_with_the_verdict_as_evidence(
    text: str, status: str, reason: str, tmp_path: Path
) -> None:
    outcome = judged(html(text), tmp_path)
    assert (outcome.status, outcome.reason) == (status, reason)
    assert outcome.passes == (status == "done")
    assert any(mark.place == "footer" and mark.quote in text for mark in verdict(outcome).marks)


def test_a_trusted_host_needs_no_request(tmp_path: Path) -> None:
    web = Pages({})
    source = ListedSource("A1", "https://eur-lex.europa.eu/eli/reg/2021/1119/oj")
    outcome = judged(web, tmp_path, source=source)
    assert outcome.reason == "licence_green"
    assert verdict(outcome).marks[0].place.startswith("trusted domain eur-lex.europa.eu, by its notice https://")
    assert web.asked == []


def test_what_the_list_says_does_not_free_a_document_alone_but_contradicts(tmp_path: Path) -> None:
    listed = ListedSource("A1", URL, licence="CC BY 4.0")
    assert judged(html("Contact"), tmp_path, source=listed).reason == "licence_unclear"
    assert judged(html("All rights reserved."), tmp_path, source=listed).reason == "licence_conflict"
    reserved = ListedSource("A1", "https://eur-lex.europa.eu/x", licence="All rights reserved")
    assert judged(Pages({}), tmp_path, source=reserved).reason in ("licence_conflict", "http_error", "not_found")


def test_the_site_s_own_terms_are_read_when_the_page_says_nothing(tmp_path: Path) -> None:
    web = Pages(
        {
            URL: html('<a href="https://other.net/terms">Terms of use</a> <a href="/note-legali#a">Note legali</a>'),
            "https://example.org/note-legali": html(
                "I contenuti di questo sito sono rilasciati con licenza CC BY 4.0."
            ),
        }
    )
    outcome = judged(web, tmp_path)
    assert outcome.reason == "licence_green"
    assert web.asked == [URL, "https://example.org/note-legali"]
    assert "note-legali" in outcome.message


@pytest.mark.parametrize(
    ("page", "terms", "same"),
    [
        ("https://www.example.org/a", "https://legal.example.org/terms", True),
        ("https://www.example.co.uk/a", "https://example.co.uk/terms", True),
        ("https://a.example.co.uk/", "https://other.co.uk/terms", False),
        ("https://a.github.io/x", "https://a.github.io/terms", True),
        ("https://a.github.io/x", "https://b.github.io/terms", False),
        ("http://10.0.0.1:8080/x", "http://10.0.0.1:8080/terms", True),
        ("http://10.0.0.1:8080/x", "http://10.0.0.2:8080/terms", False),
        ("http://localhost/x", "http://localhost/terms", True),
    ],
)
def test_terms_are_those_of_one_registered_name(page: str, terms: str, same: bool) -> None:
    root = parse(f'<body><a href="{terms}">Terms of use</a></body>')
    assert root is not None
    assert (terms_link(root, page) == terms) is same


def test_terms_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    outcome = judged(html('<a href="/terms">Terms of use</a>'), tmp_path)
    assert outcome.reason == "licence_unclear"
    assert "https://example.org/terms" in outcome.message


def test_hidden_and_scripted_text_is_not_read(tmp_path: Path) -> None:
    page = html('<p style="display:none">This work is licensed under CC BY 4.0.</p><script>"CC BY 4.0"</script>')
    assert judged(page, tmp_path).reason == "licence_unclear"


def test_a_refusal_of_the_network_is_the_outcome(tmp_path: Path) -> None:
    outcome = judged(Pages({}), tmp_path)
    assert (outcome.status, outcome.reason) == ("refused", "not_found")
    assert verdict(outcome).light == "YELLOW"


def pdf(*pages: str, xmp: str = "") -> bytes:
    document = pymupdf.open()
    for text in pages:
        document.new_page().insert_textbox((50, 50, 500, 700), text)
    if xmp:
        document.set_xml_metadata(xmp)
    return bytes(document.tobytes())


def test_a_pdf_is_judged_by_its_first_two_pages_and_the_last(tmp_path: Path) -> None:
    web = Pages({URL: pdf(FILLER, FILLER, FILLER, "This work is licensed under CC BY-SA 4.0.")}, "application/pdf")
    outcome = judged(web, tmp_path)
    assert outcome.reason == "licence_green"
    assert verdict(outcome).marks[-1].place == "page 4"
    assert verdict(outcome).restrictions == ("SA",)


IMPRINT = """Published by the Harbour Institute. ISBN 978-3-16-148410-0. Layout: Jane Doe. Contact: info@example.org.
This work is licensed under CC BY 4.0."""


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (IMPRINT, "licence_green"),
        ("Many agencies say: this work is licensed under CC BY 4.0. The river rose.", "licence_unclear"),
    ],
)
def test_an_imprint_is_read_on_whatever_page_it_is_and_other_pages_are_not(
    page: str, reason: str, tmp_path: Path
) -> None:
    web = Pages({URL: pdf(*[FILLER] * 5, page, *[FILLER] * 5)}, "application/pdf")
    assert judged(web, tmp_path).reason == reason


def test_a_page_that_says_nothing_is_read_as_its_scripts_leave_it(tmp_path: Path) -> None:
    shown = html("This site is licensed under CC BY 4.0.").encode()

    def render(url: str) -> Fetched:
        return Fetched((url,), 200, "text/html", "utf-8", shown, how="browser")

    for head, reason in (("<script src='a.js'></script>", "licence_green"), ("", "licence_unclear")):
        assert judged(html("", head), tmp_path, render=render).reason == reason


def test_a_browser_that_fails_leaves_the_page_as_it_was(tmp_path: Path) -> None:
    def render(url: str) -> Fetched:
        raise Refusal("timed_out", f"{url} took too long.")

    outcome = judged(html("", "<script src='a.js'></script>"), tmp_path, render=render)
    assert outcome.reason == "licence_unclear"
    assert "A browser could not show the page" in outcome.message


@pytest.mark.parametrize(
    "answer",
    [
        b'{"success": true, "result": {"count": 0, "results": []}}',
        b'<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords/></OAI-PMH>',
        b'<html><head><meta name="generator" content="ckan 2.9"></head><body>Data</body></html>',
    ],
)
def test_a_catalogue_does_not_wait_as_a_whole(answer: bytes, tmp_path: Path) -> None:
    address = "https://example.org/dataset"
    media_type = "text/html" if b"<html" in answer else "application/json"
    outcome = judged(Pages({address: answer}, media_type), tmp_path, source=ListedSource("A1", address))
    assert outcome.passes
    assert "each of its records" in outcome.message


@pytest.mark.parametrize(
    ("licence", "page", "reason"),
    [
        (BY, "© 2020 Ministry", "licence_green"),
        ("cc-by", "© 2020 Ministry", "licence_green"),
        ("notspecified", "© 2020 Ministry", "licence_unclear"),
        (BY, "All rights reserved.", "licence_conflict"),
    ],
)
def test_the_record_of_a_catalogue_has_its_own_licence(licence: str, page: str, reason: str, tmp_path: Path) -> None:
    record = ListedSource("A1.1", URL, licence=licence, parent="A1")
    assert judged(html(page), tmp_path, source=record).reason == reason


def test_what_a_statement_speaks_of_is_told(tmp_path: Path) -> None:
    outcome = judged(html("Photo: J. Doe, CC BY 2.0"), tmp_path)
    assert "about a part of it such as a picture, not about the document" in outcome.message
    assert verdict(outcome).marks[0].subject == "part"


def test_the_metadata_of_a_pdf_against_its_text_is_a_conflict(tmp_path: Path) -> None:
    xmp = (
        '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
        'xmlns:pdf="http://ns.adobe.com/pdf/1.3/" '
        f'xmlns:r="http://ns.adobe.com/xap/1.0/rights/"><r:WebStatement>{BY}</r:WebStatement></rdf:Description>'
        '</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
    )
    web = Pages({URL: pdf("A report. All rights reserved.", xmp=xmp)}, "application/pdf")
    assert judged(web, tmp_path).reason == "licence_conflict"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("This work is licensed under CC BY 4.0.", "licence_green"), ("All rights reserved.", "licence_reserved")],
)
def test_a_file_at_hand_passes_and_its_light_is_recorded(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    file.write_text(f"# Report\n\n{text}\n", encoding="utf-8")
    outcome = judged(Pages({}), tmp_path, source=ListedSource("A1", path=str(file)))
    assert (outcome.status, outcome.reason) == ("done", reason)
    assert "recorded" in outcome.message


def test_a_file_that_cannot_be_read_passes_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "broken.pdf"
    file.write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(Refusal):
        Reader().read(file)
    outcome = judged(Pages({}), tmp_path, source=ListedSource("A1", path=str(file)))
    assert (outcome.status, outcome.reason) == ("done", "licence_unclear")
    assert "was not read" in outcome.message


def test_without_a_model_what_is_open_stays_open_and_says_so(tmp_path: Path) -> None:
    assert "No language model" in judged(html("© Ministry"), tmp_path).message


def test_the_model_is_asked_only_about_what_is_open(tmp_path: Path) -> None:
    granted = "You are free to copy and redistribute our report."
    model = SmallJudge({"decision": "GREEN", "licence": "", "language": "en", "quote": granted})
    for said, reason in (("All rights reserved.", "licence_reserved"), (LICENSED, "licence_green")):
        assert judged(html(said), tmp_path, language_model=model).reason == reason
    assert model.asked == []
    assert judged(html(f"Questions? {granted}"), tmp_path, language_model=model).passes
