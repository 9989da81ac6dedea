"""The wall clock is set by hours and by years, forward and back, under a server and a training run: what is measured in seconds (deadlines,
rates, ages) is not affected, dates (the day's characters, a key's expiry) follow it, and no stored data is lost.

CLOCK_MINUTES: also watches a document over two checks for expired ones, which are a minute apart (`make faults-clock`)."""
import concurrent.futures
import os
import re
import sqlite3
import subprocess
import sys
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api"), os.path.join(HERE, "..", "parity")]

from conftest import EN_DE, NARROW, PATIENCE, Server, endless, sanitized  # noqa: E402,F401  (endless: a fixture)
from faults import control  # noqa: E402,F401  (control: a fixture)
from test_keys import GOOD, add, ask  # noqa: E402
from test_kills import begin, data, end_of, whole  # noqa: E402,F401  (data, whole: fixtures)
import train_runs  # noqa: E402

HOUR, DAY, YEAR = 3600, 86400, 365 * 86400
JUMPS = (HOUR, -HOUR, 40 * DAY, -40 * DAY, 2 * DAY, -2 * DAY, 20 * YEAR, -80 * YEAR, 0)  # from the true time; -80 years: before 1970
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has calls of its own")


def served(control, models, *flags):  # noqa: F811
    return Server(models, *flags, env=control.env())


def jump(control, seconds):  # noqa: F811
    control.clock_ns = int(seconds * 1e9)


def test_requests_and_deadlines(control, endless):  # noqa: F811
    """Jumps while requests run: none is answered before its deadline or long after it, connections stay open."""
    with served(control, endless, *NARROW) as server, concurrent.futures.ThreadPoolExecutor(4) as pool:
        long = " ".join("Number %d walks along the road." % i for i in range(20000))

        def late():
            began = time.monotonic()
            reply = server.post("/v1/translate", dict(GOOD, text=long, timeout_ms=500))
            return reply.status_code, time.monotonic() - began
        session = requests.Session()
        for seconds in JUMPS[1:]:
            waiting = pool.submit(late)
            time.sleep(0.1)
            jump(control, seconds)
            assert session.get(server.url("/readyz"), timeout=PATIENCE).status_code == 200
            status, took = waiting.result()
            assert status == 504 and 0.45 < took < PATIENCE / 2, (seconds, status, took)
        assert server.get("/livez").status_code == 200 and not server.logged("stuck")


def test_keys(control, tmp_path):  # noqa: F811
    """Expiry and the day's characters follow the date; the rate does not. Usage is counted, whatever the date."""
    path = tmp_path / "keys.db"
    mortal, slow, daily = add(path, "--expires", "30d"), add(path, "--requests-per-minute", "3"), add(path, "--characters-per-day", "20")
    with served(control, EN_DE, "--keys", str(path)) as server:
        assert ask(server, mortal).status_code == 200
        for seconds, status in ((HOUR, 200), (40 * DAY, 401), (-40 * DAY, 200), (40 * DAY, 401), (0, 200)):
            jump(control, seconds)
            assert ask(server, mortal).status_code == status, seconds
        assert [ask(server, slow).status_code for _ in range(4)] == [200, 200, 200, 429]
        for seconds in JUMPS:
            jump(control, seconds)
            reply = ask(server, slow)
            assert reply.status_code == 429 and 1 <= int(reply.headers["Retry-After"]) <= 20, seconds
        # 6 characters each: three fit. Tomorrow they fit again; back on today, today's are still used, in the file or not.
        assert [ask(server, daily).status_code for _ in range(4)] == [200, 200, 200, 429]
        for seconds, status in ((DAY, 200), (0, 429), (-DAY, 200), (0, 429), (2 * DAY, 200), (0, 429), (-80 * YEAR, 200), (0, 429)):
            jump(control, seconds)
            assert ask(server, daily).status_code == status, seconds
    with sqlite3.connect(path) as db:
        characters = dict(db.execute("SELECT id, sum(characters) FROM usage GROUP BY id"))
    db.close()
    assert characters == {daily["id"]: 7 * 6, mortal["id"]: 4 * 6, slow["id"]: 3 * 6}


class Documents:
    def __init__(self, server):
        self.server, self.kept = server, []

    def send(self):
        reply = requests.post(self.server.url("/v2/document"), files={"file": ("a.txt", "Two dogs play.\n")}, data={"target_lang": "DE"},
                              timeout=PATIENCE)
        assert reply.status_code == 200, reply.text
        self.kept.append((reply.json()["document_id"], {"document_key": reply.json()["document_key"]}))
        self.server.until(lambda: self.status(*self.kept[-1]) == "done")

    def status(self, id, key):
        reply = self.server.post("/v2/document/" + id, key)
        assert reply.status_code == 200, reply.text
        assert reply.json().get("seconds_remaining", 1) >= 1, reply.text
        return reply.json()["status"]

    def check(self):
        assert [self.status(*one) for one in self.kept] == ["done"] * len(self.kept)


def test_documents(control, tmp_path):  # noqa: F811
    """A document that was sent a minute ago is not dropped because the clock says next month, now or when it was sent."""
    flags = ("--documents", str(tmp_path / "documents.db"), "--documents-keep", "86400")
    with served(control, EN_DE, *flags) as server:
        documents = Documents(server)
        for seconds in (0,) + JUMPS:
            jump(control, seconds)
            documents.send()
        documents.check()
        assert server.logged("documents: the wall clock was set.* by_seconds=3600")
        jump(control, 40 * DAY)
    for seconds in (20 * YEAR, 0):  # each server starts after the clock was set, and then it is set again
        with served(control, EN_DE, *flags) as server:
            documents.server = server
            time.sleep(6)  # time for a check for expired documents
            documents.check()
            documents.send()
            jump(control, seconds)
            documents.check()
            if os.environ.get("CLOCK_MINUTES"):
                end = time.monotonic() + 130
                while time.monotonic() < end:
                    time.sleep(1)
                documents.check()


def test_documents_expire(control, tmp_path):  # noqa: F811
    """If nobody sets the clock, documents are dropped by the check that runs each minute."""
    if not os.environ.get("CLOCK_MINUTES"):
        pytest.skip("takes a minute: CLOCK_MINUTES")
    with served(control, EN_DE, "--documents", str(tmp_path / "documents.db"), "--documents-keep", "60") as server:
        documents = Documents(server)
        documents.send()
        server.until(lambda: server.post("/v2/document/" + documents.kept[0][0], documents.kept[0][1]).status_code == 404, 140)


def test_status(control):  # noqa: F811
    """The samples of the last minutes keep their order and their distances."""
    with served(control, EN_DE) as server:
        def earlier():
            return [s["at_ms"] for s in server.get("/v1/status?earlier=true").json()["earlier"]]
        server.until(lambda: len(earlier()) == 1)
        for seconds in JUMPS:
            jump(control, seconds)
            now = server.get("/v1/status?earlier=true").json()
            assert 0 <= now["at_ms"] - now["earlier"][0]["at_ms"] < 10000 + 1000 * PATIENCE, seconds


def test_training(control, data, whole, tmp_path):  # noqa: F811
    """Weights, checkpoints and log are those of a run whose clock nobody sets; no remaining time is negative."""
    out = tmp_path / "run"
    process = subprocess.Popen([a for a in begin(data, out) if a != "--quiet"], env=control.env(), stderr=subprocess.PIPE,
                               text=True)
    turn = 0
    while process.poll() is None:
        jump(control, JUMPS[turn % len(JUMPS)])
        turn += 1
        time.sleep(0.02)
    said = process.stderr.read()
    assert process.returncode == 0, said
    assert end_of(out) == whole[0] and turn > 20
    assert "ETA" in said and not re.search(r"ETA -|-\d+ tokens/s", said), said
    assert all(0 < line["seconds"] < 60 for line in train_runs.log(out, "train"))
