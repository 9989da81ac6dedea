"""What all dialects have in common: refusals in each one's own shape, keys, limits, one translation of a text, one set of metrics."""
import json
import re
import subprocess

import pytest
import requests

from conftest import EN_DE, NARROW, PATIENCE, SERVER, Server, long_text
from test_keys import new_key
from http_replies import header_of, status_of

SMALL = 2000  # limit of a body in bytes


@pytest.fixture(scope="module")
def small(models):
    with Server(models, "--max-body-bytes", str(SMALL), "--max-characters", "100") as s:
        yield s


def libretranslate(body, status):
    return isinstance(body["error"], str) and set(body) == {"error"}


def deepl(body, status):
    return isinstance(body["message"], str) and set(body) == {"message"}


def google(body, status):
    (one,) = body["error"]["errors"]
    return body["error"]["code"] == status and one["message"] == body["error"]["message"] and set(one) == {"message", "domain", "reason"}


def deeplx(body, status):
    return body["code"] == status and isinstance(body["message"], str) and set(body) == {"code", "message"}


extension = libretranslate


def own(body, status):
    return isinstance(body["error"]["code"], str)


# (path, check of its error bodies, whether pages of other origins may read the errors)
PATHS = [("/translate", libretranslate, True), ("/v2/translate", deepl, False), ("/v1/translate", own, False),
         ("/language/translate/v2", google, True), ("/language/translate/v2/detect", google, True), ("/imme", extension, True),
         ("/kiss", extension, True), ("/hcfy", extension, True), ("/deeplx", deeplx, True)]


class Dialect:
    """How to ask a dialect for a translation from English to German, and where the answer is in the reply."""

    def __init__(self, name, path, shape, body, text, key, refusals):
        self.name, self.path, self.shape, self.body, self.text = name, path, shape, body, text
        self.key = key  # key -> (query, body, headers): where this dialect takes a key, besides the headers that all take
        self.missing, self.wrong = refusals  # statuses without a key, and with an unknown one

    def ask(self, server, text, key=None, **more):
        query, body, headers = self.key(key) if key else ("", {}, {})
        return server.post(self.path + query, {**self.body(text), **body}, headers={**headers, **more})


DIALECTS = [
    Dialect("v1", "/v1/translate", own, lambda t: {"text": t, "source": "en", "target": "de"}, lambda a: a["translations"][0]["text"],
            lambda k: ("", {}, {"X-API-Key": k}), (401, 401)),
    Dialect("libretranslate", "/translate", libretranslate, lambda t: {"q": t, "source": "en", "target": "de"}, lambda a: a["translatedText"],
            lambda k: ("", {"api_key": k}, {}), (400, 403)),
    Dialect("deepl", "/v2/translate", deepl, lambda t: {"text": [t], "source_lang": "EN", "target_lang": "DE"},
            lambda a: a["translations"][0]["text"], lambda k: ("", {}, {"Authorization": "DeepL-Auth-Key " + k}), (403, 403)),
    Dialect("google", "/language/translate/v2", google, lambda t: {"q": t, "source": "en", "target": "de", "format": "text"},
            lambda a: a["data"]["translations"][0]["translatedText"], lambda k: ("?key=" + k, {}, {}), (403, 400)),
    Dialect("imme", "/imme", extension, lambda t: {"text_list": [t], "source_lang": "en", "target_lang": "de"},
            lambda a: a["translations"][0]["text"], lambda k: ("?token=" + k, {}, {}), (401, 401)),
    Dialect("kiss", "/kiss", extension, lambda t: {"text": t, "from": "en", "to": "de"}, lambda a: a["text"],
            lambda k: ("?token=" + k, {}, {}), (401, 401)),
    Dialect("hcfy", "/hcfy", extension, lambda t: {"text": t, "source": "英语", "destination": ["德语"]}, lambda a: "\n".join(a["result"]),
            lambda k: ("?token=" + k, {}, {}), (401, 401)),
    Dialect("deeplx", "/deeplx", deeplx, lambda t: {"text": t, "source_lang": "EN", "target_lang": "DE"}, lambda a: a["data"],
            lambda k: ("?token=" + k, {}, {}), (401, 401)),
]
NAMES = [d.name for d in DIALECTS]
TEXTS = ["Two dogs play in the snow.", "A girl is smiling. A man, 5 years old & 100 %, \"runs\" <fast>.\n\n\tÇa: it's over!", "12", " ", "a\u200bé"]


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


@pytest.mark.parametrize("path, shape", [("/v2/rephrase", deepl), ("/v2/write/rephrase", deepl), ("/v3/style_rules", deepl),
                                         ("/language/translate/v3", google), ("/nothing", own), ("/v1/nothing", own)])
def test_paths_that_are_not_there(small, path, shape):
    reply = small.post(path, {})
    assert reply.status_code == 404 and shape(reply.json(), 404), reply.text


def test_a_dialect_that_is_off_has_no_paths(models):
    with Server(models, "--dialects", "libretranslate,kiss") as s:
        assert own(s.post("/v2/rephrase", {}).json(), 404) and own(s.post("/language/translate/v3", {}).json(), 404)
        spoken = [d.name for d in DIALECTS if d.ask(s, "Hello.").status_code == 200]
        assert spoken == ["v1", "libretranslate", "kiss"]


@pytest.mark.parametrize("given, word", [("deeepl", "deeepl"), ("deepl,", ""), ("imme, kiss", " kiss"), ("deepl,all", "all")])
def test_an_unknown_dialect_is_refused(models, given, word):
    bad = subprocess.run([SERVER, "--models", models, "--dialects", given], capture_output=True, text=True, timeout=PATIENCE)
    assert bad.returncode == 2 and 'dialects has "%s", expected %s, all or none' % (word, ", ".join(NAMES[1:])) in bad.stderr


def test_a_text_has_one_translation():
    """A text has the same translation in every dialect, alone and in an array."""
    with Server(EN_DE) as s:
        for text in TEXTS:
            answers = {d.name: d.text(d.ask(s, text).json()) for d in DIALECTS}
            assert len(set(answers.values())) == 1, answers
        many = [("/v1/translate", {"text": TEXTS, "source": "en", "target": "de"}, lambda a: [t["text"] for t in a["translations"]]),
                ("/translate", {"q": TEXTS, "source": "en", "target": "de"}, lambda a: a["translatedText"]),
                ("/v2/translate", {"text": TEXTS, "source_lang": "EN", "target_lang": "DE"}, lambda a: [t["text"] for t in a["translations"]]),
                ("/language/translate/v2", {"q": TEXTS, "source": "en", "target": "de", "format": "text"},
                 lambda a: [t["translatedText"] for t in a["data"]["translations"]]),
                ("/imme", {"text_list": TEXTS, "source_lang": "en", "target_lang": "de"}, lambda a: [t["text"] for t in a["translations"]]),
                ("/kiss", {"texts": TEXTS, "from": "en", "to": "de"}, lambda a: [t["text"] for t in a["translations"]])]
        alone = [DIALECTS[0].text(DIALECTS[0].ask(s, t).json()) for t in TEXTS]
        for path, body, texts in many:
            assert texts(s.post(path, body).json()) == alone, path


def test_html_has_one_translation():
    page = "<p>Two dogs play in the <b>snow</b>. A &amp; B</p>"
    asks = [("/v1/translate", {"text": page, "source": "en", "target": "de", "format": "html"}, lambda a: a["translations"][0]["text"]),
            ("/translate", {"q": page, "source": "en", "target": "de", "format": "html"}, lambda a: a["translatedText"]),
            ("/v2/translate", {"text": page, "source_lang": "en", "target_lang": "de", "tag_handling": "html"}, lambda a: a["translations"][0]["text"]),
            ("/language/translate/v2", {"q": page, "source": "en", "target": "de"}, lambda a: a["data"]["translations"][0]["translatedText"]),
            ("/deeplx", {"text": page, "source_lang": "en", "target_lang": "de", "tag_handling": "html"}, lambda a: a["data"])]
    with Server(EN_DE) as s:
        answers = {path: text(s.post(path, body).json()) for path, body, text in asks}
    assert len(set(answers.values())) == 1 and "<b>" in answers["/v1/translate"], answers


@pytest.fixture(scope="module")
def locked(models, tmp_path_factory):
    """A server with keys: a good one, one with only the admin scope, one with ten characters a day, for each dialect one with one request a
    minute."""
    path = str(tmp_path_factory.mktemp("keys") / "keys.db")
    keys = {"good": new_key(path), "admin": new_key(path, "--scope", "admin"), "poor": new_key(path, "--characters-per-day", "10"),
            **{d.name: new_key(path, "--requests-per-minute", "1") for d in DIALECTS}}
    with Server(models, "--keys", path) as s:
        s.keys = keys
        yield s


@pytest.mark.parametrize("d", DIALECTS, ids=NAMES)
def test_keys(locked, d):
    assert d.ask(locked, "Hello.", locked.keys["good"]).status_code == 200
    assert d.ask(locked, "Hello.", Authorization="Bearer " + locked.keys["good"]).status_code == 200
    assert d.ask(locked, "Hello.", **{"X-API-Key": locked.keys["good"]}).status_code == 200
    # Programs with a field for a key that is left empty, such as KISS Translator where the URL has the key.
    for empty in ({"Authorization": "Bearer "}, {"X-API-Key": ""}):
        if not empty.keys() & d.key("")[2].keys():
            reply = d.ask(locked, "Hello.", locked.keys["good"], **empty)
            assert reply.status_code == 200, (empty, reply.text)
        reply = d.ask(locked, "Hello.", **empty)
        assert reply.status_code == d.missing and d.shape(reply.json(), d.missing), (empty, reply.text)
    for reply, status in ((d.ask(locked, "Hello."), d.missing), (d.ask(locked, "Hello.", "dg_nobody"), d.wrong),
                          (d.ask(locked, "Hello.", locked.keys["admin"]), 403)):
        assert reply.status_code == status and d.shape(reply.json(), status), reply.text


@pytest.mark.parametrize("d", DIALECTS, ids=NAMES)
def test_limits_of_a_key(locked, d):
    """Requests of a minute: 429 with Retry-After. Characters of a day: DeepL says 456, Google 403, the others 429."""
    assert d.ask(locked, "Hello.", locked.keys[d.name]).status_code == 200
    reply = d.ask(locked, "Hello.", locked.keys[d.name])
    assert reply.status_code == 429 and d.shape(reply.json(), 429) and int(reply.headers["Retry-After"]) >= 1, reply.text
    reply = d.ask(locked, "Hello there.", locked.keys["poor"])
    status = {"deepl": 456, "google": 403}.get(d.name, 429)
    assert reply.status_code == status and d.shape(reply.json(), status), reply.text


@pytest.mark.parametrize("d", DIALECTS, ids=NAMES)
def test_what_is_too_much(small, d):
    status = 400 if d.name == "libretranslate" else 413
    with_limit = d.ask(small, "a" * 101)
    assert with_limit.status_code == status and d.shape(with_limit.json(), status) and "101" in with_limit.text


def test_all_share_one_queue(endless, busy):
    """While the queue is full, every dialect says 503 in its own shape, with Retry-After."""
    text = max(busy(60), long_text(60), key=len)
    with Server(endless, *NARROW, "--max-queue-tokens", "100") as s, s.held(text):  # larger than the bound, but taken because nothing waits
        for d in DIALECTS:
            reply = d.ask(s, text + " Again.")  # larger, too, and refused because the other waits
            assert reply.status_code == 503 and d.shape(reply.json(), 503) and int(reply.headers["Retry-After"]) >= 1, (d.name, reply.text)


def test_all_count_in_one_set_of_metrics(models):
    """dragoman_requests_total counts each dialect by name; sentences and characters count all dialects together."""
    with Server(models) as s:
        def counts(metric):
            return {labels: int(n) for labels, n in re.findall(r"^dragoman_%s{(.*)} (\d+)$" % metric, s.get("/metrics").text, re.M)}
        for d in DIALECTS:
            assert d.ask(s, "Hello.").status_code == 200 and d.ask(s, "Hello.\0").status_code == 400
        s.until(lambda: sum(counts("requests_total").values()) == 2 * len(DIALECTS))
        asked = counts("requests_total")
        assert {k: v for k, v in asked.items() if v} == {
            'dialect="%s",outcome="%s"' % (name, how): 1 for name in NAMES for how in ("ok", "invalid")}
        assert counts("sentences_total")['pair="en-de"'] == len(DIALECTS) and counts("characters_total")['pair="en-de"'] == 6 * len(DIALECTS)
