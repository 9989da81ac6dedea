"""Compressed replies (gzip, zstd): only if the client accepts them and they are smaller; decoded, they equal the plain reply."""
import ctypes
import os
import re
import zlib

import pytest
import requests

from conftest import PATIENCE, ROOT, Server
from http_replies import read_reply

LONG = {"text": ["A dog and a cat number %d." % i for i in range(40)], "source": "en", "target": "de"}
PAGES = ["/openapi.yaml", "/docs", "/spec", "/web/app.js", "/web/style.css", "/metrics", "/status"]


def raw(server, method, path, accept, body=None):
    """Returns status, headers (names in lower case) and the body's bytes before decoding."""
    headers = {"Accept-Encoding": accept, "Connection": "close"}
    with requests.request(method, server.url(path), json=body, headers=headers, stream=True, timeout=PATIENCE) as reply:
        return reply.status_code, {k.lower(): v for k, v in reply.headers.items()}, reply.raw.read(decode_content=False)


def unzstd(data, most=1 << 24):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(most)
    n = library.ZSTD_decompress(out, ctypes.c_size_t(most), data, ctypes.c_size_t(len(data)))
    assert not library.ZSTD_isError(ctypes.c_size_t(n))
    return out.raw[:n]


DECODE = {None: bytes, "gzip": lambda data: zlib.decompress(data, 31), "zstd": unzstd}


@pytest.mark.parametrize("accept, coding", [("", None), ("identity", None), ("gzip", "gzip"), ("gzip, deflate, br, zstd", "zstd"),
                                            ("zstd;q=0.4, gzip;q=0.8", "gzip"), ("br", None), ("gzip;q=0", None), ("*", "zstd")])
def test_the_answer_is_the_same(server, accept, coding):
    plain = server.post("/v1/translate", LONG).content
    status, headers, data = raw(server, "POST", "/v1/translate", accept, LONG)
    assert status == 200 and headers.get("content-encoding") == coding and headers["vary"] == "Accept-Encoding"
    assert int(headers["content-length"]) == len(data)
    assert DECODE[coding](data) == plain
    if coding:
        assert len(data) < len(plain) / 3


def test_the_document_has_the_sizes(server):
    """docs/operations.md has those of the API's description, in kilobytes."""
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as f:
        said = re.search(r"`/openapi.yaml` takes\s+(\d+) KB \(gzip\)\s+or\s+(\d+) KB \(zstd\)\s+instead\s+of\s+(\d+)", f.read()).groups()
    real = [len(raw(server, "GET", "/openapi.yaml", coding)[2]) for coding in ("gzip", "zstd", "identity")]
    assert all(abs(int(a) - b / 1000) <= 0.1 * int(a) for a, b in zip(said, real)), (said, real)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_pages(server, path, coding):
    plain = raw(server, "GET", path, "identity")
    status, headers, data = raw(server, "GET", path, coding)
    assert status == 200 and plain[1]["content-type"] == headers["content-type"]
    assert "Accept-Encoding" in headers["vary"] and "Accept-Encoding" in plain[1]["vary"]
    assert headers["content-encoding"] == coding and "content-encoding" not in plain[1]
    if path not in ("/metrics",):  # its numbers change each time
        assert DECODE[coding](data) == plain[2]
    status, head, nothing = raw(server, "HEAD", path, coding)
    assert status == 200 and nothing == b"" and head["content-encoding"] == coding and head["vary"] == headers["vary"]
    if path not in ("/metrics",):
        assert head["content-length"] == headers["content-length"]


def test_small_replies_and_errors(server):
    for method, path, body in (("GET", "/livez", None), ("GET", "/v1/models", None), ("POST", "/v1/translate", {}), ("GET", "/nothing", None)):
        _, headers, data = raw(server, method, path, "gzip, zstd", body)
        assert len(data) < 1024 and "content-encoding" not in headers and "vary" not in headers


def test_streams_are_sent_as_they_come(server):
    for path, body in (("/v1/translate", dict(LONG, text="\n".join(LONG["text"]), stream=True)),):
        _, headers, data = raw(server, "POST", path, "gzip, zstd", body)
        assert "content-encoding" not in headers and data.startswith(b"event: ")
    items = [dict(LONG, text=text) for text in LONG["text"]]
    reply = requests.post(server.url("/v1/batch"), json={"items": items}, timeout=PATIENCE,
                          headers={"Accept": "application/x-ndjson", "Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in reply.headers and len(reply.text.splitlines()) == len(items)


def test_connections_go_on(server):
    """Two replies on one connection each have their own coding."""
    with server.connect() as s:
        ask = b"GET /openapi.yaml HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n\r\n"
        s.sendall(ask % b"gzip" + ask % b"identity")
        first, rest = read_reply(s)
        second, rest = read_reply(s, rest)
    (one, coded), (two, plain) = first.split(b"\r\n\r\n", 1), second.split(b"\r\n\r\n", 1)
    assert rest == b"" and b"Content-Encoding: gzip" in one and b"Content-Encoding" not in two
    assert zlib.decompress(coded, 31) == plain


def seconds_of(server, coding):
    """Returns the CPU time of a hundred downloads."""
    before = server.cpu_seconds()
    for _ in range(100):
        assert raw(server, "GET", "/openapi.yaml", coding)[0] == 200
    return server.cpu_seconds() - before


def test_pages_are_compressed_once(models):
    """Anybody may ask for them, and each reply cost 2 ms of the threads that serve everybody."""
    with Server(models) as server:
        plain = seconds_of(server, "identity")
        for coding in ("gzip", "zstd"):
            assert seconds_of(server, coding) < 2 * plain + 0.03
