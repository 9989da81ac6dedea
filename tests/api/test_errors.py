"""Every way a request can be wrong: status, code and field."""
import json

import pytest
import requests

GOOD = {"text": "Hello.", "source": "en", "target": "de"}
SCORE = {"text": "Hello.", "translation": "Hallo.", "source": "en", "target": "de"}


def without(body, key):
    return {k: v for k, v in body.items() if k != key}


# (body, status, code, field); a dict is sent as JSON, bytes as they are
TRANSLATE = [
    (b"", 400, "invalid_json", "body"),
    (b"{", 400, "invalid_json", "body"),
    (b"nonsense", 400, "invalid_json", "body"),
    (b"[]", 400, "invalid_json", "body"),
    (b"null", 400, "invalid_json", "body"),
    (b'"text"', 400, "invalid_json", "body"),
    (json.dumps(GOOD).encode() + b"x", 400, "invalid_json", "body"),
    (b'{"text":"a","text":"b","source":"en","target":"de"}', 400, "invalid_json", "body"),
    (b'{"text":"\xff","source":"en","target":"de"}', 400, "invalid_json", "body"),
    (b'{"text":"\xed\xa0\x80","source":"en","target":"de"}', 400, "invalid_json", "body"),
    (b'{"text":"\\ud800","source":"en","target":"de"}', 400, "invalid_json", "body"),
    (b"[" * 10000, 400, "invalid_json", "body"),
    (json.dumps(GOOD).encode("utf-16"), 400, "invalid_json", "body"),
    (dict(GOOD, text="a\0b"), 400, "invalid_request", "text"),
    (dict(GOOD, text=["ok", "a\0b"]), 400, "invalid_request", "text"),
    (without(GOOD, "text"), 400, "invalid_request", "text"),
    (without(GOOD, "source"), 400, "invalid_request", "source"),
    (without(GOOD, "target"), 400, "invalid_request", "target"),
    (dict(GOOD, text=None), 400, "invalid_request", "text"),
    (dict(GOOD, text=7), 400, "invalid_request", "text"),
    (dict(GOOD, text={"a": "b"}), 400, "invalid_request", "text"),
    (dict(GOOD, text=[]), 400, "invalid_request", "text"),
    (dict(GOOD, text=["a", 7]), 400, "invalid_request", "text"),
    (dict(GOOD, text=[["a"]]), 400, "invalid_request", "text"),
    (dict(GOOD, source=7), 400, "invalid_request", "source"),
    (dict(GOOD, source=""), 400, "invalid_request", "source"),
    (dict(GOOD, source="en\0"), 400, "invalid_request", "source"),
    (dict(GOOD, target=None), 400, "invalid_request", "target"),
    (dict(GOOD, source="zz"), 400, "unsupported_language", "source"),
    (dict(GOOD, source="e" * 5000), 400, "unsupported_language", "source"),
    (dict(GOOD, target="fr"), 400, "unsupported_language", "target"),
    (dict(GOOD, target="zz"), 400, "unsupported_language", "target"),
    (dict(GOOD, beam_size=0), 400, "invalid_request", "beam_size"),
    (dict(GOOD, beam_size=33), 400, "invalid_request", "beam_size"),
    (dict(GOOD, beam_size=-1), 400, "invalid_request", "beam_size"),
    (dict(GOOD, beam_size=2.5), 400, "invalid_request", "beam_size"),
    (dict(GOOD, beam_size="4"), 400, "invalid_request", "beam_size"),
    (dict(GOOD, beam_size=True), 400, "invalid_request", "beam_size"),
    (dict(GOOD, beam_size=None), 400, "invalid_request", "beam_size"),
    (dict(GOOD, beam_size=10 ** 30), 400, None, None),
    (dict(GOOD, n_best=0), 400, "invalid_request", "n_best"),
    (dict(GOOD, n_best=5, beam_size=4), 400, "invalid_request", "n_best"),
    (dict(GOOD, n_best=32), 400, "invalid_request", "n_best"),
    (dict(GOOD, length_penalty=-1), 400, "invalid_request", "length_penalty"),
    (dict(GOOD, length_penalty=11), 400, "invalid_request", "length_penalty"),
    (dict(GOOD, length_penalty="1"), 400, "invalid_request", "length_penalty"),
    (dict(GOOD, scores=1), 400, "invalid_request", "scores"),
    (dict(GOOD, stream=1), 400, "invalid_request", "stream"),
    (dict(GOOD, priority="soon"), 400, "invalid_request", "priority"),
    (dict(GOOD, priority=True), 400, "invalid_request", "priority"),
    (dict(GOOD, scores="yes"), 400, "invalid_request", "scores"),
    (dict(GOOD, timeout_ms=0), 400, "invalid_request", "timeout_ms"),
    (dict(GOOD, timeout_ms="1"), 400, "invalid_request", "timeout_ms"),
    (dict(GOOD, format="docx"), 400, "invalid_request", "format"),
    (dict(GOOD, Text="x"), 400, "invalid_request", "Text"),
    (dict(GOOD, text="a" * 200001), 413, "too_large", "text"),
    (dict(GOOD, text=["é" * 60000, "a" * 140001]), 413, "too_large", "text"),
    (dict(GOOD, text=["a"] * 129), 413, "too_large", "text"),
]

SCORES = [
    (b"{}", 400, "invalid_request", "text"),
    (without(SCORE, "translation"), 400, "invalid_request", "translation"),
    (without(SCORE, "target"), 400, "invalid_request", "target"),
    (without(SCORE, "source"), 400, "invalid_request", "source"),
    (dict(SCORE, target=1), 400, "invalid_request", "target"),
    (dict(SCORE, text=["a", "b"]), 400, "invalid_request", "translation"),
    (dict(SCORE, source="zz"), 400, "unsupported_language", "source"),
    (dict(SCORE, target="zz"), 400, "unsupported_language", "target"),
    (dict(SCORE, source_lang="en"), 400, "invalid_request", "source_lang"),
    (dict(SCORE, text="word " * 1000), 413, "too_large", "text"),
    (dict(SCORE, translation="word " * 1990), 413, "too_large", "translation"),
    (dict(SCORE, text="a" * 6000, translation="a" * 6000), 413, "too_large", "text"),
]


def check(reply, status, code, field):
    assert reply.status_code == status, reply.text
    error = reply.json()["error"]
    assert set(error) <= {"code", "message", "field"} and error["message"]
    assert code is None or error["code"] == code
    assert field is None or error.get("field") == field
    assert reply.headers["X-Request-Id"]


def send(server, path, body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return requests.post(server.url(path), data=data, headers={"Content-Type": "application/json"}, timeout=60)


@pytest.mark.parametrize("body, status, code, field", TRANSLATE, ids=lambda v: str(v)[:50])
def test_translate(server, body, status, code, field):
    check(send(server, "/v1/translate", body), status, code, field)


@pytest.mark.parametrize("body, status, code, field", SCORES, ids=lambda v: str(v)[:50])
def test_score(server, body, status, code, field):
    check(send(server, "/v1/score", body), status, code, field)


@pytest.mark.parametrize("body", [GOOD, dict(GOOD, text="a" * 200000), dict(GOOD, text=["a"] * 64),
                                  dict(GOOD, beam_size=4.0), dict(GOOD, timeout_ms=86400000)],
                         ids=lambda v: str(v)[:50])
def test_at_the_limit_is_fine(server, body):
    assert send(server, "/v1/translate", body).status_code == 200


@pytest.mark.parametrize("letter", ["\u3042", "\U0001F600", "\u00e4"])
@pytest.mark.parametrize("key", ["target", "source", "priority", "format"])
def test_what_is_quoted_may_be_cut_anywhere(server, key, letter):
    """A message quotes the beginning of the input without cutting a character in half."""
    for ascii in range(4):
        error = server.post("/v1/translate", dict(GOOD, **{key: "a" * ascii + letter * 40})).json()["error"]
        assert letter * 3 in error["message"] and error["field"] == key
    error = server.post("/v1/translate", dict(GOOD, **{letter * 40: 1})).json()["error"]
    assert letter in error["message"] and letter in error["field"]


def test_too_large_says_size_and_limit(server):
    message = server.translate("a" * 200001).json()["error"]["message"]
    assert "200001" in message and "200000" in message


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"])
def test_content_type(server, kind):
    headers = {"Content-Type": kind} if kind else {}
    reply = requests.post(server.url("/v1/translate"), data=json.dumps(GOOD).encode(), headers=headers, timeout=60)
    check(reply, 415, "unsupported_media_type", "Content-Type")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", "application/json; charset=utf-8"])
def test_content_type_accepted(server, kind):
    reply = requests.post(server.url("/v1/translate"), data=json.dumps(GOOD).encode(), headers={"Content-Type": kind},
                          timeout=60)
    assert reply.status_code == 200


@pytest.mark.parametrize("value", ["", "x", "-1", "0", "0.0009", "1s", "nan", "inf"])
def test_bad_timeout_header(server, value):
    for body in (GOOD, dict(GOOD, timeout_ms=60000)):  # a bad header is refused even beside a good timeout_ms
        reply = server.post("/v1/translate", body, headers={"X-Request-Timeout": value})
        check(reply, 400, "invalid_request", "X-Request-Timeout")


def test_no_text_in_the_log(server):
    server.translate("A very secret sentence.")
    server.translate("Secretly broken.", beam_size="x")
    assert not server.logged("(?i)secret")
