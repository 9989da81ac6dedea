"""Sampling: reproducible from seed and sentence, whatever else is translated meanwhile."""
import subprocess

import pytest

import conftest

BUNDLE = conftest.EN_DE
TEXTS = ["A man in a red shirt is riding a bicycle down the street.", "Two dogs play in the snow.",
         "A group of people stand in front of a building.", "A little girl eats ice cream."]


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE) as s:
        yield s


def drawn(server, text, **sampling):
    reply = server.translate(text, sampling=sampling)
    assert reply.status_code == 200, reply.text
    answers = [t["text"] for t in reply.json()["translations"]]
    return answers if isinstance(text, list) else answers[0]


def test_a_seed_gives_one_answer(server):
    alone = [drawn(server, t, seed=5) for t in TEXTS]
    assert drawn(server, TEXTS, seed=5) == alone
    assert drawn(server, TEXTS[::-1] + TEXTS, seed=5) == alone[::-1] + alone
    out = subprocess.run([conftest.CLI, "translate", "--model", BUNDLE, "--sampling", "seed=5"],
                         input="\n".join(TEXTS) + "\n", capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == alone


def test_seeds_differ_and_answers_are_of_the_subject(server):
    answers = {drawn(server, TEXTS[0], seed=s) for s in range(12)}
    assert len(answers) >= 4, answers
    assert sum("Mann" in a for a in answers) >= len(answers) / 2, answers


def test_cold_is_greedy(server):
    (greedy,) = server.translate(TEXTS[0], beam_size=1).json()["translations"]
    assert drawn(server, TEXTS[0], temperature=0.01, seed=3) == greedy["text"]
    assert drawn(server, TEXTS[0], top_k=1, temperature=5, seed=4) == greedy["text"]


@pytest.mark.parametrize("sampling, field", [
    ({"temperature": 0}, "sampling.temperature"), ({"temperature": "hot"}, "sampling.temperature"),
    ({"top_k": 65}, "sampling.top_k"), ({"seed": -1}, "sampling.seed"), ({"heat": 1}, "sampling.heat"),
    ([], "sampling")])
def test_mistakes_are_named(server, sampling, field):
    reply = server.translate("Two dogs.", sampling=sampling)
    assert reply.status_code == 400 and reply.json()["error"]["field"] == field, reply.text


def test_it_draws_one_answer(server):
    for fields in ({"beam_size": 4}, {"beam_size": 3, "n_best": 3}):
        reply = server.translate("Two dogs.", sampling={}, **fields)
        assert reply.status_code == 400 and reply.json()["error"]["field"] == "sampling"
