"""Pairs that no model has, through a third language: the answer is that of the two hops one after the other."""
import concurrent.futures
import json
import shutil
import signal
import socket
import threading
import time

import pytest

import bundle
import test_keys
from conftest import CLI, NARROW, Server, http_post, read_all
from test_stream import read_events


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Makes de-en, en-fr and fr-es: de-fr goes through en, de-es does not work. Answers are not empty and have another number
    of sentences than the text."""
    folder = tmp_path_factory.mktemp("three")
    for source, target, seed in (("de", "en", 18), ("en", "fr", 15), ("fr", "es", 13)):
        bundle.make(CLI, str(folder / ("%s-%s" % (source, target))), source, target, end_bias=2.6, seed=seed)
    return str(folder)


@pytest.fixture(scope="module")
def server(three):
    with Server(three, "--max-queue-tokens", "1000000") as s:  # nothing is refused, however slow the machine is
        yield s


def translate(server, text, source="de", target="fr", **fields):
    return server.post("/v1/translate", dict(text=text, source=source, target=target, **fields))


def one(server, text, source, target, **fields):
    reply = translate(server, text, source, target, **fields)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]


@pytest.mark.parametrize("route, more", [("alternatives", {"target_prefix": ""}), ("attention", {"translation": "x"}), ("score", {"translation": "x"})])
@pytest.mark.parametrize("source, target", [("de", "fr"), ("de", "de")])
def test_routes_that_look_into_one_model_say_so(server, route, more, source, target):
    reply = server.post("/v1/" + route, {"text": "Hallo.", "source": source, "target": target, **more})
    assert reply.status_code == 400 and reply.json()["error"]["message"] == (
        'no model translates from "%s" to "%s" directly: this needs one model that has the pair' % (source, target))


TEXTS = ["Hallo.", "Der Hund läuft. Die Katze schläft!\n\n  - Und nun?", "Grüße an alle, 42 mal, von hier und von dort."]


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_the_two_hops_one_after_the_other(server, text):
    first = one(server, text, "de", "en")
    second = one(server, first["text"], "en", "fr")
    both = translate(server, text)
    answer = both.json()["translations"][0]
    assert answer["text"] == second["text"] and answer["sentences"]
    assert (answer["source"], answer["target"], answer["pivot"], answer["model"]) == ("de", "fr", "en", "en-fr")
    assert "pivot" not in first and "pivot" not in second
    versions = {m["source"] + m["target"]: m["version"] for m in server.get("/v1/models").json()["models"]}
    assert both.headers["X-Model-Version"] == versions["deen"] + ", " + versions["enfr"]
    assert [s["target"] for s in answer["sentences"]] == [s["target"] for s in second["sentences"]]
    for s, b in zip(answer["sentences"], second["sentences"]):
        read = [a for a in first["sentences"] if a["target"][0] < b["source"][1] and b["source"][0] < a["target"][1]]
        assert s["source"] == [min(a["source"][0] for a in read), max(a["source"][1] for a in read)]
        own = set(b["flags"]) - {"source_language_doubtful"}  # belongs to the text between the hops, not to the request
        assert set(s["flags"]) == own.union(*(a["flags"] for a in read))
        # Each score is rounded to four decimals: three roundings, half a unit of the last place each.
        assert s["score"] == pytest.approx(b["score"] + sum(a["score"] for a in read) / len(read), rel=1e-6, abs=1.6e-4)
    assert both.json()["usage"]["source_characters"] == len(text)


def test_options_are_for_the_second_hop_and_the_search_for_both(server):
    text = TEXTS[1]
    first = one(server, text, "de", "en", beam_size=2, length_penalty=1)
    second = one(server, first["text"], "en", "fr", beam_size=2, length_penalty=1, n_best=2)
    both = one(server, text, "de", "fr", beam_size=2, length_penalty=1, n_best=2, scores=True)
    assert [b["text"] for b in both["n_best"]] == [b["text"] for b in second["n_best"]]
    assert both["score"] == both["n_best"][0]["score"] < second["n_best"][0]["score"]
    reply = translate(server, text, n_best=5, beam_size=2)
    assert reply.status_code == 400 and reply.json()["error"]["field"] == "n_best"


CODE = "\n\n```python\nprint(\"zwei Hunde\")  # ein Satz\n```\n\n"
DOCUMENT = "# Grüße an alle\n\nDer Hund läuft." + CODE + "Die Katze schläft.\n\n[zwei]: http://example.org/zwei-hunde\n"


def test_both_hops_read_the_same_format(server):
    """Everything that is not running text passes through both models unchanged."""
    answer = one(server, DOCUMENT, "de", "fr", format="markdown")
    assert answer["text"].startswith("# ") and answer["text"].count(CODE) == 1
    assert answer["text"].endswith("\n\n[zwei]: http://example.org/zwei-hunde\n")
    first = one(server, DOCUMENT, "de", "en", format="markdown")
    assert answer["text"] == one(server, first["text"], "en", "fr", format="markdown")["text"]
    assert batch(server, [item(DOCUMENT, format="markdown")])[0]["text"] == answer["text"]
    cues = "1\n00:00:01,000 --> 00:00:02,500\nDer <i>Hund</i> läuft.\n"
    lines = one(server, cues, "de", "fr", format="srt")["text"].split("\n")
    assert lines[:2] == cues.split("\n")[:2] and len(lines) == 4


def test_words_are_aligned_through_the_text_between(server):
    text = TEXTS[2]
    first = one(server, text, "de", "en", alignments=True)
    second = one(server, first["text"], "en", "fr", alignments=True)
    both = one(server, text, "de", "fr", alignments=True)
    wanted = {(tuple(a[0]), tuple(b[1])) for b in second["alignments"] for a in first["alignments"]
              if a[1][0] < b[0][1] and b[0][0] < a[1][1]}
    assert {(tuple(a), tuple(b)) for a, b in both["alignments"]} == wanted


def test_several_texts_some_without_letters(server):
    texts = ["", "Eins.", "12 34", "Zwei. Drei."]
    reply = translate(server, texts).json()["translations"]
    assert [t["text"] for t in reply] == [one(server, one(server, t, "de", "en")["text"], "en", "fr")["text"] for t in texts]
    assert translate(server, "12 34").json()["translations"][0]["text"] == "12 34"


def test_what_does_not_go(server, three):
    for source, target in (("de", "es"), ("de", "it"), ("es", "en")):  # two pivots would be needed; no model at all
        assert translate(server, "a", source, target).status_code == 400
    assert translate(server, "a", "de", "de-AT").status_code == 400  # no detour to the same language
    assert one(server, "a", "en", "fr")["model"] == "en-fr"
    score = dict(text="a", translation="b", source="de", target="fr")
    assert server.post("/v1/score", score).status_code == 400
    with Server(three, "--pivot", "off") as other:
        assert translate(other, "a").status_code == 400
    with Server(three, "--pivot", "fr") as other:
        assert translate(other, "a").status_code == 400
        assert one(other, "a", "en", "es")["pivot"] == "fr"
        assert one(other, "a", "EN_gb", "spa")["pivot"] == "fr"


def test_no_neighbour_changes_an_answer(server):
    alone = [translate(server, t).json() for t in TEXTS]

    def again(i):
        return i, translate(server, TEXTS[i % 3]).json()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for i, answer in pool.map(again, range(200)):
            assert answer == alone[i % 3]


def test_a_direct_model_is_taken_first(three, tmp_path):
    shutil.copytree(three, tmp_path / "m")
    bundle.make(CLI, str(tmp_path / "m" / "de-fr"), "de", "fr", seed=21)
    with Server(str(tmp_path / "m")) as server:
        answer = one(server, "Hallo.", "de", "fr")
        assert answer["model"] == "de-fr" and "pivot" not in answer


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Makes bundles for pivots with a first or a second hop that takes long."""
    folder = tmp_path_factory.mktemp("slow")
    for seed, (source, target, bias) in enumerate([("de", "en", 2.0), ("en", "fr", -30.0), ("es", "en", -30.0)], 31):
        D = 256 if bias < 0 else 32  # the quick model answers each line differently: nothing is coalesced
        bundle.make(CLI, str(folder / ("%s-%s" % (source, target))), source, target, D=D, F=2 * D, end_bias=bias, seed=seed)
    return str(folder)


LONG = "\n".join("Satz %d steht hier und wartet." % i for i in range(600))


@pytest.mark.parametrize("source", ["de", "es"])  # slow in the second hop, slow in the first
def test_deadline_hang_up_and_stop_reach_both_hops(slow, source):
    with Server(slow, *NARROW, "--drain-timeout", "0.3") as server:
        start = time.monotonic()
        reply = translate(server, LONG, source, "fr", timeout_ms=4000)
        assert reply.status_code == 504 and time.monotonic() - start < 60
        idle = lambda: server.metric("dragoman_live_sentences") == server.metric("dragoman_queue_depth") == 0
        server.until(idle)
        with server.connect() as s:
            s.sendall(http_post("/v1/translate", dict(text=LONG, source=source, target="fr")))
            server.until(lambda: not idle())
            s.shutdown(socket.SHUT_WR)
            assert b"client_gone" in read_all(s)
        server.until(idle)
        replies = []
        client = threading.Thread(target=lambda: replies.append(translate(server, LONG, source, "fr").status_code))
        client.start()
        server.until(lambda: not idle())
        server.stop(signal.SIGTERM)
        client.join()
        assert replies == [503]


def test_clients_that_leave_at_any_moment(server):
    """Also between the hops: their resources are freed, and others do not notice."""
    wanted = translate(server, TEXTS[1]).json()
    data = http_post("/v1/translate", dict(text=TEXTS[1], source="de", target="fr"))
    for i in range(150):
        with server.connect() as s:
            s.sendall(data)
            time.sleep(i % 30 / 1000)
    assert translate(server, TEXTS[1]).json() == wanted
    server.until(lambda: server.in_flight() == 0)


def test_a_full_queue_does_not_lose_the_second_hop(three):
    """If the queue is full, the second hop is tried again; the first hop's work is not lost."""
    with Server(three, "--max-queue-tokens", "300", "--batch-sentences", "2", "--batch-rows", "8", "--max-beam", "4") as server:
        texts = ["Das ist Satz %d." % i for i in range(6)]
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            replies = list(pool.map(lambda _: translate(server, texts), range(60)))
        assert {r.status_code for r in replies} <= {200, 503}
        assert len({r.text for r in replies if r.status_code == 200}) == 1
        assert server.metric("dragoman_requests_total", dialect="v1", outcome="error") == 0


@pytest.mark.parametrize("texts", [TEXTS[1], TEXTS + ["", "12 34"]])
def test_a_stream_says_what_the_whole_answer_says(server, texts):
    whole = translate(server, texts)
    reply = translate(server, texts, stream=True)
    assert reply.status_code == 200
    assert reply.headers["X-Model-Version"] == whole.headers["X-Model-Version"]
    *sentences, (last, done) = read_events(reply.content.decode())
    translations = whole.json()["translations"]
    assert last == "done" and done["translations"] == translations
    assert {name for name, _ in sentences} == {"sentence"}
    got = {(s["text_index"], s["sentence_index"]): s for _, s in sentences}
    assert len(got) == len(sentences)
    assert sorted(got) == [(i, k) for i, t in enumerate(translations) for k in range(len(t["sentences"]))]
    for (i, k), s in got.items():
        wanted = translations[i]["sentences"][k]
        assert (s["source"], s["flags"]) == (wanted["source"], wanted["flags"])
        assert s["score"] == pytest.approx(wanted["score"])
        assert s.get("target", wanted["target"]) == wanted["target"]
        assert s["text"] == translations[i]["text"][slice(*wanted["target"])]


def test_a_stream_sends_sentences_while_others_wait(slow):
    with Server(slow, *NARROW) as server:
        body = dict(text=LONG, source="de", target="fr", stream=True)
        reply = server.post("/v1/translate", body, stream=True)
        lines = reply.iter_lines()  # the connection lives as long as this iterator
        assert next(line for line in lines if line and not line.startswith(b":")) == b"event: sentence"  # pings come before
        assert server.metric("dragoman_queue_depth") > 0
        reply.close()
        server.until(lambda: server.metric("dragoman_queue_depth") == 0)


def test_a_stream_that_fails_costs_what_it_brought(slow, tmp_path):
    """Source characters are charged, not those of the text between the hops; a source sentence that several events cover counts
    once."""
    path = tmp_path / "keys.db"
    key = test_keys.add(path)
    with Server(slow, *NARROW, "--drain-timeout", "0", "--keys", str(path)) as server:
        text = LONG.replace("\n", " ")
        body = dict(text=["12:30", text], source="de", target="fr", stream=True)
        reply = server.post("/v1/translate", body, stream=True, headers=test_keys.bearer(key))
        lines = reply.iter_lines()
        seen = []
        while seen.count(b"event: sentence") < 4 or seen[-1]:  # four events, each with its blank line
            seen.append(next(lines))
        assert server.stop() == 0
        *sentences, (name, error) = read_events(b"\n".join(seen + list(lines)).decode() + "\n")
        assert (name, error["code"]) == ("error", "stopping") and len(sentences) >= 4
    brought = test_keys.paid_for([data for _, data in sentences])
    assert 0 < brought < len(text) and brought < sum(s["source"][1] - s["source"][0] for _, s in sentences)
    assert test_keys.used(path, key) == (1, brought)


# ---- Batches ----

def item(text, source="de", target="fr", **more):
    return dict(text=text, source=source, target=target, **more)


def batch(server, items, lines=False, **more):
    headers = {"Accept": "application/x-ndjson"} if lines else {}
    reply = server.post("/v1/batch", dict(items=items, **more), headers=headers)
    assert reply.status_code == 200, reply.text
    return [json.loads(line) for line in reply.text.splitlines()] if lines else reply.json()["items"]


@pytest.mark.parametrize("lines", [False, True])
def test_items_of_a_batch_are_single_translations(server, lines):
    items = [item(TEXTS[1]), item("12 34"), item("Hello.", "en", "fr"), item(""),
             item(TEXTS[2], alignments=True, scores=True, beam_size=3, n_best=2),
             item(TEXTS[0], target_prefix="Le "), item("Hallo.", "de", "en")]
    got = sorted(batch(server, items, lines), key=lambda a: a["index"])
    for sent, answer in zip(items, got, strict=True):
        alone = server.post("/v1/translate", sent).json()
        del answer["index"]
        assert answer == dict(alone["translations"][0], usage=alone["usage"])
    assert [a.get("pivot") for a in got] == ["en", "en", None, "en", "en", "en", None]


def test_what_a_pivot_cannot_do_is_the_items_own_error(server):
    items = [item("Hallo."), item("a", "de", "es"), item("a", n_best=5, beam_size=2), item("Hallo.")]
    got = batch(server, items)
    assert got[0]["text"] == got[3]["text"] == one(server, "Hallo.", "de", "fr")["text"]
    assert got[1]["error"]["code"] == "unsupported_language" and got[1]["error"]["field"].startswith("items[1].")
    assert got[2]["error"]["code"] == "invalid_request" and got[2]["error"]["field"] == "items[2].n_best"


@pytest.mark.parametrize("priority", ["bulk", "interactive"])
def test_a_batch_through_a_pivot_need_not_fit_into_the_queue(three, priority):
    with Server(three, "--max-queue-tokens", "64") as server:
        texts = ["Das ist Satz %d von %d." % (i, i * i) for i in range(20)]
        alone = [one(server, t, "de", "fr")["text"] for t in texts]
        items = [item(texts[i % 20], id=i) for i in range(100)]
        for lines in (False, True):
            got = batch(server, items, lines, priority=priority)
            assert sorted(a["id"] for a in got) == list(range(100))
            assert all(a["text"] == alone[a["id"] % 20] for a in got)


@pytest.mark.parametrize("source", ["de", "es"])
def test_deadline_and_hang_up_reach_a_batchs_hops(slow, source):
    with Server(slow, *NARROW) as server:
        items = [item("12 34", source)] + [item(LONG.replace("Satz", "Satz %d," % i), source) for i in range(10)]
        got = batch(server, items, timeout_ms=4000)
        assert got[0]["text"] == "12 34"
        assert [a["error"]["code"] for a in got[1:]] == ["timeout"] * 10
        idle = lambda: server.metric("dragoman_live_sentences") == server.metric("dragoman_queue_depth") == 0
        server.until(idle)
        with server.connect() as s:
            s.sendall(http_post("/v1/batch", dict(items=items)))
            server.until(lambda: server.metric("dragoman_batches_under_way") == 1 and not idle())
        server.until(lambda: server.metric("dragoman_batches_under_way") == 0 and idle())
        assert translate(server, "12 34", source).status_code == 200


def test_clients_of_batches_that_leave_at_any_moment(server):
    items = [item(t) for t in TEXTS]
    wanted = batch(server, items)
    data = http_post("/v1/batch", dict(items=items))
    for i in range(60):
        with server.connect() as s:
            s.sendall(data)
            time.sleep(i % 30 / 1000)
    assert batch(server, items) == wanted
    server.until(lambda: server.metric("dragoman_batches_under_way") == 0)


def test_answers_that_are_kept_are_no_short_cut(tmp_path):
    """The cache has each hop's answers: the first hop's answer is not taken for the whole one."""
    for source, target, seed, bias in (("de", "en", 37, 2.6), ("en", "fr", 44, 3.4)):  # none is caught in a loop
        bundle.make(CLI, str(tmp_path / "m" / source), source, target, end_bias=bias, seed=seed)
    texts = ["Grüße an alle, 42 mal.", "Das ist Satz 3."]
    with Server(str(tmp_path / "m"), "--cache-bytes", "1000000") as server:
        wanted = [one(server, t, "de", "fr") for t in texts]
        assert all(one(server, t, "de", "en")["text"] not in ("", w["text"]) for t, w in zip(texts, wanted))
        misses = server.metric("dragoman_cache_misses_total")
        assert translate(server, texts).json()["translations"] == wanted
        *_, (last, done) = read_events(translate(server, texts, stream=True).content.decode())
        assert last == "done" and done["translations"] == wanted
        items = batch(server, [item(t) for t in texts])
        assert all(i.pop("usage")["source_characters"] == len(t) for i, t in zip(items, texts, strict=True))
        assert items == [dict(w, index=i) for i, w in enumerate(wanted)]
        assert server.metric("dragoman_cache_misses_total") == misses  # all of it came from the cache
