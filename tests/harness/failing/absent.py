"""Programs and servers that Sextant can do without, away alone and in pairs, under each command."""

from __future__ import annotations

import itertools
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rag_engine import workspace as paths
from rag_engine.backends.tantivy import TantivyIndex, open_sparse_index
from rag_engine.errors import SextantError
from tests.harness.failing.commands import DOCTOR, SEARCH, Ended, commands
from tests.harness.killing.acts import Failure, Scene, carry_out
from tests.harness.killing.kills import AT_ONCE
from tests.harness.killing.processes import begin, copied, received
from tests.harness.tally import Tally
from tests.portal.files import scan
from tests.portal.texts import about

# Nobody answers there.
_NOWHERE = "http://127.0.0.1:9"
_ASK = ("ask", "Who is bound until 2021?", "--json")


def _without(*programs: str) -> Callable[[Scene], object]:
    """Return what hides programs of the machine, all others of which stay."""

    def hide(scene: Scene) -> None:
        shown = scene.folder / "bin"
        shown.mkdir(exist_ok=True)
        for folder in map(Path, os.environ["PATH"].split(":")):
            if folder != shown and folder.is_dir():
                for program in folder.iterdir():
                    if program.name not in programs and not (shown / program.name).exists():
                        (shown / program.name).symlink_to(program)
        for name in programs:
            (shown / name).unlink(missing_ok=True)
        os.environ["PATH"] = str(shown)

    return hide


def _lock_keywords(scene: Scene) -> TantivyIndex:
    index = open_sparse_index(paths.sparse_index(scene.workspace, 1), writable=True)
    # Held until it is committed.
    index.add([])
    return index


def _lose_keywords(scene: Scene) -> None:
    paths.sparse_index(scene.workspace, 1).rename(scene.folder / "keywords that were lost")


_AWAY: Mapping[str, Callable[[Scene], object]] = {
    "the model's server": lambda _: os.environ.update(SEXTANT_OPENAI_URL=f"{_NOWHERE}/v1", SEXTANT_OPENAI_MODEL="any"),
    "Chroma's server": lambda _: os.environ.update(SEXTANT_CHROMA_URL=_NOWHERE),
    "the keyword index, locked": _lock_keywords,
    "the keyword index, missing": _lose_keywords,
    "LibreOffice": _without("soffice", "libreoffice"),
    "Tesseract": _without("tesseract"),
    "the internet": lambda scene: (scene.folder / "offline").touch(),
}
# What keeps a file from being indexed for now, with a word that the command then says.
_STOPS = {"Chroma's server": "Chroma", "the keyword index, locked": "another process"}


def absent(start: Scene) -> Iterator[Tally]:
    """Have commands do without what is away, then with it; `start` has documents."""
    given = start.folder.parent / "more"
    given.mkdir()
    (given / "plain.txt").write_text("The storm plan binds the harbour until 2021. " * 20, encoding="utf-8")
    (given / "scanned.pdf").write_bytes(scan(about("wells")))
    _sheet(given / "table.ods")
    (given / "sources.csv").write_text(f"Code,URL\nNOWHERE,{_NOWHERE}/plan.pdf\n", encoding="utf-8")
    start = replace(start, given=given, intranet=_NOWHERE.removeprefix("http://"))
    for size, what in ((1, "away alone"), (2, "away in a pair")):
        cases = list(itertools.combinations(_AWAY, size))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            lost = list(pool.map(partial(_lost, start), cases))
        yield Tally(f"what Sextant can use, {what}", len(cases), tuple(one for one in lost if one))


def _lost(start: Scene, away: Sequence[str]) -> str:
    """Return what went wrong without what is away, or when it was back; "" for nothing."""
    scene, named = copied(start, start.folder.parent / "cases" / " and ".join(away)), " and ".join(away)
    ended = received(*begin(_without_them, scene, away, quick=False))
    back = received(*begin(_with_them, scene, quick=False))
    shutil.rmtree(scene.folder)
    for one in (ended, back):
        if isinstance(one, Failure):
            return f"{named}: {one.words}"
    if crashed := [one.error for one in (*ended, *back) if one.error]:
        return f"{named}: {crashed[0]}"
    said = " ".join(ended[0].said.split())
    stopped = [word for one, word in _STOPS.items() if one in away]
    if not stopped and "indexed plain.txt" not in said:
        return f"{named}: the plain text was not added: {said}"
    if stopped and "indexed plain.txt" not in said and not any(word in said for word in stopped):
        return f"{named}: it does not say what is away: {said}"
    if "LibreOffice" in away and not stopped and "LibreOffice" not in said:
        return f"{named}: it does not say that LibreOffice is away: {said}"
    again, _, doctor = back
    if again.code or doctor.code:
        return f"{named}: when it is back {again.said!r}, {doctor.said[-300:]!r}"
    return ""


def _without_them(scene: Scene, away: Sequence[str]) -> list[Ended]:
    os.environ.update(SEXTANT_READER="none", SEXTANT_RERANKER="none")
    held = [_AWAY[one](scene) for one in away]
    ended = commands(scene, ("add", str(scene.given)), SEARCH, _ASK, DOCTOR)
    if "the internet" in away:
        ended += commands(scene, ("sources", "add", str(scene.given / "sources.csv")))
        with suppress(SextantError):
            carry_out("run", scene)
    assert len(held) == len(away)
    return ended


def _with_them(scene: Scene) -> list[Ended]:
    """Carry out what is to be done again, as the doctor says."""
    if (scene.folder / "keywords that were lost").exists():
        commands(scene, ("rebuild",))
    return commands(scene, ("add", str(scene.given), "--again"), SEARCH, DOCTOR)


def _sheet(path: Path) -> None:
    """Write a table that LibreOffice alone reads."""
    kind, names = "application/vnd.oasis.opendocument.spreadsheet", "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{name}="{names}:{name}:1.0"' for name in ("office", "table", "text"))
    cell = '<table:table-cell office:value-type="string"><text:p>An avalanche plan.</text:p></table:table-cell>'
    table = f'<table:table table:name="One"><table:table-row>{cell}</table:table-row></table:table>'
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="{media}"/>'
        for name, media in (("/", kind), ("content.xml", "text/xml"))
    )
    manifest = f'<manifest:manifest xmlns:manifest="{names}:manifest:1.0">{entries}</manifest:manifest>'
    content = f'<office:document-content {spaces} office:version="1.2">{body}</office:document-content>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (("mimetype", kind), ("content.xml", content), ("META-INF/manifest.xml", manifest)):
            archive.writestr(name, text)
