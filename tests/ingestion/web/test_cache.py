"""One request for an address within a day, for all who ask."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from diskcache import Cache

from ingestion.types.outcome import Refusal
from ingestion.types.source import Validators
from ingestion.web.cache import CachedWeb, empty_cache
from ingestion.web.http import HttpWeb
from tests.ingestion.web_server import Site, page, serving


class _Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _versioned(request: BaseHTTPRequestHandler) -> None:
    same = request.headers["If-None-Match"] == '"1"'
    page(b"" if same else b"version 1", "text/html", 304 if same else 200, ETag='"1"')(request)


def bodies(folder: Path) -> list[Path]:
    return sorted((folder / "kept").rglob("*.val"))


@pytest.fixture
def site() -> Iterator[Site]:
    answers = {
        "/": _versioned,
        "/plain": page("plain"),
        "/file": page(b"%PDF" + bytes(5000), "application/pdf", Content_Disposition='attachment; filename="a.pdf"'),
        "/denied": page("", status=403),
        "/json": page("{}", "application/json"),
        "/empty": page(b""),
    }
    answers |= {f"/{n}": page(bytes([n]) * 100_000, "application/pdf") for n in range(10)}
    with serving(answers) as running:
        yield running


@pytest.fixture
def web(site: Site) -> Iterator[HttpWeb]:
    with HttpWeb(site.config()) as opened:
        yield opened


def test_a_second_call_makes_no_request_and_tells_the_same(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    first = kept.fetch(site.url("/"))
    assert kept.fetch(site.url("/#part")) == first
    assert CachedWeb(web, tmp_path / "kept").fetch(site.url("/")) == first
    assert site.asked["/"] == 1


def test_a_page_that_was_looked_at_is_the_file_that_is_downloaded(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    looked_at = kept.fetch(site.url("/file"))
    downloaded = kept.fetch(site.url("/file"), into=tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == looked_at.body
    assert (downloaded.path, downloaded.body, downloaded.sha256) == (str(tmp_path / "a.pdf"), b"", looked_at.sha256)
    assert downloaded.file_name == "a.pdf"
    assert kept.fetch(site.url("/file")).body == looked_at.body
    assert site.asked["/file"] == 1


def test_a_downloaded_file_can_be_looked_at(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    kept.fetch(site.url("/file"), into=tmp_path / "a.pdf")
    (tmp_path / "a.pdf").write_bytes(b"changed by somebody")
    assert kept.fetch(site.url("/file")).body.startswith(b"%PDF")
    assert site.asked["/file"] == 1


def test_an_old_answer_is_asked_after_and_stays_when_it_has_not_changed(
    site: Site, web: HttpWeb, tmp_path: Path
) -> None:
    clock = _Clock()
    kept = CachedWeb(web, tmp_path / "kept", fresh_seconds=60, clock=clock)
    first = kept.fetch(site.url("/"))
    clock.now += 61
    assert kept.fetch(site.url("/")) == first
    assert site.headers[-1]["if-none-match"] == '"1"'
    assert kept.fetch(site.url("/")) == first
    assert site.asked["/"] == 2
    clock.now += 61
    site.answers["/"] = page("version 2")
    assert kept.fetch(site.url("/")).body == b"version 2"
    assert kept.fetch(site.url("/")).body == b"version 2"
    assert site.asked["/"] == 3
    assert len(bodies(tmp_path)) == 1


def test_an_old_answer_without_validators_is_fetched_anew(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    clock = _Clock()
    kept = CachedWeb(web, tmp_path / "kept", fresh_seconds=60, clock=clock)
    kept.fetch(site.url("/plain"))
    clock.now += 61
    assert kept.fetch(site.url("/plain")).body == b"plain"
    assert "if-none-match" not in site.headers[-1]
    assert site.asked["/plain"] == 2


def test_a_callers_own_validators_go_to_the_network(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    kept.fetch(site.url("/"))
    assert kept.fetch(site.url("/"), validators=Validators(etag='"1"')).status == 304
    assert kept.fetch(site.url("/"), validators=Validators(etag='"0"')).body == b"version 1"
    assert site.asked["/"] == 3


def test_a_refusal_is_not_kept(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    for _time in range(2):
        with pytest.raises(Refusal):
            kept.fetch(site.url("/denied"))
    assert site.asked["/denied"] == 2


def test_what_is_forgotten_is_asked_for_again(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    kept.fetch(site.url("/"))
    kept.forget(site.url("/"))
    assert bodies(tmp_path) == []
    assert kept.fetch(site.url("/")).body == b"version 1"
    assert site.asked["/"] == 2


def test_what_is_forgotten_is_forgotten_for_other_processes_and_types_too(
    site: Site, web: HttpWeb, tmp_path: Path
) -> None:
    first, second = (CachedWeb(web, tmp_path / "kept") for _process in range(2))
    second.fetch(site.url("/json"), accept="application/json")
    first.forget(site.url("/json"))
    first.fetch(site.url("/json"), accept="application/json")
    assert site.asked["/json"] == 2
    first.forget(site.url("/json"))
    second.fetch(site.url("/json"), accept="application/json")
    assert site.asked["/json"] == 3


def test_another_accepted_type_is_another_answer(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    kept.fetch(site.url("/json"))
    kept.fetch(site.url("/json"), accept="application/json")
    assert site.asked["/json"] == 2


def test_a_kept_answer_keeps_to_the_limit_of_the_call(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept", page_bytes=4000)
    kept.fetch(site.url("/file"), into=tmp_path / "a.pdf")
    for options in ({}, {"max_bytes": 100}, {"max_bytes": 100, "into": tmp_path / "b.pdf"}):
        with pytest.raises(Refusal) as refused:
            kept.fetch(site.url("/file"), **options)
        assert refused.value.reason == "too_large"
    assert not (tmp_path / "b.pdf").exists()


def test_the_oldest_answers_make_room_for_new_ones(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept", most_bytes=350_000)
    for n in range(6):
        kept.fetch(site.url(f"/{n}"))
    assert sum(path.stat().st_size for path in bodies(tmp_path)) == 300_000
    kept.fetch(site.url("/5"))
    kept.fetch(site.url("/0"))
    assert (site.asked["/5"], site.asked["/0"]) == (1, 2)


def test_two_processes_keep_to_the_room_together(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    processes = [CachedWeb(web, tmp_path / "kept", most_bytes=350_000) for _process in range(2)]
    for n in range(8):
        processes[n % 2].fetch(site.url(f"/{n}"))
    assert sum(path.stat().st_size for path in bodies(tmp_path)) == 300_000


def test_a_body_that_a_power_failure_emptied_is_fetched_anew(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    clock = _Clock()
    kept = CachedWeb(web, tmp_path / "kept", fresh_seconds=60, clock=clock)
    whole = kept.fetch(site.url("/")).body
    for times, into in ((2, None), (3, tmp_path / "page")):
        bodies(tmp_path)[0].write_bytes(bytes(len(whole)))
        found = kept.fetch(site.url("/"), into=into)
        assert (into.read_bytes() if into else found.body) == whole
        assert site.asked["/"] == times
    bodies(tmp_path)[0].write_bytes(bytes(len(whole)))
    clock.now += 61
    assert kept.fetch(site.url("/")).body == whole
    assert len(bodies(tmp_path)) == 1


def test_a_damaged_entry_is_fetched_anew(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    for damage in ("{", "[]", b"\xff", ["a pickle"]):
        kept.fetch(site.url("/"))
        with Cache(str(tmp_path / "kept")) as cache:
            cache.set(next(key for key in cache if key.startswith("head")), damage)
    assert kept.fetch(site.url("/")).body == b"version 1"
    assert site.asked["/"] == 5


def test_an_empty_body_is_kept_too(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    assert kept.fetch(site.url("/empty")).body == b""
    kept.fetch(site.url("/empty"), into=tmp_path / "empty")
    assert (tmp_path / "empty").read_bytes() == b""
    assert site.asked["/empty"] == 1


def test_many_threads_that_ask_for_one_address_make_one_request(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    kept = CachedWeb(web, tmp_path / "kept")
    with ThreadPoolExecutor(8) as pool:
        bodies = set(pool.map(lambda n: kept.fetch(site.url(f"/{n % 3}")).body, range(48)))
    assert bodies == {bytes([n]) * 100_000 for n in range(3)}
    assert [site.asked[f"/{n}"] for n in range(3)] == [1, 1, 1]


def test_no_address_waits_for_another_one(site: Site, tmp_path: Path) -> None:
    most = 80
    together = threading.Barrier(most)

    def slow(request: BaseHTTPRequestHandler) -> None:
        # Answered when every address is being asked for.
        together.wait(30)
        page("here")(request)

    site.answers |= {f"/slow{number}": slow for number in range(most)}
    config = site.config(parallel=most, read_seconds=60, total_seconds=60)
    with HttpWeb(config) as web, ThreadPoolExecutor(most) as pool:
        kept = CachedWeb(web, tmp_path / "kept")
        fetched = pool.map(kept.fetch, [site.url(f"/slow{number}") for number in range(most)])
        assert [one.body for one in fetched] == [b"here"] * most


@pytest.mark.parametrize("damaged", [False, True])
def test_an_emptied_cache_holds_no_answer_and_nothing_of_one_that_was_broken_off(
    site: Site, web: HttpWeb, tmp_path: Path, *, damaged: bool
) -> None:
    first = CachedWeb(web, tmp_path / "kept")
    first.fetch(site.url("/file"), into=tmp_path / "a.pdf")
    first.close()
    half = tmp_path / "kept" / "ab" / "cd" / "ef.val"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half an answer")
    if damaged:
        for path in (tmp_path / "kept").glob("cache.db*"):
            path.write_bytes(b"no database" * 1000)
    assert empty_cache(tmp_path / "kept") == []
    held = [path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert [content for content in held if b"a.pdf" in content or b"half" in content or b"%PDF" in content] == []
    CachedWeb(web, tmp_path / "kept").fetch(site.url("/file"), into=tmp_path / "b.pdf")
    assert site.asked["/file"] == 2


def test_a_cache_that_was_cut_short_begins_empty(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    first = CachedWeb(web, tmp_path / "kept")
    first.fetch(site.url("/plain"))
    first.close()
    database = tmp_path / "kept" / "cache.db"
    os.truncate(database, database.stat().st_size // 2)
    assert CachedWeb(web, tmp_path / "kept").fetch(site.url("/plain")).body == b"plain"
    assert site.asked["/plain"] == 2


def test_a_cache_that_another_process_uses_can_be_emptied(site: Site, web: HttpWeb, tmp_path: Path) -> None:
    used = CachedWeb(web, tmp_path / "kept")
    used.fetch(site.url("/plain"))
    empty_cache(tmp_path / "kept")
    assert bodies(tmp_path) == []
    assert used.fetch(site.url("/plain")).body == b"plain"
    assert site.asked["/plain"] == 2
    used.close()
