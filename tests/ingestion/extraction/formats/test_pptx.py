from __future__ import annotations

from pathlib import Path

import pptx
from pptx.oxml import parse_xml
from pptx.util import Inches

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits

_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'


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
