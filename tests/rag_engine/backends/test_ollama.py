import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from time import monotonic

import pytest

from rag_engine.answering.generation import AnswerTools, answer
from rag_engine.backends import ollama
from rag_engine.backends.ollama import OllamaGenerator, find_ollama, runs_here
from rag_engine.config import GenerationConfig
from rag_engine.errors import BackendError, CutError
from rag_engine.prompts import PLANNER_RULES, PLANNER_SCHEMA, planner_message
from rag_engine.token_usage import while_counting
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import QueryPlan, TokenCount
from rag_engine.types.language_model import Prompt
from tests.present import present
from tests.rag_engine.backends.scripted_server import Reply, Script, serving
from tests.rag_engine.conftest import CountingEmbedder, make_evidence, make_source

PLAN = {"query_1": "a", "query_2": "b", "query_3": "c", "output_instructions": "", "geographic_scope": ["Italy"]}
PROMPT = Prompt("rules", "question", QueryPlan("question", "en", ("question",)), (), (), 900, 3072, 0.3, encoded=900)


def line(**parts: object) -> bytes:
    return json.dumps(parts).encode() + b"\n"


def words(*said: str, reason: str = "stop") -> tuple[bytes, ...]:
    spoken = tuple(line(model="m", message={"role": "assistant", "content": word}, done=False) for word in said)
    return (*spoken, line(model="m", message={"role": "assistant", "content": ""}, done=True, done_reason=reason))


def listing(*names: str, family: str = "llama") -> Reply:
    models = [
        {"name": name, "model": name, "digest": f"sha of {name}", "details": {"family": family}} for name in names
    ]
    return Reply((json.dumps({"models": models}).encode(),))


@pytest.fixture
def server() -> Iterator[Script]:
    shown = {
        "model_info": {"general.architecture": "llama", "llama.context_length": 8192},
        "capabilities": ["completion"],
    }
    script = Script(
        {
            "/api/tags": listing("nomic-embed-text:latest", "mistral:7b"),
            "/api/show": Reply((json.dumps(shown).encode(),)),
            "/api/ps": Reply((b'{"models": []}',)),
        }
    )
    with serving(script):
        yield script


@pytest.fixture
def config(server: Script) -> GenerationConfig:
    return GenerationConfig(ollama_url=server.url, answer_tokens=64, answer_seconds=5)


def open_ollama(config: GenerationConfig) -> OllamaGenerator:
    """Return the model that is found, which there must be."""
    return present(find_ollama(config))


def test_the_first_model_that_writes_is_found_with_its_window(server: Script, config: GenerationConfig) -> None:
    generator = open_ollama(config)
    assert (generator.name, generator.context_window) == ("ollama/mistral:7b", 8192)


def test_a_model_is_known_by_the_digest_of_its_weights(config: GenerationConfig) -> None:
    assert open_ollama(config).digest == "sha of mistral:7b"


def test_the_configured_model_is_found_with_and_without_its_tag(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/tags"] = listing("mistral:7b", "qwen3:latest")
    assert open_ollama(replace(config, ollama_model="qwen3")).name == "ollama/qwen3:latest"
    assert open_ollama(replace(config, ollama_model="mistral:7b")).name == "ollama/mistral:7b"


@pytest.mark.parametrize(("url", "here"), [("localhost:11434", True), ("http://[::1]:1", True), ("10.0.0.2:1", False)])
def test_an_address_of_this_machine_is_known_without_its_scheme(url: str, here: bool) -> None:
    assert runs_here(GenerationConfig(ollama_url=url)) is here


def test_a_configured_model_that_is_missing_names_the_command(config: GenerationConfig) -> None:
    with pytest.raises(BackendError, match=r"no model phi4.*ollama pull phi4"):
        find_ollama(replace(config, ollama_model="phi4"))


def test_a_server_with_no_model_that_writes_says_how_to_get_one(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/tags"] = listing("bge-m3", family="bert")
    with pytest.raises(BackendError, match=r"no model that writes.*ollama pull"):
        find_ollama(config)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply((b"garbage",)), "not answer in Ollama's protocol"),
        (Reply((b"[1]",)), "not answer in Ollama's protocol"),
        (Reply((b"busy",), status=500), "status 500.*busy"),
        (Reply((b"",), status=404), "status 404"),
    ],
)
def test_something_else_on_the_port_is_told(server: Script, config: GenerationConfig, reply: Reply, said: str) -> None:
    server.replies["/api/tags"] = reply
    with pytest.raises(BackendError, match=said):
        find_ollama(config)


@pytest.fixture
def nobody_at_the_default(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the default address, moved to a port where no Ollama of this machine listens."""
    url = "http://127.0.0.1:9"
    monkeypatch.setattr(ollama, "_DEFAULT_URL", url)
    return url


def test_nobody_at_the_default_address_is_no_generator(config: GenerationConfig, nobody_at_the_default: str) -> None:
    assert find_ollama(replace(config, ollama_url=nobody_at_the_default)) is None


def test_a_model_that_was_asked_for_is_missed_also_at_the_default_address(
    config: GenerationConfig, nobody_at_the_default: str
) -> None:
    with pytest.raises(BackendError, match="does not answer at"):
        find_ollama(replace(config, ollama_url=nobody_at_the_default, ollama_model="phi4"))


def test_an_address_that_was_set_and_does_not_answer_is_told(config: GenerationConfig) -> None:
    with pytest.raises(BackendError, match=r"does not answer at http://127.0.0.1:9"):
        find_ollama(replace(config, ollama_url="http://127.0.0.1:9"))


def test_a_silent_server_is_told_after_two_seconds_even_at_the_default_address(
    config: GenerationConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(ollama, "_DEFAULT_URL", url)
        started = monotonic()
        with pytest.raises(BackendError, match=r"within 2 seconds"):
            find_ollama(replace(config, ollama_url=url))
        assert monotonic() - started < 4  # two seconds, and room for a busy machine


def test_an_address_that_cannot_be_read_names_the_setting(config: GenerationConfig) -> None:
    with pytest.raises(BackendError, match="SEXTANT_OLLAMA_URL"):
        find_ollama(replace(config, ollama_url="http://127.0.0.1:port"))


def test_a_server_that_trickles_is_held_to_the_time_limit(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/chat"] = Reply(words(*("word " for _ in range(2000))))
    with pytest.raises(BackendError, match=r"within 0.01 seconds"):
        list(open_ollama(replace(config, answer_seconds=0.01)).stream(PROMPT))


def test_an_answer_streams_with_the_prompts_options(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/chat"] = Reply(words("The ", "dyke ", "[Source 1]."))
    assert list(open_ollama(config).stream(PROMPT)) == ["The ", "dyke ", "[Source 1]."]
    asked = server.asked[-1][1]
    assert asked["options"] == {"num_ctx": 3072, "temperature": 0.3, "num_predict": 64}
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]


def test_the_window_never_shrinks_since_that_would_load_the_model_anew(
    server: Script, config: GenerationConfig
) -> None:
    server.replies["/api/chat"] = Reply(words("x"))
    server.replies["/api/ps"] = Reply(
        (json.dumps({"models": [{"model": "mistral:7b", "context_length": 4096}]}).encode(),)
    )
    generator = open_ollama(config)
    for num_ctx in (3072, 6144, 2048):
        list(generator.stream(replace(PROMPT, num_ctx=num_ctx)))
    windows = [body["options"]["num_ctx"] for path, body in server.asked if path == "/api/chat"]
    assert windows == [4096, 6144, 6144]


def test_the_window_of_a_plan_holds_a_question_of_any_length_and_script(
    server: Script, config: GenerationConfig
) -> None:
    server.replies["/api/chat"] = Reply(words(json.dumps(PLAN)))
    generator = open_ollama(config)
    for question in ("Floods?", "洪水" * 2000, "Floods?"):
        generator.complete_json("s", question, PLANNER_SCHEMA, seconds=5)
    windows = [body["options"]["num_ctx"] for path, body in server.asked if path == "/api/chat"]
    assert windows == [2560, 6144, 6144]  # 4,000 signs of three bytes, a template and a plan, in steps of 512
    small = ollama.OllamaGenerator(config, "mistral:7b", 4096)
    small.complete_json("s", "洪水" * 2000, PLANNER_SCHEMA, seconds=5)
    assert server.asked[-1][1]["options"]["num_ctx"] == 4096


def test_a_model_that_thinks_aloud_is_told_not_to(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/show"] = Reply((b'{"model_info": {}, "capabilities": ["completion", "thinking"]}',))
    server.replies["/api/chat"] = Reply(words("x"))
    list(open_ollama(config).stream(PROMPT))
    assert server.asked[-1][1]["think"] is False


def thinking_model(architecture: str) -> Reply:
    shown = {"model_info": {"general.architecture": architecture}, "capabilities": ["completion", "thinking"]}
    return Reply((json.dumps(shown).encode(),))


def test_a_model_that_thinks_by_levels_is_told_to_think_little(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/show"] = thinking_model("gptoss")
    server.replies["/api/chat"] = Reply(words("x"))
    list(open_ollama(config).stream(PROMPT))
    assert server.asked[-1][1]["think"] == "low"


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_a_model_that_thinks_though_it_is_told_not_to_is_asked_again(
    server: Script, config: GenerationConfig, reason: str
) -> None:
    server.replies["/api/show"] = thinking_model("other")
    thought = line(model="m", message={"role": "assistant", "content": "", "thinking": "Hmm."}, done=False)
    only = Reply((thought, *words(reason=reason)))
    server.replies["/api/chat"] = [only, Reply(words(json.dumps(PLAN))), Reply(words("x"))]
    assert open_ollama(config).complete_json("s", "q", PLANNER_SCHEMA, seconds=5) == PLAN
    assert list(open_ollama(config).stream(PROMPT)) == ["x"]
    assert [body["think"] for path, body in server.asked if path == "/api/chat"] == [False, "low", "low"]


def test_a_vocabulary_that_counts_fewer_tokens_has_cut_nothing(server: Script, config: GenerationConfig) -> None:
    end = line(
        model="m", message={"role": "assistant", "content": ""}, done=True, done_reason="stop",
        prompt_eval_count=700, eval_count=2,
    )  # fmt: skip
    server.replies["/api/chat"] = Reply((*words("x")[:1], end))
    assert list(open_ollama(config).stream(PROMPT)) == ["x"]


@pytest.mark.parametrize(("read", "said"), [(200, "read 200 of about 900 tokens"), (3072, "window of 3072 tokens")])
def test_a_prompt_that_the_server_has_cut_is_noticed(
    server: Script, config: GenerationConfig, read: int, said: str
) -> None:
    end = line(
        model="m",
        message={"role": "assistant", "content": ""},
        done=True,
        done_reason="stop",
        prompt_eval_count=read,
        eval_count=2,
    )
    server.replies["/api/chat"] = Reply((*words("x")[:1], end))
    stream = open_ollama(config).stream(PROMPT)
    assert next(stream) == "x"
    with pytest.raises(CutError, match=said):
        next(stream)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(words("The ", "dyke ")[:2], drops=True), "broke"),
        (Reply(words("The ", "dyke ")[:2]), "stopped before it had finished"),
        (Reply((*words("The ", "dyke ")[:2], b"not json\n")), "not Ollama's protocol"),
        (Reply((*words("The ", "dyke ")[:2], b"[1]\n")), "not Ollama's protocol"),
        (Reply((*words("The ", "dyke ")[:2], line(error="out of memory"))), "out of memory"),
        (Reply(words("The ", "dyke ", reason="length")), "limit of 64 tokens"),
        (Reply(words("The ", "dyke ")[:2], stalls=True), "within 0.4 seconds"),
    ],
    ids=["drop", "end", "garbage", "list", "error", "length", "slow"],
)
def test_a_fault_in_the_middle_keeps_the_words_and_says_what_happened(
    server: Script, config: GenerationConfig, reply: Reply, said: str
) -> None:
    server.replies["/api/chat"] = reply
    stream = open_ollama(replace(config, answer_seconds=0.4 if reply.stalls else 5)).stream(PROMPT)
    assert [next(stream), next(stream)] == ["The ", "dyke "]
    with pytest.raises(BackendError, match=said):
        next(stream)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply((b'{"error": "llama runner process has terminated"}',), status=500), "runner process has terminated"),
        (Reply((b'{"error": "model not found"}',), status=404), "ollama pull mistral:7b"),
        (Reply((), stalls=True), "within 0.3 seconds"),
    ],
    ids=["500", "404", "slow"],
)
def test_a_fault_before_the_first_word_says_what_to_do(
    server: Script, config: GenerationConfig, reply: Reply, said: str
) -> None:
    server.replies["/api/chat"] = reply
    with pytest.raises(BackendError, match=said):
        list(open_ollama(replace(config, answer_seconds=0.3 if reply.stalls else 5)).stream(PROMPT))


def test_a_server_stopped_after_it_was_found_says_how_to_start_it(config: GenerationConfig) -> None:
    generator = open_ollama(config)
    generator._config = replace(config, ollama_url="http://127.0.0.1:9")
    with pytest.raises(BackendError, match="ollama serve"):
        list(generator.stream(PROMPT))


def test_a_plan_is_asked_for_under_its_schema_and_read(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/chat"] = Reply(words(*json.dumps(PLAN)))
    plan = open_ollama(config).complete_json(PLANNER_RULES, planner_message("Floods?"), PLANNER_SCHEMA, seconds=5)
    assert plan == PLAN
    asked = server.asked[-1][1]
    assert asked["format"] == PLANNER_SCHEMA
    assert asked["options"]["temperature"] == 0


@pytest.mark.parametrize("said", ["I cannot.", '{"query_1": "a"}', '{"query_1": ', "[1]", json.dumps({**PLAN, "x": 1})])
def test_a_plan_that_does_not_follow_the_schema_is_refused(server: Script, config: GenerationConfig, said: str) -> None:
    server.replies["/api/chat"] = Reply(words(said))
    with pytest.raises(BackendError, match="JSON"):
        open_ollama(config).complete_json("s", "u", PLANNER_SCHEMA, seconds=5)


def test_a_plan_that_takes_too_long_is_given_up(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/chat"] = Reply(words("{")[:1], stalls=True)
    with pytest.raises(BackendError, match=r"within 0.3 seconds"):
        open_ollama(config).complete_json("s", "u", PLANNER_SCHEMA, seconds=0.3)


def test_an_answer_over_the_wire_comes_out_checked_and_cited(
    server: Script, config: GenerationConfig, embedder: CountingEmbedder
) -> None:
    server.replies["/api/chat"] = Reply(words("Dykes are inspected ", "[Sour", "ce 1]", "[Source 9].")[:4], drops=True)
    evidence = make_evidence(
        "Who inspects?", [make_source(1, "The dykes are inspected by the districts. Dams are not.")]
    )
    tools = AnswerTools(embedder, lambda document, offset: 4, config)
    *pieces, last = answer(evidence, open_ollama(config), tools)
    assert "".join(map(str, pieces)) == "Dykes are inspected [Source 1]."
    assert isinstance(last, Answer)
    assert last.text == "Dykes are inspected [Source 1]."
    assert [(citation.page, citation.quote) for citation in last.citations] == [
        (4, "The dykes are inspected by the districts.")
    ]
    assert any("broke off" in warning for warning in last.warnings)


def test_the_tokens_that_the_server_counts_are_reported(server: Script, config: GenerationConfig) -> None:
    *said, _ = words(json.dumps(PLAN))
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    server.replies["/api/chat"] = Reply((*said, line(**end, prompt_eval_count=812, eval_count=64)))
    counted: list[TokenCount] = []
    with while_counting(counted.append):
        open_ollama(config).complete_json("s", "u", PLANNER_SCHEMA, seconds=5)
    assert counted == [TokenCount(812, 64)]


def test_a_server_that_counts_nothing_reports_nothing(server: Script, config: GenerationConfig) -> None:
    server.replies["/api/chat"] = Reply(words("x"))
    counted: list[TokenCount] = []
    with while_counting(counted.append):
        list(open_ollama(config).stream(PROMPT))
    assert counted == []


def test_a_server_that_sends_on_gets_no_question_to_another(server: Script, config: GenerationConfig) -> None:
    with serving(Script()) as inside:
        server.replies["/api/chat"] = Reply((b"",), status=307, location=inside.url + "/api/chat")
        with pytest.raises(BackendError, match="307"):
            list(open_ollama(config).stream(PROMPT))
        assert not inside.asked
