from __future__ import annotations

import copy
from datetime import date
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.presentation import Presentation
from pptx.util import Inches

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits

_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def test_a_line_break_on_a_slide_parts_words_and_a_field_is_read(tmp_path: Path) -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Flood\vplan of the regions"
    body = slide.placeholders[1].text_frame.paragraphs[0]
    body.text = "Warn\vthe towns on "
    field = f'<a:fld {_A} id="{{0}}" type="datetime"><a:rPr/><a:t>3 May 2024</a:t></a:fld>'
    body._p.append(parse_xml(field))
    shape = slide.shapes.add_table(1, 1, Inches(1), Inches(6), Inches(4), Inches(0.4))
    shape.table.cell(0, 0).text = "High\vwater"
    presentation.save(tmp_path / "a.pptx")
    text = extract(tmp_path / "a.pptx", ExtractionLimits(), None).text
    assert text == "Flood plan of the regions\n\nWarn the towns on 3 May 2024\n\nHigh water"


@pytest.fixture
def deck() -> Presentation:
    """Return a deck of one slide with nothing but its title."""
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = "Measures"
    return presentation


def _read(presentation: Presentation, folder: Path) -> list[str]:
    presentation.save(folder / "deck.pptx")
    return extract(folder / "deck.pptx", ExtractionLimits(), None).text.split("\n\n")


def _box(shapes: Any, left: float, top: float, text: str, width: float = 4) -> Any:
    shape = shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(0.5))
    shape.text_frame.text = text
    return shape


def test_columns_and_groups_are_read_one_after_another_and_the_footer_last(deck: Presentation, tmp_path: Path) -> None:
    shapes = deck.slides[0].shapes
    _box(shapes, 0.5, 7.0, "Water board of Lowmark", 8)
    right = shapes.add_group_shape().shapes
    _box(right, 5.2, 2.6, "brings the boats")
    _box(right, 5.2, 1.8, "Navy")
    _box(shapes, 0.5, 2.6, "pumps the cellars")
    _box(shapes, 0.5, 1.8, "Fire brigade")
    words = ["Measures", "Fire brigade", "pumps the cellars", "Navy", "brings the boats", "Water board of Lowmark"]
    assert _read(deck, tmp_path) == words


def test_the_number_of_a_slide_is_out_and_its_footer_a_note(tmp_path: Path) -> None:
    presentation = pptx.Presentation()
    layout = presentation.slide_layouts[1]
    slide = presentation.slides.add_slide(layout)
    slide.shapes.title.text = "Early warning"
    slide.placeholders[1].text = "Sirens"
    for place, text in ((11, "Water board"), (12, "17")):
        [copied] = [copy.deepcopy(one._element) for one in layout.placeholders if one.placeholder_format.idx == place]
        slide.shapes._spTree.insert(2, copied)
        [shape] = [one for one in slide.placeholders if one.placeholder_format.idx == place]
        shape.text_frame.text = text
    presentation.save(tmp_path / "deck.pptx")
    extracted = extract(tmp_path / "deck.pptx", ExtractionLimits(), None)
    assert extracted.text == "Early warning\n\nSirens\n\nWater board"
    assert extracted.blocks[-1].kind == "note"


def test_a_chart_is_a_table_of_its_values_as_they_are_shown(deck: Presentation, tmp_path: Path) -> None:
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["2019", "2020"]
    data.add_series("Flood", (0.653, 0.2))
    data.add_series("Drought", (0.1, None))
    frame = deck.slides[0].shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(6), Inches(4), data
    )
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Share of damage"
    rows = ["Flood | Drought", "2019 – Flood: 65.3%; Drought: 10.0%", "2020 – Flood: 20.0%"]
    assert _read(deck, tmp_path) == ["Measures", "Share of damage", *rows]


def test_days_and_groups_below_a_chart_are_read_as_its_labels(deck: Presentation, tmp_path: Path) -> None:
    days, groups = CategoryChartData(), CategoryChartData()
    days.categories = [date(2024, 1, 1), date(2024, 2, 1)]
    days.add_series("Level", (3, 4))
    for region in ("North", "South"):
        category = groups.add_category(region)
        category.add_sub_category("Spring")
        category.add_sub_category("Autumn")
    groups.add_series("Rain", (1, 2, 3, 4))
    for top, data in ((2, days), (4.5, groups)):
        deck.slides[0].shapes.add_chart(XL_CHART_TYPE.LINE, Inches(1), Inches(top), Inches(6), Inches(2), data)
    text = _read(deck, tmp_path)
    assert "2024-02-01 – Level: 4" in text
    assert "South – Autumn – Rain: 4" in text


def test_a_diagram_is_read_from_the_top_down(deck: Presentation, tmp_path: Path) -> None:
    slide = deck.slides[0]
    nodes = "".join(
        f'<dgm:pt modelId="{name}"{kind}><dgm:t><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        for name, kind, text in (
            ("0", ' type="doc"', ""),
            ("3", "", "The quay is closed"),
            ("1", "", "The gauge rings"),
            ("2", "", "The warden calls"),
            ("9", ' type="sibTrans"', "arrow"),
        )
    )
    links = "".join(
        f'<dgm:cxn modelId="c{child}" srcId="{above}" destId="{child}" srcOrd="{place}" destOrd="0"/>'
        for above, child, place in (("0", "3", 1), ("0", "1", 0), ("1", "2", 0))
    )
    spaces = f'{_A} xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    data = f"<dgm:dataModel {spaces}><dgm:ptLst>{nodes}</dgm:ptLst><dgm:cxnLst>{links}</dgm:cxnLst></dgm:dataModel>"
    kind = "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml"
    part = Part(PackURI("/ppt/diagrams/data1.xml"), kind, deck.part.package, data.encode())
    relation = slide.part.relate_to(part, f"{_RELATIONS}/diagramData")
    slide.shapes._spTree.append(
        parse_xml(
            f'<p:graphicFrame {_P} {_A} xmlns:r="{_RELATIONS}"><p:nvGraphicFramePr><p:cNvPr id="9" name="d"/>'
            '<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="2000000"/>'
            '<a:ext cx="5000000" cy="3000000"/></p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/'
            f'drawingml/2006/diagram"><dgm:relIds xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
            f' r:dm="{relation}"/></a:graphicData></a:graphic></p:graphicFrame>'
        )
    )
    assert _read(deck, tmp_path) == ["Measures", "The gauge rings", "The warden calls", "The quay is closed"]


def test_a_hidden_shape_is_out_and_one_with_alternatives_is_read_once(deck: Presentation, tmp_path: Path) -> None:
    shapes = deck.slides[0].shapes
    _box(shapes, 1, 2, "Draft for the minister")._element.nvSpPr.cNvPr.set("hidden", "1")
    chosen = _box(shapes, 1, 3, "Sirens are tried twice")._element
    older = _box(shapes, 1, 3, "a picture of that")._element
    spaces = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    alternatives = parse_xml(
        f'<mc:AlternateContent {spaces}><mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>'
    )
    for holder, element in zip(alternatives, (chosen, older), strict=True):
        holder.append(element)
    shapes._spTree.append(alternatives)
    assert _read(deck, tmp_path) == ["Measures", "Sirens are tried twice"]
