"""Versions of a work among documents that were added as files, by their official identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_engine.text.identifiers import WorkPlace, work_place
from rag_engine.types.document import UNDATED, DocumentRecord, Metadata


@dataclass(frozen=True, slots=True)
class _Placed:
    record: DocumentRecord
    place: WorkPlace

    @property
    def since(self) -> str:
        """The day of the version, else of the document; the act itself comes before its consolidated versions."""
        return self.place.date or self.record.metadata.date


def join_versions(documents: Iterable[DocumentRecord]) -> Iterator[tuple[DocumentRecord, Metadata]]:
    """Yield each document whose identifiers make it a version of a work, with its new metadata.

    A version is superseded from the day of the next one. Translations of a work share it and supersede none, and so do
    copies of one version. A corrigendum is no version of what it corrects. What a person said of versions stays.
    """
    placed = [_Placed(record, work_place(record.metadata.identifiers)) for record in documents]
    for group in _works([one for one in placed if one.place.works and not one.place.corrects]):
        work = next((one.record.metadata.work for one in group if one.record.metadata.work), group[0].record.origin)
        for one in group:
            metadata = one.record.metadata
            if not metadata.superseded:
                metadata = replace(metadata, work=metadata.work or work, superseded=_superseded(one, group))
                metadata = replace(metadata, version=metadata.version or _label(one.place))
            if metadata != one.record.metadata:
                yield one.record, metadata


def _works(placed: Iterable[_Placed]) -> list[list[_Placed]]:
    """Return groups of two documents or more that share a work."""
    groups: dict[str, list[_Placed]] = {}
    for one in placed:
        joined = {id(groups[key]): groups[key] for key in one.place.works if key in groups}
        group = [*(other for some in joined.values() for other in some), one]
        groups |= {key: group for other in group for key in other.place.works}
    return [group for group in {id(group): group for group in groups.values()}.values() if len(group) > 1]


def _superseded(one: _Placed, group: Sequence[_Placed]) -> str:
    """Return since when a newer version of the same language replaces a document; empty for the newest."""
    newer = [other for other in group if _is_newer(other, one)]
    return min((other.since or UNDATED for other in newer), default="")


def _label(place: WorkPlace) -> str:
    return place.date or (f"rev. {place.revision}" if place.revision else "")


def _is_newer(one: _Placed, other: _Placed) -> bool:
    if one.record.metadata.language != other.record.metadata.language:
        return False
    if one.place.revision != other.place.revision:
        return one.place.revision > other.place.revision
    if bool(one.place.date) != bool(other.place.date):
        # One names the day of its version, the other is the act as it was published.
        return bool(one.place.date)
    return bool(one.since and other.since and one.since > other.since)
