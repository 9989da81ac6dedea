"""HTTP itself: methods, framing, limits, slow and strange clients. Raw sockets where a client library would help."""
import json
import random
import re
import select
import socket
import time

import pytest

from conftest import Server, http_post, long_text, read_all

GOOD = {"text": "Hello.", "source": "en", "target": "de"}
GETS = ["/", "/livez", "/readyz", "/metrics", "/openapi.yaml", "/v1/models"]
POSTS = ["/v1/translate", "/v1/score"]


def status_of(data):
    assert data.startswith(b"HTTP/1.1 "), data[:200]
    return int(data.split(b" ", 2)[1])


def code_of(data):
    return json.loads(data.split(b"\r\n\r\n", 1)[1])["error"]["code"]


def request(server, method, path):
    """By hand, because client libraries have opinions about methods."""
    return server.raw(("%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % (method, path)).encode())


def header_of(data, name):
    for line in data.split(b"\r\n\r\n", 1)[0].decode().split("\r\n")[1:]:
        key, value = line.split(":", 1)
        if key.lower() == name.lower():
            return value.strip()
    return None


# Methods -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("path", GETS)
def test_head_is_get_without_the_body(server, path):
    get, head = request(server, "GET", path), request(server, "HEAD", path)
    assert status_of(get) == status_of(head) == 200
    assert head.endswith(b"\r\n\r\n") and b"\r\n\r\n" not in head[:-4]
    assert int(header_of(head, "Content-Length")) > 0
    if path != "/metrics":  # its numbers grow
        assert header_of(head, "Content-Length") == header_of(get, "Content-Length")
    assert header_of(head, "Content-Type") == header_of(get, "Content-Type")


@pytest.mark.parametrize("path", GETS + POSTS)
def test_options(server, path):
    reply = request(server, "OPTIONS", path)
    assert status_of(reply) == 204
    assert header_of(reply, "Allow") == ("GET, HEAD, OPTIONS" if path in GETS else "POST, OPTIONS")


@pytest.mark.parametrize("path", GETS + POSTS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "BREW", "get"])
def test_other_methods_are_405(server, method, path):
    if method in (("GET", "HEAD") if path in GETS else ("POST",)):
        return
    reply = request(server, method, path)
    assert status_of(reply) == 405
    assert header_of(reply, "Allow") == ("GET, HEAD, OPTIONS" if path in GETS else "POST, OPTIONS")
    assert method == "HEAD" or code_of(reply) == "method_not_allowed"


@pytest.mark.parametrize("path", ["/nope", "/v1", "/v1/translate/", "//livez", "/livez/..", "/LIVEZ", "/livez%00", "/%2e"])
def test_404(server, path):
    reply = request(server, "GET", path)
    assert status_of(reply) == 404 and code_of(reply) == "not_found"


def test_paths_are_decoded_and_queries_ignored(server):
    assert status_of(request(server, "GET", "/l%69vez?x=1&y")) == 200


# Identity ----------------------------------------------------------------------------------------------------

def test_request_id(server):
    assert server.get("/livez", headers={"X-Request-Id": "abc-1.2:3/4+5=@"}).headers["X-Request-Id"] == "abc-1.2:3/4+5=@"
    made = {server.get("/livez").headers["X-Request-Id"] for _ in range(20)}
    assert len(made) == 20 and all(len(i) == 16 for i in made)
    for odd in ["a b", "a\"b", "x" * 129, ""]:
        assert server.get("/livez", headers={"X-Request-Id": odd}).headers["X-Request-Id"] != odd


# Connections -------------------------------------------------------------------------------------------------

def read_reply(s, rest=b""):
    """One reply off a kept connection; (reply, what followed)."""
    data = rest
    while b"\r\n\r\n" not in data:
        more = s.recv(65536)
        assert more, data
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    n = int(header_of(head + b"\r\n\r\n", "Content-Length"))
    while len(body) < n:
        more = s.recv(65536)
        assert more, data
        body += more
    return head + b"\r\n\r\n" + body[:n], body[n:]


def test_keep_alive_and_pipelining(server):
    with server.connect() as s:
        for _ in range(3):
            s.sendall(http_post("/v1/translate", GOOD))
            reply, rest = read_reply(s)
            assert status_of(reply) == 200 and rest == b""
        s.sendall(http_post("/v1/translate", GOOD) + b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n" +
                  http_post("/v1/translate", dict(GOOD, beam_size=0)))
        first, rest = read_reply(s)
        second, rest = read_reply(s, rest)
        third, rest = read_reply(s, rest)
        assert [status_of(r) for r in (first, second, third)] == [200, 200, 400] and rest == b""
        assert b"translations" in first and b'"ok"' in second


def test_connection_close_and_http_1_0(server):
    body = json.dumps(GOOD).encode()
    reply = server.raw(b"POST /v1/translate HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" %
                       (len(body), body))
    assert status_of(reply) == 200 and b"translations" in reply


def test_expect_100_continue(server):
    body = json.dumps(GOOD).encode()
    head = http_post("/v1/translate", GOOD, "Expect: 100-continue", "Connection: close")[:-len(body)]
    with server.connect() as s:
        s.sendall(head)
        assert s.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        s.sendall(body)
        assert status_of(read_all(s)) == 200


def test_a_body_in_many_pieces(server):
    data = http_post("/v1/translate", GOOD, "Connection: close")
    with server.connect() as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(0, len(data), 7):
            s.sendall(data[i:i + 7])
            time.sleep(0.001)
        assert status_of(read_all(s)) == 200


def test_chunked_body(server):
    body = json.dumps(GOOD).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 5]), body[i:i + 5]) for i in range(0, len(body), 5))
    head = (b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n")
    assert status_of(server.raw(head + chunks + b"0\r\n\r\n")) == 200


# Framing -----------------------------------------------------------------------------------------------------

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
AMBIGUOUS = {
    "length and chunked": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "chunked and length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    "two lengths": b"Content-Length: 5\r\nContent-Length: 40\r\n",
    "two equal lengths": b"Content-Length: 5\r\nContent-Length: 5\r\n",
    "a list of lengths": b"Content-Length: 5, 5\r\n",
    "negative": b"Content-Length: -5\r\n",
    "plus": b"Content-Length: +5\r\n",
    "hexadecimal": b"Content-Length: 0x5\r\n",
    "not a number": b"Content-Length: five\r\n",
    "two codings": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "unknown coding": b"Transfer-Encoding: gzip\r\n",
    "a list of codings": b"Transfer-Encoding: gzip, chunked\r\n",
    "odd coding": b"Transfer-Encoding: xchunked\r\n",
    "space before the colon": b"Content-Length : 5\r\n",
    "chunked behind a space": b"Content-Length: 5\r\nTransfer-Encoding : chunked\r\n",
}


@pytest.mark.parametrize("headers", AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_ambiguous_framing_is_refused_and_ends_the_connection(server, headers):
    """What follows must not be taken for a second request. (The library repeats its head when it refuses a length that is
    no number; the connection ends all the same.)"""
    reply = server.raw(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + headers +
                       b"\r\n0\r\n\r\n" + SMUGGLED)
    assert set(re.findall(rb"HTTP/1\.1 (\d+)", reply)) == {b"400"} and b"not_found" not in reply
    assert header_of(reply, "Connection") == "close"


def test_transfer_encoding_in_http_1_0_is_refused(server):
    reply = server.raw(b"POST /v1/translate HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED)
    assert status_of(reply) == 400 and len(re.findall(rb"HTTP/1\.1 \d", reply)) == 1


def test_a_request_without_host_is_refused(server):
    assert status_of(server.raw(b"GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n")) == 400


# Sizes -------------------------------------------------------------------------------------------------------

def test_a_declared_length_over_the_limit_is_refused_before_the_body(server):
    reply = server.raw(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n")
    assert status_of(reply) == 413 and code_of(reply) == "too_large"
    assert json.loads(reply.split(b"\r\n\r\n", 1)[1])["error"]["field"] == "body"
    assert header_of(reply, "Connection") == "close"


def test_a_refused_upload_gets_its_answer(server):
    """The client goes on sending; closing at once would reset the connection and wipe the answer out."""
    for _ in range(5):
        with server.connect() as s:
            s.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n")
            try:
                for _ in range(20):
                    s.sendall(b"x" * 1000000)
            except OSError:
                pass
            assert status_of(read_all(s)) == 413


def test_a_chunked_body_over_the_limit_is_refused_when_it_gets_there(server):
    with server.connect() as s:
        s.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(17):
            s.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        reply = read_all(s)
    assert status_of(reply) == 413 and code_of(reply) == "too_large"
    assert json.loads(reply.split(b"\r\n\r\n", 1)[1])["error"]["field"] == "body"
    assert header_of(reply, "Retry-After") is None  # it will not fit later, either
    assert header_of(reply, "X-Request-Id") == "mine"


def test_bodies_at_the_limit(server):
    body = json.dumps(GOOD).encode()
    fits = body + b" " * (1048576 - len(body))
    assert status_of(server.raw(http_post("/v1/translate", fits, "Connection: close"))) == 200
    assert status_of(server.raw(http_post("/v1/translate", fits + b" ", "Connection: close"))) == 413


@pytest.mark.parametrize("head", [b"GET /" + b"a" * 30000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
                                  b"GET /livez HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 30000 + b"\r\n\r\n",
                                  b"GET /livez HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 6000 + b"\r\n"],
                         ids=["long path", "long header", "many headers"])
def test_headers_over_the_limit(server, head):
    assert status_of(server.raw(head)) in (413, 414, 431)


def counted(server, series):
    """A number of /metrics; 0 as long as it is not there."""
    return sum(float(line.split()[-1]) for line in server.get("/metrics").text.splitlines() if line.startswith(series + " "))


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
    """64 bodies at the limit may be on their way; more are refused, and let in again when the others have gone."""
    with Server(models, "--max-body-bytes", "100000", "--body-timeout", "300") as server:
        waiting = []

        def full():
            """One more body on its way, all but its last byte, unless that was enough. A body that the server found no room
            for, since one of the questions below was being answered just then, is sent again."""
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
        assert server.translate("One.").status_code == 200  # what is left is enough for this one
        refused = lambda: counted(server, 'dragoman_http_requests_total{route="other",method="other",code="503"}')
        before = refused()
        for _ in range(3):  # refused when it is found not to fit, while the client goes on sending
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


# Slow and strange clients ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def hasty(models):
    with Server(models, "--header-timeout", "0.6", "--body-timeout", "0.6", "--idle-timeout", "0.6",
                "--max-connections", "40") as s:
        yield s


def drip(s, data, seconds):
    """One byte every tenth of a second; how long the server bore it, and what it said."""
    start, said = time.monotonic(), b""
    s.settimeout(0.1)
    for i in range(int(seconds * 10)):
        try:
            s.sendall(data[i:i + 1])
            more = s.recv(65536)
            if not more:
                break
            said += more
        except socket.timeout:
            continue
        except OSError:
            break
    return time.monotonic() - start, said


SLOW = 'dragoman_http_requests_total{route="other",method="other",code="408"}'


@pytest.mark.parametrize("sent", [b"", b"GET /livez HTTP/1.1\r\nHost: a\r\n",
                                  http_post("/v1/translate", GOOD)[:-20]], ids=["nothing", "headers", "body"])
def test_dripping_clients_are_cut_off(hasty, sent):
    before = counted(hasty, "dragoman_connections_timed_out_total"), counted(hasty, SLOW)
    with hasty.connect() as s:
        s.sendall(sent)
        seconds, said = drip(s, b"X" * 100, 8)
    assert 0.4 < seconds < 6
    assert status_of(said) == 408 and code_of(said) == "request_timeout" and header_of(said, "Retry-After") is None
    hasty.until(lambda: counted(hasty, "dragoman_connections_timed_out_total") > before[0])
    if sent:  # there was a request to count, too
        hasty.until(lambda: counted(hasty, SLOW) > before[1])


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
            with pytest.raises(BlockingIOError):  # they are still let be slow
                s.recv(1)
            s.close()


def test_connections_over_the_limit_get_503(hasty):
    def refused():  # on a machine that stalls, those that are held run into their time-out
        held = [hasty.connect() for _ in range(40)]
        try:
            with hasty.connect() as s:
                return read_all(s).startswith(b"HTTP/1.1 503 ")
        finally:
            for s in held:
                s.close()

    hasty.until(refused)
    hasty.until(lambda: hasty.get("/livez").status_code == 200)
    hasty.until(lambda: counted(hasty, "dragoman_connections_refused_total") > 0)


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


# Traces -----------------------------------------------------------------------------------------------------

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"  # the example of W3C's Trace Context


def test_a_trace_is_carried_through(models):
    with Server(models) as server:
        for reply in (server.post("/v1/translate", GOOD, headers={"traceparent": TRACE}),
                      server.post("/v1/translate", dict(GOOD, stream=True), headers={"traceparent": TRACE}),
                      server.get("/nowhere", headers={"traceparent": TRACE})):
            assert reply.headers["traceparent"] == TRACE
        server.until(lambda: server.logged("route=/v1/translate .*trace=4bf92f3577b34da6a3ce929d0e0e4736 "))
        assert "traceparent" not in server.post("/v1/translate", GOOD).headers
        server.until(lambda: server.logged("route=/v1/translate .*trace=- "))


@pytest.mark.parametrize("bad", [TRACE.upper(), TRACE[:-1], TRACE + "0", "ff" + TRACE[2:], "00-" + 32 * "0" + TRACE[35:],
                                 TRACE[:36] + 16 * "0" + TRACE[52:], TRACE.replace("4b", "4 "), "", "x" * 300])
def test_what_is_no_trace_is_passed_over(server, bad):
    reply = server.post("/v1/translate", GOOD, headers={"traceparent": bad})
    assert reply.status_code == 200 and "traceparent" not in reply.headers
