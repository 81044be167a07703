"""The names that other programs may rely on, and how many settings there are."""

import subprocess
import sys
from dataclasses import fields

import rag_engine
from rag_engine.config import ChunkingConfig, RetrievalConfig

SURFACE = {
    "Answer", "BackendError", "Citation", "Config", "DocumentRecord", "Engine", "Evidence", "Hit", "InputError",
    "Metadata", "QueryPlan", "RetrievalConfig", "SextantError", "Source", "WorkspaceError", "open_engine",
    "read_config",
}  # fmt: skip


def test_the_public_surface_is_what_it_says() -> None:
    assert set(rag_engine.__all__) == SURFACE
    for name in SURFACE:
        assert getattr(rag_engine, name).__name__ == name
    assert not hasattr(rag_engine, "Searchable")


def test_importing_the_package_loads_nothing() -> None:
    script = "import sys, rag_engine; print([name for name in sys.modules if name.startswith('rag_engine.')])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_at_most_fourteen_settings_of_search_and_chunking_are_for_every_day() -> None:
    assert len([*fields(RetrievalConfig), *fields(ChunkingConfig)]) <= 14
