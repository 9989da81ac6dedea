"""POST /v1/batch: items of several language pairs, an error for each item that fails, one reply or a line per item."""
import json
import random
import re
import socket
import time

import pytest
import requests

from conftest import NARROW, PATIENCE, Server, http_post, long_text, read_all

NDJSON = {"Accept": "application/x-ndjson"}


def item(text, source="en", target="de", **more):
    return dict(text=text, source=source, target=target, **more)


def spread(text, n):
    """Returns n items that each take as long as `text`; they differ, because equal sentences are translated once."""
    return [item(text.replace("Number", "Item %d number" % i)) for i in range(n)]


def answers(reply):
    assert reply.status_code == 200, reply.text
    return reply.json()["items"]


def lines(reply):
    assert reply.status_code == 200, reply.text
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    body = reply.content.decode("utf-8")  # requests would guess the character set, since the type names none
    assert body.endswith("\n")
    return [json.loads(line) for line in body.split("\n")[:-1]]


MIXED = [item("Hello world.", id="a"), item("Guten Tag. Wie geht es?", "de", "fr", id=7),
         item("12:30", id="no letters"), item("One. Two. Three.", beam_size=4, n_best=2, scores=True, id="best")]


def test_items_equal_single_translations(server):
    got = answers(server.post("/v1/batch", {"items": MIXED}))
    assert [a["id"] for a in got] == ["a", 7, "no letters", "best"]
    assert [a["index"] for a in got] == [0, 1, 2, 3]
    for sent, a in zip(MIXED, got):
        alone = dict(sent)
        del alone["id"]
        alone = server.post("/v1/translate", alone).json()
        assert {k: v for k, v in a.items() if k not in ("id", "index")} == dict(alone["translations"][0], usage=alone["usage"])
        assert list(a)[:2] == ["index", "id"]


def test_lines_hold_the_same(server):
    together = answers(server.post("/v1/batch", {"items": MIXED}))
    got = lines(server.post("/v1/batch", {"items": MIXED}, headers=NDJSON))
    assert sorted(got, key=lambda a: a["index"]) == together


@pytest.mark.parametrize("accept", ["application/x-ndjson", "Application/X-NDJSON;q=1", "text/html, application/x-ndjson",
                                    "application/json, application/x-ndjson;q=0.5"])
def test_accept_asks_for_lines(server, accept):
    reply = server.post("/v1/batch", {"items": MIXED[:1]}, headers={"Accept": accept})
    assert reply.headers["Content-Type"] == "application/x-ndjson"
    assert reply.headers["Transfer-Encoding"] == "chunked"


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/x-nd"])
def test_else_the_answer_is_one_object(server, accept):
    reply = server.post("/v1/batch", {"items": MIXED[:1]}, headers={"Accept": accept})
    assert reply.headers["Content-Type"] == "application/json"
    assert "total;dur=" in reply.headers["Server-Timing"]
    assert len(answers(reply)) == 1


def test_lines_over_http_1_0(server):
    body = json.dumps({"items": MIXED}).encode()
    data = server.raw(http_post("/v1/batch", body, "Accept: application/x-ndjson").replace(b"HTTP/1.1", b"HTTP/1.0", 1))
    head, rest = data.split(b"\r\n\r\n", 1)
    assert b"200 OK" in head and b"chunked" not in head
    assert len([json.loads(line) for line in rest.splitlines()]) == len(MIXED)


def test_ids_are_the_clients_affair(server):
    """Missing ids stay missing, equal ids stay equal; the index tells items apart."""
    items = [item("One."), item("Two.", id="x"), item("Three.", id="x"), item("Four.", id=""), item("Five.", id=-3)]
    got = answers(server.post("/v1/batch", {"items": items}))
    assert "id" not in got[0]
    assert [a["id"] for a in got[1:]] == ["x", "x", "", -3]
    assert [a["index"] for a in got] == list(range(5))
    assert got[1]["text"] == server.translate("Two.").json()["translations"][0]["text"]


BAD = [
    (item("Hi.", id={}), "invalid_request", "items[1].id"),
    (item("Hi.", id=1.5), "invalid_request", "items[1].id"),
    (item("Hi.", id=None), "invalid_request", "items[1].id"),
    (item("Hi.", id="x" * 257), "too_large", "items[1].id"),
    ("Hi.", "invalid_request", "items[1]"),
    (None, "invalid_request", "items[1]"),
    ({"source": "en", "target": "de"}, "invalid_request", "items[1].text"),
    (item(["Hi."]), "invalid_request", "items[1].text"),
    (item(5), "invalid_request", "items[1].text"),
    (item("a\0b"), "invalid_request", "items[1].text"),
    ({"text": "Hi.", "target": "de"}, "invalid_request", "items[1].source"),
    (item("Hi.", source=""), "invalid_request", "items[1].source"),
    (item("Hi.", source="xx"), "unsupported_language", "items[1].source"),
    (item("Hi.", target="xx"), "unsupported_language", "items[1].target"),
    (item("Hi.", colour="red"), "invalid_request", "items[1].colour"),
    (item("Hi.", priority="bulk"), "invalid_request", "items[1].priority"),
    (item("Hi.", beam_size=0), "invalid_request", "items[1].beam_size"),
    (item("Hi.", beam_size=33), "invalid_request", "items[1].beam_size"),
    (item("Hi.", beam_size=2, n_best=3), "invalid_request", "items[1].n_best"),
    (item("x" * 200001), "too_large", "items[1].text"),
]


@pytest.mark.parametrize("bad,code,field", BAD, ids=["%s-%d" % (field, i) for i, (_, _, field) in enumerate(BAD)])
def test_a_bad_item_spoils_no_other(server, bad, code, field):
    for headers in ({}, NDJSON):
        reply = server.post("/v1/batch", {"items": [item("One."), bad, item("Two.")]}, headers=headers)
        got = sorted(lines(reply), key=lambda a: a["index"]) if headers else answers(reply)
        assert "text" in got[0] and "text" in got[2]
        error = got[1]["error"]
        assert error["code"] == code and error["field"] == field
        assert error["message"]
        assert set(got[1]) <= {"index", "id", "error"}


def test_all_items_bad(server):
    got = answers(server.post("/v1/batch", {"items": [item("Hi.", id=i, source="xx") for i in range(3)]}))
    assert [(a["id"], a["error"]["code"]) for a in got] == [(i, "unsupported_language") for i in range(3)]


@pytest.mark.parametrize("body,status,field", [
    (b"[1]", 400, "body"), (b"{", 400, "body"),
    ({}, 400, "items"), ({"items": []}, 400, "items"), ({"items": {}}, 400, "items"), ({"items": "x"}, 400, "items"),
    ({"items": MIXED, "text": "x"}, 400, "text"), ({"items": MIXED, "priority": "fast"}, 400, "priority"),
    ({"items": MIXED, "priority": 1}, 400, "priority"), ({"items": MIXED, "timeout_ms": 0}, 400, "timeout_ms"),
    ({"items": [item("x")] * 1001}, 413, "items"), ({"items": [item("x" * 9000)] * 23}, 413, "items"),
    ({"items": [item("x" * 100000)] * 11}, 413, "body"),
])
def test_the_whole_is_wrong(server, body, status, field):
    for headers in ({}, NDJSON):
        headers = dict(headers, **{"Content-Type": "application/json"})
        data = body if isinstance(body, bytes) else json.dumps(body)
        reply = requests.post(server.url("/v1/batch"), data=data, headers=headers, timeout=PATIENCE)
        assert reply.status_code == status, reply.text
        assert reply.json()["error"]["field"] == field


def test_sentences_are_limited(models):
    """Sentences are limited, too, because short ones need many rows for few characters."""
    with Server(models, "--max-sentences", "5") as server:
        assert server.translate("One. Two. Three. Four. Five.").status_code == 200
        for text in ("One. Two. Three. Four. Five. Six.", ["One. Two. Three.", "Four. Five. Six."]):
            for more in ({}, {"stream": True}):
                reply = server.translate(text, **more)
                assert reply.status_code == 413
                assert reply.json()["error"] == {"code": "too_large", "field": "text",
                                                 "message": "text has 6 sentences, the limit is 5"}
        got = answers(server.post("/v1/batch", {"items": [item("One. Two."), item("One. " * 6)]}))
        assert "text" in got[0]
        assert got[1]["error"]["code"] == "too_large" and got[1]["error"]["field"] == "items[1].text"


def test_limits_are_settings(models):
    with Server(models, "--max-batch-items", "3", "--max-batch-characters", "20") as server:
        assert len(answers(server.post("/v1/batch", {"items": [item("12345.")] * 3}))) == 3
        reply = server.post("/v1/batch", {"items": [item("1")] * 4})
        assert reply.status_code == 413
        assert "4 items, the limit is 3" in reply.json()["error"]["message"]
        reply = server.post("/v1/batch", {"items": [item("x" * 10), item("x" * 11)]})
        assert reply.status_code == 413
        assert "21 characters, the limit is 20" in reply.json()["error"]["message"]


def test_a_batch_need_not_fit_into_the_queue(models):
    """A thousand items pass through a queue that holds a few; each answer is that of its text alone."""
    rng = random.Random(5)
    words = "dog cat house runs sees under the a big old tree river walks".split()
    texts = [" ".join(rng.choice(words) for _ in range(rng.randint(1, 20))) + "." for _ in range(300)]
    with Server(models, "--max-queue-tokens", "64") as server:
        items = [item(texts[i % 300], id=i) for i in range(1000)]
        together = answers(server.post("/v1/batch", {"items": items}))
        assert [a["id"] for a in together] == list(range(1000))
        alone = [server.translate(t).json()["translations"][0]["text"] for t in texts]
        assert [a["text"] for a in together] == [alone[i % 300] for i in range(1000)]
        streamed = lines(server.post("/v1/batch", {"items": items}, headers=NDJSON))
        assert sorted(a["id"] for a in streamed) == list(range(1000))
        assert all(a["text"] == alone[a["id"] % 300] for a in streamed)
        assert server.metric("dragoman_batch_items_total", outcome="ok") == 2000


def test_lines_come_as_items_finish(endless):
    with Server(endless, *NARROW) as server:
        reply = server.post("/v1/batch", {"items": spread(long_text(1), 1000)}, headers=NDJSON, stream=True)
        rest = reply.iter_lines()  # the connection lives as long as this iterator
        assert json.loads(next(rest))["index"] in range(1000)
        assert server.metric("dragoman_batches_under_way") == 1
        reply.close()
        server.until(lambda: server.metric("dragoman_batches_under_way") == 0)


def test_a_full_queue_of_a_batch_lets_others_in(endless, busy):
    """A waiting batch leaves room in the queue for interactive requests."""
    with Server(endless, *NARROW, "--max-queue-tokens", "400") as server:
        text = busy(0.2)
        batch = server.post("/v1/batch", {"items": spread(text, 60)}, headers=NDJSON, stream=True)
        rest = batch.iter_lines()
        next(rest)
        # A full queue of a batch is no reason for another replica: the autoscaler's gauge does not show it.
        assert server.metric("dragoman_queue_all_seconds") > 0 and server.metric("dragoman_queue_seconds") == 0
        for _ in range(3):
            reply = server.translate("Hi.", beam_size=1)
            assert reply.status_code == 200, reply.text
        batch.close()
        server.until(lambda: server.metric("dragoman_queue_depth") == 0)


def test_an_interactive_batch_does_not_wait_for_a_bulk_one(endless, busy):
    """A bulk batch that fills the queue holds up no batch with priority interactive."""
    with Server(endless, *NARROW) as server:
        bulk = server.post("/v1/batch", {"items": spread(busy(0.05), 200)}, headers=NDJSON, stream=True)
        server.until(lambda: server.metric("dragoman_queue_depth") > 200)
        reply = server.post("/v1/batch", {"items": [item("Hi.", beam_size=1)], "priority": "interactive"})
        assert "text" in answers(reply)[0]
        assert server.metric("dragoman_queue_depth") > 100
        bulk.close()
        server.until(lambda: server.metric("dragoman_queue_depth") == 0)


def test_deadline_of_a_batch(endless, busy):
    """Items finished in time are returned; the others have an error that says why not."""
    with Server(endless, *NARROW) as server:
        items = [item("12:30"), item("Hi.", source="xx"), *spread(busy(4), 30)]
        for headers in ({}, NDJSON):
            begin = time.monotonic()
            reply = server.post("/v1/batch", {"items": items, "timeout_ms": 2000}, headers=headers)
            got = sorted(lines(reply), key=lambda a: a["index"]) if headers else answers(reply)
            assert time.monotonic() - begin < 60  # the whole batch takes two minutes
            assert got[0]["text"] == "12:30"
            assert got[1]["error"]["code"] == "unsupported_language"
            assert got[-1]["error"]["code"] == "timeout"
            assert len(got) == len(items)
        server.until(lambda: server.metric("dragoman_live_sentences") == 0)
        assert server.metric("dragoman_batch_items_total", outcome="timeout") > 0


def test_timeout_header(endless, busy):
    with Server(endless, *NARROW, "--batch-timeout", "100") as server:
        reply = server.post("/v1/batch", {"items": [item(busy(60))]}, headers={"X-Request-Timeout": "0.3"})
        assert answers(reply)[0]["error"]["code"] == "timeout"
        reply = server.post("/v1/batch", {"items": [item("Hi.")]}, headers={"X-Request-Timeout": "soon"})
        assert reply.status_code == 400 and reply.json()["error"]["field"] == "X-Request-Timeout"


@pytest.mark.parametrize("headers", [[], ["Accept: application/x-ndjson"]])
def test_client_gone(endless, busy, headers):
    """All remaining work of a client that left is dropped and counted."""
    with Server(endless, *NARROW) as server:
        body = {"items": spread(busy(3), 100), "timeout_ms": 300000}
        s = server.connect()
        s.sendall(http_post("/v1/batch", body, *headers))
        server.until(lambda: server.metric("dragoman_live_sentences") > 0)
        s.close()
        server.until(lambda: server.metric("dragoman_batch_items_total", outcome="cancelled") >= 98)
        server.until(lambda: server.metric("dragoman_live_sentences") == 0
                     and server.metric("dragoman_queue_depth") == 0)
        server.until(lambda: server.logged(r"route=/v1/batch status=499"))
        assert server.translate("Hi.").status_code == 200


def test_a_reader_who_is_slow_holds_up_nobody(models):
    """Answers wait in the feeder and no more items are started; in the end the connection is closed."""
    with Server(models, "--write-timeout", "1", "--max-body-bytes", "30000000", "--max-batch-items", "100000",
                "--max-batch-characters", "100000000") as server:
        items = [item("7" * 9900)] * 2900  # no letters, so no translation: answered as fast as they are read
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", server.port))
        s.sendall(http_post("/v1/batch", {"items": items}, "Accept: application/x-ndjson"))
        server.until(lambda: server.metric("dragoman_batch_items_total", outcome="ok") > 0)
        server.until(lambda: server.metric("dragoman_batch_items_total", outcome="cancelled") > 0)
        done = server.metric("dragoman_batch_items_total", outcome="ok")
        assert done < 2000, "all was made before anybody read it"
        s.close()
        server.until(lambda: server.logged(r"route=/v1/batch status=499"))


def test_too_many_batches(endless, busy):
    with Server(endless, *NARROW) as server:
        body = http_post("/v1/batch", {"items": [item(busy(100))]})
        held = []
        for _ in range(64):
            held.append(server.connect())
            held[-1].sendall(body)
        server.until(lambda: server.metric("dragoman_batches_under_way") == 64)
        reply = server.post("/v1/batch", {"items": [item("Hi.")]})
        assert reply.status_code == 503 and reply.headers["Retry-After"] == "1"
        assert reply.json()["error"]["code"] == "overloaded"
        for s in held:
            s.close()
        server.until(lambda: server.post("/v1/batch", {"items": [item("12")]}).status_code == 200)


def test_two_batches_share(endless, busy):
    """A small batch does not wait for the end of a large one."""
    with Server(endless, *NARROW, "--max-queue-tokens", "300") as server:
        text = busy(0.2)
        large = server.post("/v1/batch", {"items": spread(text, 500)}, headers=NDJSON, stream=True)
        rest = large.iter_lines()
        next(rest)
        small = answers(server.post("/v1/batch", {"items": [item(text)] * 2}))
        assert all("text" in a for a in small)
        assert server.metric("dragoman_batches_under_way") == 1  # the large one
        large.close()


def test_an_older_batch_goes_on(endless):
    """Of two large batches of one client, the older one gets its half of the work, too."""
    with Server(endless, *NARROW, "--max-queue-tokens", "100") as server:
        older = server.post("/v1/batch", {"items": spread(long_text(1), 500)}, headers=NDJSON, stream=True)
        begun = older.iter_lines()
        next(begun)
        newer = server.post("/v1/batch", {"items": spread(long_text(1).replace("road", "street"), 500)}, headers=NDJSON, stream=True)
        before = server.metric("dragoman_batch_items_total")
        rest = newer.iter_lines()
        for _ in range(40):
            next(rest)
        assert server.metric("dragoman_batch_items_total") - before > 60  # about 80, of which 40 are the newer one's
        older.close()
        newer.close()


@pytest.mark.parametrize("sentences", [2, 4, 12])  # 12: larger than the queue
def test_a_larger_item_does_not_wait_for_another_batch(endless, sentences):
    with Server(endless, *NARROW, "--max-queue-tokens", "100") as server:
        other = server.post("/v1/batch", {"items": spread(long_text(1), 500)}, headers=NDJSON, stream=True)
        begun = other.iter_lines()
        next(begun)
        large = answers(server.post("/v1/batch", {"items": [item(long_text(sentences).replace("road", "way"))]}))
        assert "text" in large[0]
        assert server.metric("dragoman_batches_under_way") == 1  # the other one
        other.close()


@pytest.mark.parametrize("headers", [[], ["Accept: application/x-ndjson"]])
def test_stop_in_the_middle(endless, busy, headers):
    """SIGTERM and no time to drain: every item gets an answer, unfinished ones an error."""
    with Server(endless, *NARROW, "--drain-timeout", "0") as server:
        s = server.connect()
        s.sendall(http_post("/v1/batch", {"items": [item("12:30"), *spread(busy(20), 20)]}, *headers))
        server.until(lambda: server.metric("dragoman_live_sentences") > 0)
        assert server.stop() == 0
        data = read_all(s)
        s.close()
        assert data.count(b'"stopping"') == 20
        assert len(re.findall(rb'"text":"12:30"', data)) == 1


def test_drain_finishes_batches(models):
    with Server(models) as server:
        s = server.connect()
        s.sendall(http_post("/v1/batch", {"items": [item("Hello number %d." % i) for i in range(500)]}))
        server.until(lambda: server.metric("dragoman_batch_items_total") > 0)
        assert server.stop() == 0
        data = read_all(s)
        assert data.startswith(b"HTTP/1.1 200")
        assert len(json.loads(data.split(b"\r\n\r\n", 1)[1])["items"]) == 500


def test_many_batches_at_once(models):
    import concurrent.futures
    with Server(models, "--max-queue-tokens", "200", "--workers", "2", "--threads", "1") as server:
        texts = ["Text %d of %d." % (i, i * i) for i in range(40)]
        alone = [server.translate(t).json()["translations"][0]["text"] for t in texts]

        def one(k):
            items = [item(texts[(i + k) % 40], id=(i + k) % 40) for i in range(120)]
            reply = server.post("/v1/batch", {"items": items, "priority": ["bulk", "interactive"][k % 2]},
                                headers=NDJSON if k % 3 else {})
            got = lines(reply) if k % 3 else answers(reply)
            assert len(got) == 120
            assert all(a["text"] == alone[a["id"]] for a in got)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(one, range(24)))
