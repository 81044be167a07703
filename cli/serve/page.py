"""The process that serves the page with Streamlit.

Its output is a log, so nothing in it is left that a terminal would obey.
"""

from __future__ import annotations

import runpy

from rag_engine.text.control_characters import print_plainly

if __name__ == "__main__":
    print_plainly()
    runpy.run_module("streamlit", run_name="__main__")
