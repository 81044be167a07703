import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.answering.bundle import AnswerBundle, AskedQuestion, KeptAnswer, bundle_of, read_bundle, write_bundle
from rag_engine.answering.circumstances import Circumstances, shareable, shareable_settings
from rag_engine.config import Config, read_config
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.types.answer import Answer, Citation
from rag_engine.types.evidence import QueryPlan
from rag_engine.types.language_model import Prompt
from tests.rag_engine.conftest import make_evidence, make_source

KEY = "sk-secret-4711"
MakeBundle = Callable[..., AnswerBundle]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    given = read_config(tmp_path / "my documents" / "workspace")
    generation = replace(given.generation, openai_url="http://me:word@10.0.0.1/v1", openai_key=KEY)
    return replace(given, generation=generation, encoder=str(tmp_path / "models" / "e5"))


@pytest.fixture
def make_bundle(config: Config) -> MakeBundle:
    """Return the bundle of an answer from one source, with these warnings."""

    def make(text: str = "The mayor. [Source 1]", warnings: tuple[str, ...] = ()) -> AnswerBundle:
        source = make_source(1, "The mayor orders it.")
        evidence = make_evidence("Who orders it?", [source])
        evidence = replace(evidence, plan=replace(evidence.plan, warnings=tuple(map(Message, warnings))))
        citation = Citation(1, source.hits[0].child_id, "d", "1.pdf", "Plan", 3, "The mayor orders it.", 0, 20)
        answer = Answer(
            "answered", text, (citation,), evidence, "openai//models/small.gguf", tuple(map(Message, warnings))
        )
        prompt = Prompt("Rules", "Sources", evidence.plan, (source,), (), 40, 512, 0.3)
        made_with = Circumstances(
            "openai/small.gguf", "", "e5", 3, "f" * 64, shareable_settings(config), {"sextant": "1"}
        )
        asked = AskedQuestion("Who orders it?", {"hazard": ("Flood",)}, top_k=5)
        return bundle_of(asked, answer, prompt, made_with, config)

    return make


def rewritten(path: Path, name: str, content: bytes) -> None:
    """Put another content in the place of a member, without the manifest's knowledge."""
    with zipfile.ZipFile(path) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, kept in (members | {name: content}).items():
            archive.writestr(member, kept)


def test_a_bundle_is_read_as_it_was_written(tmp_path: Path, make_bundle: MakeBundle) -> None:
    bundle = make_bundle()
    write_bundle(tmp_path / "kept.zip", bundle)
    assert read_bundle(tmp_path / "kept.zip") == bundle


def test_the_same_bundle_is_the_same_file(tmp_path: Path, make_bundle: MakeBundle) -> None:
    for name in ("one.zip", "other.zip"):
        write_bundle(tmp_path / name, make_bundle())
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()


def test_a_bundle_knows_no_path_and_no_key(tmp_path: Path, make_bundle: MakeBundle, config: Config) -> None:
    warnings = (
        f"Workspace {config.workspace} is locked.",
        f"http://me:word@10.0.0.1/v1 refuses {KEY}.",
        "No file /etc/sextant/rules.toml.",
    )
    write_bundle(tmp_path / "kept.zip", make_bundle(warnings=warnings))
    with zipfile.ZipFile(tmp_path / "kept.zip") as archive:
        whole = "\n".join(archive.read(name).decode() for name in archive.namelist())
    assert not [word for word in (str(tmp_path), str(Path.home()), KEY, "me:word", "/etc/", "/models") if word in whole]
    assert "No file rules.toml." in whole


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See https://example.org/a/b/c.", "See https://example.org/a/b/c."),
        ("sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("30/40/50 and/or 1/2", "30/40/50 and/or 1/2"),
        ("in C:\\Users\\me\\plan.pdf today", "in plan.pdf today"),
        ("in '/data/plans/2020/plan.pdf'", "in 'plan.pdf'"),
    ],
)
def test_only_a_path_is_cut_to_its_name(text: str, shown: str, config: Config) -> None:
    assert shareable(text, config) == shown


@given(data=st.data())
def test_a_damaged_bundle_is_refused_or_says_the_same(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = _whole(tmp_path_factory)
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = data.draw(st.binary(min_size=1, max_size=4))
    path = tmp_path_factory.mktemp("damaged") / "kept.zip"
    path.write_bytes(whole[:place] + changed + whole[place + len(changed) :])
    # Bytes that say nothing, as the time of a member, may be any.
    with suppress(InputError):
        assert read_bundle(path).answer.text == "The mayor."


@given(content=st.binary(max_size=200))
def test_any_other_file_is_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("other") / "kept.zip"
    path.write_bytes(content)
    with pytest.raises(InputError):
        read_bundle(path)


@pytest.mark.parametrize(
    ("member", "content", "said"),
    [
        ("answer.json", b"{}", "is not an answer that"),
        ("prompt.json", b" " * 5_000_000, r"prompt\.json is too large"),
        ("manifest.json", b'{"format": "sextant-answer", "version": 2}', "has version 2"),
    ],
    ids=["changed", "unpacks to megabytes", "of a later version"],
)
def test_a_member_that_is_not_as_it_was_written_is_refused(
    tmp_path: Path, make_bundle: MakeBundle, member: str, content: bytes, said: str
) -> None:
    write_bundle(tmp_path / "kept.zip", make_bundle())
    rewritten(tmp_path / "kept.zip", member, content)
    assert (tmp_path / "kept.zip").stat().st_size < 100_000
    with pytest.raises(InputError, match=said):
        read_bundle(tmp_path / "kept.zip")


def test_a_missing_file_is_named_and_a_zip_of_other_files_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "kept.zip", "w") as archive:
        archive.writestr("../../evil.txt", "x")
    with pytest.raises(InputError, match=r"nothing\.zip"):
        read_bundle(tmp_path / "nothing.zip")
    with pytest.raises(InputError, match="it holds other files"):
        read_bundle(tmp_path / "kept.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.zip"]


def test_a_huge_file_is_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "kept.zip").open("wb") as file:
        file.truncate(9_000_000)
    with pytest.raises(InputError, match="9,000,000 bytes"):
        read_bundle(tmp_path / "kept.zip")


def test_a_folder_that_is_missing_is_named(tmp_path: Path, make_bundle: MakeBundle) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_bundle(tmp_path / "nowhere" / "kept.zip", make_bundle())


def _whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a small bundle."""
    path = tmp_path_factory.mktemp("whole") / "kept.zip"
    answer = KeptAnswer("answered", "The mayor.", (), "extractive", ())
    made_with = Circumstances("extractive", "", "e5", 1, "f", {}, {})
    write_bundle(
        path, AnswerBundle(AskedQuestion("Who?", {}), QueryPlan("Who?", "en", ("Who?",)), (), None, answer, made_with)
    )
    return path.read_bytes()
