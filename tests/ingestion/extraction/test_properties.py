from __future__ import annotations

import random
import zipfile
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from ingestion.extraction.properties import declared_of, read_properties
from ingestion.extraction.wire import Packet
from ingestion.file_reading import ExtractionLimits, FileProperties
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.outcome import Refusal
from tests.ingestion.documents import drawing, pdf

XMP = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/">
<rdf:Description rdf:about="" prism:publicationDate="2019-05-17">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">National flood plan</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>Ana Lima</rdf:li><rdf:li>Bo Berg</rdf:li></rdf:Seq></dc:creator>
<dc:publisher><rdf:Bag><rdf:li>Ministry of Water</rdf:li></rdf:Bag></dc:publisher>
<dc:language><rdf:Bag><rdf:li>en-GB</rdf:li></rdf:Bag></dc:language>
<dc:subject><rdf:Bag><rdf:li>floods</rdf:li><rdf:li>rivers</rdf:li></rdf:Bag></dc:subject>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">What to do.</rdf:li></rdf:Alt></dc:description>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""

HTML = """<!doctype html><html lang="fr"><head><meta charset="utf-8">
<title>Plan canicule | Ministère de la Santé</title>
<meta name="DC.title" content="Plan national canicule"><meta name="citation_author" content="A. Dupont">
<meta name="DCTERMS.issued" content="2018-05-23"><meta property="og:site_name" content="Portail santé">
<meta name="keywords" content="canicule, chaleur">
<meta name="description" content="Le plan."></head><body><p>Le plan national.</p></body></html>"""

LINKED = """<html lang="en"><head><title>Page</title><script type="application/ld+json">
{"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "Portal"},
 {"@type": "Report", "headline": "Drought report", "datePublished": "2020-02-03T10:00:00Z",
  "publisher": {"@type": "Organization", "name": "Water Agency"}, "author": [{"name": "C. Day"}]}]}
</script><script type="application/ld+json">{ broken</script></head><body></body></html>"""

CORE = """<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
<dc:title>Heat plan</dc:title><dc:creator>Dana Roe; Unknown</dc:creator><dc:language>en</dc:language>
<dc:subject>Heat</dc:subject><cp:keywords>heat; health</cp:keywords><dc:description>For cities.</dc:description>
<dcterms:created>2021-06-01T08:00:00Z</dcterms:created></cp:coreProperties>"""

ODT = """<office:document-meta xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0">
<office:meta><dc:title>Cahier des charges</dc:title><meta:initial-creator>E. Roux</meta:initial-creator>
<meta:keyword>eau</meta:keyword><meta:creation-date>2020-04-05T09:00:00</meta:creation-date>
</office:meta></office:document-meta>"""

OPF = """<package xmlns="http://www.idpf.org/2007/opf" version="2.0"><metadata
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">
<dc:title>Wildfire guide</dc:title>
<dc:creator>F. Gil</dc:creator><dc:publisher>Forest Office</dc:publisher><dc:language>es</dc:language>
<dc:date opf:event="modification">2023-01-01</dc:date><dc:date opf:event="publication">2017-09</dc:date>
</metadata></package>"""

CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def zipped(path: Path, **parts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml").replace("_opf", ".opf"), content)
    return path


def test_the_first_that_says_anything_counts_and_is_put_on_one_line() -> None:
    declared = declared_of(title=[None, "  ", "Flood\n plan"], authors=["A", "B", "A", ""], date=["", "2016", "2017"])
    assert declared == FileProperties(title="Flood plan", authors=("A", "B"), date="2016")


def test_what_a_file_declares_at_length_is_cut() -> None:
    declared = declared_of(title=["x" * 10_000], keywords=[f"word {n}" for n in range(1_000)])
    assert len(declared.title) == 500
    assert len(declared.keywords) == 30


def test_a_pdf_tells_by_its_information_and_by_xmp(tmp_path: Path) -> None:
    with drawing(tmp_path / "plan.pdf") as document:
        document.new_page().insert_text((72, 72), "Words")
        document.set_metadata({"creationDate": "D:20200102030405+01'00'"})
        document.set_xml_metadata(XMP)
    assert read_properties(tmp_path / "plan.pdf") == FileProperties(
        title="National flood plan",
        authors=("Ana Lima", "Bo Berg"),
        publisher="Ministry of Water",
        language="en-GB",
        date="2019-05-17",
        keywords=("floods", "rivers"),
        description="What to do.",
        created="2020-01-02",
    )


def test_the_lines_that_return_on_every_page_are_kept_for_their_date(tmp_path: Path) -> None:
    with drawing(tmp_path / "bulletin.pdf") as document:
        for number in range(1, 4):
            page = document.new_page()
            page.insert_text((72, 40), f"Flood Bulletin / January 14, 2011 / {number}")
            page.insert_text((72, 400), "The text of the page.")
    assert read_properties(tmp_path / "bulletin.pdf").margins[0] == "Flood Bulletin / January 14, 2011 / 1"


def test_a_web_page_tells_by_its_metas(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(HTML, encoding="utf-8")
    assert read_properties(tmp_path / "page.html") == FileProperties(
        title="Plan national canicule",
        authors=("A. Dupont",),
        publisher="Portail santé",
        language="fr",
        date="2018-05-23",
        keywords=("canicule", "chaleur"),
        description="Le plan.",
    )


def test_a_web_page_tells_by_linked_data_even_where_a_part_of_it_is_broken(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(LINKED, encoding="utf-8")
    found = read_properties(tmp_path / "page.html")
    assert (found.title, found.date, found.publisher, found.authors) == (
        "Drought report",
        "2020-02-03",
        "Water Agency",
        ("C. Day",),
    )


@pytest.mark.parametrize(
    ("page", "date"),
    [
        ('<html lang="en-US"><meta name="dc.date" content="2/3/2022">', "2022-02-03"),
        ('<html lang="en-GB"><meta name="dc.date" content="2/3/2022">', "2022-03-02"),
        ('<html lang="it"><meta name="dc.date" content="2/3/2022">', "2022-03-02"),
        ('<html lang="en"><meta name="dc.date" content="2/3/2022">', "2022"),
        ('<html><p>On <time itemprop="datePublished" datetime="2020-05-06T10:00">6 May</time>', "2020-05-06"),
        ('<html lang="en"><body><p>On <span itemprop="datePublished">6 May 2020</span>', "2020-05-06"),
        ('<html><i itemprop="datePublished">6 May 2020</i><i itemprop="datePublished">7 May 2020</i>', ""),
    ],
)  # fmt: skip
def test_a_web_pages_date_is_read_in_its_own_custom(tmp_path: Path, page: str, date: str) -> None:
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    assert read_properties(tmp_path / "page.html").date == date


def test_office_documents_and_books_tell_by_their_properties(tmp_path: Path) -> None:
    word = read_properties(zipped(tmp_path / "a.docx", docProps__core_xml=CORE))
    assert (word.title, word.authors, word.keywords, word.created, word.date) == (
        "Heat plan",
        ("Dana Roe",),
        ("heat", "health"),
        "2021-06-01",
        "",
    )
    text = read_properties(zipped(tmp_path / "a.odt", meta_xml=ODT))
    assert (text.title, text.authors, text.keywords) == ("Cahier des charges", ("E. Roux",), ("eau",))
    parts = {"META-INF__container_xml": CONTAINER, "OEBPS__book_opf": OPF}
    book = read_properties(zipped(tmp_path / "a.epub", **parts))
    assert (book.title, book.publisher, book.date) == ("Wildfire guide", "Forest Office", "2017-09")


def test_a_rich_text_tells_by_its_group_of_properties(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(
        rb"{\rtf1\ansi{\info{\title Pl\'e1n de inundaciones}{\author G. Paz}{\creatim\yr2015\mo3\dy9}}Texto}"
    )
    found = read_properties(tmp_path / "a.rtf")
    assert (found.title, found.authors, found.created) == ("Plán de inundaciones", ("G. Paz",), "2015-03-09")


def test_a_damaged_file_says_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    pdf(tmp_path / "whole.pdf", ["Words"])
    (tmp_path / "whole.html").write_text(LINKED, encoding="utf-8")
    zipped(tmp_path / "whole.docx", docProps__core_xml=CORE)
    chance = random.Random(7)
    for name in ("whole.pdf", "whole.html", "whole.docx"):
        raw = (tmp_path / name).read_bytes()
        for _ in range(25):
            broken = bytearray(raw[: chance.randrange(len(raw))])
            for _ in range(min(8, len(broken))):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            (tmp_path / "broken").write_bytes(broken)
            assert isinstance(read_properties(tmp_path / "broken"), FileProperties)
    assert read_properties(tmp_path / "absent.pdf") == FileProperties()


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for you", encoding="utf-8")
    outside = CORE.replace("Heat plan", "&outside;")
    hostile = f'<!DOCTYPE x [<!ENTITY outside SYSTEM "{secret.as_uri()}">]>{outside}'
    assert "not for you" not in read_properties(zipped(tmp_path / "a.docx", docProps__core_xml=hostile)).title


def test_an_archive_that_grows_beyond_measure_is_not_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.docx", docProps__core_xml=CORE)
    assert read_properties(path, ExtractionLimits(unpacked_bytes=10)) == FileProperties()


def test_one_trip_gives_text_and_properties(tmp_path: Path, sandbox: Sandbox) -> None:
    path = pdf(tmp_path / "a.pdf", ["Words of a plan"])
    (tmp_path / "a.html").write_text(HTML, encoding="utf-8")
    reading = sandbox.read(tmp_path / "a.html")
    assert reading.properties.title == "Plan national canicule"
    assert reading.index_lines is None
    child = sandbox.process_id
    assert sandbox.read(path).extracted.text == "Words of a plan"
    assert sandbox.process_id == child


def test_a_file_whose_properties_take_too_long_keeps_its_text(tmp_path: Path) -> None:
    class Slow(Sandbox):
        """A sandbox whose child hangs after it has given the text."""

        def _received(self, *asked: Any) -> Packet:
            answer = super()._received(*asked)
            if "extracted" not in answer:
                raise Refusal("too_slow", "It takes too long.")
            return answer

    (tmp_path / "a.html").write_text(HTML, encoding="utf-8")
    with Slow(ocr="none") as sandbox:
        reading = sandbox.read(tmp_path / "a.html")
        assert reading.extracted.text
        assert reading.properties == FileProperties()
        assert "too long" in reading.index_error
        # What hangs is replaced.
        assert sandbox.process_id is None


@pytest.mark.parametrize("count", [1, 2])
def test_any_of_several_children_answers(tmp_path: Path, count: int) -> None:
    (tmp_path / "a.html").write_text(HTML, encoding="utf-8")
    with Sandbox(ocr="none", count=count) as readers:
        assert readers.read(tmp_path / "a.html").properties.language == "fr"


def test_a_pdf_whose_packet_of_metadata_is_no_packet_declares_nothing_and_ends_no_reader(tmp_path: Path) -> None:
    path = pdf(tmp_path / "plan.pdf", ["The dyke was raised."])
    with pymupdf.open(path) as document:
        document.xref_set_key(document.pdf_catalog(), "Metadata", "<</Type/Metadata>>")
        document.save(tmp_path / "packet.pdf")
    assert read_properties(tmp_path / "packet.pdf") == FileProperties()
