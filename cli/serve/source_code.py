"""The source code of the running program, for all who use it over a network (AGPL, section 13)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rag_engine.installation import DATA, ROOT

# Relative to the address of any page.
SOURCE_ADDRESS = "source.zip"
_PACKAGES = ("rag_engine", "ingestion", "pages", "cli", "data")
# As in a wheel. Documents that somebody keeps in data/ are of none of these kinds, or in a workspace.
_KINDS = frozenset((
    ".css", ".js", ".json", ".jsonl", ".npy", ".po", ".py", ".safetensors", ".toml", ".tsv", ".typed",
))  # fmt: skip
_BESIDE = ("app.py", "pyproject.toml", "Makefile", "LICENSE", "README.md", ".streamlit/config.toml")


def source_files() -> Iterator[Path]:
    """Yield the files of the program, and of a checkout also those that build it."""
    yield from (path for path in map(ROOT.joinpath, _BESIDE) if path.is_file())
    yield from sorted(ROOT.glob("requirements*.lock"))
    kept = [*DATA.glob("workspace*")]
    for package in _PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in _KINDS and not any(path.is_relative_to(folder) for folder in kept):
                yield path


@cache
def _archive() -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for path in source_files():
            archive.write(path, Path("sextant") / path.relative_to(ROOT))
    return packed.getvalue()


async def _send(request: Request) -> Response:  # noqa: ARG001 - as every route
    content = await run_in_threadpool(_archive)
    return Response(content, media_type="application/zip", headers={"Content-Disposition": "attachment"})


SOURCE_CODE = Route(f"/{SOURCE_ADDRESS}", _send)
