"""Parsers of foreign content, searched for inputs that end in another error than the promised ones.

Each parser is searched in a separate process, as foreign files are read. An input counts as a loss too if a library
kills that process, or if it takes more memory than a file may cost.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from tests.harness.fuzzing.coverage_search import Broken, search
from tests.harness.fuzzing.documents import document_seams
from tests.harness.fuzzing.seam import Seam
from tests.harness.fuzzing.texts import text_seams
from tests.harness.killing.acts import Failure
from tests.harness.killing.kills import AT_ONCE
from tests.harness.killing.processes import run
from tests.harness.killing.scenes import folder_in_memory
from tests.harness.tally import Effort, Tally

_SECONDS = {"short": 0.2, "whole": 4.0}
# What an input of some kilobytes may take beside the libraries that read it.
_MEMORY = 2**30
_AT_HAND = "at hand"

Seams = Callable[[Path], Mapping[str, Seam]]


def fuzz(effort: Effort) -> Iterator[Tally]:
    """Search each parser, in the short form every third, for as many seconds as there are."""
    with folder_in_memory() as folder:
        named = [(seams, what) for seams in (text_seams, document_seams) for what in seams(folder)]
        named = named[::3] if effort == "short" else named
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from pool.map(partial(searched, folder, _SECONDS[effort]), *zip(*named, strict=True))


def searched(folder: Path, seconds: float, seams: Seams, what: str) -> Tally:
    """Search one of the parsers in a separate process."""
    place = folder / what.replace("/", " ")
    place.mkdir()
    result: tuple[int, list[Broken]] | Failure = run(_search, seams, what, place, seconds)
    if isinstance(result, Failure):
        at_hand = (place / _AT_HAND).read_bytes() if (place / _AT_HAND).exists() else b""
        return Tally(f"changed inputs of {what}", 1, (f"{result.words} at {_shown(at_hand)}",))
    tried, broken = result
    return Tally(f"changed inputs of {what}", tried, tuple(f"{one.error} for {_shown(one.content)}" for one in broken))


def _search(seams: Seams, what: str, place: Path, seconds: float) -> tuple[int, list[Broken]]:
    seam = seams(place)[what]
    most = psutil.Process().memory_info().vms + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    # Tests take a warning for an error; a person does not see it.
    warnings.simplefilter("ignore")

    def parse(content: bytes) -> None:
        # Whatever becomes of this process, the one that began it finds here at what.
        (place / _AT_HAND).write_bytes(content)
        seam.parse(content)

    return search(parse, seam.seeds, seam.promised, seconds=seconds, most_bytes=seam.longest)


def _shown(content: bytes) -> str:
    return f"{content[:2000]!r}"
