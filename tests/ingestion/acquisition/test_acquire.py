"""Acquisition: from a source to the file behind it, or to the reason why there is none."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from ingestion.config import IngestionConfig, WebConfig
from ingestion.extraction.formats.html import extract_html
from ingestion.types.source import Download, ListedSource
from tests.ingestion.context import AT, FLOOD, TODAY, ActContext, context, got
from tests.ingestion.documents import docx
from tests.ingestion.small_web import PDF, WORDS, Answer, SmallBrowser, SmallJudge, listing, page, pdf


def test_a_file_is_saved_under_the_code_and_the_title(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf(etag='"1"'))
    outcome = at.acquire(FLOOD)
    assert (outcome.status, outcome.reason) == ("done", "")
    assert got(outcome) == Download(
        "downloads/ADM001_national-flood-strategy.pdf",
        (f"{AT}flood",),
        hashlib.sha256(PDF).hexdigest(),
        len(PDF),
        "application/pdf",
        "file",
        TODAY,
        etag='"1"',
    )
    assert at.files() == ["ADM001_national-flood-strategy.pdf"]


def test_a_file_is_told_by_its_content_and_not_by_its_address(tmp_path: Path) -> None:
    body = docx(tmp_path / "made.docx", "<w:p><w:r><w:t>Plan</w:t></w:r></w:p>").read_bytes()
    at = context(tmp_path, flood=Answer(body, "application/octet-stream"))
    assert got(at.acquire(FLOOD)).path.endswith(".docx")


def test_a_code_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf())
    download = got(at.acquire(ListedSource("../../etc/x", f"{AT}flood", title="../../passwd")))
    assert (at.workspace / download.path).resolve().parent == at.workspace / "downloads"


def test_a_page_behind_the_address_of_a_file_is_refused_when_a_browser_gets_it_too(tmp_path: Path) -> None:
    error = page(f"<h1>Sorry</h1><p>{WORDS * 5}</p>")
    at = context(tmp_path, plan__pdf=error)
    at.browser = SmallBrowser({f"{AT}plan.pdf": error})
    outcome = at.acquire(ListedSource("A1", f"{AT}plan.pdf"))
    assert (outcome.status, outcome.reason) == ("refused", "wrong_content")
    assert f"{AT}plan.pdf promises a file and gives a web page" in outcome.message
    assert at.files() == []


def test_a_page_behind_the_address_of_a_file_is_left_to_the_browser(tmp_path: Path) -> None:
    at = context(tmp_path, plan__pdf=page("<p>One moment</p>"))
    at.browser = SmallBrowser({f"{AT}plan.pdf": pdf()})
    download = got(at.acquire(ListedSource("A1", f"{AT}plan.pdf", title="Plan")))
    assert (download.how, download.media_type) == ("browser", "application/pdf")


@pytest.mark.parametrize("name", ["plan.pdf", "plan"])
def test_what_refuses_a_plain_request_is_left_to_the_browser(tmp_path: Path, name: str) -> None:
    at = ActContext(tmp_path, {AT + name: Answer(refusal="access_denied")})
    at.browser = SmallBrowser({AT + name: pdf()})
    assert got(at.acquire(ListedSource("A1", AT + name, title="Plan"))).how == "browser"


def test_without_a_browser_it_says_what_to_install(tmp_path: Path) -> None:
    outcome = context(tmp_path, flood=Answer(refusal="access_denied")).acquire(FLOOD)
    assert (outcome.status, outcome.reason) == ("failed", "browser_missing")
    assert "refuses (access_denied)" in outcome.message
    assert "Install Chromium" in outcome.message


def test_a_page_that_needs_its_scripts_is_rendered(tmp_path: Path) -> None:
    shell = Answer(
        b'<html><body><noscript>You need to enable JavaScript.</noscript><div id="root"></div>'
        b'<script src="app.js"></script></body></html>'
    )
    at = context(tmp_path, flood=shell)
    assert at.acquire(FLOOD).reason == "browser_missing"
    at.browser = SmallBrowser({f"{AT}flood": page(f"<h1>Flood</h1><p>{WORDS * 5}</p>")})
    outcome = at.acquire(FLOOD)
    assert (got(outcome).kind, got(outcome).how) == ("content", "browser")
    assert "a browser was asked" in outcome.message


def test_a_content_page_is_saved_clean_and_readable(tmp_path: Path) -> None:
    main = f'<p onclick="x()">{WORDS * 5}<img src="/x.png"><a href="/law?utm_source=x">a law</a></p><script>1</script>'
    around = "<header><h1>Flood strategy</h1></header><nav><a href='/'>Start</a></nav>"
    at = context(tmp_path, flood=page(main, title="Flood strategy | Water", around=around))
    download = got(at.acquire(FLOOD))
    text = at.text(download)
    assert download.kind == "content"
    assert download.path == "downloads/ADM001_national-flood-strategy.html"
    assert not [word for word in ("script", "onclick", "img", "Start", "utm_source") if word in text]
    assert f'<a href="{AT}flood">' in text
    assert f'<a href="{AT}law">' in text
    draft = extract_html(at.workspace / download.path)
    assert draft.title == "Flood strategy"
    assert [block.kind for block in draft.blocks] == ["heading", "text"]
    assert "Saved from" not in "".join(line.text for block in draft.blocks for line in block.lines)


def test_a_landing_page_leads_to_its_document(tmp_path: Path) -> None:
    at = context(
        tmp_path,
        flood=page('<p>On floods.</p><a href="/more">Read more</a><a href="/privacy">Privacy policy</a>'),
        more=page('<p>The strategy of 2022.</p><a href="/s.pdf">Download (PDF, 2 MB)</a>'),
        s__pdf=pdf(),
    )
    download = got(at.acquire(FLOOD))
    assert download.urls == (f"{AT}flood", f"{AT}more", f"{AT}s.pdf")
    assert download.title == "Download (PDF, 2 MB)"


def test_a_file_is_called_as_the_page_that_offers_it(tmp_path: Path) -> None:
    at = context(tmp_path, x=page("<h1>Heat plan</h1><a href='/8341.pdf'>Download</a>"))
    at.web.answers[f"{AT}8341.pdf"] = pdf()
    download = got(at.acquire(ListedSource("A1", f"{AT}x")))
    assert (download.title, download.path) == ("Heat plan", "downloads/A1_heat-plan.pdf")


def test_a_landing_page_offers_the_language_that_is_wanted(tmp_path: Path) -> None:
    links = listing(("/s_it.pdf", "Scarica (IT)"), ("/s_en.pdf", "Download (EN)"), ("/s_de.pdf", "Herunterladen (DE)"))
    at = context(tmp_path, flood=page(f"<p>Available in:</p>{links}"), s_en__pdf=pdf())
    assert got(at.acquire(FLOOD)).urls[-1] == f"{AT}s_en.pdf"


def test_when_the_best_link_is_dead_the_next_is_taken_and_said(tmp_path: Path) -> None:
    links = listing(("/a.pdf", "Download national flood strategy"), ("/b.docx", "Download as Word"))
    at = context(tmp_path, flood=page(links), b__docx=Answer(docx(tmp_path / "b.docx", "").read_bytes()))
    outcome = at.acquire(FLOOD)
    assert outcome.status == "done"
    assert f"{AT}a.pdf refuses (not_found)" in outcome.message


def test_pages_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    at = context(
        tmp_path,
        flood=page('<a href="/b">Read more about floods</a>'),
        b=page('<a href="/flood">Read more about floods</a>'),
    )
    outcome = at.acquire(FLOOD)
    assert (outcome.status, outcome.reason) == ("refused", "no_document_link")
    assert len(at.web.asked) == 2


def test_landing_pages_without_end_are_left_after_three(tmp_path: Path) -> None:
    pages = {f"{AT}{n}": page(f'<a href="/{n + 1}">Read more</a>') for n in range(20)}
    at = ActContext(tmp_path, pages)
    outcome = at.acquire(ListedSource("A1", f"{AT}0"))
    assert outcome.reason == "no_document_link"
    assert len(at.web.asked) == 4


def test_a_link_to_something_else_is_off_topic(tmp_path: Path) -> None:
    at = context(tmp_path, flood=page('<p>Water.</p><a href="/c.pdf">Download our staff cookbook</a>'), c__pdf=pdf())
    outcome = at.acquire(FLOOD)
    assert (outcome.status, outcome.reason) == ("refused", "off_topic")
    assert "staff cookbook" in outcome.message
    assert got(outcome).urls == (f"{AT}flood",)
    assert at.web.asked == [f"{AT}flood"]


def test_the_model_may_know_that_a_link_is_on_topic(tmp_path: Path) -> None:
    at = context(tmp_path, flood=page('<p>Water.</p><a href="/c.pdf">Download Deltaprogramma</a>'), c__pdf=pdf())
    at.language_model = SmallJudge({"relevant": True, "reason": "The Dutch flood programme."})
    assert at.acquire(FLOOD).status == "done"


def test_a_directory_is_handed_to_the_portals_without_a_file(tmp_path: Path) -> None:
    links = listing(("/a.pdf", "Flood policy"), ("/b.pdf", "Heat plan"), ("/c.pdf", "Drought act"))
    at = context(tmp_path, list=page(f"<h1>Policies</h1>{links}"))
    outcome = at.acquire(ListedSource("A1", f"{AT}list"))
    assert (outcome.status, outcome.reason) == ("skipped", "directory")
    assert (got(outcome).kind, got(outcome).path, got(outcome).title) == ("directory", "", "Policies")
    assert at.files() == []
    again = at.acquire(ListedSource("A1", f"{AT}list"), before=got(outcome), now="2027-01-01")
    assert again.evidence == outcome.evidence


@pytest.mark.parametrize(
    "body",
    [
        b'{"success": true, "result": {"count": 0, "results": []}}',
        b'{"dataset": [{"@type": "dcat:Dataset", "title": "Flood plan"}]}',
        b'<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"/>',
    ],
)
def test_a_catalogue_is_a_directory(tmp_path: Path, body: bytes) -> None:
    assert (
        context(tmp_path, api=Answer(body, "application/json")).acquire(ListedSource("A", f"{AT}api")).reason
        == "directory"
    )


def test_an_empty_page_says_so(tmp_path: Path) -> None:
    outcome = context(tmp_path, flood=page("<p>Soon.</p>")).acquire(FLOOD)
    assert (outcome.status, outcome.reason) == ("refused", "empty_page")


def test_a_page_above_the_limit_is_refused(tmp_path: Path) -> None:
    at = context(tmp_path, flood=page(WORDS * 100))
    at.config = IngestionConfig(web=WebConfig(page_bytes=1000))
    assert at.acquire(FLOOD).reason == "too_large"


def test_the_seeds_own_address_needs_no_relevance(tmp_path: Path) -> None:
    at = context(tmp_path, cookbook__pdf=pdf())
    assert at.acquire(ListedSource("A", f"{AT}cookbook.pdf", title="Flood strategy")).status == "done"


@pytest.mark.parametrize(
    ("url", "reason"), [("", "url_missing"), ("ftp://a/b", "url_invalid"), ("http://[", "url_invalid")]
)
def test_addresses_that_are_none_are_named(tmp_path: Path, url: str, reason: str) -> None:
    assert context(tmp_path).acquire(ListedSource("A1", url)).reason == reason


def test_a_failure_that_may_pass_is_retryable(tmp_path: Path) -> None:
    outcome = context(tmp_path, flood=Answer(refusal="timed_out", retryable=True)).acquire(FLOOD)
    assert (outcome.status, outcome.reason, outcome.retryable) == ("failed", "timed_out", True)


def test_a_file_of_the_analysts_own_is_copied(tmp_path: Path) -> None:
    original = tmp_path / "Piano alluvioni.md"
    original.write_text("# Piano\n\nTesto.", encoding="utf-8")
    at = context(tmp_path)
    first = at.acquire(ListedSource("L1", path=str(original)))
    assert got(first).path == "downloads/L1_piano-alluvioni.md"
    assert (got(first).how, got(first).kind, got(first).urls) == ("local", "file", ())
    assert at.acquire(ListedSource("L1", path=str(original)), before=got(first)).reason == "not_modified"
    assert original.exists()


def test_a_local_file_that_is_gone_is_named(tmp_path: Path) -> None:
    outcome = context(tmp_path).acquire(ListedSource("L1", path=str(tmp_path / "gone.pdf")))
    assert (outcome.status, outcome.reason) == ("refused", "file_missing")
    assert "gone.pdf" in outcome.message


def test_other_archives_keep_their_name_for_extraction_to_judge(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "a")
    at = context(tmp_path, flood=Answer(packed.getvalue(), "application/zip"))
    assert got(at.acquire(FLOOD)).path.endswith(".zip")


def test_a_model_that_is_away_is_mentioned(tmp_path: Path) -> None:
    at = context(tmp_path, flood=page(f"<h1>Flood</h1><p>{WORDS * 5}</p>"))
    at.language_model = SmallJudge(None)
    outcome = at.acquire(FLOOD)
    assert outcome.status == "done"
    assert "small-model could not be asked" in outcome.message
