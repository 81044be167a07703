"""Logging in, where secrets.toml names a provider, and what is recorded of who is logged in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from ingestion.jobs.queue import JobQueue
from ingestion.operations.acts import ACTS
from ingestion.records.people import give_role, known_people
from pages._ask.turn_key import turn_key
from pages._shared import login, resources
from rag_engine.conversations import store
from rag_engine.conversations.feedback import rated_answers
from rag_engine.conversations.person import Person
from rag_engine.evaluation.answers.own_questions import read_own_questions
from rag_engine.settings import read_settings
from tests.conftest import ROOT
from tests.pages.sources import build_sources
from tests.rag_engine.conversations.test_store import REPLY

AUTH = {"auth": {"redirect_uri": "https://sextant.example.org/oauth2callback", "cookie_secret": "x", "client_id": "y"}}
ADA = {"is_logged_in": True, "name": "Ada Lovelace", "email": "ada@example.org", "sub": "7"}
BOB = {"is_logged_in": True, "name": "Bob", "email": "Bob@Example.org", "sub": "8"}
PAGES = [f"pages/{path.name}" for path in sorted((ROOT / "pages").glob("[!_]*.py"))]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Yield a function that opens the program, with a login configured, as one or nobody."""
    build_sources(tmp_path / "workspace")
    monkeypatch.setenv("SEXTANT_WORKSPACE", str(tmp_path / "workspace"))
    give_role(tmp_path / "workspace", "ada@example.org", "admin")
    monkeypatch.setenv("SEXTANT_USER", "the one who started the server")
    st.cache_resource.clear()

    def run(user: dict[str, object], secrets: Mapping[str, object] = AUTH) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        app.secrets = dict(secrets)
        app.user = user
        return app.run()

    yield run
    st.cache_resource.clear()


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("user", [{}, {"is_logged_in": False, "name": "Ada"}, {"name": "Ada", "email": "a@b.example"}])
def test_every_page_asks_for_the_login_first(
    opened: Callable[..., AppTest], page: str, user: dict[str, object]
) -> None:
    app = opened(user)
    app.switch_page(page)
    app.run()
    assert [button.label for button in app.button] == ["Log in"]
    assert [one.value for one in app.markdown] == ["Log in to use this collection."]
    # Shown by the browser's tab, where it knows that somebody was logged in.
    assert any("hidden>Your login has ended." in one.proto.body for one in app.get("html"))
    assert not app.exception


def test_a_login_that_has_expired_asks_again_and_does_not_act(opened: Callable[..., AppTest], tmp_path: Path) -> None:
    app = opened(ADA)
    app.switch_page("pages/admin.py")
    app.query_params["tab"] = "settings"
    app.run()
    app.text_input("input answer_seconds default 300").input("600").run()

    app.user = {"is_logged_in": False}
    app.button("save answer_seconds").click().run()

    assert not app.exception
    assert read_settings(tmp_path / "workspace").state("answer_seconds").origin != "workspace"
    assert [one.label for one in app.button] == ["Log in"] or "not logged in" in app.error[0].value


def test_each_provider_has_its_button(opened: Callable[..., AppTest]) -> None:
    providers = {"microsoft": {"client_id": "a"}, "our own": {"client_id": "b"}}
    app = opened({}, {"auth": AUTH["auth"] | providers})
    assert [button.label for button in app.button] == ["Log in with microsoft", "Log in with our own"]


def test_an_act_bears_the_name_of_who_is_logged_in_and_no_other(opened: Callable[..., AppTest], tmp_path: Path) -> None:
    app = opened(ADA)
    app.switch_page("pages/admin.py")
    app.query_params["tab"] = "settings"
    app.run()
    assert not [one for one in app.text_input if one.label == "Your name"]
    app.text_input("input answer_seconds default 300").input("600").run()
    app.button("save answer_seconds").click().run()
    changed = read_settings(tmp_path / "workspace").state("answer_seconds").changed
    assert changed.startswith("Ada Lovelace (ada@example.org), ")


def test_a_decision_bears_the_name_too(opened: Callable[..., AppTest]) -> None:
    app = opened(ADA)
    app.switch_page("pages/admin.py")
    app.query_params["tab"] = "quarantine"
    app.run()
    restore = next(button for button in app.button if button.key and "restore" in button.key)
    code = str(restore.key).split()[1]
    app.text_input(f"restore {code} note").input("a short law, but the one in force")
    restore.click().run()
    [decision] = [one for one in resources.records()[code].decisions if one.choice == "restore"]
    assert decision.author == "Ada Lovelace (ada@example.org)"


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"is_logged_in": True, "name": "Ada"}, "Ada"),
        ({"is_logged_in": True, "email": "ada@example.org"}, "ada@example.org"),
        ({"is_logged_in": True, "sub": "7"}, "7"),
    ],
)
def test_whoever_has_no_name_is_known_by_what_the_provider_says(
    opened: Callable[..., AppTest], user: dict[str, object], name: str
) -> None:
    assert name in [caption.value for caption in opened(user).sidebar.caption]


def test_a_reader_finds_the_buttons_of_curators_disabled_with_the_reason(
    opened: Callable[..., AppTest], tmp_path: Path
) -> None:
    app = opened(BOB)
    assert [(one.key, one.role) for one in known_people(tmp_path / "workspace")][1:] == [("bob@example.org", "reader")]
    app.switch_page("pages/admin.py")
    app.query_params["tab"] = "run"
    app.run()
    button = app.button(key="run all")
    assert button.disabled
    assert "takes the role curator; you are a reader" in str(button.help)
    for tab in ("people", "backups"):
        app.query_params["tab"] = tab
        app.run()
        assert "takes the role admin; you are a reader" in app.info[0].value
        assert not app.exception


@pytest.mark.parametrize(
    ("tab", "keys"),
    [
        ("run", ("run failed", "run refresh", "run phases", "interpret")),
        ("sources", ("discover", "add own files")),
        ("review", ("green", "red")),
        ("quarantine", ("restore",)),
    ],
)
def test_no_button_that_a_reader_may_not_use_can_be_clicked(
    opened: Callable[..., AppTest], tab: str, keys: tuple[str, ...]
) -> None:
    app = opened(BOB)
    app.switch_page("pages/admin.py")
    app.query_params["tab"] = tab
    app.run()
    for key in keys:
        found = [one for one in app.button if key in str(one.key)]
        assert found, key
        assert all(one.disabled and "takes the role curator" in str(one.help) for one in found), key
    for uploader in app.get("file_uploader"):
        assert uploader.proto.disabled


def test_a_reader_cannot_undo_what_a_curator_deletes(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages._shared.jobs.ensure_worker", lambda _: None)
    app = opened(BOB)
    run = JobQueue(resources.engine().catalog).queue("erase", {"document_id": "0" * 12, "undo_seconds": 60})
    app.switch_page("pages/library.py").run()
    button = app.button(key=f"undo {run}")
    assert button.disabled
    assert "takes the role curator" in str(button.help)


def _acts_of(tree: ast.AST, named: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Return the acts that some code calls which take more than a reader, also through a callback of its module."""
    acts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            acts |= {name} if ACTS.get(name, ("reader", ""))[0] != "reader" else set()
            for option in node.keywords:
                if option.arg == "on_click" and ast.unparse(option.value) in named:
                    acts |= _acts_of(named[ast.unparse(option.value)], {})
    return acts


@pytest.mark.parametrize("path", sorted((ROOT / "pages").rglob("*.py")), ids=lambda path: path.stem)
def test_what_takes_a_role_is_behind_a_button_that_knows_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ".button(" in ast.unparse(node.test):
            assert not _acts_of(ast.Module(node.body, []), named), ast.unparse(node.test)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".button"):
            assert not _acts_of(node, named), ast.unparse(node)
        if path.stem != "elements":
            assert "form_submit_button" not in ast.unparse(node) or not isinstance(node, ast.Call)


def test_an_admin_gives_a_role_which_holds_at_the_next_click(opened: Callable[..., AppTest], tmp_path: Path) -> None:
    opened(BOB)
    app = opened(ADA)
    app.switch_page("pages/admin.py")
    app.query_params["tab"] = "people"
    app.run()
    next(one for one in app.selectbox if one.label == "Role of Bob (Bob@Example.org)").set_value("curator").run()
    assert not app.exception
    assert [one.role for one in known_people(tmp_path / "workspace")] == ["admin", "curator"]
    next(one for one in app.selectbox if one.label.startswith("Role of Ada")).set_value("reader").run()
    assert "is the only admin" in app.error[0].value
    assert not app.exception


def test_the_conversation_of_another_is_not_opened_by_its_address_unless_it_is_shared(
    opened: Callable[..., AppTest], tmp_path: Path
) -> None:
    ada, id = Person("Ada", "ada@example.org", "admin"), store.new_id()
    store.begin_turn(tmp_path / "workspace", id, "Who keeps the dyke", None, ada)

    def asked(user: dict[str, object]) -> AppTest:
        app = opened(user)
        app.query_params["conversation"] = id
        return app.run()

    assert "Who keeps the dyke" in [one.value for one in asked(ADA).header]
    refused = asked(BOB)
    assert "Who keeps the dyke" not in [one.value for one in refused.header]
    assert any("belongs to somebody else" in one.value for one in refused.info)
    store.share_conversation(tmp_path / "workspace", id, ada, shared=True)
    shared = asked(BOB)
    assert "Who keeps the dyke" in [one.value for one in shared.header]
    assert any("by Ada" in one.value for one in shared.caption)
    assert shared.chat_input[0].disabled
    assert not [button for button in shared.button if button.label in ("Ask again", "Ask as written", "Delete")]


def test_a_person_lets_admins_see_a_rating_who_keep_its_question(
    opened: Callable[..., AppTest], tmp_path: Path
) -> None:
    workspace, bob, id = tmp_path / "workspace", Person("Bob", "bob@example.org", "reader"), store.new_id()
    begun = store.begin_turn(workspace, id, "How long is a local plan valid?", None, bob)
    store.end_turn(workspace, begun, REPLY)

    def asked() -> AppTest:
        app = opened(BOB)
        app.query_params["conversation"] = id
        return app.run()

    def feedback() -> AppTest:
        app = opened(ADA).switch_page("pages/admin.py")
        app.query_params["tab"] = "feedback"
        return app.run()

    app = asked()
    choice = f"{turn_key(begun, 0)} rating shared"
    assert choice not in [one.key for one in app.toggle]
    app.feedback[0].set_value(1).run()
    assert not app.toggle(key=choice).value
    assert not any("How long is a local plan" in one.value for one in feedback().markdown)

    app = asked()
    app.toggle(key=choice).set_value(True).run()
    assert asked().toggle(key=choice).value
    seen = feedback()
    assert any("How long is a local plan" in one.value for one in seen.markdown)
    assert any("Bob" in one.value for one in seen.caption)
    assert any(REPLY.text.split()[0] in one.value for one in seen.expander[0].markdown)
    page = opened(ADA).switch_page("pages/evaluation.py").run()
    page.button(key="keep good").click().run()
    assert not page.error
    assert [one.question for one in read_own_questions(workspace)] == ["How long is a local plan valid?"]

    asked().feedback[0].set_value(0).run()
    assert [one.rating.good for one in rated_answers(workspace, Person("Ada", "ada@example.org", "admin"))] == [False]
    asked().toggle(key=choice).set_value(False).run()
    assert not any("How long is a local plan" in one.value for one in feedback().markdown)


@pytest.mark.parametrize("claim", [False, "false", "False", 0])
def test_an_address_that_the_provider_has_not_verified_gives_nobody_its_role(
    opened: Callable[..., AppTest], tmp_path: Path, claim: object
) -> None:
    opened(ADA | {"email_verified": claim, "iss": "https://login.example.org"})
    assert [one.role for one in known_people(tmp_path / "workspace") if one.key.endswith("|7")] == ["reader"]


def test_without_a_login_nobody_is_asked(opened: Callable[..., AppTest]) -> None:
    app = opened({}, {})
    assert not [button for button in app.button if button.label.startswith(("Log in", "Log out"))]
    assert not app.exception


@pytest.mark.parametrize(("client", "status"), [("127.0.0.1", 200), ("::1", 200), ("192.168.1.7", 403), ("host", 403)])
def test_other_machines_are_refused_while_nobody_has_to_log_in(
    client: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "login_settings", dict)
    inner = Starlette(
        routes=[Route("/", lambda _: PlainTextResponse("in"))], middleware=[Middleware(login.only_this_machine)]
    )
    assert TestClient(inner, client=(client, 1)).get("/").status_code == status
