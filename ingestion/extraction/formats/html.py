"""HTML by lxml: what a reader came for, without the page's furniture."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from lxml import etree, html

from ingestion.extraction.assemble import DraftBlock, paragraph, table, tidy
from ingestion.extraction.formats.zip_container import Element
from ingestion.types import Refusal

_FURNITURE = (
    "script", "style", "noscript", "template", "nav", "aside", "button", "select", "iframe", "svg", "object", "dialog",
)  # fmt: skip
_HEADING = re.compile("h[1-6]")
_BREAK = re.compile(
    "address|article|blockquote|body|br|caption|center|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|"
    "header|hr|html|li|main|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul"
)
_DECLARED = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)|^\s*<\?xml[^>]+encoding=[\"']([\w.:-]+)", re.I)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_ENOUGH = 200


def extract_html(path: Path) -> tuple[list[DraftBlock], str]:
    """The blocks of a page's main part and its title; headers, menus, forms and scripts are left out."""
    return html_blocks(path.read_bytes(), path)


def html_blocks(raw: bytes, path: Path) -> tuple[list[DraftBlock], str]:
    """The blocks and the title of a page given as bytes; `path` names its file in a refusal."""
    text = _decoded(raw, path)
    # lxml refuses a str that declares an encoding of its own.
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    if not text.strip():
        return [], ""
    try:
        parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True)
        root = html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return [], ""
    _clear(root)
    blocks = list(_blocks(_content(root)))
    first = next((block.lines[0].text for block in blocks if block.kind == "heading"), "")
    declared = root.findtext(".//title") or ""
    # The page's title usually ends in the name of the site; the first heading inside it does not.
    return blocks, first if first and tidy(first) in tidy(declared) else declared


def _decoded(raw: bytes, path: Path) -> str:
    """The text by byte order mark, else by the declared charset, else as UTF-8."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if raw.startswith(mark):
            return raw.decode(name, "replace")
    found = _DECLARED.search(raw[:4096])
    charset = (found[1] or found[2]).decode("ascii") if found else "utf-8"
    # Browsers read ISO-8859-1 as Windows-1252, and pages rely on it.
    charset = "cp1252" if charset.lower() in ("iso-8859-1", "latin1", "latin-1", "us-ascii") else charset
    try:
        return raw.decode(charset, "replace" if found else "strict")
    except LookupError:
        return raw.decode("utf-8", "replace")
    except UnicodeDecodeError as error:
        raise Refusal(
            "not_utf8",
            f"{path.name} declares no charset and is not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start}.",
            help="Save it as UTF-8.",
        ) from error


def _clear(root: html.HtmlElement) -> None:
    """Nothing; takes what no reader came for out of the page: scripts, menus, forms, what is hidden."""
    etree.strip_elements(root, *_FURNITURE, with_tail=False)
    for element in root.xpath("//body//*[@hidden or @style]"):
        if element.get("hidden") is not None or _HIDDEN.search(element.get("style", "")):
            element.drop_tree()
    # Those of an article hold its title and date; those of the page its menus and addresses.
    inside = "ancestor::article or ancestor::main or ancestor::*[@role='main']"
    for element in root.xpath(f"//*[self::header or self::footer][not({inside})]"):
        element.drop_tree()
    # Some servers wrap the whole page in one form; others are for searching and signing up.
    whole = len(tidy(_all_text(root)))
    for form in root.xpath("//form"):
        if 2 * len(tidy(_all_text(form))) < whole:
            form.drop_tree()


def _content(root: Element) -> Element:
    """main, article or body: the first of them with enough text to be the content."""
    for expression in (".//main", ".//*[@role='main']", ".//article", ".//body"):
        found = root.findall(expression)
        if found:
            longest = max(found, key=lambda element: len(_all_text(element)))
            if len(tidy(_all_text(longest))) >= _ENOUGH:
                return longest
    return root


def _all_text(element: Element) -> str:
    return "".join(map(str, element.itertext()))


def _blocks(container: Element) -> Iterator[DraftBlock]:
    """Blocks in document order; inline text between two block elements is a paragraph of its own."""
    inline: list[str] = []
    for kind, value in _events(container):
        if kind == "text":
            assert isinstance(value, str)
            inline.append(value)
            continue
        if text := tidy("".join(inline)):
            yield paragraph(text)
        inline = []
        if isinstance(value, DraftBlock):
            yield value
    if text := tidy("".join(inline)):
        yield paragraph(text)


def _events(element: Element) -> Iterator[tuple[str, str | DraftBlock | None]]:
    if element.text:
        yield "text", element.text
    for child in element:
        tag = child.tag
        if _HEADING.fullmatch(tag):
            yield "block", paragraph(_on_one_line(child), kind="heading")
        elif tag == "table" and child.find(".//table") is None:
            if (caption := child.find("caption")) is not None:
                yield "block", paragraph(_on_one_line(caption))
            rows = list(child.iter("tr"))
            named = list(takewhile(_names_columns, rows))
            yield "block", table(map(_cells, rows), headers=len(named) or None)
        else:
            breaks = _BREAK.fullmatch(tag)
            if breaks:
                yield "break", None
            yield from _events(child)
            if breaks:
                yield "break", None
        if child.tail:
            yield "text", child.tail


def _names_columns(row: Element) -> bool:
    """Whether a row of a table stands in its head or has only head cells."""
    parent = row.getparent()
    return row.find("td") is None or (parent is not None and parent.tag == "thead")


def _cells(row: Element) -> list[str]:
    return [_on_one_line(cell) for cell in row if cell.tag in ("td", "th")]


def _on_one_line(element: Element) -> str:
    """The element's words, a space where a line or a paragraph ends and none where only the type changes."""
    return tidy("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        gap = " " if _BREAK.fullmatch(child.tag) or _HEADING.fullmatch(child.tag) else ""
        yield gap
        yield from _pieces(child)
        yield gap + (child.tail or "")
