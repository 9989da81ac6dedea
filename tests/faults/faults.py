"""Makes a program's calls fail: the Python side of preload.c, whose control.h has the layout of the control file."""
import collections
import hashlib
import mmap
import os
import re
import struct
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release"))
LIBRARY = os.path.join(BUILD, "tests", "libfaults.so")
WORDS = ("calls failed live fail_place fail_times fail_skip record trace clock_ns io_mask io_at io_n io_errno "
         "io_calls io_failed").split()
SLACK = 3  # blocks that libraries allocate for themselves and keep
PATH_BYTES, PLACES, FRAMES = 128, 1 << 14, 30
PLACE = struct.Struct("<%dQ" % (4 + FRAMES))
PATH_AT = 8 * len(WORDS)
PLACES_AT = PATH_AT + PATH_BYTES
OPEN, READ, WRITE, SYNC, RENAME, TRUNCATE, MKDIR = (1 << i for i in range(7))


class Faults:
    """A control file; its words are attributes."""

    def __init__(self, path):
        self.__dict__["path"] = str(path)
        with open(path, "wb") as f:
            f.truncate(PLACES_AT + PLACES * PLACE.size)
        self.__dict__["file"] = open(path, "r+b")
        self.__dict__["map"] = mmap.mmap(self.file.fileno(), 0)

    def __getattr__(self, name):
        form = "<q" if name in ("live", "clock_ns") else "<Q"
        return struct.unpack_from(form, self.map, 8 * WORDS.index(name))[0]

    def __setattr__(self, name, value):
        form = "<q" if name in ("live", "clock_ns") else "<Q"
        struct.pack_into(form, self.map, 8 * WORDS.index(name), value)

    def close(self):
        self.map.close()
        self.file.close()

    def env(self):
        """The environment of a program under this control."""
        return dict(os.environ, LD_PRELOAD=LIBRARY, FAULTS_CONTROL=self.path)

    def reset(self):
        """Clears all words: nothing fails, nothing is counted."""
        self.map[:PLACES_AT] = bytes(PLACES_AT)

    def forget_places(self):
        self.map[PLACES_AT:] = bytes(len(self.map) - PLACES_AT)

    def places(self):
        """Returns (hash, number of the first call, calls) of every stack that asked for memory while `record` was set."""
        found = []
        for at in range(PLACES_AT, len(self.map), PLACE.size):
            hash_, first, count, _ = struct.unpack_from("<4Q", self.map, at)
            if hash_:
                found.append((hash_, first, count))
        return sorted(found, key=lambda p: p[1])

    def fail_place(self, place, times=1, skip=0):
        self.fail_times, self.fail_skip, self.failed = times, skip, 0
        self.fail_place = place

    def quiet(self):
        """Stops refusing memory. Returns how many calls have failed."""
        self.fail_place = 0
        return self.failed

    def fail_files(self, part, kinds, how, at=1, times=1):
        """Makes calls of these kinds fail with errno `how` on files whose name contains `part`; 0: they do half. `times` calls fail, from
        the at-th on."""
        self.map[PATH_AT:PLACES_AT] = part.encode().ljust(PATH_BYTES, b"\0")
        self.io_errno, self.io_at, self.io_n, self.io_calls, self.io_failed, self.io_mask = how, at, times, 0, 0, kinds


@pytest.fixture
def control(tmp_path):
    c = Faults(tmp_path / "control")
    yield c
    c.close()


def hash_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def tree(folder):
    """Returns every file below the folder: path -> hash of its contents."""
    return {os.path.relpath(os.path.join(at, name), folder): hash_of(os.path.join(at, name))
            for at, _, names in os.walk(folder) for name in names}


def crash_report(run):
    return "ended by signal %d:\n%s" % (-run.returncode, run.stderr[-6000:])


# What a program may say if it gets no memory.
CLEAR = re.compile(r"memory|malloc failure|thread \d+ of \d+ did not start|thread cannot be started|ENOMEM", re.I)


def each_place(control, command, steps, good=lambda run: run.returncode == 0, prepare=lambda: None, after=lambda run: None, keeps=False, **more):
    """Runs the command once for each place that asks for memory, and refuses it there: for all places, or `steps` spread over them. Returns
    what went wrong, as texts, and a count of each outcome. `prepare` runs before each run; `after` follows it and returns what it left
    wrong. `keeps`: the program may end without freeing its memory, as some do when there is none."""
    def run(**words):
        prepare()
        return subprocess.run(command, env=control.env(), capture_output=True, text=True, errors="replace", timeout=120, **more)
    control.reset()
    control.forget_places()
    control.record = 1
    whole = run()
    assert good(whole), whole.stderr
    left, places = control.live, control.places()
    chosen = places if not steps or steps >= len(places) else [places[i * len(places) // steps] for i in range(steps)]
    faults, ways = [], collections.Counter(places=len(places))
    for place, _, _ in chosen:
        control.reset()
        control.trace = 1
        control.fail_place(place)
        try:
            done = run()
        except subprocess.TimeoutExpired as e:
            faults.append("did not end:\n%s" % (e.stderr or b"").decode(errors="replace")[:3000])
            continue
        left_wrong = after(done)
        if left_wrong:
            faults.append("left: %s\n%s" % (left_wrong, done.stderr[-4000:]))
        said = "\n".join(line for line in done.stderr.splitlines() if not re.search(r"\[0x[0-9a-f]+\]$", line))
        if control.failed == 0:
            ways["not reached"] += 1
        elif done.returncode < 0:
            faults.append(crash_report(done))
        elif done.returncode == 0:
            ways["done all the same"] += 1
            if not good(done) or done.stdout != whole.stdout:
                faults.append("says that all is well, and it is not:\n%s\n%s" % (done.stdout[-1000:], done.stderr[-4000:]))
        else:
            ways["refused"] += 1
            if not CLEAR.search(said):
                faults.append("not clear:\n%s" % done.stderr[-4000:])
            if control.live > left + SLACK and not keeps:
                faults.append("%d blocks more than a run in which nothing fails were left:\n%s" %
                              (control.live - left, done.stderr[-4000:]))
    return faults, ways
