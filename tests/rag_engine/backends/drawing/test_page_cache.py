"""Drawn pages are kept: found again, bounded, their owner's alone, gone with their file."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from rag_engine.backends.drawing.page_cache import REMEMBERED_SECONDS, PageCache
from rag_engine.backends.drawing.page_renderer import PageRenderer
from rag_engine.errors import WorkspaceError
from tests.rag_engine.backends.drawing.test_page_renderer import endless, report

__all__ = ["endless", "report"]

CONTENT = "c" * 64
Renderers = Callable[..., PageRenderer]


@pytest.fixture
def renderers(tmp_path: Path) -> Iterator[Renderers]:
    """Yield what makes a renderer as another start of the program would, over one folder."""
    made: list[PageRenderer] = []

    def make(seconds: int = 5) -> PageRenderer:
        made.append(PageRenderer(PageCache(tmp_path / "drawings"), seconds=seconds))
        return made[-1]

    yield make
    for one in made:
        one.close()


def done_at_once(drawing: Future[bytes]) -> bytes:
    """Return what was drawn, which no process was asked for."""
    assert drawing.done()
    return drawing.result()


def test_a_page_is_drawn_once_for_all_who_look_at_it(renderers: Renderers, report: Path) -> None:
    drawn = renderers().page(report, 1, [], content=CONTENT).result()
    again = renderers()
    assert done_at_once(again.page(report, 1, [], content=CONTENT)) == drawn
    assert not again.page(report, 1, [], width=400, content=CONTENT).done()
    assert not again.page(report, 1, [], content="d" * 64).done()


def test_what_is_kept_is_its_owners_alone(renderers: Renderers, report: Path, tmp_path: Path) -> None:
    renderers().page(report, 1, [], content=CONTENT).result()
    [folder] = (tmp_path / "drawings").iterdir()
    [file] = folder.iterdir()
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder, file)] == [0o700, 0o700, 0o600]


def test_a_page_that_takes_too_long_is_not_tried_again_by_the_next_visitor(
    renderers: Renderers, endless: Path, report: Path, tmp_path: Path
) -> None:
    with pytest.raises(WorkspaceError, match="takes longer than 2 seconds"):
        renderers(2).page(endless, 1, [], content=CONTENT).result()
    later = renderers()
    # However it is asked for: other marks, another zoom.
    with pytest.raises(WorkspaceError, match=r"Page 1 of endless\.pdf cannot be drawn"):
        done_at_once(later.page(endless, 1, [], width=300, content=CONTENT))
    # A day later it may be tried again: it may have been the machine that was too busy.
    [refused] = (tmp_path / "drawings").glob("*/*")
    os.utime(refused, (0, time.time() - REMEMBERED_SECONDS - 1))
    assert not later.page(endless, 1, [], width=400, content=CONTENT).done()


def test_a_file_that_is_gone_is_not_drawn_from_the_cache(renderers: Renderers, report: Path) -> None:
    renderers().page(report, 1, [], content=CONTENT).result()
    report.unlink()
    with pytest.raises(WorkspaceError, match="damaged or missing"):
        renderers().page(report, 1, [], content=CONTENT).result()


def test_what_is_drawn_of_a_file_that_is_erased_meanwhile_is_not_kept(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "drawings")
    cache.keep(tmp_path / "erased.pdf", CONTENT, 1, "{}", b"picture\n")
    assert list((tmp_path / "drawings").iterdir()) == []


def test_the_cache_keeps_to_its_bytes_and_to_what_was_looked_at_last(tmp_path: Path) -> None:
    cache, original = PageCache(tmp_path / "drawings", most_bytes=1000), tmp_path / "a.pdf"
    original.touch()
    for page in range(1, 10):
        cache.keep(original, CONTENT, page, "{}", b"x" * 100)
        [path] = (tmp_path / "drawings").glob(f"*/{page}-*")
        os.utime(path, (page, page))
    assert cache.find(CONTENT, 1, "{}") == b"x" * 100
    cache.keep(original, CONTENT, 10, "{}", b"x" * 200)
    kept = [page for page in range(1, 11) if cache.find(CONTENT, page, "{}")]
    assert kept == [1, 5, 6, 7, 8, 9, 10]
    assert sum(path.stat().st_size for path in (tmp_path / "drawings").glob("*/*")) <= 800
