#!/usr/bin/env python3
"""CPU time compared with an earlier revision, in alternating pairs of runs: a translation over HTTP, with and without a cache hit,
and the base int8 model's step at few and many rows.

  main.py --programs DIR --before DIR --models BUNDLE --out FILE [--pairs 10] [--quick]

Each figure is the median of the pairs' ratios, now / before. CPU time is read from the server's own clock, for all
its threads together, so that other programs on the machine disturb it less than wall time. Writes FILE (JSON) and prints a
table; exits with 1 if a ratio is above --most.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), x) for x in ("", "serve")]

import machine  # noqa: E402
import record  # noqa: E402
from server import Load, Server, learn, run_json, say  # noqa: E402

TEXT = "A young man in a red jacket is riding a bicycle on a narrow road near the river."
# Options that both revisions have.
SERVER = ("--workers", "1", "--compute-threads", "1")


def cpu_ns(pid):
    """CPU time of a running process in nanoseconds, from the clock of clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


class Http:
    """A case: requests for one sentence, one at a time."""

    def __init__(self, name, text, options, requests):
        self.text, self.name, self.options, self.requests = text, name, options, requests

    def __call__(self, programs, a):
        with Server(programs, a.models, (*SERVER, *self.options)) as server:
            learn(a.programs, server, a.items, a.items + ".learnt")  # each revision learns its own: the form of answers has changed
            load = Load(a.programs, a.items + ".learnt")
            load(server, "closed", "--concurrency", "1", "--requests", str(max(50, self.requests // 10)))
            before = cpu_ns(server.pid)
            report = load(server, "closed", "--concurrency", "1", "--requests", str(self.requests))
            used = cpu_ns(server.pid) - before
        answered = report["ok"]
        if answered != self.requests:
            raise SystemExit(f"pairs: {self.name}: {answered} of {self.requests} requests were answered well: {report}")
        return used / answered / 1e6


class Step:
    def __init__(self, name, text, rows, length):
        self.text, self.name, self.rows, self.length = text, name, rows, length

    def __call__(self, programs, a):
        beam = 4
        report = run_json([os.path.join(programs, "step-bench"), "--vocab", "32000", "--type", "int8", "--beam", beam,
                           "--sentences", self.rows // beam, "--source", "25", "--length", self.length,
                           "--threads", "1", "--reps", "3", "--cpu-time"])
        return report["step_ms"]


def measure(case, a):
    pairs = []
    for i in range(a.pairs):
        pair = {}
        # The two take turns at going first, because the second run may find a warmer machine.
        for which in ("now", "before") if i % 2 else ("before", "now"):
            pair[which] = case(a.programs if which == "now" else a.before, a)
        pairs.append(pair)
        say(f"  {case.name}: before {pair['before']:.4f} ms, now {pair['now']:.4f} ms")
    ratios = [p["now"] / p["before"] for p in pairs]
    return {"what": case.text, "before_ms": statistics.median(p["before"] for p in pairs),
            "now_ms": statistics.median(p["now"] for p in pairs), "ratio": statistics.median(ratios),
            "least": min(ratios), "largest": max(ratios), "pairs": pairs}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--programs", required=True)
    p.add_argument("--before", required=True)
    p.add_argument("--models", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--revision", default="unknown")
    p.add_argument("--before-revision", default="unknown")
    p.add_argument("--pairs", type=int, default=10)
    p.add_argument("--most", type=float, default=1.03)
    p.add_argument("--only", default="cached,uncached,rows-4,rows-128")
    p.add_argument("--quick", action="store_true", help="short runs that show that it works; nothing is written")
    a = p.parse_args()
    if a.quick:
        a.pairs = min(a.pairs, 2)
    with tempfile.TemporaryDirectory() as work:
        a.items = os.path.join(work, "items.jsonl")
        with open(a.items, "w", encoding="utf-8") as f:
            json.dump({"class": "one", "body": {"source": "en", "target": "de", "text": TEXT}}, f)
            f.write("\n")
        n = 10 if a.quick else 1
        cases = (Http("cached", "a sentence that the cache has, over HTTP", ("--cache-bytes", "1048576"),
                      20000 // n),
                 Http("uncached", "a sentence over HTTP, without a cache", (), 1000 // n),
                 Step("rows-4", "a step of the base int8 model, 4 rows", 4, 60 // n),
                 Step("rows-128", "a step of the base int8 model, 128 rows", 128, 30 // n))
        figures = {c.name: measure(c, a) for c in cases if c.name in a.only.split(",")}
    report = {"machine": machine.describe(), "revision": a.revision, "before": a.before_revision, "quick": a.quick,
              "figures": figures}
    if not a.quick:
        record.write(os.path.dirname(a.out), os.path.basename(a.out), {"": report})
    print(f"CPU time, {a.before_revision} and {a.revision}: medians of {a.pairs} alternating pairs\n")
    print("| | before, ms | now, ms | ratio | of single pairs |\n|---|---|---|---|---|")
    for f in figures.values():
        print(f"| {f['what']} | {f['before_ms']:.4f} | {f['now_ms']:.4f} | {f['ratio']:.3f} "
              f"| {f['least']:.3f} to {f['largest']:.3f} |")
    return any(f["ratio"] > a.most for f in figures.values())


if __name__ == "__main__":
    sys.exit(main())
