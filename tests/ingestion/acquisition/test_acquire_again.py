"""Acquisition of what was acquired before: what is sent again, what is kept, what a failure leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.types.source import Download, ListedSource
from tests.ingestion.context import AT, FLOOD, context, got
from tests.ingestion.small_web import PDF, WORDS, Answer, page, pdf


def put_apart(workspace: Path, download: Download) -> Path:
    """Put the file of a download into quarantine."""
    apart = workspace / "quarantine" / Path(download.path).name
    apart.parent.mkdir()
    return (workspace / download.path).replace(apart)


def test_an_unchanged_page_keeps_the_first_download(tmp_path: Path) -> None:
    at = context(tmp_path, flood=page(f"<h1>Flood</h1><p>{WORDS * 5}</p>"))
    first = got(at.acquire(FLOOD))
    again = at.acquire(FLOOD, before=first, now="2027-01-01T00:00:00+00:00")
    assert (again.status, again.reason, again.evidence) == ("done", "not_modified", first)


def test_the_second_run_asks_only_whether_the_file_has_changed(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf(etag='"1"', modified="Sun, 01 Nov 2026 00:00:00 GMT"))
    first = got(at.acquire(FLOOD))
    again = at.acquire(FLOOD, before=first)
    assert (again.status, again.reason, again.evidence) == ("done", "not_modified", first)
    assert at.web.sent[-1] is not None
    assert at.web.asked == [f"{AT}flood"] * 2


def test_a_file_that_is_gone_is_fetched_although_it_has_not_changed(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf(etag='"1"'))
    first = got(at.acquire(FLOOD))
    (at.workspace / first.path).unlink()
    again = at.acquire(FLOOD, before=first)
    assert (again.status, again.reason) == ("done", "")
    assert (at.workspace / got(again).path).is_file()


def test_a_new_version_does_not_replace_the_file_of_the_old_one(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf("2016"))
    first = got(at.acquire(FLOOD))
    at.web.answers[f"{AT}flood"] = pdf("2022")
    second = got(at.acquire(FLOOD, before=first))
    assert second.path == f"downloads/ADM001_national-flood-strategy_{second.sha256[:8]}.pdf"
    assert (at.workspace / first.path).read_bytes() == PDF + b"2016"
    assert (at.workspace / second.path).read_bytes() == PDF + b"2022"


def test_an_unchanged_landing_page_does_not_hide_a_new_document(tmp_path: Path) -> None:
    date = "Sun, 01 Nov 2026 00:00:00 GMT"
    landing = page('<p>The strategy.</p><a href="/a.pdf">Download the strategy</a>')
    at = context(
        tmp_path, flood=Answer(landing.body, etag='"1"', modified=date), a__pdf=pdf("1", etag='"1"', modified=date)
    )
    first = got(at.acquire(FLOOD))
    at.web.answers[f"{AT}a.pdf"] = pdf("2", etag='"2"')
    second = got(at.acquire(FLOOD, before=first))
    assert second.sha256 != first.sha256
    assert second.urls == (f"{AT}flood", f"{AT}a.pdf")


def test_a_new_version_leaves_the_one_in_quarantine_alone(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf("first"))
    first = got(at.acquire(FLOOD))
    apart = put_apart(tmp_path, first)
    at.web.answers[f"{AT}flood"] = pdf("second")
    second = got(at.acquire(FLOOD, before=first))
    assert Path(second.path).name != apart.name
    assert apart.read_bytes() == PDF + b"first"


def test_what_has_not_changed_is_not_brought_back_from_quarantine(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf(etag='"1"'))
    first = got(at.acquire(FLOOD))
    put_apart(tmp_path, first)
    assert (at.acquire(FLOOD, before=first).reason, at.files()) == ("not_modified", [])


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(refusal="timed_out", retryable=True), "timed_out"),
        (Answer(refusal="access_denied"), "browser_missing"),
        (Answer(refusal="not_found"), "not_found"),
        (page('<p>Water.</p><a href="/c.pdf">Download cookbook</a>'), "off_topic"),
    ],
    ids=["may pass", "needs a browser", "is gone", "went off topic"],
)
def test_a_failure_keeps_the_file_that_was_there(tmp_path: Path, apart: bool, answer: Answer, reason: str) -> None:
    at = context(tmp_path, flood=pdf())
    first = got(at.acquire(FLOOD))
    if apart:
        put_apart(tmp_path, first)
    at.web.answers[f"{AT}flood"] = answer
    outcome = at.acquire(FLOOD, before=first)
    assert (outcome.status, outcome.reason) == ("failed", reason)
    assert outcome.retryable == (reason in ("timed_out", "browser_missing"))
    assert outcome.evidence == first
    assert outcome.message.endswith(" is kept.")


def test_a_failure_keeps_nothing_when_the_file_is_gone(tmp_path: Path) -> None:
    at = context(tmp_path, flood=pdf())
    first = got(at.acquire(FLOOD))
    (tmp_path / first.path).unlink()
    at.web.answers[f"{AT}flood"] = Answer(refusal="timed_out", retryable=True)
    outcome = at.acquire(FLOOD, before=first)
    assert (outcome.status, outcome.evidence) == ("failed", None)
    assert "is kept" not in outcome.message


def test_a_local_file_that_vanished_leaves_its_copy(tmp_path: Path) -> None:
    original = tmp_path / "plan.md"
    original.write_text("# Plan", encoding="utf-8")
    at = context(tmp_path)
    first = got(at.acquire(ListedSource("L1", path=str(original))))
    original.unlink()
    outcome = at.acquire(ListedSource("L1", path=str(original)), before=first)
    assert (outcome.status, outcome.reason, outcome.retryable) == ("failed", "file_missing", True)
    assert outcome.evidence == first
    assert "plan.md" in outcome.message
    assert outcome.message.endswith("The file of 2026-11-22 is kept.")
