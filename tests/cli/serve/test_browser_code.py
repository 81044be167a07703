"""Streamlit's code from memory: what a browser gets of it, and what Streamlit answers itself."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from cli.serve.browser_code import with_code_in_memory


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    folder = tmp_path / "static"
    (folder / "js").mkdir(parents=True)
    (folder / "js" / "index.Dorm.js").write_text("export {}", encoding="utf-8")
    (folder / "mark.woff2").write_bytes(b"\x00wOF2")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    return TestClient(with_code_in_memory(PlainTextResponse("Streamlit"), folder))


def test_a_file_comes_whole_with_its_kind_and_stays_with_the_browser(client: TestClient) -> None:
    for _ in range(2):
        code = client.get("/static/js/index.Dorm.js")
        assert (code.text, code.status_code) == ("export {}", 200)
        assert code.headers["content-type"].split(";")[0] in ("text/javascript", "application/javascript")
        assert code.headers["cache-control"] == "public, immutable, max-age=31536000"
    font = client.get("/static/mark.woff2")
    assert (font.content, font.headers["content-type"]) == (b"\x00wOF2", "font/woff2")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/static/js/other.js", {}),
        ("/static/js", {}),
        ("/static/../secret.txt", {}),
        ("/static/%2e%2e/secret.txt", {}),
        ("/library", {}),
        ("/static/js/index.Dorm.js", {"range": "bytes=0-3"}),
        ("/static/js/index.Dorm.js", {"if-none-match": '"1"'}),
    ],
)
def test_another_request_is_streamlits(client: TestClient, path: str, headers: dict[str, str]) -> None:
    assert client.get(path, headers=headers).text == "Streamlit"


def test_another_method_is_streamlits(client: TestClient) -> None:
    assert client.post("/static/js/index.Dorm.js").text == "Streamlit"
