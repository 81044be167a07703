import pytest

from rag_engine.text.claims import (
    clauses,
    denies,
    denies_throughout,
    limits,
    names_in,
    negations,
    number_readings,
    numbers,
    own_numbers,
    states_nothing,
    universals,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Trees may not be grouped.", "en"),
        ("The trees aren't grouped.", "en"),
        ("Non è ammessa la pena di morte.", "it"),
        ("Les arbres ne peuvent pas être groupés.", "fr"),
        ("No contarán los mandatos.", "es"),
        ("Die Einnahmen stehen den Gemeinden nicht zu.", "de"),
        ("É vedado o tratamento de dados de saúde.", "pt"),
        ("Hastane kurulamaz.", "tr"),
        ("Ödemekle yükümlü değildir.", "tr"),
    ],
)
def test_a_negation_is_seen_in_every_language(text: str, language: str) -> None:
    assert denies(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Trees may be grouped, and not only in towns.", "en"),
        ("Gli alberi possono essere raggruppati, non solo in città.", "it"),
        ("Die Bäume stehen nicht nur in Städten.", "de"),
        ("sean o no consecutivos", "es"),
        ("Hastane kurulabilir.", "tr"),
    ],
)
def test_a_negation_that_denies_nothing_is_passed_over(text: str, language: str) -> None:
    assert not denies(text, language)


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("Visitors may not enter without a permit.", "en", 2),
        ("It is neither open nor free.", "en", 1),
        ("Les visiteurs ne peuvent jamais entrer.", "fr", 1),
        ("I visitatori non possono mai entrare senza permesso.", "it", 2),
        ("No pueden entrar nunca.", "es", 1),
        ("Hunde sind nicht verboten.", "de", 2),
        ("Não é proibido entrar.", "pt", 2),
        ("Hiçbir ziyaretçi giremez.", "tr", 1),
    ],
)
def test_words_that_deny_together_are_one_negation(text: str, language: str, count: int) -> None:
    assert negations(text, language) == count


def test_a_number_has_its_likeliest_value_and_others() -> None:
    assert numbers("1.107 Euro", "de") == {"1.107": 1107}
    assert number_readings("1.107 Euro", "de") == {1107, 1.107}


def test_the_digits_of_a_name_are_no_number_of_its_own() -> None:
    assert own_numbers("Under Regulation 2021/1119 and 1/CP.21, COVID-19 cases rose by 40.", "en") == {40}


@pytest.mark.parametrize(
    ("text", "language", "names"),
    [
        ("The 14th report of the WHO on Dublin names section 12A, 40m high.", "en", ["WHO", "Dublin", "12A"]),
        ("Die Daten des DWD und der GmbH", "de", ["DWD", "GmbH"]),
        ("La valle dell'Aterno", "it", ["Aterno"]),
    ],
)
def test_names_are_told_from_first_words_and_numbers(text: str, language: str, names: list[str]) -> None:
    assert names_in(text, language) == names


def test_a_clause_is_denied_for_itself() -> None:
    found = clauses("Le pene non possono consistere in trattamenti inumani e devono tendere alla rieducazione.", "it")
    assert [clause.denied for clause in found] == [True, False]


def test_a_turkish_participle_does_not_deny_its_clause() -> None:
    (clause,) = clauses("Payını ödemeyen malik gecikme tazminatı ödemekle yükümlüdür", "tr")
    assert not clause.denied


def test_a_text_denies_throughout_only_if_each_of_its_sentences_does() -> None:
    assert denies_throughout("Data are not personal. They may not be sold.", "en")
    assert not denies_throughout("Data are not personal. They may be sold.", "en")


def test_a_limit_says_the_same_with_and_without_a_negation() -> None:
    assert limits("at most two members", "en")
    assert not limits("two members", "en")


@pytest.mark.parametrize(
    ("text", "language", "kinds"),
    [
        ("All countries must always report.", "en", {"all", "always"}),
        ("The committee reports every year.", "en", set()),
        ("8 % aller Wohnungen stehen leer.", "de", set()),
        ("Tutti gli organi sono eletti.", "it", {"all"}),
        ("Her binada daima bir yönetici bulunur.", "tr", {"all", "always"}),
        ("No expenses may be carried over; not even any interest.", "en", set()),
    ],
)
def test_words_that_hold_for_all_are_told_from_narrow_ones(text: str, language: str, kinds: set[str]) -> None:
    assert set(universals(text, language)) == kinds


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("## Emission targets", "en"),
        ("**Targets**", "en"),
        ("The sources say the following:", "en"),
        ("Here is a summary of the provided documents.", "en"),
        ("The sources do not mention the costs of the programme.", "en"),
        ("Le fonti dicono quanto segue:", "it"),
        ("Les documents fournis ne précisent pas le coût.", "fr"),
        ("Die Quellen sagen Folgendes:", "de"),
        ("Las fuentes indican lo siguiente:", "es"),
        ("As fontes dizem o seguinte:", "pt"),
        ("Kaynaklar aşağıdakileri belirtiyor:", "tr"),
    ],
)
def test_what_speaks_of_the_sources_alone_states_nothing(sentence: str, language: str) -> None:
    assert states_nothing(sentence, language)


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("The dyke was raised in 1953.", "en"),
        ("The documents must be kept for ten years.", "en"),
        ("Article 8 provides no basis for liability.", "en"),
        ("Das Land trägt die Kosten.", "de"),
    ],
)
def test_a_statement_is_a_claim(sentence: str, language: str) -> None:
    assert not states_nothing(sentence, language)
