"""Faults that an attack with the source at hand found, each as a test: the server stays up, answers others, and refuses with a
message. Under a minute. The addresses 127.0.0.2, .3, ... stand for clients on other machines."""
import fcntl
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
import requests

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))

from conftest import LISTENING, PATIENCE, SERVER, Server  # noqa: E402
from conftest import models  # noqa: E402,F401  (a fixture)

LIVEZ = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"


def connect_from(server, address):
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE, source_address=(address, 0))


def answer(s):
    """Reads the head of one answer; b"" if the server closed."""
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            more = s.recv(65536)
        except ConnectionResetError:
            return b""
        if not more:
            return b""
        data += more
    return data


def ask_from(server, address):
    """Asks /livez over a new connection from the address. Returns the status, 0 if the server closed."""
    with connect_from(server, address) as s:
        s.sendall(LIVEZ)
        said = answer(s)
    return int(said.split(b" ")[1]) if said else 0


def idle_from(server, address, n):
    """Opens n connections that ask once and then stay idle."""
    held = []
    for _ in range(n):
        s = connect_from(server, address)
        s.sendall(LIVEZ)
        answer(s)
        held.append(s)
    return held


def closed(s):
    s.setblocking(False)
    try:
        return s.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


# Connections -------------------------------------------------------------------------------------------------

def test_idle_connections_of_one_client_lock_nobody_out(models):  # noqa: F811
    with Server(models, "--max-connections", "64", "--idle-timeout", "300", "--header-timeout", "300") as server:
        held = idle_from(server, "127.0.0.2", 100)
        assert all(ask_from(server, "127.0.0.3") == 200 for _ in range(40))
        assert server.get("/livez").status_code == 200
        # One client has at most half of them, and loses its own, those that were idle longest.
        server.until(lambda: sum(not closed(s) for s in held) == 32)
        assert closed(held[0]) and not closed(held[-1]) and server.metric("dragoman_connections_evicted_total") >= 68
        for s in held:
            s.close()


def test_idle_connections_of_many_clients_lock_nobody_out(models):  # noqa: F811
    with Server(models, "--max-connections", "64", "--idle-timeout", "300", "--header-timeout", "300") as server:
        held = [s for i in range(8) for s in idle_from(server, "127.0.1.%d" % (i + 1), 8)]
        for i in range(20):
            with connect_from(server, "127.0.0.3") as s:
                s.sendall(LIVEZ)
                assert answer(s).startswith(b"HTTP/1.1 200")
        server.until(lambda: server.metric("dragoman_connections_open") <= 64)
        for s in held:
            s.close()


def test_silent_connections_lock_nobody_out(models):  # noqa: F811
    """Connections that sent half of a request, or nothing, lose their places to others after a second."""
    with Server(models, "--max-connections", "64", "--header-timeout", "300",
                "--max-connections-per-address", "64") as server:
        held = [connect_from(server, "127.0.0.2") for _ in range(60)]
        for s in held[::2]:
            s.sendall(LIVEZ[:20])
        server.until(lambda: ask_from(server, "127.0.0.3") == 200)
        assert all(ask_from(server, "127.0.0.3") == 200 for _ in range(10))
        for s in held:
            s.close()


def test_clients_at_work_lose_nothing_to_new_ones(models):  # noqa: F811
    """Connections whose requests are being read are not closed for others: those get 503, except from this machine."""
    head = b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    with Server(models, "--max-connections", "32", "--body-timeout", "300", "--max-connections-per-address",
                "32") as server:
        held = [connect_from(server, "127.0.0.2") for _ in range(30)]  # 2 of 32 are reserved for this machine
        for s in held:
            s.sendall(head)
        server.until(lambda: server.metric("dragoman_connections_open") >= 30)
        server.until(lambda: ask_from(server, "127.0.0.3") == 503)
        assert server.get("/livez").status_code == 200 and ask_from(server, "127.0.0.1") == 200
        assert not any(closed(s) for s in held)
        for s in held:
            s.close()
        server.until(lambda: ask_from(server, "127.0.0.3") == 200)


# The log ----------------------------------------------------------------------------------------------------

class Unread(Server):
    """A server whose stderr nobody reads any more once it has told the port."""

    def __enter__(self):
        self.unread, its = os.pipe()
        fcntl.fcntl(its, 1031, 4096)  # F_SETPIPE_SZ
        self.process = subprocess.Popen(self.command, stderr=its)
        os.close(its)
        said = ""
        while not (found := re.search(LISTENING, said)):
            assert self.process.poll() is None, said
            said += os.read(self.unread, 4096).decode()
        self.port = int(found.group(1))
        self.until(lambda: self.get("/readyz").status_code == 200)
        return self

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        status = self.process.wait(PATIENCE)
        os.close(self.unread)
        return status


def test_a_log_that_nobody_reads_stops_nothing(models):  # noqa: F811
    with Unread(models, "--log-level", "debug") as server:
        with server.connect() as s:
            for _ in range(3000):  # half a megabyte of lines
                s.sendall(LIVEZ)
                assert answer(s).startswith(b"HTTP/1.1 200")
        assert server.metric("dragoman_log_lines_dropped_total") > 0
        assert server.translate("Hello.").status_code == 200
    # Leaving the context sent SIGTERM, and the exit status was 0.


def test_closed_standard_descriptors_are_not_given_to_clients(models, tmp_path):  # noqa: F811
    path = str(tmp_path / "socket")  # nobody hears which port it takes
    process = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', SERVER, "--models", models, "--port", "0", "--unix-socket", path,
                                "--log-level", "debug"])
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(path)
                    s.sendall(LIVEZ)
                    assert answer(s).startswith(b"HTTP/1.1 200")
                    s.sendall(LIVEZ)
                    said = answer(s)
                    assert said.startswith(b"HTTP/1.1 200") and b"event=" not in said
                break
            except (ConnectionError, FileNotFoundError):
                assert time.monotonic() < end and process.poll() is None
        files = {os.readlink("/proc/%d/fd/%d" % (process.pid, fd)) for fd in range(3)}
        assert files == {"/dev/null"}
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0


def test_texts_that_grow_are_counted_before_they_grow(models):  # noqa: F811
    """U+FDFA becomes 18 characters. A megabyte of it once cost 2.8 GB as target_prefix or as a given translation, which no limit
    counted; now it counts like other text."""
    body = {"text": "Hi there.", "source": "en", "target": "de"}
    grows = "\ufdfa" * 300000
    with Server(models) as server:
        def post(path, body):  # three bytes a character, not the six of an escape
            return requests.post(server.url(path), data=json.dumps(body, ensure_ascii=False).encode(),
                                 headers={"Content-Type": "application/json"}, timeout=PATIENCE)

        before = server.memory_mb("VmHWM")
        for path, field in (("/v1/translate", "text"), ("/v1/translate", "target_prefix"), ("/v1/alternatives", "target_prefix"),
                            ("/v1/score", "translation"), ("/v1/attention", "translation"), ("/v1/attention", "text")):
            reply = post(path, dict(body, **{field: grows}))
            assert reply.status_code == 413 and reply.json()["error"]["field"] == "text", (path, field, reply.text)
        items = [dict(body, target_prefix="\ufdfa" * 9000)] * 30
        reply = post("/v1/batch", {"items": items})
        assert reply.status_code == 413 and reply.json()["error"]["field"] == "items"
        assert server.memory_mb("VmHWM") < before + 100
        for path, field in (("/v1/alternatives", "target_prefix"), ("/v1/attention", "translation")):  # within the limit
            post(path, dict(body, **{field: "\ufdfa" * 9900}))
        assert server.memory_mb("VmHWM") < before + 400


# Files -------------------------------------------------------------------------------------------------------

def copy_of(models, tmp_path):
    folder = str(tmp_path / "models")
    shutil.copytree(models, folder)
    return folder, os.path.join(folder, "en-de", "weights.dgw")


def said(server, text="Hello world."):
    reply = server.translate(text)
    assert reply.status_code == 200
    return reply.json()["translations"]


@pytest.mark.parametrize("how", ["cut short", "overwritten"])
def test_a_file_that_is_spoilt_while_it_is_served_changes_nothing(models, tmp_path, how):  # noqa: F811
    folder, weights = copy_of(models, tmp_path)
    with Server(folder) as server:
        before = said(server)
        with open(weights, "r+b") as f:
            if how == "cut short":
                f.truncate(100)
            else:
                size = os.path.getsize(weights)
                f.write(os.urandom(size))
        with open("/proc/%d/maps" % server.process.pid, encoding="utf-8") as f:
            assert folder not in f.read()
        assert said(server) == before and said(server, "Something else. And more!")
        server.process.send_signal(signal.SIGHUP)  # a reload finds it, and the old model keeps serving
        server.until(lambda: server.logged('level=error event="reload failed'))
        assert said(server) == before


def test_a_damaged_bundle_is_never_served(models, tmp_path):  # noqa: F811
    """Flips one bit anywhere in the weights."""
    rng = random.Random(5)
    folder, weights = copy_of(models, tmp_path)
    with open(weights, "rb") as f:
        good = f.read()
    for _ in range(10):
        spoilt = bytearray(good)
        spoilt[rng.randrange(len(good))] ^= 1 << rng.randrange(8)
        with open(weights, "wb") as f:
            f.write(spoilt)
        for flags in (["--check-config"], ["--port", "0"]):
            done = subprocess.run([SERVER, "--models", folder, *flags], capture_output=True, text=True, timeout=PATIENCE)
            assert done.returncode == 1 and "weights.dgw" in done.stderr, done.stderr


def test_a_manifest_edited_under_its_old_version_is_noticed(models, tmp_path):  # noqa: F811
    folder, _ = copy_of(models, tmp_path)
    path = os.path.join(folder, "en-de", "manifest.json")
    with Server(folder) as server:
        with open(path, encoding="utf-8") as f:
            manifest = json.load(f)
        manifest["name"] = "other"
        with open(path, "w", encoding="utf-8") as f:
            json.dump(manifest, f)
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: server.logged('level=error event="reload failed.*version'))
        assert "other" not in server.get("/v1/models").text


# Requests ----------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def server(models):  # noqa: F811
    with Server(models) as s:
        yield s


def statuses(server, data):
    """Returns the statuses of all replies until the server closes."""
    return [int(n) for n in re.findall(rb"HTTP/1\.1 (\d+) ", server.raw(data))]


POST = b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
BODY = json.dumps({"text": "Hi.", "source": "en", "target": "de"}).encode()


def test_two_hosts_are_refused(server):
    reply = server.raw(b"GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + LIVEZ)
    assert reply.startswith(b"HTTP/1.1 400 ") and reply.count(b"HTTP/1.1 ") == 1 and b"bad_framing" in reply


def test_a_coded_body_is_refused_and_not_read_as_text(server):
    head = POST + b"Content-Length: %d\r\n" % len(BODY)
    for coding in (b"gzip", b"br", b"identity, gzip", b"x"):
        reply = server.raw(head + b"Content-Encoding: " + coding + b"\r\n\r\n" + BODY)
        assert reply.startswith(b"HTTP/1.1 415 ") and b"unsupported_encoding" in reply
        assert b"\r\nAccept-Encoding: identity\r\n" in reply and b"\r\nConnection: close\r\n" in reply
    assert statuses(server, head + b"Content-Encoding: Identity\r\nConnection: close\r\n\r\n" + BODY) == [200]


def test_an_absolute_target_is_served(server):
    for target in (b"http://a/livez", b"HTTP://a:8080/livez?x=1", b"https://a/livez"):
        assert statuses(server, b"GET " + target + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") == [200]
    assert statuses(server, b"GET http://a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") == [200]
    assert statuses(server, b"GET http:///livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") == [404]


def test_a_long_chunk_extension_takes_nothing_but_its_connection(server):
    """The HTTP library itself refuses what its buffer does not hold (docs/operations.md)."""
    data = POST + b"Transfer-Encoding: chunked\r\n\r\n5;" + b"x" * 40000 + b"\r\n12345\r\n0\r\n\r\n" + LIVEZ
    assert 200 not in statuses(server, data)
    assert ask_from(server, "127.0.0.1") == 200


def test_signals_without_a_meaning_end_nothing(server):
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
        server.process.send_signal(number)
        assert ask_from(server, "127.0.0.1") == 200 and server.process.poll() is None
