from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pymupdf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from ingestion.extraction.extract import extract
from ingestion.extraction.formats.pdf_lines import read_lines
from ingestion.extraction.ocr.choose import choose_ocr
from ingestion.file_reading import ExtractionLimits, OcrLine, Picture
from ingestion.types.outcome import Refusal
from rag_engine.config import DATA
from rag_engine.errors import BackendError
from rag_engine.types.document import ExtractedText
from tests.ingestion.documents import ReadingOcr, drawing, pdf
from tests.present import present

LIMITS = ExtractionLimits()
BLANK = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 50, 50), False)


class _Broken(ReadingOcr):
    """An engine that is installed and does not run."""

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        raise BackendError("no engine", help="Install one.")


def block_texts(extracted: ExtractedText, kind: str) -> list[str]:
    return [extracted.text[block.start : block.end] for block in extracted.blocks if block.kind == kind]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.from_regex(r"[a-z]{2,9}", fullmatch=True), min_size=5, max_size=80), min_size=1, max_size=3)
)
def test_the_words_of_every_page_come_back_in_order_and_on_their_page(tmp_path: Path, pages: list[list[str]]) -> None:
    extracted = extract(pdf(tmp_path / "x.pdf", [" ".join(words) for words in pages]), LIMITS, None)
    assert extracted.text.split() == [word for words in pages for word in words]
    for number, words in enumerate(pages, 1):
        of_page = [extracted.text[line.start : line.end] for line in extracted.lines if line.page == number]
        assert " ".join(of_page).split() == words


def test_the_box_of_a_line_encloses_its_words_on_a_turned_and_cropped_page(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "turned.pdf") as document:
        page = document.new_page()
        page.insert_text((100, 200), "Evacuation order")
        page.set_cropbox(pymupdf.Rect(50, 60, 500, 700))
        page.set_rotation(90)
    extracted = extract(path, LIMITS, None)
    box = present(extracted.lines[0].box)
    with pymupdf.open(path) as document:
        clip = pymupdf.Rect(box.x0, box.y0, box.x1, box.y1)
        inside = document[0].get_pixmap(clip=clip)
        whole = document[0].get_pixmap()
    assert sum(byte < 128 for byte in inside.samples) == sum(byte < 128 for byte in whole.samples) > 0


def test_running_heads_and_page_numbers_are_left_out_but_the_text_stays(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "heads.pdf") as document:
        for number in range(1, 6):
            page = document.new_page()
            page.insert_text((72, 40), "Civil Protection Bulletin")
            page.insert_text((72, 300), f"Measure {number} applies")
            page.insert_text((290, 810), f"{number} / 5")
    text = extract(path, LIMITS, None).text
    assert text == "\n\n".join(f"Measure {number} applies" for number in range(1, 6))


def test_headings_are_told_by_their_size_and_notes_by_theirs(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "sizes.pdf") as document:
        page = document.new_page()
        page.insert_text((72, 80), "Flood Risk Management", fontsize=20)
        page.insert_textbox((72, 120, 500, 400), "Each region shall keep a plan of its rivers. " * 8, fontsize=11)
        page.insert_text((72, 750), "1 See the annex on rivers.", fontsize=8)
    extracted = extract(path, LIMITS, None)
    assert extracted.title == "Flood Risk Management"
    assert block_texts(extracted, "heading") == ["Flood Risk Management"]
    assert block_texts(extracted, "note") == ["1 See the annex on rivers."]


def test_the_cells_of_a_table_are_told_apart(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "table.pdf") as document:
        page = document.new_page()
        for row, cells in enumerate([("Region", "Floods", "Fires"), ("North", "12", "3"), ("South", "4", "9")]):
            for column, cell in enumerate(cells):
                page.insert_text((72 + 120 * column, 200 + 14 * row), cell)
    assert extract(path, LIMITS, None).text == (
        "Region | Floods | Fires\n\nRegion: North; Floods: 12; Fires: 3\n\nRegion: South; Floods: 4; Fires: 9"
    )


def test_three_columns_of_the_federal_register_are_read_one_after_the_other(corpus: Path) -> None:
    text = extract(corpus / "en_us_federal_register_2020-17221.pdf", LIMITS, None).text
    assert "Investigation of the accident has been completed by the Indonesian authorities" in text
    assert "PROPOSALS\n" not in text


def test_a_sentence_that_runs_over_a_page_is_not_broken_by_heads_and_notes(corpus: Path) -> None:
    store = extract(corpus / "en_us_federal_register_2020-17221.pdf", LIMITS, None)
    assert "after takeoff from Soekarno-Hatta International Airport in Jakarta" in store.text
    assert "the FAA also proposes to require operators to conduct an AOA sensor system test" in store.text
    release = extract(corpus / "en_us_sec_interpretive_release_17cfr276.pdf", LIMITS, None)
    start = release.text.index("comment on the scope of the exclusion")
    assert "\n" not in release.text[start - 80 : start]


def test_the_rows_of_a_table_with_wrapped_cells_are_whole(corpus: Path) -> None:
    text = extract(corpus / "en_eu_eprtr_pollutant_thresholds.pdf", LIMITS, None).text
    over = "THRESHOLD FOR RELEASES – to"
    for name, air, water, land in (
        ("Carbon dioxide (CO2)", "100 million", "-", "-"),
        ("Chlorine and inorganic compounds (as HCl)", "10 000", "-", "-"),
        ("Zinc and compounds (as Zn)", "200", "100", "100"),
    ):
        row = f"{name} – {over} air kg/year: {air}; {over} water kg/year: {water}; {over} land kg/year: {land}"
        assert f"\n{row}\n" in text
    fields = extract(corpus / "it_dpc_rilevamento_effetti_territorio.pdf", LIMITS, None).text
    assert '\nField: corso_acqua; Type: varchar(255) COLLATE "default"\n' in fields


def test_rows_that_begin_with_a_number_stay_in_their_table() -> None:
    extracted = extract(DATA / "sample" / "documents" / "es-espana-plan-calor.pdf", LIMITS, None)
    place = extracted.text.index("Nivel: 1 Bajo; Color: amarillo; Criterio: se supera 1 o 2 días")
    assert "\n\nNivel: 2 Medio; Color: naranja; Criterio: se supera 3 días" in extracted.text
    assert next(block.kind for block in extracted.blocks if block.start <= place < block.end) == "table"
    line = next(line for line in extracted.lines if line.start <= place < line.end)
    assert line.box is not None
    assert (line.page, 630 < line.box.y0 < line.box.y1 < 646) == (1, True)


def test_a_table_with_lines_below_its_names_alone_is_read_by_its_columns(corpus: Path) -> None:
    text = extract(corpus / "en_us_census_disability_table.pdf", LIMITS, None).text
    assert "Category: Severe disability; 2005 – Number: 34,947; 2005 – Margin of error (±): 601" in text
    zoonoses = extract(corpus / "en_eu_efsa_zoonoses.pdf", LIMITS, None).text
    assert "Country: Malta; Domestic (%): 97.8; Imported (%): 1.1; Unknown (%): 1.1; Total (n): 91" in zoonoses


def test_a_table_goes_on_under_its_names_on_the_next_page(corpus: Path) -> None:
    text = extract(corpus / "de_bw_zuwendungen_feuerwehr_vwv.pdf", LIMITS, None).text
    assert "Drohne nach technischer Beschreibung¹; Förderbetrag Euro: 10 000" in text
    page_16 = "GW-L2; Massenklasse: -; Förderbetrag Euro: 11 000; Förderbetrag Rahmenvertrag Euro: -"
    assert page_16 in text


def test_a_frame_around_prose_is_no_table(tmp_path: Path) -> None:
    prose = "Every town keeps a plan for floods and shows it to those who ask. " * 4
    with drawing(tmp_path / "framed.pdf") as document:
        page = document.new_page()
        page.draw_rect((60, 90, 500, 300))
        page.draw_line((60, 200), (500, 200))
        for top in (100, 210):
            page.insert_textbox((70, top, 490, top + 90), prose, fontsize=10)
    extracted = extract(tmp_path / "framed.pdf", LIMITS, None)
    assert {block.kind for block in extracted.blocks} == {"text"}


def test_the_raised_number_of_a_note_does_not_become_part_of_its_word(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "raised.pdf") as document:
        document.new_page().insert_htmlbox(
            (72, 100, 400, 200), "The region<sup>12</sup> has 30 km<sup>2</sup> of rivers."
        )
    assert extract(path, LIMITS, None).text == "The region¹² has 30 km² of rivers."


def test_page_numbers_that_stand_further_in_are_left_out_and_years_over_tables_stay(corpus: Path) -> None:
    text = extract(corpus / "it_costituzione_repubblica.pdf", LIMITS, None).text
    assert "\n\n20\n\n" not in text
    assert "20 per le leggi tributarie" not in text
    assert extract(corpus / "en_unfccc_cop13_bali.pdf", LIMITS, None).text.count("; 2008: ") >= 3


def test_hyphens_at_line_ends_are_gone_from_german_and_turkish_law(corpus: Path) -> None:
    german = extract(corpus / "de_bw_zuwendungen_feuerwehr_vwv.pdf", LIMITS, None).text
    turkish = extract(corpus / "tr_kat_mulkiyeti_kanunu.pdf", LIMITS, None).text
    assert "Übersicht über die Finanzierung dieser Ausgaben" in german
    assert "bağdaşması mümkün olmayan irtifaklar kurulamaz." in turkish


@pytest.mark.needs("tesseract")
def test_a_typewritten_scan_is_read_by_tesseract_with_a_box_for_every_line(corpus: Path) -> None:
    extracted = extract(corpus / "scan_en_linn_typewritten.pdf", LIMITS, choose_ocr("tesseract", LIMITS))
    expected = (corpus / "scan_en_linn_typewritten.expected.txt").read_text("utf-8")
    wanted, found = (" ".join(text.split()) for text in (expected, extracted.text))
    assert Levenshtein.distance(wanted, found) / len(wanted) < 0.02
    assert extracted.ocr_pages == (1,)
    assert all(line.box and 0 <= line.box.x0 < line.box.x1 <= 612 for line in extracted.lines)


def test_a_scan_is_read_without_tesseract_too(corpus: Path) -> None:
    extracted = extract(corpus / "scan_fr_francais.pdf", LIMITS, choose_ocr("rapidocr", LIMITS))
    assert "Portez ce vieux whisky au juge blond" in extracted.text


@pytest.mark.needs("tesseract")
def test_a_scan_on_its_side_is_read_upright_in_its_own_language(tmp_path: Path, corpus: Path) -> None:
    path = tmp_path / "side.pdf"
    with pymupdf.open(corpus / "de_zskg_zivilschutz_katastrophenhilfe.pdf") as source, pymupdf.open() as document:
        matrix = pymupdf.Matrix(200 / 72, 200 / 72).prerotate(90)
        picture = source[2].get_pixmap(matrix=matrix, alpha=False, clip=pymupdf.Rect(0, 50, 595, 300))
        page = document.new_page(width=250, height=595)
        page.insert_image(page.rect, pixmap=picture)
        document.save(path)
    extracted = extract(path, LIMITS, choose_ocr("tesseract", LIMITS))
    assert "für Zwecke des Zivilschutzes" in extracted.text.replace("\n\n", " ")


def test_scanned_pages_beside_text_are_named_when_no_ocr_can_read_them(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "mixed.pdf") as document:
        document.new_page().insert_text((72, 200), "A page with a text layer of its own.")
        page = document.new_page()
        page.insert_image(page.rect, pixmap=BLANK)
    extracted = extract(path, LIMITS, None)
    assert extracted.unread_pages == (2,)
    assert "no OCR" in extracted.warnings[0]


def test_embedded_text_that_is_not_language_loses_to_ocr_and_that_is_said(corpus: Path) -> None:
    sentence = "The Conference of the Parties invites the subsidiary bodies to consider the further implementation"
    extracted = extract(
        corpus / "en_unfccc_cop5_scan_with_ocr_layer.pdf", LIMITS, ReadingOcr("\n".join([sentence] * 30))
    )
    scrambled = (2, 3, 25, 26, 27, 29, 34, 35, 42, 47, 48, 49)
    assert extracted.ocr_pages == scrambled
    assert "3DUWLHV" not in extracted.text
    assert f"OCR was used where the embedded text is not language (pages {str(scrambled)[1:-1]})." in extracted.warnings


def test_embedded_text_that_is_not_language_is_said_without_ocr(corpus: Path) -> None:
    extracted = extract(corpus / "en_unfccc_cop5_scan_with_ocr_layer.pdf", LIMITS, None)
    [warning] = extracted.warnings
    assert "not language (pages 2, 3, 25, 26," in warning
    assert "no OCR is installed" in warning


def test_a_page_whose_letters_are_control_characters_is_read_by_ocr(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "controls.pdf") as document:
        document.new_page().insert_text((72, 200), "A page with a text layer of its own.")
        document.new_page().insert_text((72, 200), "".join(chr(1 + at % 7) for at in range(60)))
    extracted = extract(path, LIMITS, ReadingOcr("Read by OCR"))
    assert extracted.ocr_pages == (2,)
    assert extracted.text.endswith("Read by OCR")
    assert extract(path, LIMITS, None).unread_pages == (2,)


def test_a_scanned_page_too_large_to_draw_stays_unread_and_the_others_are_read(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "poster.pdf") as document:
        document.new_page().insert_text((72, 200), "A page with a text layer of its own.")
        document.new_page(width=1_000_000, height=1_000_000).insert_image((0, 0, 100, 100), pixmap=BLANK)
        document.new_page().insert_image((0, 0, 100, 100), pixmap=BLANK)
    extracted = extract(path, LIMITS, ReadingOcr("Read by OCR"))
    assert extracted.text == "A page with a text layer of its own.\n\nRead by OCR"
    assert (extracted.unread_pages, extracted.ocr_pages) == ((2,), (3,))
    assert "Page 2 could not be drawn" in extracted.warnings[0]


def test_an_engine_that_does_not_run_is_our_failure_and_names_the_file(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "scan.pdf") as document:
        document.new_page().insert_image((0, 0, 100, 100), pixmap=BLANK)
    with pytest.raises(Refusal, match=r"scan\.pdf .* no engine") as caught:
        extract(path, LIMITS, _Broken())
    assert (caught.value.reason, caught.value.status) == ("ocr_missing", "failed")


@pytest.mark.parametrize("name", ["en_paris_agreement.pdf", "it_costituzione_repubblica.pdf"])
def test_every_line_stands_where_its_box_says(corpus: Path, name: str) -> None:
    extracted = extract(corpus / name, LIMITS, None)
    with pymupdf.open(corpus / name) as document:
        for line in extracted.lines[::97]:
            box = present(line.box)
            clip = pymupdf.Rect(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1)
            there = "".join(document[line.page - 1].get_textbox(clip).split())
            assert "".join(extracted.text[line.start : line.end].replace(" | ", "").split()).rstrip("-") in there


def test_pages_before_the_first_label_have_none(tmp_path: Path) -> None:
    whole, labelled = pdf(tmp_path / "whole.pdf", ["Title", "The dyke was raised."]), tmp_path / "labelled.pdf"
    with pymupdf.open(whole) as document:
        document.set_page_labels([{"startpage": 1, "style": "D", "firstpagenum": 7}])
        document.save(labelled)
    assert read_lines(labelled, {1}).labels == ("", "7")


def test_pages_that_a_damaged_file_counts_and_does_not_have_are_no_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "counts.pdf"
    path.write_bytes(b"%PDF-.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/ 8>>2 0 obj<</Type/Page/Count 2/>>>>%%EOF")
    with pytest.raises(Refusal, match="has no text"):
        extract(path, LIMITS, None)


def form(path: Path, *, appearance: bool = True) -> Path:
    """Return a form with two lines to write in, one below its label, and two boxes, one of them ticked."""
    with drawing(path) as document:
        page = document.new_page()
        page.insert_text((72, 90), "Application for a mooring place", fontsize=16)
        places = {"Name of the boat:": (220, 105, 420, 125), "Remarks:": (72, 149, 420, 190)}
        page.insert_text((72, 120), "Name of the boat:")
        page.insert_text((72, 145), "Remarks:")
        for label, value in {"Name of the boat:": "Kittiwake of Tarn", "Remarks:": "It leaks."}.items():
            widget = pymupdf.Widget()
            widget.field_name, widget.field_type, widget.field_value = label, pymupdf.PDF_WIDGET_TYPE_TEXT, value
            widget.rect = pymupdf.Rect(places[label])
            page.add_widget(widget)
        for row, (label, ticked) in enumerate({"Owner": True, "Tenant": False}.items()):
            page.insert_text((100, 220 + 20 * row), label)
            widget = pymupdf.Widget()
            widget.field_name, widget.field_type, widget.field_value = label, pymupdf.PDF_WIDGET_TYPE_CHECKBOX, ticked
            widget.rect = pymupdf.Rect(72, 208 + 20 * row, 86, 222 + 20 * row)
            page.add_widget(widget)
        page.insert_text((72, 280), "The form is handed to the harbour master in person.")
        for widget in [] if appearance else page.widgets(types=[pymupdf.PDF_WIDGET_TYPE_TEXT]):
            _, reference = document.xref_get_key(widget.xref, "AP/N")
            document.update_stream(int(reference.split()[0]), b"/Tx BMC EMC")
    return path


@pytest.mark.parametrize("appearance", [True, False], ids=["drawn", "left to the viewer"])
def test_the_values_of_a_form_stand_beside_their_labels(tmp_path: Path, appearance: bool) -> None:
    extracted = extract(form(tmp_path / "form.pdf", appearance=appearance), LIMITS, None)
    for line in ("Name of the boat: Kittiwake of Tarn", "Remarks: It leaks.", "[x] Owner", "[ ] Tenant"):
        assert line in extracted.text
    assert extracted.title == "Application for a mooring place"


def xfa(path: Path, packets: list[bytes]) -> Path:
    with drawing(path) as document:
        document.new_page().insert_text((72, 90), "Please wait... Your viewer may not be able to display this form.")
        numbers = []
        for packet in packets:
            numbers.append(document.get_new_xref())
            document.update_object(numbers[-1], "<<>>")
            document.update_stream(numbers[-1], packet)
        array = " ".join(f"(packet) {number} 0 R" for number in numbers)
        document.xref_set_key(document.pdf_catalog(), "AcroForm", f"<< /Fields [] /XFA [{array}] >>")
    return path


TEMPLATE = (
    b'<template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform>'
    b"<draw><value><text>Application for a dredging permit</text></value></draw>"
    b'<draw presence="hidden"><value><text>For the office</text></value></draw>'
    b'<field name="River"><caption><value><text>River:</text></value></caption></field></subform></template>'
)
DATASETS = (
    b'<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1><River>Hollin</River>'
    b"<Depth>4 m</Depth></form1></xfa:data></xfa:datasets>"
)


def test_a_form_that_no_page_shows_is_read_from_its_template(tmp_path: Path) -> None:
    extracted = extract(xfa(tmp_path / "form.pdf", [b"<xdp>", TEMPLATE, DATASETS, b"</xdp>"]), LIMITS, None)
    assert extracted.text == "Application for a dredging permit\n\nRiver: Hollin\n\nDepth: 4 m"
    assert "XFA" in str(extracted.warnings[0])


@pytest.mark.parametrize("packet", [b"no XML", b'<!DOCTYPE a [<!ENTITY b "c">]><xdp>&b;</xdp>', b"<xdp/>"])
def test_a_form_that_no_page_shows_and_that_cannot_be_read_is_refused_with_the_cure(
    tmp_path: Path, packet: bytes
) -> None:
    with pytest.raises(Refusal, match="XFA form") as caught:
        extract(xfa(tmp_path / "form.pdf", [packet]), LIMITS, None)
    assert "print it" in caught.value.help


def test_files_in_a_pdf_are_named(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "report.pdf") as document:
        page = document.new_page()
        page.insert_text((72, 90), "The annexes are attached.")
        document.embfile_add("1", b"x", filename="annex_ä.pdf")
        page.add_file_annot((500, 90), b"x", "letter.pdf")
    assert [str(one) for one in extract(path, LIMITS, None).warnings] == [
        "Attached files, which were not read: annex_ä.pdf, letter.pdf."
    ]


def test_files_in_the_branches_of_a_pdf_are_named(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "report.pdf") as document:
        document.new_page().insert_text((72, 90), "The annexes are attached.")
        branch = "<< /Limits [({0}) ({0})] /Names [({0}) << /Type /Filespec /UF (annex_{0}.pdf) >>] >>"
        tree = f"<< /Kids [{branch.format('a')} {branch.format('b')}] >>"
        document.xref_set_key(document.pdf_catalog(), "Names", f"<< /EmbeddedFiles {tree} >>")
    assert "annex_a.pdf, annex_b.pdf" in str(extract(path, LIMITS, None).warnings[0])


def test_a_portfolio_is_called_one(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "folder.pdf") as document:
        document.new_page().insert_text((72, 90), "Open this portfolio in another program.")
        document.embfile_add("plan.pdf", b"x", filename="plan.pdf")
        document.xref_set_key(document.pdf_catalog(), "Collection", "<< /Type /Collection >>")
    said = " ".join(map(str, extract(path, LIMITS, None).warnings))
    assert "portfolio" in said
    assert "plan.pdf" in said


@pytest.mark.parametrize(
    "names",
    [
        "<< /EmbeddedFiles << /Names [(a) 1 0 R (b) null (c) 99999 0 R] >> >>",
        "<< /EmbeddedFiles 3 >>",
        f"<< /EmbeddedFiles << /Names [{' '.join(f'(f{at}) << /UF (f.pdf) >>' for at in range(20_000))}] >> >>",
    ],
    ids=["damaged", "none", "many"],
)
def test_names_of_files_made_to_break_the_reader_do_not_hold_it_up(tmp_path: Path, names: str) -> None:
    with drawing(path := tmp_path / "report.pdf") as document:
        document.new_page().insert_text((72, 90), "The annexes are attached.")
        document.xref_set_key(document.pdf_catalog(), "Names", names)
    extracted = extract(path, LIMITS, None)
    assert extracted.text == "The annexes are attached."
    assert len(str(extracted.warnings)) < 1_000


@pytest.mark.parametrize("strips", [1, 6])
def test_a_picture_under_a_long_typed_head_and_foot_is_read(tmp_path: Path, strips: int) -> None:
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 595, 842 // strips), False)
    picture.clear_with(250)
    with drawing(path := tmp_path / "scan.pdf") as document:
        page = document.new_page(width=595, height=842)
        for strip in range(strips):
            top = 842 * strip / strips
            page.insert_image((0, top, 595, top + 842 / strips), pixmap=picture, keep_proportion=False)
        for height in (24, 35, 812, 823):
            page.insert_text(
                (40, height), "Water Tribunal of the Eastern Province   Case No. 7:24   Filed 18 March", fontsize=8
            )
    engine = ReadingOcr(*["The duty to maintain follows from the charter of the port and not from the ordinance."] * 6)
    extracted = extract(path, LIMITS, engine)
    assert extracted.ocr_pages == (1,)
    assert "The duty to maintain" in extracted.text
    with pytest.raises(Refusal, match="is a scan and no OCR is installed"):
        extract(path, LIMITS, None)


def test_a_note_at_the_foot_of_a_column_cuts_no_sentence(tmp_path: Path) -> None:
    left = ("The board counted thirty sluices in that year,", "and the millers of the valley had found that¹")
    note = ("¹ The count of the year before was lost in", "the flood of the same autumn.")
    right = ("half of them were closed in summer. The", "others stood open by day and by night.")
    with pymupdf.open() as document:
        page = document.new_page()
        for number, words in enumerate(left):
            page.insert_text((60, 80 + 14 * number), words, fontsize=11)
        for number, words in enumerate(note):
            page.insert_text((60, 130 + 10 * number), words, fontsize=8)
        for number, words in enumerate(right):
            page.insert_text((320, 80 + 14 * number), words, fontsize=11)
        document.save(tmp_path / "report.pdf")
    text = extract(tmp_path / "report.pdf", ExtractionLimits(), None).text
    assert "the millers of the valley had found that¹ half of them were closed in summer." in " ".join(text.split())
    assert text.endswith("¹ The count of the year before was lost in the flood of the same autumn.")
