"""Any vector store holds, replaces and deletes, and filters as the catalog does."""

import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.serve.protection import LOOPBACK
from cli.serve.servers import free_port
from rag_engine.backends import chroma
from rag_engine.backends.chroma import connect_chroma, open_chroma
from rag_engine.filters import DATED, FACETS, Filter, allowed_documents, facet_values, facets_of, store_filter
from rag_engine.protocols import ChildFacets, VectorIndex
from rag_engine.types.document import Metadata
from tests.rag_engine.memory_stores import MemoryVectorIndex

NONE = Metadata("Plan", "", year=None)
# Documents by their keys, each of one passage of the same key.
DOCUMENTS = dict(
    enumerate(
        [
            NONE,
            replace(NONE, language="en", hazards=("Flood",), countries=("France",), year=2015, document_type="Act"),
            replace(NONE, language="fr", hazards=("Flood", "Heat wave"), countries=("France", "Italy"), year=2019),
            replace(
                NONE, language="it", hazards=("Heat wave",), countries=("Italy",), year=2020, authority="Il Comune"
            ),
            replace(
                NONE, language="it", geographical_level="National", document_type="Plan", authority='O\'Neill, "A"'
            ),
            replace(NONE, language="de", hazards=("Überschwemmung",), year=2019, geographical_level="Local"),
        ],
        start=1,
    )
)
VALUES = {
    name: sorted({one for held in DOCUMENTS.values() for one in facets_of(held)[name]}) for name in (*FACETS, DATED)
}
STORED = {
    name: {value: frozenset(key for key, one in DOCUMENTS.items() if value in facets_of(one)[name]) for value in values}
    for name, values in VALUES.items()
}


def described(key: int, metadata: Metadata) -> ChildFacets:
    return {
        "document": key,
        "hazard": list(metadata.hazards),
        "country": list(metadata.countries),
        "geographical_level": metadata.geographical_level,
        "language": metadata.language,
        "document_type": metadata.document_type,
        "year": metadata.year,
        "issuing_authority": metadata.authority,
    }


def filled(store: VectorIndex) -> VectorIndex:
    keys = np.array(list(DOCUMENTS), np.int64)
    vectors = np.eye(len(keys), dtype=np.float32)
    store.add(keys, vectors, ["-"] * len(keys), [described(key, one) for key, one in DOCUMENTS.items()])
    return store


STORES = ["Chroma", "Chroma's server", "memory"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a Chroma server, as its own command starts it."""
    folder, program = tmp_path_factory.mktemp("server"), f"{sysconfig.get_path('scripts')}/chroma"
    with free_port() as port:
        command = [program, "run", "--host", LOOPBACK, "--port", str(port), "--path", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            with httpx.Client(transport=httpx.HTTPTransport(retries=8), timeout=60) as client:
                client.get(f"http://{LOOPBACK}:{port}/api/v2/heartbeat").raise_for_status()
            yield f"http://{LOOPBACK}:{port}"
            process.terminate()


@contextmanager
def opened(request: pytest.FixtureRequest, folder: Path, name: str) -> Iterator[VectorIndex]:
    """Give a store of the documents."""
    if request.param == "memory":
        yield filled(MemoryVectorIndex())
        return
    if request.param == "Chroma":
        with closing(open_chroma(folder, name)) as store:
            yield filled(store)
        return
    address = request.getfixturevalue("address")
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        # Chroma's client for a server leaves its sockets open when it is closed (1.5.9).
        new_client = httpx.Client
        patch.setattr(httpx, "Client", lambda **options: stack.enter_context(closing(new_client(**options))))
        yield filled(stack.enter_context(closing(connect_chroma(address, name))))


@pytest.fixture(scope="module", params=STORES)
def held(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorIndex]:
    """Yield a store of the documents, which no test changes."""
    with opened(request, tmp_path_factory.mktemp("chroma"), "any-1") as store:
        yield store


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    """Yield a store of the documents."""
    with opened(request, tmp_path, f"{tmp_path.name}-1") as store:
        yield store


def asked_for(name: str) -> st.SearchStrategy[tuple[str, ...]]:
    """Return values of a facet as people write them, a range of years among them."""
    written = st.sampled_from(VALUES[name]).flatmap(lambda one: st.sampled_from([one, one.upper(), one.lower()]))
    if name == "year":
        written |= st.sampled_from(["2016-2019", "2016-", "..2019", "1900-1901"])
    return st.lists(written, min_size=1, max_size=3).map(tuple)


filters = st.fixed_dictionaries({}, optional={name: asked_for(name) for name in FACETS} | {DATED: st.just(("only",))})


@given(filters, st.none() | st.frozensets(st.sampled_from(sorted(DOCUMENTS))))
@settings(max_examples=150, deadline=None)
def test_a_store_filters_as_the_catalog_does(
    held: VectorIndex, wanted: Filter, documents: frozenset[int] | None
) -> None:
    allowed = allowed_documents(wanted, STORED)
    expected = frozenset(DOCUMENTS) if allowed is None else allowed
    expected = expected if documents is None else expected & documents
    facets, within = store_filter(wanted, STORED, allowed if documents is None else expected)
    assert held.filter(facets=facets, documents=within) == expected
    query = np.ones((2, len(DOCUMENTS)), np.float32)
    for keys, _ in held.search(query, len(DOCUMENTS), facets=facets, documents=within):
        assert sorted(keys.tolist()) == sorted(expected)


def test_a_value_that_is_stored_nowhere_finds_nothing(held: VectorIndex) -> None:
    facets = facet_values({"hazard": ("Volcano",)}, STORED)
    assert held.filter(facets=facets) == set()
    assert held.search(np.ones((1, len(DOCUMENTS)), np.float32), 3, facets=facets)[0][0].size == 0


def test_the_nearest_come_first_with_their_cosines(held: VectorIndex) -> None:
    query = np.array([[0.0, 0.8, 0.6, 0.0, 0.0, 0.0]], np.float32)
    [(keys, cosines)] = held.search(query, 2)
    assert keys.tolist() == [2, 3]
    assert cosines == pytest.approx([0.8, 0.6], abs=1e-5)


def test_what_is_added_again_takes_the_place_of_all_that_was_said_before(store: VectorIndex) -> None:
    store.add(np.array([2]), np.eye(len(DOCUMENTS), dtype=np.float32)[:1], ["-"], [described(2, NONE)])
    assert len(store) == len(DOCUMENTS)
    assert store.filter(facets={"hazard": ["Flood"]}) == {3}
    assert store.filter(facets={"year": ["2015"]}) == set()
    assert store.search(np.eye(len(DOCUMENTS), dtype=np.float32)[1:2], 1)[0][1] < 0.5


def test_what_is_deleted_is_found_by_nothing(store: VectorIndex) -> None:
    store.delete(np.array([1, 3, 99]))
    assert store.filter() == {2, 4, 5, 6}
    assert len(store) == 4
    assert 3 not in store.search(np.eye(len(DOCUMENTS), dtype=np.float32)[2:3], 6)[0][0].tolist()


def test_many_documents_are_asked_for_in_batches(store: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "_BATCH", 2)
    query = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]], np.float32)
    [(keys, cosines)] = store.search(query, 3, documents=[1, 3, 4, 5, 6])
    assert keys.tolist() == [6, 5, 4]
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)
    assert store.filter(documents=[1, 2, 3, 4, 99]) == {1, 2, 3, 4}
