"""A portal on loopback in a separate process: pages, files, lists, scripts, slow or failing addresses.

    python -m benchmarks.pipeline.local_portal SEEDS

It prints its seeds as JSON. After each line of input it prints the requests it had, and it ends with its standard
input. It shares no interpreter with the code that is measured.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from tests.ingestion.web_server import Answer
    from tests.portal.texts import Text

Kind = Literal[
    "page",
    "file",
    "landing",
    "slow",
    "redirect",
    "reserved",
    "gone",
    "broken",
    "forbidden",
    "script",
    "directory",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Of each thousand seeds; pages make up the rest.
_SHARES: dict[Kind, int] = {
    "file": 250,
    "landing": 100,
    "slow": 60,
    "redirect": 50,
    "reserved": 40,
    "gone": 30,
    "broken": 25,
    "forbidden": 20,
    "script": 15,
    "directory": 10,
}
CHILDREN = 5
SLOW_SECONDS = 0.5
_PORTS = 8
_ROOT = Path(__file__).resolve().parents[2]
_PDF = "application/pdf"
_CC_BY = '<meta name="license" content="https://creativecommons.org/licenses/by/4.0/">'
_RESERVED = "© 2021 Sample Publishing House. All rights reserved."
_SOUNDS = "bar cor dun el fen gar hol is jor kel lan mor nas or pel quin ros sel tor ul ven wes yar zin"
_VOCABULARY = (
    "the of and to in for with by from on at each every after before when where between against under during agency "
    "council ministry region town village district mayor teacher farmer engineer doctor nurse resident visitor worker "
    "owner flood drought storm fire frost heat hail landslide earthquake erosion river lake coast forest dyke bridge "
    "road harbour reservoir well canal hospital school museum archive library shelter warehouse market station plan "
    "map report measure target budget permit survey inspection exercise warning evacuation repair training insurance "
    "subsidy review consultation agreement publishes reviews builds repairs closes opens measures reports trains pays "
    "inspects protects restores plants moves warns informs consults lends replaces dry wet public private local "
    "national yearly monthly older younger upper lower northern southern safe urgent common useful simple early late"
)
_SYLLABLES, _WORDS = _SOUNDS.split(), _VOCABULARY.split()


@dataclass(frozen=True, slots=True)
class Seed:
    """A row of the list of sources."""

    code: str
    kind: Kind
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that the portal was sent, by a browser or not."""

    url: str
    by_browser: bool


class Portal:
    """The portal from outside: its seeds, and what it was asked for since the last look."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.seeds = tuple(Seed(**one) for one in self._told())

    def asked(self) -> list[Asked]:
        """Return the requests since the last call, in order."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return [Asked(**one) for one in self._told()]

    def _told(self) -> list[dict[str, object]]:
        assert self._process.stdout is not None
        return list(json.loads(self._process.stdout.readline()))


@contextmanager
def open_portal(seeds: int) -> Iterator[Portal]:
    """Yield a portal with this number of seeds while the context lasts."""
    command = [sys.executable, "-m", "benchmarks.pipeline.local_portal", str(seeds)]
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        try:
            yield Portal(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def kinds_of(seeds: int) -> list[Kind]:
    """Return the kind of each seed, mixed."""
    kinds: list[Kind] = []
    for kind, share in _SHARES.items():
        kinds += [kind] * max(1, round(seeds * share / 1000))
    kinds = [*kinds[:seeds], *["page"] * (seeds - len(kinds))]
    random.Random(0).shuffle(kinds)
    return kinds


def _serve(seeds: int) -> None:
    """Answer until the standard input ends."""
    # Here and not above: who only talks to the portal finds the tests' server and documents nowhere.
    from tests.ingestion.web_server import page, serving

    log: list[Asked] = []
    with ExitStack() as stack:
        sites = [stack.enter_context(serving({})) for _ in range(_PORTS)]
        for site in sites:
            site.answers["/robots.txt"] = _logged(
                page("User-agent: *\nDisallow: /forbidden/", "text/plain"), site.origin, log
            )
        listed: list[Seed] = []
        for number, kind in enumerate(kinds_of(seeds)):
            site = sites[number % _PORTS]
            text, answers = _text(str(number)), _answers(kind, number)
            site.answers |= {path: _logged(answer, site.origin, log) for path, answer in answers.items()}
            listed.append(Seed(f"SEED{number:04}", kind, site.url(next(iter(answers))), text.title))
        print(json.dumps([asdict(seed) for seed in listed]), flush=True)
        for _ in sys.stdin:
            told, log[:] = [asdict(one) for one in log], []
            print(json.dumps(told), flush=True)


def _logged(answer: Answer, origin: str, log: list[Asked]) -> Answer:
    def reply(request: BaseHTTPRequestHandler) -> None:
        log.append(Asked(origin + request.path, "Sec-Fetch-Mode" in request.headers))
        answer(request)

    return reply


def _answers(kind: Kind, number: int) -> dict[str, Answer]:
    """Return what the portal answers to a seed, its own address first."""
    from tests.ingestion.web_server import page, redirect
    from tests.portal import files

    text, path, behind = _text(str(number)), f"/{kind}/{number}", f"/files/{number}.pdf"
    whole = page(files.content(text, head=_CC_BY))
    match kind:
        case "page" | "forbidden":
            return {path: whole}
        case "slow":
            return {path: _late(whole)}
        case "file":
            return {f"{path}.pdf": page(files.pdf(text), _PDF)}
        case "landing":
            link = f'<p>Our plan.</p><p><a href="{behind}">Download the full text</a></p>'
            return {path: page(files.page(text.title, link, head=_CC_BY)), behind: page(files.pdf(text), _PDF)}
        case "redirect":
            return {path: redirect(f"/moved/{number}"), f"/moved/{number}": whole}
        case "reserved":
            return {path: page(files.content(text, footer=_RESERVED))}
        case "gone" | "broken":
            return {path: page(kind, status=404 if kind == "gone" else 500)}
        case "script":
            written = json.dumps("".join(f"<p>{part}</p>" for part in text.paragraphs))
            script = f"<script>document.querySelector('main').innerHTML = {written}</script>"
            return {path: page(files.page(text.title, "<div id='root'></div>", script, head=_CC_BY))}
        case "directory":
            below = [_text(f"{number}.{child}") for child in range(CHILDREN)]
            links = [(f"/files/{number}.{child}.pdf", one.title) for child, one in enumerate(below)]
            made = {url: page(files.pdf(one), _PDF) for (url, _), one in zip(links, below, strict=True)}
            return {path: page(files.page("Plans and policies", files.links(*links), head=_CC_BY)), **made}


def _text(key: str) -> Text:
    """Return a document of random words, so that no two are alike."""
    from tests.portal.texts import Text

    words = random.Random(key)
    place = "".join(words.choices(_SYLLABLES, k=4)).capitalize()
    about = " and ".join(words.sample(_WORDS[40:110], 2))
    sentences = [
        " ".join(words.choices(_WORDS, k=words.randint(9, 16))).capitalize() + f" by {words.randint(1900, 2099)}."
        for _ in range(24)
    ]
    paragraphs = tuple(" ".join(sentences[start : start + 4]) for start in range(0, len(sentences), 4))
    return Text("en", f"Action plan on {about} in {place}", "Adopted on 7 July 2014", paragraphs)


def _late(answer: Answer) -> Answer:
    def reply(request: BaseHTTPRequestHandler) -> None:
        time.sleep(SLOW_SECONDS)
        answer(request)

    return reply


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
