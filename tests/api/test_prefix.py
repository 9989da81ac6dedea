"""target_prefix: wherever the prefix is cut, even within a word, the answer begins with it."""
import concurrent.futures
import json
import os
import random
import re
import subprocess
import unicodedata

import pytest

import conftest

BUNDLE = conftest.EN_DE
N_RANDOM = 5000
TEXT = "A man in a red shirt is riding a bicycle down the street."


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE, "--max-queue-seconds", "60") as s:  # a slow machine may need more than the default of 2
        yield s


def begun(server, prefix, text=TEXT, **more):
    reply = server.translate(text, target_prefix=prefix, **more)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


def test_cut_anywhere_the_best_answer_comes_again(server):
    best = begun(server, "")
    assert best == server.translate(TEXT).json()["translations"][0]["text"]
    same = 0
    for i in range(1, len(best)):
        answer = begun(server, best[:i])
        assert answer.startswith(best[:i].rstrip()), (best[:i], answer)
        same += answer == best
    assert same >= 0.9 * (len(best) - 1)  # a search with a prefix may find a better answer than one without


@pytest.mark.parametrize("prefix", ["Zwei M", "Eine Fr", "Der Radf", "Im Sommer, als Q", "Ü", "»Ein", "Zwölf Boxkä",
                                    "3 Män", "Ein Mann (", "xyzq"])
def test_any_beginning(server, prefix):
    for beam in (1, 4):
        answer = begun(server, prefix, beam_size=beam)
        assert answer.startswith(prefix), answer
        assert len(answer) > len(prefix)


def test_a_space_ends_the_word(server):
    assert begun(server, "Ein Man").startswith("Ein Mann ")
    assert begun(server, "Ein Man ").startswith("Ein Man ")


def test_characters_that_the_model_does_not_know_stay(server):
    assert begun(server, "Der Mann mit ☃ und 漢 trägt").startswith("Der Mann mit ☃ und 漢 trägt")


def test_only_the_first_sentence(server):
    text = "Two dogs play.  A girl is smiling."
    answer = begun(server, "Drei H", text)
    (plain,) = server.translate(text).json()["translations"]
    assert answer.startswith("Drei H")
    second = plain["sentences"][1]["target"]
    assert answer.endswith("  " + plain["text"][second[0]:second[1]])
    assert begun(server, "Ja", "12:30") == "12:30"


@pytest.mark.parametrize("title", ["Two dogs. A girl.", "Two dogs \U0001F389", "Two dogs"])
def test_a_title_is_the_first_sentence(server, title):
    """A YAML value of several parts, or with an emoji, is translated in parts within it: its first one gets the prefix."""
    text = "---\ntitle: %s\n---\n\nA man sleeps.\n" % title
    answer, plain = begun(server, "Drei H", text, format="markdown"), server.translate(text, format="markdown").json()["translations"][0]["text"]
    assert re.search("^title: '?Drei H", answer, re.M), answer
    assert answer.splitlines()[-1] == plain.splitlines()[-1], answer


@pytest.mark.parametrize("prefix", ["2.5", "2.5 Mil"])
def test_a_number_in_it_stays(server, prefix):
    """Also where the number is a word that may continue."""
    assert begun(server, prefix, "2.5 million people live here.").startswith(prefix)
    reply = server.post("/v1/alternatives", {"text": "2.5 million people live here.", "source": "en", "target": "de", "target_prefix": prefix})
    assert all(a["text"].startswith(prefix) for a in reply.json()["alternatives"]), reply.text


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_later_sentences_are_as_without_it(server, format):
    """Only the first sentence is shown to the model as it is: in others, addresses, numbers, capitals are treated as usual."""
    later = ["Write to {user_name} at https://x.org/a?b=Kx9#q.", "TWO DOGS PLAY IN THE SNOW.", "It is 1,500.5 metres long \U0001F389."]
    text = " ".join(["Two dogs play."] + later)
    answer = server.translate(text, format=format, target_prefix="Drei H").json()["translations"][0]
    plain = server.translate(text, format=format).json()["translations"][0]
    parts = [[t["text"][slice(*s["target"])] for s in t["sentences"]] for t in (answer, plain)]
    assert parts[0][0].startswith("Drei H") and parts[0][1:] == parts[1][1:] and len(parts[0]) == 4, answer
    assert all(answer["text"].count(kept) == 1 for kept in ("{user_name}", "https://x.org/a?b=Kx9#q", "\U0001F389")), answer
    assert server.translate(text, format=format, target_prefix="").json()["translations"][0] == plain


@pytest.mark.parametrize("format, text, before", [
    ("text", "- Two dogs play.", "- "), ("text", "1. Two dogs play.", "1. "), ("text", "\u2022 Two dogs play. A girl.", "\u2022 "),
    ("markdown", "> - Two dogs play.", "- "), ("markdown", "# Two dogs", "# "), ("html", "<p>\U0001F389 Two dogs play.</p>", "\U0001F389 "),
    ("xml", "<p>\U0001F389 Two dogs play.</p>", "\U0001F389 "), ("html", "<ul><li>\u2022 Two dogs play.</li></ul>", "\u2022 "),
    ("srt", "1\n00:00:00,000 --> 00:00:01,000\n- \U0001F389 Two dogs play.\n", "- \U0001F389 ")])
def test_it_may_begin_with_what_is_before_the_sentence(server, format, text, before):
    """As a translation begins, which a user has read: bullets, numbers and emoji are not written twice."""
    answer = begun(server, "Drei H", text, format=format)
    assert before + "Drei H" in answer, answer
    assert begun(server, before + "Drei H", text, format=format) == answer
    assert begun(server, before.strip() + "Drei H", text, format=format) == answer
    assert begun(server, before, text, format=format).count(before) == 1


@pytest.mark.parametrize("text", ["\U0001F389 Two dogs play. A girl.", "See https://x.org/a: two dogs play.", "<p>Two <b>dogs</b> play.</p>",
                                  "\ufeffTwo dogs. A girl.", "12:30\n\nTwo dogs \u2122 of Dvořák. A girl."])
def test_nothing_comes_before_it(server, text):
    (translation,) = server.translate(text, target_prefix="Drei H").json()["translations"]
    at = translation["sentences"][1 if text[0] == "1" and len(translation["sentences"]) > 2 else 0]["target"][0]
    assert translation["text"][at:].startswith("Drei H"), translation


@pytest.mark.parametrize("prefix", ["Dworschak ", "Dworschak", "Dvo", "Ein Mann "])
def test_a_protected_word_is_not_written_over_it(server, prefix):
    answer = begun(server, prefix, "Dvořák wrote this.", format="html")
    assert answer.startswith(prefix) and answer.count("Dvořák") == 1, answer


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
@pytest.mark.parametrize("prefix", ["", "Zwei ", "Schreiben", "Drei H", "Schreiben Sie {user_name"])
def test_protected_text_is_in_it_too(server, prefix, format):
    """The model sees addresses as they are, and they are where it puts them, but not within the prefix."""
    text = "Write to {user_name} at https://x.org/a?b=Kx9#q today."
    answer = begun(server, prefix, text, format=format)
    assert answer.startswith(prefix), answer
    assert all(answer.count(kept) == 1 for kept in ("{user_name}", "https://x.org/a?b=Kx9#q")), answer


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_protected_words_may_be_decomposed(server, form, format):
    """The model reads and writes them composed, and so may the prefix be."""
    word = unicodedata.normalize("NFD", "Dvořák")
    text = "The man %s reads a book." % word
    best = begun(server, "", text, format=format)
    assert best.count(word) == 1, best
    at = best.index(word)
    for end in (at, at + len(word), len(best) - 3):
        prefix = unicodedata.normalize(form, best[:end])
        answer = begun(server, prefix, text, format=format)
        assert answer.startswith(best[:end].rstrip()) and answer.count(word) == 1 and "Dvořák" not in answer, (prefix, answer)
        reply = server.post("/v1/alternatives", {"text": text, "source": "en", "target": "de", "target_prefix": prefix})
        assert all(a["text"].count(word) == 1 and "Dvořák" not in a["text"] for a in reply.json()["alternatives"]), reply.text


@pytest.mark.parametrize("format, text, prefix", [
    ("markdown", '![A RED BUTTON](u "PRESS NOW") press', "Ein roter"),
    ("markdown", '![A DOG SLEEPS](dog.png "PRESS NOW") The cat plays.', "Ein Hund"),
    ("html", '<ul><li>\u2022 <img alt="A RED BUTTON"> Press the green button now.</li></ul>', "Ein roter"),
    ("markdown", '[x]: http://x.org "PLEASE READ THE MANUAL"\n\nThe dog plays with [x].', "Lesen Sie"),
    ("markdown", '[x]: http://x.org "Write to {name} now"\n\nThe dog plays with [x].', "Mailen Sie {na")])
def test_the_first_sentence_of_the_text_is_shown_as_it_is(server, format, text, prefix):
    """Also where a title within it, or a paragraph after it, is read before it."""
    answer = begun(server, prefix, text, format=format)
    assert prefix in answer and answer.count("{name") == text.count("{name"), answer


@pytest.mark.parametrize("text, best", [
    ("It costs \u20b91,234.50 today.", "Es kostet heute \u20b91.234,50."),
    ("It costs \u20b91,234.50 and \u20b92,000.00 today.", "Es kostet heute \u20b91.234,50 und \u20b92.000,00."),
    ("It costs \u20b91,234.50 or \u20b91,234.50 today.", "Es kostet heute \u20b91.234,50 oder \u20b91.234,50.")])
@pytest.mark.parametrize("format", ["text", "html"])
def test_a_price_in_it_is_not_written_again(server, text, best, format):
    """Neither as the server itself writes it nor as the source has it."""
    for prefix in (best, best[:-1] + " ", text.replace("It costs", "Es kostet").replace("today.", "heute.")):
        answer = begun(server, prefix, text, format=format)
        assert answer.startswith(prefix.rstrip()) and answer.count("\u20b9") == text.count("\u20b9"), (prefix, answer)
    reply = server.post("/v1/alternatives", {"text": text, "source": "en", "target": "de", "target_prefix": "Es kostet \u20b91.234,50 "})
    assert all(a["text"].count("\u20b9") == text.count("\u20b9") for a in reply.json()["alternatives"]), reply.text


def test_alone_and_in_company(server):
    alone = [begun(server, "Zwei M", t) for t in (TEXT, "Two dogs.", "A girl.")]
    reply = server.post("/v1/translate", {"text": [TEXT, "Two dogs.", "A girl."], "source": "en", "target": "de",
                                          "target_prefix": "Zwei M"})
    assert [t["text"] for t in reply.json()["translations"]] == alone


def test_with_sampling(server):
    answers = {begun(server, "Zwei M", sampling={"seed": s}) for s in range(5)}
    assert all(a.startswith("Zwei M") for a in answers) and len(answers) > 1


def test_mistakes_are_named(server):
    for prefix, status in ((5, 400), ("a\0b", 400), ("wort " * 200, 413)):
        reply = server.translate(TEXT, target_prefix=prefix)
        assert reply.status_code == status, reply.text
        assert reply.json()["error"]["field"] == "target_prefix"


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    """A student, whose answers have at most twice the source's pieces."""
    folder = str(tmp_path_factory.mktemp("student") / "bundle")
    subprocess.run([conftest.CLI, "convert", "bergamot", os.path.join(conftest.ROOT, "tests", "data", "convert", "bergamot"), "--out", folder],
                   check=True, capture_output=True)
    return folder


def test_a_short_answer_begins_with_it_too(student):
    """The limit of this answer is 10 pieces: a longer prefix is refused. It used to be cut off within a word."""
    whole = "Der Hund sieht einen roten Vogel im Garten"
    with conftest.Server(student) as server:
        for path, more in (("/v1/translate", {}), ("/v1/translate", {"beam_size": 4}), ("/v1/alternatives", {"n": 3})):
            refused = []
            for i in range(1, len(whole) + 1):
                reply = server.post(path, {"text": "The dog.", "source": "en", "target": "de", "target_prefix": whole[:i], **more})
                if reply.status_code == 200:
                    found = reply.json()["translations" if path == "/v1/translate" else "alternatives"]
                    assert all(a["text"].startswith(whole[:i].rstrip()) for a in found), (whole[:i], reply.text)
                else:
                    refused.append(whole[:i])
                    error = reply.json()["error"]
                    assert reply.status_code == 413 and error["field"] == "target_prefix" and "may have 10" in error["message"], reply.text
            assert whole in refused and whole[:14] not in refused, refused


def test_the_limit_that_steps_are_shown_with(student):
    out = subprocess.run([conftest.CLI, "translate", "--model", student, "--steps", "--json"], input="The dog.\n",
                         capture_output=True, text=True, check=True).stdout
    assert json.loads(out)["steps"][1] == 10


def test_program():
    out = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--prefix", "Eine Fr"], input=TEXT + "\n",
                         capture_output=True, text=True, check=True).stdout
    assert out.startswith("Eine Frau ")
    out = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--pieces", "--prefix", "▁Eine ▁Frau"],
                         input="▁A ▁man .\n", capture_output=True, text=True, check=True).stdout
    assert out.startswith("▁Eine ▁Frau ")
    bad = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--pieces", "--prefix", "Frau"],
                         input="▁A ▁man .\n", capture_output=True, text=True)
    assert bad.returncode == 1 and "Frau" in bad.stderr


@pytest.mark.parametrize("prefix", ["aaaaaaaaaaaa", "((((((((", "No no no no no no no"])
def test_a_prefix_that_repeats_itself(server, prefix):
    """The answer after the prefix loops: the second round must still allow the prefix's own repetition."""
    reply = server.post("/v1/translate", {"text": "Hi there.", "source": "en", "target": "de", "target_prefix": prefix})
    assert reply.status_code == 200, reply.text
    assert reply.json()["translations"][0]["text"].startswith(prefix)


def test_no_valid_request_fails(server):
    """Random valid requests over all options never get a 5xx."""
    rng = random.Random(11)
    alphabet = list("aA1( .,-\"'\u00e9\u00df\u4f60\u0301\U0001f600\n") + ["the ", "Hund ", "((", "aa", "No "]

    def text(most):
        return "".join(rng.choices(alphabet, k=rng.randint(1, most)))

    def ask(seed):
        body = {"text": bodies[seed][0], "source": "en", "target": "de", **bodies[seed][1]}
        return body, server.post("/v1/translate", body)
    bodies = []
    for _ in range(N_RANDOM):
        o = {}
        if rng.random() < .6:
            o["target_prefix"] = text(12)
        if rng.random() < .3:
            o["sampling"] = {"temperature": rng.choice([.3, 1, 4]), "top_k": rng.choice([0, 1, 5]), "seed": rng.randint(0, 99)}
        else:
            o["beam_size"] = rng.choice([1, 2, 4])
            o["n_best"] = rng.randint(1, o["beam_size"])
        o["length_penalty"] = rng.choice([0, .6, 2])
        o["alignments"] = rng.random() < .5
        o["format"] = rng.choice(["text", "wrapped", "markdown"])
        bodies.append((text(20), o))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for body, reply in pool.map(ask, range(N_RANDOM)):
            assert reply.status_code in (200, 400, 413), (body, reply.text)
