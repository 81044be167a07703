"""A typed search is read once: operators, phrases, beginnings of words and negations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.text.words.search_words import Every, Node, SearchTerm, Some, Without, read_search


def shown(node: Node[SearchTerm]) -> str:
    if isinstance(node, Without):
        return f"-{shown(node.part)}"
    if isinstance(node, Every | Some):
        return "(" + (" " if isinstance(node, Every) else "|").join(map(shown, node.parts)) + ")"
    return f"“{node.text}”" if node.phrase else node.text


def read(text: str) -> str:
    return " ".join(map(shown, read_search(text).tree.parts))


@pytest.mark.parametrize(
    ("typed", "tree"),
    [
        ("flood -drought", "flood -drought"),
        ("flood –drought", "flood -drought"),
        ("flood NOT drought", "flood -drought"),
        ("flood NOT the drought", "flood -drought"),
        ("Sturm NICHT Dürre", "Sturm -Dürre"),
        ('flood -"heat wave"', "flood -“heat wave”"),
        ("flood -(heat OR fire)", "flood -(heat|fire)"),
        ("flood OR storm evacuation", "(flood|storm) evacuation"),
        ("flood AND warning OR storm", "((flood warning)|storm)"),
        ("flood AND (storm OR surge) NOT heat", "flood (storm|surge) -heat"),
        ("Hochwasser ODER Sturm", "(Hochwasser|Sturm)"),
        ("inondation OU tempête", "(inondation|tempête)"),
        ("flood || storm", "(flood|storm)"),
        ("+flood && storm", "flood storm"),
        ("OR flood AND", "flood"),
        ("((flood) OR storm", "(flood|storm)"),
        ("flood) storm", "flood storm"),
        ("resilien* town", "resilien* town"),
        ("a* *", "a"),
        ("«piano di emergenza» acqua", "“piano di emergenza” acqua"),
        ("„Warnung vor Hochwasser“", "“Warnung vor Hochwasser”"),
        ("'plan canicule' d'été", "“plan canicule” d'été"),
        ('12" pipe', "12 pipe"),
        ("10 000 houses", "10 000 houses"),
        ("risk-based plan 5(2)(a)", "risk-based plan 5(2)(a)"),
        ("a winter of -5 °C", "a winter of -5 °C"),
        ("floods – droughts", "floods droughts"),
        ("§ 5 (EU)", "§ 5 EU"),
    ],
)
def test_operators_join_and_leave_out(typed: str, tree: str) -> None:
    assert read(typed) == tree


@pytest.mark.parametrize(
    ("typed", "tree", "plain"),
    [
        ("floods but not drought", "floods -drought", "floods"),
        ("floods but not drought in Spain", "floods -drought in Spain", "floods in Spain"),
        ("Which plans name floods but not forest fires or heat?", "", "Which plans name floods"),
        ("floods, not drought", "floods -drought", "floods"),
        ("floods except for “flash floods”", "floods -“flash floods”", "floods"),
        ("Hochwasser, aber nicht Dürre", "Hochwasser -Dürre", "Hochwasser"),
        ("Hochwasser, aber keine Dürre", "Hochwasser -Dürre", "Hochwasser"),
        ("inundaciones pero no la sequía", "inundaciones -sequía", "inundaciones"),
        ("inondations mais pas de sécheresse", "inondations -sécheresse", "inondations"),
        ("l’eau sauf l’incendie", "l’eau -l’incendie", "l’eau"),
        ("alluvioni ma non siccità", "alluvioni -siccità", "alluvioni"),
        ("inundações mas não seca", "inundações -seca", "inundações"),
        ("sel ama kuraklık değil", "sel -kuraklık", "sel"),
        ("sel, kuraklık hariç", "sel -kuraklık", "sel"),
    ],
)
def test_a_plain_question_leaves_out_what_it_says(typed: str, tree: str, plain: str) -> None:
    assert read(typed) == tree or not tree
    assert read_search(typed).plain == plain


@pytest.mark.parametrize(
    "typed",
    [
        "floods and storms or fires",
        "including but not limited to drought",
        "not later than May",
        "plans approved but not implemented",
        "What must NOT be published?",
        "Was darf NICHT gezeigt werden?",
        "Pläne genehmigt, aber nicht veröffentlicht, in Bayern",
        "areas without drought",
        "kuraklık değil",
        "l'eau et l'air",
        "residents' plan of the cities'",
    ],
)
def test_a_negation_in_another_sense_leaves_nothing_out(typed: str) -> None:
    search = read_search(typed)
    assert not search.operated
    assert search.plain == typed


def test_a_phrase_that_is_not_closed_goes_to_the_end() -> None:
    search = read_search('flood "early warning')
    assert read('flood "early warning') == "flood “early warning”"
    assert (search.unclosed, search.phrased, search.operated) == (True, True, True)
    assert not read_search('flood "early warning"').unclosed


@pytest.mark.parametrize("piece", ["(", "NOT ", "-(", "a but not b ", '"a ', "'a ", "a OR "])
@pytest.mark.parametrize("length", [1000, 100_000])
def test_a_text_of_operators_is_read_as_well(piece: str, length: int) -> None:
    assert read_search((piece * length)[:length])


@given(st.text(alphabet="ab -–\"“”„«»'’()*|&,.OR NT§5", max_size=40))
def test_any_text_is_read(text: str) -> None:
    search = read_search(text)
    assert search.plain == text or search.operated
