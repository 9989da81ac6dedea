"""Starting, overload, cancelling, deadlines and stopping."""
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import threading
import time

import pytest
import requests

from conftest import NARROW, PATIENCE, Server, http_post, long_text, read_all, run_server


def test_probes_are_logged_when_something_is_wrong(models):
    with Server(models) as server:
        for path, status in (("/livez", 200), ("/readyz", 200), ("/metrics", 200), ("/livez?x", 200), ("/nothing", 404)):
            assert server.get(path).status_code == status
        server.until(lambda: server.logged("status=404"))
        for path in ("/livez", "/readyz", "/metrics"):
            assert not server.logged(f"route={path} status=200")


def test_port_taken_names_the_flag(models):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_server("--models", models, "--port", str(port))
    assert done.returncode == 1
    assert str(port) in done.stderr and "taken" in done.stderr and "--port" in done.stderr


@pytest.mark.parametrize("file", ["manifest.json", "weights.dgw"])
def test_a_broken_bundle_is_named(models, tmp_path, file):
    folder = str(tmp_path / "broken")
    shutil.copytree(os.path.join(models, "en-de"), folder)
    with open(os.path.join(folder, file), "r+b") as f:
        f.truncate(100)
    done = run_server("--models", folder, "--port", "0")
    assert done.returncode == 1 and "broken" in done.stderr
    done = run_server("--check-config", "--models", folder)
    assert done.returncode == 1 and "broken" in done.stderr


def test_more_bundles_than_can_be_served(models, tmp_path):
    """Too many bundles are refused; none is left out silently."""
    for i in range(257):
        os.symlink(os.path.join(os.path.abspath(models), "en-de"), tmp_path / str(i))
    done = run_server("--check-config", "--models", str(tmp_path))
    assert done.returncode == 1 and "257 bundles" in done.stderr and "at most 256" in done.stderr


def test_one_bundle_by_its_own_path(models):
    with Server(os.path.join(models, "en-de")) as server:
        assert [m["name"] for m in server.get("/v1/models").json()["models"]] == ["en-de"]


def test_ready_means_it_has_translated(models):
    """/livez answers from the moment the port is open; /readyz and translations only once the models have worked."""
    with Server(models, ready=False) as server:
        assert server.get("/livez").json() == {"status": "ok"}
        server.until(lambda: server.get("/readyz").status_code == 200)
        server.until(lambda: server.logged('event="ready" .*models=2 device=cpu/'))
        assert server.translate("Hello.").status_code == 200


def test_several_workers(models):
    with Server(models) as one, Server(models, "--workers", "3", "--http-threads", "4", "--max-queue-tokens", "100000") as three:
        texts = ["Sentence number %d here." % i for i in range(30)]
        want = [one.translate(t).json()["translations"] for t in texts]
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            assert list(pool.map(lambda t: three.translate(t).json()["translations"], texts)) == want
        assert three.translate(texts).json()["translations"] == [w[0] for w in want]


def test_a_full_queue_refuses_at_once(endless, busy):
    """Requests over the bound get 503 with Retry-After while the others still wait; accepted ones are answered."""
    with Server(endless, *NARROW, "--max-queue-tokens", "100") as server:
        long = max(busy(60), long_text(60), key=len)  # on a slow machine, a minute is few sentences
        with server.held(long):  # larger than the bound, but taken because nothing waits
            assert server.metric("dragoman_queue_tokens") > 100
            for _ in range(8):
                reply = server.translate(long + " Again.")  # larger, too, and refused because the other waits
                assert reply.status_code == 503 and reply.json()["error"]["code"] == "overloaded"
                assert int(reply.headers["Retry-After"]) >= 1
            assert server.translate("12. Hi.").status_code == 200  # a small one still fits
            assert server.metric("dragoman_queue_tokens") > 100
        server.until(lambda: server.metric("dragoman_queue_tokens") == 0)


def test_a_request_larger_than_the_queue_is_taken_when_nothing_waits(endless):
    with Server(endless, "--max-queue-tokens", "1") as server:
        assert server.translate(long_text(3)).status_code == 200


@pytest.mark.parametrize("how", ["body", "header", "server"])
def test_deadline(endless, busy, how):
    flags = ["--request-timeout", "0.3"] if how == "server" else []
    with Server(endless, *NARROW, *flags) as server:
        fields = {"timeout_ms": 300} if how == "body" else {}
        headers = {"X-Request-Timeout": "0.3"} if how == "header" else {}
        body = dict(text=busy(60), source="en", target="de", **fields)
        start = time.monotonic()
        reply = server.post("/v1/translate", body, headers=headers)
        assert reply.status_code == 504 and reply.json()["error"]["code"] == "timeout"
        assert 0.25 < time.monotonic() - start < 30
        if how != "server":  # its places in the batch are free again
            assert server.translate("Short.").status_code == 200


@pytest.mark.parametrize("how", ["close", "half-close", "reset"])
def test_a_client_that_goes_away_frees_its_place(endless, busy, how):
    """Many sentences one after the other; their client leaves, and most of the work is never done."""
    text = busy(60)
    with Server(endless, *NARROW) as server:
        gone = server.connect()
        gone.sendall(http_post("/v1/translate", dict(text=text, source="en", target="de")))
        server.until(lambda: server.metric("dragoman_queue_depth") > 0)
        if how == "half-close":
            gone.shutdown(socket.SHUT_WR)
        elif how == "reset":
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        if how != "half-close":
            gone.close()
        server.until(lambda: server.metric("dragoman_queue_depth") == server.metric("dragoman_live_sentences") == 0)
        assert server.metric("dragoman_decode_steps_total") < text.count(".") * 50 / 2  # each sentence takes more than 50
        server.until(lambda: server.logged(r"route=/v1/translate status=499"))
        assert server.translate("Me next.").status_code == 200
        gone.close()


def test_half_closing_is_answered(endless, busy):
    """The reply says client_gone, with other connections open too: which of them the HTTP library checks first is chance."""
    with Server(endless, *NARROW) as server:
        idle = [server.connect() for _ in range(6)]
        for _ in range(20):
            with server.connect() as s:
                s.sendall(http_post("/v1/translate", dict(text=busy(60), source="en", target="de")))
                server.until(lambda: server.metric("dragoman_live_sentences") > 0)
                s.shutdown(socket.SHUT_WR)
                assert b"client_gone" in read_all(s)
            server.until(lambda: server.metric("dragoman_live_sentences") == 0)
        for s in idle:
            s.close()


@pytest.mark.parametrize("left", [1, 200])
def test_a_request_cut_off_leaves_no_connection(models, left):
    """The end of the connection arrives with the last bytes of half a request, so that the HTTP library does not notice it."""
    with Server(models, "--header-timeout", "600", "--body-timeout", "600") as server:
        request = http_post("/v1/translate", dict(text="x" * 100, source="en", target="de"))
        for _ in range(10):
            with server.connect() as s:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
                s.sendall(request[:-left])
        server.until(lambda: server.metric("dragoman_connections_open") == 1, 60)
        server.until(lambda: server.logged("status=499"))


def test_waves_of_vanishing_clients_among_steady_ones(models):
    """Nobody else's answer is lost or mixed up."""
    with Server(models, "--max-queue-tokens", "1000000") as server:
        texts = ["Steady number %d speaks." % i for i in range(20)]
        want = [server.translate(t).json()["translations"] for t in texts]
        stop = threading.Event()

        def ask(text):
            reply = server.translate(text)
            return reply.json().get("translations", reply.text)

        def vanish():
            while not stop.is_set():
                with server.connect() as s:
                    s.sendall(http_post("/v1/translate", dict(text=long_text(5), source="en", target="de")))
                time.sleep(0.01)

        vanishing = [threading.Thread(target=vanish) for _ in range(3)]
        for t in vanishing:
            t.start()
        try:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                for _ in range(3):
                    assert list(pool.map(ask, texts)) == want
        finally:
            stop.set()
            for t in vanishing:
                t.join()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_idle_server_stops_at_once(models, how):
    with Server(models) as server:
        start = time.monotonic()
        assert server.stop(how) == 0
        assert time.monotonic() - start < 20  # far below --drain-timeout


def test_stops_with_idle_connections_open(models):
    with Server(models) as server:
        held = [server.connect() for _ in range(10)]
        held[0].sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        assert held[0].recv(100)
        start = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - start < 20
        for s in held:
            s.close()


def test_requests_that_come_while_it_stops_are_told_so(models):
    """Also requests that need threads other than the workers get 503. (Most useful under a memory checker.)"""
    bodies = [http_post("/v1/attention", dict(text="Hello.", source="en", target="de")),
              http_post("/v1/translate", dict(text="12 34", source="en", target="fr"))]
    with Server(models, "--drain-timeout", "0", "--pivot", "de") as server:
        held = [server.connect() for _ in range(20)]
        server.process.send_signal(signal.SIGTERM)
        server.until(lambda: server.logged('event="stopping"'))
        time.sleep(0.3)  # idle connections have a second left, and the workers have ended
        replies = []
        for i, s in enumerate(held):
            try:
                s.sendall(bodies[i % 2])
                replies.append(read_all(s))
            except OSError:  # closed: the machine took longer than that second
                pass
            s.close()
        for reply in replies:
            assert reply == b"" or reply.startswith(b"HTTP/1.1 503 ") and b'"stopping"' in reply, reply
        assert server.process.wait(PATIENCE) == 0


def test_sigterm_under_load_loses_no_accepted_request(models):
    """Clients keep asking over keep-alive connections: each connected client gets a whole answer; new connections are refused by
    the kernel."""
    with Server(models, "--max-queue-tokens", "1000000") as server:
        want = server.translate("Keep on.").json()["translations"]
        stop, lost, answered = threading.Event(), [], []

        def ask():
            data = http_post("/v1/translate", dict(text="Keep on.", source="en", target="de"))
            while not stop.is_set():
                try:
                    s = server.connect()
                except ConnectionRefusedError:
                    return
                with s:
                    while not stop.is_set():
                        s.sendall(data)
                        reply = b""
                        while b"\r\n\r\n" not in reply or len(reply.split(b"\r\n\r\n", 1)[1]) < length_of(reply):
                            more = s.recv(65536)
                            if not more:
                                break
                            reply += more
                        if not reply.startswith(b"HTTP/1.1 200 ") or \
                                json.loads(reply.split(b"\r\n\r\n", 1)[1])["translations"] != want:
                            lost.append(reply)
                            return
                        answered.append(1)
                        if b"connection: close" in reply.lower():
                            break

        clients = [threading.Thread(target=ask) for _ in range(8)]
        for c in clients:
            c.start()
        server.until(lambda: len(answered) > 50)
        assert server.stop() == 0
        stop.set()
        for c in clients:
            c.join()
        assert lost == []


def length_of(reply):
    return int(re.search(rb"(?i)content-length: (\d+)", reply).group(1))


def test_running_requests_end_before_the_server_does(endless, busy):
    text = busy(1)
    with Server(endless, *NARROW) as server:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            running = [pool.submit(server.translate, text) for _ in range(4)]
            server.until_running(4)
            server.process.send_signal(signal.SIGTERM)
            assert [r.result().status_code for r in running] == [200] * 4
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.parametrize("how", ["time", "signal"])
def test_what_does_not_end_in_time_is_failed(endless, busy, how):
    """Requests fail if they do not end within the drain time, or before a second signal."""
    text = busy(90)
    with Server(endless, *NARROW, "--drain-timeout", "0.5" if how == "time" else "300") as server:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = [pool.submit(server.translate, text) for _ in range(2)]
            server.until_running(2)
            start = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            if how == "signal":
                server.until(lambda: server.logged('event="stopping"'))
                server.process.send_signal(signal.SIGTERM)
            for r in running:
                assert r.result().status_code == 503 and r.result().json()["error"]["code"] == "stopping"
        assert server.process.wait(PATIENCE) == 0
        assert time.monotonic() - start < 60


def test_not_ready_while_draining(endless, busy):
    """A client on a keep-alive connection can still ask; it gets 503 and a closed connection."""
    with Server(endless, *NARROW) as server:
        with server.connect() as running, server.connect() as kept:
            kept.sendall(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
            assert kept.recv(65536).startswith(b"HTTP/1.1 200 ")
            running.sendall(http_post("/v1/translate", dict(text=busy(60), source="en", target="de")))
            server.until(lambda: server.metric("dragoman_live_sentences") > 0)
            server.process.send_signal(signal.SIGTERM)
            server.until(lambda: server.logged('event="stopping"'))
            kept.sendall(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
            reply = read_all(kept)
            assert reply.startswith(b"HTTP/1.1 503 ") and b'"draining"' in reply
            assert b"connection: close" in reply.lower()


def test_a_lame_duck_accepts_until_balancers_know(models):
    with Server(models, "--lame-duck", "0.5") as server:
        server.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(requests.ConnectionError):
            while True:  # each over a connection of its own
                assert server.translate("Hello.").status_code == 200
        assert server.process.wait(PATIENCE) == 0
    with Server(models, "--lame-duck", "3000") as server:
        server.process.send_signal(signal.SIGTERM)
        server.until(lambda: server.get("/readyz").status_code == 503)
        assert server.translate("Hello.").status_code == 200
        server.process.send_signal(signal.SIGTERM)  # a second signal ends the wait
        assert server.process.wait(PATIENCE) == 0


def test_the_log_as_json_and_sampled(models):
    with Server(models, "--log-format", "json", "--access-log", "10") as server:
        for _ in range(50):
            assert server.translate("Hello.").status_code == 200
    lines = [json.loads(line) for line in server.log]
    assert all(set(line) >= {"ts", "level", "event"} for line in lines)
    asked = [line for line in lines if line["event"] == "request" and line["route"] == "/v1/translate"]
    assert 4 <= len(asked) <= 6 and all(line["status"] == 200 for line in asked)
    with Server(models, "--access-log", "0") as server:
        server.translate("Hello.")
    assert not server.logged('event="request" .*status=200')
