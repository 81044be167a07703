from __future__ import annotations

import zipfile
from pathlib import Path

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from tests.ingestion.documents import docx

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def level(depth: int, kind: str, text: str, more: str = "") -> str:
    counting = f'<w:start w:val="1"/><w:numFmt w:val="{kind}"/>{more}'
    return f'<w:lvl w:ilvl="{depth}">{counting}<w:lvlText w:val="{text}"/></w:lvl>'


NUMBERING = (
    f'<w:numbering {_W}><w:abstractNum w:abstractNumId="0">'
    + level(0, "upperRoman", "Chapter %1")
    + level(1, "decimal", "Article %2", '<w:lvlRestart w:val="0"/>')
    + level(2, "lowerLetter", "(%3)")
    + '</w:abstractNum><w:abstractNum w:abstractNumId="1">'
    + level(0, "decimal", "%1.")
    + level(1, "decimal", "%1.%2")
    + level(2, "bullet", "\uf0b7")
    + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
    "</w:lvlOverride></w:num></w:numbering>"
)
STYLES = (
    f'<w:styles {_W}><w:style w:styleId="Clause"><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    '<w:style w:styleId="Narrow"><w:basedOn w:val="Clause"/></w:style></w:styles>'
)


def item(text: str, number: int, depth: int = 0) -> str:
    place = f'<w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/>'
    return f"<w:p><w:pPr><w:numPr>{place}</w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def paragraphs(path: Path, body: str) -> list[str]:
    docx(path, body)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("word/numbering.xml", NUMBERING)
        archive.writestr("word/styles.xml", STYLES)
    return extract(path, ExtractionLimits(), None).text.split("\n\n")


def test_the_articles_of_a_statute_keep_the_numbers_that_word_counts(tmp_path: Path) -> None:
    body = (
        item("General", 1) + item("Scope", 1, 1) + item("floods", 1, 2) + item("fires", 1, 2) + item("Terms", 1, 1)
        + item("Duties", 1) + item("Plans", 1, 1) + item("towns", 1, 2)
    )  # fmt: skip
    assert paragraphs(tmp_path / "a.docx", body) == [
        "Chapter I General",
        "Article 1 Scope",
        "(a) floods",
        "(b) fires",
        "Article 2 Terms",
        "Chapter II Duties",
        "Article 3 Plans",
        "(a) towns",
    ]


def test_decimal_levels_restart_and_bullets_have_no_number(tmp_path: Path) -> None:
    body = item("One", 2) + item("Sub", 2, 1) + item("Two", 2) + item("Sub", 2, 1) + item("Dot", 2, 2)
    assert paragraphs(tmp_path / "a.docx", body) == ["1. One", "1.1 Sub", "2. Two", "2.1 Sub", "Dot"]


def test_a_list_that_begins_anew_and_one_that_is_empty_count_as_in_word(tmp_path: Path) -> None:
    body = item("One", 2) + item("", 2) + item("Three", 2) + item("Seven", 3) + item("Eight", 3) + item("None", 0)
    assert paragraphs(tmp_path / "a.docx", body) == ["1. One", "3. Three", "7. Seven", "8. Eight", "None"]


def test_a_style_numbers_its_paragraphs_and_those_of_the_styles_based_on_it(tmp_path: Path) -> None:
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>Text</w:t></w:r></w:p>'
        for style in ("Clause", "Narrow", "Other")
    )
    assert paragraphs(tmp_path / "a.docx", body) == ["1. Text", "2. Text", "Text"]


def test_a_number_that_no_program_writes_counts_as_none_and_a_vast_one_as_the_largest(tmp_path: Path) -> None:
    wide = '<w:tr><w:trPr><w:gridBefore w:val="999999999"/></w:trPr>'
    cell = '<w:tc><w:tcPr><w:gridSpan w:val="two"/></w:tcPr><w:p><w:r><w:t>Upton</w:t></w:r></w:p></w:tc></w:tr>'
    place = '<w:ilvl w:val="&gt;2"/><w:numId w:val="1"/>'
    listed = f"<w:p><w:pPr><w:numPr>{place}</w:numPr></w:pPr><w:r><w:t>Measures</w:t></w:r></w:p>"
    path = docx(tmp_path / "plan.docx", f"{listed}<w:tbl>{wide}{cell}</w:tbl>")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(
            "word/numbering.xml", NUMBERING.replace('<w:start w:val="1"/>', '<w:start w:val="429496729"/>')
        )
    text = extract(path, ExtractionLimits(), None).text
    assert text.startswith("Chapter MMM")
    assert "Upton" in text
    assert len(text) < 100


def test_the_instructions_of_fields_and_the_prompts_of_controls_are_no_text(tmp_path: Path) -> None:
    def char(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    def run(text: str) -> str:
        return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'

    inner = char("begin") + "<w:r><w:instrText>NAME</w:instrText></w:r>" + char("separate") + run("gone") + char("end")
    field = char("begin") + inner + char("separate") + run("shown") + char("end")
    prompt = f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Type here')}</w:sdtContent></w:sdt>"
    assert paragraphs(tmp_path / "a.docx", f"<w:p>{run('It is ')}{field}{prompt}{run('.')}</w:p>") == ["It is shown."]


def test_the_boxes_of_a_form_are_read(tmp_path: Path) -> None:
    def box(ticked: int) -> str:
        data = f'<w:ffData><w:checkBox><w:default w:val="{ticked}"/></w:checkBox></w:ffData>'
        begin = f'<w:r><w:fldChar w:fldCharType="begin">{data}</w:fldChar></w:r>'
        return f'{begin}<w:r><w:fldChar w:fldCharType="end"/></w:r>'

    body = f"<w:p>{box(1)}<w:r><w:t>Yes </w:t></w:r>{box(0)}<w:r><w:t>No</w:t></w:r></w:p>"
    assert paragraphs(tmp_path / "a.docx", body) == ["[x] Yes [ ] No"]


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def row(*cells: str, more: str = "") -> str:
    return f"<w:tr>{more}{''.join(f'<w:tc><w:p>{run(cell)}</w:p></w:tc>' for cell in cells)}</w:tr>"


def test_what_is_deleted_counts_in_no_list_and_parts_no_paragraph(tmp_path: Path) -> None:
    mark = "<w:numPr><w:ilvl w:val='0'/><w:numId w:val='2'/></w:numPr><w:rPr><w:del w:id='1'/></w:rPr>"
    deleted = f"<w:p><w:pPr>{mark}</w:pPr><w:del w:id='2'><w:r><w:delText>Two</w:delText></w:r></w:del></w:p>"
    parted = (
        f"<w:p><w:pPr><w:rPr><w:del w:id='3'/></w:rPr></w:pPr>{run('The fee is ')}</w:p><w:p>{run('40 euros.')}</w:p>"
    )
    emptied = deleted.replace("<w:rPr><w:del w:id='1'/></w:rPr>", "")
    body = item("One", 2) + deleted + emptied + item("Three", 2) + parted
    assert paragraphs(tmp_path / "a.docx", body) == ["1. One", "2. Three", "The fee is 40 euros."]


def test_a_struck_or_hidden_item_leaves_no_number_alone(tmp_path: Path) -> None:
    gone = [item("Gone", 2).replace("<w:r>", f"<w:r><w:rPr><w:{look}/></w:rPr>") for look in ("strike", "vanish")]
    body = item("One", 2) + gone[0] + gone[1] + item("Three", 2)
    assert paragraphs(tmp_path / "a.docx", body) == ["1. One", "3. Three"]


def test_numbers_in_formats_without_letters_of_ours_are_figures(tmp_path: Path) -> None:
    body = item("One", 1) + item("Two", 1)
    for kind, numbers in {"ordinalText": "1 2", "russianUpper": "А Б", "chicago": "* †", "none": " "}.items():
        docx(tmp_path / "a.docx", body)
        with zipfile.ZipFile(tmp_path / "a.docx", "a") as archive:
            archive.writestr("word/numbering.xml", NUMBERING.replace("upperRoman", kind))
        first, second = numbers.split(" ")
        text = extract(tmp_path / "a.docx", ExtractionLimits(), None).text
        assert text.split("\n\n") == [
            f"Chapter {first} One".replace("  ", " "),
            f"Chapter {second} Two".replace("  ", " "),
        ]


def test_a_text_box_stands_behind_its_paragraph_once(tmp_path: Path) -> None:
    table = f"<w:tbl>{row('Town', 'Fee')}{row('Hollin', '40')}</w:tbl>"
    box = f"<w:txbxContent><w:p>{run('Boxed.')}</w:p>{table}</w:txbxContent>"
    alternatives = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    space = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    fixed = f"<w:r><mc:AlternateContent {space}>{alternatives}</mc:AlternateContent></w:r>"
    body = f"<w:p>{run('Inspect dykes every ')}{fixed}{run('two years.')}</w:p>"
    assert paragraphs(tmp_path / "a.docx", body) == [
        "Inspect dykes every two years.", "Boxed.", "Town | Fee", "Town: Hollin; Fee: 40",
    ]  # fmt: skip


def test_a_frame_of_one_cell_has_paragraphs_and_hidden_rows_are_left_out(tmp_path: Path) -> None:
    frame = f"<w:tbl><w:tr><w:tc><w:p>{run('Article 1')}</w:p><w:p>{run('Owners pay.')}</w:p></w:tc></w:tr></w:tbl>"
    hidden = row("Kelm", "50", more="<w:trPr><w:hidden/></w:trPr>")
    body = f"{frame}<w:tbl>{row('Town', 'Fee')}{hidden}{row('Hollin', '40')}</w:tbl>"
    assert paragraphs(tmp_path / "a.docx", body) == ["Article 1", "Owners pay.", "Town | Fee", "Town: Hollin; Fee: 40"]


def test_what_is_written_above_a_word_is_beside_it(tmp_path: Path) -> None:
    ruby = f"<w:r><w:ruby><w:rt>{run('かんじ')}</w:rt><w:rubyBase>{run('漢字')}</w:rubyBase></w:ruby></w:r>"
    assert paragraphs(tmp_path / "a.docx", f"<w:p>{ruby}{run(' stays.')}</w:p>") == ["漢字(かんじ) stays."]


def test_the_chosen_entry_of_a_list_in_a_form_is_read(tmp_path: Path) -> None:
    entries = "<w:result w:val='1'/><w:listEntry w:val='Hollin'/><w:listEntry w:val='Kelm'/>"
    field = (
        f"<w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:ddList>{entries}</w:ddList></w:ffData></w:fldChar></w:r>"
    )
    assert paragraphs(tmp_path / "a.docx", f"<w:p>{run('County: ')}{field}</w:p>") == ["County: Kelm"]


def test_notes_are_counted_and_marked_as_their_section_says(tmp_path: Path) -> None:
    marks = "".join(f"{run('Fee')}<w:r><w:footnoteReference w:id='{number}'/></w:r>" for number in (2, 3))
    properties = "<w:footnotePr><w:numFmt w:val='lowerLetter'/><w:numStart w:val='3'/></w:footnotePr>"
    notes = "".join(
        f"<w:footnote w:id='{one}'><w:p>{run(text)}</w:p></w:footnote>" for one, text in ((2, "A."), (3, "B."))
    )
    docx(tmp_path / "a.docx", f"<w:p>{marks}</w:p><w:sectPr>{properties}</w:sectPr>")
    with zipfile.ZipFile(tmp_path / "a.docx", "a") as archive:
        archive.writestr("word/footnotes.xml", f"<w:footnotes {_W}>{notes}</w:footnotes>")
        archive.writestr("word/comments.xml", f"<w:comments {_W}><w:comment/><w:comment/></w:comments>")
    extracted = extract(tmp_path / "a.docx", ExtractionLimits(), None)
    assert extracted.text == "Fee[c]Fee[d]\n\n[c] A.\n\n[d] B."
    assert [str(one) for one in extracted.warnings] == ["Comments, left out because they are not part of the text: 2."]
