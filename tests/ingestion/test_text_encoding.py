"""Short tables in the encodings of European office programs are read without a damaged letter."""

from __future__ import annotations

import random

import pytest

from ingestion.text_encoding import encoding_name, guess_encoding

# fmt: off
TABLES = {
    "Mesure;Coût;Année\nDigue à rénover;12;2024\nÉcole élémentaire;3;2025": "cp1252 latin-1 mac-roman cp850",
    "Gemeinde;Straße;Größe\nKöln;3;4": "cp1252 latin-1 mac-roman cp850", "Straße": "cp1252",
    "Municipio;Población;Año\nMálaga;3;2024\nLogroño;1;2": "cp1252 mac-roman cp850",
    "Comune;Attività;Città\nForlì;2;3": "cp1252 mac-roman cp850",
    "Município;População;Ações\nSão João;2;3": "cp1252 mac-roman cp850",
    "Kommune;Beløb;År\nKøbenhavn;3;2": "cp1252 mac-roman",
    "Kunta;Määrä;Väestö\nJyväskylä;2;3": "cp1252 mac-roman cp850",
    "Town;Café budget;Year\nZürich;£3;2024": "cp1252", "The board’s budget – 20 € a head": "cp1252 mac-roman",
    "Prix;100 €;été": "iso8859-15",
    "Gmina;Budżet;Rok\nŁódź;12;2024\nŚwięty Krzyż;3;4": "cp1250 iso8859-2 mac-latin2 cp852",
    "Ludność gminy": "cp1250", "Počet obyvatel": "cp1250",
    "Obec;Rozpočet;Rok\nPlzeň;12;2024\nKroměříž;3;4": "cp1250 iso8859-2 mac-latin2 cp852",
    "Település;Költségvetés;Év\nGyőr;12;2024\nSzékesfehérvár;3;4": "cp1250 iso8859-2 mac-latin2 cp852",
    "Općina;Proračun;Godina\nČakovec;12;2024\nŠibenik;3;4": "cp1250 iso8859-2",
    "Občina;Proračun;Leto\nŠkofja Loka;1;2": "cp1250",
    "Comună;Buget;An\nBrăila;12;2024\nTârgu Mureş;3;4": "cp1250 iso8859-2",
    "İlçe;Bütçe;Yıl\nŞişli;12;2024\nÇeşme;3;4": "cp1254 iso8859-9 cp857", "Başkanlığı": "cp1254",
    "Savivaldybė;Biudžetas;Metai\nŠiauliai;12;2024\nPanevėžys;3;4": "cp1257 iso8859-13",
    "Pašvaldība;Budžets;Gads\nRīga;1;2\nJūrmala;3;4": "cp1257 iso8859-13",
    "Район;Бюджет;Год\nКелм;190;2025": "cp1251 koi8-u iso8859-5 mac-cyrillic cp866",
    "Община;Бюджет;Година\nСофия;190;2025": "cp1251", "Громада;Бюджет;Рік\nКиїв;190;2025": "cp1251 koi8-u",
    "עיר;תקציב;שנה\nחיפה;3;2025\nהעירייה אחראית על פינוי התושבים": "cp1255",
    "المدينة;الميزانية\nالقاهرة;12\nالبلدية مسؤولة عن إجلاء السكان": "cp1256",
    "Δήμος;Προϋπολογισμός;Έτος\nΚαλαμάτα;190;2025": "cp1253 iso8859-7 cp737", "Έτος": "cp1253",
    "Άρθρο 1": "cp1253 iso8859-7",
}
# fmt: on


@pytest.mark.parametrize(("text", "encoding"), [(text, one) for text, all in TABLES.items() for one in all.split()])
def test_the_encoding_is_told_by_the_letters_that_it_gives(text: str, encoding: str) -> None:
    raw = text.encode(encoding)
    assert raw.decode(guess_encoding(raw)) == text


def test_bytes_that_are_no_letters_of_a_language_are_in_no_encoding() -> None:
    chance = random.Random(7)
    for choice in (range(128, 256), [*range(32, 127), *range(128, 256)], [*range(32, 127)] * 5 + [*range(128, 256)]):
        guesses = {guess_encoding(bytes(chance.choices(choice, k=300))) for _ in range(20)}
        assert guesses == {""}


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "gb18030", "big5"])
def test_scripts_of_other_parts_of_the_world_are_not_taken_for_european_ones(encoding: str) -> None:
    text = "災害対策基本法に基づき、市町村長は避難指示を発令する。住民は速やかに避難しなければならない。"
    assert guess_encoding(text.encode(encoding, "ignore")) == ""


def test_a_long_table_whose_first_letter_beyond_ascii_is_late_is_told() -> None:
    rows = "Town;Place\n" + "Hollin;School\n" * 20_000 + "Łódź;Świetlica\nGdańsk;Żłobek\n"
    assert guess_encoding(rows.encode("cp1250")) == "cp1250"


def test_encodings_have_the_names_that_people_know() -> None:
    names = [encoding_name(one) for one in ("cp1252", "iso8859-2", "koi8-u", "mac-roman", "cp850")]
    assert names == ["Windows-1252", "ISO 8859-2", "KOI8-U", "Mac OS Roman", "DOS code page 850"]
