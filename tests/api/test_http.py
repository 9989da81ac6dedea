"""HTTP itself: methods, framing, limits. Raw sockets where a client library would help."""
import json
import re
import socket
import time

import pytest

from conftest import Server, http_post, read_all
from http_replies import GOOD, code_of, header_of, read_reply, status_of

GETS = ["/", "/livez", "/readyz", "/metrics", "/openapi.yaml", "/v1/models"]
POSTS = ["/v1/translate", "/v1/score"]


def request(server, method, path):
    """Sends a request by hand, because client libraries do not send every method."""
    return server.raw(("%s %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % (method, path)).encode())


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


def test_request_id(server):
    assert server.get("/livez", headers={"X-Request-Id": "abc-1.2:3/4+5=@"}).headers["X-Request-Id"] == "abc-1.2:3/4+5=@"
    made = {server.get("/livez").headers["X-Request-Id"] for _ in range(20)}
    assert len(made) == 20 and all(len(i) == 16 for i in made)
    for odd in ["a b", "a\"b", "x" * 129, ""]:
        assert server.get("/livez", headers={"X-Request-Id": odd}).headers["X-Request-Id"] != odd


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
    """The bytes that follow must not be taken for a second request. (The HTTP library sends its head twice when it refuses a length that is
    not a number; the connection ends all the same.)"""
    reply = server.raw(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + headers +
                       b"\r\n0\r\n\r\n" + SMUGGLED)
    assert set(re.findall(rb"HTTP/1\.1 (\d+)", reply)) == {b"400"} and b"not_found" not in reply
    assert header_of(reply, "Connection") == "close"


def test_transfer_encoding_in_http_1_0_is_refused(server):
    reply = server.raw(b"POST /v1/translate HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED)
    assert status_of(reply) == 400 and len(re.findall(rb"HTTP/1\.1 \d", reply)) == 1


def test_a_request_without_host_is_refused(server):
    assert status_of(server.raw(b"GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n")) == 400


def test_a_declared_length_over_the_limit_is_refused_before_the_body(server):
    reply = server.raw(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n")
    assert status_of(reply) == 413 and code_of(reply) == "too_large"
    assert json.loads(reply.split(b"\r\n\r\n", 1)[1])["error"]["field"] == "body"
    assert header_of(reply, "Connection") == "close"


def test_a_refused_upload_gets_its_answer(server):
    """The client keeps sending; closing at once would reset the connection and lose the answer."""
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


HEAD_MOST = 16384  # bytes of a request's line and headers together
USUAL = (b"Host: 127.0.0.1:8080\r\nUser-Agent: python-requests/2.31\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: close\r\n"
         b"Content-Length: %d\r\n")
STREAMED = json.dumps(dict(GOOD, stream=True)).encode()


@pytest.mark.parametrize("start,fill,end,body", [
    (b"POST /translate?source=en&target=de&format=text&q=", b"Two+dogs.+", b" HTTP/1.1\r\n" + USUAL % 0, b""),
    (b"GET /livez?", b"x", b" HTTP/1.1\r\n" + USUAL % 0, b""),
    (b"GET /livez HTTP/1.1\r\nX: ", b"x", b"\r\n" + USUAL % 0, b""),
    (b"POST /v1/translate HTTP/1.1\r\nContent-Type: application/json\r\nX: ", b"x", b"\r\n" + USUAL % len(STREAMED), STREAMED)],
    ids=["text in the query", "query", "header", "stream"])
def test_each_size_of_line_and_headers_is_answered(models, start, fill, end, body):
    """Up to the limit as usual; above it refused, and nothing is translated. Some sizes below were translated, then closed without an answer."""
    with Server(models, "--max-connections-per-address", "64", "--header-timeout", "300") as server:
        fixed = len(start) + len(end) + 2
        for n in [*range(HEAD_MOST - 2048, HEAD_MOST + 1024, 64), HEAD_MOST, HEAD_MOST + 1]:
            reply = server.raw(start + (fill * n)[:n - fixed] + end + b"\r\n" + body)
            assert reply and status_of(reply) == (200 if n <= HEAD_MOST else 431), (n, reply[:200])
            assert n <= HEAD_MOST or b"the limit is 16384" in reply
        assert not any("status=499" in line for line in server.log)


def test_a_long_cookie_is_answered(server):
    """The library keeps a second copy of it."""
    got = {status_of(server.raw(b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: a=" + b"x" * n + b"\r\n\r\n"))
           for n in range(10000, HEAD_MOST, 100)}
    assert got == {200, 431}


def test_a_refused_head_is_an_error_of_its_dialect_and_costs_nothing(server):
    before = server.metric("dragoman_source_tokens_total")
    reply = server.raw(b"POST /translate?source=en&target=de&q=" + b"Two+dogs.+" * 1640 + b" HTTP/1.1\r\n" + USUAL % 0 + b"\r\n")
    assert status_of(reply) == 431 and "send texts in the body" in json.loads(reply.split(b"\r\n\r\n", 1)[1])["error"]
    assert header_of(reply, "Connection") == "close" and header_of(reply, "Access-Control-Allow-Origin") == "*"
    assert server.metric("dragoman_source_tokens_total") == before


@pytest.mark.parametrize("data,status,route", [
    (b"GET /livez HTTP/1.1\r\n\r\n", 400, None), (http_post("/v1/translate", b"zz\r\n", "Transfer-Encoding: chunked").replace(b"Content-Length", b"X-Length"), 400, "/v1/translate"),
    (b"GET /livez HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20000 + b"\r\n\r\n", 431, None)], ids=["no Host", "chunk size", "long header"])
def test_what_the_library_refuses_is_counted_and_logged_as_that(server, data, status, route):
    """With its route, if its headers were read."""
    def counted(code):
        return server.metric("dragoman_http_requests_total", route=route or "other", code=str(code))
    before, gone, lines = counted(status), counted(499), len(server.log)
    assert status_of(server.raw(data)) == status
    server.until(lambda: counted(status) + counted(499) > before + gone)
    assert counted(status) == before + 1 and counted(499) == gone
    server.until(lambda: any("method=%s route=%s status=%d " % ("POST" if route else "-", route or "-", status) in line for line in server.log[lines:]))


def refusals(server):
    """Yields refusals that come before routing, or in place of the HTTP library's own."""
    yield server.raw(http_post("/v1/translate", b"{}", "Transfer-Encoding: chunked"))
    yield server.raw(http_post("/v1/translate", b"{}", "Content-Encoding: gzip"))
    yield server.raw(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000000\r\n\r\n")
    yield server.raw(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n" + b" " * 1100000)


def test_headers_for_browsers(server):
    """Every reply forbids a browser to guess its type, the library's refusals too; pages forbid frames and send no referrer."""
    for path in GETS + ["/docs", "/spec", "/web/none.js", "/nope"]:
        assert server.get(path).headers["X-Content-Type-Options"] == "nosniff", path
    for reply in (server.post("/v1/translate", GOOD), server.post("/v1/translate", {}), server.post("/translate", {}), server.post("/v2/translate", {}),
                  server.post("/v1/translate", dict(GOOD, stream=True)), server.get("/v1/translate")):
        assert reply.headers["X-Content-Type-Options"] == "nosniff", reply.text
    refused = list(refusals(server))
    assert [status_of(reply) for reply in refused] == [400, 415, 413, 413]
    assert all(header_of(reply, "X-Content-Type-Options") == "nosniff" for reply in refused), refused
    for path in ("/", "/status", "/docs", "/web/app.js"):
        headers = server.get(path, headers={"Accept": "text/html"}).headers
        assert headers["X-Frame-Options"] == "DENY" and headers["Referrer-Policy"] == "no-referrer", path
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


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
