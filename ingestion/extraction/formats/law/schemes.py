"""Schemes of law as XML: how each is recognised, and the roles of its elements (data/law_xml.toml)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from ingestion.extraction.assemble import one_line
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import Element
from ingestion.types.outcome import Refusal
from rag_engine.text.tables import read_table

# How many elements tell whether a root with a common name is that of a law.
_TELLING = 60
_NAME = re.compile(r"(?:(?P<parent>[^/@]+)/)?(?P<name>[^/@]+)(?:@(?P<attribute>[^=]+)=(?P<value>.+))?")
# Normattiva ends a title with the code of the gazette.
_PRINTING = re.compile(r"\s*\(\d\w{6,8}\)\s*$")
_BARE = re.compile(r"[\[(]?[\dIVXLC]+[A-Za-z]{0,3}(?:[.-]\d+)*[.)\]]?")


@dataclass(frozen=True, slots=True)
class RoleRule:
    """The role of elements of a name, in a parent, with an attribute's value or its beginning."""

    role: str
    parent: str = ""
    attribute: str = ""
    value: str = ""

    def holds(self, element: Element) -> bool:
        """Return whether an element of the name has this role."""
        if self.parent:
            parent = element.getparent()
            return parent is not None and local_name(parent) == self.parent
        if not self.attribute:
            return True
        stated = element.get(self.attribute) or ""
        return stated.startswith(self.value[:-1]) if self.value.endswith("*") else stated == self.value


@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme of law as XML; `table` has what data/law_xml.toml says of it, `rules` the roles by name."""

    name: str
    table: Mapping[str, Any]
    rules: Mapping[str, tuple[RoleRule, ...]]

    def role(self, element: Element) -> str:
        """Return the role of an element; empty for one that the scheme does not tell."""
        return next((rule.role for rule in self.rules.get(local_name(element), ()) if rule.holds(element)), "")

    def stated(self, root: Element, kind: str) -> str:
        """Return what a document says of itself, such as its title or its language; empty where it is silent."""
        for path in self.table.get(kind, ()):
            for text in values_at(root, path):
                if text:
                    return text
        return ""

    def title(self, root: Element) -> str:
        """Return the title that a document states, without the number of its printing."""
        unit = root.find(self.table["titled_by"]) if "titled_by" in self.table else None
        heads = [] if unit is None else [words_of(child) for child in unit if self.role(child) == "head"]
        title = _PRINTING.sub("", " ".join(heads).replace("— ", "—") or self.stated(root, "title"))
        number = self.stated(root, "number")
        return f"{title} – {self.table['number_noun']} {number}" if title and number else title

    def language(self, root: Element) -> str:
        """Return the language that a document states, as two letters; empty where it is silent."""
        stated = self.table.get("tongue") or self.stated(root, "language")
        return _TWO_LETTERS.get(stated.lower(), stated.lower()[:2])


_TWO_LETTERS = {
    "deu": "de", "ger": "de", "eng": "en", "fra": "fr", "fre": "fr", "ita": "it", "spa": "es", "por": "pt",
    "tur": "tr", "fin": "fi", "swe": "sv", "ell": "el", "gre": "el", "gr": "el", "pol": "pl", "ces": "cs", "cze": "cs",
    "slk": "sk", "slo": "sk", "hun": "hu", "ron": "ro", "rum": "ro", "nld": "nl", "dut": "nl", "dan": "da", "hrv": "hr",
    "bul": "bg", "slv": "sl", "est": "et", "lav": "lv", "lit": "lt", "mlt": "mt", "gle": "ga",
}  # fmt: skip


def values_at(root: Element, path: str) -> Iterator[str]:
    """Yield the texts at a path, or the values of the attribute that it ends in."""
    path, _, attribute = path.partition("/@")
    for found in root.iterfind(path):
        yield one_line(found.get(attribute) or "") if attribute else words_of(found)


def words_of(element: Element) -> str:
    """Return the text of an element on one line, a space where one part of it ends."""
    return one_line(" ".join(str(part) for part in element.itertext(etree.Element)))


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace; empty for a comment or an entity."""
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


@cache
def schemes() -> tuple[Scheme, ...]:
    """Return all schemes."""
    return tuple(Scheme(name, table, _rules(table["roles"])) for name, table in read_table("law_xml").items())


def _rules(roles: Mapping[str, str]) -> dict[str, tuple[RoleRule, ...]]:
    """Return the rules of each name, those that ask for more first."""
    found: dict[str, list[RoleRule]] = {}
    for role, names in roles.items():
        for match in filter(None, map(_NAME.fullmatch, names.split())):
            rule = RoleRule(role, match["parent"] or "", match["attribute"] or "", match["value"] or "")
            found.setdefault(match["name"], []).append(rule)
    return {
        name: tuple(sorted(rules, key=lambda rule: not (rule.parent or rule.attribute)))
        for name, rules in found.items()
    }


def scheme_of(path: Path) -> Scheme | None:
    """Return the scheme of a file of XML by its root; None if it is no law.

    Refusal if it is no XML.
    """
    first = _beginning(path, _TELLING)
    names = {local_name(element) for element in first}
    spaces = " ".join(f"{prefix} {space}" for prefix, space in first[0].nsmap.items()) + f" {first[0].tag}"
    return next((scheme for scheme in schemes() if _is_of(scheme, local_name(first[0]), names, spaces)), None)


def root_name(path: Path) -> str:
    """Return the name of the root of a file of XML, as it is written."""
    root = _beginning(path, 1)[0]
    return f"{root.prefix}:{local_name(root)}" if root.prefix else local_name(root)


def _is_of(scheme: Scheme, root: str, names: set[str], spaces: str) -> bool:
    if root not in scheme.table["roots"]:
        return False
    needed, within = scheme.table.get("needs"), scheme.table.get("namespace")
    return (not needed or not names.isdisjoint(needed)) and (not within or any(one in spaces for one in within))


def _beginning(path: Path, most: int) -> list[Element]:
    """Return the first elements of a file, in the order in which they begin."""
    with path.open("rb") as file:
        events = etree.iterparse(
            file, events=("start",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        found: list[Element] = []
        try:
            found.extend(element for _, element in islice(events, most))
        except etree.XMLSyntaxError as error:
            # Damage below the beginning is told when the whole is read.
            if not found:
                raise damaged(path, f"it is not valid XML ({error.msg})") from error
    return found


def noun_of(scheme: Scheme, unit: Element, number: str, language: str, title: str) -> str:
    """Return what the number of a unit is called, where it is printed alone; empty where it needs no word."""
    for row in scheme.table.get("nouns", ()):
        if row["unit"] != local_name(unit) or not (row.get("any") or _BARE.fullmatch(number)):
            continue
        below, named = row.get("below"), row.get("title")
        within = not below or any(local_name(one) == below for one in unit.iterancestors())
        if within and (not named or re.search(named, title)):
            return str(row["nouns"].get(language or "en", ""))
    return ""


def unknown_law(path: Path) -> Refusal:
    """Return the refusal of XML that is no law of a known scheme."""
    return Refusal(
        "unsupported_type",
        "{file} is XML with the root element “{root}”, and no law in a format that can be read.",
        help="Law is read as {formats}. Convert other XML, or give it the ending .txt to add it as plain text.",
        file=path.name,
        root=root_name(path)[:80],
        formats=", ".join(scheme.table["label"] for scheme in schemes()),
    )
