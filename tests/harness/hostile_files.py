"""Hostile and broken files by the hundred: seeded mutations of documents, files that break readers."""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pymupdf

from tests.conftest import ROOT, SHARED
from tests.harness.tally import Effort
from tests.ingestion.documents import pdf
from tests.ingestion.extraction import hostile
from tests.ingestion.extraction.formats.test_epub import epub

# Part of a name that no honest file has: found outside the folders of a run, something was written there.
ESCAPED = "sextant-harness-escaped"
_SAMPLE, _CORPUS = ROOT / "data" / "sample" / "documents", SHARED / "data" / "corpus"
_REAL = {
    "pdf": (_SAMPLE / "en-uk-flood-resilience-act.pdf", _CORPUS / "en_us_epa_mercury_ecorisk_1.pdf"),
    "docx": (_SAMPLE / "fr-belgique-inondations.docx",),
    "pptx": (_SAMPLE / "de-schweiz-kulturgueterschutz.pptx", _CORPUS / "es_en_language_mix.pptx"),
    "xlsx": (_SAMPLE / "es-colombia-caudales.xlsx", _CORPUS / "en_cpr_climate_hazards_terms.xlsx"),
    "odt": (_CORPUS / "fr_exemple_cahier_de_charge_be.odt",),
    "html": (_SAMPLE / "en-ireland-heat-health-plan.html", _CORPUS / "de_wbf_admin_ch_14093.html"),
    "md": (_SAMPLE / "en-global-glossary.md",),
}
_PACKED = ("docx", "pptx", "xlsx", "odt", "epub")
_OLDER = {"docx": "doc", "pptx": "ppt", "xlsx": "xls"}
_RTF = rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}\f0 The dyke at Milltown was raised in 1953.\par }"
# A file as a mutation leaves it, or what makes it at a path.
Content = bytes | Callable[[Path], object]


@dataclass(frozen=True)
class HostileFile:
    """A file of one kind of damage or malice."""

    kind: str
    name: str
    content: Content

    def write(self, folder: Path) -> Path:
        """Write the file into the folder of its kind."""
        path = folder / self.kind / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(self.content, bytes):
            path.write_bytes(self.content)
        else:
            self.content(path)
        return path


def hostile_files(effort: Effort, seed: int = 15) -> list[HostileFile]:
    """Return the files of a run, always the same for a seed; in the short form a few of each kind."""
    chance = random.Random(seed)
    short = effort == "short"
    made: list[HostileFile] = []
    for suffix, originals in _originals(older=not short).items():
        made += _damaged(suffix, originals, chance, times=1 if short else 3)
        if suffix in _PACKED:
            made += _packages(suffix, originals[0], chance)
    made += [*_pdfs(chance, times=1 if short else 16), *_texts(), *_pages(), *_rtfs()]
    made += [*_mislabelled(), *no_files(), *_odd_names()]
    if not short:
        return made
    # A bomb may take as long as a file may.
    return [chance.choice(kind) for kind in _kinds(made) if "bomb" not in kind[0].kind]


def _kinds(made: Iterable[HostileFile]) -> list[list[HostileFile]]:
    kinds: defaultdict[str, list[HostileFile]] = defaultdict(list)
    for one in made:
        kinds[one.kind].append(one)
    return list(kinds.values())


def _originals(*, older: bool) -> dict[str, list[bytes]]:
    """Return the real files by suffix, each small enough to be read in a moment."""
    found = {suffix: [path.read_bytes() for path in paths if path.exists()] for suffix, paths in _REAL.items()}
    found["pdf"] = [_first_pages(one) for one in found["pdf"]]
    rows = (b"Town %d,19%d,%d cm\n" % (n, n, n * 7) for n in range(10, 90))
    found["csv"] = [b"place,year,level\n" + b"".join(rows)]
    found["json"] = [
        b'{"plans": [%s]}' % b", ".join(b'{"town": "Town %d", "year": 19%d}' % (n, n) for n in range(10, 90))
    ]
    found["rtf"] = [_RTF]
    with tempfile.TemporaryDirectory() as folder:
        found["epub"] = [epub(Path(folder) / "book.epub").read_bytes()]
        if older and shutil.which("soffice"):
            found |= {old: [_converted(Path(folder), found[new][0], new, old)] for new, old in _OLDER.items()}
    return {suffix: files for suffix, files in found.items() if files}


def _first_pages(content: bytes) -> bytes:
    with pymupdf.open(stream=content, filetype="pdf") as document:
        document.select(range(min(2, document.page_count)))
        kept: bytes = document.tobytes(garbage=3, deflate=True)
    return kept


def _converted(folder: Path, content: bytes, new: str, old: str) -> bytes:
    (folder / f"real.{new}").write_bytes(content)
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = [
        "soffice",
        profile,
        "--headless",
        "--convert-to",
        old,
        "--outdir",
        str(folder),
        str(folder / f"real.{new}"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return (folder / f"real.{old}").read_bytes()


# --- bytes that were lost, changed or moved on the way


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(1, len(content))]


def _flipped(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _time in range(max(3, len(content) // 2000)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _blanked(content: bytes, chance: random.Random) -> bytes:
    start, size = chance.randrange(len(content)), max(1, len(content) // 20)
    return content[:start] + b"\0" * len(content[start : start + size]) + content[start + size :]


def _spliced(content: bytes, chance: random.Random) -> bytes:
    start, end = sorted((chance.randrange(len(content)), chance.randrange(len(content))))
    return content[:end] + content[start:]


def _headless(content: bytes, chance: random.Random) -> bytes:
    return content[chance.randrange(1, 600) :]


def _followed(content: bytes, chance: random.Random) -> bytes:
    return content + chance.randbytes(5000)


_BYTES = {
    "cut": _cut,
    "flipped": _flipped,
    "blanked": _blanked,
    "spliced": _spliced,
    "headless": _headless,
    "followed": _followed,
}


def _damaged(suffix: str, originals: list[bytes], chance: random.Random, times: int) -> Iterator[HostileFile]:
    # LibreOffice takes seconds for each of them.
    times, ways = (1, ("cut", "flipped")) if suffix in _OLDER.values() else (times, tuple(_BYTES))
    for way in ways:
        for number in range(times):
            content = _BYTES[way](originals[number % len(originals)], chance)
            yield HostileFile("damaged on the way", f"{way}{number}.{suffix}", content)


# --- packages: whole archives with a part that is not what it should be


def _packages(suffix: str, original: bytes, chance: random.Random) -> Iterator[HostileFile]:
    parts = _parts(original)
    main = max((name for name in parts if name.endswith(("xml", "xhtml", "opf"))), key=lambda name: len(parts[name]))
    for name, content in _broken_xml(parts[main], chance).items():
        yield HostileFile("package with broken XML", f"{name}.{suffix}", _zipped({**parts, main: content}))
    for number, left_out in enumerate(sorted(chance.sample(sorted(parts), min(4, len(parts))))):
        kept = {name: content for name, content in parts.items() if name != left_out}
        yield HostileFile("package without a part", f"without{number}.{suffix}", _zipped(kept))
    places = (f"../../{ESCAPED}", f"/tmp/{ESCAPED}", f"..\\..\\{ESCAPED}", f"{Path.home()}/{ESCAPED}")
    escaping = {f"{place}-{number}.xml": b"<x/>" for number, place in enumerate(places)}
    yield HostileFile("package with names that lead out", f"traversal.{suffix}", _zipped({**parts, **escaping}))
    yield HostileFile("package with names that lead out", f"main.{suffix}", _renamed(parts, main, f"../{ESCAPED}.xml"))
    yield HostileFile(
        "package bomb", f"bomb.{suffix}", partial(_bomb, parts=parts, name="media/bomb.xml", size=300_000_000)
    )
    yield HostileFile("package bomb", f"main.{suffix}", partial(_bomb, parts=parts, name=main, size=200_000_000))
    yield HostileFile("package bomb", f"parts.{suffix}", _zipped({**parts, **{f"p/{n}": b"" for n in range(21_000)}}))
    yield HostileFile("package that lies of its sizes", f"smaller.{suffix}", _with_size(original, 7))
    yield HostileFile("package that lies of its sizes", f"larger.{suffix}", _with_size(original, 2**31))
    yield HostileFile("package with a password", f"locked.{suffix}", _with_flag(original, 1))


def _broken_xml(part: bytes, chance: random.Random) -> dict[str, bytes]:
    body = re.sub(rb"^\s*<\?xml.*?\?>", b"", part, count=1)
    numbers = sorted(set(re.findall(rb'"\d+"', body))) or [b'"1"']
    doctype = b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM "http://127.0.0.1:9/x">%p;]>'
    return {
        "unclosed": part[: len(part) // 2],
        "deep": body.replace(b">", b">" + b"<a>" * 50_000, 1),
        "external": b'<?xml version="1.0"?>' + doctype + re.sub(rb">[^<>]+<", b">&f;<", body, count=3),
        "huge": body.replace(chance.choice(numbers), b'"99999999999999999999"'),
        "negative": body.replace(chance.choice(numbers), b'"-1"'),
        "wordy": body.replace(chance.choice(numbers), b'"NaN"'),
        "utf16": body.decode("utf-8", "replace").encode("utf-16"),
        "encoding": b'<?xml version="1.0" encoding="x-nobody"?>' + body,
        "garbage": chance.randbytes(len(part)),
        "nothing": b"",
        "other": b"<html><body>Not this part.</body></html>",
        "controls": re.sub(rb">([^<>]{3})", b">\\1\x00\x0b&#0;", body, count=9),
    }


def _parts(package: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def _zipped(parts: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return written.getvalue()


def _bomb(path: Path, parts: Mapping[str, bytes], name: str, size: int) -> None:
    """Write the package with a part that ends in `size` blanks, in whole millions."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for one, content in {**parts, name: parts.get(name, b"")}.items():
            with archive.open(one, "w") as part:
                part.write(content)
                for _time in range(size // 1_000_000 if one == name else 0):
                    part.write(b" " * 1_000_000)


def _renamed(parts: Mapping[str, bytes], before: str, after: str) -> bytes:
    return _zipped(
        {
            after if name == before else name: content.replace(before.encode(), after.encode())
            for name, content in parts.items()
        }
    )


def _with_size(package: bytes, size: int) -> bytes:
    """Return the package with this unpacked size in each entry of its directory."""
    return _directory(package, 24, size.to_bytes(4, "little"))


def _with_flag(package: bytes, flag: int) -> bytes:
    return _directory(package, 8, flag.to_bytes(2, "little"))


def _directory(package: bytes, offset: int, value: bytes) -> bytes:
    changed, place = bytearray(package), package.find(b"PK\x01\x02")
    while place >= 0:
        changed[place + offset : place + offset + len(value)] = value
        place = package.find(b"PK\x01\x02", place + 4)
    return bytes(changed)


# --- PDF


def _pdfs(chance: random.Random, times: int) -> Iterator[HostileFile]:
    yield HostileFile("pdf that counts wrongly", "count.pdf", hostile.pdf_that_counts)
    for count in (-1, 0, 2**31 - 1, 2**63):
        yield HostileFile("pdf that counts wrongly", f"count{count}.pdf", partial(hostile.pdf_that_counts, count=count))
    for levels in (1, 3, 8, 40):
        yield HostileFile(
            "pdf that repeats its pages", f"tree{levels}.pdf", partial(hostile.pdf_that_repeats, levels=levels)
        )
    yield HostileFile("pdf that repeats its pages", "loop.pdf", _objects(b"<</Type/Pages/Count 1/Kids[2 0 R]>>"))
    yield HostileFile(
        "pdf that repeats its pages", "parent.pdf", _objects(b"<</Type/Pages/Count 9/Kids[1 0 R 2 0 R 3 0 R]>>")
    )
    original = pdf_bytes()
    whole = pdf_bytes(deflate=False, garbage=0)
    for number in range(times):
        found = list(re.finditer(rb"(?<=[ \[])\d+(?=[ /\]>\r\n])", whole))
        changed = whole
        for one in sorted(chance.sample(found, min(3, len(found))), key=lambda one: -one.start()):
            value = chance.choice((b"0", b"-1", b"2147483647", b"99999999999999999999", b"1e308", b"1 0 R", b"null"))
            changed = changed[: one.start()] + value + changed[one.end() :]
        yield HostileFile("pdf with wrong numbers", f"numbers{number}.pdf", changed)
    for name, table in {"zero": b"startxref\n0", "far": b"startxref\n999999999", "minus": b"startxref\n-5"}.items():
        yield HostileFile("pdf with a wrong table", f"{name}.pdf", re.sub(rb"startxref\s+\d+", table, original))
    yield HostileFile("pdf with a wrong table", "notrailer.pdf", re.sub(rb"trailer", b"trawler", original))
    yield HostileFile("pdf with a wrong table", "noroot.pdf", re.sub(rb"/Root", b"/Boot", original))
    contents = {
        "strokes": b"0 0 m 9 9 l S " * 1_000_000,
        "blanks": b" " * 200_000_000,
        "nested": b"q " * 500_000 + b"[" * 500_000,
        "words": b"BT /F1 9 Tf " + b"1 0 0 1 72 700 Tm (flood) Tj " * 200_000 + b"ET",
        "forms": b"/F1 Do " * 500_000,
        "dashes": b"[" + b"1 " * 500_000 + b"] 0 d 0 0 m 600 800 l S",
    }
    for name, content in contents.items():
        yield HostileFile("pdf bomb", f"{name}.pdf", partial(hostile.pdf_that_draws, content=content))
    yield HostileFile("pdf with odd pages", "vast.pdf", _objects(box=b"[0 0 1e9 1e9]"))
    yield HostileFile("pdf with odd pages", "point.pdf", _objects(box=b"[5 5 5 5]"))
    yield HostileFile("pdf with odd pages", "turned.pdf", _objects(box=b"[100 100 -100 -100]/Rotate 37"))
    yield HostileFile("pdf with odd pages", "arrays.pdf", _objects(box=b"[" * 20_000))
    kind = b"/OpenAction<</S/JavaScript/JS(app.alert(1))>>/AA<</O<</S/Launch/F(/bin/sh)>>>>"
    yield HostileFile("pdf with actions", "script.pdf", original.replace(b"/Type/Catalog", b"/Type/Catalog" + kind))
    yield HostileFile("pdf with actions", "locked.pdf", _locked())
    for name in ("%PDF-", "%PDF-1.7\n%%EOF", "%PDF-9.9\n" + "\0" * 5000, " " * 1000 + "%PDF-1.4 1 0 obj"):
        yield HostileFile("pdf by its first bytes alone", f"head{len(name)}.pdf", name.encode())


def pdf_bytes(**save: object) -> bytes:
    """Return a small PDF of two pages."""
    with tempfile.TemporaryDirectory() as folder:
        text = "The dyke at Milltown was raised after the flood of 1953. " * 12
        return pdf(Path(folder) / "a.pdf", [text, text], **save).read_bytes()


def _locked() -> bytes:
    return pdf_bytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="a", user_pw="b")


def _objects(pages: bytes = b"<</Type/Pages/Count 1/Kids[3 0 R]>>", box: bytes = b"[0 0 200 200]") -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj" + pages + b"endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox" + box + b">>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    )


# --- text, pages, RTF


def _texts() -> Iterator[HostileFile]:
    chance = random.Random(1)
    line = b"The dyke at Milltown was raised after the flood of 1953 "
    made: dict[str, bytes] = {
        "binary.txt": chance.randbytes(20_000),
        "latin.txt": "Überflutung à Liège, año 1953".encode("latin-1") * 200,
        "half16le.txt": "Milltown".encode("utf-16")[:-1],
        "half16be.txt": b"\xfe\xff\x00F\x00l\xd8",
        "surrogates.txt": b"\xff\xfe" + b"\x00\xd8" * 5000,
        "utf32.txt": "Milltown floods".encode("utf-32"),
        "mark.txt": b"\xef\xbb\xbf",
        "marks.txt": b"\xef\xbb\xbf" * 5000,
        "overlong.txt": b"\xc0\xaf\xe0\x80\xaf" * 500,
        "line.txt": line * (10_000_000 // len(line)),
        "word.txt": b"a" * 3_000_000,
        "lines.txt": b"\n" * 3_000_000,
        "spaces.txt": b" \t" * 2_000_000,
        "escapes.txt": b"\x1b]0;title\x07\x1b[31mflood\x1b[0m plan\r\n" * 200,
        "nul.txt": line + b"\0" + line,
        "bidi.txt": ("\u202eflood\u202c \u2066plan\u2069 " * 500).encode(),
        "zalgo.txt": ("flood" + "\u0301" * 2000 + " plan ").encode() * 50,
        "numbers.txt": b"1.2.3." * 20_000,
        "brackets.md": b"[" * 200_000,
        "quotes.md": b"> " * 100_000 + b"flood",
        "stars.md": b"*_" * 100_000,
        "table.md": b"|a" * 20_000 + b"|\n" + b"|-" * 20_000 + b"|\n",
        "hashes.md": b"\n\n".join(b"#" * n + b" Heading" for n in range(1, 400)),
        "quotes.csv": b'"' * 200_001,
        "columns.csv": b"," * 500_000 + b"\n1",
        "formulas.csv": b"=cmd|' /C calc'!A0,@SUM(1),+1,-1\n" * 200,
        "deep.json": b"[" * 200_000,
        "numbers.json": b"[" + b"9" * 100_000 + b"]",
        "names.json": b'{"__proto__": {"a": 1}, "a": "\\ud800"}',
    }
    for name, content in made.items():
        yield HostileFile("text made to hold up", name, content)


def _pages() -> Iterator[HostileFile]:
    said = "<p>The dyke at Milltown was raised after the flood of 1953.</p>"
    made = {
        "deep": "<div>" * 100_000 + said,
        "tables": "<table><tr><td>" * 3000 + said,
        "spans": f"<table><tr><td colspan=1000000000 rowspan=1000000000>{said}</td></tr></table>",
        "unclosed": "<a href='x" + said * 2000,
        "attributes": "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">" + said,
        "line": said * 150_000,
        "entities": "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>"
        + "&b;&#0;&#x110000;&#xd800;" * 5000
        + said,
        "script": "<script>while(true){}</script><meta http-equiv=refresh content='0;url=file:///etc/passwd'>" + said,
        "frames": "<iframe src='file:///etc/passwd'></iframe><object data='/etc/passwd'></object>" + said,
        "charset": "<meta charset='x-nobody'>" + said,
        "comment": "<!--" * 50_000 + said,
        "cdata": "<![CDATA[" * 50_000 + said,
        "nulls": said.replace(" ", "\0") * 20,
        "lists": "<ul><li>" * 20_000 + said,
        "empty": "<html><head></head><body></body></html>",
        "hidden": f"<div style='display:none'>{said}</div>",
    }
    for name, body in made.items():
        yield HostileFile("html made to hold up", f"{name}.html", f"<html><body>{body}".encode())


def _rtfs() -> Iterator[HostileFile]:
    made = {
        "deep": rb"{\rtf1 " + b"{" * 100_000 + b"flood",
        "closed": rb"{\rtf1 flood" + b"}" * 100_000,
        "binary": rb"{\rtf1 \bin2147483647 flood}",
        "unicode": rb"{\rtf1 " + rb"\u-99999?\u55357?" * 5000 + b"}",
        "object": rb"{\rtf1{\object\objocx{\*\objdata " + b"01" * 50_000 + b"}} flood}",
        "words": rb"{\rtf1 " + rb"\par" * 100_000 + b"}",
        "hex": rb"{\rtf1 " + rb"\'zz\'" * 20_000 + b"}",
    }
    for name, content in made.items():
        yield HostileFile("rtf made to hold up", f"{name}.rtf", content)


# --- files that are not what they are called, and what is no file


def _mislabelled() -> Iterator[HostileFile]:
    contents = {
        "pdf": pdf_bytes(),
        "html": b"<html><body><p>Not found</p></body></html>",
        "rtf": _RTF,
        "png": b"\x89PNG\r\n\x1a\n" + bytes(500),
        "zip": _zipped({"a.txt": b"flood"}),
        "gz": b"\x1f\x8b\x08" + bytes(300),
        "ole": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4000),
        "elf": b"\x7fELF" + bytes(300),
    }
    suffixes = ("pdf", "docx", "xlsx", "odt", "html", "md", "doc", "")
    for kind, content in contents.items():
        for suffix in suffixes:
            if suffix != kind:
                yield HostileFile("content under another suffix", f"{kind}-as.{suffix}".rstrip("."), content)


def no_files() -> Iterator[HostileFile]:
    """Yield what is no file, leads out of its folder, or has no end."""
    made: dict[str, Callable[[Path], object]] = {
        "pipe.txt": os.mkfifo,
        "socket.txt": _bound,
        "zero.txt": lambda path: path.symlink_to("/dev/zero"),
        "passwd.txt": lambda path: path.symlink_to("/etc/passwd"),
        "memory.txt": lambda path: path.symlink_to("/proc/self/mem"),
        "nowhere.txt": lambda path: path.symlink_to(path.parent / "nobody.txt"),
        "self.txt": lambda path: path.symlink_to(path),
        "above.txt": lambda path: path.symlink_to("../.."),
        "empty.pdf": lambda path: path.touch(),
        "vast.txt": _sparse,
    }
    for name, make in made.items():
        yield HostileFile("no file, or a link out", name, make)


def _bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        # A path of a socket has at most 107 bytes, from wherever it is bound.
        before = Path.cwd()
        os.chdir(path.parent)
        try:
            one.bind(path.name)
        finally:
            os.chdir(before)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


def _odd_names() -> Iterator[HostileFile]:
    names = (
        *("-rf.txt", "new\nline.txt", "esc\x1b]0;x\x07.txt", "'; DROP TABLE documents; --.txt", "{0} %s $(id).txt"),
        *("\u202etxt.exe.txt", "<script>alert(1)</script>.txt".replace("/", "∕"), "con.txt", "é" * 120 + ".txt"),
        os.fsdecode(b"bytes\xff\xfe.txt"),
    )
    for number, name in enumerate(names):
        yield HostileFile("odd names", name, b"The dyke at Oddtown %d was raised after the flood. " % number * 9)
