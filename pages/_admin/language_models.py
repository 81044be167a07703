"""The language model on the Settings tab: the one that answers, others, and one to download."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.language_models import (
    fitting_model,
    list_models,
    proposed_models,
    queue_pull,
    use_model,
)
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors, why_refused
from pages._shared.interface_language import _
from pages._shared.jobs import draw_jobs, told_of_latest
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import number
from rag_engine.config import read_config
from rag_engine.models import ollama_memory
from rag_engine.settings import find_setting, why_not_kept
from rag_engine.types.language_model import InstalledModel

_OTHER = ""


def draw_language_models() -> None:
    """Draw which model writes the answers, and how another one is chosen or downloaded."""
    st.header(_("Language model"), anchor=False)
    model, _error = resources.language_model()
    if model is None:
        st.markdown(_("Answers are quotations. A language model writes them out, with a citation for each claim."))
    else:
        st.markdown(_("Answers are written by **{model}**.").format(model=escape(model.name)))
    if read_config(resources.workspace()).generation.openai_url:
        st.caption(_("An OpenAI-compatible server is set below. It is asked instead of Ollama."))
        return
    installed: list[InstalledModel] = []
    if why := why_refused(lambda: installed.extend(list_models(resources.context()))):
        _draw_missing(why)
        return
    _draw_installed(installed)
    _draw_download({one.name for one in installed})
    draw_jobs(lambda job: job.kind == "pull")
    if told := told_of_latest("pull"):
        st.caption(told)


def _draw_missing(why: str) -> None:
    """Draw how to get Ollama, and why it does not answer."""
    st.markdown(
        _(
            "Ollama runs language models on this machine; nothing leaves it. Install and open it, then look again: "
            "models are listed and downloaded here."
        )
    )
    with st.container(horizontal=True):
        st.link_button(_("Get Ollama"), "https://ollama.com/download", icon=":material/download:")
        if st.button(_("Look again"), key="look for ollama", icon=":material/refresh:"):
            resources.language_model.clear()
            st.rerun()
    st.caption(escape(why))


def _draw_installed(installed: list[InstalledModel]) -> None:
    """Draw the models that Ollama has, each with its size and the button that chooses it."""
    chosen = read_config(resources.workspace()).generation.ollama_model or (installed[0].name if installed else "")
    locked = why_not_kept(find_setting("ollama_model"))
    for model in installed:
        with st.container(horizontal=True, vertical_alignment="center", key=f"model {model.name}"):
            st.markdown(f"**{escape(model.name)}** · {_gigabytes(model.size)}", width=300)
            if chosen in (model.name, model.name.removesuffix(":latest")):
                st.markdown(":green-badge[:material/check: " + _("in use") + "]")
            elif locked is None and act_button("use_model", _("Use"), key=f"use {model.name}"):
                with show_errors():
                    use_model(resources.context(), model.name)
                    st.rerun()
    if locked is not None and installed:
        st.caption(_("The server's administrator has fixed the model for all."))


def _draw_download(installed: set[str]) -> None:
    """Draw the models that may be downloaded, the one that fits the memory first."""
    memory = ollama_memory(resources.workspace())
    fitting = fitting_model(memory) if memory else None
    proposed = [model for model in reversed(proposed_models()) if model.name not in installed]
    if fitting in proposed:
        proposed.remove(fitting)
        proposed.insert(0, fitting)
    sizes = {model.name: model for model in proposed}

    def shown(name: str) -> str:
        if name == _OTHER:
            return _("Another model")
        needs = _("{size} to download, {memory} of memory").format(
            size=_gigabytes(sizes[name].size), memory=_gigabytes(sizes[name].memory)
        )
        fits = " · " + _("fits this machine") if sizes[name] == fitting else ""
        return f"{name} · {needs}{fits}"

    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(_("Download a model"), [*sizes, _OTHER], format_func=shown, key="model to download")
        if name == _OTHER:
            name = st.text_input(
                _("Name of the model"),
                key="model named",
                max_chars=200,
                help=_("As ollama.com/library lists it, for example {name}.").format(name="mistral-nemo"),
            )
        if act_button("queue_pull", _("Download"), key="download model", type="primary", icon=":material/download:"):
            with show_errors():
                queue_pull(resources.context(), name)
                st.rerun()
    if memory:
        st.caption(_("This machine has {memory} of memory.").format(memory=_gigabytes(memory)))


def _gigabytes(size: int) -> str:
    return _("{n} GB").format(n=number(size / 1e9, 1))
