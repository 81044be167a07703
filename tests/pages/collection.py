"""A small collection for the tests of the pages, indexed with the real encoder."""

import json
from contextlib import closing
from pathlib import Path

from ingestion.add_files import FileOutcome, add_paths
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.types.document import DocumentRecord

HOSTILE_TITLE = "<script>alert(1)</script> ![x](http://evil.example/x.png) $\\alpha$ :material/home:"

_DOCUMENTS: dict[str, tuple[dict[str, object], str]] = {
    "flood-act.txt": (
        {
            "title": "Flood Act",
            "authority": "Parliament of Ireland",
            "hazards": ["Flood"],
            "geographical_level": "National",
            "countries": ["Ireland"],
            "document_type": "Law",
            "language": "en",
            "date": "2016-03-24",
        },
        "Local flood plans\n\nEach county council must prepare a local flood plan. A local flood plan remains valid "
        "for six years. The council must publish the plan and keep a copy where the public can read it.\n\n"
        "Penalties\n\nA council that fails to publish its flood plan pays a penalty of ten thousand euros.",
    ),
    "piano-caldo.txt": (
        {
            "title": "Piano caldo",
            "authority": "Ministero della Salute",
            "hazards": ["Heatwaves"],
            "geographical_level": "National",
            "countries": ["Italy"],
            "document_type": "Guidelines",
            "language": "it",
            "date": "2021-05-18",
        },
        "Piano caldo\n\nDurante le ondate di calore i comuni aprono luoghi freschi per le persone anziane. Il medico "
        "di famiglia telefona ogni giorno alle persone che vivono sole.\n\n"
        "Il livello di allerta rosso vale per tre giorni.",
    ),
    "hostile.txt": (
        {"title": HOSTILE_TITLE, "document_type": "Report", "language": "en", "date": "2019-01-01"},
        "Report on harbour cranes\n\n<script>alert(1)</script> The harbour cranes of Rotterdam lift "
        "![x](http://evil.example/x.png) forty tonnes each and cost $5 or $6 <img src=http://evil.example/y.png "
        "onerror=alert(1)> a day, as https://evil.example/cranes says :red[loudly] :material/home: [here](http://evil.example).",
    ),
}


def build_collection(workspace: Path, folder: Path) -> None:
    """Build the workspace with the three documents, and leave nothing open."""
    folder.mkdir(parents=True)
    lines = []
    for name, (metadata, text) in _DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
        lines.append(json.dumps({"file": name, **metadata}))
    (folder / "metadata.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert len(index_files(workspace, folder)) == len(_DOCUMENTS)


def index_files(workspace: Path, *paths: Path) -> list[FileOutcome]:
    """Add files to a workspace, all of which are indexed, and leave nothing open."""
    with closing(open_engine(read_config(workspace))) as engine:
        added = add_paths(paths, engine)
    assert {one.status for one in added} == {"indexed"}, added
    return added


def with_undated(workspace: Path, folder: Path) -> Path:
    """Add a notice without a date to a workspace, and return it."""
    notice = folder / "notice.txt"
    notice.write_text("Notice of the weather service\n\nThe service has three levels of alert.", encoding="utf-8")
    index_files(workspace, notice)
    return workspace


def documents_of(workspace: Path) -> dict[str, DocumentRecord]:
    """Return the documents of a workspace by their files."""
    with closing(open_engine(read_config(workspace))) as engine:
        return {one.file: one for one in engine.collection.documents()}
