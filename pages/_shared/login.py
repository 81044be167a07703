"""Logging in, where an OpenID Connect provider is configured, and the name of who is logged in."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

import streamlit as st
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from pages._shared.interface_language import _
from rag_engine.workspace import is_loopback

_REFUSED = (
    "This server asks nobody to log in, so it answers its own machine alone. "
    "To open it to others, name an OpenID Connect provider (README.md, “For several people”)."
)
# The provider leads back to the first page, whatever was asked for: the browser's tab remembers what that was. It also
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
    """Return what secrets.toml says under [auth]; empty where nobody has to log in."""
    return dict(st.secrets.get("auth", {})) if st.secrets.load_if_toml_exists() else {}


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
    # What stands in an address must not end the script.
    address = json.dumps(wanted).replace("<", "\\u003c")
    st.html(_REMEMBER.format(wanted=address), unsafe_allow_javascript=True)
    st.markdown(_("Log in to use this collection."))
    providers = [name for name, one in login.items() if isinstance(one, Mapping)]
    for name in providers or ["default"]:
        label = _("Log in with {name}").format(name=name) if providers else _("Log in")
        st.button(label, type="primary", icon=":material/login:", key=f"login {name}", on_click=st.login, args=(name,))
    st.stop()


def draw_person() -> None:
    """Draw who is logged in, and the way out."""
    if person := logged_in():
        with st.sidebar.container(key="person"):
            st.caption(person)
            st.button(_("Log out"), icon=":material/logout:", type="tertiary", key="logout", on_click=st.logout)


def logged_in() -> str:
    """Return the name of who is logged in, with the address, since names repeat; "" where nobody has to log in."""
    if not login_settings() or not st.user.get("is_logged_in"):
        return ""
    name, address = (str(st.user.get(key) or "").strip() for key in ("name", "email"))
    known = f"{name} ({address})" if name and address else name or address
    return known or str(st.user.get("sub") or "somebody without a name")


def login_key() -> str:
    """Return what identifies who is logged in: the address in lower case, unless the provider calls it unverified."""
    user = st.user
    address = str(user.get("email") or "").strip().casefold()
    # Some providers send the claim as text.
    if address and str(user.get("email_verified")).casefold() not in ("false", "0"):
        return address
    return f"{user.get('iss') or 'provider'}|{user.get('sub') or 'unknown'}"


def only_this_machine(app: ASGIApp) -> ASGIApp:
    """Return the app behind a check that refuses other machines while nobody has to log in."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if scope["type"] not in ("http", "websocket") or client is None or is_loopback(client[0]) or login_settings():
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse(_REFUSED, status_code=403)(scope, receive, send)

    return checked
