"""The pages over a collection that another process is writing or rebuilding."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ingestion.jobs.queue import JobQueue
from ingestion.types.run import Progress
from pages._shared import resources
from rag_engine.errors import WorkspaceError
from rag_engine.processes.writer_lock import find_writer
from tests.conftest import ROOT
from tests.pages.conftest import Start
from tests.pages.test_ask import answered
from tests.pages.test_interface_language import browser
from tests.present import present

QUESTION = "How long does a local flood plan remain valid?"
_WRITING = """
import sys
from pathlib import Path
from rag_engine.processes.writer_lock import write_lock
with write_lock(Path(sys.argv[1])):
    print("writing", flush=True)
    sys.stdin.read()
"""

# A worker at a rebuilding, which stops in its midst until its input ends.
_REBUILDING = """
import sys
from contextlib import closing
from pathlib import Path
from ingestion import worker
from rag_engine.config import read_config
from rag_engine.engine import open_engine

def pausing(pulse, stoppable=worker._stoppable):
    move, paused = stoppable(pulse), []
    def moved(done, total, name):
        move(done, total, name)
        if done and not paused:
            paused.append(done)
            print("writing", flush=True)
            sys.stdin.read()
    return moved

worker._stoppable = pausing
with closing(open_engine(read_config(Path(sys.argv[1])))) as engine:
    worker.work(engine)
"""


@contextmanager
def another(workspace: Path, code: str = _WRITING) -> Iterator[subprocess.Popen[str]]:
    """Yield another process once it has begun to write the collection; its input ends afterwards."""
    command = [sys.executable, "-c", code, str(workspace)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert present(process.stdout).readline() == "writing\n"
        yield process
        present(process.stdin).close()


def captions(app: AppTest) -> str:
    return "\n".join(one.value for one in app.caption).replace("\\", "")


def chips(app: AppTest, turn: int) -> str:
    return [one.value for one in app.markdown if "-badge[" in one.value and "document" in one.value][turn]


def test_questions_are_answered_while_another_process_writes(start: Start, own: Path) -> None:
    with another(own) as process:
        app = start(own)
        assert "The collection is being changed, since" in captions(app)
        assert f"(process {process.pid})" in captions(app)
        app = answered(app.chat_input[0].set_value(QUESTION).run())
        assert not app.exception
        assert not app.error
        assert any("six years" in one.value for one in app.markdown)
    app = answered(app.chat_input[0].set_value(QUESTION).run())
    assert "The collection is being changed" not in captions(app)
    # What the first of the two was asked of, kept with it.
    assert ["While the collection was being changed" in chips(app, turn) for turn in (0, 1)] == [True, False]


def test_a_question_before_an_addition_has_begun_says_so_beside_its_documents(start: Start, own: Path) -> None:
    app = start(own)
    resources.jobs().queue("add", {"paths": []})
    app = answered(app.chat_input[0].set_value(QUESTION).run())

    assert not app.exception
    assert "While the collection was being changed" in chips(app, 0)


def test_a_writer_that_was_killed_is_none_any_more(own: Path) -> None:
    with another(own) as process:
        assert find_writer(own) is not None
        process.kill()
    assert (own / "writer.json").exists()
    assert find_writer(own) is None


@pytest.mark.parametrize("page", ["library", "admin"])
def test_the_library_and_the_admin_page_work_and_say_who_writes(start: Start, own: Path, page: str) -> None:
    with another(own) as process:
        app = start(own).switch_page(f"pages/{page}.py").run()
        assert not app.exception
        assert not app.error
        assert f"(process {process.pid})" in captions(app)


def test_an_addition_that_waits_for_the_writer_says_so_in_the_language(
    start: Start, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser(monkeypatch, "fr-FR")
    app = start(own)
    waits = WorkspaceError(
        "Workspace {workspace} is being written by process {process} since {since}.",
        help="Wait until it is done, or stop it.",
        workspace=own,
        process=4121,
        since="14:02:11",
    ).message
    queue = JobQueue(resources.engine().catalog)
    queue.queue("add", {"paths": ["plan.pdf"]})
    job = present(queue.next())
    queue.beat(job.id, Progress(0, 0, 0, 0, waits))

    app.switch_page("pages/library.py").run()

    assert not app.exception
    assert f"L’espace de travail {own} est en cours d’écriture par le processus 4121" in captions(app)
    assert "Attendez qu’il ait terminé, ou arrêtez-le." in captions(app)


def test_the_old_index_answers_while_a_new_one_is_made(start: Start, own: Path) -> None:
    app = start(own)
    catalog, generation = resources.engine().catalog, resources.engine().collection.generation
    before = generation()
    job = JobQueue(catalog).queue("rebuild", {"encode": False})
    with another(own, _REBUILDING) as process:
        app = answered(app.chat_input[0].set_value(QUESTION).run())
        assert not app.error
        assert any("six years" in one.value for one in app.markdown)
        for page in ("library", "admin"):
            app.switch_page(f"pages/{page}.py").run()
            assert not app.exception
            assert f"(process {process.pid})" in captions(app)
        app.switch_page("pages/library.py").run()
        assert any("Rebuilding the indexes" in one.value for one in app.markdown)
        assert generation() == before

        present(process.stdin).close()
        assert process.wait(60) == 0
    done = present(JobQueue(catalog).find(job))
    assert done.status == "done"
    assert generation() != before
    app = answered(app.switch_page("pages/ask.py").run().chat_input[0].set_value(QUESTION).run())
    assert not app.error
    assert any("six years" in one.value for one in app.markdown)
