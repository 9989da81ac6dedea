#!/usr/bin/env python3
"""A server under everything that is unkind, with a tiny model: no wrong or lost answer, no leak, no crash.

  soak.py --programs DIR [--requests 100000] [--seconds 240] [--sanitized] [--log FILE]

Takes about five minutes at most. --sanitized: a build with sanitizers, whose memory and speed mean nothing. Every answer
is compared with the one given to the same text alone. Exit status 1 when something failed, 2 when nothing could be run.
"""
import argparse
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "bench", "serve")]

import machine  # noqa: E402
from scenarios import bad  # noqa: E402
from server import Failure, Load, Server, learn, say  # noqa: E402

WORDS = "the old house near sea two small boats a red dog plays in snow with big tree and green book man waits".split()
SLOPE_CHUNKS = 40


class Checks:
    """Runs checks, prints their results and counts failures."""

    def __init__(self, a, work):
        self.a, self.work, self.failed = a, work, 0

    def check(self, text, ok, value=""):
        self.failed += not ok
        say(f"  {'ok  ' if ok else 'FAIL'} {text} {value}")

    def status(self):
        say("all is well" if not self.failed else f"{self.failed} checks failed")
        return 1 if self.failed else 0


class Soak(Checks):
    def __init__(self, a, work):
        super().__init__(a, work)
        self.tiny, self.small = self.prepare("tiny", 8), self.prepare("small", 32 if a.sanitized else 128)

    def prepare(self, name, size):
        """Makes a model of this size, and learns what it answers to each item alone. Returns (bundle, load)."""
        model, items = os.path.join(self.work, name), os.path.join(self.work, f"{name}.jsonl")
        subprocess.run([os.path.join(self.a.programs, "make-tiny-bundle"),
                        os.path.join(ROOT, "tests/data/tokenizer/joint.model"), model, str(size)], check=True)
        rng, raw = random.Random(3), os.path.join(self.work, "raw.jsonl")
        with open(raw, "w", encoding="utf-8") as f:
            for i in range(120):
                kind, n = ("long", rng.randint(40, 60)) if i % 12 == 0 else ("short", rng.randint(2, 5))
                body = {"text": " ".join(rng.choices(WORDS, k=n)), "source": "en", "target": "de"}
                if i % 5 == 0:
                    body["beam_size"] = 1 + i % 4
                f.write(json.dumps({"class": kind, "body": body}) + "\n")
        with Server(self.a.programs, model) as server:
            learn(self.a.programs, server, raw, items)
        return model, Load(self.a.programs, items)

    def ended_well(self, name, server):
        status = server.stop()
        log = server.log_text()
        errors = re.findall(r"^.*(?:level=error|ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error).*$", log, re.M)
        self.check(f"{name}: exit status", status == 0, status)
        self.check(f"{name}: nothing bad in the log", not errors, "\n".join(errors[:5]))
        if self.a.log:
            with open(self.a.log, "a", encoding="utf-8") as f:
                f.write(log)

    def memory(self):
        """Measures resident memory after each part of many requests; checks its slope after the first tenth."""
        points, done, part = [], 0, max(1, self.a.requests // SLOPE_CHUNKS)
        end = time.monotonic() + self.a.seconds
        wrong = {}
        model, load = self.tiny
        with Server(self.a.programs, model, ["--batch-rows", "32"]) as server:
            # Caches are given memory when sentences first need it, and keep it: each worker has to have been full once,
            # which is easier with few rows.
            load(server, "closed", "--concurrency", 256, "--requests", self.a.requests // 50, "--only", "long")
            for seed in itertools.count(1):
                if done >= self.a.requests or time.monotonic() > end:
                    break
                r = load(server, "closed", "--concurrency", 32, "--requests", part, "--seed", seed, "--share",
                              "short=30", "--share", "long=1")
                wrong.update({k: v for k, v in bad(r).items()})
                done += r["ok"]
                points.append((done, machine.resident_kb(server.pid)))
            self.ended_well("memory", server)
        self.check(f"memory: {done} requests, wrong or lost", not wrong, wrong or 0)
        late = [p for p in points if p[0] > done / 10]
        if self.a.sanitized or done < 50000:
            say(f"  --   memory: no slope from {done} requests")
            return
        say(f"  resident kB: {[p[1] for p in points]}")
        # Theil-Sen: the median of all pairs' slopes, which the end of the warm-up does not bend.
        slope = statistics.median((b[1] - a[1]) / (b[0] - a[0]) * 1000 for a, b in itertools.combinations(late, 2))
        self.check("memory: slope below 1 kB in 1,000 requests", slope < 1, f"{slope:.3f} kB, resident {late[-1][1]} kB")

    def capacity(self, server):
        r = self.small[1](server, "closed", "--concurrency", 16, "--seconds", 4, "--warm-up", 1)
        return max(5.0, r["throughput"]["answers_per_s"])

    def chaos(self):
        """All at once: silent, dripping and vanishing clients, and ten times the load that the server can take."""
        idle, slow = (300, 100) if self.a.sanitized else (2000, 1000)
        model, load = self.small
        options = ["--header-timeout", "3", "--body-timeout", "3", "--max-queue-tokens", "1024",
                   "--max-connections", "8000"]
        with Server(self.a.programs, model, options) as server:
            cap = self.capacity(server)
            phases = [x for rate, s in ((0.5, 6), (10, 6), (0.5, 12)) for x in ("--phase", f"{rate * cap}:{s}")]
            r = load(server, "run", *phases, "--idle", idle, "--slow", slow, "--slow-interval", 0.5, "--vanish",
                          "0.2:0.2", "--connections", 3000, "--grace", 65)
            beside = r["beside"]
            self.check("chaos: wrong or lost answers", not bad(r), bad(r) or f"0 of {r['requests']}")
            self.check("chaos: overload is refused with 503 alone", set(r["refused_by_status"]) <= {"503", "408"},
                       r["refused_by_status"])
            last = r["phases"][2]
            self.check("chaos: answers again afterwards", last["ok"] > 0.3 * last["requests"],
                       f"{last['ok']} of {last['requests']}")
            self.check("chaos: silent connections live on", beside["idle_answered_at_end"] == idle,
                       beside["idle_answered_at_end"])
            for kind in ("headers", "body"):
                dripped = beside[f"slow_{kind}"]
                self.check(f"chaos: those that drip {kind} are ended in time",
                           dripped["ended_by_server"] >= slow / 2 and dripped["longest_s"] < 8,
                           f"{dripped['ended_by_server']} ended, the longest lived {dripped['longest_s']:.1f} s")
            self.check("chaos: /livez and /readyz", (server.status("/livez"), server.status("/readyz")) == (200, 200))
            self.ended_well("chaos", server)

    def term(self):
        """SIGTERM under load: accepted requests are answered."""
        for seed in range(3):
            with Server(self.a.programs, self.small[0]) as server:
                cap = self.capacity(server)
                r = self.small[1](server, "run", "--phase", f"{0.5 * cap}:4", "--term", f"{server.pid}@2", "--seed", seed)
                before = r["sigterm"]["sent_before"]
                lost = {k: before[k] for k in ("lost", "unanswered", "wrong") if before[k]}
                self.check(f"SIGTERM {seed + 1}: all accepted before it are answered", not lost and before["ok"] > 0,
                           lost or f"{before['ok']}, {before['refused']} were refused")
                self.check(f"SIGTERM {seed + 1}: no answer is wrong", r["wrong"] == 0)
                self.ended_well(f"SIGTERM {seed + 1}", server)

    def run(self):
        for name in self.a.only.split(","):
            say(f"== {name}")
            getattr(self, name)()
        return self.status()


def run(make, a):
    """The exit status of make(a, a folder to work in).run()."""
    try:
        with tempfile.TemporaryDirectory(prefix="dragoman-soak-") as work:
            return make(a, work).run()
    except (Failure, OSError, subprocess.CalledProcessError) as e:
        say(f"soak: {e}")
        return 2


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--programs", required=True, help="where dragoman-server, dragoman-load and make-tiny-bundle are")
    p.add_argument("--requests", type=int, default=100000)
    p.add_argument("--seconds", type=float, default=240, help="for the memory part, at most")
    p.add_argument("--sanitized", action="store_true")
    p.add_argument("--only", default="memory,chaos,term")
    p.add_argument("--log", help="append the servers' logs there")
    return run(Soak, p.parse_args())


if __name__ == "__main__":
    sys.exit(main())
