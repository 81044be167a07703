"""Settings of a question, kept in the address and drawn as chips below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import streamlit as st

from pages._ask.sidebar import CHOICES, chosen_retrieval, recipe_name
from pages._shared.filter_widgets import display_text, document_titles, filter_label, named_values
from pages._shared.interface_language import _
from pages._shared.jobs import addition_under_way
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, long_day, number
from rag_engine.answering.structured.answer_schema import AnswerSchema, read_schema, schema_titled, shipped_schemas
from rag_engine.answering_documents import answering_documents
from rag_engine.config import RetrievalConfig
from rag_engine.conversations.store import QuestionSettings
from rag_engine.engine import Engine
from rag_engine.filters import DOCUMENT, VERSIONS, Filter
from rag_engine.processes.writer_lock import find_writer

# The search settings by their names in the address, with the keys of their widgets.
_WIDGETS = {"passages": "top_k", "similarity": "similarity_floor", "recipe": "profile", "varied": "varied"}
_FORM, _FORM_WIDGET = "format", "answer format"
_NOTED = "ask settings in address"

# How a question is asked: by which filter and search settings, and for which format of the answer, None for text.
Asking = tuple[Filter, RetrievalConfig, AnswerSchema | None]


def settings_of(engine: Engine, asking: Asking) -> QuestionSettings:
    """Return how a question is asked now."""
    wanted = asking[0]
    snapshot = engine.collection.snapshot()
    allowed = answering_documents(wanted, snapshot.facets, snapshot.documents)
    matching = len(snapshot.documents if allowed is None else allowed)
    # An addition that waits for its worker will be noticed as a change, too, by who asks again.
    changing = find_writer(engine.config.workspace) is not None or addition_under_way() is not None
    return replace(_settings(asking), matching=matching, documents=len(snapshot.documents), changing=changing)


def was_asked(settings: QuestionSettings, asking: Asking) -> bool:
    """Return whether a question was asked in this way."""
    before = replace(settings, wanted={name: tuple(values) for name, values in settings.wanted.items()})
    return replace(before, matching=0, documents=0, changing=False) == _settings(asking)


def asking_of(settings: QuestionSettings, now: Asking) -> Asking:
    """Return how a question was asked, in what it does not keep as `now`.

    InputError where the format of its answer is not there: one that came as a file is, while it is the one chosen now.
    """
    _wanted, usual, schema = now
    own = chosen_retrieval(usual, settings.profile, settings.top_k, settings.similarity_floor, varied=settings.varied)
    return settings.wanted, own, schema_titled(settings.form, schema) if settings.form else None


def _settings(asking: Asking) -> QuestionSettings:
    """Return settings that were counted in no collection."""
    wanted, retrieval, schema = asking
    return QuestionSettings(
        wanted={name: tuple(values) for name, values in wanted.items()},
        matching=0,
        documents=0,
        profile=retrieval.profile,
        top_k=retrieval.top_k,
        similarity_floor=retrieval.similarity_floor,
        varied=retrieval.weights.mmr_lambda is not None,
        form=schema.title if schema else "",
    )


def note_in_address(engine: Engine, retrieval: RetrievalConfig, schema: AnswerSchema | None) -> None:
    """Put the search settings and the answer format into the address, as far as they are not usual."""
    usual = _parameters(engine.config.retrieval)
    chosen = {name: value for name, value in _parameters(retrieval).items() if value != usual[name]}
    if schema and schema.title in _forms():
        chosen[_FORM] = schema.title
    st.session_state[_NOTED] = chosen
    for name in (*usual, _FORM):
        if name not in chosen:
            st.query_params.pop(name, None)
        elif st.query_params.get(name) != chosen[name]:
            st.query_params[name] = chosen[name]


def follow_address(engine: Engine) -> bool:
    """Set the widgets to the settings of an opened address.

    An address that this page has noted sets nothing. A setting that a widget does not take counts as not named. Return
    whether the widgets were set: they are then drawn without a default value.
    """
    usual = _parameters(engine.config.retrieval)
    given = {name: st.query_params[name] for name in (*usual, _FORM) if name in st.query_params}
    if not given or given == st.session_state.get(_NOTED):
        return False
    for name, key in _WIDGETS.items():
        known = {str(choice): choice for choice in CHOICES[key]}
        st.session_state[key] = known.get(given.get(name, ""), known[usual[name]])
    st.session_state[_FORM_WIDGET] = given[_FORM] if given.get(_FORM) in _forms() else ""
    return True


def _parameters(retrieval: RetrievalConfig) -> dict[str, str]:
    values = (
        retrieval.top_k,
        retrieval.similarity_floor,
        retrieval.profile,
        retrieval.weights.mmr_lambda is not None,
    )
    return dict(zip(_WIDGETS, map(str, values), strict=True))


def _forms() -> tuple[str, ...]:
    return tuple(read_schema(file).title for file in shipped_schemas())


def draw_settings(settings: QuestionSettings, asked: str) -> None:
    """Draw a chip for each filter, the collection's size, the date and each unusual search setting."""
    st.markdown(" ".join(f":gray-badge[{escape(chip)}]" for chip in _chips(settings, asked)))


def _named(ids: Sequence[str]) -> str:
    titles = document_titles(ids)
    named = ", ".join(titles[:2])
    more = len(titles) - 2
    return counted("{names} and {n} more", "{names} and {n} more", more, names=named) if more > 0 else named


def _chips(settings: QuestionSettings, asked: str) -> Iterator[str]:
    yield from _collection_chips(settings)
    yield long_day(asked)
    usual = RetrievalConfig()
    if settings.profile != usual.profile:
        yield named_values(_("Recipe"), recipe_name(settings.profile))
    if settings.top_k != usual.top_k:
        yield counted("{n} passage", "{n} passages", settings.top_k)
    if settings.similarity_floor != usual.similarity_floor:
        yield _("Similarity from {least}").format(least=number(settings.similarity_floor, 2))
    if settings.varied:
        yield _("Varied passages")
    if settings.form:
        yield named_values(_("Answer format"), settings.form)


def _collection_chips(settings: QuestionSettings) -> Iterator[str]:
    """Yield what was asked of: the filter, how many documents, and whether they were being changed."""
    for name, values in settings.wanted.items():
        if name == DOCUMENT:
            yield _("Only in: {documents}").format(documents=_named(values))
        if name in (DOCUMENT, VERSIONS):
            continue
        yield named_values(filter_label(name), ", ".join(display_text(name, value) for value in values))
    if settings.matching == settings.documents:
        yield counted("{n} document", "{n} documents", settings.documents)
    else:
        matching = number(settings.matching)
        yield counted(
            "{matching} of {n} document", "{matching} of {n} documents", settings.documents, matching=matching
        )
    if settings.changing:
        yield _("While the collection was being changed")
