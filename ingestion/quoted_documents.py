"""The documents that an evaluation's questions quote, read as they are when they are added."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ingestion.backends.sandbox import Sandbox
from ingestion.describing import describe, read_descriptions
from ingestion.file_names import file_hash
from rag_engine.backends.language import identify_language
from rag_engine.config import OcrChoice
from rag_engine.errors import InputError
from rag_engine.geography import load_gazetteer
from rag_engine.types import Document


def read_documents(
    names: Iterable[str], folder: Path, ocr: OcrChoice, progress: Callable[[int, int, str], None] = lambda *_: None
) -> list[Document]:
    """The named files of a folder in alphabetical order, described by its metadata.jsonl where there is one.

    InputError names a file that is missing, FileRefused one that cannot be read: without it the figures would not be
    those of the questions.
    """
    wanted = sorted(set(names))
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} has no {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}.",
            help="Name the folder of the quoted documents.",
        )
    descriptions, gazetteer = read_descriptions(folder), load_gazetteer()
    documents: list[Document] = []
    with Sandbox(ocr=ocr) as sandbox:
        for done, name in enumerate(wanted):
            progress(done, len(wanted), name)
            extracted, given = sandbox.extract(folder / name), descriptions.get(name, {})
            language = given.get("language") or identify_language(extracted.text)
            declared = sandbox.declared(folder / name)
            metadata = describe(given, extracted, language, gazetteer, file=name, declared=declared)
            documents.append(Document(f"quoted:{name}", name, file_hash(folder / name), metadata, extracted))
    return documents
