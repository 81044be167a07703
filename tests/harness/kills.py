"""kill -9 at every write of an act, one after the other, and what the next process makes of what is left."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.harness.acts import Failure, Scene, State
from tests.harness.processes import act_again, act_undisturbed, act_watched, copied, state_now
from tests.harness.tally import Effort, Tally
from tests.harness.watched_writes import KILL, PASS, Write
from tests.ingestion.web_server import Answer, page, serving
from tests.portal.files import content, pdf
from tests.portal.site import META_CC_BY
from tests.portal.texts import about

_TOPICS = ("flood", "heat", "drought")
_PAGES = ("page", "file")
# Two writes of one file with nothing between: before the first, and when it has been begun. What follows them leaves
# what the second left, a file that is not whole.
_OF_A_ROW = 2
# As many moments of each act: in the short form, and where all would take longer than the whole may.
_FEW, _MOST = 2, 150
_AT_ONCE = 2


@dataclass
class KillAt:
    """A decision that kills a process at one of its moments, none for 0, and counts them and its writes."""

    moment: int = 0
    moments: int = 0
    writes: int = 0
    at: Write | None = None
    _last: Write | None = None
    _in_a_row: int = field(default=0)

    def __call__(self, write: Write) -> int:
        """Return whether the process goes on."""
        self.writes += 1
        self._in_a_row = self._in_a_row + 1 if write == self._last else 1
        self._last = write
        self.moments += self._in_a_row <= _OF_A_ROW
        if self.moments != self.moment or self._in_a_row > _OF_A_ROW:
            return PASS
        self.at = write
        return KILL


def kills(effort: Effort) -> Iterator[Tally]:
    """Kill each act at each of its writes; the same act afterwards must end as if none had been killed."""
    with TemporaryDirectory(dir=_memory()) as folder:
        for act, scene in scenes(Path(folder)):
            yield _killed_everywhere(act, scene, effort)
            shutil.rmtree(scene.folder.parent / "cases", ignore_errors=True)


def scenes(folder: Path) -> Iterator[tuple[str, Scene]]:
    """Yield each act with where it begins; what a scene is given holds until the next is asked for."""
    given, listed = folder / "given", folder / "listed"
    given.mkdir()
    listed.mkdir()
    for topic in _TOPICS:
        (given / f"{topic}.txt").write_text(_text(topic), encoding="utf-8")
    empty = Scene(folder / "empty", given)
    empty.folder.mkdir()
    yield "add", empty
    full = _after("add", empty, folder / "full")
    for act in ("erase", "rebuild", "rebuild --encode", "backup"):
        yield act, full
    with serving({}) as site:
        site.answers |= _answers("dams", "frost")
        rows = "\n".join(f"{name},{site.url(f'/{name}')}" for name in _PAGES)
        (listed / "sources.csv").write_text(f"Code,URL\n{rows}\n", encoding="utf-8")
        unlisted = replace(empty, given=listed, intranet=f"127.0.0.1:{site.port}")
        yield "import", unlisted
        waiting = _after("import", unlisted, folder / "waiting")
        yield "run", waiting
        fetched = _after("run", waiting, folder / "fetched")
        site.answers |= _answers("hail", "frost")
        yield "refresh", fetched


def _after(act: str, scene: Scene, folder: Path) -> Scene:
    after = copied(scene, folder)
    act_undisturbed(act, after)
    return after


def _answers(page_about: str, file_about: str) -> dict[str, Answer]:
    text, file = content(about(page_about), head=META_CC_BY), pdf(about(file_about))
    return {"/page": page(text), "/file": page(file, "application/pdf")}


def _killed_everywhere(act: str, start: Scene, effort: Effort) -> Tally:
    cases = start.folder.parent / "cases"
    undisturbed = copied(start, cases / "undisturbed")
    counted = KillAt()
    if failed := act_watched(act, undisturbed, counted):
        return Tally(f"kill -9 at the writes of {act}", 1, (f"undisturbed it ends with {failed.words}",))
    goal = state_now(undisturbed)
    step = -(-counted.moments // (_FEW if effort == "short" else _MOST))
    moments = range((step + 1) // 2, counted.moments + 1, step)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        lost = list(pool.map(partial(_killed_once, act, start, cases, goal), moments))
    every = f"all {counted.moments}" if step == 1 else f"1 in {step} of {counted.moments}"
    what = f"kill -9 at {every} moments between {counted.writes} writes: {act}"
    return Tally(what, len(moments), tuple(one for one in lost if one))


def _killed_once(act: str, start: Scene, cases: Path, goal: State, moment: int) -> str:
    """Return what was lost by a kill at a moment, "" for nothing."""
    scene = copied(start, cases / str(moment))
    killed = KillAt(moment)
    act_watched(act, scene, killed)
    at = f"{act}, moment {moment} ({killed.at})"
    result = act_again(act, scene)
    shutil.rmtree(scene.folder)
    if isinstance(result, Failure):
        return f"{at}: {result.words}"
    found, last = result
    wrong = [*unsound(found), *differences(last, goal)]
    return f"{at}: {'; '.join(wrong)}" if wrong else ""


def unsound(state: State) -> Sequence[str]:
    """Return what does not agree in the state of one collection."""
    wrong = ["half done documents"] if state["half done"] else []
    wrong += ["Chroma and tantivy disagree"] if state["dense"] != state["sparse"] else []
    return wrong + (["the indexes hold what the catalog does not"] if "?" in state["dense"] else [])


def differences(state: State, goal: State) -> list[str]:
    """Return in what two states differ."""
    return [
        f"{name}: {len(state[name])} for {len(goal[name])}, {[one for one in state[name] if one not in goal[name]][:2]}"
        for name in goal
        if state[name] != goal[name]
    ]


def _text(topic: str) -> str:
    return "\n\n".join(f"The {topic} plan, measure {n}, binds authority {n} until {2020 + n}." for n in range(6))


def _memory() -> str | None:
    """Return a folder in memory where there is one: what was written survives a kill on any disk."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
