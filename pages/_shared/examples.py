"""Questions to begin with, each answerable from a document of the sample collection."""

from __future__ import annotations

from collections.abc import Collection

# (a question, the stem of the sample file that answers it)
_EXAMPLES = (
    ("When must a local flood plan be replaced and reviewed?", "en-uk-flood-resilience-act"),
    ("Quali misure prevede il piano caldo per le persone anziane?", "it-italia-piano-caldo"),
    ("Quels sont les niveaux de vigilance du plan canicule ?", "fr-france-plan-canicule"),
    ("¿Qué medidas prevé el plan nacional frente al calor?", "es-espana-plan-calor"),
)


def example_questions(files: Collection[str]) -> list[str]:
    """The examples whose documents are among the files of the collection."""
    stems = {file.rpartition(".")[0] for file in files}
    return [question for question, stem in _EXAMPLES if stem in stems]
