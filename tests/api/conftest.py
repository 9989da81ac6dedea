"""A real server on a free port, with small random models."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import bundle  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")), "bin")
SERVER = os.path.join(BIN, "dragoman-server")
CLI = os.path.join(BIN, "dragoman")
EN_DE = os.path.join(ROOT, "tests", "data", "en-de")  # a small real model that never changes
BUNDLES = os.path.join(ROOT, "weights", "bundles")
LISTENING = r'event"?[=:]"listening"[ ,]"?address"?[=:]\S+?:(\d+)'  # in the log, with the port
PATIENCE = int(os.environ.get("DRAGOMAN_PATIENCE", "120"))  # seconds; sanitizers and busy machines are slow


def sanitized():
    """True if the server is built with a sanitizer: then it is slow and its memory use means nothing."""
    with open(SERVER, "rb") as f:
        program = f.read()
    return b"__asan_init" in program or b"__tsan_init" in program


class Server:
    """dragoman-server as a child process. Use as a context; leaving it ends the server and checks that it ended well."""

    def __init__(self, models, *flags, env=None, ready=True):
        self.command = [SERVER, "--models", models, "--port", "0", *flags]
        self.env = dict(os.environ, **(env or {}))
        self.wait_ready = ready
        self.log = []
        self.port = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.env, stderr=subprocess.PIPE, text=True,
                                        errors="replace")
        self.listening = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        assert self.listening.wait(PATIENCE), "no port: " + "".join(self.log)
        assert self.port, "".join(self.log)
        if self.wait_ready:
            self.until(lambda: self.get("/readyz").status_code == 200)
        return self

    def _read(self):
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(LISTENING, line)
            if found:
                self.port = int(found.group(1))
                self.listening.set()
        self.listening.set()

    def __exit__(self, *_):
        status = self.stop()
        assert status == 0, "exit status %s:\n%s" % (status, "".join(self.log[-50:]))

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return status

    def until(self, condition, seconds=PATIENCE):
        """Waits for a condition; a requests exception counts as not yet."""
        end = time.monotonic() + seconds
        while True:
            try:
                if condition():
                    return
            except requests.RequestException:
                pass
            assert self.process.poll() is None, "the server ended:\n" + "".join(self.log[-50:])
            assert time.monotonic() < end, "waited %g s:\n%s" % (seconds, "".join(self.log[-50:]))
            time.sleep(0.01)

    def metrics(self):
        return self.get("/metrics").text

    def metric(self, name, **labels):
        """Returns the sum of a metric's samples with these labels; 0 if it has none yet."""
        text = self.metrics()
        assert re.search("^# TYPE (%s|%s) " % (name, re.sub("_(bucket|sum|count)$", "", name)), text, re.M), name
        wanted = ['%s="%s"' % kv for kv in labels.items()]
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if line.startswith((name + "{", name + " ")) and all(w in line for w in wanted))

    def in_flight(self):
        """Returns the number of requests in flight, without the one that asks."""
        return self.metric("dragoman_http_requests_in_flight") - 1

    def until_running(self, n):
        """Waits for n requests in flight, at least one of them in the engine."""
        self.until(lambda: self.in_flight() == n and self.metric("dragoman_live_sentences") > 0)

    @contextlib.contextmanager
    def held(self, text, **fields):
        """Yields the reply of a stream that is at work until the context is left, which cancels it. The text must take longer than that
        on a machine that stalls: busy(60)."""
        body = dict(text=text, source="en", target="de", stream=True, **fields)
        with self.post("/v1/translate", body, stream=True) as reply:
            assert reply.status_code == 200, reply.text
            yield reply

    def threads(self):
        """Returns {id: name} of the running threads."""
        tasks, names = "/proc/%d/task/" % self.process.pid, {}
        for task in os.listdir(tasks):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
                with open(tasks + task + "/comm", encoding="utf-8") as f:
                    names[int(task)] = f.read().rstrip("\n")
        return names

    def memory_mb(self, what="VmRSS"):
        """Returns a figure of /proc/PID/status: VmRSS, the resident memory; VmHWM, the most so far; RssAnon, without files."""
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as f:
            return int(re.search(r"^%s:\s+(\d+) kB$" % what, f.read(), re.M)[1]) * 1024 / 1e6

    def cpu_seconds(self):
        """Returns the CPU time of all its threads."""
        tasks = "/proc/%d/task/" % self.process.pid
        total = 0
        for task in os.listdir(tasks):
            with open(tasks + task + "/schedstat", encoding="utf-8") as f:
                total += int(f.read().split()[0])
        return total / 1e9

    def logged(self, pattern):
        """True if a line logged so far matches. Lines come through a pipe, so use this with until() while the server lives."""
        if self.process.poll() is not None:
            self.reader.join(PATIENCE)
        return any(re.search(pattern, line) for line in self.log)

    def url(self, path):
        return "http://127.0.0.1:%d%s" % (self.port, path)

    def get(self, path, **more):
        return requests.get(self.url(path), timeout=PATIENCE, **more)

    def post(self, path, body, **more):
        return requests.post(self.url(path), json=body, timeout=PATIENCE, **more)

    def translate(self, text, **fields):
        return self.post("/v1/translate", dict(text=text, source="en", target="de", **fields))

    def copies(self, text):
        """True if a text comes back as it is, as characters do that the model lacks: it costs nothing, so it is no attack."""
        body = json.dumps({"text": text, "source": "en", "target": "de"}, ensure_ascii=False).encode()
        reply = requests.post(self.url("/v1/translate"), data=body, headers={"Content-Type": "application/json"}, timeout=PATIENCE)
        assert reply.status_code == 200, reply.text
        return reply.json()["translations"][0]["text"] == text

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def raw(self, data):
        """Send bytes, read until the server closes; the sending side stays open."""
        with self.connect() as s:
            s.sendall(data)
            return read_all(s)


class Reply:
    """A reply from a Unix socket, with the attributes of a requests reply."""

    def __init__(self, reply):
        self.status_code, self.headers, self.text = reply.status, reply.headers, reply.read().decode()

    def json(self):
        return json.loads(self.text)


class Local(Server):
    """A server that also has a Unix socket; requests through it count as the owner's."""

    def __init__(self, models, *flags, **more):
        self.folder = tempfile.TemporaryDirectory()  # a short path: a socket's name has at most 107 bytes
        self.socket_path = os.path.join(self.folder.name, "socket")
        super().__init__(models, "--unix-socket", self.socket_path, *flags, **more)

    def stop(self, how=signal.SIGTERM):
        status = super().stop(how)
        self.folder.cleanup()
        return status

    def local(self, method, path, json_body=None, headers=None):
        connection = http.client.HTTPConnection("localhost", timeout=PATIENCE)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(PATIENCE)
        try:
            connection.sock.connect(self.socket_path)
            body = None if json_body is None else json.dumps(json_body)
            connection.request(method, path, body, {**({"Content-Type": "application/json"} if body else {}), **(headers or {})})
            return Reply(connection.getresponse())
        except (OSError, http.client.HTTPException) as e:
            raise requests.ConnectionError(str(e)) from e
        finally:
            connection.close()

    def reload(self, json_body=None, **headers):
        return self.local("POST", "/v1/models/reload", json_body, headers)


def run_server(*flags, env=None):
    """Runs a server that exits by itself."""
    return subprocess.run([SERVER, *flags], capture_output=True, text=True, timeout=PATIENCE,
                          env=dict(os.environ, **(env or {})))


def read_all(s):
    data = b""
    while True:
        try:
            more = s.recv(65536)
        except ConnectionResetError:
            return data
        if not more:
            return data
        data += more


def http_post(path, body, *headers):
    """The bytes of a POST with a JSON body."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = ["POST %s HTTP/1.1" % path, "Host: test", "Content-Type: application/json",
             "Content-Length: %d" % len(body), *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A directory with two bundles."""
    folder = tmp_path_factory.mktemp("models")
    bundle.make(CLI, str(folder / "en-de"), seed=1)
    bundle.make(CLI, str(folder / "de-fr"), "de", "fr", seed=2)
    return str(folder)


@pytest.fixture(scope="session")
def endless(tmp_path_factory):
    """A bundle whose translations always run to their length limit and take a while."""
    folder = tmp_path_factory.mktemp("endless")
    return bundle.make(CLI, str(folder / "endless"), D=128, F=256, layers=2, end_bias=-30.0, seed=3)


@pytest.fixture(scope="module")
def server(models):
    with Local(models, "--max-queue-tokens", "1000000") as s:  # nothing is refused, however slow the machine is
        yield s


# Translates one sentence at a time, so the next request has to wait.
NARROW = ["--batch-sentences", "1", "--batch-rows", "4", "--max-beam", "4", "--threads", "1",
          "--drain-timeout", "300", "--request-timeout", "300", "--max-characters", "1000000", "--max-queue-tokens",
          "1000000", "--max-sentences", "1000000", "--max-batch-characters", "100000000", "--max-body-bytes", "10000000"]


@pytest.fixture(scope="session")
def busy(endless):
    """busy(seconds): a text that takes a NARROW server that much CPU time, so that it lasts at least as long."""
    with Server(endless, *NARROW) as server:
        server.translate(long_text(1))
        start = server.cpu_seconds()
        server.translate(long_text(5))
        pace = (server.cpu_seconds() - start) / 5
    return lambda seconds: long_text(max(2, round(seconds / pace)))


def long_text(sentences):
    """Text that keeps the endless model busy: each sentence is translated by itself, no two are the same."""
    return " ".join("Number %d walks along the long road to the sea." % i for i in range(sentences))
