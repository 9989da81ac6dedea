"""Attention weights over HTTP: they equal the command line's, rows sum to 1, and requests for them do not disturb serving."""
import concurrent.futures
import json
import os
import re
import socket
import subprocess
import time

import pytest

import conftest

BUNDLE = conftest.EN_DE
SOURCE = "Two dogs play in the snow."
TARGET = "Zwei Hunde spielen im Schnee."


@pytest.fixture(scope="module")
def server():
    with conftest.Server(BUNDLE) as s:
        yield s


def ask(server, **fields):
    body = dict({"text": SOURCE, "source": "en", "target": "de"}, **fields)
    return server.post("/v1/attention", {k: v for k, v in body.items() if v is not None})


def weights(server, **fields):
    reply = ask(server, **fields)
    assert reply.status_code == 200, reply.text
    assert reply.headers["X-Model-Version"]
    assert sorted(reply.json()) == ["layers", "source_tokens", "target_tokens", "usage"]
    return reply.json()


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_same_as_the_program(server, kind):
    for target in (None, TARGET):
        got = weights(server, kind=kind, translation=target)
        args = ["attention", "--model", BUNDLE, "--source", SOURCE, "--kind", kind, "--json"]
        args += ["--target", target] if target else []
        want = json.loads(subprocess.run([conftest.CLI, *args], capture_output=True, check=True).stdout)
        assert got["source_tokens"] == want["source_tokens"] and got["target_tokens"] == want["target_tokens"]
        assert "".join(got["target_tokens"]).replace("▁", " ").strip() == TARGET + "</s>"
        rows = len(got["source_tokens" if kind == "encoder" else "target_tokens"])
        columns = len(got["target_tokens" if kind == "decoder" else "source_tokens"])
        assert len(got["layers"]) == len(want["layers"]) == 3
        for layer, expected in zip(got["layers"], want["layers"]):
            assert len(layer["heads"]) == 4
            for head, other in zip(layer["heads"], expected["heads"]):
                assert len(head) == rows and all(len(r) == columns for r in head)
                for row, theirs in zip(head, other):
                    assert abs(sum(row) - 1) < 1e-4
                    assert all(abs(a - b) < 1e-5 for a, b in zip(row, theirs))
                if kind == "decoder":  # no token attends to later ones
                    assert all(w == 0 for i, row in enumerate(head) for w in row[i + 1:])


def test_one_layer(server):
    whole, one = weights(server), weights(server, layer=2)
    assert one["layers"] == whole["layers"][1:2]


@pytest.mark.parametrize("fields, status, field", [
    ({"text": None}, 400, "text"), ({"text": 5}, 400, "text"), ({"text": "12:30"}, 400, "text"),
    ({"text": "dog " * 200}, 413, "text"), ({"translation": "Hund " * 200}, 413, "translation"),
    ({"translation": 5}, 400, "translation"), ({"source_lang": "en"}, 400, "source_lang"),
    ({"kind": "other"}, 400, "kind"), ({"layer": 4}, 400, "layer"), ({"layer": 0}, 400, "layer"),
    ({"beam_size": 99}, 400, "beam_size"), ({"target": "zz"}, 400, "target"),
    ({"source": None}, 400, "source"), ({"heads": [1]}, 400, "heads"),
    ({"text": "x" * 100000}, 413, "text"), ({"text": "x", "translation": "x" * 100000}, 413, "translation")])
def test_mistakes_are_named(server, fields, status, field):
    reply = ask(server, **fields)
    assert reply.status_code == status, reply.text
    assert reply.json()["error"]["field"] == field
    if status == 413:
        assert re.search(r"limit of 128|may have at most \d+", reply.json()["error"]["message"])


def test_the_language_that_a_decoder_begins_with(tmp_path):
    """Its token is shown with its weights, but is no part of the translation: neither usage nor the limit counts it."""
    m2m = os.path.join(conftest.ROOT, "tests", "data", "convert", "m2m100", "m2m")
    subprocess.run([conftest.CLI, "convert", "huggingface", m2m, "--out", str(tmp_path / "m2m")], check=True, capture_output=True)
    with conftest.Server(str(tmp_path / "m2m")) as server:
        got = weights(server, translation="Zwei Hunde.")
        assert got["target_tokens"][0] == "__de__" and got["target_tokens"][-1] == "</s>"
        assert got["usage"]["target_tokens"] == len(got["target_tokens"]) - 1
        assert all(len(head) == len(got["target_tokens"]) for layer in got["layers"] for head in layer["heads"])
        sizes = {}
        for n in range(120, 132):
            reply = ask(server, translation="." * n)
            sizes[n] = reply.json()["usage"]["target_tokens"] if reply.status_code == 200 else reply.status_code
        assert 128 in sizes.values() and 413 in sizes.values(), sizes


LONG = " ".join(["A man and a dog and a girl"] * 15) + "."
LONG_TARGET = " ".join(["Ein Mann und ein Hund und ein Mädchen"] * 12) + "."


def test_a_flood_is_refused_and_serving_goes_on(server):
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        flood = [pool.submit(ask, server, text=LONG, translation=LONG_TARGET, kind="encoder") for _ in range(40)]
        worst = 0
        for _ in range(10):
            start = time.monotonic()
            (t,) = server.translate(SOURCE).json()["translations"]
            worst = max(worst, time.monotonic() - start)
            assert t["text"] == TARGET
        replies = [f.result() for f in flood]
    codes = {r.status_code for r in replies}
    assert codes <= {200, 503, 504} and 200 in codes, codes  # 504: a slow machine's deadline comes first
    for r in replies:
        if r.status_code == 503:
            assert r.json()["error"]["code"] == "overloaded" and r.headers["Retry-After"]
    assert worst < 60  # it did not wait for all forty; the exact speed is the benchmark's concern
    assert ask(server).status_code == 200


def test_answers_that_nobody_reads_are_bounded(tmp_path):
    """An answer stays in memory until its client has read it. Half of the memory for texts and answers, and the memory for large replies, hold at most 32."""
    deep = conftest.bundle.make(conftest.CLI, str(tmp_path / "deep"), layers=8)  # answers too large for a socket's buffers
    body = dict(text="a1" * 63, source="en", target="de", kind="encoder")
    with conftest.Server(deep, "--write-timeout", "3600") as server:  # a busy machine is slow to make them
        slow = []
        for _ in range(33):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(conftest.PATIENCE)
            s.connect(("127.0.0.1", server.port))
            slow.append(s)
            s.sendall(conftest.http_post("/v1/attention", dict(body, translation="a1" * 40)))
            status = s.recv(12)
            if status != b"HTTP/1.1 200":
                break
        assert status == b"HTTP/1.1 503" and 8 < len(slow) <= 33, (status, len(slow))
        reply = ask(server, **dict(body, translation="a1" * 40))
        assert reply.status_code == 503 and reply.json()["error"]["code"] == "overloaded" and reply.headers["Retry-After"]
        assert server.translate(SOURCE).status_code == 200
        for s in slow:
            s.close()
        server.until(lambda: ask(server).status_code == 200)


def test_deadline_and_stop():
    with conftest.Server(BUNDLE) as server:
        with concurrent.futures.ThreadPoolExecutor(9) as pool:
            late = [pool.submit(ask, server, text=LONG, translation=LONG_TARGET, timeout_ms=1) for _ in range(9)]
            codes = [f.result().status_code for f in late]
        assert set(codes) <= {200, 503, 504} and codes.count(504) >= 4, codes  # the first may be in time
    server = conftest.Server(BUNDLE, "--drain-timeout", "0")
    with server:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            running = [pool.submit(ask, server, text=LONG, translation=LONG_TARGET) for _ in range(8)]
            server.until(lambda: server.in_flight() == 8 or any(f.done() for f in running))
            server.stop()
            for f in running:
                try:
                    assert f.result().status_code in (200, 503)
                except conftest.requests.RequestException:
                    pass  # it came too late
