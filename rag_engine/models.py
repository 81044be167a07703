"""The models of one workspace: each is looked for when it is first needed, and loaded once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from rag_engine.backends.encoder.load import load_encoder, load_token_score, token_score_name
from rag_engine.backends.ollama import find_ollama, installed_models, pull_model, runs_here
from rag_engine.backends.openai import find_openai
from rag_engine.backends.reader.load import load_reader
from rag_engine.backends.reranker.load import load_reranker
from rag_engine.config import Config, GenerationConfig, label_judge_settings, read_config
from rag_engine.errors import BackendError, SextantError
from rag_engine.messages import NO_MESSAGE, Message, without_passwords
from rag_engine.protocols import Embedder, Generator, PassageReader, Reranker
from rag_engine.types.finding import Finding
from rag_engine.types.language_model import InstalledModel

# Looking takes 20 ms where nothing answers, and a question looks twice.
_LOOK_FOR_MODEL_SECONDS = 5.0
# Their libraries read files and compile without holding up Python; a third at once only shares the cores.
_MODELS_AT_ONCE = 2


# One of each for all workspaces of a process: they keep nothing of a workspace, and loading takes up to a second.
_shared_encoder = lru_cache(maxsize=2)(load_encoder)
_shared_reranker = lru_cache(maxsize=2)(load_reranker)
_shared_reader = lru_cache(maxsize=2)(load_reader)


class Models:
    """Encoder, reranker, reader and language model; safe to ask from several threads."""

    def __init__(self, config: Config, embedder: Embedder | None = None) -> None:
        """`embedder` replaces the configured encoder."""
        self._config = config
        # A lock for each model: loading takes seconds, and users of other models must not wait for it.
        self._lock = threading.Lock()
        self._reranker_lock = threading.Lock()
        self._reader_lock = threading.Lock()
        self._given = embedder
        self._embedder = embedder
        self._loading: threading.Thread | None = None
        self._language: tuple[float, tuple[Generator | None, Message]] = float("-inf"), (None, NO_MESSAGE)

    def use(self, config: Config) -> None:
        """Look for models as another configuration says, from the next question on."""
        with self._lock:
            if config.encoder != self._config.encoder:
                self._embedder = self._given
            self._config = config
            self._language = float("-inf"), (None, NO_MESSAGE)

    def embedder(self, noted: str) -> Embedder:
        """Return the configured encoder.

        The same model may exist twice, packaged and in the hub's cache: `noted` names the encoder of the index.
        """
        with self._lock:
            if self._embedder is None:
                wanted = self._config.encoder
                name = noted if noted.startswith(f"{Path(wanted).name}@") else wanted
                self._embedder = _shared_encoder(wanted if Path(wanted).is_dir() else name, self._config.execution)
            return self._embedder

    def reranker(self) -> Reranker | None:
        """Return the configured cross-encoder, or None if none is set; BackendError if it cannot be loaded."""
        if not self._config.reranker:
            return None
        with self._reranker_lock:
            return _shared_reranker(self._config.reranker, self._config.execution)

    def reader(self) -> PassageReader | None:
        """Return the configured reader, or None if none is set; BackendError if it cannot be loaded."""
        if self._config.reader == "none":
            return None
        with self._reader_lock:
            return _shared_reader(self._config.reader, self._config.execution)

    def language_model(self) -> tuple[Generator | None, Message]:
        """Return the language model that answers, else None and a warning; looked for every few seconds."""
        looked, found = self._language
        if time.monotonic() - looked > _LOOK_FOR_MODEL_SECONDS:
            try:
                generation = self._config.generation
                found = find_openai(generation) or find_ollama(generation), NO_MESSAGE
            except BackendError as error:
                found = None, Message("No language model was asked: {error}", error=error)
            self._language = time.monotonic(), found
        return found

    def require_language_model(self, *, translating: bool = False) -> Generator:
        """Return the language model that structured answers need; BackendError if there is none."""
        generator, warning = self.language_model()
        if generator is None:
            raise BackendError(
                "Translations need a language model, and none answers."
                if translating
                else "Structured answers need a language model, and none answers.",
                help="{why} Start Ollama and give it one (ollama pull qwen3:8b), or set SEXTANT_OPENAI_URL and "
                "SEXTANT_OPENAI_MODEL."
                if warning
                else "Start Ollama and give it one (ollama pull qwen3:8b), or set SEXTANT_OPENAI_URL and "
                "SEXTANT_OPENAI_MODEL.",
                retryable=True,
                why=warning,
            )
        return generator

    def begin_loading(self, embedder: Callable[[], Embedder]) -> None:
        """Begin to load encoder, reader and cross-encoder, two at a time; `close` waits for them."""
        loads: list[Callable[[], object]] = [embedder, self.reader]
        if self._config.retrieval.rerank:
            loads.append(self.reranker)
        self._loading = threading.Thread(target=_load, args=(loads,), name="load models", daemon=True)
        self._loading.start()

    def check(self, embedder: Callable[[], Embedder]) -> Iterator[Finding]:
        """Yield which models answer; `embedder` gives the encoder of the index."""
        try:
            encoder = embedder()
        except SextantError as error:
            yield Finding("Encoder", "bad", str(error))
        else:
            found = f"{encoder.name}, {encoder.dimension} dimensions, computed by {encoder.execution}"
            yield Finding("Encoder", "good", found)
        yield self._check_reranker()
        yield self._check_language_model()
        yield from self._check_judge()

    def _check_reranker(self) -> Finding:
        """Say which model orders the best passages."""
        try:
            reranker = (self.reranker() or self.reader()) if self._config.retrieval.rerank else None
        except SextantError as error:
            return Finding("Reranker", "bad", str(error))
        if reranker is None:
            return Finding("Reranker", "good", "none is wanted")
        return Finding("Reranker", "good", f"{reranker.name} reads the best passages, computed by {reranker.execution}")

    def _check_language_model(self) -> Finding:
        config = self._config.generation
        generator, warning = self.language_model()
        if generator is not None:
            return Finding("Language model", "good", f"{generator.name}, window of {generator.context_window} tokens")
        found = (
            warning
            or f"none answers at {without_passwords(config.openai_url or config.ollama_url)}; answers are quotations"
        )
        remedy = "Install Ollama, run `ollama pull qwen3:8b` (or a smaller model) and ask again."
        return Finding("Language model", "note", found, "" if warning else remedy)

    def _check_judge(self) -> Iterator[Finding]:
        """Yield whether the second model that labels sentences answers, where one is set."""
        generation = self._config.generation
        if not generation.judge_model:
            return
        try:
            judge = open_judge(self._config, label_judge_settings(generation))
        except SextantError as error:
            yield Finding("Judge", "bad", str(error), "Unset SEXTANT_JUDGE_MODEL to do without.")
        else:
            yield Finding("Judge", "good", f"{judge.name} labels the sentences of answers")

    def close(self) -> None:
        """Wait for models that are being loaded: a process that ends while a runtime loads one crashes in it."""
        if self._loading is not None:
            self._loading.join()


def _load(loads: Sequence[Callable[[], object]]) -> None:
    with ThreadPoolExecutor(_MODELS_AT_ONCE) as threads:
        begun = [threads.submit(load) for load in loads]
    for future in begun:
        with suppress(SextantError):
            future.result()


def open_encoder(config: Config) -> Embedder:
    """Return the configured encoder, also for a workspace that was indexed with another."""
    return Models(config).embedder("")


def open_judge(config: Config, generation: GenerationConfig) -> Generator:
    """Return the language model of other settings than the workspace's; BackendError without one."""
    model, warning = Models(replace(config, generation=generation)).language_model()
    if model is None:
        cure = "" if warning else "Start Ollama or name another judge."  # a warning says its own
        raise BackendError(warning or "No language model answers.", help=cure)
    return model


def ollama_models(workspace: Path) -> list[InstalledModel]:
    """Return the models of the workspace's Ollama that write; BackendError if it is away."""
    return installed_models(read_config(workspace).generation)


def ollama_memory(workspace: Path) -> int | None:
    """Return the bytes of memory of the machine of the workspace's Ollama; None if it is another machine."""
    return int(psutil.virtual_memory().total) if runs_here(read_config(workspace).generation) else None


def pull_ollama_model(workspace: Path, name: str) -> Iterator[tuple[int, int]]:
    """Have the workspace's Ollama download a model, as `pull_model` does it."""
    return pull_model(read_config(workspace).generation, name)


def token_score_model() -> str:
    """Return the model and the layer of it that BERTScore compares by."""
    return token_score_name()


def open_token_score() -> Callable[[str, str], float]:
    """Return BERTScore of a text against a reference, 0 to 1; InputError without its library."""
    return load_token_score()
