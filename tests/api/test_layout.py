"""Documents: wrapped text, subtitles and Markdown through the API and the program. Real translations by the bundled model, and everything
that is not running text comes back byte for byte."""
import json
import random
import re
import subprocess

import pytest

import conftest

BUNDLE = conftest.EN_DE


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE) as s:
        yield s


def whole(server, text, format, **more):
    reply = server.translate(text, format=format, **more)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]


def translated(server, text, format):
    t = whole(server, text, format)
    check_gaps(text, t)
    return t["text"]


def check_gaps(text, t):
    """The text between sentences is unchanged; gaps and sentences together are the whole document."""
    s = a = 0
    for part in t["sentences"] + [{"source": [len(text)] * 2, "target": [len(t["text"])] * 2}]:
        assert text[s:part["source"][0]] == t["text"][a:part["target"][0]]
        assert part["source"][0] >= s and part["target"][0] >= a
        s, a = part["source"][1], part["target"][1]


def test_wrapped_lines_are_one_sentence(server):
    one = "A man in a red shirt is riding a bicycle down the street."
    (plain,) = server.translate(one).json()["translations"]
    for end in ("\n", "\r\n", "\r", "\n> "):
        text = one.replace(" is ", end + "is ").replace(" bicycle", end + "bicycle")
        if end == "\n> ":
            text = "> " + text
        t = whole(server, text, "wrapped")
        assert len(t["sentences"]) == 1
        check_gaps(text, t)
        assert t["text"].count(end) == text.count(end)
        assert re.sub(r"\s+(> )?", " ", t["text"]).removeprefix("> ") == plain["text"]
        assert t["sentences"][0]["score"] == plain["sentences"][0]["score"]


SRT = """\ufeff1
00:00:01,000 --> 00:00:02,500
A man in a red shirt is riding a bicycle
down the street. <i>Two dogs
play in the snow.</i>

2
00:00:03,000 --> 00:00:04,000 X1:100
{\\an8}- A girl is smiling.
- 12:30

3
00:00:05,000 --> 00:00:06,000

"""


def test_subtitles(server):
    for text in (SRT, SRT.replace("\n", "\r\n")):
        answer = translated(server, text, "srt")
        for kept in (r"^\ufeff?\d+\r?$", r"^.*-->.*$"):
            assert re.findall(kept, answer, re.M) == re.findall(kept, text, re.M)
        assert len(answer.split("\n")) == len(text.split("\n"))
        assert "<i>Zwei Hunde" in answer and "Schnee.</i>" in answer
        assert "{\\an8}- Ein Mädchen lächelt." in answer and "- 12:30" in answer


def test_web_subtitles(server):
    text = "WEBVTT - dogs\n\nNOTE two dogs\n\nintro\n00:01.000 --> 00:02.000 align:start\nTwo dogs play in the snow.\n"
    assert translated(server, text, "srt") == text.replace("Two dogs play in the snow.",
                                                           "Zwei Hunde spielen im Schnee.")


MARKDOWN = """---
title: dogs
---
# A girl is smiling. #

A man in a **red** [shirt](http://example.org/a_b "two dogs") is riding
a bicycle down the street.
Two *dogs* play in the ![snow](snow%20dogs.png).

> A girl is smiling.
> Two dogs play in the snow.

- [ ] A little boy eats *ice cream*.
- A dog runs
  through the grass.

```python
print("two dogs")  # a girl
```

    two dogs

| A man is standing on a ladder. | `two dogs` |
|:-------|-------:|
| Two dogs play in the snow. | 12 |

<div>two dogs</div>

[two]: http://example.org/two-dogs
"""


def test_markdown(server):
    answer = translated(server, MARKDOWN, "markdown")
    for kept in ("title: Hunde\n", "(http://example.org/a_b \"Zwei Hunde\")", "(snow%20dogs.png)", "print(\"two dogs\")  # a girl",
                 "\n    two dogs\n", "`two dogs` |", "|:-------|-------:|", "<div>two dogs</div>",
                 "[two]: http://example.org/two-dogs\n", "- [ ] "):
        assert answer.count(kept) == 1, (kept, answer)
    for said in ("# Ein Mädchen lächelt. #\n", "**", "[Hemd](http", "Zwei *Hunde* spielen", "![Schnee](",
                 "> Ein Mädchen lächelt.\n> Zwei Hunde spielen im Schnee.\n", "| Zwei Hunde spielen im Schnee. | 12 |"):
        assert said in answer, (said, answer)
    assert len(answer.split("\n")) == len(MARKDOWN.split("\n"))
    for mark in "*[](){}`|#<>":
        assert answer.count(mark) == MARKDOWN.count(mark), mark


def test_units_within_marks(server):
    """Alternative texts, titles and summaries are translated separately, also in a stream."""
    text = ("Two dogs play in the [snow](u \"A girl is smiling.\") ![Two dogs play in the snow.](a.png \"A girl is smiling.\") here.\n\n"
            "[![A girl is smiling.](b.png)](v) [![Two dogs play in the snow.](c.png)](w)\n\n"
            "<details>\n<summary>Two dogs play in the <b>snow</b>.</summary>\n</details>\n")
    t = whole(server, text, "markdown", alignments=True)
    check_gaps(text, t)
    for said in ("(u \"Ein Mädchen lächelt.\")", "![Zwei Hunde spielen im Schnee.](a.png \"Ein Mädchen lächelt.\")",
                 "[![Ein Mädchen lächelt.](b.png)](v) [![Zwei Hunde spielen im Schnee.](c.png)](w)",
                 "<summary>Zwei Hunde spielen im <b>Schnee</b>.</summary>"):
        assert said in t["text"], (said, t["text"])
    reply = server.translate(text, format="markdown", stream=True)
    sent = [json.loads(line[6:]) for line in reply.content.decode().splitlines() if line.startswith("data: ")]
    assert sent[-1]["translations"][0]["text"] == t["text"]


HTML = """<!DOCTYPE html>
<html lang="en"><head><title>Two dogs</title><script>var dogs = "Two dogs <b>";</script>
<meta name="description" content="A girl is smiling."></head>
<body class="x"><!-- Two dogs -->
<h1>Two dogs play in the <em>snow</em></h1>
<p>A man in a <a href="/red?a=1&amp;b=2" title="Two dogs">red <i>shirt</i></a> is riding a bicycle
   down the street. <b>A girl is smiling.</b><br>Two dogs play in the <code>snow()</code>.
<p><img src="dogs.png" alt="Two dogs play in the snow."> <span translate="no">Two dogs</span>
<ul><li>A girl<li>Two dogs &amp; a girl</ul><input placeholder='A girl is smiling.' value="Two dogs">
</body></html>
"""


def test_html(server):
    answer = translated(server, HTML, "html")
    for said in ("<title>Zwei Hunde</title>", 'content="Ein Mädchen lächelt."', "im <em>Schnee</em></h1>", ' title="Zwei Hunde">',
                 "<b>Ein Mädchen lächelt.</b><br>", "<code>snow()</code>", 'alt="Zwei Hunde spielen im Schnee."', "<li>Ein Mädchen<li>Zwei Hunde &amp; ",
                 "placeholder='Ein Mädchen lächelt.'"):
        assert said in answer, (said, answer)
    for kept in ('<script>var dogs = "Two dogs <b>";</script>', "<!-- Two dogs -->", '<span translate="no">Two dogs</span>', 'value="Two dogs"',
                 'href="/red?a=1&amp;b=2"', "<!DOCTYPE html>\n", "\n</body></html>\n"):
        assert kept in answer, (kept, answer)
    assert re.findall(r"</?\w+", answer) == re.findall(r"</?\w+", HTML)
    same = server.post("/v1/translate", {"text": HTML, "source": "en", "target": "en", "format": "html"}).json()
    assert same["translations"][0]["text"] == HTML


def test_html_from_the_program(server, tmp_path):
    (tmp_path / "a.html").write_text(HTML)
    made = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--format", "html", str(tmp_path / "a.html")], capture_output=True,
                          text=True, check=True).stdout
    assert made == translated(server, HTML, "html")


def test_html_sent_as_plain_text_is_flagged(server):
    for text, said in (("<p>Two dogs play in the <b>snow</b>.</p><p>A girl is smiling.</p>",
                        "<p>Zwei Hunde spielen im <b>Schnee</b>.</p><p>Ein Mädchen lächelt.</p>"),
                       ("Two dogs play in the snow.<br/>A girl is smiling.", "Zwei Hunde spielen im Schnee.<br/>Ein Mädchen lächelt.")):
        t = whole(server, text, "text")
        assert t["text"] == said
        assert all("markup_in_text" in s["flags"] for s in t["sentences"])
    for text in ("A girl is < 3 and > 2.", "The tag <b> is old.", "Use </foo> here."):
        assert not any("markup_in_text" in s["flags"] for s in whole(server, text, "text")["sentences"])


def test_markup_that_is_refused(server):
    reply = server.translate("<a>Two dogs", format="xml")
    assert reply.status_code == 400 and reply.json()["error"]["field"] == "text" and "line 1" in reply.json()["error"]["message"]


@pytest.mark.parametrize("format", ["text", "wrapped", "markdown", "html"])
def test_a_byte_order_mark_is_no_letter_of_the_first_word(server, format):
    assert translated(server, "\ufeff" + "Two dogs play in the snow.", format) == "\ufeff" + "Zwei Hunde spielen im Schnee."


def test_what_users_saw(server):
    text = "1. First step:\n\n       make install now\n\n```\nTwo dogs\n``` ---\nTwo dogs\n```\n\nTwo dogs.\n"
    answer = translated(server, text, "markdown")
    assert "\n       make install now\n\n```\nTwo dogs\n``` ---\nTwo dogs\n```\n\nZwei Hunde." in answer, answer
    answer = translated(server, "[Two dogs](a) | [A girl](b) | [A man](c)\n", "markdown")
    assert answer == "[Zwei Hunde](a) | [Ein Mädchen](b) | [Ein Mann](c)\n"
    answer = translated(server, "Two dogs play with `f()`.", "markdown")
    assert answer.endswith("`f()`."), answer


def test_marks_stand_around_the_same_words(server):
    text = "Two dogs play with a **red ball** in the <b>snow</b>."
    answer = translated(server, text, "markdown")
    assert re.search(r"\*\*[^*]*roten[^*]*\*\*", answer) and "<b>Schnee</b>" in answer, answer


def test_code_and_addresses_come_back(server):
    for code in ("`make dogs`", "``a`b``", "<https://example.org/dogs>", "https://example.org/two_dogs?a=b&c=d"):
        for text in ("Two dogs play in the %s.", "A man in %s rides a bicycle.", "%s: two dogs play in the snow.", "%s"):
            answer = translated(server, text % code, "markdown")
            assert answer.count(code) == 1, (text % code, answer)


def test_alignments_with_marks(server):
    text = "Two **dogs** play\nin the [snow](http://a.b)."
    t = whole(server, text, "markdown", alignments=True)
    pairs = [(text[s[0]:s[1]], t["text"][a[0]:a[1]].strip("*")) for s, a in t["alignments"]]
    assert ("dogs", "Hunde") in pairs, pairs


BITS = ["Two dogs", " play ", "in the snow. ", "A girl", "\n", "\n", "\n\n", "\r\n", "> ", "- ", "**", "*", "`", "[", "](u)",
        "<b>", "</b>", "# ", "| ", "|---|\n", "```\n", "1. ", "http://a.b ", "    ", "00:01 --> 00:02\n", "\\", "!", "é ", "漢", "。"]


@pytest.mark.parametrize("format", ["text", "wrapped", "srt", "markdown"])
def test_random_documents(server, format):
    rng = random.Random(format)
    texts = ["".join(rng.choice(BITS) for _ in range(rng.randrange(1, 30))) for _ in range(40)]
    reply = server.post("/v1/translate", {"text": texts, "source": "en", "target": "de", "format": format, "beam_size": 1})
    assert reply.status_code == 200, reply.text
    for text, t in zip(texts, reply.json()["translations"]):
        check_gaps(text, t)


@pytest.mark.parametrize("before, marks, behind, format", [
    ("a。", "<b></b>", "b", "markdown"), ("你好。", "![](a.png)", "再见。", "markdown"), ("a。", "[](#x)", "b", "markdown"),
    ("a。", "<a id=x></a>", "b", "markdown"), ("1\n00:01.000 --> 00:02.000\na。", "<i></i>", "b\n", "srt")])
def test_marks_around_nothing_between_sentences(server, before, marks, behind, format):
    text = before + marks + behind
    t = whole(server, text, format)
    assert len(t["sentences"]) == 2 and t["text"].count(marks) == 1, t
    check_gaps(text, t)
    reply = server.translate(text, format=format, stream=True)
    assert reply.status_code == 200 and "\nevent: done\n" in reply.text, reply.text


def test_a_sentence_over_the_limit(server):
    text = "A man and [a dog](u) and `a cat` and\n" * 80 + "a girl sit on a bench."
    t = whole(server, text, "markdown")
    assert len(t["sentences"]) > 1 and all("split" in s["flags"] for s in t["sentences"])
    check_gaps(text, t)
    assert t["text"].count("](u)") == 80 and t["text"].count("`a cat`") == 80


def test_unknown_format_is_named(server):
    for format in ("pdf", "", 5, None):
        reply = server.translate("Two dogs.", format=format)
        assert reply.status_code == 400 and reply.json()["error"]["field"] == "format", reply.text


def test_program():
    for format, text in (("markdown", MARKDOWN), ("srt", SRT), ("wrapped", "Two dogs play\nin the snow.\n")):
        out = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--format", format], input=text.encode(),
                             capture_output=True, check=True).stdout.decode()
        assert "Hunde" in out and len(out.split("\n")) == len(text.split("\n"))
    bad = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--format", "pdf"], capture_output=True, text=True)
    assert bad.returncode == 2 and "pdf" in bad.stderr
