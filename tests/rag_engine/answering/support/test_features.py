import pytest

from rag_engine.answering.support import CitedPassage, SupportEvidence, evidence_for, facts_of

KYOTO = (
    "Decides that the sixth session of the Conference of the Parties shall be held in The Hague, the Netherlands, "
    "from 13 to 24 November 2000"
)

GULLS = {"passage": "Die GLWQI nahm an, dass Möwen 6 % der Nahrung ausmachen.", "written": "de"}


def evidence(sentence: str, language: str = "en", passage: str = KYOTO, written: str = "en") -> SupportEvidence:
    return evidence_for(sentence, language, CitedPassage(passage, written, facts_of(passage, written), 0.8))


@pytest.mark.parametrize(
    ("kind", "sentence", "missing", "given"),
    [
        ("numbers", "The session lasts forty days.", ("forty",), {}),
        ("numbers", "7. The session is held in The Hague.", (), {}),
        ("numbers", "It lasts 2 days.", ("2",), {"passage": "2. The session is held in The Hague."}),
        ("dates", "It is held on 24 November 2000, not on 24 November 2001.", ("24 November 2001",), {}),
        ("places", "La sessione si tiene nei Paesi Bassi.", (), {"language": "it"}),
        ("places", "La sessione si tiene in Germania.", ("Germany",), {"language": "it"}),
        ("names", "FAO assumed that gulls are 6% of the diet.", ("FAO",), GULLS),
        ("names", "The GLWQI assumed that gulls are 6% of the diet.", (), GULLS),
        ("universals", "All sessions are held in The Hague.", ("all",), {}),
        ("universals", "All sessions are held.", (), {"passage": "Every session is held."}),
    ],
)
def test_what_the_passage_lacks_is_named_as_it_is_written_whatever_the_language(
    kind: str, sentence: str, missing: tuple[str, ...], given: dict[str, str]
) -> None:
    assert getattr(evidence(sentence, **given), kind) == missing


def test_a_paraphrase_lacks_nothing() -> None:
    found = evidence("The sixth session takes place in The Hague from 13 to 24 November 2000.")
    assert (found.numbers, found.dates, found.places, found.names, found.universals) == ((), (), (), (), ())
    assert (found.denied, found.affirmed, found.turned) == (False, False, 0.0)


def test_a_translation_lacks_nothing() -> None:
    found = evidence("Altıncı oturum 13-24 Kasım 2000 tarihlerinde Hollanda'da yapılacaktır.", "tr")
    assert (found.numbers, found.dates, found.places, found.translated) == ((), (), (), True)


def test_a_negation_of_the_sentence_alone_and_of_the_passage_alone_are_told_apart() -> None:
    assert evidence("The sixth session shall not be held in The Hague.").denied
    assert evidence("The session is held.", passage="The session is not held.").affirmed
    limit = evidence("The duty lasts at most ten days.", passage="The duty may not exceed ten days.")
    assert not limit.affirmed, "a limit is no denial"


def test_the_share_of_the_words_that_one_alone_denies_is_counted_by_clause() -> None:
    passage = "Punishments may not be inhuman and shall aim at education."
    assert evidence("Punishments shall not aim at education.", passage=passage).turned > 0.5
    assert evidence("Punishments shall aim at education.", passage=passage).turned < 0.5
