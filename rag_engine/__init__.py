"""From a question to an answer with citations: the names that other programs may rely on.

Each is loaded at its first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_engine.config import Config, RetrievalConfig, read_config
    from rag_engine.engine import Engine, open_engine
    from rag_engine.errors import BackendError, InputError, SextantError, WorkspaceError
    from rag_engine.types.answer import Answer, Citation
    from rag_engine.types.document import DocumentRecord, Metadata
    from rag_engine.types.evidence import Evidence, QueryPlan
    from rag_engine.types.passage import Hit, Source

__all__ = [
    "Answer",
    "BackendError",
    "Citation",
    "Config",
    "DocumentRecord",
    "Engine",
    "Evidence",
    "Hit",
    "InputError",
    "Metadata",
    "QueryPlan",
    "RetrievalConfig",
    "SextantError",
    "Source",
    "WorkspaceError",
    "open_engine",
    "read_config",
]

# The engine comes last: it imports much.
_MODULES = ("types.document", "types.passage", "types.evidence", "types.answer", "errors", "config", "engine")


def __getattr__(name: str) -> object:
    for module in _MODULES if name in __all__ else ():
        if hasattr(import_module(f"rag_engine.{module}"), name):
            return getattr(import_module(f"rag_engine.{module}"), name)
    raise AttributeError(f"module 'rag_engine' has no attribute {name!r}")
