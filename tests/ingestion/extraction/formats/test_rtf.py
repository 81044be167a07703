from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from rag_engine.types.document import ExtractedText

FONTS = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset162 Arial Tur;}{\f2\fcharset204 Arial Cyr;}}"


def read(folder: Path, body: str, prolog: str = r"\ansi\ansicpg1252\deff0", name: str = "a.rtf") -> ExtractedText:
    path = folder / name
    path.write_bytes(rf"{{\rtf1{prolog}{FONTS}{body}}}".encode("latin-1"))
    return extract(path, ExtractionLimits(), None)


def test_letters_are_those_of_the_code_page_of_their_font(tmp_path: Path) -> None:
    body = r"\f0 Stra\'dfe \f1 yang\'fdn \f2\'cf\'eb\'e0\'ed \f0\u8364?\par"
    assert read(tmp_path, body).text == "Straße yangın План €"


def test_raw_letters_are_those_of_the_code_page_that_the_file_declares(tmp_path: Path) -> None:
    assert read(tmp_path, "\xfe\xf0 plan\\par", r"\ansi\ansicpg1254").text == "şğ plan"


def test_paragraphs_headings_and_tables_are_told_apart(tmp_path: Path) -> None:
    row = r"\trowd\cellx1\cellx2\pard\intbl {0}\cell {1}\cell\trowd\cellx1\row"
    body = (
        r"{\pard\outlinelevel0 Flood Plan\par}\pard Each town plans; a | stays.\par "
        + row.replace("{0}", r"River\par name").replace("{1}", "Level")
        + row.replace("{0}", "Po").replace("{1}", "12")
        + r"\pard After.\par"
    )
    extracted = read(tmp_path, body)
    assert (
        extracted.text
        == "Flood Plan\n\nEach town plans; a | stays.\n\nRiver name | Level\n\nRiver name: Po; Level: 12\n\nAfter."
    )
    assert [block.kind for block in extracted.blocks] == ["heading", "text", "table", "text"]
    assert extracted.media_type == "application/rtf"


def test_a_footnote_follows_the_paragraph_with_its_mark_and_the_title_is_that_of_the_file(tmp_path: Path) -> None:
    note = r"{\super\chftn}{\footnote\pard{\super\chftn} See \'a7 3.}"
    body = rf"{{\info{{\title Plan f\'fcr Fl\'fcsse}}}}The plan{note} holds.\par The end.\par"
    extracted = read(tmp_path, body)
    assert extracted.text == "The plan¹ holds.\n\n¹ See § 3.\n\nThe end."
    assert [block.kind for block in extracted.blocks] == ["text", "note", "text"]
    assert extracted.title == "Plan für Flüsse"


def test_the_words_of_a_link_stay_and_its_address_goes(tmp_path: Path) -> None:
    link = r'{\field{\*\fldinst{HYPERLINK "http://a.org/x" }}{\fldrslt{the law}}}'
    assert read(tmp_path, rf"See {link} here.\par").text == "See the law here."


def test_rtf_that_is_named_doc_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, r"Plan\par", name="a.doc").text == "Plan"


def test_a_file_of_nothing_but_links_is_read_in_time(tmp_path: Path) -> None:
    started = time.process_time()
    read(tmp_path, r"x\par " + r'{\field{\*\fldinst{HYPERLINK "h"' * 20_000)
    read(tmp_path, r"x\par " + r"{\footnote " * 20_000)
    assert time.process_time() - started < 20


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(
    ["{", "}", "\\'e9", "\\'", "\\u-3", "\\u99999999", "\\uc", "\\cell", "\\row", "\\trowd", "a ", "\\par", "\\f1",
     "\\bin9", "\\pict", "\\ansicpg99", "{\\footnote ", "{\\title ", "\\fcharset77", "\\mac", "\xff", "\\u55357?"]
), max_size=15).map("".join))  # fmt: skip
def test_broken_rtf_is_read_or_refused(tmp_path: Path, body: str) -> None:
    path = tmp_path / "a.rtf"
    path.write_bytes(rf"{{\rtf1{FONTS}{body}}}".encode("latin-1"))
    with suppress(Refusal):
        extract(path, ExtractionLimits(), None).text.encode("utf-8")


def test_rtf_of_an_unknown_font_alphabet_is_refused_as_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.rtf"
    path.write_bytes(rb"{\rtf1\ansi{\fonttbl{\f0\fcharset78 Osaka;}}\f0\'83\'65\par}")
    with pytest.raises(Refusal) as caught:
        extract(path, ExtractionLimits(), None)
    assert caught.value.reason == "damaged"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            r"Every {\shp{\*\shpinst{\sp{\sn x}}{\shptxt\pard Boxed.\par Two.\par}}{\shprslt Boxed.}}two years.\par",
            ["Every two years.", "Boxed.", "Two."],
        ),
        (
            r"{\header\pard Journal\par}{\headerf\pard Journal\par}{\footer\pard Seat{\*\fldinst X}\par}Body.\par",
            ["Journal", "Body.", "Seat"],
        ),
        (r"{\listtext\pard\plain 1.\tab}one\par{\listtext\pard\plain 2.\tab}{\strike two}\par", ["1. one"]),
        (r"See {\object\objemb{\*\objdata 0105}{\result\pard the result}}.\par", ["See the result."]),
        (
            r"{\field{\*\fldinst{FORMCHECKBOX{\*\formfield{\fftype1\ffres25\ffdefres1}}}}{\fldrslt}}paid in "
            r"{\field{\*\fldinst{FORM{\*\formfield{\fftype2\ffres1{\*\ffl Hollin}{\*\ffl Kelm}}}}}{\fldrslt}}.\par",
            ["[x] paid in Kelm."],
        ),
        (r"The fee{\*\atnid A}{\*\annotation\pard Check\par} is 40.\par", ["The fee is 40."]),
    ],
)
def test_what_stands_beside_the_paragraphs_is_read(tmp_path: Path, source: str, expected: list[str]) -> None:
    path = tmp_path / "a.rtf"
    path.write_text(r"{\rtf1\ansi\deff0{\fonttbl{\f0 Times;}}\pard " + source + "}")
    extracted = extract(path, ExtractionLimits(), None)
    assert [block for block in extracted.text.split("\n\n") if block] == expected
    assert ("annotation" in source) == any("Comments" in str(one) for one in extracted.warnings)
