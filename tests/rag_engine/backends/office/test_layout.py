"""Office files are drawn as they look, within limits, and a hostile one gets nowhere."""

import json
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import docx
import psutil  # type: ignore[import-untyped]
import pymupdf
import pytest

from rag_engine.backends.drawing.page_cache import PageCache
from rag_engine.backends.drawing.page_renderer import PageRenderer
from rag_engine.backends.drawing.passage_finder import SoughtPassage
from rag_engine.backends.office.layout import OfficeLayouts, is_office_file, read_made
from rag_engine.errors import WorkspaceError

CONTENT = "e" * 64


@pytest.fixture
def cache(tmp_path: Path) -> PageCache:
    return PageCache(tmp_path / "drawings")


@pytest.fixture
def layouts(cache: PageCache) -> Iterator[OfficeLayouts]:
    layouts = OfficeLayouts(cache)
    yield layouts
    layouts.close()


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Return a document of two pages with a heading."""
    made = docx.Document()
    made.add_heading("Flood plan", 1)
    made.add_page_break()
    made.add_paragraph("The mayor orders the evacuation of the lower town.")
    made.save(str(tmp_path / "plan.docx"))
    return tmp_path / "plan.docx"


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program in LibreOffice's place."""
    (folder / "bin").mkdir()
    (folder / "bin" / "soffice").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "bin" / "soffice").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")


@pytest.mark.needs("soffice")
def test_a_document_is_drawn_as_it_looks_and_a_passage_is_found_in_it(
    layouts: OfficeLayouts, cache: PageCache, plan: Path
) -> None:
    made = layouts.pdf(plan, CONTENT).result()
    with pymupdf.open(made) as pdf:
        assert "The mayor orders the evacuation" in pdf[1].get_text()
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    renderer = PageRenderer(cache)
    found = json.loads(renderer.find(made, SoughtPassage("orders the evacuation"), content=CONTENT).result())
    assert (found["page"], found["pages"]) == (2, 2)
    assert [len(boxes) for boxes in found["boxes"].values()] == [1]
    assert json.loads(renderer.find(made, SoughtPassage("nowhere at all"), content=CONTENT).result())["boxes"] == {}
    assert renderer.page(made, 2, [], content=CONTENT).result().startswith(b"\x89PNG")
    renderer.close()
    # The next one, also of another start, is the same file.
    assert OfficeLayouts(cache).pdf(plan, CONTENT).result(timeout=0) == made


@pytest.mark.needs("soffice")
def test_what_libreoffice_cannot_read_is_reported_and_not_tried_again(
    layouts: OfficeLayouts, cache: PageCache, tmp_path: Path
) -> None:
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(WorkspaceError, match=r"broken\.docx cannot be shown as it looks: LibreOffice cannot read it"):
        layouts.pdf(tmp_path / "broken.docx", CONTENT).result()
    begun = time.monotonic()
    again = OfficeLayouts(cache)
    with pytest.raises(WorkspaceError, match="LibreOffice cannot read it"):
        again.pdf(tmp_path / "broken.docx", CONTENT).result()
    again.close()
    assert time.monotonic() - begun < 1


def test_without_libreoffice_it_is_said(
    layouts: OfficeLayouts, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceError, match="LibreOffice is not installed"):
        layouts.pdf(plan, CONTENT).result()
    # Once it is, it is tried.
    program(tmp_path, monkeypatch, "exit 1")
    with pytest.raises(WorkspaceError, match="LibreOffice cannot read it"):
        layouts.pdf(plan, CONTENT).result()


@pytest.mark.needs("linux")
def test_a_conversion_that_does_not_end_is_ended(
    cache: PageCache, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "sleep 300")
    layouts = OfficeLayouts(cache, seconds=1)
    begun = time.monotonic()
    with pytest.raises(WorkspaceError, match="LibreOffice takes longer than 1 second"):
        layouts.pdf(plan, CONTENT).result()
    layouts.close()
    assert time.monotonic() - begun < 25


@pytest.mark.needs("linux")
def test_a_conversion_ends_with_who_wanted_it(
    cache: PageCache, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, "exec sleep 300")
    code = (
        "import sys, psutil; from pathlib import Path; from rag_engine.backends.drawing.page_cache import PageCache; "
        "from rag_engine.backends.office.layout import OfficeLayouts; begun = psutil.Process(); "
        "OfficeLayouts(PageCache(Path(sys.argv[1]))).pdf(Path(sys.argv[2]), 'e' * 64)\n"
        "while not (at_work := [one for one in begun.children(recursive=True) if one.name() == 'sleep']): pass\n"
        "print(at_work[0].pid, flush=True); sys.stdin.read()"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "drawings"), str(plan)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as who:
        assert who.stdout is not None
        at_work = psutil.Process(int(who.stdout.readline()))
        who.kill()

    at_work.wait(20)


def test_office_files_are_known_by_their_names() -> None:
    assert is_office_file("Plan.DOCX")
    assert is_office_file("budget.ods")
    assert not is_office_file("plan.pdf")
    assert not is_office_file("docx")


def test_a_link_in_the_place_of_the_layout_is_not_followed(tmp_path: Path) -> None:
    secret, made = tmp_path / "secret.pdf", tmp_path / "layout.pdf"
    secret.write_bytes(b"%PDF of somebody else")
    made.symlink_to(secret)
    assert read_made(made) == b""
    made.unlink()
    made.write_bytes(b"%PDF")
    assert read_made(made) == b"%PDF"
    assert read_made(tmp_path) == read_made(tmp_path / "none") == b""
