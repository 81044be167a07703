"""Force of a law as XML on a day: its states, and the days of its wordings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta

from lxml import etree

from ingestion.extraction.date_patterns import declared_date
from ingestion.extraction.formats.law.schemes import Scheme, local_name, words_of
from ingestion.extraction.formats.zip_container import Element

_NUMBERS = ("num", "Number", "Pnumber")
# From here on a day means that no end is known; schemes write 2999-01-01 or all nines.
_NO_END = "29990101"
# Days that stand for an unknown one are before or after these.
_EARLIEST, _LATEST = "1200", "2999"
_EFFECT = re.compile(r"(?i)in-?force|into-?force|inkraft|in-?vig|en-?vig|vigore|vigencia|effecti(?:ve|f)|applicab")


class Force:
    """Wording of a document that is in force today, or on the first day of an act that begins later.

    An edition that has ended as a whole is read as of its last day.
    """

    def __init__(self, scheme: Scheme, root: Element, today: date) -> None:
        self._table, self._unit = scheme.table, scheme.table.get("force", {})
        self._events = {_identity(one): one.get("date", "") for one in root.iter("{*}eventRef")}
        self._periods = _periods(root, self._events)
        self._day = max(today.isoformat(), min(self.first_days(root), default=""))
        ended = self._interval(root)[1]
        if ended and ended <= self._day:
            self._day = (date.fromisoformat(ended) - timedelta(days=1)).isoformat()

    def first_days(self, root: Element) -> list[str]:
        """Return the first days of the elements that state one."""
        return [start for element in root.iter(etree.Element) if (start := self._interval(element)[0])]

    def named_days(self, root: Element) -> list[str]:
        """Return the days that an Akoma Ntoso document calls those of its entry into force."""
        return [
            self._day_of(stated)
            for name in ("FRBRdate", "eventRef", "timeInterval", "step")
            for element in root.iter(f"{{*}}{name}")
            if (stated := element.get("date") or element.get("start") or "")
            and any(_EFFECT.search(element.get(one, "")) for one in ("name", "refersTo", "type"))
        ]

    def is_out(self, element: Element, role: str) -> bool:
        """Return whether the words of an element are repealed, replaced, or of a later wording."""
        if role == "version":
            return element is not self._current(element)
        start, end = self._interval(element)
        ended = bool(end and end <= self._day)
        return ended or self._has_state(element) or bool(self.state(element)) or self._waits(element, start)

    def is_former(self, version: Element) -> bool:
        """Return whether a wording of a block has begun and is no longer in force."""
        return self.is_out(version, "version") and "" < self._interval(version)[0] <= self._day

    def former_span(self, wording: Element) -> tuple[str, str] | None:
        """Return the first and the last day of a wording that stands no longer; None unless both are known."""
        start, end = self._stated_days(wording)
        if not end and start:
            end = min((day for one in self._others(wording) if (day := self._interval(one)[0]) > start), default="")
        if not start or not start < end <= self._day:
            return None
        return start, (date.fromisoformat(end) - timedelta(days=1)).isoformat()

    def is_replaced(self, element: Element) -> bool:
        """Return whether a wording of the same number stands in place of this one, or its time has not come."""
        return self._has_other(element) or any(
            element.get(name) in values for name, values in self._table.get("later", {}).items()
        )

    def state(self, element: Element) -> str:
        """Return how a scheme calls the state of a unit that is not in force; empty for one in force."""
        if local_name(element) != self._unit.get("unit"):
            return ""
        start, end = self._stated_days(element)
        state = element.findtext(self._unit["state"]) or ""
        ended = bool(end) and end <= self._day and start <= self._day
        called: dict[str, str] = self._unit["out"]
        return called.get(state, "…" if ended else "")

    def _stated_days(self, element: Element) -> tuple[str, str]:
        """Return the first day of an element and the first after it, also from its unit's metadata."""
        if local_name(element) != self._unit.get("unit"):
            return self._interval(element)
        return _iso(element.findtext(self._unit["from"]) or ""), _iso(element.findtext(self._unit["until"]) or "")

    def _has_state(self, element: Element) -> bool:
        states = (*self._table.get("out", {}).items(), *self._table.get("later", {}).items())
        return any(element.get(name) in values for name, values in states)

    def _waits(self, element: Element, start: str) -> bool:
        """Return whether an element begins later and another wording stands until then."""
        return start > self._day and self._has_other(element)

    def _has_other(self, element: Element) -> bool:
        return bool(_number(element)) and any(self._stands(one) for one in self._others(element))

    def _others(self, element: Element) -> list[Element]:
        """Return the other wordings of an element: of its name and number, at its place."""
        around, number = element.getparent(), _number(element)
        if around is None:
            return []
        return [one for one in around if one.tag == element.tag and one is not element and _number(one) == number]

    def _stands(self, element: Element) -> bool:
        start, end = self._interval(element)
        return not self._has_state(element) and start <= self._day and (not end or end > self._day)

    def _current(self, version: Element) -> Element | None:
        """Return the wording of a block that is in force: the last one that has begun."""
        around = version.getparent()
        wordings = [version] if around is None else [one for one in around if one.tag == version.tag]
        begun = [(self._interval(one)[0], place) for place, one in enumerate(wordings) if self._stands(one)]
        return wordings[max(begun)[1]] if begun else None

    def _interval(self, element: Element) -> tuple[str, str]:
        """Return the first day of an element and the first one after it; empty where it states none."""
        if period := element.get("period", "").lstrip("#"):
            return self._periods.get(period, ("", ""))
        first, last = (
            next((stated for name in self._table.get(bound, ()) if (stated := element.get(name))), "")
            for bound in ("from", "until")
        )
        return self._day_of(first), self._day_of(last)

    def _day_of(self, stated: str) -> str:
        return _iso(self._events.get(stated[1:], "") if stated.startswith("#") else stated)


def first_day(scheme: Scheme, root: Element) -> str:
    """Return the day from which a document has effect, else its first wording; empty for neither."""
    stated = (declared_date(scheme.stated(root, path)) for path in ("in_force", "in_force_words"))
    if day := next((day for day in stated if _EARLIEST < day < _LATEST), ""):
        return day
    force = Force(scheme, root, date.today())
    return min((day for day in (*force.named_days(root), *force.first_days(root)) if day > _EARLIEST), default="")


def _iso(stated: str) -> str:
    """Return a day as YYYY-MM-DD, also of one that is written without hyphens; empty for what is no day."""
    digits = re.sub(r"\D", "", stated[:10])
    known = len(digits) == len("YYYYMMDD") and digits < _NO_END
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if known else ""


def _identity(element: Element) -> str:
    return element.get("eId") or element.get("id") or ""


def _number(element: Element) -> str:
    """Return the number of an element, or of the section that a group titles."""
    section = element.find("{*}P1") if local_name(element) == "P1group" else None
    held = element if section is None else section
    return next((words_of(one) for one in held if local_name(one) in _NUMBERS), "")


def _periods(root: Element, events: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the first and the last day of each group of times of an Akoma Ntoso document."""
    found: dict[str, tuple[str, str]] = {}
    for group in root.iter("{*}temporalGroup"):
        bounds = [
            [_iso(events.get(one.get(bound, "").lstrip("#"), "")) for one in group.iter("{*}timeInterval")]
            for bound in ("start", "end")
        ]
        found[_identity(group)] = (min(bounds[0], default=""), max(bounds[1], default="") if all(bounds[1]) else "")
    return found
