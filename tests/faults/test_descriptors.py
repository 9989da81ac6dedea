"""A server that may open no more files, because of connecting clients, reloads, documents or collections. Connected clients are
answered, also health checks; no acknowledged data is lost; the server does not spin, says so in its log, and recovers."""
import os
import re
import resource
import shutil
import socket
import sys
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]

import bundle  # noqa: E402
from conftest import CLI, EN_DE, PATIENCE, Local, http_post, sanitized  # noqa: E402

pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer opens files of its own")
PAIR = {"source": "en", "target": "de"}
GOOD = dict(PAIR, text="Two dogs play.")
SPARE = 40
PROBE_SECONDS = 20  # a probe does not wait until the requests of others are late


def open_now(server):
    return len(os.listdir("/proc/%d/fd" % server.process.pid))


def settled(server):
    """Returns how many files it has open once the connections that asked whether it is ready are closed."""
    now, before = open_now(server), None
    while now != before:
        time.sleep(0.1)
        now, before = open_now(server), now
    return now


def limit(server, more):
    """Limits the server to `more` files beyond those open now; None: to 4096 again."""
    n = 4096 if more is None else settled(server) + more
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (n, 4096))


class Kept:
    """A keep-alive connection."""

    def __init__(self, server):
        self.session = requests.Session()
        self.server = server
        assert self.get("/livez").status_code == 200

    def get(self, path):
        return self.session.get(self.server.url(path), timeout=PATIENCE)

    def post(self, path, **more):
        return self.session.post(self.server.url(path), timeout=PATIENCE, **more)

    def figure(self, name):
        return float(re.search("^%s (.*)" % name, self.get("/metrics").text, re.M)[1])

    def translate(self):
        return self.post("/v1/translate", json=GOOD)


def connect(server, n, data):
    """Opens connections that send the data and wait."""
    made = []
    for _ in range(n):
        s = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        s.sendall(data)
        made.append(s)
    return made


def answered(s):
    s.settimeout(PATIENCE)
    return s.recv(4096).startswith(b"HTTP/1.1 200")


WHOLE = http_post("/v1/translate", GOOD)
REST = 10  # bytes that are sent later


def test_idle_connections():
    """More clients than descriptors: the connections idle longest are closed for those that wait."""
    with Local(EN_DE) as server:
        limit(server, SPARE)
        clients = connect(server, 2 * SPARE, WHOLE)
        assert all(answered(s) for s in clients)
        server.until(lambda: server.logged('event="connections wait" message="Too many open files"'))
        assert server.get("/livez").status_code == 200 and server.translate("Hello.").status_code == 200
        for s in clients:
            s.close()


def test_busy_connections():
    """If requests in progress hold all descriptors, they are answered, others wait, and the server does not spin."""
    with Local(EN_DE, "--body-timeout", "300") as server:
        limit(server, SPARE)
        kept = Kept(server)
        clients = connect(server, SPARE - 1, WHOLE[:-REST])
        server.until(lambda: kept.figure("dragoman_connections_open") == SPARE)
        assert kept.get("/livez").status_code == kept.get("/readyz").status_code == 200 and kept.translate().status_code == 200
        waiting = connect(server, 10, WHOLE)
        assert answered(waiting[0])  # it takes the place of the idle connection
        began, used = time.monotonic(), server.cpu_seconds()
        time.sleep(2)
        used = (server.cpu_seconds() - used) / (time.monotonic() - began)
        assert used < 0.2, "%.2f of a core where nothing is to be done but to wait for room" % used
        for s in clients:
            s.sendall(WHOLE[-REST:])
        assert all(answered(s) for s in clients) and all(answered(s) for s in waiting[1:])
        assert kept.translate().status_code == 200
        assert sum('event="connections wait"' in line for line in server.log) == 1
        for s in clients + waiting:
            s.close()


def test_probes():
    """When requests in progress use all descriptors, the server still answers health checks from its own machine, repeatedly. Clients
    of other machines get "too many connections" and do not delay a probe."""
    with Local(EN_DE, "--host", "0.0.0.0", "--body-timeout", "300") as server:
        limit(server, SPARE)
        clients = connect(server, SPARE, WHOLE[:-REST])
        server.until(lambda: open_now(server) >= resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0])
        began, used = time.monotonic(), server.cpu_seconds()
        for path in 5 * ("/livez", "/readyz"):
            assert requests.get(server.url(path), timeout=PROBE_SECONDS).status_code == 200
        others = []
        if not own_address().startswith("127."):
            for _ in range(10):
                others.append(socket.create_connection((own_address(), server.port), timeout=PATIENCE))
                others[-1].sendall(WHOLE)
            assert requests.get(server.url("/livez"), timeout=PROBE_SECONDS).status_code == 200
            for s in others:
                s.settimeout(PATIENCE)
                assert s.recv(4096).startswith(b"HTTP/1.1 503")
        used = (server.cpu_seconds() - used) / (time.monotonic() - began)
        print("%.2f of a core" % used)
        for s in clients:
            s.sendall(WHOLE[-REST:])
        assert all(answered(s) for s in clients) and server.translate("Hello.").status_code == 200
        for s in clients + others:
            s.close()


def own_address():
    """Returns this machine's address as other machines see it, or 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # nothing is sent
            return s.getsockname()[0]
        except OSError:
            return "127.0.0.1"


def test_reload(tmp_path):
    """A reload that can open no file is refused with a message, and the old model keeps serving."""
    for seed in (21, 22):
        bundle.make(CLI, str(tmp_path / str(seed)), seed=seed)
    folder = tmp_path / "served"
    shutil.copytree(tmp_path / "21", folder / "en-de")

    def version():
        return kept.get("/v1/models").json()["models"][0]["version"]
    with Local(str(folder)) as server:
        kept = Kept(server)
        before = version()
        shutil.rmtree(folder / "en-de")
        shutil.copytree(tmp_path / "22", folder / "en-de")
        for more in range(1, 5):  # one of them for the connection that asks
            limit(server, more)
            reply = server.reload()
            if reply.status_code == 200:
                break
            assert reply.status_code in (422, 503) and "Too many open files" in reply.text, (more, reply.text)
            assert kept.translate().status_code == 200 and version() == before
            assert kept.get("/readyz").status_code == 200
        limit(server, None)
        assert server.reload().status_code == 200 and version() != before and kept.translate().status_code == 200


def test_files(tmp_path):
    """Documents, glossaries and suggestions when SQLite can open no file: refused ones are not stored, accepted ones stay."""
    flags = [x for name in ("collections", "suggestions", "documents") for x in ("--" + name, str(tmp_path / (name + ".db")))]
    with Local(EN_DE, *flags) as server:
        kept, names, said = Kept(server), [], []

        def work():
            made = kept.post("/v1/glossaries", json={"name": "n%d" % len(said), "dictionaries": [dict(PAIR, entries={"dog": "Hund"})]})
            if made.status_code == 201:
                names.append("n%d" % len(said))
            document = kept.post("/v2/document", files={"file": ("a.txt", "Two dogs play.\n")}, data={"target_lang": "DE"})
            suggested = kept.post("/suggest", json=dict(PAIR, q="a%d" % len(said), s="b"))
            said.append((made.status_code, document.status_code, suggested.status_code))
            for reply in (made, document, suggested):
                assert reply.status_code in (200, 201, 500, 503) and str(tmp_path) not in reply.text, reply.text
            return document
        assert work().status_code == 200
        for more in (0, 0, 1, 2):
            limit(server, more)
            work()
            assert kept.translate().status_code == kept.get("/readyz").status_code == kept.get("/metrics").status_code == 200
        limit(server, None)
        document = work()
        assert said[-1] == (201, 200, 200), said
        assert [g["name"] for g in kept.get("/v1/glossaries").json()["glossaries"]] == names
        id, key = document.json()["document_id"], {"document_key": document.json()["document_key"]}
        server.until(lambda: kept.post("/v2/document/" + id, json=key).json()["status"] == "done")
        assert re.search(r"^process_open_fds \d", kept.get("/metrics").text, re.M)
