"""Portals: the documents of a directory page or a catalogue, found within bounds."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ingestion.config import IngestionConfig, PortalConfig
from ingestion.portals.explore import explore
from ingestion.types.outcome import Outcome
from ingestion.types.source import Download, Fetched, ListedSource, PageKind, PortalFindings
from ingestion.web.urls import normal_url
from tests.ingestion.context import tools_of
from tests.ingestion.small_web import WORDS, Answer, SmallBrowser, SmallJudge, SmallWeb, listing, page, pdf

AT = "https://water.example/"
SOURCE = ListedSource("P1", f"{AT}list", title="Flood policies")
POLICIES = (("/a.pdf", "Flood policy"), ("/b.pdf", "Heat plan"), ("/c.pdf", "Drought act"))


def portal(kind: PageKind = "directory", url: str = f"{AT}list", how: str = "http") -> Download:
    return Download("", (url,), "0" * 64, 100, "text/html", kind, "2026-11-22", how=how)  # type: ignore[arg-type]


def explored(
    answers: dict[str, Answer],
    *,
    download: Download | None = None,
    source: ListedSource = SOURCE,
    bounds: PortalConfig | None = None,
    known: tuple[str, ...] = (),
    language_model: SmallJudge | None = None,
    browser: SmallBrowser | None = None,
) -> tuple[Outcome, PortalFindings, SmallWeb]:
    web = SmallWeb({AT + name: answer for name, answer in answers.items()})
    config = IngestionConfig(portals=bounds or PortalConfig())
    download = download or portal()
    outcome = explore(source, download, tools_of(Path(), web, config, browser, language_model), known=known)
    assert isinstance(outcome.evidence, PortalFindings), outcome
    return outcome, outcome.evidence, web


def urls(findings: PortalFindings) -> list[str]:
    return [found.url.removeprefix(AT) for found in findings.found]


def test_a_page_that_is_no_directory_is_passed_over() -> None:
    outcome = explore(SOURCE, portal("file"), tools_of(Path(), SmallWeb({})), known=())
    assert (outcome.status, outcome.reason, outcome.passes) == ("skipped", "not_a_portal", True)


def test_the_files_of_a_directory_are_found_and_menus_are_not() -> None:
    menu = "<nav><a href='/m.pdf'>Menu policy</a></nav><footer><a href='/f.pdf'>Site policy</a></footer>"
    outcome, findings, _ = explored({"list": page(listing(*POLICIES), around=menu)})
    assert outcome.status == "done"
    assert sorted(urls(findings)) == ["a.pdf", "b.pdf", "c.pdf"]
    assert findings.found[0].title == "Flood policy"
    assert {found.via for found in findings.found} == {f"{AT}list"}


def test_files_off_the_subject_are_counted_and_left_out() -> None:
    links = listing(*POLICIES, ("/x.pdf", "Canteen menu"))
    _, findings, _ = explored({"list": page(links)})
    assert "x.pdf" not in urls(findings)
    [said] = findings.left_out
    assert said == "Documents left out, neither like the portal's title nor with a policy word in the name: 1."


def test_the_model_is_asked_about_files_whose_names_say_nothing() -> None:
    language_model = SmallJudge({"relevant": True, "reason": "The Dutch flood programme."})
    _, findings, _ = explored(
        {"list": page(listing(*POLICIES, ("/x.pdf", "Deltaprogramma")))}, language_model=language_model
    )
    assert "x.pdf" in urls(findings)
    assert len(language_model.asked) == 1


def test_pages_are_followed_two_levels_deep() -> None:
    _, findings, web = explored(
        {
            "list": page(listing(("/1", "Plans of the north"), ("/2", "Laws"), ("/3", "Strategies"))),
            "1": page(listing(("/11", "Plans of the far north"), ("/n.pdf", "Northern plan"))),
            "11": page(listing(("/111", "Plans of the pole"), ("/far.pdf", "Far plan"))),
            "111": page(listing(("/pole.pdf", "Polar plan"))),
            "2": page(f"<h1>Water law</h1><p>{WORDS * 30}</p>"),
            "3": page('<p>The strategy of 2022.</p><a href="/33">Read more</a>'),
        }
    )
    assert sorted(urls(findings)) == ["2", "3", "far.pdf", "n.pdf"]
    assert f"{AT}111" not in web.asked
    assert f"{AT}33" not in web.asked


def test_a_page_about_one_document_gives_the_document_with_the_pages_name() -> None:
    _, findings, _ = explored(
        {
            "list": page(listing(("/1", "Plan one"), ("/2", "Law two"), ("/3", "Act three"))),
            "1": page('<h1>Regional flood plan</h1><p>In force.</p><a href="/files/8341.pdf">Download</a>'),
        }
    )
    assert [(found.url, found.title) for found in findings.found] == [(f"{AT}files/8341.pdf", "Regional flood plan")]


def test_more_links_than_the_limit_are_counted() -> None:
    links = listing(*((f"/{n}", f"Plan {n}") for n in range(17)))
    answers = {"list": page(links)} | {str(n): page(f"<h1>Plan {n}</h1><p>{WORDS * 30}</p>") for n in range(17)}
    _, findings, web = explored(answers)
    assert len(web.asked) == 6
    assert f"Links of {AT}list not followed, beyond 5 a level: 12." in findings.left_out


def test_an_endless_calendar_ends() -> None:
    class Calendar(SmallWeb):
        def fetch(self, url: str, **more: Any) -> Fetched:
            month = int(url.rpartition("=")[2]) if "=" in url else 0
            links = (
                (f"/list?sid={month}&month={month + step}", f"Month {month + step}") for step in (1, 2, 3, 4, 5, 6)
            )
            self.answers[url] = page(listing(*links, *((f"/{month}-{n}.pdf", f"Plan {n}") for n in range(2))))
            return super().fetch(url, **more)

    web = Calendar({})
    config = IngestionConfig(portals=PortalConfig(most_pages=12))
    outcome = explore(SOURCE, portal(), tools_of(Path(), web, config), known=())
    assert outcome.status == "done"
    assert len(web.asked) <= 12


def test_a_portal_that_loops_is_read_once() -> None:
    answers = {
        "list": page(listing(("/1", "Plans"), ("/list", "Plans again"), *POLICIES)),
        "1": page(listing(("/list?utm_source=x", "Back to the plans"), ("/1", "This plan"))),
    }
    _, _, web = explored(answers)
    assert web.asked == [f"{AT}list", f"{AT}1"]


def test_documents_may_lie_elsewhere_but_pages_elsewhere_are_not_read() -> None:
    elsewhere = (("https://law.example/act", "Flood act"), ("https://files.example/p.pdf", "Flood plan"))
    _, findings, web = explored({"list": page(listing(*elsewhere, ("https://sub.water.example/x", "More plans")))})
    assert {found.url for found in findings.found} == {url for url, _ in elsewhere}
    assert web.asked == [f"{AT}list", "https://sub.water.example/x"]


def test_a_page_that_fails_is_told_and_the_rest_goes_on() -> None:
    outcome, findings, _ = explored({"list": page(listing(*POLICIES, ("/gone", "Old plans")))})
    assert outcome.status == "done"
    assert len(findings.found) == 3
    assert f"{AT}gone refuses (not_found)." in findings.left_out


def test_nothing_found_is_a_rejection() -> None:
    outcome, findings, _ = explored({"list": page("<p>Nothing here.</p>")})
    assert (outcome.status, outcome.reason) == ("refused", "nothing_found")
    assert findings.visited == (f"{AT}list",)


def test_nothing_found_because_of_a_failure_that_may_pass_is_tried_again() -> None:
    answers = {
        "list": page(listing(("/1", "Plans"))),
        "1": Answer(refusal="timed_out", retryable=True),
    }
    outcome, _, _ = explored(answers)
    assert (outcome.status, outcome.reason, outcome.retryable) == ("failed", "timed_out", True)


def test_nothing_found_for_want_of_a_browser_says_so() -> None:
    shell = Answer(b'<html><body><div id="root"></div><script src="a.js"></script></body></html>')
    outcome, findings, _ = explored({"list": page(listing(("/1", "Plans"))), "1": shell})
    assert (outcome.status, outcome.reason) == ("failed", "browser_missing")
    assert any("Install Chromium" in said for said in findings.left_out)


def test_a_portal_that_cannot_be_read_says_why() -> None:
    outcome, _, _ = explored({})
    assert (outcome.status, outcome.reason) == ("refused", "not_found")


def test_known_documents_are_not_found_again() -> None:
    known = (normal_url("http://www.water.example/a.pdf?utm_source=mail"),)
    _, findings, _ = explored({"list": page(listing(*POLICIES))}, known=known)
    assert "a.pdf" not in urls(findings)
    assert "Documents left out, in the list already: 1." in findings.left_out


def test_no_more_documents_are_taken_than_the_limit() -> None:
    links = listing(*((f"/{n}.pdf", f"Plan {n}") for n in range(9)))
    _, findings, _ = explored({"list": page(links)}, bounds=PortalConfig(most_documents=4))
    assert len(findings.found) == 4
    assert "Documents not taken, beyond the limit of 4: 5." in findings.left_out


def test_two_walks_give_the_same_order() -> None:
    answers = {
        "list": page(listing(*POLICIES, ("/1", "Plans"))),
        "1": page(listing(("/z.pdf", "Z plan"), ("/y.pdf", "Y plan"))),
    }
    assert explored(answers)[1] == explored(answers)[1]


def test_a_portal_that_needed_a_browser_is_read_by_one() -> None:
    browser = SmallBrowser({f"{AT}list": page(listing(*POLICIES))})
    _, findings, web = explored({}, download=portal(how="browser"), browser=browser)
    assert len(findings.found) == 3
    assert web.asked == []


def ckan(start: int, count: int = 3) -> Answer:
    names = ["Flood plan", "Bus stops", "Heat strategy"][start : start + 2]
    results = [
        {
            "title": name,
            "license_title": "CC BY 4.0",
            "organization": {"title": "City of Example"},
            "resources": [{"url": f"{AT}{name[:4]}.csv", "format": "CSV"}]
            + ([] if name == "Bus stops" else [{"url": f"{AT}{name.replace(' ', '-')}.pdf", "format": "PDF"}]),
        }
        for name in names
    ]
    return Answer(
        json.dumps({"success": True, "result": {"count": count, "results": results}}).encode(), "application/json"
    )


def test_the_catalogue_behind_a_dataset_page_is_read_to_its_end() -> None:
    front = page("<p>3 datasets</p>", head='<meta name="generator" content="ckan 2.10">')
    api = "api/3/action/package_search?q=climate&rows=100&start="
    outcome, findings, _ = explored(
        {"dataset?q=climate": front, f"{api}0": ckan(0), f"{api}2": ckan(2)},
        download=portal(url=f"{AT}dataset?q=climate"),
    )
    assert outcome.status == "done"
    assert [(one.title, one.authority, one.licence, one.url) for one in findings.found] == [
        ("Flood plan", "City of Example", "CC BY 4.0", f"{AT}Flood-plan.pdf"),
        ("Heat strategy", "City of Example", "CC BY 4.0", f"{AT}Heat-strategy.pdf"),
    ]
    assert any(said.endswith("left out, data without a document: 1.") for said in findings.left_out)


def test_a_catalogue_that_breaks_off_keeps_what_it_gave() -> None:
    api = "api/3/action/package_search?rows=100&start="
    outcome, findings, _ = explored(
        {"api/3/action/package_search": ckan(0), f"{api}0": ckan(0)},
        download=portal(url=f"{AT}api/3/action/package_search"),
    )
    assert outcome.status == "done"
    assert len(findings.found) == 1
    assert any("refuses (not_found)" in said for said in findings.left_out)


def test_a_page_whose_catalogue_does_not_answer_is_walked() -> None:
    front = page(listing(*POLICIES), head='<meta name="generator" content="ckan 2.10">')
    _, findings, _ = explored({"dataset": front}, download=portal(url=f"{AT}dataset"))
    assert len(findings.found) == 3
    assert any("package_search" in said for said in findings.left_out)


def test_what_lies_deeper_than_the_limit_is_told() -> None:
    answers = {
        "list": page(listing(("/1", "Plans"))),
        "1": page(listing(("/11", "Laws"), ("/p.pdf", "Flood plan"))),
        "11": page(listing(("/111", "Acts"), ("/112", "Ordinances"))),
    }
    _, findings, _ = explored(answers)
    assert "Links not followed, below 2 levels: 2." in findings.left_out


def test_a_file_behind_an_address_without_a_name_is_found_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    answers = {"list": page(listing(("/download?id=7", "Flood plan"))), "download?id=7": pdf("x" * 1000)}

    class Watched(SmallWeb):
        def fetch(self, url: str, **more: Any) -> Fetched:
            into = more.get("into")
            assert "download" not in url or into is None, "the body of a file must not go to the disk"
            return super().fetch(url, **more)

    web = Watched({AT + name: answer for name, answer in answers.items()})
    outcome = explore(SOURCE, portal(), tools_of(tmp_path, web), known=())
    assert isinstance(outcome.evidence, PortalFindings)
    assert urls(outcome.evidence) == ["download?id=7"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_only_a_browser_gets_is_found_and_not_downloaded() -> None:
    class Refusing(SmallBrowser):
        def download(self, url: str, into: Path, *, max_bytes: int | None = None) -> Fetched:
            raise AssertionError(f"{url} was downloaded")

    browser = Refusing({f"{AT}get": pdf()})
    _, findings, _ = explored(
        {"list": page(listing(("/get", "Flood plan"))), "get": Answer(refusal="access_denied")}, browser=browser
    )
    assert urls(findings) == ["get"]


def test_two_portals_that_list_each_other_end() -> None:
    links = listing(("/other", "Plans of the neighbour"), *POLICIES)
    known = (normal_url(f"{AT}other"), normal_url(f"{AT}list"))
    _, findings, web = explored({"list": page(links), "other": page(listing(("/o.pdf", "Other plan")))}, known=known)
    assert web.asked == [f"{AT}list"]
    assert sorted(urls(findings)) == ["a.pdf", "b.pdf", "c.pdf"]
    assert "Documents left out, in the list already: 1." in findings.left_out


def test_a_page_that_leads_to_a_known_one_is_neither_found_nor_followed() -> None:
    answers = {
        "list": page(listing(("/1", "Flood plans"))),
        "1": Answer(redirect=f"{AT}other"),
        "other": page(listing(("/o.pdf", "Other plan"))),
    }
    _, findings, _ = explored(answers, known=(normal_url(f"{AT}other"),))
    assert findings.found == ()


def test_a_link_back_to_the_portal_itself_is_not_counted_as_known() -> None:
    links = listing(("/start", "Flood policies"), ("/list", "All policies"))
    outcome, findings, web = explored(
        {"list": page(links)},
        source=ListedSource("P1", f"{AT}start", title="Flood policies"),
        known=(normal_url(f"{AT}start"), normal_url(f"{AT}list")),
    )
    assert (outcome.status, outcome.reason) == ("refused", "nothing_found")
    assert not findings.left_out
    assert web.asked == [f"{AT}list"]


def test_the_portals_own_documents_are_found_again() -> None:
    answers = {"list": page(listing(*POLICIES))}
    first = explored(answers, known=(normal_url(f"{AT}list"),))[1]
    assert explored(answers, known=(normal_url(f"{AT}list"),))[1].found == first.found
