"""The phases over a small web: portals, files that go, decisions, a run that is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import sqlalchemy as sql

from ingestion.acts.context import ActContext
from ingestion.acts.decisions import decide
from ingestion.acts.documents import erase, sources_erased_with
from ingestion.acts.sources import remove_sources
from ingestion.config import IngestionConfig, QualityConfig
from ingestion.file_reading import FileReading
from ingestion.pipeline.run import run_phases
from ingestion.records.source_record import Decision
from ingestion.records.source_store import SourceStore, now, outcomes
from ingestion.sandbox.sandbox import Sandbox
from ingestion.tools import Tools, open_tools
from ingestion.types.run import ControlSignal, RunRequest
from ingestion.types.source import ListedSource
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from tests.ingestion.left_behind import files_holding, forms
from tests.ingestion.web_server import Answer, Site, page, serving
from tests.portal import files
from tests.portal.site import META_CC_BY, PDF, RESERVED
from tests.portal.texts import DROUGHT, FLOOD, HEAT, about
from tests.present import present


@pytest.fixture
def site() -> Iterator[Site]:
    with serving({}) as site:
        yield site


@pytest.fixture
def other() -> Iterator[Site]:
    with serving({}) as site:
        yield site


def _run(
    engine: Engine,
    *sites: Site,
    request: RunRequest | None = None,
    parallel: int = 4,
    made: Callable[[Tools], Tools] = lambda tools: tools,
    **limits: float,
) -> SourceStore:
    intranet = tuple(f"127.0.0.1:{site.port}" for site in sites)
    config = IngestionConfig(use_model=False, web=sites[0].config(browser=False, **limits))
    config = replace(config, web=replace(config.web, intranet=intranet, parallel=parallel))
    store = SourceStore(engine.catalog)
    with open_tools(engine, config) as tools:
        run_phases(store, engine, made(replace(tools, encode=None)), request or RunRequest())
    return store


def _policies(*links: tuple[str, str]) -> str:
    return files.page("Plans and policies", files.links(*links), head=META_CC_BY)


def test_two_portals_that_list_each_other_end(engine: Engine, site: Site, other: Site) -> None:
    topics = [(f"/{topic}.pdf", f"Action plan on {topic}") for topic in ("owls", "bees", "hares")]
    for here, there in ((site, other), (other, site)):
        here.answers["/policies"] = page(_policies(*topics, (there.url("/policies"), "Policies of the other agency")))
        for path, name in topics:
            here.answers[path] = page(files.pdf(about(f"{name} {here.port}")), PDF)
    store = SourceStore(engine.catalog)
    store.add([ListedSource("P", site.url("/policies")), ListedSource("Q", other.url("/policies"))])
    _run(engine, site, other)
    assert sorted(one.code for one in store.sources()) == ["P", "P.1", "P.2", "P.3", "Q", "Q.1", "Q.2", "Q.3"]


def test_a_file_that_is_gone_from_its_address_stays_in_the_collection(engine: Engine, site: Site) -> None:
    site.answers["/plan.pdf"] = page(files.pdf(about("owls")), PDF)
    SourceStore(engine.catalog).add([ListedSource("A1", site.url("/plan.pdf"))])
    _run(engine, site)
    del site.answers["/plan.pdf"]
    store = _run(engine, site, request=RunRequest(refresh=True))
    assert [record.metadata.title for record in engine.collection.documents()] == ["Action plan on owls"]
    outcome = store.records()["A1"].outcomes["acquisition"]
    assert (outcome.status, outcome.reason) == ("failed", "not_found")
    assert "is kept" in outcome.message


def test_a_newer_file_supersedes_the_former_which_answers_as_of_an_earlier_date(
    engine: Engine, context: ActContext, site: Site
) -> None:
    site.answers["/plan.pdf"] = page(files.pdf(about("owls")), PDF)
    SourceStore(engine.catalog).add([ListedSource("A1", site.url("/plan.pdf"))])
    _run(engine, site)
    [former] = engine.collection.documents()
    site.answers["/plan.pdf"] = page(files.pdf(about("owls and bees")), PDF)
    _run(engine, site, request=RunRequest(refresh=True))
    kept, present = sorted(engine.collection.documents(), key=lambda one: one.key)
    assert (kept.key, kept.sha256, present.source) == (former.key, former.sha256, "list:A1")
    assert engine.collection.stored_file(kept).exists()
    assert kept.metadata.superseded
    question = "What does the action plan on owls say?"
    assert {hit.document.key for hit in engine.search(question).hits} == {present.key}
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    assert kept.key in {hit.document.key for hit in engine.search(question, {"as_of": (yesterday,)}).hits}
    _run(engine, site, request=RunRequest(which="all"))
    assert len(engine.collection.documents()) == 2
    assert len(list((engine.config.workspace / "downloads").iterdir())) == 2
    erase(context, "list:A1", "Ada", "Out.")
    assert engine.collection.documents() == []
    assert not list((engine.config.workspace / "downloads").iterdir())


def test_the_evidence_on_the_licence_quotes_an_erased_document_no_more(
    engine: Engine, context: ActContext, site: Site
) -> None:
    statement = "This zanzibar plan is licensed under CC BY 4.0."
    site.answers["/plan.pdf"] = page(files.pdf(about("owls"), statement), PDF)
    store = SourceStore(engine.catalog)
    store.add([ListedSource("A1", site.url("/plan.pdf"))])
    _run(engine, site)
    verdict = present(store.records()["A1"].page_verdict)
    assert any("zanzibar" in mark.quote for mark in verdict.marks)
    assert erase(context, "list:A1", "Ada", "Out of date.").left_behind == ()
    assert list(files_holding(engine.config.workspace, forms("zanzibar", "on owls"))) == []
    # The verdict stands, and its words come back with the document.
    assert store.entries()["A1", "licence"].outcome.reason == "licence_green"
    decide(context, ["A1"], "restore", "Ada", "It is in force.")
    _run(engine, site)
    verdict = present(store.records()["A1"].page_verdict)
    assert any("zanzibar" in mark.quote for mark in verdict.marks)


def test_erasing_a_document_keeps_a_nearly_equal_one_of_the_list_away(
    engine: Engine, context: ActContext, site: Site
) -> None:
    draft = replace(HEAT, paragraphs=(*HEAT.paragraphs, "Bozza."))
    for code, text in {"HEAT": HEAT, "DRAFT": draft}.items():
        site.answers[f"/{code}.html"] = page(files.content(text, head=META_CC_BY))
        SourceStore(engine.catalog).add([ListedSource(code, site.url(f"/{code}.html"))])
    _run(engine, site)
    [record] = engine.collection.documents()
    assert set(sources_erased_with(context, [record])) == {"HEAT", "DRAFT"}
    with pytest.raises(InputError, match=", ".join(sources_erased_with(context, [record]))):
        erase(context, record.source, "Ada")
    assert erase(context, record.source, "Ada", "Out of date.").left_behind == ()
    _run(engine, site, request=RunRequest(which="all"))
    assert engine.collection.documents() == []
    assert list(files_holding(engine.config.workspace, forms("temperatura percepita"))) == []


@pytest.mark.parametrize("gone", ["erased", "off the list"])
def test_no_page_that_a_check_of_its_licence_fetched_outlives_a_document(
    engine: Engine, context: ActContext, site: Site, gone: str
) -> None:
    site.answers["/plan.html"] = page(files.content(about("zanzibars"), head=META_CC_BY))
    store = SourceStore(engine.catalog)
    store.add([ListedSource("A1", site.url("/plan.html"))])
    _run(engine, site)
    # The download that would take the page is not due any more.
    _run(engine, site, request=RunRequest(("licence",), which="all"))
    workspace, words = engine.config.workspace, forms("answers for zanzibars")
    assert {path.relative_to(workspace).parts[0] for path in files_holding(workspace, words)} >= {"pages", "downloads"}
    if gone == "erased":
        assert erase(context, "list:A1", "Ada", "Out of date.").left_behind == ()
    else:
        remove_sources(context, ["A1"], "Ada")
        _run(engine, site)
    assert list(files_holding(workspace, words)) == []


def test_a_file_that_is_what_it_was_before_leaves_no_second_copy(engine: Engine, site: Site) -> None:
    SourceStore(engine.catalog).add([ListedSource("A1", site.url("/plan.pdf"))])
    first, second = files.pdf(about("owls")), files.pdf(about("owls and bees"))
    for body in (first, second, first):
        site.answers["/plan.pdf"] = page(body, PDF)
        _run(engine, site, request=RunRequest(refresh=True))
    assert len({one.sha256 for one in engine.collection.documents()}) == len(engine.collection.documents()) == 2


def test_an_unchanged_file_is_not_sent_again(engine: Engine, site: Site) -> None:
    site.answers["/plan.pdf"] = page(files.pdf(about("owls")), PDF, ETag='"one"')
    SourceStore(engine.catalog).add([ListedSource("A1", site.url("/plan.pdf"))])
    _run(engine, site)
    assert site.asked["/plan.pdf"] == 1, "the licence is read and the file is kept by one request"
    site.answers["/plan.pdf"] = page(b"", status=304, ETag='"one"')
    store = _run(engine, site, request=RunRequest(refresh=True))
    assert store.records()["A1"].outcomes["acquisition"].reason == "not_modified"
    assert site.headers[-1]["if-none-match"] == '"one"'
    assert len(engine.collection.documents()) == 1


def test_a_slow_host_holds_up_nobody_else(engine: Engine, site: Site, other: Site) -> None:
    names = ("owls", "bees", "hares", "moths")
    ended = threading.Event()
    others = {f"/{name}.pdf": page(files.pdf(about(name)), PDF) for name in names}

    def slow(request: BaseHTTPRequestHandler) -> None:
        # Until everything of the other host was asked for, or for longer than a page may take.
        if ended.wait(30) or site.released.is_set():
            page(files.pdf(about("toads")), PDF)(request)

    def last(answer: Answer) -> Answer:
        def count(request: BaseHTTPRequestHandler) -> None:
            answer(request)
            if sum(other.asked[path] for path in others) >= len(others):
                ended.set()

        return count

    site.answers |= {f"/slow{number}.pdf": slow for number in range(4)}
    other.answers |= {path: last(answer) for path, answer in others.items()}
    SourceStore(engine.catalog).add(
        [ListedSource(f"S{number}", site.url(f"/slow{number}.pdf")) for number in range(4)]
        + [ListedSource(name.upper(), other.url(f"/{name}.pdf")) for name in names]
    )
    # Time enough for the other host's pages on a busy machine.
    store = _run(engine, site, other, request=RunRequest(("licence",)), parallel=2, read_seconds=25, total_seconds=25)
    assert {outcome.reason for outcome in (one.outcomes["licence"] for one in store.records().values())} == {
        "licence_green"
    }


def test_a_file_is_read_once_from_its_licence_to_the_index(
    engine: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def counted(self: Sandbox, path: Path, patience: float) -> FileReading:
        read.append(path)
        return whole(self, path, patience)

    whole = Sandbox.read
    monkeypatch.setattr(Sandbox, "read", counted)
    reserved = files.pdf(about("bees"), RESERVED)
    site.answers |= {"/owls.pdf": page(files.pdf(about("owls")), PDF), "/bees.pdf": page(reserved, PDF)}
    SourceStore(engine.catalog).add(
        [ListedSource("A1", site.url("/owls.pdf")), ListedSource("A2", site.url("/bees.pdf"))]
    )
    _run(engine, site)
    assert [record.source for record in engine.collection.documents()] == ["list:A1"]
    assert len(read) == 2
    # Nothing is kept of a file that must not be used.
    assert len([path for path in (engine.config.workspace / "readings").rglob("*") if path.is_file()]) == 1


def test_a_decision_on_a_portal_does_not_free_what_reserves_its_rights(engine: Engine, site: Site) -> None:
    topics = [(f"/{topic}.pdf", f"Action plan on {topic}") for topic in ("owls", "bees", "hares")]
    site.answers["/policies"] = page(files.page("Plans and policies", files.links(*topics)))
    for (path, name), licence in zip(topics, ("", RESERVED, "Nothing is said here."), strict=True):
        site.answers[path] = page(files.pdf(about(name), licence), PDF)
    store = SourceStore(engine.catalog)
    store.add([ListedSource("P", site.url("/policies"))])
    store.decide(Decision("P", "licence", "GREEN", "Ada", "Asked by letter.", now()))
    _run(engine, site)
    source_records = store.records()
    assert {record.source for record in engine.collection.documents()} == {"list:P.1", "list:P.3"}
    assert source_records["P.2"].stopped is not None
    assert source_records["P.2"].stopped[1].reason == "licence_reserved"


def test_a_document_reserving_its_rights_wins_over_its_page_until_a_person_decides(engine: Engine, site: Site) -> None:
    landing = files.page(
        "Action plan on owls", '<p><a href="/owls.pdf">Download the full text</a></p>', head=META_CC_BY
    )
    site.answers |= {"/owls": page(landing), "/owls.pdf": page(files.pdf(about("owls"), RESERVED), PDF)}
    store = SourceStore(engine.catalog)
    store.add([ListedSource("A1", site.url("/owls"))])
    _run(engine, site)
    verdict = present(store.records()["A1"].verdict)
    assert (verdict.light, verdict.licence) == ("RED", "All rights reserved")
    assert any("All rights reserved" in mark.quote for mark in verdict.marks)
    first = store.records()["A1"].outcomes["extraction"].message
    assert first.startswith("Its page says CC BY 4.0, but ")
    with open_tools(engine, IngestionConfig(use_model=False, web=site.config(browser=False))) as tools:
        again = RunRequest(phases=("acquisition", "extraction"), codes=("A1",), which="all")
        run_phases(store, engine, tools, again)
    assert store.records()["A1"].outcomes["extraction"].message == first
    workspace = engine.config.workspace
    assert not list((workspace / "downloads").iterdir())
    assert not [path for path in (workspace / "readings").rglob("*") if path.is_file()]
    store.decide(Decision("A1", "licence", "GREEN", "Ada", "They gave leave.", now()))
    _run(engine, site)
    assert len(engine.collection.documents()) == 1


def test_a_cancelled_run_ends_at_once_and_records_nothing_of_what_it_broke_off(engine: Engine, site: Site) -> None:
    def slow(request: object) -> None:
        site.released.wait(60)

    site.answers["/slow"] = slow
    store = SourceStore(engine.catalog)
    store.add([ListedSource("A1", site.url("/slow"))])
    config = IngestionConfig(use_model=False, web=site.config(browser=False, read_seconds=50.0, total_seconds=50.0))
    started = time.monotonic()

    def signal() -> ControlSignal:
        return "cancel" if time.monotonic() - started > 1 else ""

    with open_tools(engine, config) as tools:
        run_phases(store, engine, tools, RunRequest(), signal=signal)
    assert time.monotonic() - started < 20
    assert store.records()["A1"].outcomes == {}


def test_what_failed_is_left_alone_for_a_while_and_tried_at_once_when_asked(engine: Engine, site: Site) -> None:
    site.answers["/plan.pdf"] = page("busy", status=503)
    store = SourceStore(engine.catalog)
    store.add([ListedSource("A1", site.url("/plan.pdf"))])
    _run(engine, site)
    asked = site.asked["/plan.pdf"]
    assert store.entries()["A1", "licence"].outcome.retryable
    _run(engine, site)
    assert site.asked["/plan.pdf"] == asked
    _run(engine, site, request=RunRequest(which="failed"))
    assert site.asked["/plan.pdf"] > asked
    assert store.entries()["A1", "licence"].attempts == 2
    # After two attempts in a row the pause is four minutes.
    site.answers["/plan.pdf"] = page(files.pdf(about("owls")), PDF)
    for minutes, documents in ((3, 0), (5, 1)):
        later = datetime.now(UTC) - timedelta(minutes=minutes)
        with engine.catalog.begin() as connection:
            connection.execute(sql.update(outcomes).values(when=later.isoformat(timespec="seconds")))
        _run(engine, site)
        assert len(engine.collection.documents()) == documents


def _list_plans(engine: Engine, site: Site) -> None:
    for code, text in {"FLOOD": FLOOD, "HEAT": HEAT, "DROUGHT": DROUGHT}.items():
        site.answers[f"/{code}.pdf"] = page(files.pdf(text), PDF)
        SourceStore(engine.catalog).add([ListedSource(code, site.url(f"/{code}.pdf"))])


def _titles(engine: Engine) -> list[str]:
    return sorted(record.metadata.title for record in engine.collection.documents())


def test_what_is_rejected_lies_in_quarantine_until_it_is_restored(
    engine: Engine, context: ActContext, site: Site
) -> None:
    def strict(tools: Tools) -> Tools:
        return replace(tools, config=replace(tools.config, quality=QualityConfig(minimum_characters=910)))

    workspace = engine.config.workspace
    _list_plans(engine, site)
    _run(engine, site, made=strict)
    assert _titles(engine) == [FLOOD.title]
    assert len(list((workspace / "quarantine").iterdir())) == 2
    decide(context, ["HEAT"], "restore", "Ada", "It is short and it is the law.")
    _run(engine, site, made=strict)
    assert _titles(engine) == sorted([FLOOD.title, HEAT.title])
    assert [path.name for path in (workspace / "downloads").iterdir() if "HEAT" in path.name]
    decide(context, ["HEAT"], "undo", "Ada")
    _run(engine, site, made=strict)
    assert _titles(engine) == [FLOOD.title]


def test_what_is_out_of_the_scope_is_set_aside_and_can_be_brought_back(
    engine: Engine, context: ActContext, site: Site
) -> None:
    encode = load_encoder("multilingual-e5-small").encode_passages

    def scoped(tools: Tools) -> Tools:
        return replace(tools, encode=encode, config=replace(tools.config, scope="taxes and pensions"))

    _list_plans(engine, site)
    records = _run(engine, site, made=scoped).records()
    assert sum(one.outcomes["quality"].reason == "out_of_scope" for one in records.values()) >= 2
    assert FLOOD.title not in _titles(engine)
    assert records["FLOOD"].outcomes["quality"].reason == "out_of_scope"
    assert "rather than “taxes and pensions”" in records["FLOOD"].outcomes["quality"].message
    assert records["FLOOD"].quality is not None

    decide(context, ["FLOOD"], "restore", "Ada", "Cited by us")
    _run(engine, site, made=scoped)
    assert FLOOD.title in _titles(engine)
    _run(engine, site)
    assert len(_titles(engine)) == 3
