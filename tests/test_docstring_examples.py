"""The examples in the docstrings of the product give the results that they show."""

from __future__ import annotations

import doctest
import re
from importlib import import_module

import pytest

from tests.source_trees import SOURCES, name_of, text_of

MODULES = [
    name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for path in SOURCES
    if re.search(r"^ *>>> ", text_of(path), re.MULTILINE)
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("package", ["rag_engine", "ingestion"])
def test_a_package_shows_examples(package: str) -> None:
    assert any(name.startswith(f"{package}.") for name in MODULES)
