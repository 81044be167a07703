"""The floor plan: a newcomer finds things from the tree alone, and every name has one meaning."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from rag_engine.settings import settings_table
from tests.conftest import ROOT
from tests.source_trees import SOURCES, calls_of, name_of, nodes_of, text_of, tree_of

# What a newcomer types into a search for file names, and the one file that is to come up.
PLACES = {
    "geographic boost": ("rag_engine/.*geogr", "rag_engine/geography.py"),
    "OCR choice": ("ocr/choose", "ingestion/extraction/ocr/choose.py"),
    "licence patterns": ("licence.*pattern", "ingestion/licence/patterns.py"),
    "citation check": ("citation", "rag_engine/answering/citations.py"),
    "filter resolution": ("engine/.*filter", "rag_engine/filters.py"),
    "crash recovery": ("recover", "rag_engine/storage/recovery.py"),
    "prompts of the engine": ("engine/.*prompt", "rag_engine/prompts.py"),
    "prompts of ingestion": ("ingestion/.*prompt", "ingestion/prompts.py"),
    "gold set": ("gold.*py", "rag_engine/evaluation/gold.py"),
    "reranker": ("reranker/load", "rag_engine/backends/reranker/load.py"),
    "accepted file types": ("file_type", "ingestion/extraction/file_type.py"),
    "where a source stands": ("source_status", "ingestion/status/source_status.py"),
    "deleting a document": ("erase_document", "rag_engine/storage/erase_document.py"),
    "HTML cleaning": ("web/.*html", "ingestion/web/html.py"),
    "language names": ("text/.*languages", "rag_engine/text/languages.py"),
    "stop words": ("stop_words", "rag_engine/text/stop_words.py"),
    "job queue": ("jobs/.*queue", "ingestion/jobs/queue.py"),
    "retry back-off": ("schedul", "ingestion/pipeline/scheduling.py"),
    "HTTP cache": ("web/.*cache", "ingestion/web/cache.py"),
    "atomic write": ("atomic", "rag_engine/atomic_write.py"),
}
# Read by Streamlit, as its documentation says.
THEME = ROOT / ".streamlit" / "config.toml"


def test_a_place_is_found_at_the_first_guess() -> None:
    names = [name_of(path) for path in SOURCES]
    found = {sought: [name for name in names if re.search(pattern, name)] for sought, (pattern, _) in PLACES.items()}
    assert found == {sought: [expected] for sought, (_, expected) in PLACES.items()}


def test_the_theme_is_where_streamlit_looks_for_it() -> None:
    assert "[theme]" in THEME.read_text(encoding="utf-8")


def test_a_folder_holds_at_most_twenty_files() -> None:
    held = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert not {name_of(folder): count for folder, count in held.items() if count > 20}


def test_every_class_and_type_has_a_name_of_its_own() -> None:
    places: defaultdict[str, set[str]] = defaultdict(set)
    for path in SOURCES:
        for name in _types_of(path):
            places[name].add(name_of(path))
    repeated = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert not repeated


def test_no_module_is_a_fragment_that_one_other_imports() -> None:
    modules = {_module(path): path for path in SOURCES}
    importers: defaultdict[str, set[Path]] = defaultdict(set)
    for path in SOURCES:
        for name in _imported_names(path):
            importers[name].add(path)
    small = {name for name, path in modules.items() if _length(path) < 25 and path.name != "__init__.py"}
    assert not {name for name in small if len(importers[name]) == 1}


def test_a_docstring_says_what_there_is_or_what_is_done() -> None:
    wrong = [
        f"{name_of(path)}: {text.splitlines()[0]}"
        for path in SOURCES
        for node, text in _docstrings(path)
        if text.startswith(("Nothing", "What "))
        or (isinstance(node, ast.Module) and re.match("What|Where|Whether|How ", text))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_documented_settings_are_those_of_the_table() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"SEXTANT_[A-Z_]*[A-Z]", page))
    assert documented == {one.variable for one in settings_table().values()}
    command = [sys.executable, str(Path("docs") / "list_settings.py"), "--check"]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def test_settings_are_read_from_the_environment_in_one_place() -> None:
    reading = {
        name_of(path)
        for path in SOURCES
        for node in calls_of(path)
        if ast.unparse(node.func).startswith(("os.environ.get", "os.getenv"))
        and ("SEXTANT_" in ast.unparse(node) or "variable" in ast.unparse(node))
    }
    assert reading == {"rag_engine/settings.py"}


def _types_of(path: Path) -> Iterator[str]:
    """Yield the classes of a module and the names that it gives to types."""
    yield from (node.name for node in nodes_of(path) if isinstance(node, ast.ClassDef))
    for statement in tree_of(path).body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and re.match("[A-Z][a-z]", target.id):
            yield target.id


def _imported_names(path: Path) -> Iterator[str]:
    """Yield the modules that a module imports, and what it imports of them, which may be modules too."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _docstrings(path: Path) -> Iterator[tuple[ast.AST, str]]:
    for node in nodes_of(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, ast.get_docstring(node) or ""


def _module(path: Path) -> str:
    return name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _length(path: Path) -> int:
    return len(text_of(path).splitlines())
