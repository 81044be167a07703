from __future__ import annotations

from rag_engine.answering.support import CitedPassage, SupportEvidence, evidence_for, facts_of

KYOTO = (
    "Decides that the sixth session of the Conference of the Parties shall be held in The Hague, the Netherlands, "
    "from 13 to 24 November 2000"
)


def evidence(sentence: str, language: str = "en", passage: str = KYOTO, written: str = "en") -> SupportEvidence:
    return evidence_for(sentence, language, CitedPassage(passage, written, facts_of(passage, written), 0.8))


def test_a_paraphrase_lacks_nothing() -> None:
    found = evidence("The sixth session takes place in The Hague from 13 to 24 November 2000.")
    assert (found.numbers, found.dates, found.places, found.names, found.universals) == ((), (), (), (), ())
    assert (found.denied, found.affirmed, found.turned) == (False, False, 0.0)


def test_a_translation_lacks_nothing() -> None:
    found = evidence("Altıncı oturum 13-24 Kasım 2000 tarihlerinde Hollanda'da yapılacaktır.", "tr")
    assert (found.numbers, found.dates, found.places, found.translated) == ((), (), (), True)


def test_a_number_that_is_not_in_the_sources_is_named_as_it_is_written() -> None:
    assert evidence("The session lasts forty days.").numbers == ("forty",)


def test_the_number_of_an_item_is_neither_asked_for_nor_evidence() -> None:
    assert evidence("7. The session is held in The Hague.").numbers == ()
    assert evidence("It lasts 2 days.", passage="2. The session is held in The Hague.").numbers == ("2",)


def test_another_year_of_the_same_day_is_another_date() -> None:
    assert evidence("It is held on 24 November 2000, not on 24 November 2001.").dates == ("24 November 2001",)


def test_a_country_is_known_by_its_name_in_another_language() -> None:
    assert evidence("La sessione si tiene nei Paesi Bassi.", "it").places == ()
    assert evidence("La sessione si tiene in Germania.", "it").places == ("Germany",)


def test_an_acronym_that_the_passage_does_not_have_is_missing_in_any_language() -> None:
    passage = "Die GLWQI nahm an, dass Möwen 6 % der Nahrung ausmachen."
    assert evidence("FAO assumed that gulls are 6% of the diet.", passage=passage, written="de").names == ("FAO",)
    assert evidence("The GLWQI assumed that gulls are 6% of the diet.", passage=passage, written="de").names == ()


def test_a_negation_of_the_sentence_alone_and_of_the_passage_alone_are_told_apart() -> None:
    assert evidence("The sixth session shall not be held in The Hague.").denied
    assert evidence("The session is held.", passage="The session is not held.").affirmed


def test_a_limit_is_no_denial() -> None:
    found = evidence("The duty lasts at most ten days.", passage="The duty may not exceed ten days.")
    assert not found.affirmed


def test_the_share_of_the_words_that_one_alone_denies_is_counted_by_clause() -> None:
    passage = "Punishments may not be inhuman and shall aim at education."
    assert evidence("Punishments shall not aim at education.", passage=passage).turned > 0.5
    assert evidence("Punishments shall aim at education.", passage=passage).turned < 0.5


def test_a_word_for_all_counts_only_where_the_passage_has_none_of_its_kind() -> None:
    assert evidence("All sessions are held in The Hague.").universals == ("all",)
    assert evidence("All sessions are held.", passage="Every session is held.").universals == ()
