"""Kinds of print in every format: what is struck, hidden, raised, noted, numbered and the like.

    python -m benchmarks.pipeline.kinds

The same pieces of text are written in each format, with the means of that format, and read. A cell of the table says
whether the text is what a reader of the page sees, or why the format has no such thing. DOC and ODS are written and
read by LibreOffice.
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import openpyxl
import pptx
import pymupdf
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from pptx.oxml import parse_xml
from pptx.util import Inches

from benchmarks.report import machine, write_table
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits

# A piece of text and its kind, "" for plain text.
Piece = tuple[str, str]

KINDS: dict[str, tuple[tuple[Piece, ...], str]] = {
    "struck": ((("Owners inspect dykes every ", ""), ("seven", "struck"), (" two years.", "")),
               "Owners inspect dykes every two years."),
    "hidden": ((("Owners inspect dykes every ", ""), ("seven", "hidden"), (" two years.", "")),
               "Owners inspect dykes every two years."),
    "deleted": ((("Inspect dykes every ", ""), ("seven ", "deleted"), ("two ", "inserted"), ("years.", "")),
                "Inspect dykes every two years."),
    "moved": ((("Fines double.", "moved from"), ("Dykes are inspected. ", ""), ("Fines double.", "moved to")),
              "Dykes are inspected. Fines double."),
    "raised": ((("Art. 21", ""), ("1", "raised"), (" and 10", ""), ("6", "raised"), (" t.", "")),
               "Art. 21¹ and 10⁶ t."),
    "lowered": ((("Plants emit CO", ""), ("2", "lowered"), (" at night.", "")), "Plants emit CO2 at night."),
    "note": ((("The fee is 40 euros", ""), ("Since 2020.", "note"), (" a year.", "")),
             "The fee is 40 euros¹ a year.\n\n¹ Since 2020."),
    "list number": ((("the register", "item"), ("the fees", "item")), "1. the register\n\n2. the fees"),
    "struck item": ((("the register", "struck item"), ("the fees", "item")), "2. the fees"),
    "text box": ((("Inspect dykes every ", ""), ("A box.", "box"), ("two years.", "")),
                 "Inspect dykes every two years.\n\nA box."),
    "symbol": ((("Levels ", ""), ("≥", "symbol"), (" 4 metres.", "")), "Levels ≥ 4 metres."),
    "formula": ((("The share is ", ""), ("F/12", "formula"), (" of it.", "")), "The share is F/12 of it."),
}  # fmt: skip

_NO_LOOK = "the format has no looks of characters"
_SHEET = "a cell holds no such thing"
_NO_BOX = {"text box": "no boxes beside the text"}
_ITEMS = ("item", "struck item")
NOT_THERE: dict[str, dict[str, str]] = {
    "PDF": dict.fromkeys(("hidden", "deleted", "moved"), "what is not shown is not in the file")
    | {"formula": "a formula is drawn, with no sign that it is one"}
    | {"struck item": "a number is typed as words are", "text box": "a box is drawn, with no sign that it is one"},
    "PPTX": {
        "text box": "all words are in boxes",
        "hidden": "hidden slides alone",
        "deleted": "no tracked changes",
        "moved": "no tracked changes",
    }
    | {"note": "notes of a speaker alone"},
    "XLSX": dict.fromkeys(("deleted", "moved", "note", "list number", "struck item", "text box", "formula"), _SHEET)
    | {"hidden": "hidden cells alone", "symbol": "signs of Unicode alone"},
    "HTML": {"symbol": "signs of Unicode alone", "moved": "deleted and inserted alone"} | _NO_BOX,
    "EPUB": {"symbol": "signs of Unicode alone", "moved": "deleted and inserted alone"} | _NO_BOX,
    "Markdown": {"symbol": "signs of Unicode alone", "moved": "deleted and inserted alone"}
    | _NO_BOX
    | {"hidden": "the mark-up of HTML alone", "formula": "the mark-up of HTML alone"},
    "RTF": {"moved": "deleted and inserted alone", "formula": "as a picture alone"},
    "ODT": {"moved": "deleted and inserted alone"},
    "CSV": dict.fromkeys(KINDS, _NO_LOOK),
    "plain text": dict.fromkeys(KINDS, _NO_LOOK),
}
NOT_THERE["ODS"] = NOT_THERE["XLSX"]
NOT_THERE["DOC"] = {"moved": "deleted and inserted alone", "formula": "LibreOffice without its part Math writes none"}

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_DECLARED = (
    ("/word/document.xml", "document.main"),
    ("/word/numbering.xml", "numbering"),
    ("/word/footnotes.xml", "footnotes"),
)
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def _fraction(text: str) -> str:
    above, below = (f"<m:r><m:t>{one}</m:t></m:r>" for one in text.split("/"))
    return f"<m:oMath><m:f><m:num>{above}</m:num><m:den>{below}</m:den></m:f></m:oMath>"


def _boxed(run: str) -> str:
    """Return a run with a text box of Word."""
    shape = 'xmlns:v="urn:schemas-microsoft-com:vml" style="width:200pt;height:50pt"'
    words = f"<w:txbxContent><w:p>{run}</w:p></w:txbxContent>"
    return f"<w:r><w:pict><v:rect {shape}><v:textbox>{words}</v:textbox></v:rect></w:pict></w:r>"


def write_docx(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as a DOCX."""
    looks = {"struck": "<w:strike/>", "hidden": "<w:vanish/>", "raised": '<w:vertAlign w:val="superscript"/>'}
    looks |= {"lowered": '<w:vertAlign w:val="subscript"/>', "struck item": "<w:strike/>"}
    around = {"deleted": "del", "inserted": "ins", "moved from": "moveFrom", "moved to": "moveTo"}
    body, notes = [], []
    for text, kind in pieces:
        tag = "delText" if kind == "deleted" else "t"
        run = f'<w:r><w:rPr>{looks.get(kind, "")}</w:rPr><w:{tag} xml:space="preserve">{text}</w:{tag}></w:r>'
        if kind == "note":
            notes.append(f'<w:footnote w:id="2"><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>')
            run = '<w:r><w:footnoteReference w:id="2"/></w:r>'
        elif kind == "symbol":
            run = '<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>'
        elif kind in ("formula", "box"):
            run = _fraction(text) if kind == "formula" else _boxed(run)
        elif kind in _ITEMS:
            place = '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>'
            run = f"</w:p><w:p>{place}{run}</w:p><w:p>"
        elif kind in around:
            run = f'<w:{around[kind]} w:id="1" w:author="A" w:date="2026-01-01T00:00:00Z">{run}</w:{around[kind]}>'
        body.append(run)
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    parts_of = {
        "word/document.xml": f"<w:document><w:body><w:p>{''.join(body)}</w:p></w:body></w:document>",
        "word/numbering.xml": f'<w:numbering><w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>',
        "word/footnotes.xml": f"<w:footnotes>{''.join(notes)}</w:footnotes>",
    }
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    with zipfile.ZipFile(path := folder / "a.docx", "w") as archive:
        types = "".join(f'<Override PartName="{name}" ContentType="{_DOCX}.{kind}+xml"/>' for name, kind in _DECLARED)
        rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{_TYPES}">{rels}{types}</Types>')
        one = '<Relationship Id="r{}" Type="{}/{}" Target="{}"/>'
        main = one.format(1, relations, "officeDocument", "word/document.xml")
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{package}">{main}</Relationships>')
        kinds = enumerate(("numbering", "footnotes"))
        own = "".join(one.format(number, relations, kind, f"{kind}.xml") for number, kind in kinds)
        archive.writestr("word/_rels/document.xml.rels", f'<Relationships xmlns="{package}">{own}</Relationships>')
        for name, xml in parts_of.items():
            head, rest = xml.split(">", 1)
            archive.writestr(name, f'{head} xmlns:w="{_W}" xmlns:m="{_M}">{rest}')
    return path


def write_odt(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as an ODT."""
    looks = {"struck": 'style:text-line-through-style="solid"', "hidden": 'text:display="none"'}
    looks |= {"raised": 'style:text-position="super 58%"', "lowered": 'style:text-position="sub 58%"'}
    spanned = '<text:span text:style-name="{}">{}</text:span>'
    styles = "".join(
        f'<style:style style:name="{kind}" style:family="text"><style:text-properties {look}/></style:style>'
        for kind, look in looks.items()
    )
    styles += (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"'
        ' style:num-suffix="."/></text:list-style>'
    )
    body, formula = [], ""
    for text, kind in pieces:
        match kind:
            case "note":
                mark = '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
                body.append(f"{mark}<text:note-body><text:p>{text}</text:p></text:note-body></text:note>")
            case "item" | "struck item":
                words = spanned.format("struck", text) if kind == "struck item" else text
                body.append(f"<text:list-item><text:p>{words}</text:p></text:list-item>")
            case "box":
                body.append(f"<draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>")
            case "deleted":
                body.append('<text:change text:change-id="c"/>')
            case "formula":
                above, below = text.split("/")
                formula = f"<math><mfrac><mi>{above}</mi><mn>{below}</mn></mfrac></math>"
                body.append('<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>')
            case _ if kind in looks:
                body.append(spanned.format(kind, text))
            case _:
                body.append(text)
    written = "".join(body)
    listed = any(kind in _ITEMS for _, kind in pieces)
    whole = f'<text:list text:style-name="L">{written}</text:list>' if listed else f"<text:p>{written}</text:p>"
    deleted = "".join(text for text, kind in pieces if kind == "deleted")
    if deleted:
        region = '<text:tracked-changes><text:changed-region text:id="c"><text:deletion>'
        whole = (
            f"{region}<text:p>{deleted}</text:p></text:deletion></text:changed-region></text:tracked-changes>{whole}"
        )
    names = (("office", "office"), ("text", "text"), ("style", "style"), ("draw", "drawing"))
    spaces = " ".join(f'xmlns:{one}="{_ODF}:{name}:1.0"' for one, name in names)
    spaces += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    content = f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:text>{whole}"
    with zipfile.ZipFile(path := folder / "a.odt", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        end = "</office:text></office:body></office:document-content>"
        archive.writestr("content.xml", f"<office:document-content {spaces}>{content}{end}")
        if formula:
            archive.writestr("Object 1/content.xml", formula)
    return path


def write_rtf(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as RTF."""
    switches = {"struck": "strike", "hidden": "v", "deleted": "deleted", "inserted": "revised", "raised": "super"}
    switches |= {"lowered": "sub"}
    body = []
    for number, (text, kind) in enumerate(pieces, 1):
        if kind == "note":
            body.append(rf"{{\super\chftn}}{{\footnote\pard{{\super\chftn}} {text}}}")
        elif kind in _ITEMS:
            words = rf"{{\strike {text}}}" if kind == "struck item" else text
            body.append(rf"{{\listtext {number}. }}{words}\par ")
        elif kind == "box":
            body.append(rf"{{\shp{{\*\shpinst{{\shptxt\pard {text}\par}}}}}}")
        elif kind == "symbol":
            body.append(r"\u8805?")
        else:
            body.append(rf"{{\{switches[kind]} {text}}}" if kind else text)
    path = folder / "a.rtf"
    path.write_text(rf"{{\rtf1\ansi\deff0{{\fonttbl{{\f0 Times;}}}}\f0 {''.join(body)}\par}}")
    return path


def html_of(pieces: Sequence[Piece]) -> str:
    """Return the pieces as the body of a page."""
    marks = {"struck": "s", "deleted": "del", "inserted": "ins", "raised": "sup", "lowered": "sub", "item": "li"}
    body, notes = [], []
    for text, kind in pieces:
        if kind == "note":
            body.append('<sup><a href="#n" id="r">1</a></sup>')
            notes.append(f'<p id="n">1 {text} <a href="#r">back</a></p>')
        elif kind == "hidden":
            body.append(f'<span class="gone">{text}</span>')
        elif kind == "formula":
            above, below = text.split("/")
            body.append(f"<math><mfrac><mi>{above}</mi><mn>{below}</mn></mfrac></math>")
        elif kind == "struck item":
            body.append(f"<li><s>{text}</s></li>")
        else:
            body.append(f"<{marks[kind]}>{text}</{marks[kind]}>" if kind else text)
    written = "".join(body)
    listed = any(kind in _ITEMS for _, kind in pieces)
    return (f"<ol>{written}</ol>" if listed else f"<p>{written}</p>") + "".join(notes)


def write_html(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as a page."""
    path = folder / "a.html"
    style = "<style>.gone {display: none}</style>"
    path.write_text(f"<html><head>{style}</head><body>{html_of(pieces)}</body></html>", encoding="utf-8")
    return path


def write_epub(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as an EPUB of one chapter."""
    page = f"<html><head><style>.gone {{display: none}}</style></head><body>{html_of(pieces)}</body></html>"
    item = '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/>'
    with zipfile.ZipFile(path := folder / "a.epub", "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        root = '<rootfiles><rootfile full-path="p.opf"/></rootfiles>'
        archive.writestr("META-INF/container.xml", f'<container xmlns="{_ODF}:container">{root}</container>')
        opf = f'<manifest>{item}</manifest><spine><itemref idref="c"/></spine>'
        archive.writestr("p.opf", f'<package xmlns="http://www.idpf.org/2007/opf">{opf}</package>')
        archive.writestr("c.xhtml", page)
    return path


def write_markdown(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as Markdown."""
    body, notes = [], []
    for number, (text, kind) in enumerate(pieces, 1):
        match kind:
            case "struck" | "deleted":
                body.append(f"~~{text.strip()}~~" + " " * text.endswith(" "))
            case "raised" | "lowered":
                tag = "sup" if kind == "raised" else "sub"
                body.append(f"<{tag}>{text}</{tag}>")
            case "note":
                body.append("[^1]")
                notes.append(f"\n\n[^1]: {text}")
            case "item" | "struck item":
                body.append(f"{number}. ~~{text}~~\n" if kind == "struck item" else f"{number}. {text}\n")
            case _:
                body.append(text)
    path = folder / "a.md"
    path.write_text("".join([*body, *notes]) + "\n", encoding="utf-8")
    return path


def write_pptx(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as a slide."""
    deck = pptx.Presentation()
    frame = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(*[Inches(1)] * 4).text_frame
    looks = dict.fromkeys(("struck", "struck item"), ("strike", "sngStrike"))
    looks |= {"raised": ("baseline", "30000"), "lowered": ("baseline", "-25000")}
    line = frame.paragraphs[0]
    for place, (text, kind) in enumerate(pieces):
        if kind in _ITEMS:
            line = frame.paragraphs[0] if place == 0 else frame.add_paragraph()
            number = f'<a:buAutoNum xmlns:a="{_A}" type="arabicPeriod"/>'
            line._p.get_or_add_pPr().append(parse_xml(number))
        run = line.add_run()
        run.text = text
        if kind in looks:
            run.font._element.set(*looks[kind])
        elif kind == "symbol":
            run.text, run.font.name = "\uf0b3", "Symbol"
        elif kind == "formula":
            run.text = ""
            word = "http://schemas.microsoft.com/office/drawing/2010/main"
            line._p.append(parse_xml(f'<a14:m xmlns:a14="{word}" xmlns:m="{_M}">{_fraction(text)}</a14:m>'))
    deck.save(str(folder / "a.pptx"))
    return folder / "a.pptx"


def write_xlsx(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as a cell."""
    fonts = {"struck": InlineFont(strike=True), "raised": InlineFont(vertAlign="superscript")}
    fonts |= {"lowered": InlineFont(vertAlign="subscript")}
    book = openpyxl.Workbook()
    cell = CellRichText(*(TextBlock(fonts[kind], text) if kind else text for text, kind in pieces))
    book.worksheets[0].append([cell])
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def write_pdf(folder: Path, pieces: Sequence[Piece]) -> Path:
    """Write the pieces as a page, whose notes stand at its foot."""
    with pymupdf.open() as document:
        page = document.new_page()
        marks = {"raised": "sup", "lowered": "sub"}
        body = [
            "<sup>1</sup>" if kind == "note" else f"<{marks[kind]}>{text}</{marks[kind]}>" if kind in marks else text
            for text, kind in pieces
            if kind != "item"
        ]
        body += [f"<p>{number}. {text}</p>" for number, (text, kind) in enumerate(pieces, 1) if kind == "item"]
        page.insert_htmlbox((72, 100, 500, 300), "".join(body))
        for text, kind in pieces:
            if kind == "note":
                page.insert_htmlbox((72, 760, 500, 790), f'<p style="font-size: 8pt"><sup>1</sup> {text}</p>')
            elif kind == "struck":
                page = document.reload_page(page)
                box = page.search_for(text)[0]
                middle = (box.y0 + box.y1) / 2
                page.draw_line((box.x0, middle), (box.x1, middle), width=0.6)
        document.save(folder / "a.pdf")
    return folder / "a.pdf"


def converted(write: Callable[[Path, Sequence[Piece]], Path], suffix: str) -> Callable[[Path, Sequence[Piece]], Path]:
    """Return a writer of an older format: LibreOffice converts what another writer makes."""

    def write_converted(folder: Path, pieces: Sequence[Piece]) -> Path:
        made = write(folder, pieces)
        command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", suffix]
        subprocess.run([*command, "--outdir", str(folder), str(made)], check=True, capture_output=True, timeout=120)
        return made.with_suffix(f".{suffix}")

    return write_converted


WRITERS: dict[str, Callable[[Path, Sequence[Piece]], Path]] = {
    "PDF": write_pdf,
    "DOCX": write_docx,
    "DOC": converted(write_docx, "doc"),
    "ODT": write_odt,
    "RTF": write_rtf,
    "PPTX": write_pptx,
    "XLSX": write_xlsx,
    "ODS": converted(write_xlsx, "ods"),
    "HTML": write_html,
    "EPUB": write_epub,
    "Markdown": write_markdown,
}


def read(name: str, kind: str, folder: Path) -> str:
    """Return what is read of the pieces of a kind that are written in a format."""
    text = extract(WRITERS[name](folder, KINDS[kind][0]), ExtractionLimits(), None).text
    # Names of sheets are headings.
    return text.removeprefix("Sheet1\n\n").removeprefix("Sheet\n\n")


def main() -> None:
    """Print the table."""
    rows = []
    for name in (*WRITERS, "CSV", "plain text"):
        row = [name]
        for kind, (_, wanted) in KINDS.items():
            if why := NOT_THERE.get(name, {}).get(kind):
                row.append(f"— ({why})")
                continue
            with tempfile.TemporaryDirectory() as folder:
                seen = read(name, kind, Path(folder))
            row.append("as shown" if seen == wanted else f"**{seen!r}**")
        rows.append(row)
    notes = [
        machine(),
        "— stands where the format has no such thing, with the reason; named: its place says what it is.",
    ]
    write_table("kinds", "Kinds of print by format", ["format", *KINDS], rows, notes)


if __name__ == "__main__":
    main()
