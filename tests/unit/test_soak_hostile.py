"""The hostile clients of tests/soak/hour.py against a stand-in for a server: each compares what it gets with what is right."""
import os
import socket
import sys
import threading
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "soak"))

import hour  # noqa: E402


def ask(monkeypatch, what, reply):
    """What the client finds wrong with a reply to its request, and the seconds until it hung up; reply None: there is none."""
    monkeypatch.setattr(hour, "UNREAD_SECONDS", 0.5)
    request, right = next((request, right) for name, request, right in hour.HOSTILE if name == what)
    took = []

    def serve():
        s, _ = listener.accept()
        with s:
            start = time.monotonic()
            s.recv(1 << 16)
            if reply is not None:
                s.sendall(b"HTTP/1.1 %d x\r\n\r\n" % reply)
            while s.recv(1 << 16):
                pass
            took.append(time.monotonic() - start)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        client = hour.Hostile(listener.getsockname()[1], 0)
        client.patience_s = 1
        client.ask(what, request, right)
        thread.join(20)
    return client.wrong, took[0]


@pytest.mark.parametrize("what,right,wrong", [("a stream that nobody reads", 200, 500), ("half a request", 408, 200),
                                              ("half a request", 408, None), ("an unknown field", 400, 200)])
def test_what_is_not_right_is_noted(monkeypatch, what, right, wrong):
    assert ask(monkeypatch, what, right)[0] == []
    assert ask(monkeypatch, what, wrong)[0] == [f"{what}: {'no answer' if wrong is None else wrong}"]


def test_a_stream_that_nobody_reads_stays_open(monkeypatch):
    assert ask(monkeypatch, "a stream that nobody reads", 200)[1] > 0.4
