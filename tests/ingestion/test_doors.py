"""Every act of a person leaves the same state behind through every door."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import streamlit as st
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from cli.main import app as terminal
from ingestion import workspace as folders
from ingestion.acts import corrections, dataset, decisions, documents, evaluation, indexes, jobs, runs, sources
from ingestion.acts.context import ActContext, local_person, open_context
from ingestion.records.source_store import SourceStore
from ingestion.types.licence import LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.run import RunRequest
from ingestion.types.source import ListedSource
from ingestion.worker import work
from pages._shared import resources
from rag_engine.config import Config, read_config
from rag_engine.conversations.store import Conversation, Turn, TurnRating, restore_conversation
from rag_engine.engine import Engine
from rag_engine.messages import Message
from tests.conftest import ROOT
from tests.ingestion.left_behind import State, state_of
from tests.ingestion.web_server import page as answer
from tests.ingestion.web_server import serving
from tests.portal.texts import DROUGHT, FLOOD, HEAT
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.conversations.test_store import REPLY

WHY, ADA = "It was agreed by letter.", "Ada"


@dataclass
class Doors:
    """A prepared workspace and the doors to it; every act begins with a copy of it."""

    prepared: Path
    folder: Path
    start: Callable[[Path], AppTest]
    uploads: list[Path] = field(default_factory=list)
    uploader: str = ""

    def through(self, door: str, act: Act) -> State:
        """Carry out the act through the door and return the state of the workspace after it."""
        workspace = self.folder / "workspace"
        shutil.rmtree(workspace, ignore_errors=True)
        shutil.copytree(self.prepared, workspace)
        if act.before is not None:
            with closing(_engine(read_config(workspace))) as engine:
                act.before(_context(engine))
        if door == "terminal":
            result = CliRunner().invoke(terminal, [*act.terminal, "--workspace", str(workspace)])
            assert result.exit_code == 0, result.output
        elif door == "page":
            assert act.page is not None
            self.uploads[:], self.uploader = act.uploads, ""
            ended = act.page(self.start(workspace))
            assert not ended.exception, ended.exception
            assert not ended.error, [one.value for one in ended.error]
            resources.engine().close()
        else:
            assert act.worker is not None
            with closing(_engine(read_config(workspace))) as engine:
                act.worker(_context(engine))
        with closing(_engine(read_config(workspace))) as engine:
            # What a door queued is carried out, whichever way it started its worker.
            work(engine)
            return state_of(workspace, engine)


@dataclass(frozen=True)
class Act:
    """One thing a person may ask, as each door is asked for it.

    `uploads` are the files handed to the page; `before` is done to the workspace first, whichever the door.
    """

    terminal: Sequence[str] = ()
    page: Callable[[AppTest], AppTest] | None = None
    worker: Callable[[ActContext], object] | None = None
    uploads: Sequence[Path] = ()
    before: Callable[[ActContext], object] | None = None


class _Upload(io.BytesIO):
    """A file as Streamlit hands it over."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.read_bytes())
        self.name, self.file_id = path.name, str(path)


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """Yield four documents, one of the library; A4 waits for a decision, A5 was refused, A6 failed."""
    folder = tmp_path_factory.mktemp("doors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEXTANT_USER", ADA)
        patch.setenv("SEXTANT_HOST_SECONDS", "0")
        patch.setattr("rag_engine.engine.open_engine", _engine)
        patch.setattr("pages._shared.resources.open_engine", _engine)
        # By its own name, and before the other: imported while that is replaced, it would stay replaced for good.
        patch.setattr("pages._shared.jobs.ensure_worker", _work_here)
        patch.setattr("ingestion.jobs.process.ensure_worker", _work_here)
        patch.setattr("pages._library.erasure.UNDO_SECONDS", 0)
        patch.setattr("pages._admin.sources.UNDO_SECONDS", 0)
        # Looked for in the background, they would open a workspace that is removed meanwhile.
        patch.setattr("rag_engine.passage_search.example_questions.find_examples", lambda *_: ())
        patch.setattr(ActContext.__init__, "__defaults__", (_work_here,))
        prepared = folder / "prepared"
        _prepare(prepared, folder)

        def start(workspace: Path) -> AppTest:
            patch.setenv("SEXTANT_WORKSPACE", str(workspace))
            st.cache_resource.clear()
            st.cache_data.clear()
            return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()

        doors = Doors(prepared, folder, start)

        def uploader(label: str, *, key: str, accept_multiple_files: bool = False, **_: object) -> object:
            wanted = _takes(label, doors.uploads)
            doors.uploader = doors.uploader or (key if wanted else "")
            # A widget of another key is empty, as after the files were handed on.
            given = [_Upload(path) for path in doors.uploads] if wanted and key == doors.uploader else []
            return given if accept_multiple_files else given[0] if given else None

        patch.setattr(st, "file_uploader", uploader)
        yield doors
    st.cache_resource.clear()
    st.cache_data.clear()


def _takes(label: str, files: Sequence[Path]) -> bool:
    """Return whether the uploader of this label is the one that the files are for."""
    labels = {
        ".csv": ("Source list", "Index table"),
        ".jsonl": ("Questions",),
        ".md": ("Files to add",),
        ".txt": ("Your own documents",),
        ".xlsx": ("The workbook",),
    }
    return any(label.startswith(labels[path.suffix]) for path in files)


def _engine(config: Config) -> Engine:
    return Engine(config, embedder=CountingEmbedder())


def _context(engine: Engine) -> ActContext:
    return replace(open_context(engine, local_person()), start_worker=lambda _: None)


def _work_here(workspace: Path) -> None:
    """Carry out what is queued in this process, where a door would start another, unless a worker is busy."""
    with folders.work_lock(workspace) as mine, closing(_engine(read_config(workspace))) as engine:
        if mine:
            work(engine)


def _prepare(workspace: Path, folder: Path) -> None:
    plans = folder / "plans"
    plans.mkdir()
    for number, text in enumerate((FLOOD, HEAT, DROUGHT), start=1):
        (plans / f"plan{number}.md").write_text(f"# {text.plain}", encoding="utf-8")
    (folder / "own.md").write_text("# Rules of the harbour\n\nThe harbour master keeps the rules. " * 20, "utf-8")
    (folder / "more.md").write_text("# Rules of the marina\n\nThe marina keeps other rules. " * 20, "utf-8")
    (folder / "bay.txt").write_text("Rules of the bay\n\nThe bay has rules of its own. " * 20, "utf-8")
    question = '{"id": "1", "language": "en", "question": "Who keeps the rules?"}'
    (folder / "questions.jsonl").write_text(question, encoding="utf-8")
    (folder / "terms.csv").write_text("Term,Pages,File\nHarbour master,1,own.md\n", encoding="utf-8")
    (folder / "more.csv").write_text("code,url\nB1,https://example.org/b1.pdf\n", encoding="utf-8")
    with closing(_engine(read_config(workspace))) as engine:
        context = _context(engine)
        for path in sorted(plans.iterdir()):
            context.store.add([ListedSource(f"A{path.stem[-1]}", path=str(path), origin=Message("by hand"))])
        documents.add_files(context, [folder / "own.md"])
        runs.run(context, RunRequest())
        work(engine)
        assert len(engine.collection.documents()) == 4, engine.collection.documents()
        _put(
            context.store,
            "A4",
            "licence",
            Outcome("refused", "licence_unclear", Message(), LicenceVerdict("YELLOW", "", ())),
        )
        _put(context.store, "A5", "quality", Outcome("refused", "too_few_pages", Message("It is short.")))
        _put(context.store, "A6", "extraction", Outcome("failed", "too_slow", Message("It took too long."), None, True))
        context.jobs.queue("run", {"phases": ["licence"], "codes": ["A1"]})
        context.jobs.pause(context.jobs.latest()[0].id)
        dataset.export_dataset(context, folder / "dataset.xlsx")
    book = load_workbook(folder / "dataset.xlsx")
    header = [cell.value for cell in book.worksheets[0][1]]
    book.worksheets[0].cell(2, header.index("Description") + 1).value = "What a person wrote."
    beside = book["Not documents"]
    places = {cell.value: place for place, cell in enumerate(beside[1], start=1)}
    row = next(cells[0].row for cells in beside.iter_rows(min_row=2) if cells[0].value == "A4")
    beside.cell(row, places["Licence Decision"]).value = "GREEN"
    beside.cell(row, places["Decision Note"]).value = WHY
    book.save(folder / "dataset.xlsx")


def _put(store: SourceStore, code: str, phase: str, outcome: Outcome) -> None:
    store.add([ListedSource(code, f"https://example.org/{code}.pdf", title=f"Plan {code}")])
    done = store.records()["A1"].outcomes
    for earlier in ("licence", "acquisition", "portals", "extraction"):
        if earlier == phase:
            break
        evidence = done[earlier].evidence
        if earlier == "acquisition":
            evidence = replace(evidence, path=f"downloads/{code}_plan.md", sha256=code * 32)  # type: ignore[type-var]
        store.record(code, earlier, replace(done[earlier], evidence=evidence), fingerprint="f")
    store.record(code, phase, outcome, fingerprint="f")


# --- the pages


def _admin(app: AppTest, tab: str, **query: str) -> AppTest:
    app.switch_page("pages/admin.py")
    app.query_params["tab"] = tab
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def _click(app: AppTest, label: str) -> AppTest:
    return next(one for one in app.button if one.label.startswith(label)).click().run()


def _review(button: str, note: str = WHY) -> Callable[[AppTest], AppTest]:
    def act(app: AppTest) -> AppTest:
        app = _admin(app, "review")
        app.text_input(key="review A4 note").set_value(note)
        return app.button(key=f"review A4 {button}").click().run()

    return act


def _restore(code: str) -> Callable[[AppTest], AppTest]:
    def act(app: AppTest) -> AppTest:
        app = _admin(app, "quarantine")
        app.text_input(key=f"restore {code} note").set_value(WHY)
        return app.button(key=f"restore {code}").click().run()

    return act


def _delete(source: str) -> Callable[[AppTest], AppTest]:
    def act(_app: AppTest) -> AppTest:
        dialog = AppTest.from_function(_draw_deletion, args=(source,), default_timeout=60).run()
        if source.startswith("list:"):
            dialog.text_input(key="delete note").set_value(WHY)
        return dialog.button(key="delete confirmed").click().run()

    return act


# A dialog cannot be clicked in this test bed: its function is drawn as a page of its own.
def _draw_deletion(source: str) -> None:
    import inspect

    from pages._library.erasure import confirm_deletion
    from pages._shared import resources

    for document in resources.engine().collection.documents():
        if document.source.endswith(source):
            inspect.unwrap(confirm_deletion)([document])


def _draw_removal(code: str) -> None:
    import inspect

    from pages._admin.sources import _confirm
    from pages._shared import resources

    if code in resources.records():
        inspect.unwrap(_confirm)([code])


def _remove(_app: AppTest) -> AppTest:
    dialog = AppTest.from_function(_draw_removal, args=("A2",), default_timeout=60).run()
    return dialog.button(key="remove confirmed").click().run()


def _date_of_a2(app: AppTest) -> AppTest:
    app = _admin(app, "metadata")
    app.selectbox(key="values document").set_value("A2").run()
    return app.selectbox(key="values field").set_value("date").run()


def _correct(app: AppTest) -> AppTest:
    app = _date_of_a2(app)
    value = next(one for one in app.text_input if "value" in str(one.key) and str(one.key).startswith("correct A2"))
    value.set_value("2021-06")
    next(one for one in app.text_input if str(one.key).endswith("note") and "correct A2" in str(one.key)).set_value(WHY)
    return app.button(key="save correction").click().run()


def _press(tab: str, key: str) -> Callable[[AppTest], AppTest]:
    return lambda app: _admin(app, tab).button(key=key).click().run()


def _add_list(app: AppTest) -> AppTest:
    return _click(_admin(app, "sources"), "Add 1 source")


def _add_own(app: AppTest) -> AppTest:
    return _click(_admin(app, "sources"), "Add document")


def _adding(app: AppTest) -> AppTest:
    app.session_state["library adding"] = True
    return app.switch_page("pages/library.py").run()


def _upload_version(app: AppTest) -> AppTest:
    app = _adding(app)
    replaces = app.selectbox(key="upload replaces")
    replaces.set_value(next(one for one in replaces.options if "own.md" in one)).run()
    return _click(app, "Add to")


def _upload(app: AppTest) -> AppTest:
    return _click(_adding(app), "Add to")


def _evaluation(app: AppTest) -> AppTest:
    return app.switch_page("pages/evaluation.py").run()


def _rate(context: ActContext) -> None:
    """Leave an answer that was rated as good."""
    turn = Turn("How long?", "2026-11-25T10:00:00", REPLY, rating=TurnRating(good=True))
    restore_conversation(context.workspace, Conversation("0" * 32, (turn,)))


# --- the acts

_DECIDE = ("--note", WHY, "--by", ADA)


def _acts(folder: Path) -> dict[str, Act]:
    def by_queue(context: ActContext) -> None:
        documents.queue_files(context, [folder / "more.md"])

    return {
        "add a file": Act(["add", str(folder / "more.md")], None, by_queue),
        "add an upload": Act(
            (),
            _upload,
            lambda context: documents.queue_uploads(
                context, [("more.md", io.BytesIO((folder / "more.md").read_bytes()))]
            ),
            [folder / "more.md"],
        ),
        "erase a document of the list": Act(
            ["erase", "list:A2", *_DECIDE],
            _delete("list:A2"),
            lambda context: documents.queue_erasure(context, ["list:A2"], ADA, WHY),
        ),
        "erase another document": Act(
            ["erase", "own.md"], _delete("own.md"), lambda context: documents.queue_erasure(context, ["own.md"])
        ),
        "approve a licence": Act(
            ["review", "A4", "GREEN", *_DECIDE],
            _review("green"),
            lambda context: decisions.decide(context, ["A4"], "GREEN", ADA, WHY),
        ),
        "reject a licence": Act(
            ["review", "A4", "RED", *_DECIDE],
            _review("red"),
            lambda context: decisions.decide(context, ["A4"], "RED", ADA, WHY),
        ),
        "restore a source": Act(
            ["review", "A5", "restore", *_DECIDE],
            _restore("A5"),
            lambda context: decisions.decide(context, ["A5"], "restore", ADA, WHY),
        ),
        "remove a source": Act(
            ["sources", "remove", "A2", "--by", ADA],
            _remove,
            lambda context: sources.remove_sources(context, ["A2"], ADA),
        ),
        "correct a field": Act(
            ["correct", "A2", "date=2021-06", *_DECIDE],
            _correct,
            lambda context: corrections.correct(context, {"A2": {"date": ["2021-06"]}}, ADA, WHY),
        ),
        "import corrections": Act(
            ["import", str(folder / "dataset.xlsx"), "--by", ADA],
            _press("dataset", "apply"),
            lambda context: corrections.import_corrections(context, folder / "dataset.xlsx", ADA),
            [folder / "dataset.xlsx"],
        ),
        "add a list": Act(
            ["sources", "add", str(folder / "more.csv")],
            _add_list,
            lambda context: sources.add_list(context, folder / "more.csv"),
            [folder / "more.csv"],
        ),
        "add own documents": Act(
            (),
            _add_own,
            lambda context: sources.add_own_files(
                context, [("bay.txt", io.BytesIO((folder / "bay.txt").read_bytes()))]
            ),
            [folder / "bay.txt"],
        ),
        "replace a document by a file": Act(
            ["add", str(folder / "more.md"), "--replaces", "own.md"],
            None,
            lambda context: documents.queue_files(context, [folder / "more.md"], replaces="own.md"),
        ),
        "replace a document by an upload": Act(
            (),
            _upload_version,
            lambda context: documents.queue_uploads(
                context, [("more.md", io.BytesIO((folder / "more.md").read_bytes()))], replaces="own.md"
            ),
            [folder / "more.md"],
        ),
        "undo a decision": Act(
            ["review", "A4", "undo", "--by", ADA],
            _press("review", "undo A4"),
            lambda context: decisions.decide(context, ["A4"], "undo", ADA),
            before=lambda context: decisions.decide(context, ["A4"], "GREEN", ADA, WHY),
        ),
        "undo a correction": Act(
            ["correct", "A2", "date", "--undo", "--by", ADA],
            lambda app: _date_of_a2(app).button(key="undo correction").click().run(),
            lambda context: corrections.undo(context, ["A2"], ADA, "date"),
            before=lambda context: corrections.correct(context, {"A2": {"date": ["2021-06"]}}, ADA, WHY),
        ),
        "rebuild the indexes": Act(["rebuild"], _press("run", "rebuild"), indexes.rebuild),
        "accept an index that waits": Act(
            ["rebuild", "--accept"],
            _press("run", "accept index"),
            indexes.accept_index,
            before=lambda context: context.engine.rebuild(encode=True, check=lambda _: False),
        ),
        "discard an index that waits": Act(
            ["rebuild", "--discard"],
            _press("run", "discard index"),
            indexes.discard_index,
            before=lambda context: context.engine.rebuild(encode=True, check=lambda _: False),
        ),
        "apply an index table": Act(
            ["index-table", str(folder / "terms.csv"), "--apply"],
            _press("knowledge", "apply table"),
            lambda context: documents.apply_index_table(context, folder / "terms.csv"),
            [folder / "terms.csv"],
        ),
        "remove an index table": Act(
            ["index-table", str(folder / "terms.csv"), "--remove"],
            _press("knowledge", "remove table terms.csv now"),
            lambda context: documents.remove_index_table(context, "terms.csv"),
            before=lambda context: documents.apply_index_table(context, folder / "terms.csv"),
        ),
        "keep good answers as test questions": Act(
            ["eval", "own", "keep-good"],
            lambda app: _evaluation(app).button(key="keep good").click().run(),
            evaluation.keep_good_answers,
            before=_rate,
        ),
        "import test questions": Act(
            ["eval", "own", "import", str(folder / "questions.jsonl")],
            lambda app: _evaluation(app).button(key="import").click().run(),
            lambda context: evaluation.import_questions(context, folder / "questions.jsonl"),
            [folder / "questions.jsonl"],
        ),
        "run a phase": Act(["run", "quality"], None, lambda context: runs.run(context, RunRequest(("quality",)))),
        "retry": Act(
            ["retry"],
            # The workspace has a run that is paused: the page asks before it queues another.
            lambda app: _press("run", "run failed")(app).button(key="second run queue").click().run(),
            lambda context: runs.run(context, RunRequest(which="failed")),
        ),
    }


_NAMES = tuple(_acts(Path()))


@pytest.mark.parametrize("name", _NAMES)
def test_an_act_leaves_the_same_behind_through_every_door(doors: Doors, name: str) -> None:
    act = _acts(doors.folder)[name]
    given = [("worker", act.worker), ("terminal", act.terminal), ("page", act.page)]
    states = {door: doors.through(door, act) for door, way in given if way}
    assert len(states) > 1
    first, *others = states.values()
    for other in others:
        assert other.rows.keys() == first.rows.keys()
        for table, rows in first.rows.items():
            assert other.rows[table] == rows, table
        assert other.files == first.files
        assert (other.dense, other.sparse) == (first.dense, first.sparse)
    assert first.dense == first.sparse


def test_a_discovery_proposes_the_same_in_every_door(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    items = "".join(f"<item><title>Plan {n}</title><link>https://example.org/{n}</link></item>" for n in range(3))
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Plans</title>{items}</channel></rss>'
    with serving({"/feed": answer(feed, "application/rss+xml")}) as site:
        monkeypatch.setenv("SEXTANT_INTRANET", f"127.0.0.1:{site.port}")
        address = site.url("/feed")

        def by_page(app: AppTest) -> AppTest:
            app = _admin(app, "sources")
            next(one for one in app.text_input if one.label.startswith("Address of a feed")).set_value(address)
            _click(app, "Find sources")
            return app.button(key="accept").click().run()

        act = Act(
            ["sources", "discover", address, "--accept"],
            by_page,
            lambda context: sources.add_sources(context, sources.discover_sources(context, address).new),
        )
        states = [doors.through(door, act) for door in ("worker", "terminal", "page")]
    assert states[0] == states[1] == states[2]


def test_a_dataset_is_the_same_in_every_door(doors: Doors, tmp_path: Path) -> None:
    asked: dict[str, Callable[[], bytes]] = {}

    def download(_label: str, data: Callable[[], bytes], name: str, *_: object, **__: object) -> None:
        asked[Path(name).suffix] = data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "download_button", download)
        doors.start(doors.prepared)
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
        assert not _admin(app, "dataset").exception
        written = {suffix: data() for suffix, data in asked.items() if suffix in (".jsonl", ".bib", ".ris")}
    resources.engine().close()
    assert len(written) == 3
    for suffix, on_page in written.items():
        file = tmp_path / f"dataset{suffix}"
        result = CliRunner().invoke(terminal, ["export", str(file), "--workspace", str(doors.prepared)])
        assert result.exit_code == 0, result.output
        assert file.read_bytes() == on_page


@pytest.mark.parametrize("what", ["pause", "resume", "cancel"])
def test_a_job_is_controlled_alike_in_every_door(doors: Doors, what: jobs.Control) -> None:
    statuses = []

    def note(context: ActContext) -> None:
        statuses.append([(one.status, one.message, one.signal) for one in context.jobs.latest()])

    for door in ("worker", "terminal", "page"):
        with ExitStack() as busy:

            def wait(context: ActContext, busy: ExitStack = busy) -> None:
                """Leave a run in the queue of a worker that is busy with another."""
                context.jobs.queue("run", {"phases": ["licence"], "codes": ["A2"]})
                assert busy.enter_context(folders.work_lock(context.workspace))

            act = Act(
                [what],
                lambda app: _admin(app, "run").button(key=f"{what} {resources.jobs().latest()[0].id}").click().run(),
                lambda context: jobs.control(context, what),
                before=wait if what == "pause" else None,
            )
            doors.through(door, act)
        with closing(_engine(read_config(doors.folder / "workspace"))) as engine:
            note(_context(engine))
    assert statuses[0] == statuses[1] == statuses[2]


def test_an_erased_source_takes_its_own_files_and_no_others(doors: Doors, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    shutil.copytree(doors.prepared, workspace)
    with closing(_engine(read_config(workspace))) as engine:
        context = _context(engine)
        one = context.store.records()["A1"].download
        assert one is not None
        for code in ("A1_1", "A1_x"):
            (workspace / f"downloads/{code}_plan.md").write_text(f"The plan of {code}.")
            context.store.add([ListedSource(code, f"https://example.org/{code}")])
            download = replace(one, path=f"downloads/{code}_plan.md", sha256=code * 10)
            context.store.record(code, "acquisition", Outcome("done", "", Message(), download), fingerprint="f")
        documents.erase(context, "list:A1", ADA, WHY)
        assert not (workspace / one.path).exists()
        assert sorted(path.name for path in (workspace / "downloads").glob("A1*")) == ["A1_1_plan.md", "A1_x_plan.md"]
        runs.run(context, RunRequest())
        work(engine)
        assert "list:A1" not in {document.source for document in engine.collection.documents()}
