"""source records made by hand, and by hypothesis with text of every unpleasant kind."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ingestion.records.source_record import SourceRecord
from ingestion.types.description import FIELDS, LIST_FIELDS, Description, FieldName, FieldValue
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.run import Phase
from ingestion.types.source import Download, Extraction, Indexed, ListedSource, Quality, Relation
from rag_engine.messages import Message

VALUES: dict[FieldName, tuple[str, ...]] = {
    "title": ("Piano caldo",),
    "authority": ("Regione Esempio",),
    "document_type": ("Framework",),
    "hazards": ("Heatwaves", "Drought"),
    "target": ("Residents of the region",),
    "key_criteria": ("Health and wellbeing",),
    "tags": ("Vulnerable groups",),
    "description": ("A plan.\nIn two lines.",),
    "language": ("it",),
    "date": ("2021-06-30",),
    "geographical_level": ("National",),
    "countries": ("Italy", "France"),
    "notes": ("=1+1 found in the text",),
}


def source_record(
    code: str = "ADM001", values: dict[FieldName, tuple[str, ...]] | None = None, relation: Relation | None = None
) -> SourceRecord:
    """Return a source that came through all phases, described by VALUES or what is given."""
    given = VALUES if values is None else values
    described = tuple(FieldValue(f, v, "rule", "", 1, 0.9) for f in FIELDS for v in given.get(f, ()))
    mark = LicenceMark("mark", "GREEN", "CC BY 4.0", 30, "Licensed under CC BY 4.0", "footer")
    relation = relation or Relation(work=code)
    outcomes: dict[Phase, Outcome] = {
        "licence": Outcome("done", "licence_green", Message(), LicenceVerdict("GREEN", "CC BY 4.0", (mark,))),
        "acquisition": Outcome(
            "done",
            "",
            Message(),
            Download(f"downloads/{code}_plan.pdf", (), "ab" * 32, 9, "application/pdf", "file", "2026-01-01"),
        ),
        "portals": Outcome("skipped", "not_a_portal"),
        "extraction": Outcome(
            "done", "", Message(), Extraction("cd" * 32, "application/pdf", 3, 0, 0, 900, 800, "Plan", "it", 9)
        ),
        "quality": Outcome(
            "done", "", Message(), Quality(73.5, 40, 15, 10, 8.5, 1.0, ("Introduction",), ("heat", "alert"))
        ),
        "deduplication": Outcome(
            "skipped" if relation.superseded else "done",
            "superseded" if relation.superseded else "",
            Message(),
            relation,
        ),
        "metadata": Outcome("done", "", Message(), Description(described)),
        "indexing": Outcome("done", "", Message(), Indexed("abababababab", 12, "f")),
    }
    source = ListedSource(
        code, f"https://example.org/{code}.pdf", title="Plan", origin=Message("seeds.xlsx, Sheet1, row 2")
    )
    return SourceRecord(source, outcomes)


def stopped(one: SourceRecord, phase: Phase, outcome: Outcome) -> SourceRecord:
    """Return the same source stopped at a phase, with nothing after it."""
    kept = dict(list(one.outcomes.items())[: list(one.outcomes).index(phase)])
    return replace(one, outcomes={**kept, phase: outcome})


_TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(max_size=10).map(lambda text: f"={text}"),
    st.sampled_from([
        '=HYPERLINK("http://x")', "+1", "-1", "@a", "\t=1", "'=1", "''+", " =1", "a\r\nb", "_x0041_", "_x000D_",
        "a;b|c", "#N/A", "TRUE", "1,5", "2020-01-01", "日本語 ⟨ß⟩", "a\x00b\x1f", "\ud800", "x\u2028y", "𝔘" * 9,
        "1\n2\n3",
        '"quoted", twice ""', "sep=;", "National - a; b",
    ]),
)  # fmt: skip
DOSSIERS = st.lists(
    st.fixed_dictionaries(
        {field: st.lists(_TEXTS, max_size=3 if field in LIST_FIELDS else 1).map(tuple) for field in FIELDS}
    ),
    min_size=1,
    max_size=4,
).map(lambda many: [source_record(f"ADM{n:03}", values) for n, values in enumerate(many)])
