"""Write data/sample/documents/ from data/sample/content/: python data/sample/build.py [FOLDER]."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from rendering import office, pdf, web
from rendering.markup import SampleDocument, read

HERE = Path(__file__).resolve().parent
RENDERERS: dict[str, tuple[str, Callable[[SampleDocument], bytes]]] = {
    "pdf": ("pdf", pdf.pdf),
    "scan": ("pdf", pdf.scan),
    "docx": ("docx", office.docx_file),
    "pptx": ("pptx", office.pptx_file),
    "xlsx": ("xlsx", office.xlsx_file),
    "odt": ("odt", office.odt_file),
    "html": ("html", web.html),
    "md": ("md", web.markdown),
}


def build(content: Path, folder: Path) -> list[Path]:
    """The files written to `folder`, metadata.jsonl last."""
    folder.mkdir(parents=True, exist_ok=True)
    written, lines = [], []
    for path in sorted(content.glob("*.md")):
        document = read(path)
        suffix, render = RENDERERS[document.layout]
        target = folder / f"{document.stem}.{suffix}"
        target.write_bytes(render(document))
        written.append(target)
        lines.append(json.dumps({"file": target.name, **document.metadata}, ensure_ascii=False))
    table = folder / "metadata.jsonl"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    written.append(table)
    return written


if __name__ == "__main__":
    files = build(HERE / "content", Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "documents")
    print(f"{len(files) - 1} documents, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB")
