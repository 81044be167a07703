"""The rules of the house that no other tool holds."""

from __future__ import annotations

import ast
import re
import runpy

from ingestion.types.run import PHASES
from tests.conftest import ROOT
from tests.source_trees import SOURCES, calls_of, imports_of, name_of, nodes_of, packages_of, text_of, tree_of

HEAVY = {
    "chromadb", "docx", "easyocr", "fitz", "ollama", "onnx", "onnxruntime", "openai", "openpyxl", "openvino", "pandas",
    "playwright", "pptx", "pymupdf", "rank_bm25", "rapidocr", "sentence_transformers", "streamlit", "tantivy", "torch",
    "transformers", "trafilatura", "ir_measures",
}  # fmt: skip
# Where libraries of weight are called: what speaks to a model, a file format, a browser or a workbook.
HEAVY_ROOMS = (
    "rag_engine/backends",
    "rag_engine/evaluation/metric.py",
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
CHANGES = {"write_text", "write_bytes", "unlink", "mkdir", "execute"}
PAGES = sorted((ROOT / "pages").glob("[a-z]*.py"))
# What answers the requests of browsers before a page runs; it knows Streamlit, and so stands with the pages.
BEFORE_PAGES = [ROOT / "pages/_shared/login.py", ROOT / "pages/_uploads/bounds.py"]
OF_PAGES = [path for path in SOURCES if "pages" in path.parts and path not in BEFORE_PAGES]
OUTSIDE = [path for path in SOURCES if "pages" not in path.parts]
# A function has at most 60 lines and seven parameters, but for these, which are to become fewer.
LONG = {
    "cli/compare.py:compare",
    "ingestion/dataset/corrections.py:read_corrections",
    "rag_engine/answering/structured/answer.py:structured_answer",
    "rag_engine/retrieval/retrieve.py:retrieve",
}
WIDE = {
    "ingestion/deduplication/signatures.py:candidate_of",
    "rag_engine/answering/structured/answer.py:structured_answer",
    "rag_engine/evaluation/report.py:write_report",
    "rag_engine/evaluation/run_retrieval.py:run_retrieval",
    "rag_engine/retrieval/search.py:_search_dense",
}
# Where a lock, a database or an interpreter of its own is opened outside of rag_engine/storage, and for what.
OPENS = {
    "rag_engine/settings.py": "the file of settings",
    "rag_engine/processes/writer_lock.py": "the writer of a workspace",
    "rag_engine/backends/chroma.py": "the owner of Chroma's folders",
    "rag_engine/backends/model_export.py": "the cache of exported models, and the process that exports",
    "rag_engine/backends/sqlite_damage.py": "the check of a database before it is opened",
    "rag_engine/confinement/pool.py": "confined processes",
    "rag_engine/confinement/probe.py": "the trial of what a confined process may do",
    "rag_engine/evaluation/vector_cache.py": "the vectors of benchmarks",
    "ingestion/workspace.py": "the worker of a workspace",
    "ingestion/jobs/process.py": "the worker's process",
    "ingestion/records/erasures.py": "one erasure at a time",
    "ingestion/web/cache.py": "the cache of pages",
    "ingestion/backup/backup.py": "the copy of a database into an archive",
    "ingestion/backup/copy_catalog.py": "a catalog from an archive",
    "ingestion/backup/restore.py": "the databases of a restored workspace",
    "cli/serve/servers.py": "the page's process",
}


def test_heavy_libraries_stay_in_their_rooms() -> None:
    allowed = {ROOT / "app.py": {"streamlit"}}
    outside = [path for path in OUTSIDE if not name_of(path).startswith(HEAVY_ROOMS)]
    heavy = {name_of(path): packages_of(path) & HEAVY - allowed.get(path, set()) for path in outside}
    assert not {name: found for name, found in heavy.items() if found}


def test_only_pages_know_streamlit() -> None:
    assert [name_of(path) for path in OUTSIDE if "streamlit" in packages_of(path)] == ["app.py"]


def test_a_file_can_be_read_in_one_sitting() -> None:
    assert not [name_of(path) for path in SOURCES if len(text_of(path).splitlines()) > 600]


def test_functions_are_short_and_have_few_parameters() -> None:
    long, wide = set(), set()
    for path in SOURCES:
        for node in nodes_of(path):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            given = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            if (node.end_lineno or 0) - node.lineno >= 60:
                long.add(f"{name_of(path)}:{node.name}")
            # A verb of the terminal has a parameter for each option.
            if len([name for name in given if name not in ("self", "cls")]) > 7 and not name_of(path).startswith(
                "cli/"
            ):
                wide.add(f"{name_of(path)}:{node.name}")
    assert (long, wide) == (LONG, WIDE)


def test_locks_databases_and_interpreters_are_opened_in_few_places() -> None:
    opening = re.compile(r"\bFileLock\(|\bsqlite3\.connect\(|\bsys\.executable\b|\bjson\.dump\(")
    found = {name_of(path) for path in SOURCES if opening.search(text_of(path))}
    assert {name for name in found if not name.startswith("rag_engine/storage/")} == OPENS.keys()


def test_nothing_is_unpickled_evaluated_or_shown_as_html() -> None:
    pickled = [name_of(path) for path in SOURCES if packages_of(path) & {"pickle", "cPickle", "dill", "marshal"}]
    evaluated = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        for node in calls_of(path)
        if isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"}
    ]
    shown = [
        f"{name_of(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.keyword) and node.arg == "unsafe_allow_html"
    ]
    assert (pickled, evaluated, shown) == ([], [], [])


def test_a_page_begins_with_the_frame_guard() -> None:
    assert PAGES
    assert not [name_of(path) for path in PAGES if "guard" not in _first_statement(tree_of(path))]


def _first_statement(tree: ast.Module) -> str:
    """Return the first statement after the docstring and the imports."""
    statements = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    return next(
        ast.unparse(node)
        for node in statements
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )


def test_pages_only_read_call_and_draw() -> None:
    wrong = []
    for path in OF_PAGES:
        # One file catches, for all pages.
        kinds = (ast.ClassDef, ast.While) if path.name == "errors.py" else (ast.ClassDef, ast.While, ast.Try)
        wrong += [f"{name_of(path)}:{node.lineno}" for node in nodes_of(path) if isinstance(node, kinds)]
        wrong += [f"{name_of(path)} imports {name}" for name in WORK & imports_of(path)]
        wrong += [
            f"{name_of(path)}:{node.lineno} calls {node.func.attr}"
            for node in calls_of(path)
            if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES
        ]
    assert not wrong, "\n".join(wrong)


def test_no_page_imports_another() -> None:
    pages = {f"pages.{page.stem}" for page in PAGES}
    assert not {name_of(path): found for path in PAGES if (found := pages & imports_of(path))}


def test_the_types_import_nothing_of_ours_but_messages() -> None:
    imported = {name for path in (ROOT / "rag_engine" / "types").glob("*.py") for name in imports_of(path)}
    ours = {name for name in imported if name.startswith(("rag_engine", "ingestion", "pages"))}
    assert all(name == "rag_engine.messages" or name.startswith("rag_engine.types.") for name in ours)


def test_rooms_import_each_other_in_no_circle() -> None:
    count = runpy.run_path(str(ROOT / ".ci" / "count_house.py"))
    assert count["figures_of"](ROOT)["circles of rooms"] == 0


def test_a_phase_calls_the_room_of_no_other() -> None:
    for phase in PHASES:
        # Readers are for all, and a document may print its licence.
        own = {phase, "extraction", "licence"} if phase == "extraction" else {phase, "extraction"}
        imported = imports_of(ROOT / "ingestion" / "phases" / f"{phase}.py")
        assert {name.split(".")[1] for name in imported if name.startswith("ingestion.")} & set(PHASES) <= own
