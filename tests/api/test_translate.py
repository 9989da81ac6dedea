"""What /v1/translate and /v1/score answer when all is well."""
import concurrent.futures
import json
import os
import random
import subprocess

import pytest

from conftest import CLI, PATIENCE

TEXTS = [
    "Hello world.",
    "A man rides a bicycle. Two dogs play in the snow! Is it cold?",
    "Title\n\n  - first point\n  - second point\r\n\r\nThe end.  ",
    "Grüße aus Köln, señor. 日本語も書けます。",
    "one",
    "12:30",
    "   ",
    "",
    "👍 ok 👎",
]


def one(reply):
    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert len(body["translations"]) == 1
    return body["translations"][0]


def test_one_text(server):
    reply = server.translate("Hello world.")
    translation = one(reply)
    assert set(translation) == {"text", "source", "target", "model", "sentences"}
    assert (translation["source"], translation["target"], translation["model"]) == ("en", "de", "en-de")
    assert translation["text"] != "Hello world."
    usage = reply.json()["usage"]
    assert usage["source_characters"] == 12
    assert usage["source_tokens"] > 1 and usage["target_tokens"] > 1
    assert reply.headers["Content-Type"] == "application/json"
    version = server.get("/v1/models").json()["models"]
    assert reply.headers["X-Model-Version"] in [m["version"] for m in version if m["source"] == "en"]
    names = [part.split(";")[0].strip() for part in reply.headers["Server-Timing"].split(",")]
    assert names == ["plan", "queue", "encode", "decode", "total"]


@pytest.mark.parametrize("text", TEXTS)
def test_spans_cover_both_texts(server, text):
    """Sentences are in order; the text between them is the same on both sides."""
    translation = one(server.translate(text))
    source, target = text, translation["text"]
    at, to = 0, 0
    for s in translation["sentences"]:
        assert 0 <= at <= s["source"][0] <= s["source"][1] <= len(source)
        assert 0 <= to <= s["target"][0] <= s["target"][1] <= len(target)
        assert source[at:s["source"][0]] == target[to:s["target"][0]]
        at, to = s["source"][1], s["target"][1]
    assert source[at:] == target[to:]


@pytest.mark.parametrize("text", ["", "   ", "12:30", "\n\n", "👍👎", "1 + 1 = 2"])
def test_text_without_letters_comes_back(server, text):
    reply = server.translate(text)
    assert one(reply)["text"] == text
    assert reply.json()["usage"] == {"source_characters": len(text), "source_tokens": 0, "target_tokens": 0}


def test_array_equals_each_alone(server):
    together = server.translate(TEXTS).json()["translations"]
    assert [t["text"] for t in together] == [one(server.translate(t))["text"] for t in TEXTS]


def test_codes_without_case(server):
    reply = server.post("/v1/translate", {"text": "Hello.", "source": "EN", "target": "De"})
    assert one(reply)["text"] == one(server.translate("Hello."))["text"]
    assert (one(reply)["source"], one(reply)["target"]) == ("en", "de")


@pytest.mark.parametrize("text", ["Hello world.", "", " A  man.\n\n- B\r\n", "e\u0301 \ufdfa"])
@pytest.mark.parametrize("code", ["en", "fr", "EN"])  # en is only a source, fr only a target
def test_the_same_language_is_left_as_it_is(server, text, code):
    reply = server.post("/v1/translate", {"text": text, "source": code, "target": "fra" if code == "fr" else "en",
                                          "target_prefix": "No", "alignments": True, "n_best": 2})
    whole = [[0, len(text)]] * 2
    sentence = {"source": whole[0], "target": whole[1], "score": 0, "flags": ["same_language"]}
    assert one(reply) == {"text": text, "source": code.lower(), "target": code.lower(), "alignments": [], "sentences": [sentence]}
    assert reply.json()["usage"] == {"source_characters": len(text), "source_tokens": 0, "target_tokens": 0}
    assert "X-Model-Version" not in reply.headers
    item = {"text": text, "source": code, "target": code}
    assert server.post("/v1/batch", {"items": [item]}).json()["items"][0]["text"] == text


def test_the_same_language_must_be_a_served_one(server):
    assert server.post("/v1/translate", {"text": "a", "source": "zz", "target": "zz"}).status_code == 400
    score = {"text": "a", "translation": "a", "source": "en", "target": "en"}
    assert server.post("/v1/score", score).status_code == 400


def test_routing_by_pair(server):
    first = one(server.translate("Hello there."))
    second = one(server.post("/v1/translate", {"text": "Hello there.", "source": "de", "target": "fr"}))
    assert (first["model"], second["model"]) == ("en-de", "de-fr")
    assert first["text"] != second["text"]


def test_n_best_and_scores(server):
    translation = one(server.translate("A short one.", n_best=3, beam_size=4, scores=True))
    scores = [h["score"] for h in translation["n_best"]]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)
    assert translation["n_best"][0] == {"text": translation["text"], "score": translation["score"]}
    assert len({h["text"] for h in translation["n_best"]}) > 1
    assert translation["sentences"][0]["score"] == translation["score"] < 0
    assert "score" not in one(server.translate("A short one."))
    assert "n_best" not in one(server.translate("A short one.", n_best=1))


def test_beam_and_penalty_matter(server):
    """A wider beam finds a score at least as good here; without a penalty the score is the log-probability."""
    def score(**o):
        return one(server.translate("A short one.", scores=True, **o))["score"]
    assert score(beam_size=8, length_penalty=0) >= score(beam_size=1, length_penalty=0)
    assert score(beam_size=1, length_penalty=0) < score(beam_size=1, length_penalty=1.0)


def test_forced_score_is_the_search_score(server):
    """Scoring what greedy search wrote gives the score that the search gave it, if its pieces are encoded alike."""
    reply = server.post("/v1/score", {"text": "Hello world.", "translation": "Hallo Welt.", "source": "en",
                                      "target": "de"})
    assert reply.status_code == 200
    scored = reply.json()["scores"]
    assert len(scored) == 1 and scored[0]["tokens"][-1]["token"] == "</s>"
    assert scored[0]["score"] == pytest.approx(sum(t["logprob"] for t in scored[0]["tokens"]), abs=1e-3)
    many = server.post("/v1/score", {"text": ["Hello world."] * 2, "translation": ["Hallo Welt.", "Nein"],
                                     "source": "EN", "target": "DE"}).json()["scores"]
    assert many[0] == scored[0] and many[1] != scored[0]


def test_same_as_the_command_line(server, models):
    lines = [t for t in TEXTS if "\n" not in t]
    run = subprocess.run([CLI, "translate", "--model", os.path.join(models, "en-de")], input="\n".join(lines) + "\n",
                         capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert run.stdout.split("\n")[:-1] == [one(server.translate(t))["text"] for t in lines]
    scored = subprocess.run([CLI, "translate", "--json", "--n-best", "2", "--model", os.path.join(models, "en-de")],
                            input="Hello world.\n", capture_output=True, text=True, check=True, timeout=PATIENCE)
    n_best = [dict(best, score=round(best["score"], 4)) for best in json.loads(scored.stdout)["n_best"]]
    assert n_best == one(server.translate("Hello world.", n_best=2))["n_best"]


def test_under_load_the_same_bits_as_alone(server):
    """Many at once, with beams and lengths mixed: text and scores are those of the request alone."""
    rng = random.Random(5)
    words = "the a man dog rides plays bicycle snow quickly and on in street red two".split()
    jobs = []
    for _ in range(60):
        text = " ".join(rng.choices(words, k=rng.randint(1, 30))) + "."
        o = {"beam_size": rng.choice([1, 2, 4, 7]), "scores": True}
        o["n_best"] = rng.randint(1, o["beam_size"])
        jobs.append((text, o))
    alone = [one(server.translate(text, **o)) for text, o in jobs]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        loaded = list(pool.map(lambda job: one(server.translate(job[0], **job[1])), jobs))
    assert loaded == alone


def test_models(server):
    models = server.get("/v1/models").json()["models"]
    assert [(m["name"], m["source"], m["target"]) for m in models] == [("de-fr", "de", "fr"), ("en-de", "en", "de")]
    for m in models:
        assert len(m["version"]) == 64 and m["type"] == "float32" and m["device"].startswith("cpu/")
        assert m["parameters"] > 1000 and "transformer" in m["architecture"]
