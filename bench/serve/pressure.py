"""Ten times the capacity for a minute, the effect of the workers' priority under that load, and short sentences beside paragraphs."""
import json
import math
import os
import random
import statistics
import threading
import time
import urllib.request

import scenarios
import sentences
from server import Failure, Load, learn, say

PARAGRAPH_SHARES = ("--share", "short=0.8", "--share", "paragraph=0.2")


def percentile(values, rank):
    """The nearest-rank percentile; None without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(rank / 100 * len(ordered)) - 1)] if ordered else None


class Probe:
    """Asks for /livez ten times a second over one connection at a time; keeps the milliseconds of each answer."""

    def __init__(self, server):
        self.url, self.took, self.stop = f"http://127.0.0.1:{server.port}/livez", [], threading.Event()
        self.thread = threading.Thread(target=self.go_on)

    def go_on(self):
        while not self.stop.wait(0.1):
            start = time.monotonic()
            try:
                with urllib.request.urlopen(self.url, timeout=30) as reply:
                    reply.read()
            except OSError:
                self.took.append(30000.0)
                continue
            self.took.append(1e3 * (time.monotonic() - start))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def ten_times(bench, seconds, seed, *options):
    """Load the server with ten times its capacity: latencies of accepted and of refused requests, all classes together, in ms."""
    with bench.server(*options) as server:
        # The server learns its speed first: a real one is not overloaded from its first minute.
        bench.load(server, "closed", "--concurrency", 16, "--seconds", 4, *scenarios.SHARES)
        with Probe(server) as probe:
            report = bench.load(server, "run", "--phase", f"{10 * bench.capacity}:{seconds}", "--seed", seed,
                                "--connections", 8000, "--trace", bench.trace, *scenarios.SHARES)
    took = {"ok": [], "refused": []}
    for row in scenarios.read_trace(bench.trace):
        took.setdefault(row["outcome"], []).append((int(row["done_ns"]) - int(row["due_ns"])) / 1e6)
    answered = {f"{name}_{rank}_ms": percentile(took[name], n) for name in ("ok", "refused")
                for rank, n in (("p50", 50), ("p99", 99))}
    return {**answered, "answers_per_s": len(took["ok"]) / seconds, "probe_p99_ms": percentile(probe.took, 99),
            "report": scenarios.brief(report)}


def show(name, r):
    def figure(key):
        return "-" if r[key] is None else f"{r[key]:.1f}"
    say(f"  {name}: accepted p50 {figure('ok_p50_ms')}, p99 {figure('ok_p99_ms')}; refused p50 {figure('refused_p50_ms')}, p99 "
        f"{figure('refused_p99_ms')}; /livez p99 {figure('probe_p99_ms')} ms; {figure('answers_per_s')} answers/s; "
        f"CPUs {r['report']['cpus']}")


def sustained(bench):
    """A minute of ten times the capacity."""
    bench.need_capacity()
    bound = float(bench.setting("max_queue_seconds"))
    r = ten_times(bench, 4 if bench.a.quick else 60, 31)
    bench.results["sustained"] = r
    show("10x for a minute", r)
    bench.clean("10x for a minute", r["report"])
    bench.claim("10x for a minute: p99 of accepted requests / queue bound",
                r["ok_p99_ms"] / 1e3 / bound if r["ok_p99_ms"] else None, 1.5)
    bench.claim("10x for a minute: p50 of refusals, ms", r["refused_p50_ms"], 5)
    bench.claim("10x for a minute: p99 of /livez, ms", r["probe_p99_ms"], 50)
    bench.claim("10x for a minute: answers/s / capacity", r["answers_per_s"] / bench.capacity, 0.8, False)


def nice(bench):
    """The same for a shorter time with the workers at several priorities, in turns, to compare them."""
    bench.need_capacity()
    seconds, turns = (2, 1) if bench.a.quick else (12, 3)
    runs = {value: [] for value in ("0", "5", "10")}
    for turn in range(turns):
        for value in sorted(runs, reverse=turn % 2 == 1):
            runs[value].append(ten_times(bench, seconds, 40 + turn, "--worker-nice", value))
            show(f"--worker-nice {value}", runs[value][-1])
    bench.results["nice"] = runs
    for value, list_ in runs.items():
        medians = {key: statistics.median(r[key] for r in list_ if r[key] is not None)
                   for key in ("ok_p99_ms", "refused_p50_ms", "probe_p99_ms", "answers_per_s")}
        say(f"  median, --worker-nice {value}: " + ", ".join(f"{k} {v:.1f}" for k, v in medians.items()))
        bench.clean(f"--worker-nice {value}", *(r["report"] for r in list_))


def write_paragraphs(path, pair, n):
    """Write n items: texts of 100 to 200 words, in sentences of 8 to 20 words."""
    rng = random.Random(7)
    with open(path, "w", encoding="utf-8") as f:
        for _ in range(n):
            words, text = rng.randint(100, 190), []
            while sum(len(s.split()) for s in text) < words:
                text.append(sentences.sentence(rng, rng.randint(6, 14)))
            f.write(json.dumps({"class": "paragraph", "body": {"text": " ".join(text), "source": pair[0], "target": pair[1]}}) + "\n")


def learn_paragraphs(bench):
    """Learn items of short sentences and of paragraphs, with the answer that each gets alone."""
    candidates, learned, both = (os.path.join(bench.a.work, f"paragraphs-{x}.jsonl") for x in ("candidates", "learned", "items"))
    model = bench.results["model"]
    write_paragraphs(candidates, (model["source"], model["target"]), 12 if bench.a.quick else 60)
    with bench.server() as server:
        learn(bench.a.programs, server, candidates, learned)
    with open(both, "w", encoding="utf-8") as out, open(bench.items, encoding="utf-8") as short, open(learned, encoding="utf-8") as f:
        out.writelines(line for line in short if json.loads(line)["class"] == "short")
        for line in f:
            item = json.loads(line)
            words, parts = len(item["body"]["text"].split()), len(item["answer"]["translations"][0]["sentences"])
            if not (100 <= words <= 220 and parts >= 5):
                raise Failure(f"a paragraph has {words} words in {parts} sentences")
            out.write(line)
    return Load(bench.a.programs, both)


def paragraphs(bench):
    """Short sentences at 70 % of the capacity for this mix, with and without the paragraphs, in turns."""
    load = learn_paragraphs(bench)
    with bench.server("--max-queue-seconds", "60") as server:
        closed = load(server, "closed", "--concurrency", 32, "--seconds", 3 if bench.a.quick else 14, "--warm-up",
                      1 if bench.a.quick else 4, *PARAGRAPH_SHARES)
    capacity = closed["throughput"]["answers_per_s"]
    if capacity <= 0:
        raise Failure("the server answers nothing in the time given")
    say(f"capacity of short ones and paragraphs: {capacity:.1f} requests/s")
    runs, seconds = [], 3 if bench.a.quick else 16
    with bench.server() as server:
        load(server, "closed", "--concurrency", 8, "--seconds", 3, *PARAGRAPH_SHARES)
        for seed in range(1 if bench.a.quick else 3):
            one = {}
            for name, more in (("without", ("--only", "short")), ("with", ())):
                one[name] = scenarios.brief(load(server, "run", "--phase", f"{0.7 * capacity}:{seconds}", "--seed", 60 + seed,
                                                 *PARAGRAPH_SHARES, *more))
            say("  short ones, p50 and p99 ms: " + "; ".join(
                f"{k} {scenarios.p(r, 'short', rank='p50'):.1f}, {scenarios.p(r, 'short'):.1f}" for k, r in one.items()))
            runs.append(one)
    bench.results["paragraphs"] = {"capacity": scenarios.brief(closed), "runs": runs}
    bench.clean("paragraphs, closed loop", closed, refusals=False)
    bench.clean("paragraphs", *(r for one in runs for r in one.values()))
    bench.claim("70 %: p99 of short ones beside paragraphs / without",
                statistics.median(scenarios.p(r["with"], "short") / scenarios.p(r["without"], "short") for r in runs), 2)
