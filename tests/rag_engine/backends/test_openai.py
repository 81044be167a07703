import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
import pytest

from rag_engine.backends.openai import OpenAIGenerator, find_openai
from rag_engine.config import GenerationConfig
from rag_engine.errors import BackendError, WindowError
from rag_engine.prompts import PLANNER_SCHEMA
from rag_engine.token_usage import while_counting
from rag_engine.types.evidence import QueryPlan, TokenCount
from rag_engine.types.language_model import Prompt
from tests.present import present
from tests.rag_engine.backends.scripted_server import Reply, Script, serving

PLAN = {"query_1": "a", "query_2": "b", "query_3": "c", "output_instructions": "", "geographic_scope": []}
PROMPT = Prompt("rules", "question", QueryPlan("question", "en", ("question",)), (), (), 900, 3072, 0.3, encoded=900)
CHAT = "/v1/chat/completions"


def event(delta: dict[str, str], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def words(*said: str, reason: str | None = "stop") -> tuple[bytes, ...]:
    return (*(event({"content": word}) for word in said), event({}, reason), b"data: [DONE]\n\n")


@contextmanager
def serving_model(patch: pytest.MonkeyPatch, *replies: Reply) -> Iterator[Script]:
    """Serve a model that replies so, one question after the other, and have the environment name it."""
    known = Reply((b'{"id": "m", "max_model_len": 8192}',))
    with serving(Script({"/v1/models/m": known, CHAT: list(replies)})) as script:
        patch.setenv("SEXTANT_OPENAI_URL", f"{script.url}/v1")
        patch.setenv("SEXTANT_OPENAI_MODEL", "m")
        yield script


@pytest.fixture
def server() -> Iterator[Script]:
    with serving(Script({"/v1/models/mistral": Reply((b'{"id": "mistral", "max_model_len": 32768}',))})) as script:
        yield script


@pytest.fixture
def config(server: Script) -> GenerationConfig:
    return GenerationConfig(
        openai_url=server.url + "/v1", openai_model="mistral", openai_key="k", answer_tokens=64, answer_seconds=5
    )


def open_openai(config: GenerationConfig) -> OpenAIGenerator:
    """Return the endpoint that is found, which there must be."""
    return present(find_openai(config))


def test_no_endpoint_is_no_generator() -> None:
    assert find_openai(GenerationConfig()) is None


def test_an_endpoint_without_a_model_says_which_setting_is_missing(config: GenerationConfig) -> None:
    with pytest.raises(BackendError, match="SEXTANT_OPENAI_MODEL"):
        find_openai(replace(config, openai_model=""))


def test_the_window_is_the_one_the_endpoint_tells_else_a_careful_guess(
    server: Script, config: GenerationConfig
) -> None:
    assert open_openai(config).context_window == 32768
    del server.replies["/v1/models/mistral"]
    assert open_openai(config).context_window == 16384
    assert open_openai(replace(config, openai_url="http://127.0.0.1:9/v1")).context_window == 16384


def test_the_window_stands_in_the_list_of_models_or_where_llama_cpp_states_it(
    server: Script, config: GenerationConfig
) -> None:
    del server.replies["/v1/models/mistral"]
    server.replies["/props"] = Reply((b'{"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}',))
    assert open_openai(config).context_window == 4096
    listed = {"object": "list", "data": [{"id": "other", "context_length": 512}, {"id": "mistral", "n_ctx": 2048}]}
    server.replies["/v1/models"] = Reply((json.dumps(listed).encode(),))
    assert open_openai(config).context_window == 2048


FULL = "request (6368 tokens) exceeds the available context size (4096 tokens), try increasing it"


@pytest.mark.parametrize(
    "refusal",
    [
        Reply((json.dumps({"error": {"code": 400, "message": FULL, "n_ctx": 4096}}).encode(),), status=400),
        Reply((b"data: " + json.dumps({"error": {"message": FULL}}).encode() + b"\n\n",)),
        Reply((json.dumps({"error": {"message": FULL}}).encode(),), status=500),
    ],
    ids=["status", "event", "fault"],
)
def test_a_window_that_the_server_tells_in_an_error_is_remembered(
    server: Script, config: GenerationConfig, refusal: Reply
) -> None:
    server.replies[CHAT] = [refusal]
    with pytest.raises(WindowError, match="window of 4096 tokens") as refused:
        list(open_openai(config).stream(PROMPT))
    assert (refused.value.window, refused.value.counted) == (4096, 6368)
    assert open_openai(config).context_window == 4096


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "tokens"),
        ("Unsupported value: 'temperature' does not support 0.3 with this model.", "temperature"),
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
    ],
)
def test_a_parameter_that_the_model_refuses_is_left_out_and_that_is_remembered(
    server: Script, config: GenerationConfig, said: str, wanted: str
) -> None:
    refusal = Reply((json.dumps({"error": {"message": said}}).encode(),), status=400)
    server.replies[CHAT] = [refusal, Reply(words("x")), Reply(words("y"))]
    assert list(open_openai(config).stream(PROMPT)) == ["x"]
    assert list(open_openai(config).stream(PROMPT)) == ["y"]
    first, second, third = (body for path, body in server.asked if path == CHAT)
    assert second.keys() == third.keys()
    if wanted == "tokens":
        assert (first["max_tokens"], second["max_completion_tokens"]) == (64, 64)
        assert "max_tokens" not in second
    else:
        assert first.keys() - second.keys() == {wanted}


@pytest.mark.parametrize("reason", ["abort", "error", "content_filter"])
def test_an_answer_that_the_server_ends_is_unfinished(server: Script, config: GenerationConfig, reason: str) -> None:
    server.replies[CHAT] = Reply(words("The dyke", reason=reason))
    stream = open_openai(config).stream(PROMPT)
    assert next(stream) == "The dyke"
    with pytest.raises(BackendError, match=f"before it was finished .{reason}."):
        next(stream)


def test_thoughts_before_a_reply_in_json_are_no_part_of_it(server: Script, config: GenerationConfig) -> None:
    server.replies[CHAT] = Reply(words('The user wants {"query_1": "x"}.</think>', json.dumps(PLAN)))
    assert open_openai(config).complete_json("s", "q", PLANNER_SCHEMA, seconds=5) == PLAN


def test_an_answer_streams_with_the_prompts_options(server: Script, config: GenerationConfig) -> None:
    server.replies[CHAT] = Reply(words("The ", "dyke ", "[Source 1]."))
    generator = open_openai(config)
    assert generator.name == "openai/mistral"
    assert list(generator.stream(PROMPT)) == ["The ", "dyke ", "[Source 1]."]
    asked = server.asked[-1][1]
    assert (asked["model"], asked["temperature"], asked["max_tokens"], asked["stream"]) == ("mistral", 0.3, 64, True)
    assert "response_format" not in asked


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(words("The ", "dyke ")[:2], drops=True), "broke"),
        (Reply((*words("The ", "dyke ")[:2], b"data: [DONE]\n\n")), "stopped before it had finished"),
        (Reply((*words("The ", "dyke ")[:2], b"data: not json\n\n")), "not OpenAI's protocol"),
        (Reply((*words("The ", "dyke ")[:2], b'data: {"error": {"message": "out of memory"}}\n\n')), "out of memory"),
        (Reply(words("The ", "dyke ", reason="length")), "limit of 64 tokens"),
        (Reply(words("The ", "dyke ")[:2], stalls=True), "within 0.4 seconds"),
    ],
    ids=["drop", "end", "garbage", "error", "length", "slow"],
)
def test_a_fault_in_the_middle_keeps_the_words_and_says_what_happened(
    server: Script, config: GenerationConfig, reply: Reply, said: str
) -> None:
    server.replies[CHAT] = reply
    stream = open_openai(replace(config, answer_seconds=0.4 if reply.stalls else 5)).stream(PROMPT)
    assert [next(stream), next(stream)] == ["The ", "dyke "]
    with pytest.raises(BackendError, match=said):
        next(stream)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply((b'{"error": {"message": "bad key"}}',), status=401), "SEXTANT_OPENAI_KEY"),
        (Reply((b'{"error": {"message": "no such model"}}',), status=404), "SEXTANT_OPENAI_MODEL"),
        (Reply((b'{"error": {"message": "overloaded"}}',), status=500), "status 500"),
        (Reply((), stalls=True), "within 0.3 seconds"),
    ],
    ids=["401", "404", "500", "slow"],
)
def test_a_fault_before_the_first_word_says_what_to_do_and_is_not_tried_again(
    server: Script, config: GenerationConfig, reply: Reply, said: str
) -> None:
    server.replies[CHAT] = reply
    with pytest.raises(BackendError, match=said):
        list(open_openai(replace(config, answer_seconds=0.3 if reply.stalls else 5)).stream(PROMPT))
    assert [path for path, _ in server.asked].count(CHAT) == 1


def test_an_endpoint_that_is_away_says_so(config: GenerationConfig) -> None:
    with pytest.raises(BackendError, match="cannot be reached"):
        list(open_openai(replace(config, openai_url="http://127.0.0.1:9/v1")).stream(PROMPT))


def test_a_plan_is_asked_for_under_its_schema(server: Script, config: GenerationConfig) -> None:
    server.replies[CHAT] = Reply(words(*json.dumps(PLAN)))
    assert open_openai(config).complete_json("s", "u", PLANNER_SCHEMA, seconds=5) == PLAN
    assert server.asked[-1][1]["response_format"]["json_schema"]["schema"] == PLANNER_SCHEMA


def test_an_endpoint_that_knows_no_schema_is_asked_in_words(server: Script, config: GenerationConfig) -> None:
    refusal = Reply((b'{"error": {"message": "response_format is not supported"}}',), status=400)
    server.replies[CHAT] = [refusal, Reply(words("Here it is:\n```json\n", json.dumps(PLAN), "\n```"))]
    assert open_openai(config).complete_json("s", "u", PLANNER_SCHEMA, seconds=5) == PLAN
    asked = server.asked[-1][1]
    assert "response_format" not in asked
    assert "geographic_scope" in asked["messages"][0]["content"]


def test_the_key_of_another_service_is_never_sent(
    server: Script, config: GenerationConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    server.replies[CHAT] = Reply(words("x"))
    assert list(open_openai(replace(config, openai_key="")).stream(PROMPT)) == ["x"]
    assert "secret" not in json.dumps(server.headers)


def test_organisation_project_and_headers_of_another_service_are_never_sent(
    server: Script, config: GenerationConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "secret-organisation")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "secret-project")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer secret-key")
    server.replies[CHAT] = Reply(words("x"))
    assert list(open_openai(config).stream(PROMPT)) == ["x"]
    assert "secret" not in json.dumps(server.headers)
    assert {httpx.Headers(headers)["Authorization"] for headers in server.headers} == {"Bearer k"}


def test_what_goes_to_this_machine_passes_no_proxy(
    server: Script, config: GenerationConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert open_openai(config).context_window == 32768  # told by the server itself


def test_an_address_that_cannot_be_read_names_the_setting(config: GenerationConfig) -> None:
    with pytest.raises(BackendError, match="SEXTANT_OPENAI_URL"):
        find_openai(replace(config, openai_url="http://127.0.0.1:port/v1"))


def used(prompt: int, reply: int) -> bytes:
    """Return the last chunk of a reply, which tells the tokens alone."""
    usage = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def test_the_tokens_that_the_endpoint_counts_are_reported(server: Script, config: GenerationConfig) -> None:
    *said, done = words(json.dumps(PLAN))
    server.replies[CHAT] = Reply((*said, used(812, 64), done))
    counted: list[TokenCount] = []
    with while_counting(counted.append):
        open_openai(config).complete_json("s", "u", PLANNER_SCHEMA, seconds=5)
    assert counted == [TokenCount(812, 64)]
    assert server.asked[-1][1]["stream_options"] == {"include_usage": True}


def test_an_endpoint_that_counts_nothing_reports_nothing(server: Script, config: GenerationConfig) -> None:
    server.replies[CHAT] = Reply(words("x"))
    counted: list[TokenCount] = []
    with while_counting(counted.append):
        list(open_openai(config).stream(PROMPT))
    assert counted == []


def test_an_endpoint_that_refuses_to_be_asked_for_tokens_is_not_asked_again(
    server: Script, config: GenerationConfig
) -> None:
    refusal = Reply((b'{"error": {"message": "Extra inputs are not permitted: stream_options"}}',), status=422)
    server.replies[CHAT] = [refusal, Reply(words("x")), Reply(words("y"))]
    model = open_openai(config)
    assert [*model.stream(PROMPT), *model.stream(PROMPT)] == ["x", "y"]
    assert ["stream_options" in body for path, body in server.asked if path == CHAT] == [True, False, False]


def test_a_server_that_sends_on_gets_no_question_to_another(server: Script, config: GenerationConfig) -> None:
    with serving(Script()) as inside:
        server.replies[CHAT] = Reply((b"",), status=307, location=inside.url + CHAT)
        with pytest.raises(BackendError, match="307"):
            list(open_openai(config).stream(PROMPT))
        assert not inside.asked
