"""An exported answer says how far it can be trusted."""

from dataclasses import replace
from pathlib import Path

from rag_engine.answering.chances import RefusalRates
from rag_engine.config import GenerationConfig, read_config
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import Turn
from rag_engine.messages import Message
from rag_engine.models import Models
from rag_engine.takeaway.exported_text import export_answer
from rag_engine.types.answer import SentenceSupport, SupportJudge
from tests.rag_engine.conversations.test_store import REPLY

SUPPORTED = replace(REPLY, support=(SentenceSupport(0, 10, "supported"),))


def notes(reply: Reply) -> str:
    [section] = export_answer(Turn("How long?", "2026-11-24T10:00", reply)).sections
    return "\n".join(section.notes)


def test_labels_of_a_second_model_are_not_exported_as_our_own() -> None:
    judged = replace(SUPPORTED, judge=SupportJudge("qwen3:8b"))
    assert "Judged by a second model, qwen3:8b." in notes(judged)
    assert "Checked automatically" not in notes(judged)
    assert "Checked automatically: in our tests, " in notes(SUPPORTED)


def test_how_the_passages_were_ordered_is_not_exported() -> None:
    warned = replace(
        REPLY,
        warnings=(Message("Not reranked: The reranker is switched off."), Message("Searched by keywords only: why.")),
    )
    assert notes(warned) == "Searched by keywords only: why."


def test_why_a_machine_had_no_language_model_is_not_exported(tmp_path: Path) -> None:
    nowhere = GenerationConfig(ollama_url="http://127.0.0.1:9")
    _model, why = Models(replace(read_config(tmp_path), generation=nowhere)).language_model()
    assert nowhere.ollama_url in why
    assert (
        notes(replace(REPLY, warnings=(Message(why), Message("Searched by keywords only: why."))))
        == "Searched by keywords only: why."
    )


def test_a_refusal_is_exported_without_what_our_tests_found() -> None:
    refused = replace(REPLY, status="insufficient_evidence", refusals=RefusalRates(1, 84, 37, 48))
    assert notes(refused) == notes(REPLY)
