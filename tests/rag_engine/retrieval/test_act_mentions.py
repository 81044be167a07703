"""Acts by title, short title, abbreviation or number, in any of the languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.retrieval.act_mentions import find_acts, names_any_act
from rag_engine.storage.section_index import Act


def act(name: str, *countries: str, language: str = "en", opening: str = "") -> Act:
    return Act(name, (name,), countries, language, opening, {})


PENAL, PROCEDURE = act("Indian Penal Code, 1860", "India"), act("THE CODE OF CRIMINAL PROCEDURE, 1973", "India")
CONSTITUTION = act("The Constitution of India", "India")
COSTITUZIONE = act("Costituzione della Repubblica Italiana", "Italy", language="it")
GRUNDGESETZ = act(
    "Grundgesetz für die Bundesrepublik Deutschland", "Germany", language="de", opening="GG\n\nStand 2025"
)
STRAFGESETZBUCH = act("Strafgesetzbuch", "Germany", language="de")
ZSKG = act(
    "Gesetz über den Zivilschutz und die Katastrophenhilfe des Bundes "
    "(Zivilschutz- und Katastrophenhilfegesetz - ZSKG) vom 25. März 1997",
    "Germany",
    language="de",
)
CLIMATE = act(
    "REGULATION (EU) 2021/1119 OF THE EUROPEAN PARLIAMENT AND OF THE COUNCIL of 30 June 2021 establishing the "
    "framework for achieving climate neutrality and amending Regulations (EC) No 401/2009 and (EU) 2018/1999 "
    "(‘European Climate Law’)"
)
LGPD = act(
    "LEI Nº 13.709, DE 14 DE AGOSTO DE 2018",
    "Brazil",
    language="pt",
    opening="Altera a Lei nº 12.965.\n\nLei Geral de Proteção de Dados Pessoais (LGPD). (Redação da Lei nº 13.853)",
)
KMK = act("KAT MÜLKİYETİ KANUNU", "Turkey", language="tr", opening="Kanun Numarası: : 634\nKabul : 23/6/1965")
FIRE = act("BİNALARIN YANGINDAN KORUNMASI HAKKINDA YÖNETMELİK", "Turkey", language="tr")
PARIS = act("Paris Agreement")
KYOTO = act("KYOTO PROTOCOL TO THE UNITED NATIONS FRAMEWORK CONVENTION ON CLIMATE CHANGE")
GUIDELINES = act("Guidelines")
ACTS = (
    PENAL, PROCEDURE, CONSTITUTION, COSTITUZIONE, GRUNDGESETZ, STRAFGESETZBUCH, ZSKG, CLIMATE, LGPD, KMK, FIRE, PARIS,
    KYOTO, GUIDELINES,
)  # fmt: skip


def named(question: str, sections: tuple[str, ...] = ()) -> list[Act]:
    places = [(question.index(one), question.index(one) + len(one)) for one in sections]
    return [act for mention in find_acts(question, ACTS, places) for act in mention.acts]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the punishment under Section 302 of the Indian Penal Code?", PENAL),
        ("302 IPC", PENAL),
        ("Penalty laid down in S. 376 I.P.C.", PENAL),
        ("WHAT DOES SECTION 302 OF THE INDIAN PENAL CODE SAY?", PENAL),
        ("When may the police arrest under the Code of Criminal Procedure?", PROCEDURE),
        ("Section 154 of the Criminal Procedure Code", PROCEDURE),
        ("CrPC section 154", PROCEDURE),
        ("article 243D of the Constitution of India", CONSTITUTION),
        ("Cosa dice l'articolo 3 della Costituzione?", COSTITUZIONE),
        ("Artikel 3 der italienischen Verfassung", COSTITUZIONE),
        ("article 3 of the Constitution of the Italian Republic", COSTITUZIONE),
        ("İtalyan Anayasası'nın 3. maddesi", COSTITUZIONE),
        ("Was sagt Art. 3 GG?", GRUNDGESETZ),
        ("Wen schützt Artikel 5 des Grundgesetzes?", GRUNDGESETZ),
        ("Erwähnt das Grundgesetz Hubschrauber?", GRUNDGESETZ),
        ("article 5 of the German Basic Law", GRUNDGESETZ),
        ("article 5 of the German constitution", GRUNDGESETZ),
        ("l'article 5 de la Loi fondamentale allemande", GRUNDGESETZ),
        ("Artigo 5 da Lei Fundamental da Alemanha", GRUNDGESETZ),
        ("§ 211 StGB", STRAFGESETZBUCH),
        ("§ 5 ZSKG", ZSKG),
        ("§ 5 des Zivilschutz- und Katastrophenhilfegesetzes", ZSKG),
        ("section 5 of the German Civil Protection and Disaster Relief Act", ZSKG),
        ("What is the European Climate Law's aim?", CLIMATE),
        ("Article 4 of Regulation (EU) 2021/1119", CLIMATE),
        ("articolo 4 del regolamento (UE) 2021/1119", CLIMATE),
        ("Artikel 4 des Europäischen Klimagesetzes", CLIMATE),
        ("article 4 de la loi européenne sur le climat", CLIMATE),
        ("artigo 4 da lei europeia em matéria de clima", CLIMATE),
        ("Avrupa İklim Kanunu'nun 4. maddesi", CLIMATE),
        ("O que a LGPD diz sobre dados sensíveis?", LGPD),
        ("Lei 13.709/2018, art. 5", LGPD),
        ("Article 5 of Law 13.709", LGPD),
        ("Article 5 of Law No. 13,709 of Brazil", LGPD),
        ("Artikel 5 des brasilianischen Datenschutzgesetzes", LGPD),
        ("artículo 5 de la Ley General de Protección de Datos de Brasil", LGPD),
        ("KMK madde 5 ne diyor?", KMK),
        ("Kat Mülkiyeti Kanununun 5. maddesi", KMK),
        ("Kat Mülkiyeti Kanunu'nun 5. maddesi", KMK),
        ("634 sayılı Kanun madde 5", KMK),
        ("Article 5 of the Turkish Condominium Law", KMK),
        ("Yangın Yönetmeliği madde 43", FIRE),
        ("Article 43 of the Turkish fire protection regulation", FIRE),
        ("article 4 of the Paris Agreement", PARIS),
        ("articolo 7 dell'Accordo di Parigi", PARIS),
        ("Artikel 7 des Pariser Klimaabkommens", PARIS),
        ("Artikel 7 des Übereinkommens von Paris", PARIS),
        ("Que dit l'article 7 de l'Accord de Paris sur le climat ?", PARIS),
        ("Paris Anlaşması'nın 7. maddesi ne diyor?", PARIS),
        ("Protocolo de Kioto, artículo 3", KYOTO),
        ("Kyoto Protokolü'nün 3. maddesi", KYOTO),
    ],
)
def test_an_act_is_named_by_its_name_in_any_language_its_abbreviation_or_its_number(
    question: str, expected: Act
) -> None:
    assert named(question) == [expected]


@pytest.mark.parametrize(
    "question",
    [
        "What do EU law and the guidelines say about floods?",
        "Which evidence of floods is there in India?",
        "Who agreed on the plan in Paris?",
        "What is the code of the alarm?",
        "Which articles did WHO publish in 2018?",
        "Article 3 of the Montreal Protocol",
        "Article 3 of the Framework Convention on Climate Change",
        "Article 9 of the Spanish Constitution",
        "Article 3 of Regulation (EU) 2018/1999",
        "Article 18 of the General Data Protection Regulation",
        "Article 18 of the German Data Protection Act",
        "Article 18 of the California Data Protection Law",
        "articolo 3 della legge turca sul lavoro",
        "Artikel 3 der Verfassung der Schweiz",
        "Article 5 of Law No. 635",
        "",
    ],
)
def test_words_that_an_act_only_shares_do_not_name_it(question: str) -> None:
    assert named(question) == []


def test_an_abbreviation_in_small_letters_names_its_act_beside_a_section_alone() -> None:
    assert named("gg art 5", ("art 5",)) == [GRUNDGESETZ]
    assert named("articolo 9 Cost.", ("articolo 9",)) == [COSTITUZIONE]
    assert named("what does a dam cost.") == []
    assert named("pa and kmk are words") == []


def test_each_act_is_named_where_it_stands() -> None:
    question = "Compare Article 5 GG with Article 21 of the Italian Constitution"
    assert [(question[one.start : one.end], one.acts) for one in find_acts(question, ACTS)] == [
        ("GG", (GRUNDGESETZ,)),
        ("Italian Constitution", (COSTITUZIONE,)),
    ]


def test_a_question_that_names_an_act_of_another_collection_is_known_to() -> None:
    assert names_any_act("Article 3 of the Montreal Protocol")
    assert names_any_act("StGB § 211")
    assert not names_any_act("What does article 7 say about shelters?")


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=5))
def test_any_text_is_read_and_only_what_was_given_is_named(question: str, names: list[str]) -> None:
    acts = [act(name) for name in names]
    found = find_acts(question, acts)
    assert all(0 <= one.start < one.end <= len(question) * 4 and set(one.acts) <= set(acts) for one in found)
