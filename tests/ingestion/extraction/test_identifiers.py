"""Official identifiers are read from a file or its head, join versions, and lead to the document."""

from pathlib import Path

import pytest

from ingestion.add_files import add_paths
from ingestion.extraction.identifiers import identifiers_of
from ingestion.extraction.properties import read_properties
from ingestion.file_reading import FileProperties
from rag_engine.answering.json_contract import document_json
from rag_engine.engine import Engine
from rag_engine.passage_search.find import find_passages
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.types.document import DocumentRecord, ExtractedText
from rag_engine.viewer.versions import documents_of_work

AKN = "http://docs.oasis-open.org/legaldocml/ns/akn/3.0"
WORK = "/akn/it/act/legge/2001-03-05/9"
FOUND = WORK, "urn:nir:stato:legge:2001-03-05;9", f"{WORK}/ita@2004-01-01"


def akn(day: str, rule: str = "The fee is 35 euros.", prefix: str = "") -> str:
    frbr = (
        f'<identification><FRBRWork><FRBRuri value="{WORK}"/><FRBRalias name="urn:nir" value="{FOUND[1]}"/></FRBRWork>'
        f'<FRBRExpression><FRBRuri value="{WORK}/ita@{day}"/><FRBRlanguage language="eng"/></FRBRExpression>'
        "</identification>"
    )
    articles = "".join(
        f"<article><num>Article {number}</num><paragraph><num>1.</num><content><p>{text}</p></content></paragraph>"
        "</article>"
        for number, text in ((1, "This Act is about beaches and the people who keep them."), (2, rule))
    )
    root = f'akomaNtoso xmlns="{AKN}"'
    body = f"<{root}><act><meta>{frbr}</meta><preface><p><docTitle>Beaches Act</docTitle></p></preface>"
    return f"{body}<body>{articles}</body></act></akomaNtoso>"


def formex(root: str, head: str, title: str = "REGULATION (EU) 2024/903 OF THE EUROPEAN PARLIAMENT") -> str:
    titled = f"<TITLE><TI><P>{title}</P></TI></TITLE>"
    article = "<ARTICLE><TI.ART>Article 1</TI.ART><ALINEA>Boats are washed every day.</ALINEA></ARTICLE>"
    return f"<{root}>{head}{titled}<ENACTING.TERMS>{article}</ENACTING.TERMS></{root}>"


NUMBERED = "<NO.DOC><YEAR>2024</YEAR><NO.CURRENT>903</NO.CURRENT></NO.DOC>"
CONSOLIDATED = (
    '<INFO.CONSLEG START.DATE="20241018"/><CONS.DOC><BIB.INSTANCE/><FAM.COMP><BIB.DATA><NO.CELEX>32014R0910</NO.CELEX>'
    "</BIB.DATA><GR.MOD.ACT><MOD.ACT><BIB.DATA><NO.CELEX>32024R1183</NO.CELEX></BIB.DATA></MOD.ACT></GR.MOD.ACT>"
    "</FAM.COMP></CONS.DOC>"
)
CLML = 'xmlns="http://www.legislation.gov.uk/namespaces/legislation" xmlns:dc="http://purl.org/dc/elements/1.1/"'
LEGI = (
    "<ARTICLE><META><META_COMMUN><ID>LEGIARTI000006419321</ID></META_COMMUN><META_SPEC><META_ARTICLE><NUM>1</NUM>"
    '</META_ARTICLE></META_SPEC></META><CONTEXTE><TEXTE nor="JUSC1234567D"><TITRE_TXT>Code</TITRE_TXT></TEXTE>'
    '</CONTEXTE><VERSIONS><VERSION><LIEN_ART id="LEGIARTI000006419320"/></VERSION><VERSION>'
    '<LIEN_ART id="LEGIARTI000006419321"/></VERSION></VERSIONS><BLOC_TEXTUEL><CONTENU>Texte.</CONTENU></BLOC_TEXTUEL>'
    "</ARTICLE>"
)


@pytest.mark.parametrize(
    ("name", "body", "identifiers"),
    [
        ("law.xml", akn("2004-01-01"), (WORK, FOUND[2], FOUND[1])),
        ("law.xml", formex("ACT", f"<BIB.INSTANCE><DOCUMENT.REF>{NUMBERED}</DOCUMENT.REF></BIB.INSTANCE>"),
         ("32024R0903",)),
        ("law.xml", formex("ACT", f"<BIB.INSTANCE>{NUMBERED}</BIB.INSTANCE>", "RICHTLINIE (EU) 2024/903 DES RATES"),
         ("32024L0903",)),
        ("law.xml", formex("CONS.ACT", CONSOLIDATED), ("32014R0910", "02014R0910-20241018")),
        ("law.xml", formex("CORR", f"<BIB.INSTANCE>{NUMBERED}</BIB.INSTANCE>", "Corrigendum to Regulation"), ()),
        ("law.xml", "<JUDGMENT><BIB.JUDGMENT><NO.CELEX>62021CJ0687</NO.CELEX>"
         '<NO.ECLI ECLI="ECLI:EU:C:2024:72"/></BIB.JUDGMENT><BIB.INSTANCE/></JUDGMENT>',
         ("62021CJ0687", "ECLI:EU:C:2024:72")),
        ("law.xml", f'<Legislation {CLML} DocumentURI="http://www.legislation.gov.uk/ukpga/2018/12"/>',
         ("http://www.legislation.gov.uk/ukpga/2018/12",)),
        ("law.xml", '<uscDoc xmlns="http://xml.house.gov/schemas/uslm/1.0" identifier="/us/usc/t9"/>', ("/us/usc/t9",)),
        ("law.xml", LEGI, ("LEGIARTI000006419321", "LEGIARTI000006419320", "JUSC1234567D")),
        ("law.xml", "<response><data><metadatos><identificador>BOE-A-2001-4</identificador></metadatos><texto/></data>"
         "</response>", ("BOE-A-2001-4",)),
        ("law.xml", '<dokumente doknr="BJNR001950896"><norm><metadaten><jurabk>G</jurabk></metadaten></norm>'
         "</dokumente>", ("BJNR001950896",)),
        ("page.html", '<html><head><meta about="http://data.europa.eu/eli/reg/2016/679/oj" typeof="eli:LegalResource"/>'
         '<meta name="WT.z_docID" content="32016R0679"/><meta about="x" property="eli:cites" '
         'resource="http://data.europa.eu/eli/dir/1995/46/oj"/></head><body><p>Text.</p></body></html>',
         ("32016R0679", "http://data.europa.eu/eli/reg/2016/679/oj")),
    ],
)  # fmt: skip
def test_a_file_states_its_identifiers(tmp_path: Path, name: str, body: str, identifiers: tuple[str, ...]) -> None:
    (tmp_path / name).write_text(body)
    assert read_properties(tmp_path / name).identifiers == identifiers


@pytest.mark.parametrize(
    ("head", "address", "identifiers"),
    [
        ("United Nations\nFCCC/CP/2015/10/Add.1 Distr.: General\nThe Conference, recalling A/RES/70/1,", "",
         ("FCCC/CP/2015/10/Add.1",)),
        ("02016R0679 — EN — 04.05.2016 — 000.002 — 1\nREGULATION (EU) 2016/679", "", ("02016R0679-20160504",)),
        ("A report on 32016R0679 and BOE-A-2001-4", "", ()),
        ("Text", "https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX%3A32016R0679", ("32016R0679",)),
        ("Text", "https://eur-lex.europa.eu/legal-content/EN/LSU/?uri=CELEX:32016R0679", ()),
        ("Text", "https://undocs.org/en/A/RES/70/1", ("A/RES/70/1",)),
        ("Text", "https://www.boe.es/buscar/act.php?id=BOE-A-2001-4", ("BOE-A-2001-4",)),
    ],
)  # fmt: skip
def test_a_text_states_them_at_its_head_and_a_portal_in_its_address(
    head: str, address: str, identifiers: tuple[str, ...]
) -> None:
    extracted = ExtractedText(head, 1, (), (), "text/plain")
    assert identifiers_of(extracted, FileProperties(), [address]) == identifiers


def add(engine: Engine, folder: Path, **bodies: str) -> dict[str, DocumentRecord]:
    folder.mkdir(exist_ok=True)
    for name, body in bodies.items():
        (folder / f"{name}.xml").write_text(body)
        assert [one.status for one in add_paths([folder / f"{name}.xml"], engine)] == ["indexed"]
    return {record.file.removesuffix(".xml"): record for record in engine.collection.documents()}


@pytest.mark.parametrize("order", [("old", "new"), ("new", "old")])
def test_two_consolidations_are_versions_and_the_newer_one_answers(
    engine: Engine, tmp_path: Path, order: tuple[str, str]
) -> None:
    bodies = {"old": akn("2004-01-01"), "new": akn("2009-01-01", "The fee is 40 euros.")}
    documents = add(engine, tmp_path / "in", **{name: bodies[name] for name in order})
    old, new = documents["old"], documents["new"]
    assert (old.metadata.superseded, new.metadata.superseded) == ("2009-01-01", "")
    assert [one.file for one in documents_of_work(old, documents.values()).versions] == ["old.xml", "new.xml"]
    assert document_json(new)["metadata"]["identifiers"] == (WORK, f"{WORK}/ita@2009-01-01", FOUND[1])
    assert {hit.document.file for hit in engine.search("What is the fee?").hits} == {"new.xml"}
    # Nothing is read again.
    assert {one.status for one in add_paths([tmp_path / "in"], engine)} == {"unchanged"}


def test_a_corrigendum_stays_a_document_of_its_own(engine: Engine, tmp_path: Path) -> None:
    celex = "<BIB.INSTANCE/><BIB.DATA><NO.CELEX>{}</NO.CELEX></BIB.DATA>"
    documents = add(
        engine,
        tmp_path / "in",
        act=formex("ACT", celex.format("32016R0679")),
        corrigendum=formex("CORR", celex.format("32016R0679R(02)"), "Corrigendum to Regulation (EU) 2016/679"),
    )
    act, corrigendum = documents["act"], documents["corrigendum"]
    assert {act.metadata.work, act.metadata.superseded, corrigendum.metadata.work} == {""}
    assert documents_of_work(act, documents.values()).corrections == (corrigendum,)
    assert documents_of_work(corrigendum, documents.values()).corrections == (act,)


def test_an_identifier_in_any_spacing_leads_to_its_document(engine: Engine, tmp_path: Path) -> None:
    symbol = "United Nations\n\nA/RES/70/1\n\nThe General Assembly resolves to end hunger on the beaches."
    other = "A report on floods that cites A/RES/70/1 again and again. Beaches are washed."
    (tmp_path / "in").mkdir()
    for name, text in (("resolution.txt", symbol), ("report.txt", other)):
        (tmp_path / "in" / name).write_text(text)
    add_paths([tmp_path / "in"], engine)
    for query in ("A/RES/70/1", "A / RES / 70 / 1", "a/res/70/1"):
        assert {hit.document.file for hit in engine.search(query).hits} == {"resolution.txt"}
        found = find_passages(engine, PassageQuery(query))
        assert [one.document.file for one in found.documents] == ["resolution.txt"]
    assert engine.catalog.find_document("A / RES / 70 / 1").file == "resolution.txt"


def test_a_section_of_an_act_is_found_by_the_identifier_of_the_act(engine: Engine, tmp_path: Path) -> None:
    other = akn("2004-01-01", "The fee is 99 euros.").replace("2001-03-05", "2002-02-02").replace(";9", ";8")
    other = other.replace("Beaches Act", "Rivers Act")
    add(engine, tmp_path / "in", beaches=akn("2004-01-01"), rivers=other)
    best = engine.search("What does Article 2 of urn:nir:stato:legge:2002-02-02;8 say?").hits[0]
    assert (best.document.file, best.section, best.named) == ("rivers.xml", "Article 2", True)
