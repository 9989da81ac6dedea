"""--cache-bytes: repeated sentences are answered from the cache, with the same bits as without one."""
import concurrent.futures
import os
import random
import subprocess

import pytest

from conftest import CLI, NARROW, ROOT, Server, long_text
from stopped_engine import stopped_engine
from test_batch import NDJSON, answers, item, lines
from test_stream import arriving, stream


def rest(answer):
    """Returns the body: it does not depend on time."""
    return answer.json()


@pytest.fixture(scope="module")
def both(models):
    """Yields a server with a cache and one without."""
    unbounded = ["--max-queue-tokens", "1000000"]
    with Server(models, *unbounded, "--cache-bytes", "10000000") as keeping, Server(models, *unbounded) as plain:
        yield keeping, plain


def counts(server):
    return tuple(server.metric("dragoman_cache_%s_total" % name) for name in ("hits", "misses"))


def test_off_by_default(server):
    for _ in range(2):
        server.translate("Hello there.")
    assert counts(server) == (0, 0)
    assert server.metric("dragoman_cache_max_bytes") == 0


def test_the_second_time_no_engine_is_asked(both):
    keeping, _ = both
    first = keeping.translate("One is one. Two is two.", scores=True)
    steps, sentences = keeping.metric("dragoman_decode_steps_total"), keeping.metric("dragoman_sentences_total")
    hits, misses = counts(keeping)
    again = keeping.translate("Two is two. One is one.", scores=True)
    assert keeping.metric("dragoman_decode_steps_total") == steps
    found, missed = counts(keeping)
    assert found >= hits + 2 and missed == misses  # more hits if a sentence took two rounds
    assert keeping.metric("dragoman_sentences_total") == sentences + 2
    a, b = (r.json()["translations"][0]["text"] for r in (first, again))
    assert sorted(a) == sorted(b)
    assert again.json()["usage"] == first.json()["usage"]
    assert again.headers["X-Model-Version"] == first.headers["X-Model-Version"]


@pytest.mark.parametrize("words", [40, 400], ids=["direct", "planned"])
def test_a_stream_does_not_wait_with_what_is_known(endless, words):
    """A sentence from the cache is shown while the next one waits for the engine."""
    with Server(endless, *NARROW, "--cache-bytes", "10000000") as server:
        known, new = long_text(1), "It walks " + "along " * words + "now."
        server.translate(known)
        with stopped_engine(server):
            got = arriving(server, known + " " + new)
            _, name, event = next(got)
            assert name == "sentence" and event["sentence_index"] == 0
        assert [name for _, name, _ in got][-1] == "done"


def test_random_requests_equal_those_without(both):
    """Random combinations of few sentences, options and routes: every answer is the one without a cache."""
    keeping, plain = both
    rng = random.Random(11)
    sentences = ["The %s %s." % (a, b) for a in ("dog", "cat", "old man", "日本") for b in ("runs", "sleeps", "12:30")]

    def options():
        o = {}
        if rng.random() < 0.5:
            o["beam_size"] = rng.choice([1, 2, 4, 6])
            o["n_best"] = rng.randint(1, o["beam_size"])
        if rng.random() < 0.3:
            o["length_penalty"] = rng.choice([0, 0.6, 1.5])
        if rng.random() < 0.3:
            o["alignments"] = True
        if rng.random() < 0.1:
            o["target_prefix"] = "Ein"
        elif rng.random() < 0.1:
            o["sampling"] = {"temperature": 1.5, "seed": rng.randint(1, 3)}
            o.pop("beam_size", 0), o.pop("n_best", 0)
        return dict(o, scores=rng.random() < 0.5)

    cases = [(" ".join(rng.choices(sentences, k=rng.randint(1, 5))), options()) for _ in range(300)]

    def one(case):
        text, o = case
        assert rest(keeping.translate(text, **o)) == rest(plain.translate(text, **o)), case
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(one, cases))
    hits, misses = counts(keeping)
    assert hits > 200 and misses > 50
    items = [item(text, **o) for text, o in cases[:100]]
    wanted = answers(plain.post("/v1/batch", {"items": items}))
    assert answers(keeping.post("/v1/batch", {"items": items})) == wanted
    assert sorted(lines(keeping.post("/v1/batch", {"items": items}, headers=NDJSON)),
                  key=lambda a: a["index"]) == wanted
    for text, o in cases[:20]:
        assert stream(keeping, text, **o)[-1][1] == plain.translate(text, **o).json()


def test_streams_give_kept_sentences_at_once(both):
    keeping, _ = both
    keeping.translate("Kept is kept. And kept again.")
    events = stream(keeping, "Kept is kept. And kept again.")
    assert [name for name, _ in events] == ["sentence", "sentence", "done"]


def test_a_kept_score_is_the_same(both):
    keeping, plain = both
    before, _ = counts(keeping)
    for translation, hits in (("Eins.", 0), ("Eins.", 1), ("Eins!", 1), ("Eins.", 2)):
        body = {"text": "One is one.", "translation": translation, "source": "en", "target": "de"}
        assert keeping.post("/v1/score", body).json() == plain.post("/v1/score", body).json()
        assert counts(keeping)[0] - before == hits


def test_pairs_do_not_mix(both):
    keeping, plain = both
    for source, target in (("en", "de"), ("de", "fr"), ("en", "de")):
        body = {"text": "Same text.", "source": source, "target": target}
        assert rest(keeping.post("/v1/translate", body)) == rest(plain.post("/v1/translate", body))


def test_languages_of_one_bundle_do_not_mix(tmp_path):
    """Where one leading piece of the target is all that tells the languages apart, every answer is cached for its own."""
    folder = str(tmp_path / "nllb")
    subprocess.run([CLI, "convert", "huggingface", os.path.join(ROOT, "tests/data/convert/m2m100/nllb"), "--out", folder, "--licence",
                    "CC-BY-NC-4.0"], check=True, capture_output=True)

    def answers(server):
        body = {"text": "A dog runs in the old house.", "source": "en"}
        return [rest(server.post("/v1/translate", dict(body, target=target))) for target in ("fr", "de")]

    with Server(folder, "--cache-bytes", "10000000") as keeping, Server(folder) as plain:
        expected = answers(plain)
        assert expected[0]["translations"][0]["text"] != expected[1]["translations"][0]["text"]
        assert answers(keeping) == expected
        assert counts(keeping) == (0, 2)
        assert answers(keeping) == expected
        hits, misses = counts(keeping)
        assert hits >= 2 and misses == 2  # more hits if a sentence took two rounds
        keeping.post("/v1/translate", {"text": "A dog runs in the old house.", "source": "en", "target": "fr", "target_prefix": "A"})
        assert counts(keeping) == (hits, misses)


def test_bounded(models):
    with Server(models, "--cache-bytes", "20000") as server:
        for i in range(300):
            assert server.translate("The cat %d sleeps." % i).status_code == 200
        assert 0 < server.metric("dragoman_cache_bytes") <= 20000
        assert server.metric("dragoman_cache_evictions_total") > 0
        assert server.metric("dragoman_cache_entries") > 2
        assert server.metric("dragoman_cache_max_bytes") == 20000
