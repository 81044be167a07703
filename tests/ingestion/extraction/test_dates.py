from __future__ import annotations

from datetime import date, timedelta

import pytest

from ingestion.extraction.assemble import DraftBlock, DraftLine, assemble
from ingestion.extraction.date_patterns import declared_date, written_dates
from ingestion.extraction.dates import find_dates
from ingestion.file_reading import FileProperties
from ingestion.types.description import FieldValue
from ingestion.types.source import ListedSource
from rag_engine.types.document import BlockKind, ExtractedText

TODAY = date(2026, 11, 22)
PROSE = "The plan describes what every service does before, during and after a flood, and who tells the people. " * 3


def text_of(*paragraphs: str, media_type: str = "application/pdf") -> ExtractedText:
    """Return a document of paragraphs; "3: words" puts them on page 3, "# words" makes a heading."""
    drafts = []
    for words in paragraphs:
        page, _, rest = words.partition(": ")
        number, said = (int(page), rest) if page.isdigit() else (1, words)
        kind: BlockKind = "heading" if said.startswith("# ") else "text"
        drafts.append(DraftBlock(number, kind, (DraftLine(said.removeprefix("# ")),)))
    text, lines, blocks, _ = assemble(drafts)
    return ExtractedText(text, max(block.page for block in blocks), lines, blocks, media_type)


def dates_of(
    *paragraphs: str, declared: FileProperties | None = None, source: ListedSource | None = None, language: str = "en"
) -> list[FieldValue]:
    return find_dates(
        text_of(*paragraphs), source or ListedSource("A"), declared or FileProperties(), language, today=TODAY
    )


def first(*paragraphs: str, declared: FileProperties | None = None, language: str = "en") -> str:
    found = dates_of(*paragraphs, declared=declared, language=language)
    return found[0].value if found else ""


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("29 January 2016", "2016-01-29"),
        ("January 29th, 2016", "2016-01-29"),
        ("29 de enero de 2016", "2016-01-29"),
        ("1er février 2016", "2016-02-01"),
        ("29 août 2016", "2016-08-29"),
        ("25. März 1997", "1997-03-25"),
        ("14 DE AGOSTO DE 2018", "2018-08-14"),
        ("1º de março de 2018", "2018-03-01"),
        ("27 dicembre 1947", "1947-12-27"),
        ("23 HAZİRAN 1965", "1965-06-23"),
        ("5 Şubat 2020", "2020-02-05"),
        ("3 mei 2015", "2015-05-03"),
        ("17. mai 2014", "2014-05-17"),
        ("5. desember 2014", "2014-12-05"),
        ("23/6/1965", "1965-06-23"),
        ("9.7.2021", "2021-07-09"),
        ("10.03.99", "1999-03-10"),
        ("2016-01-29", "2016-01-29"),
        ("12.IV.1998", "1998-04-12"),
        ("Janvier 2024", "2024-01"),
        ("Ağustos 2019", "2019-08"),
        ("sept. 2011", "2011-09"),
        ("MCMXCVIII", "1998"),
        ("12/31/2020", "2020-12-31"),
        ("twelfth day of December two thousand and fifteen", "2015-12-12"),
    ],
)
def test_dates_are_read_as_they_are_written_in_nine_languages(written: str, value: str) -> None:
    assert [found.value for found in written_dates(f"Es: {written}.")] == [value]


@pytest.mark.parametrize("words", ["5.4.10 Uncertainty", "from 3 out of 2018 cases", "12345 1999/2000", "32 May 2020x"])
def test_numbers_that_are_no_days_are_not_read_as_days(words: str) -> None:
    assert not [found for found in written_dates(words) if found.precision == "day"]


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("D:20160129165527+01'00'", "2016-01-29"),
        ("2016-01-29T10:00:00Z", "2016-01-29"),
        ("2016-01", "2016-01"),
        ("2016", "2016"),
        ("29 January 2016", "2016-01-29"),
        ("D:20161399", "2016"),
        ("soon", ""),
    ],
)
def test_properties_hold_dates_in_several_writings(value: str, iso: str) -> None:
    assert declared_date(value) == iso


@pytest.mark.parametrize(
    ("paragraphs", "value"),
    [
        (
            ("Distr.: General 29 January 2016", "# Report on its session, held in Paris from 1 to 13 December 2015"),
            "2016-01-29",
        ),
        (
            ("# Grundgesetz", "Ausfertigungsdatum: 23.05.1949", "Stand: Zuletzt geändert durch G v. 22.3.2025"),
            "1949-05-23",
        ),
        (("# KAT MÜLKİYETİ KANUNU", "Kabul Tarihi : 23/6/1965", "Resmî Gazete : Tarih : 2/7/1965"), "1965-06-23"),
        (("# LEI Nº 13.709, DE 14 DE AGOSTO DE 2018", "Altera a Lei nº 12.965, de 23 de abril de 2014"), "2018-08-14"),
        (("# Verwaltungsvorschrift", "Vom 21. August 2024 - Az. 6-1503"), "2024-08-21"),
        (("# Guide", "Janvier 2024", PROSE), "2024-01"),
        (("# Bulletin", "August 2021 / Vol. 70", PROSE), "2021-08"),
        (
            (
                "# Costituzione",
                "Testo aggiornato alla legge 8 febbraio 2022, n. 1",
                "44: Data a Roma, addì 27 dicembre 1947.",
            ),
            "1947-12-27",
        ),
    ],
)
def test_the_date_of_adoption_or_publication_comes_first(paragraphs: tuple[str, ...], value: str) -> None:
    assert first(*paragraphs, PROSE) == value


def test_the_line_that_says_it_is_given_with_its_page() -> None:
    best = dates_of("# Flood plan", "2: Published on 4 May 2019 by the Agency", PROSE)[0]
    assert (best.value, best.sentence, best.page) == ("2019-05-04", "Published on 4 May 2019 by the Agency", 2)
    assert best.confidence > 0.5


def test_a_date_that_is_cited_in_a_running_sentence_is_not_the_documents_own() -> None:
    cited = f"{PROSE} It follows Directive 2007/60/EC of 23 October 2007 on the assessment of flood risks. {PROSE}"
    assert first("# Flood plan", cited) == ""
    assert first("# Flood plan", "14 March 2012", cited) == "2012-03-14"


def test_todays_date_and_those_to_come_are_never_the_documents() -> None:
    for day in (TODAY, TODAY - timedelta(days=1), TODAY + timedelta(days=90)):
        assert first("# Flood plan", f"Published: {day.isoformat()}") == ""
    assert first("# Flood plan", "Published: 12 May 1623") == ""


def test_numbers_are_read_month_first_in_american_documents_only() -> None:
    assert first("# U.S. Department of Justice", "Issued: 3/4/2012") == "2012-03-04"
    assert first("# Ministry of Justice", "Issued: 3/4/2012") == "2012-04-03"


@pytest.mark.parametrize(
    ("declared", "url", "other", "value"),
    [
        ("en-US", "", "", "2022-02-03"),
        ("en_GB", "https://example.com/a", "", "2022-03-02"),
        ("en", "https://www.energy.gov/plan", "", "2022-02-03"),
        ("en", "https://www.energy.ie/plan", "", "2022-03-02"),
        ("en", "https://example.org/plan", "It ended on 12/31/2021.", "2022-02-03"),
        ("en", "https://example.org/plan", "It ended on 31/12/2021.", "2022-03-02"),
        ("en", "https://example.org/plan", "", "2022"),
    ],
)
def test_numbers_are_read_in_the_order_of_the_pages_locale_and_not_at_all_where_it_is_unknown(
    declared: str, url: str, other: str, value: str
) -> None:
    source = ListedSource("A", url=url)
    properties = FileProperties(language=declared)
    paragraphs = filter(None, ("# Heat plan", "Published: 2/3/2022", other))
    assert dates_of(*paragraphs, source=source, declared=properties)[0].value == value


def test_the_date_of_the_edition_at_hand_wins_over_that_of_the_first() -> None:
    assert first("# Handbook", "First published May 2009", "This edition published June 2021") == "2021-06"
    assert first("# Leitfaden", "Erstmals veröffentlicht: 1. Mai 2009", "Veröffentlicht: 3. Juni 2021") == "2021-06-03"


def test_what_the_file_declares_serves_where_the_text_is_silent() -> None:
    assert first("# Flood plan", PROSE, declared=FileProperties(date="2018-05")) == "2018-05"
    assert first("# Flood plan", PROSE, declared=FileProperties(created="2018-05-06")) == ""
    assert first("# Flood plan", "Published on 4 May 2019", declared=FileProperties(date="2020")) == "2019-05-04"


def test_a_running_head_gives_the_issue_of_a_journal_but_not_the_hour_of_printing() -> None:
    head = "MMWR / January 14, 2011 / Vol. 60"
    assert first("# Housing in 2007 and 2009", PROSE, declared=FileProperties(margins=(head,))) == "2011-01-14"
    assert first("# Housing", PROSE, declared=FileProperties(margins=("8/26/25, 3:54 PM",))) == ""


def test_the_year_in_a_symbol_counts_for_little_and_that_in_an_address_too() -> None:
    assert first("FCCC/CP/2015/10/Add.1", "Distr.: General 29 January 2016") == "2016-01-29"
    source = ListedSource("A", url="https://example.org/2021/07/plan.pdf")
    best = dates_of("# Flood plan", PROSE, source=source)[0]
    assert (best.value, best.sentence) == ("2021-07", "The address holds 2021/07.")
    assert best.confidence < 0.5


def test_years_of_a_survey_and_in_tables_are_no_dates() -> None:
    assert first("# Prevalence of disability: 2005 and 2010", "All ages 2005 2010 Change") == ""
