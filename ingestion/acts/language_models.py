"""Acts of an admin upon the language models of Ollama: listing, downloading and trying them."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ingestion.acts.context import ActContext, queue_once
from ingestion.acts.register import ActingPlace, act, enter
from ingestion.acts.settings import change_setting
from ingestion.jobs.queue import Job
from rag_engine.config import judge_settings, read_config
from rag_engine.errors import InputError
from rag_engine.installation import DATA
from rag_engine.models import ollama_models, open_judge, pull_ollama_model
from rag_engine.prompts import TRIAL, TRIAL_ANSWER
from rag_engine.settings import find_setting, why_not_kept
from rag_engine.types.language_model import InstalledModel


@dataclass(frozen=True, slots=True)
class ProposedModel:
    """A model of the table, with its download and the memory that it needs, in bytes."""

    name: str
    size: int
    memory: int


@dataclass(frozen=True, slots=True)
class Trial:
    """The test question's answer by a model, and the seconds that it took with loading."""

    answer: str
    seconds: float
    right: bool


@cache
def proposed_models() -> tuple[ProposedModel, ...]:
    """Return the models that may be proposed, smallest first."""
    table = tomllib.loads((DATA / "language_models.toml").read_text(encoding="utf-8"))
    return tuple(ProposedModel(name, **row) for name, row in table.items())


def fitting_model(memory: int) -> ProposedModel | None:
    """Return the largest proposed model that these bytes of memory run; None if they are too few."""
    return next((model for model in reversed(proposed_models()) if model.memory <= memory), None)


@act("admin", "Listing language models")
def list_models(context: ActingPlace) -> list[InstalledModel]:
    """Return the models that Ollama has and that write; BackendError if it does not answer."""
    return ollama_models(context.workspace)


@act("admin", "Downloading a language model")
def queue_pull(context: ActContext, name: str) -> Job:
    """Have the worker download a model, use it and try it; a download that is under way serves as well."""
    if not name.strip():
        raise InputError("There is no name of a model.", help="Choose one, or type a name from ollama.com/library.")
    return queue_once(context, "pull", {"model": name.strip()})


@act("admin", "Downloading a language model", on_first=True)
def pull(context: ActingPlace, name: str, *, progress: Callable[[int, int], None] = lambda *_: None) -> None:
    """Download a model, and have it write the answers from the next question on."""
    for done, total in pull_ollama_model(context.workspace, name):
        progress(done, total)
    enter(context, name)
    use_model(context, name)


@act("admin", "Choosing a language model")
def use_model(context: ActingPlace, name: str) -> None:
    """Have a model that Ollama has write the answers; a model that the environment names stays."""
    if why_not_kept(find_setting("ollama_model")) is None:
        change_setting(context, "ollama_model", name, context.person.name)


@act("admin", "Trying a language model")
def try_model(context: ActingPlace, name: str) -> Trial:
    """Ask a model one question about one sentence; BackendError if it does not answer."""
    config, begun = read_config(context.workspace), time.monotonic()
    model = open_judge(config, judge_settings(config.generation, f"ollama/{name}"))
    answer = "".join(model.stream(TRIAL)).strip()
    return Trial(answer, time.monotonic() - begun, TRIAL_ANSWER in answer.replace(",", "."))
