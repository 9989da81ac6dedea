"""The field rerank: answers are scored by back-translation, and the best one is chosen."""
import concurrent.futures
import contextlib
import os
import sqlite3
import subprocess

import pytest
import requests

from conftest import CLI, PATIENCE, ROOT, Server
from test_batch import answers, item
from test_stream import stream
from web_page import BUNDLES

TEXTS = ["I forgot my umbrella on the bus this morning.", "The soup is too salty, but the bread is delicious. Your subscription expires in three days.",
         "Take one tablet with a glass of water before meals.", "12345", "Could you close the window, please?", "In 1984, they sold 25,300 houses."]
UMBRELLA = "Ich habe meinen Regenschirm heute Morgen im Bus vergessen."


@pytest.fixture(scope="module", params=[0, 10_000_000], ids=["no cache", "cache"])
def bundled(request):
    with Server(BUNDLES, "--cache-bytes", str(request.param), "--max-queue-tokens", "1000000") as server:  # a busy machine refuses nothing
        yield server


def post(server, text, source="en", target="de", **fields):
    return server.post("/v1/translate", dict(text=text, source=source, target=target, **fields))


def ask(server, text, target="de", **fields):
    reply = post(server, text, target=target, **fields)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


def expected(target):
    return subprocess.run([CLI, "translate", "--model", os.path.join(BUNDLES, "en-de-fr"), "--source-lang", "en", "--target-lang", target, "--rerank"],
                          input="".join(x + "\n" for x in TEXTS), capture_output=True, text=True, check=True).stdout.splitlines()


def test_many_at_once_get_the_command_line_s_answers(bundled):
    """Concurrent requests with rerank, with eight answers and without options: each answer depends only on its own options, also when it is cached."""
    wanted = {target: expected(target) for target in ("de", "fr")}
    eight = {target: [ask(bundled, text, target, n_best=8, beam_size=8) for text in TEXTS] for target in ("de", "fr")}
    plain = {target: [ask(bundled, text, target) for text in TEXTS] for target in ("de", "fr")}
    for _ in range(2):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            jobs = [(found[target][i], pool.submit(ask, bundled, text, target, **fields)) for target in ("de", "fr") for i, text in enumerate(TEXTS)
                    for found, fields in ((wanted, {"rerank": True}), (eight, {"n_best": 8, "beam_size": 8}), (plain, {}), (wanted, {"rerank": True}))]
            assert all(job.result() == want for want, job in jobs)
    assert wanted["de"][0] == UMBRELLA != plain["de"][0]


def test_cached_answers_are_not_read_back_again():
    """Only the search used to be cached, so each of the eight answers was read back again."""
    with Server(BUNDLES, "--cache-bytes", "1000000") as server:
        first = [ask(server, text, rerank=True) for text in TEXTS]
        steps = server.metric("dragoman_decode_steps_total")
        assert steps > 0 and [ask(server, text, rerank=True) for text in TEXTS] == first
        assert server.metric("dragoman_decode_steps_total") == steps


def test_streams_and_batches_have_it(bundled):
    events = stream(bundled, TEXTS[1], rerank=True)
    assert [name for name, _ in events] == ["sentence", "sentence", "done"]
    sentences = sorted((e["source"], e["text"]) for name, e in events if name == "sentence")
    assert " ".join(text for _, text in sentences) == events[-1][1]["translations"][0]["text"] == ask(bundled, TEXTS[1], rerank=True)
    reply = bundled.post("/v1/batch", {"items": [item(TEXTS[0], id="a", rerank=True), item(TEXTS[0], id="b"), item(TEXTS[0], id="c", target="fr", rerank=True)]})
    texts = [x["text"] for x in answers(reply)]
    assert texts[0] == UMBRELLA != texts[1] and texts[2] == ask(bundled, TEXTS[0], "fr", rerank=True)


def test_a_document_has_it(tmp_path):
    """The server keeps the option over a restart. It refuses it at once for a model that does not translate back."""
    def send(server, **fields):
        return requests.post(server.url("/v1/documents"), files={"file": ("a.txt", TEXTS[0])}, data={"source": "en", "target": "de", **fields}, timeout=PATIENCE)

    def text(server, made):
        server.until(lambda: server.get("/v1/documents/" + made["id"]).json()["status"] == "done")
        return server.get("/v1/documents/%s/result" % made["id"]).text
    store = ["--documents", str(tmp_path / "d.db")]
    with Server(BUNDLES, *store) as server:
        careful, plain = send(server, rerank="true").json(), send(server, rerank="false").json()
        assert careful["rerank"] is True and "rerank" not in plain and text(server, careful) == UMBRELLA != text(server, plain)
        reply = send(server, rerank="1")
        assert reply.status_code == 400 and reply.json()["error"]["message"] == 'rerank is "1", must be true or false'
    with contextlib.closing(sqlite3.connect(store[1])) as file, file:
        file.execute("UPDATE documents SET state = 2, file = ?", (TEXTS[0],))
    with Server(BUNDLES, *store) as server:
        assert text(server, careful) == UMBRELLA != text(server, plain)
    with Server(os.path.join(ROOT, "tests", "data"), *store) as server:
        reply = send(server, rerank="true")
        assert reply.status_code == 400 and reply.json()["error"]["code"] == "unsupported" and reply.json()["error"]["field"] == "rerank"


def test_fewer_answers_are_the_first_of_all(bundled):
    reply = [post(bundled, TEXTS[0], rerank=True, n_best=n, scores=True).json()["translations"][0]["n_best"] for n in (2, 6)]
    assert reply[1][:2] == reply[0] and reply[0][0]["text"] == UMBRELLA


def test_the_second_of_two_models_is_reranked(bundled):
    """German to French goes through English."""
    reply = post(bundled, "Der Zug kommt heute spät an.", "de", "fr", rerank=True)
    assert reply.status_code == 200 and reply.json()["translations"][0]["text"]


def test_the_same_language_needs_no_way_back(bundled):
    assert ask(bundled, "Hello.", "en", rerank=True) == "Hello."


@pytest.mark.parametrize("fields, field, said", [
    ({"beam_size": 1}, "rerank", "a beam of 1 has one"), ({"sampling": {}}, "rerank", "sampling has one"), ({"n_best": 9}, "n_best", "beam_size, which is 8"),
    ({"rerank": 1}, "rerank", "rerank must be true or false")])
def test_what_it_does_not_go_with_is_refused(bundled, fields, field, said):
    reply = post(bundled, "Hello.", **{"rerank": True, **fields})
    assert reply.status_code == 400 and reply.json()["error"]["field"] == field and said in reply.json()["error"]["message"], reply.text


def test_the_model_must_translate_back():
    with Server(os.path.join(ROOT, "tests", "data")) as server:
        reply = server.translate("Hello.", rerank=True)
        assert reply.status_code == 400 and reply.json()["error"]["code"] == "unsupported" and reply.json()["error"]["field"] == "rerank"
        assert server.translate("Hello.", rerank=False).status_code == 200
