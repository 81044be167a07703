from dataclasses import replace
from pathlib import Path

import pytest

from rag_engine.answering.bundle import (
    AnswerBundle,
    AskedQuestion,
    KeptAnswer,
    KeptPassage,
    KeptPrompt,
    answer_differs,
    compare_bundles,
)
from rag_engine.answering.circumstances import Circumstances, shareable_settings
from rag_engine.config import read_config
from rag_engine.types.answer import Citation
from rag_engine.types.evidence import QueryPlan


def passage(name: str, *, document: str = "a", text: str = "t") -> KeptPassage:
    return KeptPassage(f"{document}_{name}", document, f"{document}.pdf", 3, f"hash of {document}", text)


CITATION = Citation(1, "a_c0", "a", "a.pdf", "Plan", 3, "The mayor orders it.", 0, 20)
KEPT = AnswerBundle(
    asked=AskedQuestion("Who orders it?", {}),
    plan=QueryPlan("Who orders it?", "en", ("who orders it",)),
    evidence=(passage("c0"), passage("c1"), passage("c0", document="b")),
    prompt=KeptPrompt("Rules", "Sources", (1,), (), 40, 512, 0.3),
    answer=KeptAnswer("answered", "The mayor. [Source 1]", (CITATION,), "ollama/small", ()),
    circumstances=Circumstances("ollama/small", "sha:1", "e5", 1, "f", {"retrieval": {"top_k": 10}}, {"numpy": "2.1"}),
)
DOCUMENTS = {"a.pdf": {"hash of a"}, "b.pdf": {"hash of b"}}


def messages(now: AnswerBundle, documents: dict[str, set[str]] = DOCUMENTS) -> list[str]:
    return [f"{one.part}: {one.message}" for one in compare_bundles(KEPT, now, documents)]


def test_the_same_answer_has_no_difference() -> None:
    assert compare_bundles(KEPT, KEPT, DOCUMENTS) == ()


def test_lists_of_a_file_are_the_tuples_of_the_program() -> None:
    kept = replace(KEPT, circumstances=replace(KEPT.circumstances, settings={"weights": [1, 2]}))
    now = replace(KEPT, circumstances=replace(KEPT.circumstances, settings={"weights": (1, 2)}))
    assert compare_bundles(kept, now, DOCUMENTS) == ()


def test_another_plan_names_what_is_searched_now() -> None:
    now = replace(KEPT, plan=replace(KEPT.plan, queries=("who orders it", "mayor")))
    assert messages(now) == ["plan: queries: ('who orders it',) before, ('who orders it', 'mayor') now"]


@pytest.mark.parametrize(
    ("documents", "why"),
    [
        (DOCUMENTS, "not found any more"),
        ({"a.pdf": {"hash of a"}, "b.pdf": {"another"}}, "the document has changed (hash hash of b before)"),
        ({"a.pdf": {"hash of a"}}, "the document is not in the collection"),
    ],
)
def test_a_passage_that_is_gone_says_why(documents: dict[str, set[str]], why: str) -> None:
    now = replace(KEPT, evidence=KEPT.evidence[:2])
    assert messages(now, documents) == [f"evidence: b.pdf, page 3 (b_c0): {why}"]


def test_a_passage_with_another_text_a_new_one_and_another_order_are_named() -> None:
    first, second, third = KEPT.evidence
    now = replace(KEPT, evidence=(second, passage("c9"), replace(first, text_sha256="u"), third))
    assert messages(now) == [
        "evidence: a.pdf, page 3 (a_c0): the text of the passage has changed",
        "evidence: a.pdf, page 3 (a_c9): found now, not before",
        "evidence: the passages found both times are in another order: 2, 1, 3",
    ]


def test_another_prompt_model_setting_index_and_version_are_named() -> None:
    circumstances = Circumstances("ollama/small", "sha:2", "e5", 2, "g", {"retrieval": {"top_k": 5}}, {"numpy": "2.2"})
    assert KEPT.prompt is not None
    now = replace(KEPT, prompt=replace(KEPT.prompt, user="Other", tokens=41), circumstances=circumstances)
    differences = compare_bundles(KEPT, now, DOCUMENTS)
    assert [f"{one.part}: {one.message}" for one in differences] == [
        "prompt: user: another text",
        "prompt: tokens: 40 before, 41 now",
        "model: digest: “sha:1” before, “sha:2” now",
        "settings: retrieval.top_k: 10 before, 5 now",
        "index: generation 1 before, 2 now",
        "index: the collection holds other documents",
        "versions: numpy: “2.1” before, “2.2” now",
    ]
    assert not answer_differs(differences)


def test_another_judge_reader_or_controller_is_named(tmp_path: Path) -> None:
    """Each decides on an answer or on what is said of it."""
    before = read_config(tmp_path)
    judged = replace(before.generation, judge_model="second")
    after = replace(before, reader="none", controller=replace(before.controller, mode="off"), generation=judged)
    kept = replace(KEPT, circumstances=replace(KEPT.circumstances, settings=shareable_settings(before)))
    settings, digest = shareable_settings(after), "sha:j"
    now = replace(KEPT, circumstances=replace(KEPT.circumstances, settings=settings, judge_digest=digest))
    assert [one.message for one in compare_bundles(kept, now, DOCUMENTS)] == [
        "digest of the judge: “” before, “sha:j” now",
        "reader: “” before, “none” now",
        "controller.mode: “auto” before, “off” now",
        "judge_model: “” before, “second” now",
    ]


def test_a_prompt_on_one_side_alone_is_named() -> None:
    assert messages(replace(KEPT, prompt=None)) == ["prompt: a prompt was given before, none now"]


def test_another_text_and_other_citations_are_another_answer() -> None:
    other = replace(CITATION, page=4)
    now = replace(KEPT, answer=replace(KEPT.answer, text="The governor.", citations=(other,)))
    differences = compare_bundles(KEPT, now, DOCUMENTS)
    assert [one.message for one in differences] == [
        "text: “The mayor. [Source 1]” before, “The governor.” now",
        "not cited any more: [Source 1] a.pdf, page 3: “The mayor orders it.”",
        "cited now, not before: [Source 1] a.pdf, page 4: “The mayor orders it.”",
    ]
    assert answer_differs(differences)
