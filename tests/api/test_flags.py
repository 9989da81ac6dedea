"""Flags of unusual answers, provoked with real text on the bundled model: names that it never saw make it loop and doubt;
captions do neither."""
import json
import os
import re
import subprocess

import pytest
import yaml

import bundle
import conftest

BUNDLE = conftest.EN_DE

CAPTIONS = ["A man in a red shirt is riding a bicycle down the street.", "Two dogs play in the snow.",
            "A girl is smiling."]
# Headlines and news full of names: the bundled model's answers to these loop.
NEWS = ["Hansjakob back in Freihof once again", "Oil extends drop toward $96 a barrel",
        "You could call him the Dostoevsky of the USA.", "Pimp must go to prison",
        "Court blocks ruling on NYPD stop-and-frisk policy",
        "Gazprom's Alexei Miller says pipeline in Bulgaria starts new gas era",
        "Many critics of veganism warn in particular of the lack of vitamin B12.",
        "Bronze went to Rainer and Bernd Maier of the Asphaltriecher team."]
# Its answer has over two hundred pieces, even when repetition is prevented.
ENDLESS = ("Regarding the subject of traffic, which was not on the agenda for this Friday, the SPD substantiated its opposition "
           "to a car toll charge promoted by the CSU.")
# One unit, of at least one letter, four times in a row.
LOOP = re.compile(r"(\w{1,20}?)\1{3}")


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE) as s:
        yield s


def cli(lines, *options):
    out = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--json", *options],
                         input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def one(server, text, **fields):
    reply = server.translate(text, **fields)
    assert reply.status_code == 200, reply.text
    (translation,) = reply.json()["translations"]
    return translation


def flags(translation):
    return {flag for s in translation["sentences"] for flag in s["flags"]}


def test_captions_are_unremarkable(server):
    for text in CAPTIONS:
        assert flags(one(server, text)) == set()
    assert all(a["flags"] == [] for a in cli(CAPTIONS))


def test_loops_end(server):
    raw = cli(NEWS, "--keep-loops")
    looped = [i for i, a in enumerate(raw) if LOOP.search(a["text"])]
    assert len(looped) >= 3, "the model has become too good for this test: find it harder sentences"
    assert not any("repetition" in a["flags"] for a in raw)
    for i in looped:
        answer = one(server, NEWS[i])
        assert "repetition" in flags(answer)
        assert not LOOP.search(answer["text"]), answer["text"]


def test_an_answer_is_not_empty(tmp_path):
    """A model that prefers an empty answer must give some text, flagged as low_confidence."""
    folder = bundle.make(conftest.CLI, str(tmp_path / "terse"), end_bias=30.0, seed=5)
    run = [conftest.CLI, "translate", "--model", folder, "--json"]
    text = "Good morning, world.\n"
    silent = json.loads(subprocess.run([*run, "--keep-loops"], input=text, capture_output=True, text=True, check=True).stdout)
    spoken = json.loads(subprocess.run(run, input=text, capture_output=True, text=True, check=True).stdout)
    assert silent["text"] == "" and spoken["text"].strip() != ""
    assert spoken["flags"] == ["low_confidence"]
    with conftest.Server(folder) as s:
        answer = one(s, text.strip(), n_best=1)
        assert answer["text"] == spoken["text"] and flags(answer) == {"low_confidence"}
        assert one(s, "12:30")["text"] == "12:30"


def test_second_round_is_per_sentence(server):
    """Answers are the same alone, in an array, from the server and from the command line; a sentence without a loop keeps its
    answer."""
    texts = CAPTIONS + NEWS
    alone = [one(server, t) for t in texts]
    reply = server.post("/v1/translate", {"text": texts, "source": "en", "target": "de"}).json()["translations"]
    assert [(t["text"], t["sentences"]) for t in reply] == [(t["text"], t["sentences"]) for t in alone]
    program = cli(texts)
    assert [t["text"] for t in program] == [t["text"] for t in alone]
    assert [set(t["flags"]) for t in program] == [flags(t) for t in alone]
    kept = cli(texts, "--keep-loops")
    for a, b in zip(program, kept):
        assert a["text"] == b["text"] or "repetition" in a["flags"]


def test_second_round_is_counted(server):
    names = ("dragoman_repetition_detected_total", "dragoman_low_confidence_total")
    before = [server.metric(n) for n in names]
    found = [flags(one(server, t)) for t in NEWS]
    assert server.metric(names[0]) - before[0] == sum("repetition" in f for f in found) > 0
    assert server.metric(names[1]) - before[1] == sum("low_confidence" in f for f in found) > 0


def test_low_confidence(server):
    doubtful = [flags(one(server, t)) for t in NEWS]
    assert sum("low_confidence" in f for f in doubtful) >= len(NEWS) - 1


def test_numbers(server, tmp_path):
    """A random model changes or drops numbers, which is flagged; numbers that are not translated or are part of markup stay."""
    folder = bundle.make(conftest.CLI, str(tmp_path / "random"), seed=5)
    text = "In 1492 there were 87 of them."
    spoken = json.loads(subprocess.run([conftest.CLI, "translate", "--model", folder, "--json"], input=text + "\n",
                                       capture_output=True, text=True, check=True).stdout)
    assert "number_mismatch" in spoken["flags"]
    with conftest.Server(folder) as s:
        assert "number_mismatch" in flags(one(s, text)) and flags(one(s, "1492: 87%")) == set()
        assert s.metric("dragoman_number_mismatch_total") == 1
    answer = one(server, "[Two dogs](https://example.org/1492) play in the **snow**.", format="markdown")
    assert "1492" in answer["text"] and flags(answer) == set()
    assert "number_mismatch" not in flags(one(server, "<p>The girl&#8217;s dogs play in the snow.</p>", format="html"))


def test_another_language(server):
    assert "source_language_doubtful" in flags(one(server, "Zwei Hunde spielen im Schnee."))
    assert "source_language_doubtful" not in flags(one(server, CAPTIONS[1]))


@pytest.fixture(scope="module")
def shipped():
    with conftest.Server(conftest.BUNDLES) as s:
        yield s


@pytest.mark.parametrize("text", [
    '<p><a class="navigation-link" href="/about/our-team">Unser Team</a></p>',
    '<a href="/shop/search-results" class="button primary">Jetzt suchen</a>',
    'Lesen Sie <code>the quick brown fox jumps over the lazy dog</code> und mehr.'])
def test_tags_are_in_no_language(shipped, text):
    """The English of tags and code says nothing of the German sentence."""
    def flags_of(html):
        reply = shipped.post("/v1/translate", {"text": html, "source": "de", "target": "en", "format": "html"})
        return flags(reply.json()["translations"][0])
    assert "source_language_doubtful" not in flags_of(text)
    assert "source_language_doubtful" in flags_of("<p><b>Two dogs</b> play in the <i>snow</i>.</p>")


@pytest.mark.parametrize("text, fields", [
    ("The total is {amount}.", {}), ("The {quantity} is there.", {"format": "html"}),
    ("Set the `price` to zero.", {"format": "markdown"}), ("The price is high.", {"glossary": {"price": "price"}})])
def test_what_stays_is_not_copied(server, text, fields):
    answer = one(server, text, **fields)
    assert re.search("{?(amount|quantity|price)}?", text).group() in answer["text"]
    assert "word_copied" not in flags(answer), answer


def test_same_language(server):
    reply = server.post("/v1/translate", {"text": CAPTIONS[1], "source": "en", "target": "en"}).json()["translations"][0]
    assert "same_language" in flags(reply) and reply["text"] == CAPTIONS[1]
    assert "same_language" not in flags(one(server, CAPTIONS[1]))


def test_from_memory(tmp_path):
    (tmp_path / "a.en-de.tsv").write_text(CAPTIONS[1] + "\tZwei Hunde toben.\n")
    with conftest.Server(BUNDLE, "--collections", str(tmp_path / "c.db"), "--memories", str(tmp_path)) as s:
        assert "from_memory" in flags(one(s, CAPTIONS[1]))
        assert "from_memory" not in flags(one(s, CAPTIONS[2]))


def test_split(server):
    text = "A man and " + "a dog and a cat and " * 120 + "a girl sit on a bench."
    answer = one(server, text)
    assert len(answer["sentences"]) > 1
    assert all("split" in s["flags"] for s in answer["sentences"])
    assert "split" in cli([text])[0]["flags"]


def test_length_limited():
    (answer,) = cli([CAPTIONS[0]], "--max-length", "5")
    assert "length_limited" in answer["flags"]
    assert one_word_longer(answer["text"])


def test_length_limited_over_http(server, endless):
    assert "length_limited" in flags(one(server, ENDLESS)), "the model has become too good for this test"
    with conftest.Server(endless) as other:  # never says </s>
        assert all("length_limited" in s["flags"] for s in one(other, " ".join(CAPTIONS))["sentences"])


def test_the_same_flags_in_a_stream(server):
    texts = [CAPTIONS[0], NEWS[0], ENDLESS]
    whole = server.post("/v1/translate", {"text": texts, "source": "en", "target": "de"}).json()["translations"]
    reply = server.post("/v1/translate", {"text": texts, "source": "en", "target": "de", "stream": True})
    events = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {\"text_index\"")]
    found = {(e["text_index"], e["sentence_index"]): e["flags"] for e in events}
    assert found == {(i, k): s["flags"] for i, t in enumerate(whole) for k, s in enumerate(t["sentences"])}
    assert any(found.values())


def test_copied_words(server):
    """A prefix puts the source word into the answer: it is flagged, but its translation is not, nor is a name."""
    def said(text, prefix):
        return flags(one(server, text, target_prefix=prefix))
    text, start = "A man buys bread in the pharmacy.", "Ein Mann kauft Brot in der "
    assert "word_copied" in said(text, start + "pharmacy")
    assert "word_copied" not in said(text, start + "Apotheke")
    assert "word_copied" not in said("A man visits Mr Shepherd.", "Ein Mann besucht Herrn Shepherd")


def test_lost_characters():
    """A character that the bundled model cannot write is missing in its answer, and the sentence is flagged."""
    with conftest.Server(conftest.BUNDLES) as server:
        answers = [one(server, "The sign %s is here." % c) for c in "üéбсは中"]
        lost = [a for a in answers if "character_lost" in flags(a)]
        assert 0 < len(lost) < len(answers)
        assert all(("character_lost" in flags(a)) != (c in a["text"]) for c, a in zip("üéбсは中", answers))
        assert all("\ufffd" not in a["text"] and "  " not in a["text"] for a in answers)
        assert "character_lost" not in flags(one(server, "The sign is here."))


def test_html_in_plain_text(server):
    assert "markup_in_text" in flags(one(server, "Two dogs play in the <b>snow</b>."))
    assert "markup_in_text" not in flags(one(server, "Two dogs & a cat play in the snow."))


def test_a_term_without_room(tmp_path):
    (tmp_path / "t.tsv").write_text("dogs\tzwei Haustiere im Garten\n")
    flags_of, = cli(["Two dogs play in the snow."], "--glossary", str(tmp_path / "t.tsv"), "--max-length", "3")
    assert "glossary_missed" in flags_of["flags"]


def test_every_flag_is_described():
    """The code, openapi.yaml, docs/api.md and this file have the same flags; each is provoked here."""
    def read(*path):
        with open(os.path.join(conftest.ROOT, *path), encoding="utf-8") as f:
            return f.read()
    said = set(re.findall(r'case DG_FLAG_\w+: return "(\w+)";', read("translate", "answer", "finish.c")))
    sentence = next(s for s in yaml.safe_load(read("openapi.yaml"))["components"]["schemas"].values()
                    if "enum" in s.get("properties", {}).get("flags", {}).get("items", {}))
    table = read("docs", "api.md").split("| flag | meaning |", 1)[1].split("\n\n", 1)[0]
    assert said == set(sentence["properties"]["flags"]["items"]["enum"]) == set(re.findall(r"^\| `(\w+)`", table, re.M))
    assert said == {flag for flag in said if f'"{flag}" in' in read("tests", "api", "test_flags.py")}


def one_word_longer(text):
    """True if the text is the answer to the first caption, cut short."""
    whole = cli([CAPTIONS[0]])[0]["text"]
    return whole.startswith(text[:10]) and len(text) < len(whole)


def test_unknown_characters_are_copied(tmp_path):
    """The bundled model never answers with <unk>; a random one with a bias towards it does."""
    folder = bundle.make(conftest.CLI, str(tmp_path / "unknown"), end_bias=0.5, unk_bias=3.0, vocabulary="joint.model")
    with conftest.Server(folder) as server:
        answers = [one(server, t) for t in ("The 漢 house.", "A 漢字 and 語.", "漢漢漢")]
    copied = [a for a in answers if "unk_copied" in flags(a)]
    assert copied and any(c in a["text"] for a in copied for c in "漢語")
    assert not any("⁇" in a["text"] for a in answers)
