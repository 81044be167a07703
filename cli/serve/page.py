"""The process that serves the page: Streamlit, its output without what a terminal would obey, for it is a log."""

from __future__ import annotations

import runpy

from rag_engine.text.control_characters import print_plainly

if __name__ == "__main__":
    print_plainly()
    runpy.run_module("streamlit", run_name="__main__")
