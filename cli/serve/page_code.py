"""The code that each page needs before its content is seen, named in the page that a browser loads first.

Streamlit's page asks for the code of a widget only once the widget has come, in turn with the drawing of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_IMPORTED = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_LINKS = {
    "js": '<link rel="modulepreload" crossorigin href="./static/js/{name}">',
    "css": '<link rel="preload" as="style" crossorigin href="./static/css/{name}">',
}
# By the name that a page has in its address, the components of Streamlit that it draws when it is opened.
_COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "": ("ChatInput", "Button", "Multiselect", "Slider", "NumberInput", "Checkbox", "Metric", "Selectbox"),
    "search": ("TextInput", "ButtonGroup", "Checkbox", "Slider", "Selectbox"),
    "compare": ("TextArea", "ButtonGroup", "Multiselect", "Button", "Selectbox", "Slider"),
    "library": ("DataFrame", "TextInput", "Checkbox", "Button", "Multiselect", "Slider", "Metric", "Selectbox"),
    "document": (),
    "notebook": ("Selectbox", "Checkbox"),
    "admin": ("ButtonGroup", "FileUploader", "TextInput", "Button", "Selectbox"),
    "evaluation": ("Button", "Selectbox"),
}
# Of styles and scripts, which every page has.
_OF_EVERY_PAGE = ("Html",)


def code_links(folder: Path) -> dict[str, str]:
    """Return the links to the code of each page by its name in the address.

    `folder` is Streamlit's, with index.html; what that names itself is left out.
    """
    page = (folder / "index.html").read_text(encoding="utf-8")
    return {name: "".join(_links(folder / "static", page, components)) for name, components in _COMPONENTS.items()}


def _links(static: Path, page: str, components: tuple[str, ...]) -> Iterator[str]:
    found: dict[str, None] = {}
    for component in (*_OF_EVERY_PAGE, *components):
        for kind in _LINKS:
            for file in static.glob(f"{kind}/{component}.*.{kind}"):
                _collect(file, found)
    return (_LINKS[name.rpartition(".")[2]].format(name=name) for name in found if name not in page)


def _collect(file: Path, found: dict[str, None]) -> None:
    """Add a file and the code that it imports, each once."""
    if file.name in found:
        return
    found[file.name] = None
    if file.suffix == ".js":
        for name in _IMPORTED.findall(file.read_text(encoding="utf-8")):
            _collect(file.parent / name, found)
