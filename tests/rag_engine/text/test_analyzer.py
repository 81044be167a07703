import threading
import time
import unicodedata

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_engine.text.analyzer import acronyms, analyse, has_analyser, located_words, shared_terms, surface

LANGUAGES = ["en", "it", "fr", "es", "de", "pt", "tr", "nl", "sv", "fi", "ro", "pl", "el", "ru", "ar", "hi", "uk", ""]


def meets(question: str, text: str, language: str) -> bool:
    """Whether every term of the question is a term of the text."""
    return set(analyse(question, language)) <= set(analyse(text, language))


@pytest.mark.parametrize(
    ("language", "question", "text"),
    [
        ("en", "flooded cities", "the city was flooding"),
        ("it", "alluvione", "Le alluvioni dell'Emilia"),
        ("fr", "inondation", "des inondations graves"),
        ("es", "inundación", "Inundaciones costeras"),
        ("de", "Überschwemmung", "nach Überschwemmungen"),
        ("pt", "incêndio", "os incêndios florestais"),
        ("tr", "depremler", "depremleri önlemek"),
        ("ro", "inundație", "inundațiile"),
        ("el", "πλημμύρα", "οι πλημμύρες"),
        ("ru", "наводнение", "о наводнениях"),
        ("ar", "مدينة", "في المدينة"),
    ],
)
def test_a_word_is_found_in_its_other_forms(language: str, question: str, text: str) -> None:
    assert has_analyser(language)
    assert meets(question, text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "What is the, of and for which"),
        ("it", "Quali sono, che l'una e dell'altra"),
        ("fr", "Qu'est-ce que c'est, quelles sont les"),
        ("es", "¿Cuáles son los que se han de"),
        ("de", "Welche sind die, für und über"),
        ("pt", "Quais são os que se têm de"),
        ("tr", "Hangi ve için nasıl nedir"),
    ],
)
def test_the_words_that_make_a_question_are_left_out(language: str, text: str) -> None:
    assert analyse(text, language) == []


@pytest.mark.parametrize(
    ("language", "plain", "accented"),
    [
        ("es", "emergencia climatica", "emergencia climática"),
        ("it", "perche la citta", "perché la città"),
        ("tr", "Istanbul iklim", "İstanbul iklim"),
        ("de", "strasse", "Straße"),
        ("fr", "etat d'alerte", "État d'alerte"),
        ("pt", "nao ha aguas", "não há águas"),
    ],
)
def test_a_question_typed_without_accents_finds_the_accented_text(language: str, plain: str, accented: str) -> None:
    assert meets(plain, accented, language)


@pytest.mark.parametrize(
    ("language", "word", "text"),
    [
        ("it", "acqua", "dell'acqua"),
        ("it", "alluvione", "l’alluvione"),
        ("fr", "État", "d'État"),
        ("tr", "Ankara", "Ankara'nın"),
        ("tr", "2030", "2030’da"),
        ("en", "city", "the city’s"),
    ],
)
def test_what_an_apostrophe_adds_does_not_hide_the_word(language: str, word: str, text: str) -> None:
    assert analyse(word, language) == analyse(text, language)


def test_turkish_capitals_follow_the_turkish_alphabet() -> None:
    assert analyse("ISI", "tr") == analyse("ısı", "tr")
    assert analyse("İKLİM", "tr") == analyse("iklim", "tr")


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("2030", []),
        ("1.5", ["1", "5"]),
        ("2021/1119", ["2021", "1119"]),
        ("§ 5", ["5"]),
        ("5(2)", ["5", "2"]),
        ("5(2)(a)", ["5(2)", "5", "2"]),
        ("1/CP.21", ["1", "cp", "21"]),
        ("COVID-19", ["covid", "19"]),
        ("COP21", ["cop", "21"]),
        ("CO2", []),
        ("SFS 2008:1244", ["2008", "1244"]),
    ],
)
@pytest.mark.parametrize("language", ["en", "de", "it", "tr", ""])
def test_a_number_is_found_as_written_and_by_its_parts(language: str, written: str, parts: list[str]) -> None:
    sentence = f"xyz {written}, xyz"
    assert meets(written, sentence, language)
    for part in parts if language in ("en", "de", "it") else []:
        assert part in analyse(sentence, language)


def test_a_number_as_written_weighs_more_than_its_parts_alone() -> None:
    asked = set(analyse("2021/1119", "en"))
    assert len(asked & set(analyse("Regulation 2021/1119", "en"))) > len(asked & set(analyse("1119 of 2021", "en")))


@pytest.mark.parametrize(
    ("one", "other"), [("280,000", "280.000"), ("1,5 °C", "1.5 °C"), ("CO₂", "CO2"), ("٢٠٣٠", "2030")]
)
def test_one_number_written_in_two_ways_is_one_number(one: str, other: str) -> None:
    assert analyse(one, "en") == analyse(other, "en")
    assert surface(one) == surface(other)


@pytest.mark.parametrize(
    ("printed", "found", "missed"),
    [
        ("Art. 21¹ applies", "21", "211"),
        ("Art. 21¹ applies", "21^1", "211"),
        ("4 × 10⁶ tonnes", "10^6", "106"),
        ("in 2020¹ the plan", "2020", "20201"),
        ("the EU³ shall", "EU", "EU3"),
        ("a pond of 45 m²", "m2", "m3"),
    ],
)
def test_a_raised_number_is_no_digit_of_the_one_before(printed: str, found: str, missed: str) -> None:
    assert set(analyse(found, "en")) <= set(analyse(printed, "en"))
    assert not set(analyse(missed, "en")) <= set(analyse(printed, "en"))
    assert [word for _, _, word in located_words(printed)][-1] in ("applies", "tonnes", "plan", "shall", "m2")


def test_a_hyphenated_word_is_found_whole_and_in_parts() -> None:
    terms = analyse("a risk-based approach", "en")
    assert set(analyse("risk", "en")) <= set(terms)
    assert set(analyse("riskbased", "en")) <= set(terms)
    assert analyse("risk‑based", "en") == analyse("risk-based", "en")


def test_an_acronym_is_kept_though_it_spells_a_stop_word() -> None:
    assert analyse("What does the WHO say?", "en") == ["who"]
    assert analyse("those who say", "en") == []


def test_a_text_all_in_capitals_has_no_acronyms() -> None:
    assert analyse("WHO IS IN CHARGE OF IT", "en") == analyse("who is in charge of it", "en")


@pytest.mark.parametrize(
    ("language", "text", "question"),
    [
        ("ja", "洪水対策計画を策定する", "対策計画"),
        ("zh", "国家防灾减灾规划", "防灾"),
        ("th", "แผนป้องกันน้ำท่วม", "น้ำท่วม"),
        ("hi", "बाढ़ प्रबंधन योजना", "प्रबंधन"),
        ("uk", "повінь у місті", "повінь"),
        ("ko", "홍수 대책", "홍수"),
    ],
)
def test_no_script_is_lost(language: str, text: str, question: str) -> None:
    assert analyse(question, language)
    assert meets(question, text, language)


def test_a_language_without_a_stemmer_is_searched_as_written() -> None:
    assert not has_analyser("")
    assert not has_analyser("uk")
    assert analyse("Повінь у Києві", "uk") == surface("Повінь у Києві")


def test_the_surface_forgets_case_accents_and_signs_but_not_the_words() -> None:
    assert surface("The Perché, of IĞDIR’s Straße: 2021/1119!") == (
        ["the", "perche", "of", "igdir", "s", "strasse", "2021", "1119"]
    )


def test_acronyms_are_words_in_capitals() -> None:
    assert acronyms("The WHO, U.S. and dell'IPCC on CO₂; Who?") == ["WHO", "US", "IPCC", "CO2"]


def test_numbers_acronyms_and_names_are_the_same_in_every_language() -> None:
    assert shared_terms("Quali obblighi ha Bologna per l'IPCC entro il 2030 secondo 2021/1119 e CO2?") == (
        ["Bologna", "IPCC", "2030", "2021/1119", "CO2"]
    )


def test_the_capital_that_begins_a_sentence_names_nothing() -> None:
    assert shared_terms("Flooding is frequent. “Rivers rise. ¿Dónde? Storms follow") == []


def test_a_question_in_capitals_shares_only_its_numbers() -> None:
    assert shared_terms("WHAT IS DUE BEFORE 2030") == ["2030"]


def test_a_lone_acronym_is_shared() -> None:
    assert shared_terms("WHO") == ["WHO"]


def test_threads_may_analyse_at_the_same_time() -> None:
    words = [f"overstroming{chr(97 + i % 26)}{chr(97 + i // 26)}en" for i in range(600)]
    expected = [[stem] for stem in Stemmer.Stemmer("dutch").stemWords(words)]
    results: list[list[list[str]]] = []
    threads = [threading.Thread(target=lambda: results.append([analyse(w, "nl") for w in words])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.mark.parametrize(
    ("language", "question", "text"), [("tr", "yangın", "yangınlar"), ("de", "Hochwasser", "Hochwasserschutzplan")]
)
def test_a_long_word_is_found_by_how_it_begins(language: str, question: str, text: str) -> None:
    assert set(analyse(question, language)) & set(analyse(text, language))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_any_text_gives_words_without_spaces(text: str, language: str) -> None:
    for word in [*analyse(text, language), *surface(text), *acronyms(text)]:
        assert word
        assert not any(character.isspace() for character in word)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_every_letter_and_digit_of_a_text_reaches_the_surface(text: str) -> None:
    # A raised digit is the mark of a note.
    kept = unicodedata.normalize("NFKC", "".join(one for one in text if one not in "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    # An apostrophe that Unicode counts among the letters is one to us.
    if any(character.isalnum() and character != "\u02bc" for character in kept):
        assert surface(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Z"]), max_size=80), st.sampled_from(LANGUAGES))
def test_the_form_in_which_accents_are_encoded_does_not_matter(text: str, language: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert analyse(composed, language) == analyse(decomposed, language)


@pytest.mark.parametrize("piece", ["§", "§ ", "a", "1.2.3.", "a-", "a'", "(", "1 "])
def test_terms_of_a_hostile_text_are_found_in_linear_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    started = time.process_time()
    for language in ("en", "tr"):
        analyse(text, language)
    surface(text)
    assert time.process_time() - started < 15
