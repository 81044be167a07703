"""Real Chromium behind the checked proxy: what it brings back, and what it can never reach."""

from __future__ import annotations

import gzip
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.web import browser as browser_module
from ingestion.web.browser import ChromiumBrowser, find_chromium, launch_flags, open_browser
from ingestion.web.response import NotAPage
from tests.conftest import ROOT
from tests.ingestion.web_server import Site, page, redirect, serving

pytestmark = pytest.mark.needs("chromium")

PDF = b"%PDF-1.7 " + bytes(range(256)) * 4000
SCRIPTED = "<body><p id=a>loading</p><script>fetch('/words').then(r=>r.text()).then(t=>a.textContent=t)</script>"
LATE = """<body><main id=m></main><script>const text = ['The flood plan,', 'drawn late.'].join(' ');
setTimeout(() => m.textContent = text, 1300)</script>"""
BLOB = """<body><script>const a = document.createElement('a'); a.download = 'made.txt';
a.href = URL.createObjectURL(new Blob(['made by a script'])); document.body.append(a); a.click()</script>"""
# Every way out of a page that a script has; what each one got is written into the page.
ESCAPES = """<body><pre id=out></pre><img src="http://127.0.0.1:PORT/img"><iframe src="http://127.0.0.1:PORT/frame">
</iframe><script src="http://127.0.0.1:PORT/script"></script><script>
const say = text => out.textContent += text + ' ';
const tries = ['http://127.0.0.1:PORT/fetch', 'http://localhost:PORT/name', 'http://[::1]:PORT/six',
  'http://2130706433:PORT/number', 'http://rebinding.example:PORT/rebound'];
const all = tries.map(u => fetch(u, {mode: 'no-cors'}).then(() => say('reached')).catch(() => say('blocked')));
const socket = new WebSocket('ws://127.0.0.1:PORT/socket');
all.push(new Promise(done => { socket.onopen = () => { say('opened'); done() };
  socket.onerror = () => { say('shut'); done() } }));
Promise.all(all).then(() => say('finished'));
</script>"""


def _challenge(request: BaseHTTPRequestHandler) -> None:
    """Answer with a page that lets only those in who run scripts."""
    if "passed=1" in (request.headers["Cookie"] or ""):
        page(PDF, "application/pdf")(request)
    else:
        page("<script>document.cookie='passed=1';location.reload()</script>", status=403)(request)


def _cut(request: BaseHTTPRequestHandler) -> None:
    page(PDF[:1000], "application/pdf", Content_Length=str(len(PDF)))(request)
    request.close_connection = True


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    answers = {
        "/": page(SCRIPTED),
        "/late": page(LATE),
        "/late-beside-its-menu": page(f"<body><nav>{'Plans and policies of the river authority. ' * 4}</nav>{LATE}"),
        "/words": page("written by a script", "text/plain"),
        "/plan.pdf": page(PDF, "application/pdf"),
        "/attached": page(b"zip", "application/zip", Content_Disposition='attachment; filename="all plans.zip"'),
        "/attached-page": page("<p>" + "x" * 5000, Content_Disposition='attachment; filename="a.html"'),
        "/packed": page(gzip.compress(PDF), "application/pdf", Content_Encoding="gzip"),
        "/moved": redirect("/plan.pdf"),
        "/sent-on": page("<script>location = '/plan.pdf'</script>"),
        "/challenge": _challenge,
        "/blob": page(BLOB),
        "/huge": page(b"", "application/pdf", Content_Length="10000000000"),
        "/bomb": page(gzip.compress(bytes(20_000_000)), "application/pdf", Content_Encoding="gzip"),
        "/cut": _cut,
        "/denied": page("no", status=403),
        "/loop": redirect("/loop"),
        "/reloading": page("<script>location.reload()</script>"),
        "/growing": page("<body><script>document.body.textContent = 'x'.repeat(300000)</script>"),
        "/hanging": page("<p>page</p><script>setTimeout(() => { while (true) {} }, 50)</script>"),
        "/robots.txt": page("User-agent: *\nDisallow: /closed", "text/plain"),
        "/closed": page("closed"),
        "/to-closed": redirect("/closed"),
        "/script-to-closed": page("<script>location = '/closed'</script>"),
        "/to-file": page("<body><script>location = 'file:///etc/passwd'</script>"),
    }
    with serving(answers) as running:
        yield running


@pytest.fixture(scope="module")
def browser(site: Site) -> Iterator[ChromiumBrowser]:
    with _open(site.config(page_bytes=200_000)) as opened:
        yield opened


def _open(config: WebConfig) -> ChromiumBrowser:
    browser = open_browser(config, resolve=lambda host, port: ("127.0.0.1",))
    assert browser is not None
    return browser


def test_a_page_is_read_after_its_scripts_ran(site: Site, browser: ChromiumBrowser) -> None:
    fetched = browser.render(site.url("/"))
    assert b"written by a script" in fetched.body
    assert (fetched.how, fetched.media_type, fetched.charset, fetched.status) == ("browser", "text/html", "utf-8", 200)
    assert fetched.urls == (site.url("/"),)
    assert "Sextant/" in next(h for h in reversed(site.headers) if "Chrome" in h["user-agent"])["user-agent"]


@pytest.mark.parametrize("path", ["/late", "/late-beside-its-menu"])
def test_a_page_that_draws_itself_after_a_while_is_waited_for(site: Site, browser: ChromiumBrowser, path: str) -> None:
    assert b"The flood plan, drawn late." in browser.render(site.url(path)).body


@pytest.mark.parametrize(
    ("path", "content"),
    [
        *((path, PDF) for path in ("/plan.pdf", "/packed", "/challenge", "/moved", "/sent-on")),
        *(("/attached", b"zip"), ("/blob", b"made by a script")),
    ],
)
def test_a_file_is_downloaded_however_it_is_served(
    site: Site, browser: ChromiumBrowser, tmp_path: Path, path: str, content: bytes
) -> None:
    fetched = browser.download(site.url(path), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == content
    assert (fetched.size, fetched.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert fetched.file_name == {"/attached": "all plans.zip", "/blob": "made.txt"}.get(path, "")
    if path in ("/moved", "/sent-on"):
        assert fetched.urls == (site.url(path), site.url("/plan.pdf"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/huge", "too_large"),
        ("/bomb", "too_large"),
        ("/denied", "access_denied"),
        ("/", "wrong_content"),
        ("/to-closed", "robots_forbidden"),
    ],
)
def test_a_download_that_fails_has_its_reason_and_leaves_nothing(
    site: Site, browser: ChromiumBrowser, tmp_path: Path, path: str, reason: str
) -> None:
    with pytest.raises(Refusal) as refused:
        browser.download(site.url(path), tmp_path / "file", max_bytes=5_000_000)
    assert refused.value.reason == reason, refused.value
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/denied", "access_denied"),
        ("/missing", "not_found"),
        ("/plan.pdf", "wrong_content"),
        ("/loop", "too_many_redirects"),
        ("/reloading", "too_many_redirects"),
        ("/growing", "too_large"),
        ("/closed", "robots_forbidden"),
        ("/to-closed", "robots_forbidden"),
        ("/script-to-closed", "robots_forbidden"),
    ],
)
def test_a_page_that_cannot_be_had_has_its_reason(site: Site, browser: ChromiumBrowser, path: str, reason: str) -> None:
    with pytest.raises(Refusal) as refused:
        browser.render(site.url(path))
    assert refused.value.reason == reason, refused.value
    assert site.asked["/closed"] == 0


def test_a_redirect_to_this_machine_is_refused(site: Site, browser: ChromiumBrowser) -> None:
    with serving({"/": page("secret")}) as other:
        for target in (f"http://127.0.0.1:{other.port}/", f"http://2130706433:{other.port}/"):
            site.answers["/inside"] = redirect(target)
            with pytest.raises(Refusal) as refused:
                browser.render(site.url("/inside"))
            assert refused.value.reason == "address_forbidden"
        assert not other.asked


def test_nothing_in_a_page_reaches_this_machine(site: Site, browser: ChromiumBrowser) -> None:
    with serving({}) as other:
        site.answers["/escapes"] = page(ESCAPES.replace("PORT", str(other.port)))
        text = browser.render(site.url("/escapes")).body.decode().partition("<pre")[2].partition("</pre>")[0]
        assert text.count("blocked") == 5, text
        assert "shut" in text
        assert "finished" in text
        assert not other.asked
    assert b"root:" not in browser.render(site.url("/")).body


def test_a_local_file_is_not_read(site: Site, browser: ChromiumBrowser) -> None:
    assert b"root:" not in browser.render(site.url("/to-file")).body
    with pytest.raises(Refusal, match="only http and https are read"):
        browser.render("file:///etc/passwd")


def test_a_dead_server_is_a_failed_connection(site: Site) -> None:
    with serving({}) as other:
        config = replace(site.config(), intranet=("127.0.0.1",))
    with _open(config) as browser, pytest.raises(Refusal) as refused:
        browser.render(other.url("/"))
    assert refused.value.reason == "connection_failed"


def test_a_page_that_hangs_costs_the_browser_its_life_and_the_next_call_has_another(site: Site) -> None:
    with _open(site.config(browser_seconds=4.0)) as browser:
        browser.render(site.url("/"))
        before = browser.process_ids
        began = time.monotonic()
        with pytest.raises(Refusal) as refused:
            browser.render(site.url("/hanging"))
        assert (refused.value.reason, refused.value.retryable) == ("timed_out", True)
        assert time.monotonic() - began < 15
        assert b"written by a script" in browser.render(site.url("/")).body
        assert not set(before) & set(browser.process_ids)


def test_a_download_that_breaks_off_ends_within_its_time_and_leaves_nothing(site: Site, tmp_path: Path) -> None:
    with _open(site.config(browser_seconds=1.0)) as browser, pytest.raises(Refusal) as refused:
        browser.download(site.url("/cut"), tmp_path / "file")
    assert refused.value.retryable
    assert list(tmp_path.iterdir()) == []


def test_several_threads_are_served_one_after_another(site: Site, browser: ChromiumBrowser) -> None:
    with ThreadPoolExecutor(3) as pool:
        bodies = [f.body for f in pool.map(lambda _n: browser.render(site.url("/")), range(3))]
    assert all(b"written by a script" in body for body in bodies)


def test_a_browser_that_was_killed_is_replaced(site: Site, browser: ChromiumBrowser) -> None:
    browser.render(site.url("/"))
    os.kill(browser.process_ids[0], signal.SIGKILL)
    assert b"written" in browser.render(site.url("/")).body


def test_a_browser_that_died_unseen_is_replaced(
    site: Site, browser: ChromiumBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was just killed stands among the others for a moment."""
    browser.render(site.url("/"))
    # A helper of the browser may end between the listing and the look at it.
    first = psutil.Process(browser.process_ids[0])
    processes = [one for one in psutil.process_iter() if one.pid in browser.process_ids]
    monkeypatch.setattr(browser_module._BrowserThread, "alive", True)
    first.kill()
    psutil.wait_procs(processes, timeout=10)
    assert b"written" in browser.render(site.url("/")).body


def test_no_process_stays_behind_after_closing(site: Site) -> None:
    processes: list[int] = []

    opened = _open(site.config())

    def use() -> None:
        with opened:
            opened.render(site.url("/"))
            processes.extend(opened.process_ids)
            raise RuntimeError("of the caller")

    with pytest.raises(RuntimeError, match="of the caller"):
        use()
    assert processes
    psutil.wait_procs(_running(processes), timeout=5)
    assert _running(processes) == []
    with pytest.raises(Refusal, match="closed"):
        opened.render(site.url("/"))


def test_closing_from_another_thread_ends_the_call_under_way(site: Site) -> None:
    browser = _open(site.config(browser_seconds=30.0))
    browser.render(site.url("/"))
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(browser.render, site.url("/hanging"))
        asked = site.asked["/hanging"]
        while site.asked["/hanging"] == asked:
            threading.Event().wait(0.01)
        browser.close()
        with pytest.raises(Refusal):
            call.result(10)


def test_no_process_stays_behind_a_parent_that_is_killed(site: Site) -> None:
    program = f"""
import time
from ingestion.web.browser import open_browser
from ingestion.config import WebConfig
browser = open_browser(WebConfig(intranet=("127.0.0.1:{site.port}",), host_seconds=0.0))
browser.render({site.url("/")!r})
print(*browser.process_ids, flush=True)
time.sleep(60)
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        numbers = [int(number) for number in parent.stdout.readline().split()]
        parent.kill()
    assert numbers
    psutil.wait_procs(_running(numbers), timeout=10)
    assert _running(numbers) == []


def _running(numbers: Iterable[int]) -> list[psutil.Process]:
    """Return the processes that still run; a zombie does not."""
    found = []
    for number in numbers:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(number)
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def test_without_a_browser_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert find_chromium() is not None
    assert open_browser(WebConfig(browser=False)) is None
    monkeypatch.setattr("ingestion.web.browser._NAMES", ("no-such-browser",))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert find_chromium() is None
    assert open_browser(WebConfig()) is None


def test_a_browser_that_does_not_start_is_said_to_be_missing(site: Site) -> None:
    with ChromiumBrowser(site.config(), "/bin/false") as browser, pytest.raises(Refusal) as refused:
        browser.render(site.url("/"))
    assert refused.value.reason == "browser_missing"


def test_a_page_shown_is_never_a_file_that_is_loaded(site: Site, browser: ChromiumBrowser) -> None:
    with pytest.raises(NotAPage) as caught:
        browser.render(site.url("/moved"))
    assert (caught.value.reason, caught.value.head.url) == ("wrong_content", site.url("/plan.pdf"))
    assert caught.value.head.media_type == "application/pdf"


def test_a_page_that_is_sent_as_a_file_is_bounded_as_a_page(site: Site, tmp_path: Path) -> None:
    with _open(site.config(page_bytes=1000)) as browser, pytest.raises(Refusal) as caught:
        browser.download(site.url("/attached-page"), tmp_path / "x", max_bytes=10_000_000)
    assert caught.value.reason == "too_large"
    assert list(tmp_path.iterdir()) == []


def test_the_browser_knows_no_secrets_of_ours(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ("SEXTANT_INTRANET", "OPENAI_API_KEY", "HF_TOKEN", "PGPASSWORD", "database_password_file")
    for name in secrets:
        monkeypatch.setenv(name, "not for others")
    with _open(site.config()) as opened:
        opened.render(site.url("/"))
        environments = []
        for number in opened.process_ids:
            # Some of the browser's processes come and go.
            with suppress(OSError):
                environments.append(Path(f"/proc/{number}/environ").read_bytes())
    assert b"PATH=" in environments[0]
    assert not [one for one in environments if b"not for others" in one]


def test_one_visit_asks_for_what_the_page_names_and_for_nothing_else(site: Site) -> None:
    # With a form, of which Chromium would tell a server of Google, and no icon, which it would look for.
    form = "<form><input type=email name=email><input type=password name=password></form>"
    site.answers["/form"] = page(f"<title>Form</title><script src='/form.js'></script>{form}<p>{'words ' * 50}</p>")
    site.answers["/form.js"] = page("document.title += ' with its script'", "text/javascript")
    with _open(site.config()) as browser:
        assert b"with its script" in browser.render(site.url("/form")).body
        # The first request of a visit is asked for the key and sent once more.
        document = f"GET {site.url('/form')}"
        assert browser.asked == (document, document, f"GET {site.url('/form.js')}")


def test_chromium_itself_is_given_no_way_out_and_its_own_sandbox_is_given_up_only_for_root(
    site: Site, browser: ChromiumBrowser
) -> None:
    browser.render(site.url("/"))
    arguments, switch = psutil.Process(browser.process_ids[0]).cmdline(), "--disable-features="
    assert [one for one in arguments if one.startswith("--proxy-server")] == ["--proxy-server=http://127.0.0.1:1"]
    assert ("--no-sandbox" in arguments) == (os.geteuid() == 0)
    assert ("--no-sandbox" in launch_flags(0), "--no-sandbox" in launch_flags(1000)) == (True, False)
    # What Playwright switches off stays off.
    first, last = (set(one.removeprefix(switch).split(",")) for one in arguments if one.startswith(switch))
    assert first < last
