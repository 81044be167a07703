import pytest

from rag_engine.loopback import is_loopback


@pytest.mark.parametrize("host", ["localhost", "model.localhost", "127.0.0.1", "127.8.9.1", "::1", "[::1]"])
def test_this_machine_is_known_by_its_addresses(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "10.0.0.1", "localhost.example.org", "127.0.0.1.example.org", "::2"])
def test_another_machine_is_not_taken_for_this_one(host: str) -> None:
    assert not is_loopback(host)
