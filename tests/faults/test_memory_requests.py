"""Each allocation of a request fails once, then the request is sent again: the server survives, refusals have a message, the next answer is
right, and its gauges are back at rest.

FAULTS_STEPS: how many places of each kind of request are tried (a few of them); `make faults` tries all."""
import collections
import contextlib
import gc
import json
import os
import random
import re
import sqlite3
import sys
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]

from conftest import PATIENCE, Local, models, sanitized  # noqa: E402,F401  (models: a fixture)
from faults import control  # noqa: E402,F401  (control: a fixture)
from test_keys import add  # noqa: E402

STEPS = int(os.environ.get("FAULTS_STEPS", "2"))  # 0: all
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has an allocator of its own")
PAIR = {"source": "en", "target": "de"}
TEXT = "The dog plays in the snow. It is cold today."
HTML = '<p>Hello <b>dear</b> &amp; old. <a href="x">Go</a></p>'
MARKDOWN = "# Title\n\nHello **dear** [reader](http://a.b/c).\n\n- one *two*\n"
ITEMS = {"items": [dict(text="A dog.", **PAIR), dict(text="A house.", source="en", target="fr"), dict(text="A dog.", source="en", target="xx")]}
ENTRIES = [{"source": "en", "target": "de", "entries": {"dog": "Hund", TEXT: "Der Hund."}}]
ONLY = os.environ.get("FAULTS_ONLY", "")
DRAIN_SECONDS = 10
SETTLE_SECONDS = 5


class Failed(Exception):
    """A reply that is no answer."""


class Client:
    """Sends requests with a key; notes which were refused."""

    def __init__(self, server, key, documents):
        self.server, self.headers, self.documents = server, {"Authorization": "Bearer " + key}, documents
        self.bad = []
        self.refused = set()  # (method, path) of refusals that had a message
        self.n_documents = 0  # documents stored before the request

    def send(self, method, path, body=None, **more):
        """Returns the reply; raises Failed if there is none or its status is 500 or more."""
        if body is not None:
            more["json"] = body
        more["headers"] = {**self.headers, **more.get("headers", {})}
        try:
            reply = requests.request(method, self.server.url(path), timeout=PATIENCE, **more)
        except requests.RequestException as e:
            raise Failed("closed") from e
        if reply.status_code >= 500:
            self.check_refusal(reply)
            self.refused.add((method, path))
            raise Failed(str(reply.status_code))
        return reply

    def stored(self):
        """Returns how many documents the server keeps."""
        with contextlib.closing(sqlite3.connect(self.documents, timeout=PATIENCE)) as db:
            return db.execute("SELECT count(*) FROM documents").fetchone()[0]

    def tidy(self):
        """Removes what a request left that failed between making and removing it; reports what was refused, but stored."""
        for path in ("/v1/glossaries", "/v1/memories"):
            for left in next(iter(self.send("GET", path).json().values())):
                if ("POST", path) in self.refused:
                    self.bad.append("refused, and kept: %s" % left)
                assert self.send("DELETE", path + "/" + left["id"]).status_code == 204
        if self.refused & {("POST", "/v1/documents"), ("POST", "/v2/document")} and self.stored() > self.n_documents:
            self.bad.append("refused, and kept: a document")
        self.refused.clear()

    def check_refusal(self, reply):
        said = reply.text
        if not re.search("memory", said, re.I) or not reply.headers.get("X-Request-Id") or reply.status_code not in (500, 503):
            self.bad.append("%d %s %s" % (reply.status_code, said, dict(reply.headers)))

    def post(self, path, body, **more):
        return said(self.send("POST", path, body, **more))


def said(reply):
    """Returns a reply's status and its text without what differs each time."""
    text = re.sub(r'"(\w*ms|\w*seconds|id|created|updated|\w+_id|\w+_key|creation_time|updated_time|character_count)": ?("[^"]*"|[^,}\]]*)', "", reply.text)
    return reply.status_code, text


def in_turn(*steps):
    return lambda c: [c.post(path, body) for path, body in steps]


def text(c):
    return c.post("/v1/translate", dict(text=TEXT, alignments=True, scores=True, n_best=2, **PAIR))


def stream(c):
    """Sentences come in the order in which they finish, with their place in the whole only once it is known: the events are sorted, and the
    place removed."""
    reply = c.send("POST", "/v1/translate", dict(text=TEXT, stream=True, **PAIR))
    found = [block.split("\n") for block in said(reply)[1].split("\n\n") if block]
    if any(block[0] == "event: error" for block in found):
        if "memory" not in reply.text:
            c.bad.append(reply.text)
        raise Failed("error event")
    return reply.status_code, sorted(block[0] + (re.sub(r'"target":\[[^]]*\],', "", block[1]) if "sentence" in block[0] else block[1]) for block in found)


def items(c, reply, found):
    """Checks a batch, each of whose items may be refused separately."""
    failed = [i for i in found if i.get("error", {}).get("code") == "overloaded"]
    if not all(re.search("memory", i["error"]["message"], re.I) for i in failed):
        c.bad.append(str(found))
    if failed:
        raise Failed("item")
    return reply.status_code, sorted(json.dumps({k: v for k, v in i.items() if k != "id"}, sort_keys=True) for i in found)


def batch(c):
    reply = c.send("POST", "/v1/batch", ITEMS)
    return items(c, reply, reply.json()["items"])


def lines(c):
    reply = c.send("POST", "/v1/batch", ITEMS, headers={"Accept": "application/x-ndjson"})
    return items(c, reply, [json.loads(line) for line in reply.text.splitlines()])


def kept(path, use):
    """Returns a request that makes, uses, reads, changes and removes a collection; removes it also if a step between fails."""
    def run(c):
        made = c.send("POST", path, {"name": "words", "dictionaries": ENTRIES})
        at = path + "/" + made.json()["id"]
        try:
            return [said(made), use(c, made.json()["id"]), said(c.send("GET", at)), said(c.send("GET", at + "/entries")),
                    said(c.send("PATCH", at, {"name": "other", "dictionaries": [{"source": "en", "target": "de", "entries": {"snow": "Regen"}}]})),
                    said(c.send("GET", path))]
        finally:
            removed = c.send("DELETE", at)
            assert removed.status_code == 204, removed.text
    return run


def with_glossary(c, id):
    return [c.post("/v1/translate", dict(text=TEXT, glossary=id, **PAIR)),
            c.post("/v2/translate", dict(text=[TEXT], source_lang="EN", target_lang="DE", glossary_id=id))]


def with_memory(c, _):
    return text(c)


def wait_for(c, status, done):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        now = status().json()
        if now["status"] in done:
            return now
        time.sleep(0.002)
    raise AssertionError(now)


def finish(c, id, status, result):
    """Waits for a document, reads it, and removes it, also after a failure: each one left makes SQLite keep another page of its file."""
    try:
        now = wait_for(c, status, ("done", "failed", "error"))
        if now["status"] != "done":
            if "memory" not in str(now):
                c.bad.append(str(now))
            raise Failed("document")
        return said(result())
    finally:
        try:
            c.send("DELETE", "/v1/documents/" + id)
        except Failed:
            c.send("DELETE", "/v1/documents/" + id)  # a call fails only once
            raise


def document(c):
    made = c.send("POST", "/v1/documents", files={"file": ("a.html", HTML)}, data=PAIR)
    if made.status_code != 201:
        return said(made)
    at = "/v1/documents/" + made.json()["id"]
    return said(made), finish(c, made.json()["id"], lambda: c.send("GET", at), lambda: c.send("GET", at + "/result"))


def deepl_document(c):
    made = c.send("POST", "/v2/document", files={"file": ("a.txt", TEXT)}, data={"source_lang": "EN", "target_lang": "DE"})
    if made.status_code != 200:
        c.bad.append(made.text)
        raise Failed(str(made.status_code))
    key = made.json()
    at, secret = "/v2/document/" + key["document_id"], {"document_key": key["document_key"]}
    return finish(c, key["document_id"], lambda: c.send("POST", at, secret), lambda: c.send("POST", at + "/result", secret))


REQUESTS = {
    "text": text,
    "long": in_turn(("/v1/translate", dict(text=[TEXT] * 3 + ["Once more. " * 60], **PAIR))),
    "markdown": in_turn(("/v1/translate", dict(text=MARKDOWN, format="markdown", **PAIR))),
    "html": in_turn(("/v1/translate", dict(text=HTML, format="html", **PAIR))),
    "options": in_turn(("/v1/translate", dict(text="Hello dog, my.name@a.b.", glossary={"dog": "Hund"}, beam_size=2, **PAIR))),
    "pivot": in_turn(("/v1/translate", dict(text=TEXT, source="en", target="fr", alignments=True))),
    "stream": stream,
    "batch": batch,
    "lines": lines,
    "alternatives": in_turn(("/v1/alternatives", dict(text=TEXT, target_prefix="Der ", **PAIR))),
    "score": in_turn(("/v1/score", dict(text=TEXT, translation="Der Hund.", **PAIR))),
    "attention": in_turn(("/v1/attention", dict(text="A dog.", translation="Ein Hund.", kind="cross", **PAIR))),
    "detect": in_turn(("/v1/detect", dict(text="Wo ist der Hund?"))),
    "refused": in_turn(("/v1/translate", dict(text=3)), ("/v1/nothing", {}), ("/v1/translate", dict(text="A", source="xx", target="yy"))),
    "libretranslate": in_turn(("/translate", dict(q=[TEXT, "A dog."], **PAIR)), ("/translate", dict(q=HTML, source="auto", target="de", format="html")),
                              ("/detect", dict(q="Wo ist der Hund?")), ("/suggest", dict(q="A dog.", s="Ein Hund.", **PAIR))),
    "deepl": in_turn(("/v2/translate", dict(text=[TEXT, "A <x>dog</x>."], source_lang="EN", target_lang="DE", tag_handling="xml", ignore_tags=["x"])),
                     ("/v2/usage", {}), ("/v2/languages", {})),
    "google": in_turn(("/language/translate/v2", dict(q=[TEXT], **PAIR))),
    "others": in_turn(("/imme", {"source_lang": "en", "target_lang": "de", "text_list": ["A dog."]}), ("/deeplx", {"text": "A dog.", "source_lang": "EN", "target_lang": "DE"})),
    "document": document,
    "deepl document": deepl_document,
    "pages": lambda c: [c.send("GET", p).status_code for p in ("/", "/livez", "/readyz", "/metrics", "/v1/models", "/v1/languages", "/v1/usage", "/languages", "/docs", "/openapi.yaml", "/spec", "/status")],
    "another key": lambda c: said(c.send("POST", "/v1/translate", PAIR, headers={"Authorization": "Bearer dg_nobody"})),
    "glossary": kept("/v1/glossaries", with_glossary),
    "memory": kept("/v1/memories", with_memory),
}
GAUGES = {"dragoman_http_requests_in_flight": 1, "dragoman_connections_open": 1, "dragoman_queue_depth": 0, "dragoman_queue_tokens": 0,
          "dragoman_live_sentences": 0, "dragoman_batches_under_way": 0, "dragoman_workers_busy": 0,
          "dragoman_text_memory_bytes": 0}


def figures(server):
    found = dict(re.findall(r"^(dragoman_\w+)(?:\{\})? (\S+)$", server.get("/metrics").text, re.M))
    return {k: float(found[k]) for k in GAUGES}


def settle(server):
    """Waits a few seconds until nothing is in progress; first closes what a failed request left open in this process."""
    gc.collect()
    end = time.monotonic() + SETTLE_SECONDS
    while (now := figures(server)) != GAUGES:
        assert time.monotonic() < end, "%s\n%s" % ({k: v for k, v in now.items() if v != GAUGES[k]}, "".join(server.log[-60:]))
        time.sleep(0.02)


@contextlib.contextmanager
def serving(models, control, folder, *flags):  # noqa: F811
    """A server with all features; at the end nothing is in progress, and SIGTERM ends it in time."""
    key = add(folder / "keys.db")["key"]
    server = Local(models, "--keys", str(folder / "keys.db"), "--collections", str(folder / "c.db"), "--documents", str(folder / "d.db"),
                   "--suggestions", str(folder / "s.db"), "--pivot", "de", "--cache-bytes", "0", *flags,
                   env=control.env())
    with server:
        yield Client(server, key, folder / "d.db")
        settle(server)
        begin = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - begin < DRAIN_SECONDS, "SIGTERM took %.1f s" % (time.monotonic() - begin)


def chosen(places, name):
    """Returns (place, calls to skip): each place's first call, and for places called often one in the middle; all of these, or STEPS."""
    every = [(p, 0) for p, _, _ in places] + [(p, n // 2) for p, _, n in places if n > 2]
    return every if not STEPS or STEPS > len(every) else random.Random(name).sample(every, STEPS)


def ask(client, request):
    """Returns (answer, None), or (None, how it failed)."""
    try:
        return request(client), None
    except Failed as e:
        return None, str(e)


def one(client, control, request, want, place, skip):
    """Makes the request fail at one place. Returns how that went, and what was wrong."""
    server, wrong = client.server, []
    begin = len(server.log)
    client.bad = []
    client.n_documents = client.stored()
    control.trace = 1
    control.fail_place(place, skip=skip)
    try:
        got, how = ask(client, request)
        failed = control.quiet()
    finally:
        control.quiet()
        control.trace = 0
    if server.process.poll() is not None:
        raise AssertionError("the server ended:\n" + "".join(server.log[begin:]))
    wrong += ["unclear: " + b for b in client.bad]
    if how is None and got != want:
        wrong.append("wrong: %s\nwant: %s" % (got, want))
    way = "not reached" if failed == 0 else how or "answered"
    client.bad = []
    client.tidy()
    wrong += client.bad
    got, how = ask(client, request)
    if got != want:
        wrong.append("afterwards: %s %s\nwant: %s" % (how, got, want))
    return way, [w + "\n" + "".join(server.log[begin:])[:5000] for w in wrong]


def test_requests(models, control, tmp_path):  # noqa: F811
    ways, wrong, grown = {}, [], {}
    with serving(models, control, tmp_path) as client:
        for name, request in ((n, r) for n, r in REQUESTS.items() if re.search(ONLY, n)):
            for _ in range(3):
                want, how = ask(client, request)
                assert how is None, "%s: %s %s" % (name, how, client.bad)
            control.forget_places()
            control.record = 1
            assert ask(client, request)[0] == want, name
            control.record = 0
            places = control.places()
            assert len(places) > 20
            ways[name] = collections.Counter(places=len(places))
            for n, (place, skip) in enumerate(chosen(places, name)):
                if n == 30:
                    time.sleep(0.2)
                    live = control.live
                way, bad = one(client, control, request, want, place, skip)
                ways[name][way] += 1
                wrong += [name + ": " + b for b in bad]
            if n > 60:
                time.sleep(0.2)
                grown[name] = (control.live - live, n - 30)
            settle(client.server)
            print(name, dict(ways[name]), grown.get(name), flush=True)
    assert not wrong, "%s:\n%s" % (collections.Counter(w.split(":")[0] for w in wrong), "\n".join(wrong[:12]))
    assert not {k: g for k, g in grown.items() if g[0] > 60}
