"""kill -9 at random moments, and at a limit of memory: a training run (data prepared, updates, checkpoints, export) resumes to the
weights of an undisturbed one, bit for bit, and a server's files keep all that it acknowledged.

KILLS: how often training is killed (4); a server a quarter as often, twice at least. `make kills`: 200."""
import collections
import concurrent.futures
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api"), os.path.join(HERE, "..", "parity")]

import train_runs  # noqa: E402
from conftest import EN_DE, ROOT, Server, sanitized  # noqa: E402
from faults import hash_of  # noqa: E402
from test_keys import add  # noqa: E402

KILLS = int(os.environ.get("KILLS", "4"))
UPDATES = 60
TRAIN = os.path.join(ROOT, train_runs.TRAIN)
pytestmark = pytest.mark.skipif(sanitized(), reason="slow, and its memory says nothing")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    syllables = [c + v for c in "bdfgklmnprstvwz" for v in "aeiou"]
    train_runs.write_corpus(folder, random.Random(2).sample([a + b for a in syllables for b in syllables], 900))
    recipe = json.loads(json.dumps(train_runs.RECIPE))
    recipe["vocabulary"]["size"] = 1000  # enough for a shortlist to pay
    recipe["training"].update(updates=UPDATES, checkpoint_updates=2, keep_best=1, stop_metric="loss", average_compare=True)
    recipe["validation"]["every"] = 6
    (folder / "recipe.json").write_text(json.dumps(recipe))
    return folder


def begin(data, out):
    return [TRAIN, "run", str(data / "recipe.json"), "--data", str(data), "--out", str(out), "--quiet"]


def go_on(data, out):
    return [TRAIN, "resume", str(out), "--quiet"] if train_runs.checkpoint_steps(out) else begin(data, out)


def end_of(out):
    """Returns a run's results: hash of its last checkpoint (parameters and moments), the bundle's files except those that tell how
    long it took, what was measured of its shortlist, and the updates in the log, each once."""
    files = {p.name: hash_of(p) for p in (out / "bundle").iterdir() if p.name not in ("manifest.json", "MODEL_CARD.md")}
    assert len(files) == 4 and "shortlist.dgl" in files, files
    shortlist = json.loads((out / "bundle" / "manifest.json").read_text())["shortlist"]
    assert len(shortlist["measured"]) == 2 and shortlist.pop("seconds") > 0
    return train_runs.checkpoint(out, UPDATES)["xxh3"], files, shortlist, [x["update"] for x in train_runs.log(out, "train")]


def phase(out):
    if (out / "bundle").exists():
        return "export"
    if train_runs.checkpoint_steps(out):
        return "training"
    return "before the first checkpoint" if (out / "data" / "manifest.json").exists() else "preparation"


def temporary(out):
    return [str(p.relative_to(out)) for p in out.rglob("*") if ".tmp-" in p.name]


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """Returns (results, seconds, largest resident memory in bytes) of an undisturbed run."""
    out = tmp_path_factory.mktemp("whole") / "run"
    began = time.monotonic()
    process = subprocess.Popen(begin(data, out), stderr=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, resident(process.pid))
        time.sleep(0.001)
    assert process.returncode == 0
    return end_of(out), time.monotonic() - began, most


def resident(pid):
    """Returns its resident memory in bytes; 0 if it has ended."""
    try:
        with open("/proc/%d/statm" % pid, encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


def until(process, stop, seconds=120):
    """Kills the process when stop() says so. True if it was killed before it ended."""
    end = time.monotonic() + seconds
    while process.poll() is None:
        if stop():
            process.kill()
            return process.wait() == -signal.SIGKILL
        assert time.monotonic() < end, "the run hangs"
        time.sleep(0.001)
    return False


def chain(data, out, stops, ways):
    """Runs training, killed as long as there are stops, then to its end. Returns its results."""
    while True:
        with open(out.parent / "stderr", "w+", encoding="utf-8") as said:
            process = subprocess.Popen(go_on(data, out), stdout=subprocess.DEVNULL, stderr=said)
            if not until(process, next(stops, lambda _: lambda: False)(process)):
                said.seek(0)
                assert process.returncode == 0, said.read()
                return end_of(out)
        ways[phase(out)] += 1


def test_training_is_killed(data, whole, tmp_path):
    want, seconds, _ = whole
    rng, ways, runs = random.Random(25), collections.Counter(), 0

    def stops():
        while sum(ways.values()) < KILLS:
            yield lambda _, end=time.monotonic() + rng.uniform(0, 0.7 * seconds): lambda: time.monotonic() >= end
    moments = stops()
    while sum(ways.values()) < KILLS:
        out = tmp_path / str(runs)
        assert chain(data, out, moments, ways) == want
        assert not temporary(out), "left by writers that were killed"
        runs += 1
    print("%d runs, killed in %s" % (runs, dict(ways)))


def test_training_is_killed_by_its_memory(data, whole, tmp_path):
    """Kills the process as the kernel does when memory runs out: as soon as it holds more than a limit, again and again."""
    want, _, most = whole
    ways = collections.Counter()

    def stops():
        for tenth in (9, 7, 6, 8, 7, 6, 5, 7):
            yield lambda process, limit=most * tenth // 10: lambda: resident(process.pid) > limit
    out = tmp_path / "run"
    assert chain(data, out, stops(), ways) == want and not temporary(out)
    print(dict(ways))
    assert sum(ways.values()) > 2


# A server ---------------------------------------------------------------------------------------------------------

def keep(server, n, kept, key):
    """Sends a glossary, a memory, a suggestion and a document; notes in kept what the server acknowledged."""
    def post(path, body):
        return requests.post(server.url(path), json=body, timeout=30, headers={"Authorization": "Bearer " + key})
    entries = [{"source": "en", "target": "de", "entries": {"word %d %d" % (n, i): "Wort %d" % i for i in range(50)}}]
    for path in ("/v1/glossaries", "/v1/memories"):
        reply = post(path, {"name": "n%d" % n, "dictionaries": entries})
        if reply.status_code == 201:
            kept["collections"].add(reply.json()["id"])
    if post("/suggest", {"q": "q %d" % n, "s": "s %d" % n, "source": "en", "target": "de"}).status_code == 200:
        kept["suggestions"].add("q %d" % n)
    reply = requests.post(server.url("/v2/document"), files={"file": ("a.txt", "Two dogs.\n")}, data={"target_lang": "DE"},
                          timeout=30, headers={"Authorization": "Bearer " + key})
    if reply.status_code == 200:
        kept["documents"].add(reply.json()["document_id"])


def rows(path, sql):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {row if len(row) > 1 else row[0] for row in db.execute(sql)}
    finally:
        db.close()


def check_kept(files, kept):
    """Checks that nothing acknowledged is missing and that no collection is there in part."""
    found = rows(files["collections"], "SELECT id, (SELECT count(*) FROM pairs WHERE collection = number) FROM collections")
    assert kept["collections"] <= {id for id, _ in found} and {pairs for _, pairs in found} <= {50}
    assert kept["suggestions"] <= rows(files["suggestions"], "SELECT text FROM suggestions")
    assert kept["documents"] <= rows(files["documents"], "SELECT id FROM documents")


def test_a_server_is_killed(tmp_path):
    """All that it acknowledged is in its files at the next start, which is a normal one."""
    files = {name: str(tmp_path / (name + ".db")) for name in ("keys", "collections", "suggestions", "documents")}
    key = add(files["keys"])["key"]
    flags = [x for name, path in files.items() for x in ("--" + name, path)]
    kept, rng, n = collections.defaultdict(set), random.Random(5), 0
    for _ in range(max(2, KILLS // 4)):
        server = Server(EN_DE, *flags).__enter__()
        end, work = time.monotonic() + rng.uniform(0.02, 1), []
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            while time.monotonic() < end:
                work += [pool.submit(keep, server, n + i, kept, key) for i in range(3)]
                n += 3
                time.sleep(0.02)
            assert server.stop(signal.SIGKILL) == -signal.SIGKILL
            pool.shutdown(cancel_futures=True)
        for w in work:
            if not w.cancelled() and w.exception() and not isinstance(w.exception(), requests.RequestException):
                raise w.exception()
        check_kept(files, kept)
    with Server(EN_DE, *flags) as server:
        server.until(lambda: not rows(files["documents"], "SELECT id FROM documents WHERE state < 3"))
        check_kept(files, kept)
    print({name: len(v) for name, v in kept.items()})
    assert all(kept.values())
