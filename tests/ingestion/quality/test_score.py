from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.config import PROFILES, QualityConfig
from ingestion.extraction.extract import extract
from ingestion.extraction.formats.text import markdown_blocks
from ingestion.file_reading import ExtractionLimits
from ingestion.quality.score import find_sections, judge_quality, key_terms, published_points, refused_title
from ingestion.types.outcome import Outcome
from ingestion.types.source import Extraction, ListedSource, Quality
from rag_engine.types.document import ExtractedText

PARAGRAPH = "The authority reviews the flood hazard maps every six years and publishes them for all residents. "


def _extracted(text: str, media_type: str = "text/markdown") -> ExtractedText:
    from ingestion.extraction.assemble import assemble

    joined, lines, blocks, _ = assemble(list(markdown_blocks(text)))
    return ExtractedText(joined, 1, lines, blocks, media_type)


def _extraction(extracted: ExtractedText, **changes: object) -> Extraction:
    made = Extraction(
        text_hash="0" * 64,
        media_type=extracted.media_type,
        pages=extracted.pages,
        ocr_pages=0,
        unread_pages=0,
        characters=len(extracted.text),
        cleaned_characters=len(extracted.text),
        title="Flood plan of the Sample River Authority",
        language="en",
        size=500_000,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def _judge(
    text: str, config: QualityConfig | None = None, media_type: str = "application/pdf", **changes: object
) -> Outcome:
    extracted = _extracted(text, media_type)
    extraction = _extraction(extracted, **changes)
    return judge_quality(ListedSource("A1"), extraction, extracted, extracted.text, config or PROFILES["default"])


def _quality(outcome: Outcome) -> Quality:
    assert isinstance(outcome.evidence, Quality)
    return outcome.evidence


def test_a_plan_of_some_length_passes_with_its_score() -> None:
    outcome = _judge(PARAGRAPH * 20)
    assert outcome.passes
    quality = _quality(outcome)
    assert quality.score == pytest.approx(quality.length + quality.chunks + quality.sections + quality.cleaning)


@pytest.mark.parametrize(
    ("profile", "changes", "reason", "figures"),
    [
        ("paper", {"size": 60_000, "pages": 9}, "file_too_small", ("60,000", "200,000")),
        ("paper", {"size": 900_000, "pages": 3}, "too_few_pages", ("3 pages", "4")),
        ("default", {"characters": 120}, "too_little_text", ("120 characters", "400")),
        ("default", {"title": "Cookie policy"}, "title_refused", ("Cookie policy",)),
    ],
)
def test_what_misses_a_threshold_is_rejected_with_both_figures(
    profile: str, changes: dict[str, Any], reason: str, figures: tuple[str, ...]
) -> None:
    outcome = _judge(PARAGRAPH * 20, PROFILES[profile], **changes)  # type: ignore[index]
    assert (outcome.status, outcome.reason) == ("refused", reason)
    assert all(figure in outcome.message for figure in figures)
    assert _quality(outcome)


@pytest.mark.parametrize(
    ("characters", "sections", "reduction", "points"),
    [
        # Each step of Buriasco 2026, section 4.5.5, on both of its sides.
        (999, 0, 0.0, (20, 1, 0, 5)),
        (1_000, 1, 0.09, (30, 1, 7, 5)),
        (1_999, 2, 0.10, (30, 2, 7, 15)),
        (2_000, 3, 0.40, (50, 2, 15, 15)),
        (50_000, 9, 0.41, (50, 20, 15, 0)),
        (50_001, 3, 0.25, (40, 20, 15, 15)),
    ],
)
def test_the_papers_profile_scores_by_the_papers_formula(
    characters: int, sections: int, reduction: float, points: tuple[int, ...]
) -> None:
    assert published_points(characters, sections, reduction) == points


def test_each_profile_scores_by_its_own_formula() -> None:
    ours, published = (_quality(_judge(PARAGRAPH * 40, PROFILES[name])) for name in ("default", "paper"))
    assert (published.length, published.cleaning) == (50, 5)
    assert (ours.length < 50, ours.cleaning) == (True, 15)


def test_a_score_below_the_least_is_rejected() -> None:
    outcome = _judge(PARAGRAPH * 20, replace(PROFILES["default"], minimum_score=90))
    assert outcome.reason == "low_score"
    assert "90" in outcome.message


@pytest.mark.parametrize("media_type", ["text/html", "text/markdown", "application/vnd.oasis.opendocument.text"])
def test_a_format_without_pages_is_measured_by_its_text(media_type: str) -> None:
    long = _judge(PARAGRAPH * 80, PROFILES["paper"], media_type, size=9_000)
    assert long.passes
    short = _judge(PARAGRAPH * 20, PROFILES["paper"], media_type, size=9_000)
    assert short.reason == "too_few_pages"
    assert "2 pages (estimated at 1,800 characters each" in short.message


def test_unreadable_ocr_is_rejected_and_the_same_text_without_ocr_is_not_judged() -> None:
    garbage = "tlf3q ,rwe xqz oehtn vvbr .lkp wtrsd |ghe nmzt iqx zzrt plkj dfgh " * 30
    read = _judge(garbage, ocr_pages=1)
    assert read.reason == "unreadable_text"
    assert "50%" in read.message
    assert _judge(garbage).passes


@pytest.mark.parametrize(
    "title",
    [
        "Cookie policy",
        "COOKIE POLICY | European Commission",
        "Login",
        "Ministry of the Environment – Log in",
        "Page not found: 404 error",
        "Just a moment...",
        "Access denied",
        "Informativa sulla privacy",
        "Página no encontrada",
        "Page introuvable - Ministère",
        "Datenschutzerklärung",
        "Acesso negado",
        "Gizlilik Politikası",
        "Sayfa bulunamadı",
        "Siden ble ikke funnet",
        "Pagina niet gevonden",
        "Søk",
    ],
)
def test_titles_of_pages_are_refused_in_nine_languages(title: str) -> None:
    assert refused_title(title)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Privacy and data protection in disaster relief: a guide",
        "Privacy – data protection in disaster relief, a guide for volunteers",
        "Access denied: how displaced people are kept from health care",
        "Search and rescue strategy",
        "Home fire safety",
        "Contact tracing guidelines",
        "Registration of dangerous sites act",
        "Datenschutz im Katastrophenschutz",
        "Errore umano e rischio industriale",
        "Accès à l'eau potable",
        "Inicio de la temporada de incendios: plan",
        "Cookies and other trackers in public health apps: recommendation of the authority",
        "Index of social vulnerability",
    ],
)
def test_a_document_that_only_begins_like_a_page_is_kept(title: str) -> None:
    assert not refused_title(title)


@pytest.mark.parametrize(
    ("headings", "names"),
    [
        ("# 1. Introduction\n\n# II. Scope of application\n\n# Annex 2: Maps", ("introduction", "scope", "annex")),
        ("# Premessa\n\n# Definizioni\n\n# 3.1 Monitoraggio", ("introduction", "definitions", "monitoring")),
        ("# Einführung\n\n# § 2 Geltungsbereich\n\n# Maßnahmen", ("introduction", "scope", "measures")),
        ("# Amaç\n\n# Kapsam\n\n# Tanımlar", ("objectives", "scope", "definitions")),
        ("# Contexte\n\n# Mise en œuvre\n\n# Financement", ("introduction", "implementation", "financing")),
        ("# Marco jurídico\n\n# Gobernanza\n\n# Bibliografía", ("legal basis", "governance", "references")),
        ("# Objetivos\n\n# Avaliação\n\n# Conclusões", ("objectives", "monitoring", "conclusions")),
        ("# Bakgrunn\n\n# Tiltak\n\n# Vedlegg 1", ("introduction", "measures", "annex")),
        ("# Inleiding\n\n# Toepassingsgebied\n\n# Bijlage", ("introduction", "scope", "annex")),
        ("Art. 1 Zweck\n\nArt. 2 Geltung\n\nArt. 3 Begriffe", ("articles",)),
    ],
)
def test_sections_are_recognised_in_nine_languages(headings: str, names: tuple[str, ...]) -> None:
    body = "\n\n" + PARAGRAPH * 3 + "\n\n"
    assert set(names) <= set(find_sections(_extracted(headings.replace("\n\n", body) + body)))


def test_key_terms_are_frequent_words_that_mean_something() -> None:
    terms = key_terms("Für die Hochwasser und die Hochwasser können Dämme und Dämme helfen. " * 3, "de")
    assert terms[:2] == ("dämme", "hochwasser")
    assert not {"für", "die", "und", "können"} & set(terms)
    assert len(key_terms(" ".join(f"wort{chr(97 + i)}" for i in range(26)), "de")) == 15


def test_heavy_cleaning_costs_points() -> None:
    extracted = _extracted(PARAGRAPH * 40)
    extraction = _extraction(extracted)
    kept, cut = (
        _quality(judge_quality(ListedSource("A1"), extraction, extracted, extracted.text[:size], PROFILES["default"]))
        for size in (len(extracted.text), len(extracted.text) // 2)
    )
    assert kept.cleaning == 15
    assert cut.cleaning == pytest.approx(3, abs=0.2)


@given(st.text(max_size=300))
def test_the_score_stays_within_its_maxima(text: str) -> None:
    extracted = ExtractedText(text, 1, (), (), "text/plain")
    quality = _quality(judge_quality(ListedSource("A1"), _extraction(extracted), extracted, text, PROFILES["default"]))
    assert 0 <= quality.length <= 50
    assert 0 <= quality.chunks <= 20
    assert 0 <= quality.sections <= 15
    assert 0 <= quality.cleaning <= 15


def test_a_law_has_its_sections_and_a_high_score(corpus: Path) -> None:
    extracted = extract(corpus / "de_zskg_zivilschutz_katastrophenhilfe.pdf", ExtractionLimits(), None)
    extraction = _extraction(extracted, pages=extracted.pages, title=extracted.title, language="de", size=73_881)
    outcome = judge_quality(ListedSource("A1"), extraction, extracted, extracted.text, PROFILES["default"])
    assert outcome.passes
    quality = _quality(outcome)
    assert quality.score > 80
    assert {"governance", "financing"} <= set(quality.sections_found)
    assert "bevölkerung" in quality.key_terms
