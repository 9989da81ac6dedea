"""Route, key, rate and size are checked before the body: strangers are refused at once, and cannot take the memory of clients with keys."""
import contextlib
import json
import select
import time

import pytest
import requests

from conftest import BUNDLES, PATIENCE, Server, http_post, read_all
from http_replies import GOOD, code_of, header_of, read_reply, status_of
from test_keys import add, bearer

MIB = 1 << 20
LARGE = f"Content-Length: {9 * MIB}"
CHUNKED = "Transfer-Encoding: chunked"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Returns the file and its keys by role: {role: key}."""
    path = tmp_path_factory.mktemp("keys") / "keys.db"
    return path, {"good": add(path)["key"], "admin": add(path, "--scope", "admin")["key"], "slow": add(path, "--requests-per-minute", "2")["key"]}


@pytest.fixture(scope="module")
def server(keys, tmp_path_factory):
    folder = tmp_path_factory.mktemp("early")
    with Server(BUNDLES, "--keys", str(keys[0]), "--documents", str(folder / "d.db"), "--collections", str(folder / "c.db"), "--body-timeout", "300") as s:
        yield s


def head(method, path, *headers, key=None):
    lines = [f"{method} {path} HTTP/1.1", "Host: a", "Content-Type: multipart/form-data; boundary=b", *headers, *([f"X-API-Key: {key}"] if key else []), "", ""]
    return "\r\n".join(lines).encode()


def at_once(server, request, seconds=20):
    """Sends headers without a body and returns the reply; b"": the server waits for the body."""
    with server.connect() as s:
        s.sendall(request)
        return read_all(s) if select.select([s], [], [], seconds)[0] else b""


@pytest.mark.parametrize("length", (LARGE, CHUNKED), ids=("length", "chunked"))
@pytest.mark.parametrize("method,path,key,status", [
    ("POST", "/v1/documents", None, 401), ("POST", "/v1/translate", "dg_wrong", 401), ("POST", "/v1/batch", "admin", 403), ("POST", "/v1/nothing", "good", 404),
    ("PUT", "/v1/translate", None, 405), ("PATCH", "/v1/glossaries/a", None, 401), ("PUT", "/v1/glossaries/a", "dg_wrong", 401), ("DELETE", "/v1/memories/a", "admin", 403),
    ("POST", "/v2/document", "dg_wrong", 403), ("POST", "/language/translate/v2", "dg_wrong", 400), ("POST", "/deeplx", None, 401)])
def test_refused_before_the_body(server, keys, method, path, key, status, length):
    reply = at_once(server, head(method, path, length, key=keys[1].get(key, key)))
    assert reply and status_of(reply) == status, reply[:300]
    assert header_of(reply, "Connection") == "close" and header_of(reply, "X-Request-Id")
    assert status != 401 or header_of(reply, "WWW-Authenticate") == 'Bearer realm="dragoman"'
    json.loads(reply.split(b"\r\n\r\n", 1)[1])


@pytest.mark.parametrize("method,path,most", [("POST", "/v1/documents", 10 * MIB), ("POST", "/v1/translate", MIB), ("PATCH", "/v1/glossaries/a", MIB), ("POST", "/translate", MIB)])
def test_a_length_over_the_limit(server, keys, method, path, most):
    reply = at_once(server, head(method, path, f"Content-Length: {most + 1}", key=keys[1]["good"]))
    assert reply and status_of(reply) == 413 and b"the limit is %d" % most in reply, reply[:300]


def test_expect_100_continue(server, keys):
    """A client that waits for 100 Continue gets the refusal instead, also for a small body."""
    body = json.dumps(GOOD).encode()
    for length in (9 * MIB, len(body)):
        reply = at_once(server, head("POST", "/v1/documents", f"Content-Length: {length}", "Expect: 100-continue"))
        assert reply and status_of(reply) == 401 and b"100 Continue" not in reply and header_of(reply, "Connection") == "close"
    with server.connect() as s:
        s.sendall(http_post("/v1/translate", GOOD, "Expect: 100-continue", "Connection: close", "X-API-Key: " + keys[1]["good"])[:-len(body)])
        assert s.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
        s.sendall(body)
        assert status_of(read_all(s)) == 200


def test_the_connection_goes_on_after_a_small_body(server, keys):
    """A request without a key, or to an unknown path, is refused without closing the connection."""
    right = "X-API-Key: " + keys[1]["good"]
    with server.connect() as s:
        for request, status in ((http_post("/v1/translate", GOOD), 401), (http_post("/v1/translate", GOOD, right), 200), (http_post("/v1/nothing", b"x" * 60000, right), 404),
                                (http_post("/v1/translate", GOOD, right), 200)):
            s.sendall(request)
            reply, rest = read_reply(s)
            assert status_of(reply) == status and rest == b"" and header_of(reply, "Connection") != "close"


def test_a_client_that_sends_its_body_all_the_same(server):
    """Its reply must not be lost by a reset."""
    for _ in range(5):
        with server.connect() as s:
            s.sendall(head("POST", "/v1/documents", LARGE))
            with contextlib.suppress(OSError):
                for _ in range(9):
                    s.sendall(bytes(MIB))
            reply = read_all(s)
        assert status_of(reply) == 401 and code_of(reply) == "unauthorized"


def test_a_client_that_sends_its_body_slowly(server):
    """It reads the reply when it has sent all, after six seconds: a reset would lose it."""
    with server.connect() as s:
        s.sendall(head("POST", "/v1/documents", LARGE))
        for _ in range(24):
            s.sendall(bytes(100000))
            time.sleep(0.25)
        reply = read_all(s)
    assert status_of(reply) == 401


def test_refused_requests_count_in_the_rate(server, keys):
    """Two a minute: a request that turns out too large is one."""
    over = head("POST", "/v1/translate", LARGE, key=keys[1]["slow"])
    assert [status_of(at_once(server, over)) for _ in range(3)] == [413, 413, 429]
    reply = at_once(server, head("POST", "/v1/documents", LARGE, key=keys[1]["slow"]))
    assert status_of(reply) == 429 and int(header_of(reply, "Retry-After")) > 10 and header_of(reply, "RateLimit").startswith('"requests";r=0;')


def test_strangers_leave_room(keys, tmp_path):
    """Bodies of requests without a key in their headers take no memory, or at most half of it on paths that accept a key in the body. Slow clients without a key could fill all of it."""
    most = 200000
    flags = ["--keys", str(keys[0]), "--documents", str(tmp_path / "d.db"), "--max-body-bytes", "10000", "--max-document-bytes", str(most), "--body-timeout", "300"]
    with Server(BUNDLES, *flags) as s, contextlib.ExitStack() as stack:
        for _ in range(4):
            c = stack.enter_context(s.connect())
            c.sendall(head("POST", "/v1/documents", f"Content-Length: {most}"))
            assert status_of(read_all(c)) == 401
        for _ in range(2):
            c = stack.enter_context(s.connect())
            c.sendall(head("POST", "/translate_file", f"Content-Length: {most}") + bytes(most - 1))
        more = head("POST", "/v2/document", "Content-Length: 1000")
        s.until(lambda: b" 503 " in at_once(s, more, 0.5))  # until all of it has arrived
        files = {"files": {"file": ("a.txt", "Two dogs. " * 900)}, "data": {"source": "en", "target": "de"}}
        for path, header in (("/v1/documents", bearer({"key": keys[1]["good"]})), ("/translate_file", {"X-API-Key": keys[1]["good"]})):
            reply = requests.post(s.url(path), headers=header, timeout=PATIENCE, **files)
            assert reply.status_code in (200, 201), reply.text


def test_a_key_in_the_body(server, keys):
    """Clients of LibreTranslate, DeepL and Google may send it there."""
    good, text = keys[1]["good"], "Two dogs."
    bodies = {"/translate": {"q": text, "source": "en", "target": "de", "api_key": good}, "/v2/translate": {"text": [text], "target_lang": "DE", "auth_key": good},
              "/language/translate/v2": {"q": text, "source": "en", "target": "de", "key": good}}
    wrong = {"/translate": ("api_key", 403), "/v2/translate": ("auth_key", 403), "/language/translate/v2": ("key", 400)}
    for path, body in bodies.items():
        assert server.post(path, body).status_code == 200, path
        name, status = wrong[path]
        assert server.post(path, {**body, name: "dg_wrong"}).status_code == status, path
