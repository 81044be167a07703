"""All the marks of a source to one verdict; what contradicts itself is for a person."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.licence.names import RESTRICTIONS, restrictions_of
from ingestion.licence.table import score_of
from ingestion.types import LicenceMark, LicenceVerdict, Light

# What a permission or a sentence beside a licence is limited by: "Commercial use reserved (NC)".
_LIMITED = tuple(f"{restriction})" for restriction in RESTRICTIONS)
# The rules for a licence that is named without being granted.
_NAMED = ("variant-not-stated", "name-alone", "named-in-passing")
_LICENCES = ("CC ", "CC0", "OGL", "Licence Ouverte", "dl-de", "IODL", "NLOD", "ODbL", "ODC-By", "PDDL", "GFDL", "GPL")


def decide(marks: Sequence[LicenceMark]) -> LicenceVerdict:
    """Return the traffic light with everything it rests on.

    A person's word wins. Else whatever reserves rights keeps a document from GREEN, and beside anything that frees it
    makes a conflict; two licences that allow different things are one as well. A Creative Commons licence of whatever
    kind is GREEN: a copy for reading, searching and citing inside the house is not commercial, not adapted and not
    passed on; what it restricts is recorded.
    """
    kept = tuple(marks)
    if people := [mark for mark in kept if mark.layer == "person"]:
        last = people[-1]
        return LicenceVerdict(last.light, last.licence, kept, restrictions_of(last.licence))
    green = [mark for mark in kept if mark.light == "GREEN" and mark.score > 0]
    red = [mark for mark in kept if mark.light == "RED"]
    # A licence that is named without being granted beside reserved rights is a contradiction for a person as well.
    hinted = [mark for mark in kept if mark.light == "YELLOW" and mark.rule in _NAMED]
    if red and (green or hinted):
        return LicenceVerdict("YELLOW", (green or hinted)[0].licence, kept, _restrictions(green), conflict=True)
    if red:
        best = max(red, key=lambda mark: mark.score)
        light: Light = (
            "RED" if sum({mark.quote: mark.score for mark in red}.values()) >= score_of("decides") else "YELLOW"
        )
        return LicenceVerdict(light, best.licence if light == "RED" else "", kept)
    if not green:
        named = next((mark.licence for mark in kept if mark.licence), "")
        return LicenceVerdict("YELLOW", named, kept, restrictions_of(named))
    best = max(green, key=lambda mark: (mark.licence.startswith(_LICENCES), mark.score))
    limits = [mark for mark in kept if mark.light == "YELLOW" and mark.score == 0 and mark.licence.endswith(_LIMITED)]
    restrictions = _restrictions((*green, *limits))
    # Two licences that allow different things contradict each other; versions of one do not.
    if len({restrictions_of(mark.licence) for mark in green if mark.licence.startswith(_LICENCES)}) > 1:
        return LicenceVerdict("YELLOW", best.licence, kept, restrictions, conflict=True)
    enough = sum({(mark.layer, mark.quote): mark.score for mark in green}.values()) >= score_of("decides")
    return LicenceVerdict("GREEN" if enough else "YELLOW", best.licence, kept, restrictions)


def _restrictions(marks: Sequence[LicenceMark]) -> tuple[str, ...]:
    found = {token for mark in marks for token in restrictions_of(mark.licence)}
    return tuple(token for token in RESTRICTIONS if token in found)
