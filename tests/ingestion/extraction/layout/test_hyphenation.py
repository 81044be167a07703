from __future__ import annotations

from ingestion.extraction.layout.hyphenation import join_lines, vocabulary_of


def joined(first: str, second: str, document: str = "") -> str:
    lines = join_lines([(first, None), (second, None)], vocabulary_of([document]))
    return "".join(line.text + line.joint for line in lines).strip()


def test_a_word_cut_at_the_line_end_is_made_whole() -> None:
    assert joined("die Katastrophen-", "hilfe") == "die Katastrophenhilfe"


def test_a_soft_hyphen_always_goes() -> None:
    assert joined("Katas\u00ad", "trophe") == "Katastrophe"


def test_a_compound_keeps_the_hyphen_it_has_elsewhere() -> None:
    assert joined("an economy-", "wide target", "the economy-wide plan") == "an economy-wide target"


def test_a_hyphen_that_stands_for_the_rest_of_a_compound_stays() -> None:
    assert joined("Haus-", "und Hofschutz") == "Haus- und Hofschutz"


def test_a_name_goes_on_in_upper_case_with_its_hyphen() -> None:
    assert joined("Baden-", "Württemberg") == "Baden-Württemberg"


def test_a_dash_is_no_hyphen() -> None:
    assert joined("the plan -", "a law") == "the plan - a law"
