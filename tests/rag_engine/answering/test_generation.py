from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_engine.answer_sentences import INSUFFICIENT, names_no_source
from rag_engine.answering.generation import AnswerTools, answer, pack_prompt
from rag_engine.answering.support import SupportModels
from rag_engine.calibration import Calibration
from rag_engine.config import GenerationConfig
from rag_engine.errors import BackendError, CutError, WindowError
from rag_engine.protocols import Generator
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import AbsentSection, Evidence, ResidualGap
from rag_engine.types.language_model import Prompt
from rag_engine.types.passage import IndexListing
from tests.rag_engine.conftest import CountingEmbedder, make_evidence, make_source
from tests.rag_engine.model_by_hand import ModelByHand

SENTENCES = "The dyke at kilometre {n} was raised after the flood of 1953. It is inspected every spring. "

Parts = Callable[..., Iterator[Evidence | str | Answer]]
Ask = Callable[..., tuple[list[str], Answer]]
SCALE = (0.0, 0.1, 0.2, 0.4, 0.8)
SUPPORT = SupportModels(Calibration("counting", SCALE, SCALE, SCALE))


class SmallWindow(ModelByHand):
    """A model whose server refuses the first prompt."""

    def stream(self, prompt: Prompt) -> Iterator[str]:
        if not self.prompts:
            self.prompts.append(prompt)
            raise WindowError("Too long.", window=2048, counted=0, help="", model="m")
        yield from super().stream(prompt)


@pytest.fixture
def parts(embedder: CountingEmbedder) -> Parts:
    """Return the parts of an answer as they come."""

    def run(
        evidence: Evidence, model: Generator | None, support: SupportModels | None = None
    ) -> Iterator[Evidence | str | Answer]:
        tools = AnswerTools(embedder, lambda document, offset: 3, GenerationConfig(), support=support)
        return answer(evidence, model, tools)

    return run


@pytest.fixture
def ask(parts: Parts) -> Ask:
    """Return the words of an answer as they come, and the answer."""

    def run(*asked: object) -> tuple[list[str], Answer]:
        *pieces, last = parts(*asked)
        assert isinstance(last, Answer)
        return [str(piece) for piece in pieces], last

    return run


def pack(evidence: Evidence, window: int, answer_tokens: int = 256) -> Prompt:
    return pack_prompt(
        evidence,
        context_window=window,
        answer_tokens=answer_tokens,
        temperature=0.3,
        count_tokens=lambda text, _language: len(text) // 4,
    )


@pytest.fixture
def evidence() -> Evidence:
    sources = [make_source(n, "".join(SENTENCES.replace("{n}", f"{n}{row}") for row in range(20))) for n in range(1, 6)]
    return make_evidence("Which dykes were raised?", sources)


def test_the_best_source_stands_last_and_nothing_is_left_out_of_a_wide_window(evidence: Evidence) -> None:
    prompt = pack(evidence, 32768)
    assert [source.n for source in prompt.sources] == [5, 4, 3, 2, 1]
    assert prompt.left_out == ()
    assert prompt.user.rindex("[Source 1]") > prompt.user.rindex("[Source 2] Report")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the evidence is frozen
@given(window=st.integers(1700, 6000), answer_tokens=st.integers(64, 2048))
def test_prompt_and_answer_fit_the_window_at_any_size(evidence: Evidence, window: int, answer_tokens: int) -> None:
    prompt = pack(evidence, window, answer_tokens)
    assert prompt.tokens + min(answer_tokens, window // 3) <= prompt.num_ctx <= window
    assert prompt.num_ctx % 512 == 0 or prompt.num_ctx == window
    assert len(prompt.system + prompt.user) // 4 <= prompt.tokens
    assert [source.n for source in (*reversed(prompt.sources), *prompt.left_out)] == [1, 2, 3, 4, 5]
    for source in prompt.sources:
        whole = evidence.sources[source.n - 1]
        assert source.text == whole.text[source.start - whole.start : source.end - whole.start]
        assert source.text.endswith((".", ". "))


def test_a_source_is_cut_around_what_was_found_in_it() -> None:
    text = "".join(SENTENCES.replace("{n}", str(row)) for row in range(100))
    source = make_source(1, text, hits=[(len(text) - 500, len(text))])
    (cut,) = pack(make_evidence("Which dykes?", [source]), 1700).sources
    assert cut.text.endswith(text[-60:].strip())
    assert cut.start <= source.hits[0].start


def test_a_window_too_small_for_any_source_says_so_instead_of_failing(evidence: Evidence, ask: Ask) -> None:
    with pytest.raises(BackendError, match="300 tokens"):
        pack(evidence, 300)
    pieces, result = ask(evidence, ModelByHand(("never",), context_window=300))
    assert pieces == []
    assert result.status == "error"
    assert "larger context window" in result.text


def test_words_stream_as_they_come_and_the_checked_answer_comes_last(evidence: Evidence, ask: Ask) -> None:
    generator = ModelByHand(("The dyke at kilometre 10 was ", "raised [Sour", "ce 1]. So was another [Source 9]."))
    pieces, result = ask(evidence, generator)
    assert pieces == ["The dyke at kilometre 10 was ", "raised ", "[Source 1]. So was another."]
    assert result.text == "The dyke at kilometre 10 was raised [Source 1]. So was another."
    assert result.status == "answered"
    assert any("not given (9)" in warning for warning in result.warnings)
    (citation,) = result.citations
    assert citation.quote == "The dyke at kilometre 10 was raised after the flood of 1953."
    assert citation.page == 3
    assert set(result.seconds) == {"prompt", "first_words", "answer"}


def test_sources_are_numbered_in_the_order_in_which_the_answer_names_them_while_it_is_written(
    evidence: Evidence, parts: Parts
) -> None:
    said = ("Dyke 40 was raised [Sou", "rce 4]. Dyke 20 [2] and", " dyke 40 again (Source 4, Source 9) (in 1953).")
    words, told, result = "", evidence, None
    for part in parts(evidence, ModelByHand(said)):
        match part:
            case str():
                words += part
            case Evidence():
                told = part
            case Answer():
                result = part
    assert words == "Dyke 40 was raised [Source 1]. Dyke 20 [Source 2] and dyke 40 again [Source 1] (in 1953)."
    assert result is not None
    assert result.text == words
    # Ranked as they were, under other numbers; who broke the answer off would know them too.
    assert [source.n for source in result.evidence.sources] == [3, 2, 4, 1, 5]
    assert [source.n for source in told.sources] == [3, 2, 4, 1, 5]
    assert {one.n: one.title for one in result.citations} == {1: "Report 4", 2: "Report 2"}


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "According to Source 4, dykes hold, as Source 2 says. Dams (see Source 4) too.",
            "According to [Source 1], dykes hold, as [Source 2] says. Dams [Source 1] too.",
        ),
        ("“Dykes [2] hold” [Source 3]. So do dams [2].", "“Dykes [2] hold” [Source 1]. So do dams [Source 2]."),
        ("Dykes [3]. “Dams [2] held [1", "Dykes [Source 1]. “Dams [Source 2] held [1"),
        ("See [1](https://example.org) and [3].", "See [1](https://example.org) and [Source 1]."),
        ("**Source 3**: dykes. (Source 2: Ministry (2020)).", "[Source 1]: dykes. [Source 2]."),
        ("Dykes [Source 2].\n\n**References:**\n[Source 2] Ministry\n- [Source 3] Body, 1999", "Dykes [Source 1]."),
        (
            "Dykes [Source 2].\n\nSources used: Invented Body, 1999, page 77\n\nNothing is said of dams.",
            "Dykes [Source 1].\n\nNothing is said of dams.",
        ),
        ("Dykes [Source 2].\n\n[Source 2] Ministry, Flood Act, 2020\n[Source 1] A, B, p. 3\n", "Dykes [Source 1]."),
        (
            "Sources of heat are roads [Source 2].\n\n- [Source 2] Roads, and roofs, in cities.\n- Fonts.",
            "Sources of heat are roads [Source 1].\n\n- [Source 1] Roads, and roofs, in cities.\n- Fonts.",
        ),
    ],
)
def test_what_is_shown_while_it_is_written_is_what_stays(
    evidence: Evidence, parts: Parts, said: str, shown: str, size: int
) -> None:
    pieces = ModelByHand(tuple(said[start : start + size] for start in range(0, len(said), size)))
    *shown_first, last = parts(evidence, pieces)
    assert isinstance(last, Answer)
    assert "".join(part for part in shown_first if isinstance(part, str)) == last.text == shown


def test_words_are_not_held_back_where_no_mark_or_list_has_begun(evidence: Evidence, ask: Ask) -> None:
    said = ("Dykes ", "hold. ", "Several ", "resources ", "are (in ", "May) ", "named [Source 1].\n", "More.")
    pieces, _ = ask(evidence, ModelByHand(said))
    assert pieces[:6] == list(said[:6])


def test_a_source_that_was_not_read_or_only_in_part_is_reported_and_cannot_be_cited(
    evidence: Evidence, ask: Ask
) -> None:
    generator = ModelByHand(("Dykes [Source 5].",), context_window=2600)
    _, result = ask(evidence, generator)
    assert result.citations == ()
    assert any("did not fit" in warning and "“Report 5”, page" in warning for warning in result.warnings)
    read = {source.n: source.text for source in generator.prompts[0].sources}
    (short,) = [n for n, text in read.items() if text != evidence.sources[n - 1].text]
    assert [warning for warning in result.warnings if "shortened" in warning] == [
        f"“Report {short}”, page 1 was shortened to fit into the model's context window."
    ]
    assert ask(evidence, ModelByHand(("Dykes [Source 1].",), context_window=32768))[1].warnings == ()


@pytest.mark.parametrize(("language", "expected"), [("it", "it"), ("tr", "tr"), ("xx", "en")])
def test_no_sources_gives_the_sentence_in_the_questions_language_and_asks_no_model(
    language: str, expected: str, ask: Ask
) -> None:
    generator = ModelByHand(("invented",))
    pieces, result = ask(make_evidence("Was?", (), language=language), generator)
    assert pieces == [result.text] == [INSUFFICIENT[expected]]
    assert result.status == "insufficient_evidence"
    assert generator.prompts == []


def test_a_models_own_marker_sentence_means_insufficient_evidence(evidence: Evidence, ask: Ask) -> None:
    _, result = ask(evidence, ModelByHand(("**" + INSUFFICIENT["de"].replace(",", "") + "**",)))
    assert result.status == "insufficient_evidence"
    assert result.warnings == ()


def test_where_passages_are_likely_to_answer_a_models_refusal_has_the_quotations_below_it(
    evidence: Evidence, ask: Ask
) -> None:
    refusing = ModelByHand((INSUFFICIENT["en"],))
    _, likely = ask(replace(evidence, ground="enough"), refusing)
    assert (likely.status, likely.text) == ("insufficient_evidence", INSUFFICIENT["en"])
    assert likely.quotations.startswith("Closest passages (the language model found no answer in them):\n")
    assert likely.citations

    _, doubtful = ask(replace(evidence, ground="doubtful"), refusing)
    assert (doubtful.quotations, doubtful.citations) == ("", ())


def test_a_failure_before_the_first_word_becomes_an_answer_that_says_what_to_do(evidence: Evidence, ask: Ask) -> None:
    failure = BackendError("Ollama does not answer at http://x.", help="Start it with: ollama serve.")
    pieces, result = ask(evidence, ModelByHand((), failure))
    assert pieces == []
    assert result.status == "error"
    assert result.text == "Ollama does not answer at http://x. Start it with: ollama serve."
    assert result.text in result.warnings


def test_below_the_error_of_a_model_there_are_the_quotations_of_an_answer_without_one(
    evidence: Evidence, ask: Ask
) -> None:
    _, failed = ask(evidence, ModelByHand((), BackendError("Ollama does not answer.")))
    _, quoted = ask(evidence, None)
    heading, lines = failed.quotations.split("\n", 1)
    assert heading == "Found in your documents (the language model did not answer):"
    assert lines == quoted.text.split("\n", 1)[1]
    assert failed.citations == quoted.citations != ()


def test_a_section_that_does_not_exist_is_named_above_the_quotations_of_a_model_that_failed(
    evidence: Evidence, ask: Ask
) -> None:
    named = tuple(replace(hit, named=True) for hit in evidence.hits)
    absent = (AbsentSection("section 99", "Dyke Act", "1", "40"),)
    _, failed = ask(replace(evidence, hits=named, absent=absent), ModelByHand((), BackendError("Away.")))
    assert (failed.status, failed.text) == ("error", "Away.")
    assert failed.quotations.startswith("Section 99 does not exist in “Dyke Act”")


def test_sources_that_hold_nothing_to_quote_leave_the_error_of_the_model_and_say_so(ask: Ask) -> None:
    evidence = make_evidence("Which dykes were raised?", [make_source(1, " \n ")])
    _, failed = ask(evidence, ModelByHand((), BackendError("Away.")))
    assert (failed.text, failed.quotations, failed.citations) == ("Away.", "", ())
    assert any("no sentence to quote" in warning for warning in failed.warnings)


def test_a_failure_midway_keeps_what_came_and_says_it_broke_off(evidence: Evidence, ask: Ask) -> None:
    said = ("Dykes were raised [Source 1]. Sou",)
    pieces, result = ask(evidence, ModelByHand(said, BackendError("The connection broke.")))
    assert "".join(pieces) == result.text
    assert result.status == "answered"
    assert result.text == "Dykes were raised [Source 1]. Sou"
    assert len(result.citations) == 1
    assert any("broke off" in warning and "connection broke" in warning for warning in result.warnings)


def test_a_silent_model_is_an_error_not_an_empty_answer_and_no_part_is_named(evidence: Evidence, ask: Ask) -> None:
    _, result = ask(replace(evidence, gaps=(ResidualGap("When?"),)), ModelByHand(()))
    assert (result.status, "wrote nothing" in result.text, "When?" in result.text) == ("error", True, False)


def test_thoughts_whose_end_alone_is_marked_are_no_part_of_the_answer(evidence: Evidence, ask: Ask) -> None:
    said = ("The user asks for dykes [Source 2].", "</think>", "Dykes were raised [Source 1].")
    _, result = ask(evidence, ModelByHand(said))
    assert result.text == "Dykes were raised [Source 1]."
    assert [citation.n for citation in result.citations] == [1]


def test_a_model_with_a_smaller_window_than_it_seemed_is_asked_again_with_fewer_sources(ask: Ask) -> None:
    sources = [make_source(n, f"Dyke {n} was raised. " + "The warden wrote it down. " * 60) for n in range(1, 9)]
    model = SmallWindow(("Dykes were raised [Source 1].",))
    _, result = ask(make_evidence("Which dykes were raised?", sources), model)
    assert result.text == "Dykes were raised [Source 1]."
    first, second = (len(prompt.sources) for prompt in model.prompts)
    assert 0 < second < first
    assert any(f"{8 - second} of 8 sources did not fit" in warning for warning in result.warnings)


def test_fewer_sources_fit_in_a_language_that_takes_more_tokens(ask: Ask) -> None:
    def given(language: str) -> int:
        texts = [f"Dyke {n} was raised. " + "The warden wrote it down. " * 60 for n in range(1, 9)]
        sources = [make_source(n, text, language=language) for n, text in enumerate(texts, 1)]
        model = ModelByHand(("Dykes were raised [Source 1].",), context_window=4096)
        ask(make_evidence("Which dykes were raised?", sources), model)
        return len(model.prompts[0].sources)

    assert given("en") > given("tr") > given("el") > 0


def test_one_source_of_another_language_takes_no_room_from_the_others(ask: Ask) -> None:
    texts = [f"Dyke {n} was raised. " + "The warden wrote it down. " * 60 for n in range(1, 9)]
    sources = [make_source(n, text, language="en") for n, text in enumerate(texts, 1)]
    model = ModelByHand(("Dykes were raised [Source 1].",), context_window=4096)
    for last in ("en", "el"):
        given = [*sources[:7], make_source(8, texts[7], language=last)]
        ask(make_evidence("Which dykes were raised?", given), model)
    alone, beside = (len(prompt.sources) for prompt in model.prompts)
    assert alone == beside < 8


def test_what_is_absent_is_said_before_the_model_and_stays_beside_thoughts(evidence: Evidence, ask: Ask) -> None:
    absent = AbsentSection("Article 9", "Dyke Act", "1", "3")
    given = replace(evidence, absent=(absent,), hits=tuple(replace(hit, named=True) for hit in evidence.hits))
    said = ("The user asks for Article 9.", "</think>", "Dykes were raised [Source 1].")
    pieces, result = ask(given, ModelByHand(said))
    assert "Article 9" in pieces[0]
    assert result.text == f"{pieces[0].strip()}\n\nDykes were raised [Source 1]."


def test_an_answer_to_a_prompt_that_was_cut_says_so(evidence: Evidence, ask: Ask) -> None:
    cut = CutError("The model read 10 of about 900 tokens.", help="Ask for fewer sources.")
    _, result = ask(evidence, ModelByHand(("Dykes were raised [Source 1].",), cut))
    assert result.status == "answered"
    assert "The model read 10 of about 900 tokens. Ask for fewer sources." in result.warnings


def test_parts_that_nothing_answers_are_named_below_the_answer_in_its_language(ask: Ask) -> None:
    evidence = make_evidence("Chi paga e quando?", [make_source(1, "Paga lo Stato.", language="it")], language="it")
    gaps = (ResidualGap("Quando [Source 9]?"), ResidualGap("Chi paga?", contradicted=True))
    pieces, reply = ask(replace(evidence, gaps=gaps), ModelByHand(("Paga lo Stato [Source 1].",)))
    assert reply.text == (
        "Paga lo Stato [Source 1].\n\nSenza una risposta chiara nei passaggi trovati: “Quando [“Source” 9]?”\n\n"
        "I passaggi trovati potrebbero contraddirsi su questo: “Chi paga?”"
    )
    assert "".join(pieces) == reply.text
    assert reply.status == "answered"


def test_what_a_model_writes_without_naming_a_source_that_there_is_is_kept_but_is_no_answer(
    evidence: Evidence, ask: Ask
) -> None:
    for mark, warned in (("", False), (" [Source 9]", True)):
        _, result = ask(evidence, ModelByHand((f"Dykes were raised everywhere{mark}.",)))
        assert result.status == "insufficient_evidence"
        assert result.text == names_no_source("en")
        assert result.withheld == "Dykes were raised everywhere."
        assert result.support == ()
        assert any("not given (9)" in warning for warning in result.warnings) == warned


def test_the_sentences_of_a_model_are_labelled(evidence: Evidence, ask: Ask) -> None:
    said = ("The dyke at kilometre 10 was raised after the flood of 1953 [Source 1].",)
    _, result = ask(evidence, ModelByHand(said), SUPPORT)
    assert [one.label for one in result.support] == ["supported"]
    assert "support" in result.seconds


def test_an_answer_wished_for_in_another_language_is_read_in_it(ask: Ask) -> None:
    source = make_source(1, SENTENCES.replace("{n}", "10"))
    wished = make_evidence("Quale argine fu alzato?", [source], language="it", instructions="in English")
    said = ModelByHand(("The dyke at kilometre 10 was not raised after the flood of 1953 [Source 1].",))
    known = replace(SUPPORT, identify=lambda _: "en")
    labels = [[one.label for one in ask(wished, said, models)[1].support] for models in (known, SUPPORT)]
    assert labels[0] == ["unsupported"]
    assert labels[1] != ["unsupported"]


@pytest.fixture
def led(
    evidence: Evidence,
) -> Evidence:
    """Return evidence in which an index leads to a sixth source of a single sentence."""
    text = "The freeboard of a dyke is half a metre, as the water authority has laid down."
    context = replace(make_source(6, text), listed=(IndexListing("freeboard", 14),), index_context=True)
    return replace(evidence, sources=(*evidence.sources, context))


def test_what_an_index_leads_to_is_read_where_not_all_sources_are(led: Evidence) -> None:
    prompt = pack(led, 2600)
    assert [source.n for source in prompt.sources] == [6, 4, 3, 2, 1]
    assert [source.n for source in prompt.left_out] == [5]


def test_what_an_index_leads_to_takes_the_place_of_nothing_in_a_window_that_is_nearly_full(led: Evidence) -> None:
    *others, context = led.sources
    long = replace(context, text=context.text * 20, end=context.start + 20 * len(context.text))
    plain = pack(replace(led, sources=tuple(others)), 2600)
    assert pack(replace(led, sources=(*others, long)), 2600).sources == plain.sources


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Listed in the index under “freeboard”, page 14 [Source 1]."),
        ("de", "Im Register aufgeführt unter „freeboard“, Seite 14 [Source 1]."),
    ],
)
def test_an_answer_says_under_which_entry_an_index_lists_what_it_cites(
    led: Evidence, ask: Ask, language: str, sentence: str
) -> None:
    asked = replace(led, plan=replace(led.plan, language=language))
    pieces, result = ask(asked, ModelByHand(("The freeboard is half a metre [Source 6].",), context_window=32768))
    assert pieces[-1] == f"\n\n{sentence}"
    assert result.text == f"The freeboard is half a metre [Source 1].\n\n{sentence}"


def test_an_answer_says_that_a_glossary_explains_what_it_cites(led: Evidence, ask: Ask) -> None:
    *others, context = led.sources
    explained = replace(context, listed=(IndexListing("freeboard", 14, glossary=True),))
    _, result = ask(
        replace(led, sources=(*others, explained)),
        ModelByHand(("The freeboard is half a metre [Source 6].",), context_window=32768),
    )
    assert result.text.endswith("\n\nExplained in the glossary under “freeboard”, page 14 [Source 1].")


def test_an_answer_that_does_not_cite_what_an_index_lists_does_not_speak_of_it(led: Evidence, ask: Ask) -> None:
    _, result = ask(led, ModelByHand(("Dykes were raised [Source 1].",), context_window=32768))
    assert result.text == "Dykes were raised [Source 1]."


@dataclass
class Looping(ModelByHand):
    """A generator that never stops saying its last piece, and counts how often it did."""

    rounds: int = 0

    def stream(self, prompt: Prompt) -> Iterator[str]:
        yield from self.says
        while True:
            self.rounds += 1
            yield self.says[-1]


def test_a_model_that_repeats_itself_is_stopped_and_its_sentence_kept_once(evidence: Evidence, ask: Ask) -> None:
    looping = Looping(("Dykes were raised [Source 1]. ", "They are inspected every spring [Source 2]. "))
    _, result = ask(evidence, looping)
    assert looping.rounds < 20
    assert result.text == "Dykes were raised [Source 1]. They are inspected every spring [Source 2]."
    assert result.status == "answered"
    assert "The answer broke off. by hand kept repeating itself. Ask again, or use another model." in result.warnings


def test_a_refusal_below_an_answer_is_dropped_and_reported(evidence: Evidence, ask: Ask) -> None:
    said = "[Source 1] The dyke at kilometre 10 was raised after the flood of 1953.\n" + INSUFFICIENT["en"]
    _, result = ask(evidence, ModelByHand((said,)))
    assert result.status == "answered"
    assert result.text == "[Source 1] The dyke at kilometre 10 was raised after the flood of 1953."
    assert len(result.citations) == 1
    assert any("answered and then wrote" in warning for warning in result.warnings)


def test_an_answer_in_another_language_is_labelled_in_its_own_and_reported(ask: Ask) -> None:
    asked = make_evidence("Quale argine fu alzato?", [make_source(1, SENTENCES.replace("{n}", "10"))], language="it")
    said = "The dyke at kilometre 10 was raised after the flood of 1953, and it is inspected every spring [Source 1]."
    _, result = ask(asked, ModelByHand((said,)), replace(SUPPORT, identify=lambda _: "en"))
    assert [one.label for one in result.support] == ["supported"]
    assert any("answered in English, not in Italian" in warning for warning in result.warnings)


def test_citing_and_labelling_an_answer_encode_its_sources_once(
    evidence: Evidence, ask: Ask, embedder: CountingEmbedder
) -> None:
    said = ("A dyke was raised when the flood of 1953 had passed [Source 1].",)
    cited = ask(evidence, ModelByHand(said))[1]
    citing = embedder.encoded
    labelled = ask(evidence, ModelByHand(said), SUPPORT)[1]
    assert labelled.citations == cited.citations
    # Of the second time, only the sentence itself is encoded more often than for citing alone.
    assert embedder.encoded - 2 * citing == 1
