"""Logging in, where an OpenID Connect provider is configured, and the name of who is logged in."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from rag_engine.errors import InputError
from rag_engine.loopback import is_loopback
from rag_engine.processes.serving import LOGIN_REQUIRED

_REFUSED = (
    "This server asks nobody to log in, so it answers its own machine alone. "
    "To open it to others, name an OpenID Connect provider (README.md, “For several people”)."
)
_NOT_LOGGED_IN = "Log in first: this server answers people who are logged in alone."
# Addresses of pictures and downloads, of what people send, and of figures about them. The rest is code, and the login.
_BEHIND_LOGIN = ("/media/", "/_stcore/upload_file/", "/_stcore/metrics", "/_stcore/agent/")
# The provider always leads back to the first page: the browser's tab remembers which page was asked for. It also
# knows whether somebody was logged in here before, which the server does not, and then the question that was typed.
_REMEMBER = """<script>
  sessionStorage.setItem("sextant-wanted", new URL({wanted}, location.href).href);
  clearInterval(window.sextantTyping);
  if (sessionStorage.getItem("sextant-logged-in")) {{
    for (const notice of document.querySelectorAll(".sextant-login-ended")) notice.hidden = false;
    const typed = sessionStorage.getItem("sextant-typed");
    if (typed) sessionStorage.setItem("sextant-question", typed);
  }}
</script>"""
_ENDED = '<p class="sextant-login-ended" role="status" hidden>{said}</p>'
_RETURN = """<script>
  const wanted = sessionStorage.getItem("sextant-wanted");
  sessionStorage.removeItem("sextant-wanted");
  if (wanted && wanted !== location.href) location.replace(wanted);
  sessionStorage.setItem("sextant-logged-in", "yes");
  clearInterval(window.sextantTyping);
  // What was sent is asked, unless the login ended while it was.
  const SENT_MILLISECONDS = 10000;
  let emptied = Date.now();
  window.sextantTyping = setInterval(() => {
    const input = document.querySelector("[data-testid=stChatInputTextArea]");
    if (!input || input.disabled) return;
    const kept = sessionStorage.getItem("sextant-question");
    if (kept && !input.value) {
      Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(input, kept);
      input.dispatchEvent(new Event("input", {bubbles: true}));
    }
    sessionStorage.removeItem("sextant-question");
    if (input.value) {
      sessionStorage.setItem("sextant-typed", input.value);
      emptied = Date.now();
    } else if (Date.now() - emptied > SENT_MILLISECONDS) sessionStorage.removeItem("sextant-typed");
  }, 300);
  window.sextantLogout?.abort();
  window.sextantLogout = new AbortController();
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.(".st-key-logout")) return;
    clearInterval(window.sextantTyping);
    for (const name of ["logged-in", "typed", "question"]) sessionStorage.removeItem(`sextant-${name}`);
  }, {capture: true, signal: window.sextantLogout.signal});
</script>"""


def login_settings() -> Mapping[str, Any]:
    """Return what secrets.toml says under [auth]; empty where nobody has to log in.

    InputError where people have to, and what it says cannot be read.
    """
    try:
        found = st.secrets.to_dict().get("auth", {})
    except StreamlitSecretNotFoundError as error:
        found = {} if error.error_id == "no-secrets-found" else None
    # No text, a folder, no permission.
    except (OSError, ValueError):
        found = None
    if not isinstance(found, Mapping) or (not found and LOGIN_REQUIRED in os.environ):
        raise InputError(
            to_translate("Nobody can log in: secrets.toml of this server cannot be read, or names no provider."),
            help=to_translate("The server's administrator can correct it: the server says at its start what is wrong."),
        )
    return found


def keep_login() -> None:
    """Have people log in as long as this server runs, if they have to now."""
    try:
        required = bool(login_settings())
    except InputError:
        required = True
    if required:
        os.environ[LOGIN_REQUIRED] = "yes"


def require_login(wanted: str) -> None:
    """Draw the login instead of the page where one is needed and nobody is logged in.

    `wanted` is the address that was asked for, as a path with its query, "" for the one that the browser shows.
    """
    login = login_settings()
    if not login:
        return
    if st.user.get("is_logged_in"):
        st.html(_RETURN, unsafe_allow_javascript=True)
        return
    st.title("Sextant")
    st.html(_ENDED.format(said=html.escape(_("Your login has ended. A question that you had typed is kept."))))
    # The text of an address must not end the script.
    address = json.dumps(wanted).replace("<", "\\u003c")
    st.html(_REMEMBER.format(wanted=address), unsafe_allow_javascript=True)
    st.markdown(_("Log in to use this collection."))
    providers = [name for name, one in login.items() if isinstance(one, Mapping)]
    for name in providers or ["default"]:
        label = _("Log in with {name}").format(name=name) if providers else _("Log in")
        st.button(label, type="primary", icon=":material/login:", key=f"login {name}", on_click=st.login, args=(name,))
    st.stop()


def draw_person(name: str) -> None:
    """Draw who is logged in, and the way out."""
    with st.sidebar.container(key="person"):
        st.caption(escape(name))
        st.button(_("Log out"), icon=":material/logout:", type="tertiary", key="logout", on_click=st.logout)


def is_logged_in() -> bool:
    """Whether somebody is logged in, where people have to."""
    return bool(login_settings()) and bool(st.user.get("is_logged_in"))


def login_identity() -> tuple[str, str]:
    """Return the identity that the provider gives a person, and the verified address, else "".

    The address is in lower case. `vouch_for_addresses` does not verify an address that the provider calls unverified.
    """
    user, login = st.user, login_settings()
    provider = login.get(str(user.get("provider")), login)
    vouched = provider.get("vouch_for_addresses") is True and "email_verified" not in user
    address = str(user.get("email") or "").strip().casefold()
    # Some providers send the claim as text. No address is like an identity.
    verified = str(user.get("email_verified")).casefold() == "true" or vouched
    return f"{user['iss']}|{user['sub']}", address if verified and "@" in address and "|" not in address else ""


def guarded(app: ASGIApp) -> ASGIApp:
    """Return the app behind the login: other machines are refused while nobody has to log in.

    While people have to, nobody without a login gets anything that pages show. While this is not known, nobody is
    answered.
    """

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            status, reason = refusal
            await PlainTextResponse(reason, status_code=status)(scope, receive, send)

    return checked


def _refusal(scope: Scope) -> tuple[int, str] | None:
    try:
        login = login_settings()
    except InputError as error:
        return 503, str(error)
    if not login:
        client = scope.get("client")
        return None if client is None or is_loopback(client[0]) else (403, _REFUSED)
    if any(part in scope["path"] for part in _BEHIND_LOGIN) and not _bears_login(HTTPConnection(scope)):
        return 403, _NOT_LOGGED_IN
    return None


def _bears_login(request: HTTPConnection) -> bool:
    """Whether a request has the cookie of somebody who is logged in, signed by this server."""

    def signed(name: str) -> bytes | None:
        return decode_signed_value(get_cookie_secret(), name, request.cookies.get(name, ""))

    claims = get_cookie_with_chunks(signed, USER_COOKIE_NAME)
    return claims is not None and json.loads(claims).get("is_logged_in") is True
