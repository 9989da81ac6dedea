"""Every dialect answers what never reaches its handlers in its own shape, and with what its pages need."""
import json

import pytest
import requests

from conftest import PATIENCE, Server
from http_replies import header_of, status_of

SMALL = 2000  # bytes of a body


@pytest.fixture(scope="module")
def small(models):
    with Server(models, "--max-body-bytes", str(SMALL)) as s:
        yield s


def libretranslate(body, status):
    return isinstance(body["error"], str) and set(body) == {"error"}


def deepl(body, status):
    return isinstance(body["message"], str) and set(body) == {"message"}


def own(body, status):
    return isinstance(body["error"]["code"], str)


# path, what its errors look like, whether pages elsewhere may read them
PATHS = [("/translate", libretranslate, True), ("/v2/translate", deepl, False), ("/v1/translate", own, False)]


def head(path, *lines):
    return "\r\n".join(["POST %s HTTP/1.1" % path, "Host: test", "Content-Type: application/json", *lines, "", ""]).encode()


def check(data, status, shape, pages):
    assert status_of(data) == status, data
    assert shape(json.loads(data.split(b"\r\n\r\n", 1)[1]), status), data
    assert header_of(data, "Access-Control-Allow-Origin") == ("*" if pages else None), data
    assert header_of(data, "X-Request-Id")


@pytest.mark.parametrize("path, shape, pages", PATHS)
def test_refusals_before_the_handler(small, path, shape, pages):
    check(small.raw(head(path, "Content-Length: %d" % (SMALL + 1))), 413, shape, pages)
    chunks = b"".join(b"%x\r\n%s\r\n" % (500, b"a" * 500) for _ in range(SMALL // 500 + 1))
    check(small.raw(head(path, "Transfer-Encoding: chunked") + chunks), 413, shape, pages)
    check(small.raw(head(path, "Content-Length: 2", "Content-Encoding: br") + b"{}"), 415, shape, pages)
    check(small.raw(head(path, "Content-Length: 2", "Content-Length: 3") + b"{}"), 400, shape, pages)


@pytest.mark.parametrize("path, shape, pages", PATHS)
def test_other_methods(small, path, shape, pages):
    reply = requests.delete(small.url(path), timeout=PATIENCE)
    assert reply.status_code == 405 and "POST" in reply.headers["Allow"] and shape(reply.json(), 405)


@pytest.mark.parametrize("path, shape", [("/v2/rephrase", deepl), ("/v2/write/rephrase", deepl), ("/nothing", own), ("/v1/nothing", own)])
def test_paths_that_are_not_there(small, path, shape):
    reply = small.post(path, {})
    assert reply.status_code == 404 and shape(reply.json(), 404), reply.text


def test_a_dialect_that_is_off_has_no_paths(models):
    with Server(models, "--dialects", "libretranslate") as s:
        assert own(s.post("/v2/rephrase", {}).json(), 404)
