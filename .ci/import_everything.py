"""Import of every module of the installed Sextant in one process.

app.py is left out: it opens a collection.
"""

from __future__ import annotations

import importlib
import logging
import re
from importlib.metadata import files

from streamlit.errors import NoSessionContext

# Streamlit warns of each call outside of its server.
logging.disable(logging.WARNING)
for file in files("sextant") or ():
    name = file.as_posix()
    if not re.fullmatch(r"\w+/.*(?<!__main__)\.py", name):
        continue
    try:
        importlib.import_module(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    except NoSessionContext:
        # The guard of a page is its first statement: all imports are above it.
        if not re.fullmatch(r"pages/[a-z]\w*\.py", name):
            raise
