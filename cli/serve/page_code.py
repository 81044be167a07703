"""The code that each page needs before its content is seen, named in the page that a browser loads first.

Streamlit's page asks for the code of a widget only once the widget has come, in turn with the drawing of others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_IMPORTED = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_LINKS = {
    "js": '<link rel="modulepreload" crossorigin href="./static/js/{name}">',
    "css": '<link rel="preload" as="style" crossorigin href="./static/css/{name}">',
}
# By the name that a page has in its address, the component of Streamlit that it is opened for. The code of more would
# only hold up the first drawing; it is loaded once this one is there.
_COMPONENTS: Mapping[str, str] = {
    "": "ChatInput",
    "search": "TextInput",
    "compare": "TextArea",
    "library": "DataFrame",
    "document": "Button",
    "notebook": "Selectbox",
    "admin": "ButtonGroup",
    "evaluation": "Button",
}


def code_links(folder: Path) -> dict[str, str]:
    """Return the links to the code of each page by its name in the address.

    `folder` is Streamlit's, with index.html; what that names itself is left out.
    """
    page = (folder / "index.html").read_text(encoding="utf-8")
    links = {}
    for name, component in _COMPONENTS.items():
        found: dict[str, None] = {}
        for kind in _LINKS:
            for file in (folder / "static").glob(f"{kind}/{component}.*.{kind}"):
                _collect(file, found)
        links[name] = "".join(_LINKS[one.rpartition(".")[2]].format(name=one) for one in found if one not in page)
    return links


def _collect(file: Path, found: dict[str, None]) -> None:
    """Add a file and the code that it imports, each once."""
    if file.name in found:
        return
    found[file.name] = None
    if file.suffix == ".js":
        for name in _IMPORTED.findall(file.read_text(encoding="utf-8")):
            _collect(file.parent / name, found)
