from __future__ import annotations

import base64
import zipfile
from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.types.document import ExtractedText

LIMITS = ExtractionLimits()
_NAMES = ("office", "text", "style", "table", "form")
SPACES = " ".join(
    [f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in _NAMES]
    + ['xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"', 'xmlns:m="http://www.w3.org/1998/Math/MathML"']
    + ['xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"']
)
LEVELS = '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>' + (
    '<text:list-level-style-number text:level="2" style:num-format="α" style:num-suffix=")"/>'
)
STYLES = (
    f'<text:list-style style:name="L">{LEVELS}</text:list-style>'
    '<style:style style:name="Old" style:family="paragraph"><style:text-properties '
    'style:text-line-through-style="solid"/></style:style><style:style style:name="New" style:family="text">'
    '<style:text-properties style:text-line-through-style="none"/></style:style>'
    '<style:style style:name="Item" style:family="paragraph" style:list-style-name="L"/>'
)


def flat(path: Path, body: str, more: str = "") -> ExtractedText:
    kind = 'office:mimetype="application/vnd.oasis.opendocument.text"'
    styles = f"<office:automatic-styles>{STYLES}</office:automatic-styles>{more}"
    content = f"<office:body><office:text>{body}</office:text></office:body>"
    path.write_text(
        f'<?xml version="1.0"?><office:document {kind} {SPACES}>{styles}{content}</office:document>', encoding="utf-8"
    )
    return extract(path, LIMITS, None)


def packed(path: Path, body: str, more: str = "") -> ExtractedText:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        content = f"<office:body><office:text>{body}</office:text></office:body>"
        styles = f"<office:automatic-styles>{STYLES}</office:automatic-styles>"
        archive.writestr(
            "content.xml", f"<office:document-content {SPACES}>{styles}{content}</office:document-content>"
        )
        archive.writestr("styles.xml", f"<office:document-styles {SPACES}>{more}</office:document-styles>")
    return extract(path, LIMITS, None)


WRITERS = {"odt": packed, "fodt": flat}


def item(words: str, inner: str = "", style: str = "") -> str:
    return f'<text:list-item><text:p text:style-name="{style}">{words}</text:p>{inner}</text:list-item>'


def listed(*items: str, more: str = 'text:style-name="L"') -> str:
    return f"<text:list {more}>{''.join(items)}</text:list>"


ROWS = (("Town", "Fee", "visible"), ("Kelm", "5", "collapse"), ("Tarn", "6", "visible"))
CASES = {
    "a list that goes on": (
        listed(item("a"), item("b", listed(item("c"), item("d"))), more='text:style-name="L" xml:id="x"')
        + listed(item("e"), more='text:style-name="L" text:continue-numbering="true"')
        + listed(item("f"))
        + listed(item("g"), more='text:style-name="L" text:continue-list="x"'),
        ["1. a", "2. b", "α) c", "β) d", "3. e", "1. f", "4. g"],
    ),
    "a list of which items are deleted": (
        f"<text:tracked-changes><text:changed-region><text:deletion>{listed(item('x'), item('y'))}</text:deletion>"
        f"</text:changed-region></text:tracked-changes>"
        + listed(item("a"), more='text:style-name="L" text:continue-numbering="true"'),
        ["1. a"],
    ),
    "a drawn shape with words": (
        "<text:p>every <draw:custom-shape><text:p>Boxed.</text:p></draw:custom-shape>two years</text:p>",
        ["every two years", "Boxed."],
    ),
    "a list whose paragraphs name its style": (listed(item("a", style="Item"), more=""), ["1. a"]),
    "a struck item": (listed(item("a", style="Old"), item("b")), ["2. b"]),
    "words that stand in a struck paragraph": (
        '<text:p text:style-name="Old">old <text:span text:style-name="New">kept</text:span></text:p>',
        ["kept"],
    ),
    "what is hidden by a condition": (
        '<text:section text:display="condition" text:is-hidden="true"><text:p>a</text:p></text:section>'
        '<text:p><text:hidden-paragraph text:is-hidden="true"/>b</text:p><text:p>c</text:p>',
        ["c"],
    ),
    "a text box": (
        "<text:p>every <draw:frame><draw:text-box><text:p>Boxed.</text:p></draw:text-box><svg:desc>a box</svg:desc>"
        "</draw:frame>two years</text:p>",
        ["every two years", "Boxed."],
    ),
    "a frame of one cell": (
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p><text:p>b</text:p></table:table-cell>"
        "</table:table-row></table:table>",
        ["a", "b"],
    ),
    "a hidden row": (
        "".join(
            ["<table:table>"]
            + [
                f'<table:table-row table:visibility="{shown}"><table:table-cell><text:p>{town}</text:p>'
                f"</table:table-cell><table:table-cell><text:p>{fee}</text:p></table:table-cell></table:table-row>"
                for town, fee, shown in ROWS
            ]
            + ["</table:table>"]
        ),
        ["Town | Fee", "Town: Tarn; Fee: 6"],
    ),
    "ruby": (
        "<text:p><text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>"
        "</text:p>",
        ["漢字(かんじ)"],
    ),
    "a form": (
        '<office:forms><form:form><form:text form:id="n" form:current-value="Anna"/><form:checkbox form:id="c" '
        'form:current-state="checked" form:label="agreed"/></form:form></office:forms><text:p>Name: <draw:control '
        'draw:control="n"/><draw:control draw:control="c"/></text:p>',
        ["Name: Anna [x] agreed"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", CASES)
def test_a_text_is_read_as_its_pages_show_it(tmp_path: Path, name: str, suffix: str) -> None:
    body, expected = CASES[name]
    assert WRITERS[suffix](tmp_path / f"a.{suffix}", body, "").text.split("\n\n") == expected


@pytest.mark.parametrize("suffix", WRITERS)
def test_headers_and_footers_are_read_once_and_comments_are_counted(tmp_path: Path, suffix: str) -> None:
    master = "<style:header><text:p>Journal</text:p></style:header><style:footer><text:p>Seat</text:p></style:footer>"
    masters = f"<office:master-styles>{f'<style:master-page>{master}</style:master-page>' * 2}</office:master-styles>"
    body = "<text:p>The fee<office:annotation><text:p>Check</text:p></office:annotation> is 40.</text:p>"
    extracted = WRITERS[suffix](tmp_path / f"a.{suffix}", body, masters)
    assert extracted.text.split("\n\n") == ["Journal", "The fee is 40.", "Seat"]
    assert [str(one) for one in extracted.warnings] == ["Comments, left out because they are not part of the text: 1."]


def test_pictures_and_formulas_in_one_file_are_no_letters_of_it(tmp_path: Path) -> None:
    picture = base64.b64encode(b"\x89PNG of no pixels").decode()
    body = (
        f"<text:p>See <draw:frame><draw:image><office:binary-data>{picture}</office:binary-data></draw:image>"
        "</draw:frame>below: <draw:frame><draw:object><m:math><m:mfrac><m:mi>F</m:mi><m:mn>12</m:mn></m:mfrac></m:math>"
        "</draw:object></draw:frame></text:p>"
    )
    extracted = flat(tmp_path / "a.fodt", body)
    assert extracted.text == "See below: F/12"
    assert [str(one) for one in extracted.warnings] == ["Pictures that were not read: 1."]
