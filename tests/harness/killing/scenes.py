"""Workspaces in which each act can begin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.harness.killing.acts import ERASED, Scene
from tests.harness.killing.processes import act_undisturbed, copied
from tests.ingestion.web_server import Answer, page, serving
from tests.portal.files import content, pdf
from tests.portal.site import META_CC_BY
from tests.portal.texts import about

TOPICS = (ERASED, "heat", "drought")
_PAGES = ("page", "file")


def scenes(folder: Path) -> Iterator[tuple[str, Scene]]:
    """Yield each act with where it begins; what a scene is given holds until the next is asked for."""
    given, listed = folder / "given", folder / "listed"
    given.mkdir()
    listed.mkdir()
    for topic in TOPICS:
        (given / f"{topic}.txt").write_text(_text(topic), encoding="utf-8")
    empty = Scene(folder / "empty", given)
    empty.folder.mkdir()
    yield "add", empty
    full = _after("add", empty, folder / "full")
    for act in ("erase", "rebuild", "rebuild --encode", "backup"):
        yield act, full
    with serving({}) as site:
        site.answers |= _answers("dams", "frost")
        rows = "\n".join(f"{name},{site.url(f'/{name}')}" for name in _PAGES)
        (listed / "sources.csv").write_text(f"Code,URL\n{rows}\n", encoding="utf-8")
        unlisted = replace(empty, given=listed, intranet=f"127.0.0.1:{site.port}")
        yield "import", unlisted
        waiting = _after("import", unlisted, folder / "waiting")
        yield "run", waiting
        fetched = _after("run", waiting, folder / "fetched")
        site.answers |= _answers("hail", "frost")
        yield "refresh", fetched


def _after(act: str, scene: Scene, folder: Path) -> Scene:
    after = copied(scene, folder)
    act_undisturbed(act, after)
    return after


def _answers(page_about: str, file_about: str) -> dict[str, Answer]:
    text, file = content(about(page_about), head=META_CC_BY), pdf(about(file_about))
    return {"/page": page(text), "/file": page(file, "application/pdf")}


def _text(topic: str) -> str:
    return "\n\n".join(
        f"The {topic} plan, measure {n}, binds the {topic[::-1]} authority {n} until {2020 + n}." for n in range(6)
    )


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """Yield a folder, in memory where that can be: what was written outlives a kill on any disk."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
