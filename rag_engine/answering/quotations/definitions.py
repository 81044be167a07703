"""Definitions: the term whose meaning a question asks for, and the texts that say it."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Literal

from rag_engine.planning.instructions import QUOTED
from rag_engine.text.analyzer import analyse
from rag_engine.text.tables import read_table

_OPENED, _CLOSED = "[\"“„«‘'’]{0,2}\\s?", "\\s?[\"”“»’']{0,2}"
_TERM = rf"{_OPENED}(?P<term>[^,;:.()]{{2,80}}?){_CLOSED}"
# The mark of an item, as "(a)", "VIII -" and "12." are.
_MARK = re.compile(r"\s*(?:\(?\w{1,5}[.)]|[IVXLC]{1,6}(?:-[A-Z])?\s?[-–—.]|[•·–-])\s+")
# "VIII - encarregado: pessoa indicada ..." and "... yerlerine (Ortak yerler);".
_ANYWHERE = (rf"^{_TERM}\s?[:：]\s", r"\((?:[^()]{0,30}?[\"“„«])?(?P<term>[^()]{2,60}?)[\"”“»]?\)")
# Words by which a definition names the term more exactly: "espace de pleine terre".
_MORE = 1
# Words from which a cell of a table says what a term means.
_SHORTEST = 4


def asked_term(question: str, language: str) -> str:
    """Return the term whose meaning a question asks for, or "".

    It is what stands in quotation marks, else what is said without the text that uses it.

    >>> asked_term("What does “personal data” mean?", "en"), asked_term("Was ist Führung im Sinne der FwDV 100?", "de")
    ('personal data', 'Führung')
    """
    asked = question.strip().rstrip("?!. ")
    found = next(filter(None, (form.search(asked) for form in _forms("asks", language))), None)
    if found is None:
        return ""
    quoted = QUOTED.search(question)
    used = re.compile(read_table("definitions")["used"].get(language, "(?!)"), re.IGNORECASE)
    return next(filter(None, quoted.groups())) if quoted else used.sub("", found["term"])


def defines(text: str, language: str, term: str, names: Collection[str]) -> bool:
    """Return whether a text says what a term means.

    The `names` of the text's document may stand around the term.

    >>> defines("(c) “Party” means a Party to this Agreement.", "en", "Party", [])
    True
    """
    mark = _MARK.match(text)
    said = text[mark.end() if mark else 0 :].strip()
    asked, around = frozenset(analyse(term, language)), frozenset(analyse(" ".join(names), language))
    matches = (match for form in _forms("says", language) for match in form.finditer(said))
    named = (frozenset(analyse(match["term"], language)) for match in matches)
    return any(stems & asked and len(stems - asked) <= _MORE and asked <= stems | around for stems in named)


def row_defines(row: str, language: str, term: str) -> bool:
    """Return whether a row of a table has the term in its first cell and says in another what it means.

    >>> row_defines("Term: Flood plan; Meaning: the plan that a county keeps", "en", "flood plan")
    True
    """
    first, *others = (cell.partition(": ")[2] for cell in row.split("; "))
    asked = frozenset(analyse(term, language))
    return asked == frozenset(analyse(first, language)) and any(len(cell.split()) >= _SHORTEST for cell in others)


@cache
def _forms(table: Literal["asks", "says"], language: str) -> tuple[re.Pattern[str], ...]:
    known = read_table("definitions")
    begin = known["begin"].get(language, "^")
    written = [one.replace("{begin}", begin).replace("{term}", _TERM) for one in known[table].get(language, ())]
    forms = (*written, *_ANYWHERE) if table == "says" else written
    return tuple(re.compile(form, re.IGNORECASE | re.DOTALL) for form in forms)
