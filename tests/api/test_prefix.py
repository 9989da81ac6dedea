"""Answers held to a beginning. Wherever it is cut, also within a word, it stands at the begin of the answer."""
import subprocess

import pytest

import conftest

BUNDLE = conftest.EN_DE
TEXT = "A man in a red shirt is riding a bicycle down the street."


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE) as s:
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
    assert same >= 0.9 * (len(best) - 1)  # a search that is led may find better than one that is not


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
