"""HTTP with bad clients: bodies that are only announced, slow, silent, garbage or reset; limits of connections and bytes."""
import random
import select
import socket
import time

import pytest

from conftest import PATIENCE, Server, http_post, long_text, read_all
from http_replies import GOOD, code_of, header_of, read_reply, status_of


HEAD = b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def test_bodies_that_are_only_announced_take_no_room(models):
    with Server(models, "--max-body-bytes", "100000", "--body-timeout", "300") as server:
        waiting = [server.connect() for _ in range(140)]
        for i, s in enumerate(waiting):
            s.sendall(CHUNKED + b"5\r\n" if i % 2 else HEAD + b"Content-Length: 100000\r\n\r\n{")
        for _ in range(3):
            assert server.translate("One.").status_code == 200
        for s in waiting:
            s.close()


def test_all_bodies_together_are_bounded(models):
    """64 bodies of maximum size may be in transit; more are refused until others have gone."""
    with Server(models, "--max-body-bytes", "100000", "--body-timeout", "300") as server:
        waiting = []

        def full():
            """Sends one more body except its last byte, up to 64; true if a request is then refused. A body that was refused,
            because the request below took its room at that moment, is sent again."""
            for s in waiting[:]:
                if select.select([s], [], [], 0)[0]:
                    assert status_of(read_all(s)) == 503
                    s.close()
                    waiting.remove(s)
            if len(waiting) < 64:
                s = server.connect()
                s.sendall(HEAD + b"Content-Length: 100000\r\n\r\n" + b" " * 99999)
                waiting.append(s)
            return len(waiting) == 64 and server.translate("One. " * 1000).status_code == 503

        server.until(full)
        assert server.translate("One.").status_code == 200  # the remaining room is enough for this one
        refused = lambda: server.metric("dragoman_http_requests_total", route="/v1/translate", method="POST", code="503")
        before = refused()
        for _ in range(3):  # refused once it does not fit, while the client keeps sending
            with server.connect() as s:
                s.sendall(CHUNKED + b"10000\r\n" + b" " * 65536 + b"\r\n")
                try:
                    for _ in range(20):
                        s.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
                except OSError:
                    pass
                reply = read_all(s)
            assert status_of(reply) == 503 and code_of(reply) == "overloaded"
            assert int(header_of(reply, "Retry-After")) >= 1 and header_of(reply, "X-Request-Id")
        for s in waiting:
            s.close()
        server.until(lambda: server.translate("One. " * 1000).status_code == 200)
        server.until(lambda: refused() == before + 3)


@pytest.fixture(scope="module")
def hasty(models):
    with Server(models, "--header-timeout", "0.6", "--body-timeout", "0.6", "--idle-timeout", "0.6",
                "--max-connections", "40") as s:
        yield s


def drip(s):
    """Sends one byte every tenth of a second until the server closes. Returns the seconds that took, and the reply."""
    start, said = time.monotonic(), b""
    s.settimeout(0.1)
    while time.monotonic() - start < PATIENCE:
        try:
            s.sendall(b"X")
            more = s.recv(65536)
            if not more:
                break
            said += more
        except socket.timeout:
            continue
        except OSError:
            break
    return time.monotonic() - start, said


@pytest.mark.parametrize("sent,route,method", [(b"", None, None), (b"GET /livez HTTP/1.1\r\nHost: a\r\n", "other", "other"),
                                               (http_post("/v1/translate", GOOD)[:-20], "/v1/translate", "POST")], ids=["nothing", "headers", "body"])
def test_dripping_clients_are_cut_off(hasty, sent, route, method):
    def counts():
        return (hasty.metric("dragoman_connections_timed_out_total"),
                hasty.metric("dragoman_http_requests_total", route=route, method=method, code="408"))
    closed, late = counts()
    with hasty.connect() as s:
        s.sendall(sent)
        seconds, said = drip(s)
    assert 0.4 < seconds < PATIENCE
    assert status_of(said) == 408 and code_of(said) == "request_timeout" and header_of(said, "Retry-After") is None
    # A request is counted once its line is there.
    hasty.until(lambda: counts()[0] > closed and (not sent or counts()[1] > late))


def test_silent_clients_are_cut_off(hasty):
    with hasty.connect() as s:
        assert status_of(read_all(s)) == 408
    def idle_is_closed_without_a_word():  # a client that stalls is late with its headers
        with hasty.connect() as s:
            s.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            reply, _ = read_reply(s)
            return status_of(reply) == 200 and read_all(s) == b""
    hasty.until(idle_is_closed_without_a_word)


def test_slow_clients_do_not_hold_up_others(models):
    with Server(models, "--header-timeout", "300") as server:
        slow = [server.connect() for _ in range(30)]
        for s in slow:
            s.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Le")
        assert server.translate("Hello.").status_code == 200
        for s in slow:
            s.setblocking(False)
            with pytest.raises(BlockingIOError):  # the server still tolerates them
                s.recv(1)
            s.close()


def test_connections_over_the_limit_get_503(hasty):
    def refused():  # if the machine stalls, the held connections time out
        held = [hasty.connect() for _ in range(40)]
        try:
            with hasty.connect() as s:
                return read_all(s).startswith(b"HTTP/1.1 503 ")
        finally:
            for s in held:
                s.close()

    hasty.until(refused)
    hasty.until(lambda: hasty.get("/livez").status_code == 200)
    hasty.until(lambda: hasty.metric("dragoman_connections_refused_total") > 0)


def test_garbage_does_no_harm(server):
    rng = random.Random(11)
    good = http_post("/v1/translate", GOOD)
    for i in range(300):
        data = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if i % 3 == 0:
            data = bytes(rng.randrange(256) for _ in range(rng.randint(1, 300)))
        with server.connect() as s:
            s.sendall(data)
            if i % 2:
                s.shutdown(socket.SHUT_WR)
                s.settimeout(0.2)
                try:
                    s.recv(100)
                except OSError:
                    pass
    assert server.translate("Hello.").status_code == 200


def test_clients_that_reset(server):
    for _ in range(50):
        s = server.connect()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.sendall(http_post("/v1/translate", dict(GOOD, text=long_text(3))))
        s.close()
    assert server.translate("Hello.").status_code == 200
