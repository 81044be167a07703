"""Logging in, where secrets.toml names a provider, and what is recorded of who is logged in."""

import ast
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.config import get_option, set_option
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from ingestion.acts.register import every_act
from ingestion.jobs.queue import JobQueue
from ingestion.records.people import give_role, known_people
from pages._ask.turn_key import turn_key
from pages._shared import login, resources
from pages._shared.markdown import escape
from rag_engine.conversations import store
from rag_engine.conversations.feedback import rated_answers
from rag_engine.conversations.person import Person
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.test_questions import read_test_questions
from rag_engine.settings import read_settings
from rag_engine.workspace import LOGIN_REQUIRED
from tests.conftest import ROOT
from tests.pages.test_admin import admin
from tests.rag_engine.conversations.test_store import REPLY

Opened = Callable[..., AppTest]
AUTH = {"auth": {"redirect_uri": "https://sextant.example.org/oauth2callback", "cookie_secret": "x", "client_id": "y"}}
ISSUER = "https://login.example.org"
# As a provider sends a claim that is said to hold, with whom it is about.
KNOWN = {"is_logged_in": True, "iss": ISSUER, "email_verified": True}
ADA = KNOWN | {"name": "Ada Lovelace", "email": "ada@example.org", "sub": "7"}
BOB = KNOWN | {"name": "Bob", "email": "Bob@Example.org", "sub": "8"}
PAGES = [f"pages/{path.name}" for path in sorted((ROOT / "pages").glob("[!_]*.py"))]


@pytest.fixture
def opened(listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Yield a function that opens the program, with a login configured, as one or nobody."""
    shutil.copytree(listed, tmp_path / "workspace")
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


@pytest.mark.parametrize(
    ("page", "user"),
    [
        *((page, {}) for page in PAGES),
        (PAGES[0], {"is_logged_in": False, "name": "Ada"}),
        (PAGES[0], {"name": "Ada", "email": "a@b.example"}),
    ],
)
def test_every_page_asks_for_the_login_first(opened: Opened, page: str, user: dict[str, object]) -> None:
    app = opened(user)
    app.switch_page(page)
    app.run()
    assert [button.label for button in app.button] == ["Log in"]
    assert [one.value for one in app.markdown] == ["Log in to use this collection."]
    # Shown by the browser's tab, where it knows that somebody was logged in.
    assert any("hidden>Your login has ended." in one.proto.body for one in app.get("html"))
    assert not app.exception


def test_a_login_that_has_expired_asks_again_and_does_not_act(opened: Opened, tmp_path: Path) -> None:
    app = admin(opened(ADA), "settings")
    app.text_input("input answer_seconds default 300").input("600").run()

    app.user = {"is_logged_in": False}
    app.button("save answer_seconds").click().run()

    assert not app.exception
    assert read_settings(tmp_path / "workspace").state("answer_seconds").origin != "workspace"
    assert [one.label for one in app.button] == ["Log in"] or "not logged in" in app.error[0].value


def test_each_provider_has_its_button(opened: Opened) -> None:
    providers = {"microsoft": {"client_id": "a"}, "our own": {"client_id": "b"}}
    app = opened({}, {"auth": AUTH["auth"] | providers})
    assert [button.label for button in app.button] == ["Log in with microsoft", "Log in with our own"]


def test_an_act_bears_the_name_of_who_is_logged_in_and_no_other(opened: Opened, tmp_path: Path) -> None:
    app = admin(opened(ADA), "settings")
    assert not [one for one in app.text_input if one.label == "Your name"]
    app.text_input("input answer_seconds default 300").input("600").run()
    app.button("save answer_seconds").click().run()
    changed = read_settings(tmp_path / "workspace").state("answer_seconds").changed
    assert changed.startswith("Ada Lovelace (ada@example.org), ")


def test_a_decision_bears_the_name_too(opened: Opened) -> None:
    app = admin(opened(ADA), "quarantine")
    restore = next(button for button in app.button if button.key and "restore" in button.key)
    code = str(restore.key).split()[1]
    app.text_input(f"restore {code} note").input("a short law, but the one in force")
    restore.click().run()
    [decision] = [one for one in resources.records()[code].decisions if one.choice == "restore"]
    assert decision.author == "Ada Lovelace (ada@example.org)"


@pytest.mark.parametrize(
    ("user", "name"),
    [
        (KNOWN | {"name": "Ada", "sub": "7"}, f"Ada ({ISSUER}|7)"),
        (KNOWN | {"email": "ada@example.org", "sub": "7"}, "ada@example.org"),
        (KNOWN | {"sub": "7"}, f"{ISSUER}|7"),
    ],
)
def test_whoever_has_no_name_is_known_by_what_the_provider_says(
    opened: Opened, user: dict[str, object], name: str
) -> None:
    assert escape(name) in [caption.value for caption in opened(user).sidebar.caption]


def test_a_reader_finds_the_buttons_of_curators_disabled_with_the_reason(opened: Opened, tmp_path: Path) -> None:
    app = opened(BOB)
    assert [(one.key, one.role) for one in known_people(tmp_path / "workspace")][1:] == [("bob@example.org", "reader")]
    admin(app, "run")
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
def test_no_button_that_a_reader_may_not_use_can_be_clicked(opened: Opened, tab: str, keys: tuple[str, ...]) -> None:
    app = admin(opened(BOB), tab)
    for key in keys:
        found = [one for one in app.button if key in str(one.key)]
        assert found, key
        assert all(one.disabled and "takes the role curator" in str(one.help) for one in found), key
    for uploader in app.get("file_uploader"):
        assert uploader.proto.disabled


def test_a_reader_cannot_undo_what_a_curator_deletes(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages._shared.jobs.ensure_worker", lambda _: None)
    app = opened(BOB)
    run = JobQueue(resources.engine().catalog).queue("erase", {"documents": ["0" * 12], "undo_seconds": 60})
    app.switch_page("pages/library.py").run()
    button = app.button(key=f"undo {run}")
    assert button.disabled
    assert "takes the role curator" in str(button.help)


def _acts_of(tree: ast.AST, named: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Return the acts above a reader's role that some code calls, also through its callbacks."""
    acts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            acts |= {name} if name in every_act() and every_act()[name].role != "reader" else set()
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


def test_an_admin_gives_a_role_which_holds_at_the_next_click(opened: Opened, tmp_path: Path) -> None:
    opened(BOB)
    app = admin(opened(ADA), "people")
    next(one for one in app.selectbox if one.label == "Role of Bob (bob@example.org)").set_value("curator").run()
    assert not app.exception
    assert [one.role for one in known_people(tmp_path / "workspace")] == ["admin", "curator"]
    next(one for one in app.selectbox if one.label.startswith("Role of Ada")).set_value("reader").run()
    assert "is the only admin" in app.error[0].value
    assert not app.exception


def test_the_conversation_of_another_is_not_opened_by_its_address_unless_it_is_shared(
    opened: Opened, tmp_path: Path
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


def test_a_person_lets_admins_see_a_rating_who_keep_its_question(opened: Opened, tmp_path: Path) -> None:
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
    assert [one.question for one in read_test_questions(workspace)] == ["How long is a local plan valid?"]

    asked().feedback[0].set_value(0).run()
    assert [one.rating.good for one in rated_answers(workspace, Person("Ada", "ada@example.org", "admin"))] == [False]
    asked().toggle(key=choice).set_value(False).run()
    assert not any("How long is a local plan" in one.value for one in feedback().markdown)


def _roles(tmp_path: Path) -> dict[str, str]:
    return {one.key: one.role for one in known_people(tmp_path / "workspace")}


@pytest.mark.parametrize("claim", [None, False, "false", "", 0, 1, "yes"])
def test_an_address_that_the_provider_does_not_call_verified_gives_nobody_its_role(
    opened: Opened, tmp_path: Path, claim: object
) -> None:
    said = {} if claim is None else {"email_verified": claim}
    app = opened({name: value for name, value in ADA.items() if name != "email_verified"} | said)
    assert _roles(tmp_path) == {"ada@example.org": "admin", f"{ISSUER}|7": "reader"}
    assert escape(f"Ada Lovelace ({ISSUER}|7)") in [caption.value for caption in app.sidebar.caption]


@pytest.mark.parametrize(("vouched", "claims", "role"), [
    (True, {}, "admin"),
    (False, {}, "reader"),
    ("true", {}, "reader"),
    # The provider itself says that it is not.
    (True, {"email_verified": False}, "reader"),
])  # fmt: skip
def test_an_address_has_its_role_where_the_file_vouches_for_those_of_its_provider(
    opened: Opened, tmp_path: Path, vouched: object, claims: dict[str, object], role: str
) -> None:
    ada = {name: value for name, value in ADA.items() if name != "email_verified"} | claims
    providers = {"ours": {"client_id": "a", "vouch_for_addresses": vouched}, "theirs": {"client_id": "b"}}
    opened(ada | {"provider": "ours"}, {"auth": AUTH["auth"] | providers})
    assert _roles(tmp_path).get(f"{ISSUER}|7", "admin") == role
    opened(ada | {"provider": "theirs", "sub": "8"}, {"auth": AUTH["auth"] | providers})
    assert _roles(tmp_path)[f"{ISSUER}|8"] == "reader"


def test_two_providers_do_not_share_a_person_by_the_address(opened: Opened, tmp_path: Path) -> None:
    opened(ADA)
    elsewhere = ADA | {"iss": "https://other.example", "sub": "7"}
    app = opened(elsewhere)
    assert _roles(tmp_path) == {"ada@example.org": "admin", "https://other.example|7": "reader"}
    assert escape("Ada Lovelace (https://other.example|7)") in [caption.value for caption in app.sidebar.caption]
    # Nor does another account of the same provider that was given the address later.
    opened(ADA | {"sub": "9"})
    assert _roles(tmp_path)[f"{ISSUER}|9"] == "reader"


def test_a_person_stays_the_same_when_the_address_changes(opened: Opened, tmp_path: Path) -> None:
    opened(ADA)
    opened(ADA | {"email": "ada.king@example.org"})
    opened(ADA | {"email": "", "name": "Ada King"})
    assert _roles(tmp_path) == {"ada@example.org": "admin"}
    assert [one.name for one in known_people(tmp_path / "workspace")] == ["Ada King (ada@example.org)"]


def test_without_a_login_nobody_is_asked(opened: Opened) -> None:
    app = opened({}, {})
    assert not [button for button in app.button if button.label.startswith(("Log in", "Log out"))]
    assert not app.exception


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """Yield a function that asks a guarded app for a path from a machine, and returns the status."""
    # Set first: a variable that was not there is taken away again only if it was set by the fixture.
    monkeypatch.setenv(LOGIN_REQUIRED, "yes")
    monkeypatch.delenv(LOGIN_REQUIRED)
    files = get_option("secrets.files")
    set_option("secrets.files", [str(tmp_path / "secrets.toml")])
    st.secrets._reset()
    inner = Starlette(routes=[Route("/{any:path}", lambda _: PlainTextResponse("in"))])

    def asked(path: str = "/", client: str = "127.0.0.1", cookie: str = "") -> int:
        visitor = TestClient(login.guarded(inner), client=(client, 1), cookies={"_streamlit_user": cookie})
        return visitor.get(path).status_code

    yield asked
    set_option("secrets.files", files)
    st.secrets._reset()


@pytest.mark.parametrize(("client", "status"), [("127.0.0.1", 200), ("::1", 200), ("192.168.1.7", 403), ("host", 403)])
def test_other_machines_are_refused_while_nobody_has_to_log_in(
    ask: Callable[..., int], client: str, status: int
) -> None:
    assert ask(client=client) == status


def _unreadable(file: Path, kind: str) -> None:
    if kind == "folder":
        file.mkdir()
    elif kind == "a loop of links":
        file.symlink_to(file)
    else:
        file.write_bytes(kind.encode("latin-1"))


UNREADABLE = ["[auth\n", "auth = 'yes'\n", "# \xe9\n[auth]\n", "folder", "a loop of links"]


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_file_that_cannot_be_read_lets_nobody_in(ask: Callable[..., int], tmp_path: Path, kind: str) -> None:
    _unreadable(tmp_path / "secrets.toml", kind)
    assert [ask(), ask("/media/a.png"), ask(client="192.168.1.7")] == [503, 503, 503]
    with pytest.raises(InputError, match="Nobody can log in"):
        login.login_settings()


def test_once_people_log_in_a_file_that_is_gone_lets_nobody_in(ask: Callable[..., int], tmp_path: Path) -> None:
    assert ask() == 200
    login.keep_login()
    assert ask() == 200
    (tmp_path / "secrets.toml").write_text("[auth]\ncookie_secret = 'x'\n", encoding="utf-8")
    login.keep_login()
    assert ask() == 200
    st.secrets._reset()
    (tmp_path / "secrets.toml").unlink()
    assert ask() == 503


@pytest.mark.parametrize("path", ["/media/figure.png", "/_stcore/upload_file/session/file", "/_stcore/metrics"])
def test_what_pages_show_and_take_is_for_those_who_are_logged_in(
    ask: Callable[..., int], tmp_path: Path, path: str
) -> None:
    assert ask(path) == 200
    (tmp_path / "secrets.toml").write_text("[auth]\ncookie_secret = 'the one'\n", encoding="utf-8")
    cookies = {
        name: create_signed_value(secret, "_streamlit_user", json.dumps({"is_logged_in": known})).decode("ascii")
        for name, secret, known in (("ours", "the one", True), ("forged", "a guess", True), ("out", "the one", False))
    }
    assert {name: ask(path, cookie=cookie) for name, cookie in cookies.items()} == {
        "ours": 200, "forged": 403, "out": 403,
    }  # fmt: skip
    assert ask(path) == 403
    assert ask("/") == 200
