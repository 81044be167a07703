from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from ingestion.paced_model import ModelTimeoutError, PacedModel
from rag_engine.errors import BackendError


class Model:
    """A model that does as it is told."""

    name = "model"

    def __init__(self, act: Callable[[], dict[str, object]]) -> None:
        self.act = act
        self.given: list[float] = []

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        self.given.append(seconds)
        return self.act()


def test_a_long_request_has_more_time_than_a_short_one_within_bounds() -> None:
    paced = PacedModel(Model(dict))
    assert paced.limit(1_000, 90) == 90
    assert paced.limit(12_000, 90) == 270
    assert paced.limit(10_000_000, 90) == 720


def test_the_limit_follows_the_measured_speed() -> None:
    def slow() -> dict[str, object]:
        threading.Event().wait(0.2)
        return {}

    paced = PacedModel(Model(slow))
    paced.complete_json("", "x" * 100, {}, seconds=1.0)
    # Three times what a hundred characters took, for ten times as many.
    assert 6.0 <= paced.limit(1_000, 1.0) <= 8.0


def test_after_three_requests_without_an_answer_the_model_is_not_asked_again() -> None:
    free = threading.Event()

    def hang() -> dict[str, object]:
        free.wait(30)
        return {}

    model = Model(hang)
    paced = PacedModel(model)
    for _ in range(3):
        with pytest.raises(ModelTimeoutError, match="no answer within"):
            paced.complete_json("", "", {}, seconds=0.02)
    assert model.given == sorted(model.given)
    assert model.given[2] > model.given[0]
    started = time.monotonic()
    with pytest.raises(ModelTimeoutError, match="not asked again"):
        paced.complete_json("", "", {}, seconds=60)
    assert time.monotonic() - started < 1
    assert len(model.given) == 3
    free.set()


def test_an_answer_in_between_begins_the_count_anew() -> None:
    free = threading.Event()

    def hang() -> dict[str, object]:
        free.wait(30)
        return {}

    model = Model(hang)
    paced = PacedModel(model)
    for act in (hang, hang, dict, hang, hang):
        model.act = act
        if act is hang:
            with pytest.raises(ModelTimeoutError, match="no answer within"):
                paced.complete_json("", "", {}, seconds=0.02)
        else:
            assert paced.complete_json("", "", {}, seconds=1) == {}
    free.set()


def test_whatever_a_client_breaks_with_names_the_model() -> None:
    def broken() -> dict[str, object]:
        raise ValueError("half")

    with pytest.raises(BackendError, match="model failed with ValueError: half"):
        PacedModel(Model(broken)).complete_json("", "", {}, seconds=1)
