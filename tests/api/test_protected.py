"""Nothing is lost in translation: addresses, placeholders and names of files through the shipped bundle, in plain text and
in Markdown, at three places of a sentence; and single characters, as many as it keeps today."""
import os
import unicodedata

import pytest

import conftest

BUNDLES = os.path.join(conftest.ROOT, "weights", "bundles")

ADDRESSES = """https://example.org http://example.org/ https://example.org/a/b.html https://example.org/a?b=c&d=e
https://example.org/a#b https://user@example.org/x https://example.org:8443/x https://example.org/Foo_(bar)
https://example.org/a_b_c https://example.org/~anna/ https://example.org/%C3%BC https://müller.example/straße
https://example.org/a,b;c https://example.org/?q=two+dogs https://192.168.0.1/x http://localhost:8080/v1/translate
www.example.org www.example.org/dogs ftp://example.org/pub sftp://example.org/x ssh://git@example.org/repo.git
git://example.org/x.git mailto:anna@example.org tel:+49301234567 anna@example.org anna.b+c@mail.example.org
anna_b@example.co.uk jürgen@müller.example example.org example.org/dogs?x=1 localhost:8080 10.0.0.1:5432""".split()

PLACEHOLDERS = ["%s", "%1$d", "%-5.2f", "%(name)s", "%{name}", "{name}", "{0}", "{{ x }}", "{{user.name}}", "{{#if a}}", "${name}", "$name",
                ":name", "&nbsp;", "{n, plural, one {# dog} other {# dogs}}"]
COUNTED = "%d%%"  # two of them side by side

FILES = ["config.txt", "my-notes.v2.pdf", "src/main.c", "/etc/hosts", "~/notes.md", "./run.sh", "C:\\dogs\\two.png", "Übersicht.xlsx",
         "archive.tar.gz", "IMG_2034.jpeg"]

SENTENCES = ["Two dogs play with %s in the snow.", "Open %s and look at the dogs.", "A girl is smiling at %s."]

# eight kinds of 21 or 22 characters, and how many come through a sentence each today
CHARACTERS = {
    "latin": ("äöüßéèêçñøåæœšžčłőğışþ", 5),
    "greek": ("αβγδεζηθικλμνξοπρστυφω", 3),
    "cyrillic": ("абвгдежзиклмнопрстуфя", 0),
    "east asian": ("日本語中文字漢한국어말글あいうえおカキクケ", 0),
    "other scripts": ("אבגדהابتثجहिन्दीไทยกขค", 0),
    "currency and signs": ("€£¥¢₹₽₿§¶©®™°ªº†‡•…№℃", 3),
    "mathematics": ("±×÷≠≤≥≈∞∑√∫∂∆πµ½¼¾²³∈", 2),
    "arrows and pictures": ("←↑→↓↔⇒★☆☀☎☑♠♥♪✓✗😀🐕🚀🎉🔥", 6),
}




@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLES) as s:
        yield s


def answers(server, texts, format):
    answers = []
    for i in range(0, len(texts), 60):
        reply = server.post("/v1/translate", {"text": texts[i:i + 60], "source": "en", "target": "de", "format": format})
        assert reply.status_code == 200, reply.text
        answers += [t["text"] for t in reply.json()["translations"]]
    return answers


@pytest.mark.parametrize("format", ["text", "markdown"])
@pytest.mark.parametrize("kind", ["addresses", "placeholders", "files"])
def test_protected_spans_come_back(server, kind, format):
    spans = {"addresses": ADDRESSES, "placeholders": PLACEHOLDERS, "files": FILES}[kind]
    if format == "markdown":
        spans = [s.replace("\\", "\\\\") for s in spans]  # a backslash is escaped there
    texts = [sentence % span for span in spans for sentence in SENTENCES]
    lost = []
    for text, answer in zip(texts, answers(server, texts, format)):
        span = next(s for s in spans if any(text == sentence % s for sentence in SENTENCES))
        if answer.count(span) != 1:
            lost.append((span, answer))
    assert not lost, "%d of %d lost: %s" % (len(lost), len(texts), lost)


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_percent_signs_of_programs(server, format):
    (answer,) = answers(server, ["The dogs have eaten %s of it." % COUNTED], format)
    assert answer.count(COUNTED) == 1, answer


@pytest.mark.parametrize("kind", CHARACTERS)
def test_characters(server, kind):
    """A floor: what the model's vocabulary lacks is copied through the alignment, or lost."""
    characters, floor = CHARACTERS[kind]
    texts = ["The sign %s is here." % c for c in characters]
    kept = [c for c, answer in zip(characters, answers(server, texts, "text")) if c in answer]
    print(kind, len(kept), len(characters))
    assert len(kept) >= floor, (len(kept), [c for c in characters if c not in kept])


def test_signs_that_the_source_lacks(server):
    """U+FFFD, controls, marks of direction, U+2047: byte pieces that make no character."""
    texts = ["The sign %s is here." % c for characters, _ in CHARACTERS.values() for c in characters]
    bad = [(text, answer) for text, answer in zip(texts, answers(server, texts, "text"))
           if any(c not in text and (c in "\ufffd\u2047" or unicodedata.category(c) in ("Cc", "Cf")) for c in answer)]
    assert not bad, (len(bad), bad)
