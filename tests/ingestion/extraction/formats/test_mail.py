from __future__ import annotations

import base64
import struct
import time
from collections.abc import Iterable
from email.message import EmailMessage
from pathlib import Path

import docx
import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.properties import read_properties
from ingestion.file_reading import ExtractionLimits
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.outcome import Refusal
from rag_engine.types.document import ExtractedText
from tests.ingestion.documents import pdf
from tests.ingestion.outlook_file import Tree, data, properties, text, write_ole

LIMITS = ExtractionLimits()
LETTER = "Dear all,\n\nThe dyke at Hollin was raised by 40 cm, and the works\nwere paid by the county.\n"
QUOTED = "> Dear all,\n>\n> The dyke at Hollin was raised\n> by 40 cm, and the works were paid by the county.\n"
CITED = "<p>Dear all,</p><p>The dyke at Hollin was raised by 40 cm, and the works were paid by the county.</p>"
OUTLOOK = "<p><b>Von:</b> Anna<br><b>Gesendet:</b> 7. Mai 2025<br><b>An:</b> Alle<br><b>Betreff:</b> Dyke</p>"


def mail(
    subject: str, words: str, kind: str = "plain", *, charset: str = "utf-8", cte: str | None = None
) -> EmailMessage:
    message = EmailMessage()
    message["Received"] = "from mx.example.org by mail.example.org with ESMTPS id 4XyZ"
    message["From"] = "Harbour Office of Kehlen <office@example.org>"
    message["To"] = "Anna Beispiel <anna@example.org>"
    message["Date"] = "Tue, 06 May 2025 09:15:00 +0200"
    message["Subject"] = subject
    message["X-Spam-Status"] = "No, score=-1.9"
    message.set_content(words, subtype=kind, charset=charset, cte=cte)
    return message


def read(path: Path, content: bytes | EmailMessage) -> ExtractedText:
    path.write_bytes(content if isinstance(content, bytes) else content.as_bytes())
    return extract(path, LIMITS, None)


def mailbox(messages: Iterable[EmailMessage]) -> bytes:
    return b"".join(b"From a@b.c Tue May  6 09:15:00 2025\n" + one.as_bytes() + b"\n\n" for one in messages)


def on_page(extracted: ExtractedText, number: int) -> str:
    lines = (line for line in extracted.lines if line.page == number)
    return " ".join(extracted.text[line.start : line.end] for line in lines)


@pytest.mark.parametrize(
    ("charset", "encoding", "words"),
    [
        ("utf-8", "quoted-printable", "Die Böschung bei Mühlau wird zuerst besichtigt."),
        ("utf-8", "base64", "Насыпь у Мюлау осматривают первой."),
        ("iso-8859-2", "8bit", "Příliš žluťoučký kůň úpěl ďábelské ódy."),
        ("windows-1253", "base64", "Το ανάχωμα επιθεωρείται πρώτο."),
    ],
)
def test_a_mail_is_read_as_its_reader_sees_it(tmp_path: Path, charset: str, encoding: str, words: str) -> None:
    message = mail("Überflutung der Kaimauer", words, charset=charset, cte=encoding)
    message.add_alternative(f"<p>{words}</p>", subtype="html")
    extracted = read(tmp_path / "a.eml", message)
    assert extracted.text.count(words) == 1
    assert extracted.title == "Überflutung der Kaimauer"
    assert "From: Harbour Office of Kehlen" in extracted.text
    assert not any(word in extracted.text for word in ("ESMTPS", "X-Spam", "MIME", "=C3"))
    declared = read_properties(tmp_path / "a.eml")
    assert (declared.title, declared.date) == (extracted.title, "2025-05-06")
    assert declared.authors == ("Harbour Office of Kehlen",)


def test_headers_and_bodies_without_a_declared_charset_are_read(tmp_path: Path) -> None:
    head = "From: Bürgeramt <a@b.de>\r\nSubject: Größe der Schäden\r\n\r\n"
    words = "Die Größe ist bekannt.\r\n> 5 mg/l sind zulässig.\r\n"
    extracted = read(tmp_path / "a.eml", (head + words).encode("cp1252"))
    assert extracted.title == "Größe der Schäden"
    assert "Bürgeramt" in extracted.text
    assert "Die Größe ist bekannt. > 5 mg/l sind zulässig." in extracted.text


def test_html_is_read_where_the_plain_text_only_points_to_it(tmp_path: Path) -> None:
    message = mail("News of the harbour", "View this in your browser.")
    message.add_alternative(
        f"<table><tr><th>Gate</th><th>State</th></tr><tr><td>9</td><td>shut</td></tr></table>{CITED}", subtype="html"
    )
    assert "Gate: 9; State: shut" in read(tmp_path / "a.eml", message).text


ATTRIBUTED = "On Tue, 6 May 2025 at 09:15, Harbour Office\n<office@example.org> wrote:\n"
DIVIDED = "-----Original Message-----\nFrom: Office\nSent: 6 May 2025\nTo: Anna\nSubject: Dyke\n\n"
CITING = f"<div>Am 6. Mai 2025 schrieb Anna:</div><blockquote type=cite>{CITED}</blockquote>"


@pytest.mark.parametrize(
    "reply",
    [
        mail("Re: Dyke", f"Agreed.\n\n{ATTRIBUTED}{QUOTED}"),
        mail("Re: Dyke", f"Agreed.\n{DIVIDED}{LETTER}"),
        mail("AW: Dyke", f"<p>Agreed.</p>{CITING}", "html"),
        mail("AW: Dyke", f"<div><p>Agreed.</p>{OUTLOOK}{CITED}</div>", "html"),
    ],
    ids=["marked", "below a divider", "in an element", "below headers"],
)
def test_an_earlier_mail_is_read_once(tmp_path: Path, reply: EmailMessage) -> None:
    thread = read(tmp_path / "thread.mbox", mailbox([mail("Dyke", LETTER), reply]))
    assert thread.text.count("raised by 40 cm") == 1
    assert on_page(thread, 2).endswith("Agreed.")
    alone = read(tmp_path / "reply.eml", reply)
    assert alone.text.count("The dyke at Hollin was raised by 40 cm, and the works were paid by the county.") == 1
    assert ">" not in alone.text.replace("example.org>", "")


def test_words_that_a_quotation_changes_are_kept(tmp_path: Path) -> None:
    reply = mail("Re: Dyke", "Agreed.\n\n" + QUOTED.replace("40", "60"))
    thread = read(tmp_path / "thread.mbox", mailbox([mail("Dyke", LETTER), reply]))
    assert "raised by 60 cm" in on_page(thread, 2)


def test_a_mailbox_has_a_page_for_each_mail(tmp_path: Path) -> None:
    escaped = mail("Second mail", "It begins so:\n\nFrom here on the dyke is closed.\n\nFrom 2025 it is open.")
    content = mailbox([mail("First mail", LETTER), escaped]).replace(b"\nFrom here", b"\n>From here")
    extracted = read(tmp_path / "letters_of_2025.mbox", content)
    assert (extracted.pages, extracted.title) == (2, "letters of 2025")
    assert "From here on the dyke is closed. From 2025 it is open." in on_page(extracted, 2)


def test_a_forwarded_mail_that_is_encoded_as_a_whole_is_read(tmp_path: Path) -> None:
    encoded = base64.encodebytes(mail("Earlier letter", "Gate 9 is shut.").as_bytes())
    part = b"--x\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + encoded
    extracted = read(tmp_path / "a.eml", MIXED + part + b"--x--\n")
    assert on_page(extracted, 2).startswith("Earlier letter From:")
    assert on_page(extracted, 2).endswith("Gate 9 is shut.")


def test_a_mail_without_a_day_that_was_has_its_other_headers(tmp_path: Path) -> None:
    date = b"Date: Tue, 99999999999999 May 2025 09:15:00\n"
    (tmp_path / "a.eml").write_bytes(date + HEAD + b"\nGate 9 is shut.")
    declared = read_properties(tmp_path / "a.eml")
    assert (declared.title, declared.date) == ("Dyke at Hollin", "")


def test_attached_files_are_pages_and_the_rest_is_named(tmp_path: Path) -> None:
    minutes = docx.Document()
    minutes.add_paragraph("The harbour master asked for sandbags.")
    minutes.save(str(tmp_path / "minutes.docx"))
    inner = mail("Earlier letter", "Gate 9 is shut.")
    inner.add_attachment(b"\x00\x01\x02", maintype="application", subtype="octet-stream", filename="plan.dwg")
    kept = mail("Kept letter", "See attached.")
    kept.add_attachment("Deep words.", filename="deep.txt")
    message = mail("Survey of the quay wall", "See attached.")
    pages = pdf(tmp_path / "survey.pdf", ["The survey found cracks.", "Bollard 14 leans."]).read_bytes()
    message.add_attachment(pages, maintype="application", subtype="pdf", filename="Übersicht.pdf")
    word = (tmp_path / "minutes.docx").read_bytes()
    message.add_attachment(word, maintype="application", subtype="msword", filename="minutes.docx")
    message.add_attachment(b"BEGIN:VCALENDAR", maintype="text", subtype="calendar", filename="visit.ics")
    message.add_attachment(kept.as_bytes(), maintype="application", subtype="octet-stream", filename="kept.eml")
    message.add_attachment(inner)
    extracted = read(tmp_path / "a.eml", message)
    assert extracted.title == "Survey of the quay wall"
    assert on_page(extracted, 2) == "Übersicht.pdf The survey found cracks."
    assert on_page(extracted, 3) == "Bollard 14 leans."
    assert "sandbags" in on_page(extracted, 4)
    assert "See attached." in on_page(extracted, 5)
    assert "Gate 9 is shut." in on_page(extracted, 6)
    assert "Deep words" not in extracted.text
    said = " ".join(map(str, extracted.warnings))
    assert all(name in said for name in ("visit.ics", "kept.eml: Attached files", "deep.txt", "plan.dwg"))


def test_a_web_archive_is_read_as_its_page(tmp_path: Path) -> None:
    body = "<body><h1>Flood news</h1><p>Tränkebach is closed.</p></body>"
    page = f"<html><head><title>Flood news - Site</title><style>.x{{}}</style></head>{body}</html>"
    message = mail("Flood news", page, "html", cte="quoted-printable")
    message["Snapshot-Content-Location"] = "https://example.org/news"
    message.make_related()
    message.add_related("<p>advertisement</p>", subtype="html", cid="<frame>")
    extracted = read(tmp_path / "news.mhtml", message)
    assert extracted.text == "Flood news\n\nTränkebach is closed."
    assert extracted.title == "Flood news"
    assert read_properties(tmp_path / "news.mhtml").title == "Flood news - Site"
    assert read(tmp_path / "wiki.doc", message).text == extracted.text


def test_a_message_of_outlook_is_read_with_what_is_attached(tmp_path: Path) -> None:
    inner: Tree = {**text(0x37, "Earlier letter"), **text(0x1000, "Gate 9 is shut."), **properties({}, 24)}
    tree: Tree = {
        **text(0x37, "Dyke at Hollin"),
        **text(0x1000, "Die Größe beträgt 40 cm.\r\n"),
        **text(0x0C1A, "Harbour Office of Kehlen"),
        **text(0x5D01, "office@example.org"),
        **properties({0x39: (0x40, struct.pack("<Q", 133_910_000_000_000_000))}),
        "__attach_version1.0_#00000000": {**text(0x3707, "note.txt"), **data(0x3701, b"The sluice is shut.")},
        "__attach_version1.0_#00000001": {"__substg1.0_3701000D": inner},
        "__attach_version1.0_#00000002": {**text(0x3707, "plan.dwg"), **data(0x3701, bytes(9000))},
    }
    extracted = extract(write_ole(tmp_path / "a.msg", tree), LIMITS, None)
    assert extracted.title == "Dyke at Hollin"
    assert "From: Harbour Office of Kehlen <office@example.org>" in extracted.text
    assert "Die Größe beträgt 40 cm." in extracted.text
    assert on_page(extracted, 2) == "note.txt The sluice is shut."
    assert on_page(extracted, 3) == "Earlier letter Gate 9 is shut."
    assert "plan.dwg" in str(extracted.warnings[0])
    assert read_properties(tmp_path / "a.msg").date == "2025-05-06"


def test_the_page_of_an_outlook_message_is_read_in_its_charset(tmp_path: Path) -> None:
    page = "<html><head><meta charset=windows-1250></head><body><p>Příliš žluťoučký kůň.</p></body></html>"
    tree: Tree = {**text(0x37, "Kůň"), **data(0x1013, page.encode("cp1250")), **properties({})}
    assert "Příliš žluťoučký kůň." in extract(write_ole(tmp_path / "a.msg", tree), LIMITS, None).text


def packed(source: bytes) -> bytes:
    """RTF as Outlook packs it, without repetitions: eight characters behind each byte of flags."""
    words = b"".join(b"\0" + source[at : at + 8] for at in range(0, len(source), 8))
    return struct.pack("<II4sI", len(words) + 12, len(source), b"LZFu", 0) + words


PAGE_IN_RTF = (
    rb"{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0 Arial;}}{\colortbl;}"
    rb"{\*\htmltag19 <html>}{\*\htmltag50 <body>}\htmlrtf \lang1033 \htmlrtf0 {\*\htmltag64 <p>}"
    rb"\htmlrtf {\htmlrtf0 Owners inspect dykes every {\*\htmltag84 <s>}\htmlrtf {\strike\htmlrtf0 five "
    rb"{\*\htmltag92 </s>}\htmlrtf }\htmlrtf0 two years in M\'fchlau.\htmlrtf\par}\htmlrtf0"
    rb"{\*\htmltag72 </p>}{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 The fee is 40 \u8364 ?.\htmlrtf\par}\htmlrtf0 }"
)


@pytest.mark.parametrize(
    "plain", ["", "Owners inspect dykes every five two years in Muehlau.\r\n\r\nThe fee is 40 euros."]
)
def test_the_packed_rtf_of_an_outlook_message_is_read_where_nothing_says_more(tmp_path: Path, plain: str) -> None:
    bodies = data(0x1009, packed(PAGE_IN_RTF)) | (text(0x1000, plain) if plain else {})
    extracted = extract(
        write_ole(tmp_path / "a.msg", {**text(0x37, "Dykes"), **bodies, **properties({})}), LIMITS, None
    )
    assert extracted.text.endswith("Owners inspect dykes every two years in Mühlau.\n\nThe fee is 40 €.")
    assert [str(one) for one in extracted.warnings] == ["Struck words, left out because they are not in force: 1."]


def test_an_outlook_message_whose_text_cannot_be_read_says_so(tmp_path: Path) -> None:
    tree: Tree = {**text(0x37, "Dykes"), **data(0x1009, b"broken"), **properties({})}
    extracted = extract(write_ole(tmp_path / "a.msg", tree), LIMITS, None)
    assert "E-mails whose text is in a form that cannot be read: 1." in map(str, extracted.warnings)


def test_lines_that_a_mail_cuts_within_words_are_whole(tmp_path: Path) -> None:
    head = b"From: a@b.c\nTo: d@e.f\nSubject: x\nMIME-Version: 1.0\n"
    kind = b"Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\n\n"
    text = read(tmp_path / "a.eml", head + kind + b"The dyke at Hol \nlin was  \nraised.\n\n-- \nAnna\n").text
    assert "The dyke at Hollin was raised." in text
    assert "-- Anna" in text


def test_of_alternatives_the_one_that_shows_what_is_struck_is_read(tmp_path: Path) -> None:
    message = mail("Dykes", "Owners inspect dykes every five two years, on 10 and 21 May.")
    page = "<p>Owners inspect dykes every <s>five</s> two years, on 10 and 21 May.</p>"
    message.add_alternative(page, subtype="html")
    assert "dykes every two years" in read(tmp_path / "a.eml", message).text


def test_an_encrypted_mail_is_refused_as_such(tmp_path: Path) -> None:
    message = b"From: a@b.c\nSubject: x\nMIME-Version: 1.0\nContent-Type: application/pkcs7-mime\n\nMIIB\n"
    with pytest.raises(Refusal, match=r"a\.eml is an encrypted e-mail") as caught:
        read(tmp_path / "a.eml", message)
    assert caught.value.reason == "encrypted"


def test_content_decides_what_is_mail(tmp_path: Path) -> None:
    message = mail("Dyke at Hollin", LETTER).as_bytes()
    assert read(tmp_path / "saved.txt", message).media_type == "message/rfc822"
    assert read(tmp_path / "a.mbox", message).media_type == "message/rfc822"
    memo = b"From: Anna\nTo: All\nSubject: Dyke\n\nThe dyke is closed."
    assert read(tmp_path / "memo.txt", memo).media_type == "text/plain"
    with pytest.raises(Refusal, match="named as EML"):
        read(tmp_path / "words.eml", b"The dyke is closed.")


HEAD = b"From: a@b.c\nSubject: Dyke at Hollin\nMessage-ID: <1@b.c>\nMIME-Version: 1.0\n"
MIXED = HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n"
NESTED = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(5_000))


@pytest.mark.parametrize(
    "content",
    [
        MIXED + b"--x\nContent-Type: text/plain\n\nword\n" * 5_000,
        MIXED + b"--x\nContent-Type: image/png; name=a.png\n\nAA\n" * 5_000,
        HEAD + b"Content-Type: message/rfc822\n\n" * 400 + b"Subject: inner\n\nword",
        HEAD + b"To: " + b"=?utf-8?q?=41?= <a@b.c>, " * 200_000 + b"\n\nword",
        HEAD + b"Cc: " + b"((((" * 500_000 + b"\n\nword",
        HEAD + b"Content-Type: text/plain; " + b"; ".join(b"a*%d*=%%41" % n for n in range(50_000)) + b"\n\nword",
        HEAD + b"Content-Type: text/plain; charset=\xffbogus\nContent-Transfer-Encoding: nothing\n\nword",
        HEAD + b"\n" + b"> " * 500_000 + b"\n" + b">" * 500_000 + b"\n-----" * 100_000,
        HEAD + b"Content-Type: text/html\n\n" + b"<blockquote type=cite>" * 20_000 + b"word",
    ],
    ids=["parts", "pictures", "forwarded", "words", "comments", "parameters", "charset", "marks", "quotes"],
)
def test_a_mail_made_to_break_its_reader_is_read_at_once(tmp_path: Path, sandbox: Sandbox, content: bytes) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(content)
    begun = time.monotonic()
    extracted = sandbox.read(path).extracted
    assert extracted.title == "Dyke at Hollin"
    assert any("4,000" in str(one) for one in extracted.warnings) == (content.count(b"--x\n") == 5_000)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize("name", ["a.eml", "a.mbox", "a.mhtml"])
def test_a_mail_whose_parts_are_nested_without_end_is_refused_as_damaged(
    tmp_path: Path, sandbox: Sandbox, name: str
) -> None:
    (tmp_path / name).write_bytes((b"From a@b.c 2025\n" if name == "a.mbox" else b"") + HEAD + NESTED + b"word")
    with pytest.raises(Refusal, match="nested too deeply") as caught:
        sandbox.read(tmp_path / name)
    assert caught.value.reason == "damaged"


def test_a_damaged_message_of_outlook_is_refused(tmp_path: Path) -> None:
    whole = write_ole(tmp_path / "a.msg", {**text(0x37, "Dyke"), **text(0x1000, "word " * 2_000), **properties({})})
    content = whole.read_bytes()
    for size in range(600, len(content), 700):
        whole.write_bytes(content[:size])
        try:
            extract(whole, LIMITS, None)
        except Refusal as refused:
            assert "a.msg" in str(refused)  # noqa: PT017 - a beginning may still be read


def test_a_mailbox_of_more_mails_than_pages_are_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mbox").write_bytes(mailbox([mail("Dyke", LETTER)] * 6))
    with pytest.raises(Refusal, match="more than 5 e-mails") as caught:
        extract(tmp_path / "a.mbox", ExtractionLimits(max_pages=5), None)
    assert caught.value.reason == "too_many_pages"
