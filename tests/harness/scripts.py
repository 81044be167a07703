"""Scripts in every field of people and documents, in every view of a real browser: none of them runs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Dialog, Page, sync_playwright
from playwright.sync_api import TimeoutError as BrowserTimeout

from ingestion.acts.context import local_person, open_context
from ingestion.acts.library import save_filters
from ingestion.add_files import add_paths
from ingestion.records.source_store import SourceStore
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.source import ListedSource
from rag_engine.config import read_config
from rag_engine.conversations import store
from rag_engine.conversations.store import TurnRating
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.test_questions import change_test_questions
from rag_engine.messages import Message
from rag_engine.notebook.notebook import Notebook, NotebookEntry, answer_entry, passage_entry, with_entry, with_note
from rag_engine.notebook.store import change_notebook, create_notebook
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.saved import save_search
from rag_engine.types.answer import Citation
from tests.conftest import BROWSER_FLAGS, CHROMIUM
from tests.e2e.conftest import leaves, serving
from tests.harness.admin_fields import administered, compared
from tests.harness.tally import Effort, Tally
from tests.rag_engine.conversations.test_store import REPLY, SOURCE

# Each one leaves a mark where it runs, or asks a host that is not ours.
_RUN = "(top.ran=(top.ran||0)+1,alert(1))"
PAYLOADS = (
    *(
        f"<script>{_RUN}</script>",
        f"<ScRiPt >{_RUN}</sCrIpT>",
        f"<script/x>{_RUN}</script>",
        f"<<script>{_RUN}//<</script>",
    ),
    *(
        f"<img src=x onerror={_RUN}>",
        f'<img src="x" onerror="{_RUN}"/>',
        f"<img/src/onerror={_RUN}>",
        f"<image src=x onerror={_RUN}>",
    ),
    *(
        f"<svg onload={_RUN}>",
        f"<svg/onload={_RUN}>",
        f"<svg><script>{_RUN}</script></svg>",
        f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    ),
    *(
        f"<body onload={_RUN}>",
        f"<input onfocus={_RUN} autofocus>",
        f"<select onfocus={_RUN} autofocus>",
        f"<textarea onfocus={_RUN} autofocus>",
    ),
    *(
        f"<details open ontoggle={_RUN}>",
        f"<video src=x onerror={_RUN}>",
        f"<audio src=x onerror={_RUN}>",
        f"<marquee onstart={_RUN}>x</marquee>",
    ),
    *(
        f"<iframe srcdoc='<script>{_RUN}</script>'></iframe>",
        f'<iframe src="javascript:{_RUN}"></iframe>',
        f'<object data="javascript:{_RUN}">',
    ),
    *(
        f'<embed src="javascript:{_RUN}">',
        f'<form action="javascript:{_RUN}"><button autofocus>x</button></form>',
        f'<base href="javascript:{_RUN}//">',
    ),
    *(
        f'<a href="javascript:{_RUN}">x</a>',
        f"[x](javascript:{_RUN})",
        f"[x](JaVaScRiPt&colon;{_RUN})",
        f"[x](data:text/html,<script>{_RUN}</script>)",
    ),
    *(f"[x](vbscript:{_RUN})", f"<javascript:{_RUN}>", f'![x](x "onerror={_RUN}")', f"[x]: javascript:{_RUN}\n[x]"),
    *(
        f'"><script>{_RUN}</script>',
        f"'><img src=x onerror={_RUN}>",
        f"--><script>{_RUN}</script>",
        f"]]><script>{_RUN}</script>",
    ),
    *(
        f"</title><script>{_RUN}</script>",
        f"</textarea><script>{_RUN}</script>",
        f"</style><script>{_RUN}</script>",
        f"</script><script>{_RUN}</script>",
    ),
    *(
        f'" onmouseover="{_RUN}',
        f"' onfocus='{_RUN}' autofocus='",
        f"`-{_RUN}-`",
        f"'-{_RUN}-'",
        f'\\"-{_RUN}//',
        f"${{{_RUN}}}",
        f"{{{{{_RUN}}}}}",
    ),
    *(
        f"&lt;script&gt;{_RUN}&lt;/script&gt;",
        f"&#60;script&#62;{_RUN}&#60;/script&#62;",
        f"\\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    ),
    *(
        f"%3Cscript%3E{_RUN}%3C/script%3E",
        f"<scr\0ipt>{_RUN}</scr\0ipt>",
        f"＜script＞{_RUN}＜/script＞",
        f'<math href="javascript:{_RUN}">x</math>',
    ),
    *(
        f"<style>@import '//evil.example/x.css'</style><xss style=\"animation:x\" onanimationstart={_RUN}>",
        "<link rel=stylesheet href=//evil.example/x.css>",
    ),
    *(
        "<img src=//evil.example/x.png>",
        "![x](https://evil.example/x.png)",
        "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    ),
    *(
        f"$\\href{{javascript:{_RUN}}}{{x}}$",
        f"$$\\unicode{{<img src=x onerror={_RUN}>}}$$",
        f":red[<img src=x onerror={_RUN}>]",
    ),
)
_AT_ONCE = 10
# What a payload would have become, had it been taken for more than text.
_ALIVE = """() => [...document.querySelectorAll('*')].filter(one => {
    const address = String(one.href?.baseVal ?? one.href ?? one.src ?? one.data ?? one.action ?? '');
    const said = one.getAttributeNames().filter(name => name.startsWith('on') || name === 'srcdoc');
    return /^(javascript|vbscript|data:text)/i.test(address) || /^https?:\\/\\/evil/.test(address)
        || said.some(name => one.getAttribute(name).includes('top.ran'));
}).map(one => one.outerHTML.slice(0, 150))"""
_QUIET = "() => !document.querySelector('[data-testid=stStatusWidget], [data-testid=stSkeleton], [data-stale=true]')"


def scripts(effort: Effort) -> Iterator[Tally]:
    """Fill a workspace with payloads, open every view of it and count what runs."""
    if not CHROMIUM.exists():
        yield Tally("views full of scripts (no Chromium here: apt-get install chromium)", 0)
        return
    alone = PAYLOADS[:: 6 if effort == "short" else 1]
    together = [" ".join(alone[at : at + _AT_ONCE]) for at in range(0, len(alone), _AT_ONCE)]
    with tempfile.TemporaryDirectory(prefix="sextant-harness-") as name:
        workspace = Path(name) / "workspace"
        views = _filled(workspace, together, alone)
        views = views[::4] if effort == "short" else views
        # In a thread of its own, for a browser test beside this one has a loop in the tests' own.
        with serving(workspace, Path(name) / "log") as address, ThreadPoolExecutor(1) as pool:
            lost = pool.submit(_all_opened, address, views).result()
    yield Tally(f"views of a workspace with {len(alone)} scripts in each field", len(views), tuple(lost))


def _all_opened(address: str, views: Sequence[str]) -> list[str]:
    """Open the views one after the other; return a sentence for each in which something came alive."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(BROWSER_FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        happened: list[str] = []
        page.on("dialog", lambda dialog: _dismissed(dialog, happened))
        page.on("request", lambda request: happened.append(f"asked {request.url}") if leaves(request.url) else None)
        lost = [f"{view}: {found}" for view in views if (found := _opened(page, f"{address}{view}", happened))]
        browser.close()
    return lost


def _dismissed(dialog: Dialog, happened: list[str]) -> None:
    happened.append(f"dialog {dialog.message!r}")
    dialog.dismiss()


def _opened(page: Page, url: str, happened: list[str]) -> str:
    """Open a view and everything in it that unfolds; return what is wrong with it, or ""."""
    happened.clear()
    page.goto(url)
    try:
        page.wait_for_function("() => document.body.textContent.includes('top.ran')", timeout=60_000)
        page.wait_for_function(_QUIET, timeout=60_000)
        page.evaluate("document.querySelectorAll('details:not([open]) > summary').forEach(one => one.click())")
        page.wait_for_function(_QUIET, timeout=60_000)
    except BrowserTimeout:
        return f"no payload was shown within a minute: {page.inner_text('body')[:300]!r}"
    ran, alive = page.evaluate("window.ran || 0"), page.evaluate(_ALIVE)
    found = [*happened, *([f"{ran} ran"] if ran else []), *(f"in the page: {one}" for one in alive)]
    return "; ".join(found[:3])


# --- the workspace


def _filled(workspace: Path, together: list[str], alone: Sequence[str]) -> list[str]:
    """Fill every field with payloads, several in each; return the addresses of the views."""
    folder = workspace.parent / "in"
    folder.mkdir()
    lines = []
    for number, text in enumerate(together):
        name = f"{number} {text}".replace("/", "∕").replace("\0", "").replace("\n", " ")[:90] + ".txt"
        # A text with a zero in it is no text; elsewhere it stays.
        words = f"{text}\n\nThe dyke number {number} was raised. {text}\n\n{text}".replace("\0", " ")
        (folder / name).write_text(words, encoding="utf-8")
        described = {
            **dict.fromkeys(("title", "authority", "description", "target", "notes", "licence"), text),
            "file": name,
            "language": "en",
            "document_type": "Report",
            "hazards": ["Flood"],
            "year": 2000 + number,
        }
        lines.append(json.dumps(described))
    (folder / "metadata.jsonl").write_text("\n".join(lines), encoding="utf-8")
    engine = open_engine(read_config(workspace))
    try:
        added = add_paths([folder], engine)
        assert {one.status for one in added} == {"indexed"}, added
        _named(engine, alone)
        return list(_kept(engine, together))
    finally:
        engine.close()


def _named(engine: Engine, alone: Sequence[str]) -> None:
    """Give every payload as a name: of a conversation, a saved search and a set of filters."""
    workspace, context = engine.config.workspace, open_context(engine, local_person())
    for payload in alone:
        name = " ".join(payload.split())[:60]
        id = store.new_id()
        store.end_turn(workspace, store.begin_turn(workspace, id, payload), REPLY)
        store.rename_conversation(workspace, id, name)
        save_search(workspace, name, PassageQuery(name))
        save_filters(context, name, {"hazard": ("Flood",)})


def _kept(engine: Engine, together: list[str]) -> Iterator[str]:
    workspace, context = engine.config.workspace, open_context(engine, local_person(together[0][:80]))
    documents = engine.collection.documents()
    yield "/library"
    yield from (f"/document?document={one.document_id}" for one in documents)
    notebook = create_notebook(workspace, together[0][:80])
    for number, (document, text) in enumerate(zip(documents, together, strict=True)):
        known, title = document.document_id, document.metadata.title
        citation = Citation(1, "", known, document.file, title, 1, text[:200], 0, min(200, len(text)))
        source = replace(SOURCE, document_id=known, file=document.file, title=title, text=text, passage=(100, 140))
        reply = replace(
            REPLY, text=f"{text} [Source 1].", sources=(source,), citations=(citation,), warnings=(Message(text),)
        )
        id = store.new_id()
        ended = store.end_turn(workspace, store.begin_turn(workspace, id, text), reply)
        assert ended is not None
        store.rate_turn(workspace, id, ended.turns[0].asked, TurnRating(False, text))
        yield f"/?conversation={id}"
        for entry in (answer_entry(id, ended.turns[0]), passage_entry(text, citation)):
            change_notebook(
                workspace, notebook.id, partial(_with, entry=entry, note=text, tags=tuple(text.split()[:5]))
            )
        _source(context.store, f"XSS{number:03}", text)
    yield f"/notebook?notebook={notebook.id}"
    change_test_questions(workspace, lambda _before: [_question(number, one) for number, one in enumerate(together)])
    yield f"/search?words={quote('dyke was raised')}"
    yield f"/search?words={quote(together[0][:90])}"
    yield from (f"/admin?tab={tab}" for tab in ("sources", "review", "feedback"))
    yield "/admin?tab=sources&source=XSS000"
    yield "/evaluation"
    yield from compared(engine, together)
    yield from administered(engine, together)


def _with(notebook: Notebook, entry: NotebookEntry, note: str, tags: tuple[str, ...]) -> Notebook:
    return with_note(with_entry(notebook, entry), entry.id, note, tags)


def _source(sources: SourceStore, code: str, text: str) -> None:
    """Add a source whose licence waits for a decision."""
    mark = LicenceMark("pattern", "YELLOW", text, 12, text, text)
    verdict = LicenceVerdict("YELLOW", text, (mark,))
    sources.add([ListedSource(code, f"https://example.org/{code}", "", text, text, text, text, "", Message(text))])
    outcome = Outcome("refused", "licence_unclear", Message(text), verdict)
    sources.record(code, "licence", outcome, fingerprint="f", seconds=0.1)


def _question(number: int, text: str) -> AnswerQuestion:
    return AnswerQuestion(f"own-{number}", "en", "", text, "", (), ())
