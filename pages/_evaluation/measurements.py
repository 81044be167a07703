"""Measurements and the questions behind them, drawn as tables and charts."""

from __future__ import annotations

import shlex
from pathlib import Path

import pandas as pd
import streamlit as st

from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.config import DATA, ROOT
from rag_engine.evaluation.gold import read_gold
from rag_engine.evaluation.report import Kept, KeptTable, kept_measurements

_RESULTS = ROOT / "benchmarks" / "results"
_GOLD = DATA / "eval" / "passages.jsonl"
# Pixels: of a row, and of the tallest table that is shown without scrolling.
_ROW, _TALLEST = 36, 640


def draw_measurements() -> None:
    """Draw the chosen measurement, of the program's own and of this workspace."""
    own = resources.engine().config.workspace / "evaluation"
    kept = kept_measurements([own, _RESULTS])
    if not kept:
        st.info("No measurements yet. Run `make measure` to create them.", icon=":material/monitoring:")
        return
    names = [one.name for one in kept]
    start = names.index("retrieval") if "retrieval" in names else 0
    number = st.selectbox("Measurement", range(len(kept)), index=start, format_func=lambda n: _named(kept[n], own))
    chosen = kept[number]
    for chart in chosen.charts:
        st.vega_lite_chart(chart, width="stretch")
    for table in chosen.tables:
        _draw(table)
    if chosen.notes:
        st.caption("  \n".join(escape(note) for note in chosen.notes))
    st.caption("To measure with your own documents and questions (the results appear in this list):")
    command = f"sextant eval chunking --documents FOLDER --gold FILE --results {shlex.quote(str(own))}"
    st.code(command, language=None, wrap_lines=True)


def draw_gold() -> None:
    """Draw the questions with known passages."""
    with show_errors():
        questions = read_gold(_GOLD, "all")
        unseen = sum(one.split == "heldout" for one in questions)
        st.caption(f"{len(questions):,} questions, each with its answering passage; {unseen} held out for testing.")
        rows = [
            {
                "Question": one.question,
                "Language": one.language,
                "Kind": one.kind,
                "Answered in": ", ".join(dict.fromkeys(f"{quote.document}, page {quote.page}" for quote in one.quotes)),
                "Passage": " … ".join(quote.quote for quote in one.quotes),
                "Cross-lingual only": one.cross_lingual,
            }
            for one in questions
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch", height=_TALLEST)


def _draw(table: KeptTable) -> None:
    if table.heading:
        st.header(table.heading)
    # Bold in the files marks what is sure; in a table of text the stars would stand there.
    cells = [[cell.replace("**", "").replace("`", "") for cell in row] for row in table.rows]
    # Columns of one name (a metric shown twice) may not share it here.
    columns = [name if table.columns.index(name) == place else f"{name} " for place, name in enumerate(table.columns)]
    frame = pd.DataFrame(cells, columns=columns)
    st.dataframe(frame, hide_index=True, width="stretch", height=min(_TALLEST, _ROW * (len(frame) + 1)))


def _named(one: Kept, own: Path) -> str:
    return f"{one.title} (this workspace)" if one.path.parent == own else one.title
