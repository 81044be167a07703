"""Pages are drawn with their marks, in processes that no page can take from the others."""

import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import wait
from pathlib import Path

import numpy as np
import psutil  # type: ignore[import-untyped]
import pymupdf
import pytest
from numpy.typing import NDArray

from rag_engine.backends.drawing.page_cache import PageCache
from rag_engine.backends.drawing.page_renderer import PageRenderer
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.types.document import Box
from tests.conftest import ROOT


def page_of_shadings(count: int = 20_000) -> bytes:
    """Return a PDF of less than 1.5 KB whose page takes minutes to draw."""
    content = zlib.compress(b"/S sh\n" * count, 9)
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Shading<</S<</ShadingType 3"
        b"/ColorSpace/DeviceRGB/Coords[300 400 0 300 400 500]/Extend[true true]/Function<</FunctionType 2/Domain[0 1]"
        b"/C0[1 0 0]/C1[0 0 1]/N 1>>>>>>>>>>endobj\n"
        b"4 0 obj<</Filter/FlateDecode/Length %d>>stream\n%b\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF"
        % (len(content), content)
    )


@pytest.fixture(scope="module")
def renderer() -> Iterator[PageRenderer]:
    """Yield a renderer with its everyday limits."""
    renderer = PageRenderer()
    yield renderer
    renderer.close()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Return a page of A4 with one line of text, and a page a hundred times as tall as wide."""
    with pymupdf.open() as document:
        document.new_page(width=595, height=842).insert_text((100, 200), "The dyke was raised in 1953.", fontsize=12)
        document.new_page(width=50, height=5000)
        document.save(tmp_path / "report.pdf")
    return tmp_path / "report.pdf"


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Return a page of less than 1.5 KB that takes minutes to draw."""
    (tmp_path / "endless.pdf").write_bytes(page_of_shadings())
    return tmp_path / "endless.pdf"


def picture(png: bytes) -> NDArray[np.uint8]:
    pixmap = pymupdf.Pixmap(png)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)


def test_the_marked_passage_is_washed_and_its_text_stays_black(renderer: PageRenderer, report: Path) -> None:
    line = Box(100, 188, 260, 204)
    plain = picture(renderer.page(report, 1, [], width=595).result())
    marked = picture(renderer.page(report, 1, [line], width=595).result())
    assert marked.shape[1] == 595
    inside = (slice(189, 203), slice(101, 259))
    assert not (marked[inside] == 255).all(axis=-1).any()
    assert marked[inside].min() <= plain[inside].min() < 60
    assert np.array_equal(marked[:180], plain[:180])


def test_the_quote_is_marked_more_strongly_than_the_passage(renderer: PageRenderer, report: Path) -> None:
    drawing = renderer.page(report, 1, [Box(100, 150, 260, 204)], [Box(100, 150, 260, 170)], width=595)
    marked = picture(drawing.result())
    assert marked[160, 180, 2] < marked[180, 180, 2] < 255


def test_a_mark_beyond_the_edge_of_the_page_is_clipped(renderer: PageRenderer, report: Path) -> None:
    drawing = renderer.page(report, 1, [Box(-50, -50, 700, 20)], [Box(500, 830, 900, 900)], width=595)
    marked = picture(drawing.result())
    assert marked[5, 5, 2] < 255
    assert marked[835, 550, 2] < 255


def test_a_page_of_extreme_shape_does_not_become_a_huge_picture(renderer: PageRenderer, report: Path) -> None:
    marked = picture(renderer.page(report, 2, [Box(0, 0, 50, 5000)]).result())
    assert marked.shape[0] * marked.shape[1] <= 4_100_000


def test_a_missing_page_and_a_damaged_file_are_reported(renderer: PageRenderer, report: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Page 3 of report\.pdf.*pages 1 to 2"):
        renderer.page(report, 3, []).result()
    (tmp_path / "broken.pdf").write_bytes(b"not a pdf")
    for name in ("broken.pdf", "gone.pdf"):
        with pytest.raises(WorkspaceError, match=name):
            renderer.page(tmp_path / name, 1, []).result()


def test_a_file_with_a_password_is_reported(renderer: PageRenderer, report: Path, tmp_path: Path) -> None:
    with pymupdf.open(report) as document:
        document.save(tmp_path / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    with pytest.raises(WorkspaceError, match=r"locked\.pdf asks for a password"):
        renderer.page(tmp_path / "locked.pdf", 1, []).result()


@pytest.mark.parametrize("children", [b"3 0 R", b"3 0 R 2 0 R"], ids=["a page is missing", "the pages go in a circle"])
def test_a_page_that_cannot_be_read_is_reported_like_a_damaged_file(
    renderer: PageRenderer, tmp_path: Path, children: bytes
) -> None:
    claims_two = (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 2/Kids[%b]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF" % children
    )
    (tmp_path / "claims.pdf").write_bytes(claims_two)
    with pytest.raises(WorkspaceError, match=r"Page 2 of claims\.pdf cannot be drawn.*Add the document again"):
        renderer.page(tmp_path / "claims.pdf", 2, []).result()


def test_pages_are_drawn_alike_by_many_processes_at_once(renderer: PageRenderer, report: Path) -> None:
    line = [Box(100, 188, 260, 204)]
    alone = picture(renderer.page(report, 1, line, width=200).result())
    sheet = picture(renderer.text("The dyke. " * 50, [(0, 9)], width=200).result())
    pages = [renderer.page(report, 1, [*line, Box(0, 0, 1, n + 1)], width=200) for n in range(20)]
    sheets = [renderer.text("The dyke. " * 50, [(0, 9 + n)], width=200) for n in range(20)]
    assert all(np.array_equal(picture(one.result())[20:], alone[20:]) for one in pages)
    assert {picture(one.result()).shape for one in sheets} == {sheet.shape}


def test_a_plain_sheet_marks_the_passage_and_grows_with_its_text(renderer: PageRenderer) -> None:
    text = "The dyke was raised. " * 40
    short, long = (
        picture(renderer.text(part, [(0, 60)], [(10, 30)], width=600).result()) for part in (text[:100], text)
    )
    assert long.shape[0] > short.shape[0]
    colours = {tuple(int(share) for share in colour) for colour in long.reshape(-1, 3)[::7]}
    assert (255, 255, 255) in colours
    assert any(blue < 200 < green for _, green, blue in colours)


@pytest.mark.parametrize(
    "text", ["", "</p></body><img src='file:///etc/passwd'><script>x</script>", "a\x00b\x0c&lt;", "ğüşöç عربي 中文"]
)
def test_any_text_can_be_drawn_and_none_of_it_is_markup(renderer: PageRenderer, text: str) -> None:
    drawn = picture(renderer.text(text, [(0, len(text))], width=400).result())
    assert drawn.shape[1] == 400


def test_markup_takes_the_room_of_its_letters(renderer: PageRenderer) -> None:
    table = "<table><tr><td>" + "dyke " * 60 + "</td></tr></table>"
    plain = table.replace("<", "(").replace(">", ")")
    drawn = renderer.text(table, [], width=400).result()
    assert drawn[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture(drawn).shape == picture(renderer.text(plain, [], width=400).result()).shape


def test_a_turned_page_is_marked_where_it_is_drawn(renderer: PageRenderer, tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=300)
        page.insert_text((50, 100), "The dyke was raised.")
        page.set_rotation(90)
        line = pymupdf.Rect(page.get_text("words")[0][:4]) * page.rotation_matrix
        document.save(tmp_path / "turned.pdf")
    box = Box(*line)
    marked = picture(renderer.page(tmp_path / "turned.pdf", 1, [box], width=300).result())
    assert marked.shape[:2] == (400, 300)
    inside = marked[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
    assert inside.min() < 100
    assert not (inside == 255).all(axis=-1).any()


def test_a_page_that_takes_minutes_is_given_up_and_nobody_waits_for_it(endless: Path, report: Path) -> None:
    assert endless.stat().st_size < 1500
    renderer = PageRenderer(seconds=6)
    begun = time.monotonic()
    drawing = renderer.page(endless, 1, [])

    assert renderer.page(report, 1, []).result().startswith(b"\x89PNG")
    assert not wait([drawing], 0).done
    assert renderer.page(endless, 1, []) is drawing
    with pytest.raises(
        WorkspaceError, match=r"Page 1 of endless\.pdf cannot be drawn: it takes longer than 6 seconds\."
    ):
        drawing.result()
    assert time.monotonic() - begun < 20
    # Remembered: whoever looks again hears it at once.
    assert renderer.page(endless, 1, []) is drawing
    renderer.close()


def test_however_many_pages_of_a_document_take_minutes_another_document_is_drawn(endless: Path, report: Path) -> None:
    renderer = PageRenderer()
    renderer.page(report, 1, []).result()
    hostile = [renderer.page(endless, 1, [], width=500 + n) for n in range(20)]
    begun = time.monotonic()
    renderer.page(report, 1, [], width=500).result()
    assert time.monotonic() - begun < 3
    assert not any(one.done() for one in hostile)
    renderer.close()
    assert all(one.cancelled() or isinstance(one.exception(), WorkspaceError) for one in hostile)


@pytest.mark.needs("linux")
def test_a_page_that_got_no_processor_is_tried_again_after_a_while(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renderer = PageRenderer(seconds=1)
    renderer.text("Words", []).result()
    [child] = renderer._pool._children
    child._process.send_signal(signal.SIGSTOP)
    stopped = renderer.page(report, 1, [])
    with pytest.raises(WorkspaceError, match="takes longer than 1 seconds") as caught:
        stopped.result()
    assert caught.value.retryable
    assert renderer.page(report, 1, []) is stopped
    monkeypatch.setattr("rag_engine.backends.drawing.page_renderer._AGAIN_SECONDS", 0.0)
    assert renderer.page(report, 1, []).result().startswith(b"\x89PNG")
    renderer.close()


def test_a_process_that_does_not_start_is_not_held_against_the_page(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = PageCache(tmp_path / "cache")
    renderer = PageRenderer(cache)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/bin/false")
        with pytest.raises(WorkspaceError, match="the program that draws pages does not start") as caught:
            renderer.page(report, 1, [], content="abc").result()
    assert caught.value.retryable
    assert not cache.refusal("abc", 1)
    assert renderer.page(report, 1, [], content="abc", width=500).result().startswith(b"\x89PNG")
    renderer.close()


def test_a_process_that_ended_while_it_waited_is_replaced(report: Path) -> None:
    renderer = PageRenderer()
    renderer.text("Words", []).result()
    [child] = renderer._pool._children
    child._process.kill()
    child._process.wait()
    assert renderer.page(report, 1, []).result().startswith(b"\x89PNG")
    renderer.close()


def test_a_page_that_needs_too_much_memory_is_refused_and_the_process_goes_on(report: Path) -> None:
    renderer = PageRenderer(memory_bytes=300_000_000)
    with pytest.raises(WorkspaceError, match="needs too much memory"):
        renderer.page(report, 1, [], width=10_000).result()
    assert renderer.page(report, 1, []).result().startswith(b"\x89PNG")
    renderer.close()


def test_a_file_that_was_replaced_is_drawn_anew(renderer: PageRenderer, report: Path, tmp_path: Path) -> None:
    path = tmp_path / "replaced.pdf"
    with pytest.raises(WorkspaceError, match="replaced"):
        renderer.page(path, 1, []).result()
    report.replace(path)
    assert renderer.page(path, 1, []).result().startswith(b"\x89PNG")


def test_closing_ends_what_is_being_drawn(endless: Path) -> None:
    renderer = PageRenderer()
    renderer.start()
    drawing = renderer.page(endless, 1, [])
    begun = time.monotonic()
    renderer.close()
    assert time.monotonic() - begun < 4, "less than a page may take"
    assert drawing.cancelled() or isinstance(drawing.exception(), WorkspaceError)


@pytest.mark.needs("linux")
def test_a_process_in_the_middle_of_a_page_ends_with_its_parent(endless: Path) -> None:
    script = (
        "from pathlib import Path\n"
        "from rag_engine.backends.drawing.page_renderer import PageRenderer\n"
        "renderer = PageRenderer()\n"
        "renderer.text('Words', [], []).result()\n"
        f"renderer.page(Path({str(endless)!r}), 1, [])\n"
        "print('drawing', flush=True)\n"
        "input()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "drawing\n"
    children = psutil.Process(parent.pid).children()
    assert len(children) == 1
    began = time.monotonic()
    parent.kill()
    parent.communicate()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert all(process.status() == psutil.STATUS_ZOMBIE for process in alive)
    assert time.monotonic() - began < 10


def test_a_page_that_is_there_is_measured_in_points(renderer: PageRenderer, report: Path) -> None:
    assert renderer.size(report, 1).result() == b"595.0 842.0"
    with pytest.raises(InputError, match=r"Page 3 of report\.pdf does not exist"):
        renderer.size(report, 3).result()
