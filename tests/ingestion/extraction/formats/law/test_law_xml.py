"""Law as XML, each scheme by a small document, and real files from beginning to end."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.formats.law.law_xml import extract_law
from ingestion.extraction.properties import read_properties
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from rag_engine.chunking.section.chunks import find_outline
from rag_engine.types.document import ExtractedText

AKN = "http://docs.oasis-open.org/legaldocml/ns/akn/3.0"
CLML = 'xmlns="http://www.legislation.gov.uk/namespaces/legislation"'
USLM = 'xmlns="http://xml.house.gov/schemas/uslm/1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'


def read(folder: Path, body: str, name: str = "law.xml", encoding: str = "utf-8") -> ExtractedText:
    path = folder / name
    path.write_bytes(body.encode(encoding))
    return extract(path, ExtractionLimits(), None)


def blocks(text: ExtractedText) -> list[str]:
    return [f"{block.kind}: {text.text[block.start : block.end]}" for block in text.blocks]


def akn(body: str, meta: str = "", root: str = f'akomaNtoso xmlns="{AKN}"') -> str:
    language = '<identification><FRBRExpression><FRBRlanguage language="eng"/></FRBRExpression></identification>'
    return f"<{root}><act><meta>{language}{meta}</meta>{body}</act></akomaNtoso>"


def formex(body: str, root: str = "ACT") -> str:
    return f'<?xml version="1.0"?><{root}><BIB.INSTANCE><LG.DOC>EN</LG.DOC></BIB.INSTANCE>{body}</{root}>'


def clml(body: str, after: str = "", part: str = "Primary", title: str = "Beaches Act 2001") -> str:
    prelims = f"<{part}Prelims><Title>{title}</Title><Number>2001 c. 9</Number></{part}Prelims>"
    return f"<Legislation {CLML}><{part}>{prelims}<Body>{body}</Body></{part}>{after}</Legislation>"


def boe(body: str) -> str:
    head = "<metadatos><identificador>BOE-A-1</identificador><titulo>Ley de playas</titulo></metadatos>"
    return f"<response><status><code>200</code></status><data>{head}<texto>{body}</texto></data></response>"


def legi(article: str, state: str = "VIGUEUR", until: str = "2999-01-01") -> str:
    number = f"<NUM>L111-1</NUM><ETAT>{state}</ETAT><DATE_DEBUT>2001-01-01</DATE_DEBUT><DATE_FIN>{until}</DATE_FIN>"
    context = (
        "<CONTEXTE><TEXTE><TITRE_TXT>Code des plages</TITRE_TXT><TM>"
        '<TITRE_TM debut="2001-01-01" fin="2005-01-01">Livre ancien</TITRE_TM>'
        '<TITRE_TM debut="2005-01-01" fin="2999-01-01">Livre Ier : Plages</TITRE_TM></TM></TEXTE></CONTEXTE>'
    )
    return (
        f"<ARTICLE><META><META_COMMUN><ID>LEGIARTI9</ID></META_COMMUN><META_SPEC><META_ARTICLE>{number}</META_ARTICLE>"
        f"</META_SPEC></META>{context}<BLOC_TEXTUEL><CONTENU>{article}</CONTENU></BLOC_TEXTUEL></ARTICLE>"
    )


def gii(*norms: str) -> str:
    doctype = '<!DOCTYPE dokumente SYSTEM "http://www.gesetze-im-internet.de/dtd/1.01/gii-norm.dtd">'
    first = "<norm><metadaten><jurabk>StrandG</jurabk><langue>Strandgesetz des Bundes</langue></metadaten></norm>"
    return f'<?xml version="1.0" encoding="UTF-8"?>{doctype}<dokumente>{first}{"".join(norms)}</dokumente>'


def norm(number: str, title: str, text: str, notes: str = "") -> str:
    heads = f"<metadaten><jurabk>StrandG</jurabk><enbez>{number}</enbez><titel>{title}</titel></metadaten>"
    return f"<norm>{heads}<textdaten><text><Content>{text}</Content></text>{notes}</textdaten></norm>"


def test_articles_paragraphs_and_points_keep_their_numbers(tmp_path: Path) -> None:
    point = "<point><num>(a)</num><content><p>35 euros for <b>adults</b>;</p></content></point>"
    body = (
        "<body><chapter><num>Chapter I</num><heading>Fees</heading><article><num>Article 2</num>"
        f"<heading>Amount</heading><paragraph><num>1.</num><list><intro><p>The fee is:</p></intro>{point}</list>"
        "</paragraph></article></chapter></body>"
    )
    assert blocks(read(tmp_path, akn(body))) == [
        "heading: Chapter I Fees",
        "heading: Article 2 Amount",
        "text: 1. The fee is:",
        "text: (a) 35 euros for adults;",
    ]


@pytest.mark.parametrize("prefix", ["akn:", ""])
@pytest.mark.parametrize(("name", "encoding"), [("law.xml", "utf-8"), ("law.akn", "utf-8-sig"), ("law.xml", "utf-16")])
def test_a_law_is_known_by_its_root(tmp_path: Path, prefix: str, name: str, encoding: str) -> None:
    space = "http://Inhaltsdaten.LegalDocML.de/1.8.2/"
    body = (
        f"<{prefix}akomaNtoso xmlns{':akn' if prefix else ''}='{space}'><{prefix}act><{prefix}body><{prefix}article>"
        f"<{prefix}num>§ 1</{prefix}num><{prefix}content><{prefix}p>Gebühr.</{prefix}p></{prefix}content>"
        f"</{prefix}article></{prefix}body></{prefix}act></{prefix}akomaNtoso>"
    )
    assert blocks(read(tmp_path, body, name, encoding)) == ["heading: § 1", "text: Gebühr."]


def test_a_number_alone_is_called_by_its_noun_so_that_it_can_be_cited(tmp_path: Path) -> None:
    body = "<body><section><num>1.</num><heading>Fee</heading><content><p>It is due.</p></content></section></body>"
    text = read(tmp_path, akn(body))
    assert blocks(text)[0] == "heading: Section 1. Fee"
    assert [one.section for one in find_outline(text.text, "en", blocks=text.blocks)] == ["Section 1"]


def test_the_wording_of_the_day_is_read_of_several_in_one_document(tmp_path: Path) -> None:
    events = "".join(f'<eventRef eId="e{n}" date="{day}"/>' for n, day in enumerate(("2001-01-01", "2015-01-01"), 1))
    groups = (
        '<temporalGroup eId="g1"><timeInterval start="#e1" end="#e2"/></temporalGroup>'
        '<temporalGroup eId="g2"><timeInterval start="#e2"/></temporalGroup>'
    )
    meta = f"<lifecycle>{events}</lifecycle><temporalData>{groups}</temporalData>"
    articles = "".join(
        f'<article period="#g{n}"><num>Article 1</num><content><p>The fee is {fee} euros.</p></content></article>'
        for n, fee in ((1, 20), (2, 35))
    )
    path = tmp_path / "law.xml"
    path.write_text(akn(f"<body>{articles}</body>", meta))
    former = "[1] Former wording, in force from 2001-01-01 to 2014-12-31: «Article 1 The fee is 20 euros.»"
    for today, fee, notes in ((date(2010, 1, 1), 20, []), (date(2020, 1, 1), 35, ["Notes", former])):
        lines = [line.text.strip() for block in extract_law(path, today).blocks for line in block.lines]
        standing = [line for line in lines if line]
        assert standing == ["Article 1", f"The fee is {fee} euros.", *notes]


def test_former_wordings_of_clml_are_notes_with_their_days(tmp_path: Path) -> None:
    def group(fee: int, days: str) -> str:
        text = f"<P1para><Text>It is {fee} pounds.</Text></P1para>"
        return f"<P1group {days}><Title>Fees</Title><P1 {days}><Pnumber>1</Pnumber>{text}</P1></P1group>"

    old, new = 'RestrictStartDate="2001-01-01" RestrictEndDate="2015-04-01"', 'RestrictStartDate="2015-04-01"'
    assert blocks(read(tmp_path, clml(group(20, old) + group(35, new))))[2:] == [
        "heading: Section 1 Fees",
        "text: It is 35 pounds.",
        "heading: Notes",
        "note: [1] Former wording, in force from 2001-01-01 to 2015-03-31: «Section 1 Fees It is 20 pounds.»",
    ]


@pytest.mark.parametrize("status", ["removed", "repealed"])
def test_a_repealed_article_keeps_its_heading_alone(tmp_path: Path, status: str) -> None:
    body = f'<body><article status="{status}"><num>Article 3</num><content><p>Old words.</p></content></article></body>'
    text = read(tmp_path, akn(body))
    assert blocks(text) == ["heading: Article 3"]
    assert [str(one) for one in text.warnings] == ["Struck words, left out because they are not in force: 2."]


def test_notes_follow_their_paragraph_with_their_mark(tmp_path: Path) -> None:
    meta = '<notes><note eId="n1"><p>Added in 2014.</p></note></notes>'
    body = (
        "<body><article><num>Article 1</num><content><p>A fee<authorialNote marker='2'><p>Of the town.</p>"
        "</authorialNote> is due<noteRef href='#n1' marker='3'/>.</p></content></article></body>"
    )
    assert blocks(read(tmp_path, akn(body, meta)))[1:] == [
        "text: A fee² is due³.",
        "note: ² Of the town.",
        "note: ³ Added in 2014.",
    ]


def test_quoted_provisions_are_text_in_their_marks(tmp_path: Path) -> None:
    body = (
        "<body><article><num>Article 1</num><content><p>For <quotedText startQuote='“' endQuote='”'>five</quotedText> "
        "read <del>often</del><ins>six</ins>, and insert: <quotedStructure startQuote='“' endQuote='”'><article>"
        "<num>Article 9a</num><content><p>No dogs.</p></content></article></quotedStructure>.</p></content></article>"
        "</body>"
    )
    assert blocks(read(tmp_path, akn(body)))[1:] == [
        "text: For “five” read six, and insert:",
        "text: “Article 9a",
        "text: No dogs.”.",
    ]


def test_normattiva_has_its_brackets_taken_and_its_updates_as_notes(tmp_path: Path) -> None:
    root = f'akomaNtoso xmlns="{AKN}" xmlns:na="http://www.normattiva.it/eli/"'
    paragraph = "<paragraph><content><p>{}</p></content></paragraph>"
    articles = paragraph.format(
        "\n Sono protette: \n 1) le opere <ins>((, e le banche di dati))</ins>; <ins>((26))</ins>"
    )
    updates = paragraph.format("-------------") + paragraph.format("AGGIORNAMENTO (26)</p><p>La legge ha disposto.")
    heading = "<heading>DIRITTO DI AUTORE  CAPO I Opere</heading>"
    body = (
        f"<body><chapter><num>TITOLO I</num>{heading}<article><num>Art. 2.</num>{articles}{updates}</article></chapter>"
        "</body>"
    )
    assert blocks(read(tmp_path, akn(body, root=root))) == [
        "heading: TITOLO I DIRITTO DI AUTORE",
        "heading: CAPO I Opere",
        "heading: Art. 2.",
        "text: Sono protette:",
        "text: 1) le opere, e le banche di dati; ²⁶",
        "note: ²⁶ La legge ha disposto.",
    ]


def test_formex_writes_quotation_marks_and_keeps_notes_out_of_sentences(tmp_path: Path) -> None:
    note = '<NOTE NOTE.ID="E1"><P>OJ L 1.</P></NOTE>'
    body = (
        "<TITLE><TI><P>Regulation on</P><P>beach fees</P></TI></TITLE><ENACTING.TERMS><ARTICLE>"
        "<TI.ART>Article 1</TI.ART><STI.ART><P>Definitions</P></STI.ART><PARAG><NO.PARAG>1.</NO.PARAG><ALINEA><P>A "
        f'<QUOT.START CODE="2018"/>fee<QUOT.END CODE="2019"/> is{note}:</P><LIST><ITEM><NP><NO.P>(a)</NO.P>'
        "<TXT>10<HT TYPE='SUP'>6</HT> g of CO<HT TYPE='SUB'>2</HT>;</TXT></NP></ITEM></LIST></ALINEA></PARAG></ARTICLE>"
        "</ENACTING.TERMS>"
    )
    text = read(tmp_path, formex(body))
    assert text.title == "Regulation on beach fees"
    assert blocks(text)[1:] == [
        "heading: Article 1 Definitions",
        "text: 1. A ‘fee’ is¹:",
        "note: ¹ OJ L 1.",
        "text: (a) 10⁶ g of CO2;",
    ]


def test_formex_tables_have_their_header(tmp_path: Path) -> None:
    rows = (
        '<ROW TYPE="HEADER"><CELL>Substance</CELL><CELL COLSPAN="2">Limit</CELL></ROW>'
        "<ROW><CELL>Lead</CELL><CELL>10</CELL><CELL><IE/></CELL></ROW>"
    )
    body = f"<TITLE><TI><P>ANNEX I</P></TI></TITLE><CONTENTS><TBL><CORPUS>{rows}</CORPUS></TBL></CONTENTS>"
    assert "Substance: Lead; Limit: 10" in read(tmp_path, formex(body, "ANNEX")).text


def test_clml_sections_take_the_title_of_their_group_and_lose_repealed_words(tmp_path: Path) -> None:
    body = (
        "<P1group><Title>Fees</Title><P1><Pnumber>1</Pnumber><P1para><P2><Pnumber>1</Pnumber><P2para><Text>At most "
        '<Repeal CommentaryRef="k1">20</Repeal><Substitution CommentaryRef="k1">35</Substitution> pounds</Text><P3>'
        "<Pnumber>a</Pnumber><P3para><Text>a year.</Text></P3para></P3></P2para></P2></P1para></P1></P1group>"
        '<P1group Status="Repealed"><Title>Dogs</Title><P1><Pnumber>2</Pnumber><P1para><Text>Old.</Text></P1para></P1>'
        '</P1group><P1group Status="Prospective"><Title>Cats</Title><P1><Pnumber>3</Pnumber><P1para><Text>New.</Text>'
        "</P1para></P1></P1group>"
    )
    comments = '<Commentary id="k1" Type="F"><Para><Text>Word substituted</Text></Para></Commentary>'
    text = read(tmp_path, clml(body, f"<Commentaries>{comments}</Commentaries>"))
    assert text.title == "Beaches Act 2001"
    assert blocks(text)[2:] == [
        "heading: Section 1 Fees",
        "text: (1) At most 35 pounds",
        "note: [F1] Word substituted",
        "text: (a) a year.",
        "heading: Section 2 Dogs",
    ]


def test_clml_regulations_amendments_and_schedules(tmp_path: Path) -> None:
    quoted = (
        "<P1group><Title>Dogs</Title><P1><Pnumber>7A</Pnumber><P1para><Text>No dogs.</Text></P1para></P1></P1group>"
    )
    body = (
        "<P1group><Title>Change</Title><P1><Pnumber>1</Pnumber><P1para><Text>After section 7 insert—</Text>"
        f'<BlockAmendment Format="double">{quoted}</BlockAmendment><AppendText>.</AppendText></P1para></P1></P1group>'
    )
    text = read(tmp_path, clml(body, part="Secondary", title="The Beaches Regulations 2003"))
    assert blocks(text)[2:] == [
        "heading: Regulation 1 Change",
        "text: After section 7 insert—",
        "text: “7A Dogs",
        "text: No dogs.”.",
    ]
    assert find_outline(text.text, "en", blocks=text.blocks)[-1].section == "Regulation 1"


def test_uslm_keeps_source_credits_and_notes_apart(tmp_path: Path) -> None:
    notes = "<notes><note><heading>Amendments</heading><p>2022—Substituted “35” for “20”.</p></note></notes>"
    section = (
        '<section><num value="1">§ 1.</num><heading> Fee</heading><subsection><num>(a)</num><heading>In general.—'
        '</heading><content>It is 35 dollars<ref class="footnoteRef" idref="f1">1</ref><note type="footnote" id="f1">'
        "<num>1</num> So in original.</note>.</content></subsection>"
        f"<sourceCredit>(Pub. L. 99–1.)</sourceCredit>{notes}</section>"
    )
    title = f'<title><num value="9">Title 9—</num><heading>BEACHES</heading>{section}</title>'
    text = read(tmp_path, f"<uscDoc {USLM}><meta><dc:title>Title 9</dc:title></meta><main>{title}</main></uscDoc>")
    assert text.title == "Title 9—BEACHES"
    assert blocks(text)[1:] == [
        "heading: § 1. Fee",
        "text: (a) In general.—It is 35 dollars¹.",
        "note: ¹ So in original.",
        "note: [*] (Pub. L. 99–1.)",
        "note: [*] Amendments 2022—Substituted “35” for “20”.",
    ]


def test_boe_reads_the_wording_in_force_and_the_title_of_its_metadata(tmp_path: Path) -> None:
    wordings = "".join(
        f'<version fecha_vigencia="{day}"><p class="articulo">Artículo 2. Cuantía.</p><p class="parrafo">Son {fee} '
        f'euros.</p><blockquote><p class="nota_pie">Nota {fee}</p></blockquote></version>'
        for day, fee in (("20100101", 20), ("20230101", 35), ("99990101", 99))
    )
    text = read(tmp_path, boe(f"<bloque>{wordings}</bloque>"))
    assert text.title == "Ley de playas"
    assert blocks(text) == [
        "heading: Ley de playas",
        "heading: Artículo 2. Cuantía.",
        "text: Son 35 euros.",
        "note: [*] Nota 35",
        "heading: Notas",
        "note: [1] Redacción anterior, vigente del 2010-01-01 al 2022-12-31: «Artículo 2. Cuantía. Son 20 euros.»",
    ]
    assert "99 euros" not in text.text


def test_legi_articles_are_headed_by_their_number_and_their_place_in_the_code(tmp_path: Path) -> None:
    text = read(tmp_path, legi("<p>Elle est de 35 euros.<br/>Par an.</p>"))
    assert blocks(text) == [
        "heading: Code des plages – Article L111-1",
        "heading: Livre Ier : Plages",
        "heading: Article L111-1",
        "text: Elle est de 35 euros. Par an.",
    ]


def test_a_repealed_article_of_legi_says_so_and_keeps_its_words_as_a_note_with_its_days(tmp_path: Path) -> None:
    text = read(tmp_path, legi("<p>Elle est de 20 euros.</p>", "ABROGE", "2010-01-01"))
    days = "en vigueur du 2001-01-01 au 2009-12-31"
    assert blocks(text)[-3:] == [
        "heading: Article L111-1 (abrogé)",
        "heading: Notes",
        f"note: [1] Ancienne rédaction, {days}: «Article L111-1 Elle est de 20 euros.»",
    ]


def test_gesetze_im_internet_sets_points_notes_and_tables(tmp_path: Path) -> None:
    points = "<DL><DT>1.</DT><DD><LA>Kinder<DL><DT>a)</DT><DD><LA>unter 5,</LA></DD></DL></LA></DD></DL>"
    table = (
        '<table><tgroup cols="2"><thead><row><entry>Strand</entry><entry>Euro</entry></row></thead><tbody><row>'
        "<entry>Nord</entry><entry>35</entry></row></tbody></tgroup></table>"
    )
    notes = (
        '<fussnoten><Footnotes><Footnote ID="F1" FnZ="1"><Content><P>Der Stadt.</P></Content></Footnote></Footnotes>'
        "<Content><P>IdF v. 1.1.2020</P></Content></fussnoten>"
    )
    first = norm("§ 1", "Gebühr", f'<P>(1) Sie<FnR ID="F1"/> zahlen:{points}im Jahr.</P>{table}', notes)
    text = read(tmp_path, gii(first, norm("Anlage", "Strände", "<P>Nord&#160;und Süd</P>")))
    assert text.title == "Strandgesetz des Bundes"
    assert blocks(text)[1:] == [
        "heading: § 1 Gebühr",
        "text: (1) Sie¹ zahlen:",
        "note: ¹ Der Stadt.",
        "text: 1. Kinder",
        "text: a) unter 5,",
        "text: im Jahr.",
        "table: Strand | Euro\n\nStrand: Nord; Euro: 35",
        "note: [*] IdF v. 1.1.2020",
        "heading: Anlage",
        "heading: Strände",
        "text: Nord und Süd",
    ]


@pytest.mark.parametrize("body", ["<inventory><item/></inventory>", "<ACT><SCENE>To be</SCENE></ACT>"])
def test_other_xml_is_refused_by_the_name_of_its_root(tmp_path: Path, body: str) -> None:
    with pytest.raises(Refusal, match=f"XML with the root element “{body[1:].partition('>')[0]}”") as refused:
        read(tmp_path, f'<?xml version="1.0"?>{body}')
    assert ".txt" in str(refused.value.help)


def test_other_xml_is_added_as_plain_text_when_it_is_named_so(tmp_path: Path) -> None:
    assert "pump" in read(tmp_path, '<?xml version="1.0"?><list><item>pump</item></list>', "list.txt").text


def test_entities_are_not_resolved_but_named(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hidden")
    doctype = f'<!DOCTYPE akomaNtoso [<!ENTITY x SYSTEM "file://{tmp_path}/secret"><!ENTITY y "&x;&x;">]>'
    body = "<body><article><num>Article 1</num><content><p>A &x; fee &y;.</p></content></article></body>"
    text = read(tmp_path, doctype + akn(body))
    assert "hidden" not in text.text
    assert [str(one) for one in text.warnings] == ["Entities whose text was not read: x, y."]


@pytest.mark.parametrize(
    "body",
    [
        "<body><article>",
        "<body>" + "<section>" * 300 + "</section>" * 300 + "</body>",
        "<body><p>" + "<authorialNote>a" * 240 + "</authorialNote>" * 240 + "</p></body>",
    ],
)
def test_broken_and_bottomless_files_are_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(Refusal, match="is damaged"):
        read(tmp_path, akn(body))


def test_the_file_says_its_title_language_and_day(tmp_path: Path) -> None:
    path = tmp_path / "law.xml"
    path.write_text(boe("").replace("</titulo>", "</titulo><fecha_publicacion>20091202</fecha_publicacion>"))
    found = read_properties(path)
    assert (found.title, found.language, found.date) == ("Ley de playas", "es", "2009-12-02")


def test_real_laws_are_read_section_by_section(shared: Path) -> None:
    expected = {
        "formex_en_interoperable_europe_act_2024_903.xml": ("en", "Article 2", "‘GovTech’ means technology-based"),
        "legaldocml_de_bgbl_2025_145.xml": ("de", "§ 3", "bis zu 715 Euro gezahlt werden."),
        "uslm_en_us_code_title_9_arbitration.xml": ("en", "§ 9", "at any time within one year after the award"),
        "boe_es_fragment_consolidated.xml": ("es", "Artículo 135", "Toda señal se aplicará a toda la anchura"),
        "akn_it_diritto_autore_633_1941_in_force_20241222.xml": ("it", "Art. 12", "L'autore ha il diritto esclusivo"),
    }
    for name, (language, label, words) in expected.items():
        text = extract(shared / "data" / "law" / name, ExtractionLimits(), None)
        outline = find_outline(text.text, language, title=text.title, blocks=text.blocks)
        found = {one.section for one in outline if words in text.text[one.start : one.end]}
        # Words that several sections have are in the one that is named as well.
        assert label in found, name
        assert not any(sign in text.text for sign in ("<num", "</", "((", "QUOT.")), name


@pytest.mark.parametrize("number", ["(iii)", "viii)", "2-ter.", "3 quater", "1-octies.", "Paragraph 2", "ΠΑΡΑΓΡΑΦΟΣ 1"])
def test_the_number_of_a_paragraph_is_no_heading(tmp_path: Path, number: str) -> None:
    body = f"<body><article><num>Article 1</num><paragraph><num>{number}</num><content><p>Boats are washed.</p>"
    text = read(tmp_path, akn(f"{body}</content></paragraph></article></body>"))
    assert blocks(text) == ["heading: Article 1", f"text: {number} Boats are washed."]


def test_the_roman_points_of_formex_are_no_headings(tmp_path: Path) -> None:
    points = "".join(f"<ITEM><NP><NO.P>({n})</NO.P><TXT>boats;</TXT></NP></ITEM>" for n in ("i", "ii", "iii"))
    body = f"<ARTICLE><TI.ART>Article 1</TI.ART><ALINEA><P>It is:</P><LIST>{points}</LIST></ALINEA></ARTICLE>"
    text = read(tmp_path, formex(body))
    assert blocks(text)[1:] == ["text: It is:", "text: (i) boats;", "text: (ii) boats;", "text: (iii) boats;"]


def test_the_mark_of_a_note_that_is_a_paragraph_of_its_own_ends_the_one_before(tmp_path: Path) -> None:
    root = f'akomaNtoso xmlns="{AKN}" xmlns:na="http://www.normattiva.it/eli/"'
    text = "<p>Le barche si lavano.</p><p>((4))</p><p>-----</p><p>AGGIORNAMENTO (4)</p><p>La L. 5 ha disposto.</p>"
    body = f"<body><article><num>Art. 1.</num><paragraph><content>{text}</content></paragraph></article></body>"
    assert blocks(read(tmp_path, akn(body, root=root))) == [
        "heading: Art. 1.", "text: Le barche si lavano.⁴", "note: ⁴ La L. 5 ha disposto.",
    ]  # fmt: skip
