"""A language model behind any endpoint that speaks OpenAI's chat protocol."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import httpx

from rag_engine.backends.llm_reply import (
    check_read,
    check_whole,
    find_full_window,
    joined,
    manners_of,
    read_object,
    read_parts,
)
from rag_engine.config import REPLY_TOKENS, GenerationConfig
from rag_engine.errors import BackendError, WindowError
from rag_engine.loopback import is_loopback
from rag_engine.text.thoughts import spoken, without_thoughts
from rag_engine.token_usage import report_tokens
from rag_engine.types.language_model import Prompt

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionChunk

_CONNECT, _QUICK = 5.0, 2.0
_UNKNOWN_WINDOW = 16384  # the protocol has no field for it; servers that tell use one of the names below
_WINDOW_FIELDS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx",
)
# Parameters that some models refuse; the answer is asked for without them.
_TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
_OPTIONAL = re.compile(r"\b(stream_options|max_tokens|max_completion_tokens|temperature)\b")


class OpenAIGenerator:
    """Answers streamed by one model of one endpoint."""

    def __init__(self, config: GenerationConfig, context_window: int = _UNKNOWN_WINDOW) -> None:
        self.name = f"openai/{config.openai_model}"
        self._config = config
        self._manners = manners_of(config.openai_url, config.openai_model)
        self.context_window = self._manners.window or context_window

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Return the pieces of the answer as they come.

        BackendError if the endpoint is down, breaks off or stops at the token limit. WindowError if the prompt is
        longer than its window.
        """
        return self._chat(
            prompt.system,
            prompt.user,
            temperature=prompt.temperature,
            tokens=min(self._config.answer_tokens, self.context_window // 3),
            seconds=self._config.answer_seconds,
            encoded=prompt.encoded,
        )

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """Return one JSON object under the schema, at temperature 0; BackendError if none comes in time.

        An endpoint that refuses a JSON schema is asked again in words.
        """
        import openai

        deadline = monotonic() + seconds
        wanted = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}
        try:
            pieces = self._chat(system, user, tokens=REPLY_TOKENS, seconds=seconds, response_format=wanted)
            reply = joined(pieces, model=self.name)
        except BackendError as error:
            refused = isinstance(error.__cause__, (openai.BadRequestError, openai.UnprocessableEntityError))
            if not refused or isinstance(error, WindowError):
                raise
            system = "\n".join((system, "Reply with one JSON object under this schema:", json.dumps(schema)))
            pieces = self._chat(system, user, tokens=REPLY_TOKENS, seconds=max(deadline - monotonic(), 0.1))
            reply = joined(pieces, model=self.name)
        return read_object(spoken(reply), schema, model=self.name)

    def _chat(
        self,
        system: str,
        user: str,
        *,
        tokens: int,
        seconds: float,
        temperature: float = 0.0,
        encoded: int = 0,
        response_format: Mapping[str, object] | None = None,
    ) -> Iterator[str]:
        """Yield what the model says; `encoded` are the encoder's tokens of the prompt."""
        body: dict[str, object] = {
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": temperature,
            "max_tokens": tokens,
        }
        body |= {"response_format": response_format} if response_format else {}
        return without_thoughts(self._words(body, seconds, encoded))

    def _words(self, body: Mapping[str, object], seconds: float, encoded: int) -> Iterator[str]:
        import openai

        deadline = monotonic() + seconds
        reason, read = None, None
        try:
            for chunk in read_parts(self._parts(body, seconds), seconds=seconds):
                for choice in chunk.choices:
                    reason = choice.finish_reason or reason
                    if choice.delta.content:
                        yield choice.delta.content
                # Some endpoints tell them with the last chunk.
                if chunk.usage:
                    read = chunk.usage.prompt_tokens
                    report_tokens(read, chunk.usage.completion_tokens)
                if monotonic() > deadline and reason is None:
                    raise self._slow(seconds)
        except (TimeoutError, openai.APITimeoutError, httpx.TimeoutException) as error:
            raise self._slow(seconds) from error
        except (openai.APIError, httpx.HTTPError) as error:
            raise self._failure(error) from error
        except (json.JSONDecodeError, TypeError, AttributeError) as error:
            raise BackendError(
                "{model} sent what is not OpenAI's protocol: {error}.", retryable=True, model=self.name, error=error
            ) from error
        check_whole(reason, model=self.name, tokens=int(str(body["max_tokens"])))
        check_read(read, encoded, model=self.name)

    async def _parts(self, body: Mapping[str, object], seconds: float) -> AsyncIterator[ChatCompletionChunk]:
        """Yield the chunks of the endpoint's reply, which is asked for without what it refuses."""
        import openai

        settings = _settings(self._config, seconds)
        transport = openai.DefaultAsyncHttpxClient(**_way_there(self._config, settings["timeout"]))
        async with openai.AsyncOpenAI(http_client=transport, **settings) as client:
            client.organization = client.project = None
            reply = None
            while reply is None:
                wanted = _accepted({**body, "stream_options": {"include_usage": True}}, self._manners.refused)
                try:
                    reply = await client.chat.completions.create(
                        model=self._config.openai_model, messages=[], stream=True, extra_body=wanted
                    )
                except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                    if not self._learns(error, wanted):
                        raise
            async for chunk in reply:
                yield chunk

    def _learns(self, error: openai.APIStatusError, asked: Mapping[str, object]) -> bool:
        """Take note of the parameter that an endpoint refuses; return whether it is one to leave out."""
        if find_full_window(_said(error)):
            return False
        named = [name for name in _OPTIONAL.findall(f"{error.param or ''} {error.message}") if name in asked]
        self._manners.refused.update(named[:1])
        return bool(named)

    def _slow(self, seconds: float) -> BackendError:
        return BackendError(
            "{model} was not done within {seconds:g} seconds.",
            help="Ask again, use another model, or allow more time with SEXTANT_ANSWER_SECONDS, for planning a "
            "question with SEXTANT_PLANNER_SECONDS.",
            retryable=True,
            model=self.name,
            seconds=seconds,
        )

    def _failure(self, error: Exception) -> BackendError:
        """Return the error for a failed request to the endpoint, with its remedy."""
        import openai

        url, model = self._config.openai_url, self._config.openai_model
        if full := find_full_window(_said(error)) if isinstance(error, openai.APIError) else None:
            self._manners.window = full[0] or self.context_window // 2
            self.context_window = self._manners.window
            return WindowError(
                "The prompt is longer than the window of {window} tokens of {model}.",
                help="Start its server with a larger context window, or set SEXTANT_OPENAI_MODEL.",
                window=self.context_window,
                counted=full[1],
                model=model,
            )
        if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
            return BackendError("{url} refuses the key.", help="Set SEXTANT_OPENAI_KEY.", url=url)
        if isinstance(error, openai.NotFoundError):
            return BackendError(
                "{url} has no model {model}, or is not the address of the API.",
                help="Check SEXTANT_OPENAI_MODEL, and that SEXTANT_OPENAI_URL ends as the server wants it (often /v1).",
                url=url,
                model=model,
            )
        if isinstance(error, openai.APIStatusError):
            return BackendError(
                "{url} answered with status {status}: {error}.",
                help="See the server's log.",
                retryable=error.status_code >= 429,
                url=url,
                status=error.status_code,
                error=error.message[:200],
            )
        if isinstance(error, openai.APIConnectionError):
            return BackendError(
                "{url} cannot be reached or broke off.",
                help="Start the server or check SEXTANT_OPENAI_URL.",
                retryable=True,
                url=url,
            )
        return BackendError(
            "The connection to {url} broke: {error}.",
            help="Ask again.",
            retryable=True,
            url=url,
            error=str(error).rstrip("."),
        )


def find_openai(config: GenerationConfig) -> OpenAIGenerator | None:
    """Return the model at `openai_url`, or None if no such endpoint is set.

    BackendError when no model is named for it.
    """
    if not config.openai_url:
        return None
    if not config.openai_model:
        raise BackendError("No model is named for {url}.", help="Set SEXTANT_OPENAI_MODEL.", url=config.openai_url)
    return OpenAIGenerator(config, _window(config))


def _window(config: GenerationConfig) -> int:
    """Return the context window that the endpoint states of its model.

    It is asked for the model, for the list of its models, and for the properties that llama.cpp's server states. It is
    a careful guess if the endpoint states none or is down.
    """
    import openai

    model = config.openai_model
    try:
        with _client(config, _QUICK) as client:
            asked: tuple[Callable[[], Iterable[Mapping[str, object]]], ...] = (
                lambda: [client.models.retrieve(model).model_dump()],
                lambda: [one.model_dump() for one in client.models.list().data if one.id == model],
                lambda: [_properties(client)],
            )
            for describe in asked:
                # One way may be unknown to the server, or answered with something else.
                with suppress(openai.APIStatusError, json.JSONDecodeError, TypeError, AttributeError):
                    for one in describe():
                        for value in map(one.get, _WINDOW_FIELDS):
                            if isinstance(value, int) and value > 0:
                                return value
    except (openai.APIError, httpx.HTTPError):
        pass
    return _UNKNOWN_WINDOW


def _properties(client: openai.OpenAI) -> Mapping[str, object]:
    """Return what llama.cpp's server says of how it runs its model."""
    told = client.get(str(client.base_url.join("/props")), cast_to=httpx.Response).json()
    settings: Mapping[str, object] = told["default_generation_settings"]
    return settings


def _accepted(body: Mapping[str, object], refused: Collection[str]) -> dict[str, object]:
    """Return a request without what an endpoint refuses; a limit of tokens has another name."""
    limit = next((name for name in _TOKEN_LIMITS if name not in refused), None)
    renamed = {limit if name == "max_tokens" else name: value for name, value in body.items()}
    return {name: value for name, value in renamed.items() if name and name not in refused}


def _said(error: openai.APIError) -> str:
    """Return what an endpoint says in an error, with all of its fields."""
    return f"{error.message} {json.dumps(error.body, default=str)}"


def _client(config: GenerationConfig, seconds: float) -> openai.OpenAI:
    import openai

    settings = _settings(config, seconds)
    transport = openai.DefaultHttpxClient(**_way_there(config, settings["timeout"]))
    client = openai.OpenAI(http_client=transport, **settings)
    client.organization = client.project = None
    return client


def _settings(config: GenerationConfig, seconds: float) -> dict[str, Any]:
    """Return the arguments for a client of the package.

    The package fills missing ones from OPENAI_* variables. It would send a person's key, organisation and project to a
    server that must not have them. A key in the headers also wins over OPENAI_CUSTOM_HEADERS.
    """
    import openai

    key = config.openai_key or "none"
    return {
        "base_url": config.openai_url,
        "api_key": key,
        "default_headers": {"Authorization": f"Bearer {key}"},
        "timeout": openai.Timeout(seconds, connect=_CONNECT),
        "max_retries": 0,
    }


def _way_there(config: GenerationConfig, timeout: httpx.Timeout) -> dict[str, Any]:
    """Return how the endpoint is reached; redirects to other places are not followed."""
    return {"timeout": timeout, "trust_env": _trusts_proxy(config), "follow_redirects": False}


def _trusts_proxy(config: GenerationConfig) -> bool:
    """Return whether the environment's proxy may be used.

    A proxy that is set for the web must not see requests to this machine. BackendError if the address cannot be read.
    """
    try:
        return not is_loopback(httpx.URL(config.openai_url).host)
    except httpx.InvalidURL as error:
        raise BackendError(
            "The endpoint's address {url!r} cannot be read: {error}.",
            help="Set SEXTANT_OPENAI_URL to one like http://127.0.0.1:8000/v1.",
            url=config.openai_url,
            error=error,
        ) from error
