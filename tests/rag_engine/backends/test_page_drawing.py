from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pymupdf
import pytest

from rag_engine.backends.page_drawing import draw_page, draw_text
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.types import Box


@pytest.fixture
def report(tmp_path):
    """A page of A4 with one line of text, and a page a hundred times as tall as wide."""
    with pymupdf.open() as document:
        document.new_page(width=595, height=842).insert_text((100, 200), "The dyke was raised in 1953.", fontsize=12)
        document.new_page(width=50, height=5000)
        document.save(tmp_path / "report.pdf")
    return tmp_path / "report.pdf"


def picture(png):
    pixmap = pymupdf.Pixmap(png)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, pixmap.n)


def test_the_marked_passage_is_washed_and_its_text_stays_black(report):
    line = Box(100, 188, 260, 204)
    plain = picture(draw_page(report, 1, [], width=595))
    marked = picture(draw_page(report, 1, [line], width=595))
    assert marked.shape[1] == 595
    inside = (slice(189, 203), slice(101, 259))
    assert not (marked[inside] == 255).all(axis=-1).any()
    assert marked[inside].min() <= plain[inside].min() < 60
    assert np.array_equal(marked[:180], plain[:180])


def test_the_quote_is_marked_more_strongly_than_the_passage(report):
    marked = picture(draw_page(report, 1, [Box(100, 150, 260, 204)], [Box(100, 150, 260, 170)], width=595))
    assert marked[160, 180, 2] < marked[180, 180, 2] < 255


def test_a_mark_beyond_the_edge_of_the_page_is_clipped(report):
    marked = picture(draw_page(report, 1, [Box(-50, -50, 700, 20)], [Box(500, 830, 900, 900)], width=595))
    assert marked[5, 5, 2] < 255
    assert marked[835, 550, 2] < 255


def test_a_page_of_extreme_shape_does_not_become_a_huge_picture(report):
    marked = picture(draw_page(report, 2, [Box(0, 0, 50, 5000)]))
    assert marked.shape[0] * marked.shape[1] <= 4_100_000


def test_a_missing_page_and_a_damaged_file_say_so(report, tmp_path):
    with pytest.raises(InputError, match=r"no page 3.*pages 1 to 2"):
        draw_page(report, 3, [])
    (tmp_path / "broken.pdf").write_bytes(b"not a pdf")
    for name in ("broken.pdf", "gone.pdf"):
        with pytest.raises(WorkspaceError, match=name):
            draw_page(tmp_path / name, 1, [])


@pytest.mark.parametrize("children", [b"3 0 R", b"3 0 R 2 0 R"], ids=["a page is missing", "the pages go in a circle"])
def test_a_page_that_cannot_be_read_is_told_like_a_damaged_file(tmp_path, children):
    claims_two = (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 2/Kids[%b]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF" % children
    )
    (tmp_path / "claims.pdf").write_bytes(claims_two)
    with pytest.raises(WorkspaceError, match=r"Page 2 of claims\.pdf cannot be drawn.*Add the document again"):
        draw_page(tmp_path / "claims.pdf", 2, [])


def test_pages_are_drawn_alike_by_many_threads_at_once(report):
    alone = (
        draw_page(report, 1, [Box(100, 188, 260, 204)], width=200),
        draw_text("The dyke. " * 50, [(0, 9)], width=200),
    )
    with ThreadPoolExecutor(8) as pool:
        pages = [pool.submit(draw_page, report, 1, [Box(100, 188, 260, 204)], width=200) for _ in range(40)]
        sheets = [pool.submit(draw_text, "The dyke. " * 50, [(0, 9)], width=200) for _ in range(40)]
    assert {page.result() for page in pages} == {alone[0]}
    assert {sheet.result() for sheet in sheets} == {alone[1]}


def test_a_plain_sheet_marks_the_passage_and_grows_with_its_text():
    text = "The dyke was raised. " * 40
    short, long = (picture(draw_text(part, [(0, 60)], [(10, 30)], width=600)) for part in (text[:100], text))
    assert long.shape[0] > short.shape[0]
    colours = {tuple(colour) for colour in long.reshape(-1, 3)[::7]}
    assert (255, 255, 255) in colours
    assert any(blue < 200 < green for _, green, blue in colours)


@pytest.mark.parametrize(
    "text", ["", "</p></body><img src='file:///etc/passwd'><script>x</script>", "a\x00b\x0c&lt;", "ğüşöç عربي 中文"]
)
def test_any_text_can_be_drawn_and_none_of_it_is_markup(text):
    drawn = picture(draw_text(text, [(0, len(text))], width=400))
    assert drawn.shape[1] == 400


def test_markup_takes_the_room_of_its_letters():
    table = "<table><tr><td>" + "dyke " * 60 + "</td></tr></table>"
    plain = table.replace("<", "(").replace(">", ")")
    assert draw_text(table, [], width=400)[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture(draw_text(table, [], width=400)).shape == picture(draw_text(plain, [], width=400)).shape


def test_a_turned_page_is_marked_where_it_is_drawn(tmp_path):
    with pymupdf.open() as document:
        page = document.new_page(width=400, height=300)
        page.insert_text((50, 100), "The dyke was raised.")
        page.set_rotation(90)
        line = pymupdf.Rect(page.get_text("words")[0][:4]) * page.rotation_matrix
        document.save(tmp_path / "turned.pdf")
    box = Box(*line)
    marked = picture(draw_page(tmp_path / "turned.pdf", 1, [box], width=300))
    assert marked.shape[:2] == (400, 300)
    inside = marked[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
    assert inside.min() < 100
    assert not (inside == 255).all(axis=-1).any()
