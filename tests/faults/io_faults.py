"""Runs programs whose reads and writes fail: each call of a kind on files of a name, or some of them, spread."""
import collections
import contextlib
import errno
import os
import re
import subprocess

from faults import MKDIR, OPEN, READ, RENAME, SYNC, TRUNCATE, WRITE, crash_report

STEPS = int(os.environ.get("FILES_STEPS", "3"))  # how many calls of each kind fail, for each program; 0: all
SHORT = 0
FULL = WRITE | SYNC | TRUNCATE | MKDIR
# (name, calls, errno): a disk that is full, one that is broken, calls that do half of what they are asked for
WAYS = [("full", FULL, errno.ENOSPC), ("broken", OPEN | WRITE | SYNC | RENAME, errno.EIO),
        ("unreadable", READ, errno.EIO), ("short", READ | WRITE, SHORT)]
# The last three are SQLite's words for a file that gives EIO.
CLEAR = re.compile("No space left on device|Input/output error|disk I/O error|disk is full|unable to open database|image is malformed|readonly database", re.I)


def chosen(n, steps=STEPS):
    """Returns which of n calls fail: all, or `steps` of them, spread, the first and the last among them."""
    if not steps or n <= steps:
        return range(1, n + 1)
    return sorted({1 + i * (n - 1) // max(1, steps - 1) for i in range(steps)})


@contextlib.contextmanager
def failing(control, part, kinds, how, at=1, times=1):
    control.fail_files(part, kinds, how, at, times)
    try:
        yield
    finally:
        control.io_mask = 0


def each_call(control, command, part, ways=WAYS, prepare=lambda: None, after=lambda run: None, steps=STEPS, **more):
    """Runs the command once for each call that fails. A call that does half must not make it fail; else it succeeds or ends with a message.
    `prepare` runs before each run; `after` follows it and returns what it left wrong. Returns what went wrong, and a count of each
    outcome."""
    def run():
        prepare()
        return subprocess.run(command, env={**control.env(), **more.get("env", {})}, capture_output=True, text=True, errors="replace",
                              timeout=120)
    wrong, counts = [], collections.Counter()
    for name, kinds, how in ways:
        control.reset()
        control.fail_files(part, kinds, how, 0)
        whole = run()
        assert whole.returncode == 0, whole.stderr
        calls = control.io_calls
        counts[name + " calls"] = calls
        for at in chosen(calls, steps):
            with failing(control, part, kinds, how, at):
                done = run()
            left = after(done)
            where = "%s, call %d of %d: " % (name, at, calls)
            if left:
                wrong.append(where + "left: %s\n%s" % (left, done.stderr[-2000:]))
            if not control.io_failed:
                counts["not reached"] += 1
            elif done.returncode < 0:
                wrong.append(where + crash_report(done))
            elif done.returncode == 0:
                counts["done all the same"] += 1
            elif how == SHORT:
                wrong.append(where + "refused: " + done.stderr[-2000:])
            else:
                counts["refused"] += 1
                if not CLEAR.search(done.stderr + done.stdout):
                    wrong.append(where + "not clear: " + done.stderr[-2000:])
    return wrong, counts


def say(wrong, counts):
    print(dict(counts))
    assert not wrong, "%d of %s:\n%s" % (len(wrong), dict(counts), "\n".join(wrong[:6]))
    assert counts["refused"] and counts["done all the same"], dict(counts)
