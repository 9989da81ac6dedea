"""POST /v1/translate with "stream": true: server-sent events, a sentence as soon as it is done."""
import concurrent.futures
import json
import time

import pytest

from conftest import NARROW, Server, http_post, long_text, read_all
from test_translate import TEXTS


def read_events(text):
    """Parses a whole stream strictly into [(name, data)]: event line, data line, blank line. Skips pings, which slow machines send."""
    assert text.endswith("\n\n")
    found = []
    for block in text[:-2].split("\n\n"):
        if block == ": ping":
            continue
        name, data = block.split("\n")
        assert name.startswith("event: ") and data.startswith("data: ")
        found.append((name[7:], json.loads(data[6:])))
    return found


def stream(server, text, **fields):
    reply = server.translate(text, stream=True, **fields)
    assert reply.status_code == 200, reply.text
    assert reply.headers["Content-Type"] == "text/event-stream"
    assert reply.headers["Cache-Control"] == "no-store"
    reply.encoding = "utf-8"
    return read_events(reply.text)


def arriving(server, text, **fields):
    """Yields (seconds until it came, name, data) for each event."""
    begin = time.monotonic()
    reply = server.post("/v1/translate", dict(text=text, source="en", target="de", stream=True, **fields), stream=True)
    name = None
    for line in reply.iter_lines(chunk_size=1, decode_unicode=True):
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            yield time.monotonic() - begin, name, json.loads(line[6:])


@pytest.mark.parametrize("text", TEXTS + [TEXTS, "One. " * 50 + "\n\n12. 34.\nEnd."])
def test_events_and_the_whole(server, text):
    """The last event is the usual answer; each sentence's event agrees with it."""
    events = stream(server, text, scores=True)
    assert [name for name, _ in events] == ["sentence"] * (len(events) - 1) + ["done"]
    whole = events[-1][1]
    assert whole == server.translate(text, scores=True).json()
    texts = [text] if isinstance(text, str) else text
    seen = {}
    for _, e in events[:-1]:
        key = (e["text_index"], e["sentence_index"])
        assert key not in seen
        seen[key] = e
    for t, translation in enumerate(whole["translations"]):
        for s, sentence in enumerate(translation["sentences"]):
            e = seen.pop((t, s))
            assert e["source"] == sentence["source"] and e["score"] == sentence["score"]
            assert e["flags"] == sentence["flags"]
            begin, end = sentence["target"]
            assert e["text"] == translation["text"][begin:end]
            assert e.get("target", [begin, end]) == [begin, end]
            assert list(e) in (["text_index", "sentence_index", "source", "target", "text", "score", "flags"],
                               ["text_index", "sentence_index", "source", "text", "score", "flags"])
            assert texts[t][sentence["source"][0]:sentence["source"][1]].strip()
    assert not seen


def test_sentences_in_order_have_their_place(endless):
    """Sentences finish one after the other: every event gives its sentence's place in the translation."""
    with Server(endless, *NARROW) as server:
        events = stream(server, long_text(6))
        assert all("target" in e for _, e in events[:-1])


def test_not_streamed_when_not_asked(server):
    assert server.translate("One. Two.", stream=False).headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("wrong, field", [(dict(stream=1), "stream"), (dict(stream="yes"), "stream"),
                                          (dict(beam_size=0), "beam_size"), (dict(n_best=3, beam_size=2), "n_best")])
def test_errors_before_the_start_are_plain(server, wrong, field):
    reply = server.translate("Hi.", **dict(dict(stream=True), **wrong))
    assert reply.status_code == 400 and reply.json()["error"]["field"] == field
    assert reply.headers["Content-Type"] == "application/json"


def test_sentences_come_one_by_one(endless, busy):
    with Server(endless, *NARROW) as server:
        when = [(seconds, name) for seconds, name, _ in arriving(server, long_text(20))]
        assert [name for _, name in when] == ["sentence"] * 20 + ["done"]
        assert server.metric("dragoman_time_to_first_sentence_seconds_count") == 1
        assert 0 < server.metric("dragoman_time_to_first_sentence_seconds_sum") < when[-1][0]
        events = arriving(server, busy(60))
        for _ in range(5):  # these arrive while others wait
            assert next(events)[1] == "sentence" and server.metric("dragoman_queue_depth") > 0
        events.close()


def test_deadline_after_the_start(endless, busy):
    with Server(endless, *NARROW) as server:
        reply, tries = None, 0
        while not reply or reply.status_code == 504:  # before the first sentence, on a slow machine
            tries += 1
            reply = server.translate(busy(60), stream=True, timeout_ms=2000 * tries)
        events = read_events(reply.text)
        assert [name for name, _ in events[:-1]] == ["sentence"] * (len(events) - 1) and len(events) > 1
        name, data = events[-1]
        assert name == "error" and data["code"] == "timeout"
        server.until(lambda: server.metric("dragoman_live_sentences") == 0)
        server.until(lambda: server.metric("dragoman_requests_total", dialect="v1", outcome="timeout") == tries)  # whatever its status was
        assert server.metric("dragoman_requests_total", dialect="v1", outcome="ok") == 0
        assert server.metric("dragoman_http_requests_total", route="/v1/translate", method="POST", code="200") == 1
        assert server.metric("dragoman_last_success_timestamp_seconds") == 0


def test_client_gone(endless, busy):
    with Server(endless, *NARROW) as server:
        with server.held(busy(60)) as reply:
            assert next(reply.iter_lines()) == b"event: sentence"
        server.until(lambda: server.metric("dragoman_live_sentences") == 0
                     and server.metric("dragoman_queue_depth") == 0)
        server.until(lambda: server.logged(r"route=/v1/translate status=499"))
        server.until(lambda: server.metric("dragoman_requests_total", dialect="v1", outcome="cancelled") == 1)


def test_stop_in_the_middle(endless, busy):
    with Server(endless, *NARROW, "--drain-timeout", "0") as server:
        s = server.connect()
        s.sendall(http_post("/v1/translate", dict(text=busy(30), source="en", target="de", stream=True)))
        server.until(lambda: server.metric("dragoman_live_sentences") > 0)
        assert server.stop() == 0
        data = read_all(s)
        s.close()
        assert b'event: error\ndata: {"code":"stopping"' in data


def test_queue_full_is_a_plain_503(endless, busy):
    with Server(endless, *NARROW, "--max-queue-tokens", "100") as server, server.held(busy(60)):
        reply = server.translate(busy(60), stream=True)  # one like it waits already
        assert reply.status_code == 503 and reply.json()["error"]["code"] == "overloaded"


def test_http_1_0(server):
    data = server.raw(http_post("/v1/translate", dict(text="One. Two.", source="en", target="de", stream=True))
                      .replace(b"HTTP/1.1", b"HTTP/1.0", 1))
    head, rest = data.split(b"\r\n\r\n", 1)
    assert b"200 OK" in head and b"chunked" not in head
    assert [name for name, _ in read_events(rest.decode())] == ["sentence", "sentence", "done"]


def test_the_connection_goes_on(server):
    """Streams and plain replies alternate on one connection."""
    import requests
    with requests.Session() as session:
        for i in range(10):
            body = dict(text="One. Two. %d." % i, source="en", target="de", stream=i % 2 == 0)
            reply = session.post(server.url("/v1/translate"), json=body, timeout=60)
            assert reply.status_code == 200
            got = read_events(reply.text)[-1][1] if i % 2 == 0 else reply.json()
            assert len(got["translations"]) == 1


def test_many_at_once(models):
    with Server(models, "--workers", "2", "--threads", "1", "--max-queue-tokens", "100000") as server:
        texts = [" ".join("Sentence %d of text %d." % (s, t) for s in range(t % 7 + 1)) for t in range(40)]
        alone = [server.translate(t).json() for t in texts]

        def one(i):
            assert stream(server, texts[i % 40])[-1][1] == alone[i % 40]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(one, range(200)))
