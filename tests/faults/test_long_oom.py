"""The kernel's own kill when a control group runs out of memory: a training run resumes to the weights of an undisturbed one, bit for
bit, and a server's files keep all that it acknowledged. A second program in the group takes the remaining memory at a random moment; the
kernel kills it last.

OOM_KILLS: how often training is killed (2); a server a third as often, once at least. `make kills`: 40."""
import collections
import concurrent.futures
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api"), os.path.join(HERE, "..", "parity")]

import test_kills  # noqa: E402
import train_runs  # noqa: E402
from conftest import EN_DE, Server, sanitized  # noqa: E402
from test_keys import add  # noqa: E402
from test_kills import data, whole  # noqa: E402,F401  fixtures

KILLS = int(os.environ.get("OOM_KILLS", "2"))
MB = 1000000
pytestmark = pytest.mark.skipif(sanitized(), reason="slow, and its memory says nothing")

# Takes the group's remaining memory when told to.
HOG = """
import sys
print("here", flush=True)
taken = []
for _ in sys.stdin:
    taken.clear()
    for _ in range(int(sys.argv[1])):
        taken.append(bytearray(b"x") * 1000000)
    print("taken", flush=True)
"""


class Group:
    """A control group for memory, of version 1 or 2."""

    def __init__(self, name, most):
        own = dict(line.strip().split(":", 2)[1:] for line in open("/proc/self/cgroup", encoding="ascii"))
        first = pathlib.Path("/sys/fs/cgroup/memory")
        if "memory" in own and first.is_dir():
            parent, self.limit, self.counts = first / own["memory"].lstrip("/"), "memory.limit_in_bytes", "memory.oom_control"
        else:
            parent, self.limit, self.counts = pathlib.Path("/sys/fs/cgroup") / own.get("", "").lstrip("/"), "memory.max", "memory.events"
        if not parent.is_dir():  # the path belongs to another namespace
            parent = first if first.is_dir() else pathlib.Path("/sys/fs/cgroup")
        self.path = parent / ("dragoman-%s-%d" % (name, os.getpid()))
        try:
            self.path.mkdir()
            (self.path / self.limit).write_text(str(most))
        except OSError as e:
            if self.path.is_dir():
                self.path.rmdir()
            pytest.skip("no control group for memory can be made here: %s" % e)
        swap = self.path / ("memory.memsw.limit_in_bytes" if self.limit != "memory.max" else "memory.swap.max")
        if swap.exists():
            swap.write_text(str(most) if self.limit != "memory.max" else "0")

    def kills(self):
        """Returns how many processes the kernel has killed."""
        return int(next(line for line in (self.path / self.counts).read_text().splitlines() if line.startswith("oom_kill ")).split()[1])

    def enter(self):
        """Puts a child into the group before its program starts."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def enter_first(self):
        """The same for the process that the kernel should kill first."""
        self.enter()
        pathlib.Path("/proc/self/oom_score_adj").write_text("1000")

    def close(self):
        for _ in range(100):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.05)


class Hog:
    def __init__(self, group, most):
        self.process = subprocess.Popen([sys.executable, "-c", HOG, str(most // MB - 15)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=group.enter)
        assert self.process.stdout.readline() == "here\n"

    def fill(self):
        """Takes all remaining memory, so that the kernel has to kill."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def group():
    made = []

    def make(name, most):
        made.append(Group(name, most))
        return made[-1]
    yield make
    for g in made:
        g.close()


def test_training_is_killed_where_its_group_ends(data, whole, tmp_path, group):  # noqa: F811
    want, seconds, _ = whole
    rng, ways, runs = random.Random(26), collections.Counter(), 0
    limit = 400 * MB  # the trainer plans to fit into it
    g = group("train", limit)
    while sum(ways.values()) < KILLS:
        out, killed = tmp_path / str(runs), True
        while killed:
            hog = Hog(g, limit) if sum(ways.values()) < KILLS else None
            before = g.kills()
            said = open(tmp_path / "said", "w+", encoding="utf-8")
            process = subprocess.Popen(test_kills.go_on(data, out), stdout=subprocess.DEVNULL, stderr=said, preexec_fn=g.enter_first)
            try:
                if hog:
                    time.sleep(rng.uniform(0, 0.7 * seconds))
                    hog.fill()
                status = process.wait(120)
            finally:
                process.kill()
                if hog:
                    hog.close()
            killed = status == -signal.SIGKILL
            said.close()
            assert killed or status == 0, (status, (tmp_path / "said").read_text())
            assert not killed or g.kills() > before  # the counter may include a program's threads, and the other program
            ways[test_kills.phase(out)] += killed
        assert test_kills.end_of(out) == want and not test_kills.temporary(out)
        runs += 1
    print("%d runs, killed in %s" % (runs, dict(ways)))


class Grouped(Server):
    """A server that starts in the group, as the process that the kernel should kill first."""

    def __init__(self, group, *flags):  # noqa: F811
        super().__init__(*flags)
        enter = 'echo $$ > "$0" && echo 1000 > /proc/self/oom_score_adj && exec "$@"'
        self.command = ["sh", "-c", enter, str(group.path / "cgroup.procs"), *self.command]


def test_a_server_is_killed_where_its_group_ends(tmp_path, group):  # noqa: F811
    files = {name: str(tmp_path / (name + ".db")) for name in ("keys", "collections", "suggestions", "documents")}
    key = add(files["keys"])["key"]
    flags = [x for name, path in files.items() for x in ("--" + name, path)]
    kept, rng, n, limit = collections.defaultdict(set), random.Random(6), 0, 400 * MB
    g = group("server", limit)
    for _ in range(max(1, KILLS // 3)):
        hog, before = Hog(g, limit), g.kills()
        server = Grouped(g, EN_DE, *flags).__enter__()
        end, work = time.monotonic() + rng.uniform(0.3, 1), []
        try:
            with concurrent.futures.ThreadPoolExecutor(3) as pool:
                while time.monotonic() < end:
                    work += [pool.submit(test_kills.keep, server, n + i, kept, key) for i in range(3)]
                    n += 3
                    time.sleep(0.02)
                hog.fill()
                # The page that it needs next, for a request's text, gets it killed, unless the other program's memory did so first.
                while server.process.poll() is None:
                    work.append(pool.submit(test_kills.keep, server, n, kept, key))
                    n += 1
                    time.sleep(0.02)
                pool.shutdown(cancel_futures=True)
            assert server.process.wait() == -signal.SIGKILL and g.kills() > before
        finally:
            server.process.kill()
            hog.close()
        for w in work:
            if not w.cancelled() and w.exception() and not isinstance(w.exception(), requests.RequestException):
                raise w.exception()
        test_kills.check_kept(files, kept)
    with Server(EN_DE, *flags) as server:
        server.until(lambda: not test_kills.rows(files["documents"], "SELECT id FROM documents WHERE state < 3"))
        test_kills.check_kept(files, kept)
    print({name: len(v) for name, v in kept.items()})
    assert all(kept.values())
