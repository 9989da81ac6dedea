"""What must survive a translation in every format: tables for test_protected.py, test_protected_families.py and bench/kept.py."""
import html
import unicodedata

ADDRESSES = """https://example.org http://example.org/ https://example.org/a/b.html https://example.org/a?b=c&d=e
https://example.org/a#b https://user@example.org/x https://example.org:8443/x https://example.org/Foo_(bar)
https://example.org/a_b_c https://example.org/~anna/ https://example.org/%C3%BC https://müller.example/straße
https://example.org/a,b;c https://example.org/?q=two+dogs https://192.168.0.1/x http://localhost:8080/v1/translate
www.example.org www.example.org/dogs ftp://example.org/pub sftp://example.org/x ssh://git@example.org/repo.git
git://example.org/x.git mailto:anna@example.org tel:+49301234567 anna@example.org anna.b+c@mail.example.org
anna_b@example.co.uk jürgen@müller.example example.org example.org/dogs?x=1 localhost:8080 10.0.0.1:5432""".split()

PLACEHOLDERS = ["%s", "%1$d", "%-5.2f", "%(name)s", "%{name}", "{name}", "{0}", "{{ x }}", "{{user.name}}", "{{#if a}}", "${name}", "$name",
                ":name", "&nbsp;", "{n, plural, one {# dog} other {# dogs}}", "%d%%", "{$name}", "{ -brand }", "{{> part}}", "<%= x %>"]

FILES = ["config.txt", "my-notes.v2.pdf", "src/main.c", "/etc/hosts", "~/notes.md", "./run.sh", "C:\\dogs\\two.png", "Übersicht.xlsx",
         "archive.tar.gz", "IMG_2034.jpeg"]

NAMES = ["Antonín Dvořák", "Łódź", "Kraków", "Škoda", "Nguyễn", "Recep Erdoğan", "Søren", "Ólafur", "Władysław Szpilman", "São Paulo",
         "Михаил Булгаков", "東京", "Αθήνα", "Jerzy Żuławski", "Đurđević"]

SPANS = {"addresses": ADDRESSES, "placeholders": PLACEHOLDERS, "files": FILES, "names": NAMES}

SENTENCES = ["Two dogs play with @ in the snow.", "Open @ and look at the dogs.", "A girl is smiling at @."]

# eight kinds of 21 or 22 characters
CHARACTERS = {
    "latin": "äöüßéèêçñøåæœšžčłőğışþ",
    "greek": "αβγδεζηθικλμνξοπρστυφω",
    "cyrillic": "абвгдежзиклмнопрстуфя",
    "east asian": "日本語中文字漢한국어말글あいうえおカキクケ",
    "other scripts": "אבגדהابتثجहिन्दीไทยกขค",
    "currency and signs": "€£¥¢₹₽₿§¶©®™°ªº†‡•…№℃",
    "mathematics": "±×÷≠≤≥≈∞∑√∫∂∆πµ½¼¾²³∈",
    "arrows and pictures": "←↑→↓↔⇒★☆☀☎☑♠♥♪✓✗😀🐕🚀🎉🔥",
}

FORMATS = ["text", "wrapped", "srt", "markdown", "html", "xml"]


def written(format, span):
    """Returns the span as it is written in a file of that format."""
    if format == "markdown":
        return span.replace("\\", "\\\\")
    raw = format == "html" and span == "&nbsp;"  # stays a reference in HTML; XML has no such entity
    return html.escape(span, quote=False) if format in ("html", "xml") and not raw else span


def framed(format, text):
    if format == "srt":
        return "1\n00:00:01,000 --> 00:00:04,000\n" + text + "\n"
    return "<p>" + text + "</p>" if format in ("html", "xml") else text


def cases(format, spans, sentences=None):
    """Returns (span, text) for each span in each sentence."""
    return [(written(format, s), framed(format, x.replace("@", written(format, s)))) for s in spans for x in sentences or SENTENCES]


def answers(server, texts, format, source="en", target="de"):
    """The translations, with their sentences and flags."""
    found = []
    for i in range(0, len(texts), 60):
        reply = server.post("/v1/translate", {"text": texts[i:i + 60], "source": source, "target": target, "format": format})
        assert reply.status_code == 200, reply.text
        found += reply.json()["translations"]
    return found


def flags(answer):
    return {flag for s in answer["sentences"] for flag in s["flags"]}


def strange(source, answer):
    """Returns the characters of the answer that are invisible or stand for a broken one, unless the source has them."""
    return [c for c in answer if c not in source and (c in "\ufffd\u2047" or unicodedata.category(c) in ("Cc", "Cf", "Cn", "Cs"))]
