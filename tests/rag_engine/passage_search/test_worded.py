"""Words are found in a passage or anywhere in a document; words left out leave the neighbours too."""

from collections.abc import Iterator

import pytest

from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.passage_search.describe import describe_found, describe_refusal, describe_scattered
from rag_engine.passage_search.evidence import search_evidence
from rag_engine.passage_search.facet_counts import worded_documents
from rag_engine.passage_search.find import find_passages
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.passages import found_json, read_passages
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import Written, indexed

FLOODS = "Floods come in spring to the valley of the Lune, and the wardens close the low road to the mill. " * 6
BOTH = "Floods come in spring and drought comes in summer to the valley of the Ore and its seven villages. " * 6
SIREN = "The siren on the roof of the town hall sounds for one minute when the river passes the red mark. " * 6
BOATS = "The procurement of boats follows the rules of the county and is checked by the auditor each autumn. " * 6
SEQUIA = "Las inundaciones y la sequía afectan al valle del Duero cada año y a sus pueblos. " * 6
WARD = "The wardens know which roads are closed and who brings bread to the school in the hours after it. " * 6


@pytest.fixture(scope="module")
def valley(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield an engine over four documents, one of which has its words on different pages."""
    written = [
        Written("Lune", (FLOODS,)),
        Written("Ore", (BOTH,)),
        Written("Handbook of Brackwater", (SIREN, WARD, BOATS)),
        Written(
            "Riesgos", ("Las inundaciones y la sequía afectan al valle del Duero cada año y a sus pueblos. " * 6,), "es"
        ),
    ]
    engine = indexed(tmp_path_factory.mktemp("valley") / "workspace", CountingEmbedder(), written)
    yield engine
    engine.close()


def titles(engine: Engine, words: str, *, anywhere: bool = False) -> set[str]:
    found = find_passages(engine, PassageQuery(words, anywhere=anywhere))
    return {group.document.metadata.title for group in found.documents}


@pytest.mark.parametrize(
    "words", ["floods -drought", "floods NOT drought", "floods but not drought", "flood* -(drought OR famine)"]
)
def test_what_is_left_out_is_neither_found_nor_near(valley: Engine, words: str) -> None:
    found = find_passages(valley, PassageQuery(words))
    passages = list(read_passages(valley, found, found.matches))
    assert titles(valley, words) == {"Lune"}
    assert all("drought" not in one.hit.text and "sequía" not in one.hit.text for one in passages)
    assert "without" in describe_found(found)
    assert found_json(found, passages)["searched"] in describe_found(found)


def test_either_of_two_and_the_beginning_of_a_word_are_found(valley: Engine) -> None:
    assert titles(valley, "drought OR siren") == {"Ore", "Handbook of Brackwater"}
    assert titles(valley, "procure*") == {"Handbook of Brackwater"}
    told = describe_found(find_passages(valley, PassageQuery("procure* OR drought")))
    assert told.endswith("match. Searched for words that begin with “procure” or “drought”.")


def test_words_that_only_leave_out_are_refused(valley: Engine) -> None:
    with pytest.raises(InputError, match="Nothing is left"):
        find_passages(valley, PassageQuery("-drought"))


def test_words_on_different_pages_are_told_of_and_found_anywhere_in_the_document(valley: Engine) -> None:
    query = PassageQuery("siren procurement", words_only=True)
    found = find_passages(valley, query)
    assert not len(found)
    assert describe_scattered(found) in found_json(found, ())["warnings"]
    assert describe_scattered(found) in describe_refusal((), found)
    anywhere = find_passages(valley, PassageQuery("siren procurement", words_only=True, anywhere=True))
    assert [group.document.metadata.title for group in anywhere.documents] == ["Handbook of Brackwater"]
    first, second = list(read_passages(valley, anywhere, anywhere.matches))[:2]
    assert {"siren", "procurement"} == {one.hit.text[slice(*one.marks[0])] for one in (first, second)}
    assert not found_json(anywhere, [first])["passages"][0]["all_words"]
    assert not anywhere.scattered


def test_a_word_of_the_title_counts_anywhere_in_the_document(valley: Engine) -> None:
    assert titles(valley, "Brackwater siren procurement", anywhere=True) == {"Handbook of Brackwater"}
    assert not titles(valley, "Brackwater siren -procurement", anywhere=True)
    assert not titles(valley, "Selby siren", anywhere=True)


def test_a_phrase_brings_no_neighbours_unless_they_are_asked_for(valley: Engine) -> None:
    assert not find_passages(valley, PassageQuery("“siren on the roof”")).near
    assert not find_passages(valley, PassageQuery("“siren on the roof")).near
    assert find_passages(valley, PassageQuery("sirens in spring")).near
    assert find_passages(valley, PassageQuery("“siren on the hill”", words_only=False)).near


def test_facets_count_what_the_words_find(valley: Engine) -> None:
    found = find_passages(valley, PassageQuery("drought"))
    counted = worded_documents(valley, found)
    assert counted == {group.document.key for group in found.documents}
    assert len(counted) == found.matching == 1


def test_ranked_evidence_leaves_out_as_well_and_says_so(valley: Engine) -> None:
    evidence = search_evidence(valley, "floods but not drought", {}, valley.retrieval(top_k=3))
    assert evidence.hits
    assert len(evidence.hits) <= 3
    assert all("drought" not in hit.text for hit in evidence.hits)
    assert "Searched for “floods”, without “drought”." in evidence.warnings[0]
    plain = search_evidence(valley, "floods and drought", {}, valley.retrieval(top_k=3))
    assert any("drought" in hit.text for hit in plain.hits)
    assert not any("Searched for" in warning for warning in plain.warnings)
