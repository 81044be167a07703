"""Sections are headed, found and asked for in the words of each language."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_engine.chunking.section.chunks import section_chunks
from rag_engine.chunking.section.references import find_references, named_sections
from rag_engine.chunking.section.rules import normal_label
from rag_engine.config import ChunkSizes
from rag_engine.engine import Engine
from rag_engine.types.answer import Answer
from rag_engine.types.document import Block
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import Written, indexed

# Language, the labels of the third and of the next section, how it goes on, a question for the third, its label.
LABELS = [
    ("el", "Άρθρο 3", "Άρθρο 4", "Ο δήμος χαράσσει τους χάρτες.", "Τι ορίζει το άρθρο 3;", "article 3"),
    ("el", "ΑΡΘΡΟ 3", "ΑΡΘΡΟ 4", "Ο δήμος χαράσσει τους χάρτες.", "Τι προβλέπεται στο Άρθρο 3 παρ. 2;", "article 3"),
    ("fi", "3 §", "4 §", "Kunta laatii kartat.", "Mitä säädetään 3 §:n 1 momentissa?", "section 3"),
    ("fi", "3 a §", "4 §", "Kunta laatii kartat.", "Mitä säädetään 3 a §:ssä?", "section 3a"),
    ("sv", "3 §", "4 §", "Kommunen ritar kartorna.", "Vad säger 3 § första stycket?", "section 3"),
    ("et", "§ 3.", "§ 4.", "Vald koostab kaardid.", "Mida ütleb § 3 lg 1?", "section 3"),
    ("hu", "3. §", "4. §", "A község térképet készít.", "Mit mond a törvény 3. §-ának (1) bekezdése?", "section 3"),
    ("hu", "3. cikk", "4. cikk", "A község térképet készít.", "Mit ír elő a 3. cikk?", "article 3"),
    ("pl", "Art. 3.", "Art. 4.", "Gmina rysuje mapy.", "Co mówi art. 3 ust. 1?", "article 3"),
    ("cs", "§ 3", "§ 4", "Obec kreslí mapy.", "Co stanoví § 3 odst. 1?", "section 3"),
    ("sk", "§ 3", "§ 4", "Obec kreslí mapy.", "Čo ustanovuje § 3 ods. 1?", "section 3"),
    ("bg", "Чл. 3.", "Чл. 4.", "Общината чертае картите.", "Какво гласи чл. 3, ал. 1?", "article 3"),
    ("ro", "Articolul 3", "Articolul 4", "Comuna desenează hărțile.", "Ce prevede articolul 3?", "article 3"),
    ("ro", "Art. 3", "Art. 4", "Comuna desenează hărțile.", "Ce spune art. 3 alin. (1)?", "article 3"),
    ("nl", "Artikel 3", "Artikel 4", "De gemeente tekent de kaarten.", "Wat bepaalt artikel 3, lid 1?", "article 3"),
    ("da", "§ 3.", "§ 4.", "Kommunen tegner kortene.", "Hvad siger § 3, stk. 1?", "section 3"),
    ("no", "§ 3.", "§ 4.", "Kommunen tegner kartene.", "Hva sier § 3 første ledd?", "section 3"),
    ("tr", "Madde 3 –", "Madde 4 –", "Belediye haritaları çizer.", "3 üncü madde ne diyor?", "article 3"),
    ("ar", "المادة 3", "المادة 4", "ترسم البلدية الخرائط.", "ماذا تنص المادة 3؟", "article 3"),
    ("ar", "المادة (٣)", "المادة (٤)", "ترسم البلدية الخرائط.", "ماذا تنص المادة الثالثة؟", "article 3"),
    ("ru", "Статья 3.", "Статья 4.", "Община чертит карты.", "Что говорится в статье 3?", "article 3"),
    ("uk", "Стаття 3.", "Стаття 4.", "Громада креслить карти.", "Про що говорить ст. 3?", "article 3"),
    ("hr", "Članak 3.", "Članak 4.", "Općina crta karte.", "Što propisuje članak 3. stavak 1.?", "article 3"),
    ("sr", "Члан 3.", "Члан 4.", "Општина црта карте.", "Шта прописује члан 3. став 1?", "article 3"),
    ("sr", "Član 3.", "Član 4.", "Opština crta karte.", "Šta propisuje član 3?", "article 3"),
    ("sl", "3. člen", "4. člen", "Občina riše karte.", "Kaj določa prvi odstavek 3. člena?", "article 3"),
    ("lt", "3 straipsnis.", "4 straipsnis.", "Savivaldybė braižo.", "Ką sako 3 straipsnio 1 dalis?", "article 3"),
    ("lv", "3. pants.", "4. pants.", "Pašvaldība zīmē kartes.", "Ko nosaka 3. panta pirmā daļa?", "article 3"),
    ("lv", "3.¹ pants.", "4. pants.", "Pašvaldība zīmē kartes.", "Ko nosaka 3.¹ pants?", "article 3¹"),
    ("pt", "Art. 3.º", "Art. 4.º", "O município desenha os mapas.", "O que diz o art. 3.º?", "article 3"),
    ("fa", "ماده ۳", "ماده ۴", "شهرداری نقشه می‌کشد.", "ماده 3 چه می‌گوید؟", "article 3"),
    ("vi", "Điều 3.", "Điều 4.", "Xã vẽ bản đồ.", "Khoản 1 Điều 3 quy định gì?", "article 3"),
    ("id", "Pasal 3", "Pasal 4", "Desa menggambar peta.", "Apa isi Pasal 3 ayat (1)?", "article 3"),
    ("zh", "第三条", "第四条", "乡镇绘制洪水图。", "第三条规定了什么？", "article 3"),
    ("zh", "第十二条", "第十三条", "乡镇绘制洪水图。", "第12条规定了什么？", "article 12"),
    ("ja", "第三条", "第四条", "市町村は地図を作成する。", "第三条は何を定めていますか。", "article 3"),
    ("ja", "第三条の二", "第四条", "市町村は地図を作成する。", "第3条の2は何を定めていますか。", "article 3-2"),
    ("ko", "제3조", "제4조", "시장은 지도를 작성한다.", "제3조는 무엇을 정하는가?", "article 3"),
]


@pytest.mark.parametrize(("language", "label", "following", "body", "question", "section"), LABELS)
def test_a_section_is_known_by_its_label_in_its_language_and_asked_for_from_any(
    language: str, label: str, following: str, body: str, question: str, section: str
) -> None:
    text = f"{label}\n\n{body}\n\n{following}\n\n{body}"
    parents = section_chunks(text, language, title="", blocks=(), config=ChunkSizes())
    assert [normal_label(parent.section) for parent in parents] == [section, normal_label(following)]
    for asked_in in (language, "en"):
        assert [one.label for one in named_sections(question, asked_in)] == [section]


@pytest.mark.parametrize(
    ("language", "text", "sections"),
    [
        ("sv", "1 § Denna lag gäller dammar.\n\n2 § Ägaren vakar över dammen.", ["1 §", "2 §"]),
        ("hu", "1. § (1) A gát gondozott.\n\n2. § (1) A tulajdonos őrzi.", ["1. §", "2. §"]),
        ("ro", "Art. 1. - (1) Digul este păzit.\n\nArt. 2. - Paznicul veghează.", ["Art. 1", "Art. 2"]),
        ("da", "§ 1. Loven gælder diger.\n\n§ 1 a. Ejeren passer diget.", ["§ 1", "§ 1 a"]),
        (
            "pl",
            "Art. 1. § 1. Wał stoi.\n\n§ 2. Strażnik czuwa.\n\nArt. 2. Gmina płaci.",
            ["Art. 1", "Art. 2"],
        ),
        ("pl", "§ 1. Wał jest chroniony.\n\n§ 2. Strażnik czuwa.", ["§ 1", "§ 2"]),
        ("zh", "第一条　为了保护堤坝，制定本法。\n\n第二条　第一条规定的堤坝由所有人管理。", ["第一条", "第二条"]),
        ("ko", "제1조(목적) 이 법은 제방을 보호한다.\n\n제2조(관리) 소유자가 관리한다.", ["제1조", "제2조"]),
        ("fi", "1 §\n\nSoveltamisala\n\nLaki koskee patoja.\n\n2 §:n mukaan omistaja valvoo.", ["1 §"]),
    ],
)
def test_a_section_may_run_into_its_label_and_a_citation_opens_none(
    language: str, text: str, sections: list[str]
) -> None:
    parents = section_chunks(text, language, title="", blocks=(), config=ChunkSizes())
    assert [parent.section for parent in parents] == sections


def test_a_repealed_section_in_brackets_keeps_its_label() -> None:
    text = "§ 1. Fee\n\nThe fee is due.\n\n[§ 2. Repealed. Pub. L. 92–1]"
    blocks = (Block(0, 8, 1, "heading"), Block(10, 25, 1, "text"), Block(27, len(text), 1, "heading"))
    parents = section_chunks(text, "en", title="", blocks=blocks, config=ChunkSizes())
    assert [parent.section for parent in parents] == ["§ 1", "§ 2"]


@pytest.mark.parametrize(
    ("language", "text", "labels"),
    [
        ("fi", "Sovelletaan 5 ja 6 §:ää.", ["section 5", "section 6"]),
        ("fi", "Sovelletaan 5–7 §:ää.", ["section 5", "section 6", "section 7"]),
        ("da", "Jf. § 3 a og § 4, stk. 2.", ["section 3a", "section 4"]),
        ("ar", "تطبق المادة (٣)", ["article 3"]),
        ("sl", "Uporabljata se 5. in 6. člen.", ["article 5", "article 6"]),
        ("hu", "Az 5. és 6. §-t kell alkalmazni.", ["section 5", "section 6"]),
        ("el", "Εφαρμόζονται τα άρθρα 5 και 6.", ["article 5", "article 6"]),
        ("ja", "第五条及び第六条を適用する。", ["article 5", "article 6"]),
    ],
)
def test_several_sections_are_cited_together(language: str, text: str, labels: list[str]) -> None:
    assert sorted({one.label for one in find_references(text, language)}) == labels


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("el", "σύμφωνα με το άρθρο 5 του ν. 4172/2013"),
        ("fi", "kuntalain (410/2015) 5 §:n mukaan"),
        ("sv", "enligt 5 § lagen (1998:204)"),
        ("cs", "podle § 5 zákona č. 89/2012 Sb."),
        ("pl", "zgodnie z art. 5 ustawy z dnia 5 maja 2015"),
        ("ru", "в соответствии со статьёй 5 Федерального закона № 44"),
        ("ja", "法人税法（昭和四十年法律）第五条に規定する"),
        ("zh", "依照《中华人民共和国民法典》第五条"),
    ],
)
def test_a_section_of_another_act_is_none_of_this_one(language: str, text: str) -> None:
    assert all(one.act for one in find_references(text, language))


# Rules of their own, so that only the right section answers.
GREEK = {
    1: "Ο δήμος χαράσσει τους χάρτες κινδύνου πλημμύρας.",
    2: "Ο φύλακας ελέγχει το φράγμα κάθε μήνα.",
    3: "Το πρόστιμο ανέρχεται σε πεντακόσια ευρώ.",
}
FINNISH = {
    11: "Kunta laatii tulvariskikartat.",
    12: "Vartija tarkastaa padon joka kuukausi.",
    13: "Sakko on viisisataa euroa.",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    greek = "\n\n".join(f"Άρθρο {number}\n\n{f'{rule} ' * 4}" for number, rule in GREEK.items())
    finnish = "\n\n".join(f"{number} §\n\n{f'{rule} ' * 4}" for number, rule in FINNISH.items())
    workspace: Path = tmp_path_factory.mktemp("labels")
    documents = (
        Written("Νόμος περί πλημμυρών", (f"Νόμος περί πλημμυρών\n\n{greek}",), "el"),
        Written("Tulvalaki", (f"Tulvalaki\n\n{finnish}",), "fi"),
    )
    engine = indexed(workspace, CountingEmbedder(), documents)
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("question", "section", "rule"),
    [
        ("Τι ορίζει το άρθρο 3;", "Άρθρο 3", GREEK[3]),
        ("What does Άρθρο 2 say?", "Άρθρο 2", GREEK[2]),
        ("Mitä säädetään 13 §:n 1 momentissa?", "13 §", FINNISH[13]),
        ("Mitä sanoo 12 § 1 mom.?", "12 §", FINNISH[12]),
        ("What does § 11 say?", "11 §", FINNISH[11]),
    ],
)
def test_a_question_for_a_section_is_answered_from_it(engine: Engine, question: str, section: str, rule: str) -> None:
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    assert answer.evidence.sources[0].section == section
    assert rule.rstrip(".") in answer.text
