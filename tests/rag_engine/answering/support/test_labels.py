from collections.abc import Callable
from dataclasses import replace
from typing import Never

import pytest

from rag_engine.answering.citations import answer_sentences
from rag_engine.answering.support import (
    LabelJudge,
    SupportEvidence,
    SupportModels,
    assess,
    fitted_support,
    reasons_of,
    support_accuracy,
    support_summary,
    unsupported_sentences,
)
from rag_engine.calibration import Calibration
from rag_engine.errors import BackendError
from rag_engine.types.answer import SentenceSupport, SupportJudge
from tests.rag_engine.conftest import CountingEmbedder, make_source
from tests.rag_engine.model_by_hand import ModelByHand, replying

# The scale of an encoder whose related texts share half of their words.
SCALE = (0.0, 0.1, 0.2, 0.4, 0.8)
MODELS = SupportModels(Calibration("counting", SCALE, SCALE, SCALE))
DYKES = (
    "The dyke at Arnhem was raised by 40 centimetres after the flood of 1953. "
    "It is inspected every spring by the water board. Swimming is not allowed."
)


Labelled = Callable[..., tuple[tuple[SentenceSupport, ...], tuple[str, ...]]]


def judged_by(judge: ModelByHand) -> SupportModels:
    return replace(MODELS, judge=LabelJudge("judge", lambda: judge))


@pytest.fixture
def labelled(
    embedder: CountingEmbedder,
) -> Labelled:
    def run(
        text: str, *texts: str, models: SupportModels = MODELS
    ) -> tuple[tuple[SentenceSupport, ...], tuple[str, ...]]:
        sources = [make_source(n, one) for n, one in enumerate(texts or (DYKES,), start=1)]
        found = assess(text, "en", sources, embedder=embedder, models=models)
        return found.support, found.warnings

    return run


def test_a_sentence_in_the_words_of_its_source_is_supported(labelled: Labelled) -> None:
    (one,), warnings = labelled("The dyke at Arnhem was raised by 40 centimetres [Source 1].")
    assert (one.label, one.reasons, warnings) == ("supported", (), ())


def test_a_number_that_its_source_does_not_have_is_the_reason_of_an_unsupported_sentence(labelled: Labelled) -> None:
    (one,), _ = labelled("The dyke at Arnhem was raised by 60 centimetres [Source 1].")
    assert (one.label, one.reasons) == ("unsupported", ("number 60 is not in the passage",))


def test_a_negation_turns_a_sentence_into_an_unsupported_one(labelled: Labelled) -> None:
    (one,), _ = labelled("The dyke at Arnhem was not raised after the flood of 1953 [Source 1].")
    assert one.label == "unsupported"


def test_a_sentence_that_claims_more_than_its_source_is_partly_supported(labelled: Labelled) -> None:
    (one,), _ = labelled("All dykes are always inspected in spring by the water board [Source 1].")
    assert one.label == "partly supported"
    assert one.reasons == ('"always" claims more than the passage',)


def test_a_sentence_that_introduces_others_is_no_claim(labelled: Labelled) -> None:
    found, _ = labelled("The sources say the following:\n\n- The dyke at Arnhem was raised [Source 1].")
    assert [one.label for one in found] == ["no claim", "supported"]


def test_offsets_are_those_of_the_answers_text(labelled: Labelled) -> None:
    text = "**Dykes**\n\nThe dyke at Arnhem was raised [Source 1]. It is inspected every spring [Source 1]."
    found, _ = labelled(text)
    assert [text[one.start : one.end] for one in found[1:]] == [
        "The dyke at Arnhem was raised [Source 1].",
        "It is inspected every spring [Source 1].",
    ]


def test_the_year_and_the_title_of_the_document_need_not_be_in_its_text(labelled: Labelled) -> None:
    (one,), _ = labelled("Report 1 of 2020 says that the dyke at Arnhem was raised after the flood [Source 1].")
    assert not [reason for reason in one.reasons if "2020" in reason]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Dykes rose [Source 2]. They are safe.\n\nRivers fell.", [(2,), (2,), ()]),
        ("Dykes rose [Source 1] [Source 2].", [(1, 2)]),
        ("Dykes rose [Source 1].\n\nReferences\n[Source 1] Report", [(1,)]),
    ],
)
def test_a_sentence_without_a_mark_has_the_marks_of_its_paragraph(text: str, numbers: list[tuple[int, ...]]) -> None:
    assert [one.numbers for one in answer_sentences(text, "en")] == numbers


def test_a_paragraph_without_a_mark_is_compared_with_all_sources(labelled: Labelled) -> None:
    text = "Rivers are dredged in May [Source 2].\n\nThe dyke at Arnhem was raised by 40 centimetres."
    found, _ = labelled(text, DYKES, "Rivers are dredged in May.")
    assert [one.label for one in found] == ["supported", "supported"]


def test_the_encoder_reads_a_bounded_number_of_sentences(embedder: CountingEmbedder) -> None:
    sources = [make_source(n, f"Dyke {n} was raised. " * 200) for n in range(1, 9)]
    assess("Dyke 3 was raised [Source 3]. Dyke 4 fell.", "en", sources, embedder=embedder, models=MODELS)
    assert embedder.encoded <= 50


def test_the_label_of_a_judge_counts_and_it_is_asked_once(labelled: Labelled) -> None:
    judge = replying({"labels": ["unsupported", "supported"]}, name="judge")
    text = "The dyke at Arnhem was raised [Source 1]. It is inspected every spring [Source 1]."
    found, warnings = labelled(text, models=judged_by(judge))
    assert [one.label for one in found] == ["unsupported", "supported"]
    assert found[0].reasons == ("judged unsupported by judge",)
    assert (len(judge.asked), warnings) == (1, ())


@pytest.mark.parametrize(
    "judge",
    [
        replying(BackendError("It is away."), name="judge"),
        replying({"labels": []}, name="judge"),
        replying({"labels": ["perhaps"]}, name="judge"),
    ],
)
def test_a_judge_that_fails_is_reported_and_the_labels_stay(labelled: Labelled, judge: ModelByHand) -> None:
    text = "The dyke at Arnhem was raised [Source 1]."
    found, (warning,) = labelled(text, models=judged_by(judge))
    assert found == labelled(text)[0]
    assert warning.startswith("judge did not judge")


def test_a_judge_that_cannot_be_reached_is_named_as_failed(embedder: CountingEmbedder) -> None:
    def away() -> Never:
        raise BackendError("Ollama has no model small.")

    models = replace(MODELS, judge=LabelJudge("small", away))
    found = assess("The dyke was raised [Source 1].", "en", [make_source(1, DYKES)], embedder=embedder, models=models)
    assert found.judge == SupportJudge("small", failed=True)
    assert found.warnings[0].endswith("Ollama has no model small.")


def test_no_judge_is_asked_of_an_answer_without_a_claim(embedder: CountingEmbedder) -> None:
    judge = replying()
    found = assess("The sources say:", "en", [make_source(1, DYKES)], embedder=embedder, models=judged_by(judge))
    assert (found.judge, judge.asked) == (None, [])


def test_the_summary_counts_the_sentences_and_says_how_often_it_is_right() -> None:
    support = (
        SentenceSupport(0, 4, "supported"),
        SentenceSupport(5, 9, "unsupported", ("number 3 is not in the passage",)),
        SentenceSupport(10, 14, "no claim"),
        SentenceSupport(16, 20, "not checked", ('"snow" is not said so in the passage',)),
    )
    assert support_summary(support) == (
        "1 of 3 sentences supported by the cited passages; 1 unsupported; 1 not checked. Checked automatically: "
        f"{support_accuracy()}."
    )
    assert list(unsupported_sentences("Rain 3 mm. Thus Snow", support)) == [
        "Unsupported: 3 mm (number 3 is not in the passage)",
        'Not checked: Snow ("snow" is not said so in the passage)',
    ]


def test_the_summary_names_the_judge_and_states_no_accuracy_for_it() -> None:
    summary = support_summary((SentenceSupport(0, 4, "supported"),), SupportJudge("qwen3:8b"))
    assert summary == "1 of 1 sentence supported by the cited passages. Judged by a second model, qwen3:8b."


def test_the_summary_says_that_a_judge_failed_and_how_often_the_labels_without_it_are_right() -> None:
    summary = support_summary((SentenceSupport(0, 4, "supported"),), SupportJudge("qwen3:8b", failed=True))
    assert summary.endswith(
        f" Checked automatically without the second model qwen3:8b, which failed: {support_accuracy()}."
    )


def test_nothing_is_summed_up_where_nothing_is_claimed() -> None:
    assert support_summary((SentenceSupport(0, 4, "no claim"),)) == support_summary(()) == ""


def test_the_stated_accuracy_is_the_one_that_was_measured() -> None:
    fitted = fitted_support()
    assert support_accuracy() == (
        f"in our tests, 9 of 10 changed sentences were noticed, and {int(fitted.kept * 10)} "
        "of 10 true ones called supported"
    )
    assert fitted.noticed >= 0.9
    assert fitted.kept >= 0.7


def test_of_many_names_that_are_missing_the_first_three_are_shown() -> None:
    names = ("Guide", "Design", "Construction", "Management", "Plans")
    evidence = SupportEvidence((), (), (), names, 5, (), False, False, 0.0, 0.2, 0.8, False)
    reasons = list(reasons_of(evidence))
    assert [reason for reason in reasons if "name " in reason or "more" in reason] == [
        "name Guide is not in the passage",
        "name Design is not in the passage",
        "name Construction is not in the passage",
        "and 2 more",
    ]
