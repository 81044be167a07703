"""HTML is decoded, parsed and cleaned in one way, whichever room asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.properties import read_properties
from ingestion.file_reading import ExtractionLimits
from ingestion.web.html import clean, decode, main_content, parse, text_of
from ingestion.web.page import read_page
from tests.ingestion.licence.marks import read_marks

RIGHTS = "Tous droits réservés"
PROSE = f"Plan d'été pour la ville, préparé à l'école. {RIGHTS}. " * 8


def as_page(body: bytes, _folder: Path) -> str:
    return read_page(body, "", "https://a.example/").text


def as_extracted(body: bytes, folder: Path) -> str:
    (folder / "a.html").write_bytes(body)
    return extract(folder / "a.html", ExtractionLimits(), None).text


def as_properties(body: bytes, folder: Path) -> str:
    (folder / "a.html").write_bytes(body)
    return read_properties(folder / "a.html").description


def as_licence(body: bytes, _folder: Path) -> str:
    return " ".join(mark.quote for mark in read_marks(body, "https://a.example/"))


Room = Callable[[bytes, Path], str]
ROOMS: list[Room] = [as_page, as_extracted, as_properties, as_licence]


def page(head: str = "", text: str = PROSE) -> str:
    return (
        f'<html><head>{head}<title>{RIGHTS}</title><meta name="description" content="{RIGHTS}">'
        f'<meta name="rights" content="{RIGHTS}">'
        f"</head><body><main><p>{text}</p></main></body></html>"
    )


@pytest.mark.parametrize("room", ROOMS)
def test_a_latin_1_page_without_a_charset_is_read_in_every_room(room: Room, tmp_path: Path) -> None:
    assert RIGHTS in room(page().encode("latin-1"), tmp_path)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize(
    "head",
    [
        "<!-- <meta charset=utf-16> -->",
        "<style>/* charset=utf-16 */</style>",
        '<meta name="keywords" content="charset=utf-16">',
        '<meta charset="utf-16">',
        "<script>var a = '<meta charset=utf-16>'</script>",
    ],
)
def test_a_charset_in_running_text_declares_nothing(room: Room, head: str, tmp_path: Path) -> None:
    assert RIGHTS in room(page(head, f"Save it with charset=utf-16. {PROSE}").encode(), tmp_path)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Управление рисками наводнений требует сотрудничества городов и областей.", "cp1251"),
        ("Η διαχείριση κινδύνων πλημμύρας απαιτεί συνεργασία όλων των δήμων.", "cp1253"),
        ("洪水のリスク管理には、すべての自治体の協力が必要です。", "shift_jis"),
    ],
)
def test_other_scripts_without_a_charset_are_identified(text: str, encoding: str) -> None:
    assert text in decode(f"<html><body><p class='intro'>{text}</p></body></html>".encode(encoding))


@pytest.mark.parametrize("text", ["Überflutung", "©", "§ 1 Zweck", "30 °C", "La comunità", "¿Qué año?", "“Plan” – A"])
def test_few_accents_are_windows_1252_as_in_a_browser(text: str) -> None:
    assert decode(text.encode("cp1252")) == text


def test_one_damaged_letter_costs_only_itself() -> None:
    body = f"<p>{PROSE}</p>".encode().replace("é".encode(), b"\xff", 1)
    assert decode(body, "utf-8").count("\ufffd") == 1
    assert RIGHTS in decode(body, "utf-8")


def test_the_server_is_believed_before_the_page() -> None:
    assert "ş" in decode('<meta charset="iso-8859-1">ş'.encode("iso-8859-9"), "iso-8859-9")


def test_a_charset_of_the_xml_declaration_counts() -> None:
    assert "ş" in decode('<?xml version="1.0" encoding="iso-8859-9"?><html>ş</html>'.encode("iso-8859-9"))


@pytest.mark.parametrize("html", ["<div>" * 5000 + PROSE, "<table><tr><td>" * 500 + PROSE, "<b>" * 50_000])
@pytest.mark.parametrize("room", [as_page, as_properties, as_licence])
def test_deep_nesting_is_tolerated(room: Room, html: str, tmp_path: Path) -> None:
    room(page(text=html).encode(), tmp_path)


@pytest.mark.parametrize("body", ["", "\0\0", " \n ", "<!-- x -->"])
def test_a_document_without_elements_has_no_tree(body: str) -> None:
    root = parse(body)
    assert root is None or not text_of(root)


def test_cleaning_leaves_what_a_reader_came_for() -> None:
    root = parse(
        f"<body><header>Menu</header><form>Search</form><p hidden>no</p><p style='display: none'>no</p>"
        f"<main><header>Title</header><p>{PROSE}</p><aside>no</aside></main><div class=cookie-banner>no</div>"
        "<div class=sidebar>Crumbs</div></body>"
    )
    assert root is not None
    clean(root)
    assert text_of(root) == f"Title {PROSE}Crumbs".strip()
    clean(root, menus=True)
    assert text_of(main_content(root)) == f"Title {PROSE}".strip()
