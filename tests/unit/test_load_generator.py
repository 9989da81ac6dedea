"""dragoman-load against a stand-in for a server that notes what its clients do."""
import contextlib
import json
import os
import socket
import subprocess
import threading
import time

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")
ANSWER = json.dumps({"translations": [{"text": "Hallo.", "sentences": [{}]}]}).encode()


class StandIn:
    """Gives each connection to serve(socket) in a thread of its own."""

    def __init__(self, serve):
        self.serve, self.listener = serve, socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.attend, args=(self.listener.accept()[0],), daemon=True).start()

    def attend(self, s):
        with s, contextlib.suppress(OSError):
            s.settimeout(20)
            self.serve(s)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.close()


def load(tmp_path, port, verb, *options):
    """The report of a run."""
    items = tmp_path / "items.jsonl"
    items.write_text(json.dumps({"class": "a", "body": {"text": "Hello.", "source": "en", "target": "de"}}) + "\n", encoding="utf-8")
    done = subprocess.run([os.path.join(BIN, "dragoman-load"), verb, "--port", str(port), "--items", str(items), *options],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def read_request(s):
    """The bytes of a request; shorter if the client ends it, none if it sends no more."""
    data = s.recv(4096)
    while data and (b"\r\n\r\n" not in data or len(data.split(b"\r\n\r\n", 1)[1]) < int(data.split(b"Content-Length: ")[1].split(b"\r")[0])):
        more = s.recv(4096)
        if not more:
            return data
        data += more
    return data


def test_some_clients_that_vanish_close_their_sending_side_alone(tmp_path):
    """Such a client still takes what the server sends, until the server closes."""
    taken = []

    def serve(s):
        read_request(s)
        if s.recv(1) != b"":
            return
        for _ in range(5):  # a closed socket answers the first bytes with a reset, which the next ones meet
            s.sendall(b"HTTP/1.1 408 Request Timeout\r\n")
            time.sleep(0.03)
        taken.append(s)
    with StandIn(serve) as server:
        r = load(tmp_path, server.port, "run", "--phase", "100:1", "--vanish", "1:0.2", "--connections", "300", "--grace", "3")
        assert r["vanished"] == r["requests"] > 50
    assert 0.05 * r["requests"] < len(taken) < 0.5 * r["requests"]  # a quarter of those that vanish


def test_dripping_clients_that_are_never_ended_are_reported(tmp_path):
    """The stand-in ends the clients that are slow within the headers, and leaves those that are slow within the body."""
    def serve(s):
        data = s.recv(4096)
        if len(data) == 1:
            end = time.monotonic() + 0.2
            while time.monotonic() < end:
                s.recv(1)
        elif b"Content-Length: 4000\r\n" in data:
            while s.recv(1):
                pass
        else:
            s.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(ANSWER) + ANSWER)
    with StandIn(serve) as server:
        r = load(tmp_path, server.port, "run", "--phase", "20:2", "--slow", "8", "--slow-interval", "0.05")
    assert r["ok"] == r["requests"] > 10
    headers, body = (r["beside"][f"slow_{kind}"] for kind in ("headers", "body"))
    assert body["ended_by_server"] == 0 and body["opened"] == 4 and body["longest_s"] > 1
    assert headers["ended_by_server"] > 4 and 0.1 < headers["longest_s"] < body["longest_s"]


def test_latencies_are_those_after_the_warm_up(tmp_path):
    """The stand-in takes two seconds for its first answer."""
    waits = iter([2.0])

    def serve(s):
        while read_request(s):
            time.sleep(next(waits, 0.05))
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(ANSWER) + ANSWER)
    with StandIn(serve) as server:
        r = load(tmp_path, server.port, "closed", "--concurrency", "1", "--seconds", "2.5", "--warm-up", "1")
    took = r["phases"][0]["classes"]["a"]["latency_ms"]
    assert r["ok"] == r["requests"] > 1 and 50 <= took["mean"] <= took["max"] < 2000
