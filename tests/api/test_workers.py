"""--workers: several engines of a model share the cores by their load; answers do not depend on it."""
import collections
import os
import re
from concurrent.futures import ThreadPoolExecutor

from conftest import NARROW, ROOT, Server, long_text
from test_keys import new_key

WIDE = [f for i, f in enumerate(NARROW) if "--threads" not in (f, NARROW[i - 1])]


def test_busy_workers_are_counted(endless, busy):
    with Server(endless, *WIDE, "--workers", "2") as server:
        assert server.metric("dragoman_workers_busy") == 0
        with server.held(busy(60).replace("Number", "First")):
            server.until(lambda: server.metric("dragoman_workers_busy") >= 1)
            with server.held(busy(60).replace("Number", "Second")):
                server.until(lambda: server.metric("dragoman_workers_busy") == 2)
        server.until(lambda: server.metric("dragoman_workers_busy") == 0)


def test_answers_do_not_depend_on_workers(endless):
    texts = [long_text(1 + i % 3).replace("Number", "Number %d of" % i) for i in range(24)]
    seen = []
    for flags in (["--workers", "1", "--threads", "1"], ["--workers", "3"]):  # 60 s: a slow machine shall not refuse
        with Server(endless, "--max-queue-seconds", "60", *flags) as server, ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda t: server.translate(t, scores=True, n_best=2), texts))
            assert all(r.status_code == 200 for r in replies)
            seen.append([r.json()["translations"] for r in replies])
            waited = re.findall(r"^dragoman_queue_wait_seconds_sum\{.*\} (\S+)$", server.get("/metrics").text, re.M)
            assert waited and all(0 <= float(w) < 600 for w in waited)  # no clock runs backwards
    assert seen[0] == seen[1]


READY = r'\bready"? address='


def chosen(server):
    server.until(lambda: server.logged(READY))
    line = next(x for x in server.log if re.search(READY, x))
    return [int(re.search(r"\b%s=(\d+)" % name, line)[1]) for name in ("workers", "threads")]


def test_a_worker_for_each_core_at_most_four(endless):
    """That is the default; --workers or --threads changes it."""
    with Server(endless) as server:
        workers, cores = chosen(server)
        assert workers == min(cores, 4)
    with Server(endless, "--threads", "1") as server:
        assert chosen(server) == [1, 1]
    with Server(endless, "--workers", "3") as server:
        assert chosen(server)[0] == 3


def test_worker_nice_is_of_all_the_engines_threads(endless):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with Server(endless, "--workers", "2", "--threads", "3", "--worker-nice", "19") as server:
        def values(names):
            return [os.getpriority(os.PRIO_PROCESS, task) for task, name in server.threads().items() if re.fullmatch(names, name)]
        server.until(lambda: values(r"dg-(worker|compute)-\d+") == [19] * (2 + 2 * 2))  # each sets its own when it first runs
        assert set(values(r"dragoman-server|MHD-.*|dg-(short|long|side).*")) == {own}


def test_threads_have_the_names_of_the_operations_document(models, tmp_path):
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as f:
        section = f.read().partition("\n## Threads\n")[2].partition("\n## ")[0]
    told = re.findall(r"`([^`]+)`", " ".join(re.findall(r"^\| (`[^|]+) \|", section, re.M)))
    keys = str(tmp_path / "keys.db")
    new_key(keys)
    want = {"dragoman-server": 1, "MHD-worker": 3, "dg-connections": 1, "dg-short": 3, "dg-long": 2, "dg-long-plans": 2,
            "dg-worker-N": 2, "dg-compute-N": 2 * 2,  # the folder has two models
            "dg-side": 4, "dg-low": 1, "dg-files": 1, "dg-timer": 8, "dg-log": 1, "dg-keys": 1, "dg-glossaries": 1, "dg-documents": 1}
    assert set(told) == set(want)
    with Server(models, "--workers", "2", "--threads", "2", "--http-threads", "3", "--keys", keys,
                "--collections", str(tmp_path / "collections.db"), "--documents", str(tmp_path / "documents.db"),
                "--suggestions", str(tmp_path / "suggestions.db")) as server:
        # A thread takes its name when it first runs; until then it has the name of the one that started it.
        server.until(lambda: want == collections.Counter(re.sub(r"\d+$", "N", name) for name in server.threads().values()))
