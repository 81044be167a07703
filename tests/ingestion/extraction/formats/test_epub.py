from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from rag_engine.types.document import ExtractedText

LIMITS = ExtractionLimits()
_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
_PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>Handbook of Flood Plans</dc:title></metadata><manifest>"
    '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    '<item id="one" href="text/chapter%201.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="art" href="art.svg" media-type="image/svg+xml"/></manifest>'
    '<spine><itemref idref="nav"/><itemref idref="two"/><itemref idref="art"/><itemref idref="one"/></spine></package>'
)


def page(heading: str, text: str) -> str:
    return f"<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{heading}</h1><p>{text}</p></body></html>"


def epub(path: Path, more: dict[str, str] | None = None, without: str = "") -> Path:
    parts = {
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/book.opf": _PACKAGE,
        "OEBPS/nav.xhtml": page("Contents", "First of all"),
        "OEBPS/text/chapter 1.xhtml": page("Rivers", "Every river has a plan."),
        "OEBPS/text/two.xhtml": page("Preface", "Why we plan; Überflutung."),
        **(more or {}),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in parts.items():
            if name != without:
                archive.writestr(name, content)
    return path


def test_chapters_come_as_pages_in_the_order_of_the_spine(tmp_path: Path) -> None:
    extracted = extract(epub(tmp_path / "a.epub"), LIMITS, None)
    assert extracted.text == "Preface\n\nWhy we plan; Überflutung.\n\nRivers\n\nEvery river has a plan."
    assert [block.page for block in extracted.blocks] == [1, 1, 2, 2]
    assert [block.kind for block in extracted.blocks] == ["heading", "text", "heading", "text"]
    assert (extracted.pages, extracted.title) == (2, "Handbook of Flood Plans")
    assert extracted.media_type == "application/epub+zip"


def test_a_note_in_another_file_is_below_the_paragraph_of_its_mark(tmp_path: Path) -> None:
    mark = "Every river has a plan<a epub:type='noteref' id='r{0}' href='two.xhtml#n{0}'>{0}</a> of {1}."
    rivers = f"{mark.format(1, 'six years')}</p><p>{mark.format(2, 'two')}"
    notes = "".join(
        f"<aside epub:type='endnote' id='n{number}' hidden='hidden'><p><a href='chapter%201.xhtml#r{number}'>"
        f"{number}</a> {words}</p></aside>"
        for number, words in ((1, "Since 2020."), (2, "Until 2019."))
    )
    parts = {
        "OEBPS/text/chapter 1.xhtml": page("Rivers", rivers),
        "OEBPS/text/two.xhtml": page("Notes", f"The notes.</p>{notes}<p>"),
    }
    extracted = extract(epub(tmp_path / "a.epub", parts), LIMITS, None)
    assert extracted.text == (
        "Notes\n\nThe notes.\n\nRivers\n\nEvery river has a plan¹ of six years.\n\n¹ Since 2020.\n\n"
        "Every river has a plan² of two.\n\n² Until 2019."
    )
    assert [block.page for block in extracted.blocks if block.kind == "note"] == [2, 2]


def test_what_a_book_has_in_headers_and_asides_is_read(tmp_path: Path) -> None:
    words = "Body.</p><aside>Boxed words.</aside><footer>Last words.</footer><article>An essay.</article><p>End."
    chapter = page("Plans", words).replace("<h1>Plans</h1>", "<header><h1>Plans</h1></header>")
    extracted = extract(epub(tmp_path / "a.epub", {"OEBPS/text/two.xhtml": chapter}), LIMITS, None)
    assert extracted.text.startswith("Plans\n\nBody.\n\nBoxed words.\n\nLast words.\n\nAn essay.\n\nEnd.")


def test_the_style_sheets_to_which_a_chapter_links_are_read(tmp_path: Path) -> None:
    head = "<head><link rel='stylesheet' href='../css/book.css'/></head>"
    words = "Inspect <span class='old'>five</span> two plans in 10<span class='up'>6</span> rivers."
    parts = {
        "OEBPS/text/two.xhtml": page("Plans", words).replace("<body>", f"{head}<body>"),
        "OEBPS/css/book.css": ".old {text-decoration: line-through} .up {vertical-align: super}",
    }
    assert "Inspect two plans in 10⁶ rivers." in extract(epub(tmp_path / "a.epub", parts), LIMITS, None).text


def test_a_chapter_that_is_missing_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    extracted = extract(epub(tmp_path / "a.epub", without="OEBPS/text/two.xhtml"), LIMITS, None)
    assert extracted.text.startswith("Rivers")
    assert "two.xhtml" in extracted.warnings[0]


@pytest.mark.parametrize(
    ("algorithm", "readable"), [("http://www.idpf.org/2008/embedding", True), ("http://ns.adobe.com/adept", False)]
)
def test_a_protected_book_is_refused_and_one_with_hidden_fonts_is_read(
    tmp_path: Path, algorithm: str, readable: bool
) -> None:
    encryption = f'<e><EncryptionMethod xmlns="http://www.w3.org/2001/04/xmlenc#" Algorithm="{algorithm}"/></e>'
    path = epub(tmp_path / "a.epub", {"META-INF/encryption.xml": encryption})
    if readable:
        assert extract(path, LIMITS, None).pages == 2
        return
    with pytest.raises(Refusal) as caught:
        extract(path, LIMITS, None)
    assert caught.value.reason == "encrypted"


def test_an_entity_of_a_book_is_not_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("do not read me", encoding="utf-8")
    bomb = f'<!DOCTYPE p [<!ENTITY e SYSTEM "{(tmp_path / "secret").as_uri()}">]>'
    package = bomb + _PACKAGE.replace("Handbook", "&e;Handbook")
    extracted = extract(epub(tmp_path / "a.epub", {"OEBPS/book.opf": package}), LIMITS, None)
    assert "do not read" not in extracted.title + extracted.text


def test_a_book_without_its_package_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as caught:
        extract(epub(tmp_path / "a.epub", without="OEBPS/book.opf"), LIMITS, None)
    assert caught.value.reason == "damaged"


_BROKEN = {
    "OEBPS/text/two.xhtml": page("Preface", 'Before the flood <span epub:type="pagebreak" id="a" title="iv"/>we plan.'),
    "OEBPS/text/chapter 1.xhtml": page(
        '<a role="doc-pagebreak" id="b" aria-label=" Page 1. "></a>Rivers',
        "Every river has a pl<span epub:type='pagebreak' title='2'></span>an.</p>"
        "<div epub:type='pagebreak' role='doc-pagebreak'>3</div><p>Dykes too.</p>"
        "<table><tr><th>Dyke</th><th>Height</th></tr><tr><td><span role='doc-pagebreak' title='4'/>Tarn</td>"
        "<td>2 m</td></tr></table><p>Locks as well.",
    ),
}


def numbered(extracted: ExtractedText) -> dict[str, str]:
    """Return the texts of the lines, and the label of the page of each."""
    return {extracted.text[one.start : one.end]: extracted.page_labels[one.page - 1] for one in extracted.lines}


def test_breaks_between_printed_pages_tell_the_page_of_every_line(tmp_path: Path) -> None:
    extracted = extract(epub(tmp_path / "a.epub", _BROKEN), LIMITS, None)
    assert "Before the flood we plan." in extracted.text
    assert "Every river has a plan." in extracted.text
    assert extracted.page_labels == ("", "iv", "1", "2", "3", "4")
    assert extracted.pages == 6
    assert numbered(extracted) == {
        "Preface": "", "Before the flood": "", "we plan.": "iv", "Rivers": "1", "Every river has a pl": "1", "an.": "2",
        "Dykes too.": "3", "Dyke | Height": "3", "Dyke: Tarn; Height: 2 m": "4", "Locks as well.": "4",
    }  # fmt: skip


_LISTED = {
    "OEBPS/text/two.xhtml": page("Preface", 'Why we plan. <a id="p1"/>First. <a id="p2"/>Second.'),
}


@pytest.mark.parametrize(
    "listing",
    [
        '<nav epub:type="page-list"><ol><li><a href="text/two.xhtml#p1">213</a></li>'
        '<li><a href="text/two.xhtml#p2">214</a></li><li><a href="text/chapter%201.xhtml">215</a></li></ol></nav>',
        '<nav role="doc-pagelist"><ol><li><a href="text/two.xhtml#p1">Page 213</a></li>'
        '<li><a href="text/two.xhtml#p2">Page 214</a></li><li><a href="text/chapter%201.xhtml">215</a></li></ol></nav>',
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><pageList><pageTarget type="normal" value="213">'
        '<navLabel><text>213</text></navLabel><content src="text/two.xhtml#p1"/></pageTarget><pageTarget value="214">'
        '<content src="text/two.xhtml#p2"/></pageTarget><pageTarget><navLabel><text>215</text></navLabel>'
        '<content src="text/chapter%201.xhtml"/></pageTarget></pageList></ncx>',
    ],
)
def test_a_list_of_pages_names_those_of_the_print(tmp_path: Path, listing: str) -> None:
    package = _PACKAGE.replace(
        "</manifest>", '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
    )
    part = "OEBPS/toc.ncx" if listing.startswith("<ncx") else "OEBPS/nav.xhtml"
    parts = _LISTED | {"OEBPS/book.opf": package, part: listing if part.endswith("ncx") else page("Contents", listing)}
    found = numbered(extract(epub(tmp_path / "a.epub", parts), LIMITS, None))
    assert found == {
        "Preface": "", "Why we plan.": "", "First.": "213", "Second.": "214", "Rivers": "215",
        "Every river has a plan.": "215",
    }  # fmt: skip


def test_breaks_that_name_no_pages_are_passed_over(tmp_path: Path) -> None:
    text = "".join(f'{word} <span epub:type="pagebreak" title="1"/>' for word in ("One", "two", "three."))
    extracted = extract(epub(tmp_path / "a.epub", {"OEBPS/text/two.xhtml": page("Preface", text)}), LIMITS, None)
    assert (extracted.page_labels, extracted.pages) == ((), 2)
    assert "One two three." in " ".join(extracted.text.split())


def test_a_break_above_the_content_of_a_chapter_counts(tmp_path: Path) -> None:
    chapter = (
        "<html><body><header><span role='doc-pagebreak' title='7'/>Head</header><h1>Rivers</h1>"
        "<p>Every river has a plan.</p><p>More <span role='doc-pagebreak' title='8'/>rivers.</p></body></html>"
    )
    found = numbered(extract(epub(tmp_path / "a.epub", {"OEBPS/text/chapter 1.xhtml": chapter}), LIMITS, None))
    assert (found["Every river has a plan."], found["rivers."], found["Preface"]) == ("7", "8", "")
