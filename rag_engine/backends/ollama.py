"""A language model served by Ollama."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from math import ceil, inf
from time import monotonic
from typing import Any, Literal

import httpx
import ollama

from rag_engine.backends.llm_reply import check_read, check_whole, joined, manners_of, read_object, read_parts
from rag_engine.config import CONTEXT_STEP, REPLY_TOKENS, GenerationConfig
from rag_engine.errors import BackendError
from rag_engine.loopback import is_loopback
from rag_engine.text.thoughts import spoken, without_thoughts
from rag_engine.token_usage import report_tokens
from rag_engine.types.language_model import InstalledModel, Prompt

_DEFAULT_URL = GenerationConfig().ollama_url
_QUICK = httpx.Timeout(2.0, connect=0.3)  # is anyone there? asked every few seconds; a busy server takes its time
_CONNECT = 3.0
_PULL_SECONDS = 60.0  # between two words of a download: Ollama checks gigabytes in silence
_SMALLEST_CONTEXT = 2048
_TEMPLATE_TOKENS = 64  # put by a chat template around two messages
_BYTES_PER_TOKEN = 3  # at least, in UTF-8: a bound on the tokens of a message that needs no tokenizer
_UNKNOWN_WINDOW = 4096  # assumed of a model that does not tell
_BY_LEVELS = ("gptoss",)  # architectures of models that think by levels
_ENCODER_FAMILIES = ("bert", "nomic-bert", "xlm-roberta")
# The ways in which the client says that a server is away, at fault or no Ollama.
_NOT_OLLAMA = (httpx.HTTPError, ollama.ResponseError, ConnectionError, ValueError, TypeError)


class _OnlyThoughtsError(Exception):
    """A model that was asked not to think has thought, and said nothing."""


class OllamaGenerator:
    """Answers streamed by one model of one Ollama server."""

    def __init__(
        self,
        config: GenerationConfig,
        model: str,
        context_window: int,
        *,
        loaded: int = 0,
        thinks: bool = False,
        digest: str = "",
    ) -> None:
        self.name = f"ollama/{model}"
        self.digest = digest
        self.context_window = context_window
        self._model = model
        self._config = config
        self._manners = manners_of(config.ollama_url, model)
        self._thinks = thinks
        # Ollama loads a model again whenever num_ctx changes (seconds to minutes), so the window only ever grows,
        # beginning with the one it is loaded with.
        self._num_ctx = min(max(_SMALLEST_CONTEXT, loaded), context_window)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer; BackendError if the server is away, breaks off or stops at the token limit."""
        self._num_ctx = max(self._num_ctx, prompt.num_ctx)
        options = {"temperature": prompt.temperature, "num_predict": self._config.answer_tokens}
        return self._chat(
            prompt.system, prompt.user, options, seconds=self._config.answer_seconds, encoded=prompt.encoded
        )

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """Return one JSON object under the schema, at temperature 0; BackendError if none comes in time."""
        message = ceil(len((system + user).encode()) / _BYTES_PER_TOKEN)
        needed = ceil((message + _TEMPLATE_TOKENS + REPLY_TOKENS) / CONTEXT_STEP) * CONTEXT_STEP
        self._num_ctx = min(max(self._num_ctx, needed), self.context_window)
        options = {"temperature": 0.0, "num_predict": REPLY_TOKENS}
        reply = joined(self._chat(system, user, options, seconds=seconds, schema=schema), model=self.name)
        return read_object(spoken(reply), schema, model=self.name)

    def _chat(
        self,
        system: str,
        user: str,
        options: dict[str, float],
        *,
        seconds: float,
        encoded: int = 0,
        schema: dict[str, object] | None = None,
    ) -> Iterator[str]:
        """Yield what the model says; `encoded` are the encoder's tokens of the prompt."""
        deadline = monotonic() + seconds
        try:
            parts = self._parts(system, user, options, seconds, schema)
            yield from without_thoughts(self._words(parts, options, seconds, encoded))
        except _OnlyThoughtsError:
            self._manners.levels = True
            left = max(deadline - monotonic(), 0.1)
            parts = self._parts(system, user, options, left, schema)
            yield from without_thoughts(self._words(parts, options, left, encoded))

    def _words(
        self, parts: AsyncIterator[ollama.ChatResponse], options: dict[str, float], seconds: float, encoded: int
    ) -> Iterator[str]:
        deadline = monotonic() + seconds
        reason, read, silent, thought = None, None, True, False
        try:
            for part in read_parts(parts, seconds=seconds):
                if part.message.content:
                    silent = False
                    yield part.message.content
                thought = thought or bool(part.message.thinking)
                reason = part.done_reason if part.done else None
                if part.done:
                    read = part.prompt_eval_count
                    report_tokens(read, part.eval_count)
                if monotonic() > deadline and not part.done:
                    raise self._slow(seconds)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._slow(seconds) from error
        except (ollama.ResponseError, httpx.HTTPError, ConnectionError) as error:
            raise _failure(error, self._model, self._config) from error
        except (ValueError, AttributeError, TypeError) as error:
            # The client reads each line as a JSON object and checks its fields; these are how it says they are wrong.
            raise BackendError(
                "{model} sent what is not Ollama's protocol: {error}.", retryable=True, model=self.name, error=error
            ) from error
        if silent and thought and not self._manners.levels:
            raise _OnlyThoughtsError
        check_whole(reason, model=self.name, tokens=int(options["num_predict"]))
        check_read(read, encoded, model=self.name, window=self._num_ctx)

    async def _parts(
        self, system: str, user: str, options: dict[str, float], seconds: float, schema: dict[str, object] | None
    ) -> AsyncIterator[ollama.ChatResponse]:
        """Yield the lines of the server's reply."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        connection = _connection(self._config, httpx.Timeout(seconds, connect=_CONNECT))
        async with ollama.AsyncClient(self._config.ollama_url, **connection) as client:
            reply = await client.chat(
                self._model,
                messages,
                stream=True,
                think=self._think(),
                format=schema,
                options={"num_ctx": self._num_ctx, **options},
            )
            async for part in reply:
                yield part

    def _think(self) -> Literal["low"] | bool | None:
        """Return how much a model is to think, None for one that cannot.

        Its thoughts would eat the answer's tokens.
        """
        return None if not self._thinks else "low" if self._manners.levels else False

    def _slow(self, seconds: float) -> BackendError:
        return BackendError(
            "{model} was not done within {seconds:g} seconds.",
            help="Use a smaller model or fewer sources, or allow more time with SEXTANT_ANSWER_SECONDS, for planning a "
            "question with SEXTANT_PLANNER_SECONDS.",
            retryable=True,
            model=self.name,
            seconds=seconds,
        )


def installed_models(config: GenerationConfig) -> list[InstalledModel]:
    """Return the models of the server that write; BackendError if it is away or no Ollama."""
    try:
        return _models(config)
    except _NOT_OLLAMA as error:
        raise _no_models(error, config) from error


def pull_model(config: GenerationConfig, name: str) -> Iterator[tuple[int, int]]:
    """Have the server download a model; yield its bytes so far and in all, as far as known.

    Closing the iterator ends the download, and so does an error raised while it waits (rag_engine/waiting.py). The
    server keeps the part and continues there the next time. BackendError if the server is away, has no such model or
    breaks off.
    """
    parts: dict[str, tuple[int, int]] = {}
    status: str | None = ""
    try:
        for now in read_parts(_pull_parts(config, name), seconds=inf):
            status = now.status
            if now.digest and now.total:
                parts[now.digest] = now.completed or 0, now.total
                done, total = zip(*parts.values(), strict=True)
                yield sum(done), sum(total)
    except ollama.ResponseError as error:
        raise BackendError(
            "Ollama could not download {model}: {error}.",
            help="Check the model's name on ollama.com/library, and that Ollama's machine reaches the internet.",
            model=name,
            error=error.error[:200],
        ) from error
    except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise _away(config) from error
    except (httpx.HTTPError, ValueError, TypeError):
        status = ""
    if status != "success":
        raise BackendError(
            "The download of {model} broke off.",
            help="Download it again: it continues where it was.",
            retryable=True,
            model=name,
        )


async def _pull_parts(config: GenerationConfig, name: str) -> AsyncIterator[ollama.ProgressResponse]:
    """Yield the lines in which the server says how far a download is."""
    connection = _connection(config, httpx.Timeout(_PULL_SECONDS, connect=_CONNECT))
    async with ollama.AsyncClient(config.ollama_url, **connection) as client:
        async for part in await client.pull(name, stream=True):
            yield part


def find_ollama(config: GenerationConfig) -> OllamaGenerator | None:
    """Return the configured model of the server at `ollama_url`, else its first that writes.

    None only if Ollama was not asked for: neither address nor model is set, and nothing listens at the default address.
    BackendError for a server that is set and unavailable, slow or at fault, and for a model that is missing.
    """
    try:
        models = {found.name: found.digest for found in _models(config)}
    except _NOT_OLLAMA as error:
        refused = isinstance(error, (ConnectionError, httpx.ConnectError))
        if refused and config.ollama_url == _DEFAULT_URL and not config.ollama_model:
            return None
        raise _no_models(error, config) from error
    model = next((name for name in models if name in (config.ollama_model, f"{config.ollama_model}:latest")), None)
    if config.ollama_model and model is None:
        raise _missing(config.ollama_model)
    model = model or next(iter(models), None)
    if model is None:
        raise BackendError(
            "Ollama at {url} has no model that writes.", help="Run: ollama pull qwen3:8b", url=config.ollama_url
        )
    return _open(config, model, models[model])


def _models(config: GenerationConfig) -> list[InstalledModel]:
    with _client(config, _QUICK) as client:
        listed = client.list().models
    return [
        InstalledModel(entry.model, int(entry.size or 0), entry.digest or "")
        for entry in listed
        if entry.model and not _encodes(entry)
    ]


def _open(config: GenerationConfig, model: str, digest: str) -> OllamaGenerator:
    try:
        with _client(config, httpx.Timeout(10.0, connect=_CONNECT)) as client:
            shown = client.show(model)
            loaded = max((entry.context_length or 0 for entry in client.ps().models if entry.model == model), default=0)
    except _NOT_OLLAMA as error:
        raise _failure(error, model, config) from error
    lengths = [value for key, value in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
    window = next((int(value) for value in lengths if isinstance(value, int) and value > 0), _UNKNOWN_WINDOW)
    thinks = "thinking" in (shown.capabilities or ())
    if (shown.modelinfo or {}).get("general.architecture") in _BY_LEVELS:
        manners_of(config.ollama_url, model).levels = True
    return OllamaGenerator(config, model, window, loaded=loaded, thinks=thinks, digest=digest)


def _encodes(entry: ollama.ListResponse.Model) -> bool:
    """Return whether a listed model turns text into vectors instead of writing."""
    families = (entry.details.families or [entry.details.family or ""]) if entry.details else []
    return "embed" in (entry.model or "") or any(family in _ENCODER_FAMILIES for family in families)


def _client(config: GenerationConfig, timeout: httpx.Timeout) -> ollama.Client:
    return ollama.Client(config.ollama_url, **_connection(config, timeout))


def _connection(config: GenerationConfig, timeout: httpx.Timeout) -> dict[str, Any]:
    """Return how a client connects; redirects to other places are not followed."""
    # A proxy set for the web must not see questions and sources that go to this machine.
    return {"timeout": timeout, "trust_env": not runs_here(config), "follow_redirects": False}


def runs_here(config: GenerationConfig) -> bool:
    """Return whether the server is on this machine; BackendError for an address that cannot be read."""
    try:
        url = httpx.URL(config.ollama_url if "://" in config.ollama_url else f"http://{config.ollama_url}")
    except httpx.InvalidURL as error:
        raise BackendError(
            "Ollama's address {url!r} cannot be read: {error}.",
            help="Set SEXTANT_OLLAMA_URL to one like http://127.0.0.1:11434.",
            url=config.ollama_url,
            error=error,
        ) from error
    return is_loopback(url.host)


def _missing(model: str) -> BackendError:
    return BackendError("Ollama has no model {model}.", help="Run: ollama pull {model}", model=model)


def _failure(error: Exception, model: str, config: GenerationConfig) -> BackendError:
    """Return the error for a failed request to the server, with its remedy."""
    if isinstance(error, ollama.ResponseError) and error.status_code == 404:
        return _missing(model)
    if isinstance(error, ollama.ResponseError) and 300 <= error.status_code < 400:
        return BackendError(
            "{url} answered with status {status}: it leads to another address.",
            help="Set SEXTANT_OLLAMA_URL to the address of Ollama itself.",
            url=config.ollama_url,
            status=error.status_code,
        )
    if isinstance(error, ollama.ResponseError):
        return BackendError(
            "Ollama could not run {model}: {error}.",
            help="See Ollama's log; a model too large for the memory is the usual cause.",
            retryable=True,
            model=model,
            error=error.error[:200],
        )
    if isinstance(error, (ConnectionError, httpx.ConnectError)):
        return _away(config)
    return BackendError(
        "The connection to Ollama broke: {error}.", help="Ask again.", retryable=True, error=str(error).rstrip(".")
    )


def _no_models(error: Exception, config: GenerationConfig) -> BackendError:
    """Why the server did not say which models it has, with the remedy."""
    url = config.ollama_url
    if isinstance(error, (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout)):
        return _away(config)
    if isinstance(error, httpx.TimeoutException):
        return BackendError(
            "Ollama at {url} did not say within {seconds:g} seconds which models it has.",
            help="Ask again; if it stays so, restart it with: ollama serve.",
            retryable=True,
            url=url,
            seconds=_QUICK.read,
        )
    if isinstance(error, ollama.ResponseError):
        return BackendError(
            "{url} answered with status {status} when asked for its models: {error}.",
            help="See Ollama's log, or set SEXTANT_OLLAMA_URL if this is another server.",
            retryable=True,
            url=url,
            status=error.status_code,
            error=error.error[:200],
        )
    return BackendError(
        "{url} did not answer in Ollama's protocol: {error}.",
        help="Set SEXTANT_OLLAMA_URL to the address of Ollama.",
        retryable=True,
        url=url,
        error=error,
    )


def _away(config: GenerationConfig) -> BackendError:
    return BackendError(
        "Ollama does not answer at {url}.",
        help="Start it with: ollama serve, or set SEXTANT_OLLAMA_URL.",
        retryable=True,
        url=config.ollama_url,
    )
