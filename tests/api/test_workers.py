"""--workers: several engines of a model share the cores by what they have to do; answers do not tell."""
import re
from concurrent.futures import ThreadPoolExecutor

from conftest import NARROW, Server, long_text

WIDE = [f for i, f in enumerate(NARROW) if "--threads" not in (f, NARROW[i - 1])]


def gauge(server, name):
    for line in server.get("/metrics").text.splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(name)


def test_busy_workers_are_counted(endless, busy):
    with Server(endless, *WIDE, "--workers", "2") as server, ThreadPoolExecutor(2) as pool:
        assert gauge(server, "dragoman_workers_busy") == 0
        first = pool.submit(server.translate, busy(4).replace("Number", "First"))
        server.until(lambda: gauge(server, "dragoman_workers_busy") >= 1)
        second = pool.submit(server.translate, busy(4).replace("Number", "Second"))
        server.until(lambda: gauge(server, "dragoman_workers_busy") == 2)
        assert first.result().status_code == second.result().status_code == 200
        server.until(lambda: gauge(server, "dragoman_workers_busy") == 0)


def test_answers_do_not_depend_on_workers(endless):
    texts = [long_text(1 + i % 3).replace("Number", "Number %d of" % i) for i in range(24)]
    seen = []
    for flags in (["--workers", "1", "--threads", "1"], ["--workers", "3"]):  # a slow machine is not to refuse
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
    """Unless told otherwise, or where the threads of a worker are given."""
    with Server(endless) as server:
        workers, cores = chosen(server)
        assert workers == min(cores, 4)
    with Server(endless, "--threads", "1") as server:
        assert chosen(server) == [1, 1]
    with Server(endless, "--workers", "3") as server:
        assert chosen(server)[0] == 3
