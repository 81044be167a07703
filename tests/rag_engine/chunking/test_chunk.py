"""A document is cut by the strategy asked for, else by that of its structure, and says why."""

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.chunking.chunk import Chunked, chunk
from rag_engine.config import ChunkingConfig, Strategy
from rag_engine.protocols import Vectors
from rag_engine.types.document import ExtractedText
from tests.rag_engine.chunking.covering import DEFAULT, TEXTS, check, hash_encoder, laid_out

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BODY = "The plan sets out who does what when the river rises above its banks in the lower town. " * 5


def cut(given: ExtractedText | str, strategy: Strategy, language: str = "en") -> Chunked:
    config = ChunkingConfig(strategy)
    text = given if isinstance(given, str) else given.text
    layout = ((), ()) if isinstance(given, str) else (given.blocks, given.lines)
    title = "" if isinstance(given, str) else given.title
    return chunk(text, language, title=title, blocks=layout[0], lines=layout[1], encode=hash_encoder, config=config)


@given(TEXTS, st.sampled_from(STRATEGIES))
def test_chunks_of_any_text_by_any_strategy_cover_it(text: str, strategy: Strategy) -> None:
    done = cut(text, strategy)
    check(text, done.parents, DEFAULT)
    assert done.strategy != "auto"
    assert done.why.endswith(".")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("before", ["", "The plan holds. "])
def test_a_blank_longer_than_a_child_is_stepped_over(before: str, strategy: Strategy) -> None:
    text = f"{before}{'A' * 112}{' ' * 2_000}{'B' * 76}"
    check(text, cut(text, strategy).parents, DEFAULT)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_text_that_fits_into_one_child_is_one_parent_with_one_child(strategy: Strategy) -> None:
    done = cut(
        "Scope\n\nThe plan holds for the lower town. It holds at night.\n\nDuties\n\nThe mayor decides.", strategy
    )
    (parent,) = done.parents
    assert len(parent.children) == 1
    assert done.why == "The text fits into one passage."


def test_a_short_section_keeps_its_number() -> None:
    (parent,) = cut("Article 12\n\nThe mayor orders the evacuation of the lower town.", "auto").parents
    assert parent.section == "Article 12"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_text_without_words_has_no_parents(strategy: Strategy) -> None:
    assert cut(" \n ", strategy) == Chunked([], "semantic" if strategy == "auto" else strategy, "There is no text.")


def test_a_statute_is_cut_by_its_sections() -> None:
    law = "\n\n".join(f"Article {n}\n\n{BODY}" for n in range(1, 13))
    done = cut(law, "auto")
    assert (done.strategy, done.why[:20]) == ("section", "12 numbered sections")
    assert [parent.section for parent in done.parents] == [f"Article {n}" for n in range(1, 13)]


def test_a_report_is_cut_by_its_titles() -> None:
    names = ["Gauges", "Dykes", "Sirens", "Boats", "Shelters"]
    pieces = [piece for name in names for piece in ((name, "heading", 14.0, 1), (BODY.strip(), "text", 10.0, 1))]
    text, blocks = laid_out(*pieces)  # type: ignore[arg-type]
    done = chunk(text, "en", title="", blocks=blocks, lines=(), encode=hash_encoder, config=ChunkingConfig())
    assert (done.strategy, done.why) == ("paragraph", "5 titles on 1 level over 100% of the text.")
    assert [parent.headings for parent in done.parents] == [(name,) for name in names]


def test_a_text_without_structure_is_cut_by_topic() -> None:
    done = cut(BODY * 4, "auto")
    assert done.strategy == "semantic"
    assert done.why == "No numbered sections; no titles: cut where the topic turns."


def test_sections_asked_for_where_there_are_none_are_said_to_be_missing() -> None:
    done = cut(BODY * 4, "section")
    assert done.parents
    assert (done.strategy, done.why) == ("section", "Asked for by name; no numbered sections.")


def test_only_semantic_chunks_ask_the_encoder() -> None:
    def encode(texts: Sequence[str]) -> Vectors:
        raise AssertionError("there is nothing to compare")

    for strategy in STRATEGIES:
        if strategy not in ("auto", "semantic"):
            config = ChunkingConfig(strategy)
            assert chunk(BODY * 4, "en", title="", blocks=(), lines=(), encode=encode, config=config).parents


@pytest.mark.parametrize(
    ("file", "strategy"),
    [
        ("de_zskg_zivilschutz_katastrophenhilfe.pdf", "section"),
        ("en_eu_climate_law_2021-1119.md", "section"),
        ("en_us_federal_register_2020-17221.pdf", "paragraph"),
        ("de_fwdv100_fuehrung_leitung_einsatz.pdf", "paragraph"),
        ("fr_guide_erc_impermeabilisation_sols.pdf", "paragraph"),
        ("fr_exemple_cahier_de_charge_be.odt", "paragraph"),
        ("en_cpr_climate_hazards_terms.xlsx", "paragraph"),
        ("de_wbf_admin_ch_14093.html", "semantic"),
        ("es_en_language_mix.pptx", "semantic"),
    ],
)
def test_real_documents_are_cut_by_every_strategy(shared: Path, file: str, strategy: Strategy) -> None:
    extracted = extract(shared / "data" / "corpus" / file, ExtractionLimits(), None)
    for one in STRATEGIES:
        done = cut(extracted, one, file[:2])
        check(extracted.text, done.parents, DEFAULT)
        assert done.parents
        assert done.strategy == (strategy if one == "auto" else one)


def test_the_heading_path_of_a_real_guide_leads_to_its_subsections(shared: Path) -> None:
    file = "de_fwdv100_fuehrung_leitung_einsatz.pdf"
    extracted = extract(shared / "data" / "corpus" / file, ExtractionLimits(), None)
    parents = cut(extracted, "paragraph", "de").parents
    (orders,) = [parent for parent in parents if parent.text.startswith("3.3.3.4 Wechsel der Einsatzleitung")]
    assert orders.headings == (
        "3 FÜHRUNGSSYSTEM",
        "3.3 Führungsvorgang",
        "3.3.3 Befehlsgebung",
        "3.3.3.4 Wechsel der Einsatzleitung",
    )
    assert orders.depth == 3


def test_a_short_act_is_cut_at_its_sections() -> None:
    rules = ("Beaches are open to all.", "A visitor pays 4 crowns a day.", "Dogs are kept on a lead.")
    act = "Order on beaches\n\n" + "\n\n".join(f"Article {n}\n\n{rule}" for n, rule in enumerate(rules, 1))
    parents = cut(act, "auto").parents
    assert [parent.section for parent in parents if parent.section] == ["Article 1", "Article 2", "Article 3"]


def test_a_raised_number_makes_an_inserted_article_and_else_marks_a_note() -> None:
    rule = "Whoever keeps a permit shows it to the warden on demand. " * 6

    def sections(*labels: str) -> list[str]:
        act = "Order on permits\n\n" + "\n\n".join(f"Article {label}\n\n{rule}" for label in labels)
        return [parent.section for parent in cut(act, "section").parents if parent.section]

    assert sections("1", "2", "2¹", "3") == ["Article 1", "Article 2", "Article 2¹", "Article 3"]
    assert sections("1", "2¹", "3") == ["Article 1", "Article 2", "Article 3"]
