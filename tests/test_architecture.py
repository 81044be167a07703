"""The rules of the house that no other tool holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

HEAVY = {
    "chromadb", "docx", "easyocr", "fitz", "ollama", "onnx", "onnxruntime", "openai", "openpyxl", "openvino", "pandas",
    "playwright", "pptx", "pymupdf", "rank_bm25", "rapidocr", "sentence_transformers", "streamlit", "tantivy", "torch",
    "transformers", "trafilatura", "ir_measures",
}  # fmt: skip
FOLDERS = ("rag_engine", "ingestion", "pages", "cli")
SOURCES = [*sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
SOURCES += [ROOT / "app.py"]
# Where libraries of weight are called: what speaks to a model, a file format, a browser or a workbook.
HEAVY_ROOMS = (
    "rag_engine/backends",
    "rag_engine/evaluation/metrics.py",
    "ingestion/extraction",
    "ingestion/web",
    "ingestion/spreadsheets",
    "rag_engine/takeaway/docx",
)
# What a page leaves to the rooms below it: processes, threads, files, databases, the web.
WORK = {
    "asyncio", "httpx", "ingestion.web.http", "multiprocessing", "os", "requests", "shutil", "socket", "sqlalchemy",
    "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib.request",
}  # fmt: skip
PAGES = sorted((ROOT / "pages").glob("[a-z]*.py"))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _is_backend(path: Path) -> bool:
    return _name(path).startswith(HEAVY_ROOMS)


@pytest.mark.parametrize("path", [p for p in SOURCES if "pages" not in p.parts and not _is_backend(p)], ids=_name)
def test_heavy_libraries_stay_in_their_rooms(path: Path) -> None:
    allowed = {"streamlit"} if path.name == "app.py" else set()
    assert {name.partition(".")[0] for name in _imports(path)} & HEAVY <= allowed


@pytest.mark.parametrize("path", [p for p in SOURCES if "pages" not in p.parts and p.name != "app.py"], ids=_name)
def test_only_pages_know_streamlit(path: Path) -> None:
    assert "streamlit" not in {name.partition(".")[0] for name in _imports(path)}


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_a_file_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_nothing_is_unpickled_evaluated_or_shown_as_html(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    assert not {"pickle", "cPickle", "dill", "marshal"} & {name.partition(".")[0] for name in _imports(path)}
    assert not {"eval", "exec"} & called
    assert "unsafe_allow_html" not in keywords


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_a_page_begins_with_the_frame_guard(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    first = next(
        node for node in statements if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )
    assert "guard" in ast.unparse(first)


@pytest.mark.parametrize("path", [path for path in SOURCES if "pages" in path.parts], ids=_name)
def test_pages_only_read_call_and_draw(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds: tuple[type[ast.AST], ...] = (ast.ClassDef, ast.While, ast.Try)
    if path.name == "errors.py":
        kinds = kinds[:-1]  # the one place that catches, for all pages
    assert not [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, kinds)]
    assert not WORK & set(_imports(path))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {func.attr for func in calls if isinstance(func, ast.Attribute)}
    assert not {"write_text", "write_bytes", "unlink", "mkdir", "execute"} & called


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_no_page_imports_another(path: Path) -> None:
    others = {f"pages.{page.stem}" for page in PAGES}
    assert not others & set(_imports(path))


def test_the_types_import_nothing_of_ours() -> None:
    own = {"rag_engine", "ingestion", "pages"}
    assert not own & {name.partition(".")[0] for name in _imports(ROOT / "rag_engine" / "types.py")}
