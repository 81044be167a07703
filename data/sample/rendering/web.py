"""HTML and Markdown pages; `body_html` serves the PDF renderer too."""

from __future__ import annotations

import re
from html import escape

from rendering.markup import Bullets, Heading, Paragraph, Piece, SampleDocument, Table

# Words of the page frame that a reader of web pages has to tell from the text.
FRAME = {
    "de": ("Startseite", "Themen", "Presse", "Kontakt", "Datenschutz", "Diese Website verwendet Cookies."),
    "en": ("Home", "Topics", "News", "Contact", "Privacy notice", "This website uses cookies."),
    "es": ("Inicio", "Temas", "Noticias", "Contacto", "Aviso de privacidad", "Este sitio web utiliza cookies."),
}


def inline(text: str) -> str:
    """The text as HTML, bold marks turned into elements."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text, quote=False)).replace("\n", "<br>")


def body_html(pieces: tuple[Piece, ...], *, top: int) -> str:
    """The pieces as HTML; a heading of level 1 becomes h`top`."""
    return "\n".join(_piece_html(piece, top) for piece in pieces)


def _piece_html(piece: Piece, top: int) -> str:
    match piece:
        case Heading(level, text):
            return f"<h{level + top - 1}>{inline(text)}</h{level + top - 1}>"
        case Paragraph(text):
            return f"<p>{inline(text)}</p>"
        case Bullets(items):
            return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>"
        case Table(rows):
            head = "".join(f"<th>{inline(cell)}</th>" for cell in rows[0])
            body = "".join("<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>" for row in rows[1:])
            return f"<table><tr>{head}</tr>{body}</table>"
    raise TypeError(f"An index needs pages, and {type(piece).__name__} has none here")


def html(document: SampleDocument) -> bytes:
    """A page of an authority's site: navigation and footer around main and article."""
    home, topics, news, contact, privacy, cookies = FRAME[document.language]
    return f"""<!DOCTYPE html>
<html lang="{document.language}">
<head>
<meta charset="utf-8">
<title>{escape(document.title)} | {escape(document.authority)}</title>
<meta name="description" content="{escape(document.short_title)}">
<meta name="DC.title" content="{escape(document.title)}">
<meta name="DC.creator" content="{escape(document.authority)}">
<meta name="DC.date" content="{document.date}">
<meta name="DC.language" content="{document.language}">
<link rel="license" href="https://creativecommons.org/publicdomain/zero/1.0/">
<style>body {{ font-family: sans-serif; max-width: 50em; margin: auto }} td, th {{ border: 1px solid #999 }}</style>
</head>
<body>
<header><p>{escape(document.authority)}</p></header>
<nav><ul><li><a href="#">{home}</a></li><li><a href="#">{topics}</a></li><li><a href="#">{news}</a></li></ul></nav>
<aside><p>{cookies}</p></aside>
<main>
<article>
<h1>{escape(document.title)}</h1>
<p><em>{escape(document.mark)}</em></p>
<p><time datetime="{document.date}">{document.date}</time></p>
{body_html(document.pieces, top=2)}
</article>
</main>
<footer><p><a href="#">{contact}</a> | <a href="#">{privacy}</a> | CC0 1.0</p></footer>
</body>
</html>
""".encode()


def markdown(document: SampleDocument) -> bytes:
    """The prose as it was written, under its title."""
    head = f"# {document.title}\n\n*{document.mark}*\n\n{document.authority}, {document.date}\n\n"
    return (head + re.sub(r"^#", "##", document.body, flags=re.MULTILINE) + "\n").encode()
