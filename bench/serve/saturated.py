"""Sixteen clients that ask again at once, and one worker: how queue order and rows per step affect latency."""
import json
import os
import statistics

import texts
from server import Load, learn, say

CLIENTS = 16
WAYS = {"default": (), "by arrival": ("--batching", "fifo"), "8 rows": ("--step-rows", "8"), "16 rows": ("--step-rows", "16"),
        "32 rows": ("--step-rows", "32"), "all rows": ("--step-rows", "4096")}


def write_lines(path, lines, pair):
    """Write an item, its answer still to be learned, for each line of the file that is not blank."""
    with open(path, "w", encoding="utf-8") as out:
        for line in texts.lines(lines, None):
            if line.strip():
                body = {"text": line.strip(), "source": pair[0], "target": pair[1]}
                out.write(json.dumps({"class": "line", "body": body}, ensure_ascii=False) + "\n")


def learn_lines(bench):
    """The lines as items with the answer that each gets alone. Returns a Load of them."""
    raw, items = (os.path.join(bench.a.work, f"{name}.jsonl") for name in ("lines-raw", "lines"))
    model = bench.results["model"]
    write_lines(raw, bench.a.lines, (model["source"], model["target"]))
    with bench.server() as server:
        learn(bench.a.programs, server, raw, items)
    return Load(bench.a.programs, items)


def run_one(bench, load, way, seed):
    """Returns (figures, reports)."""
    with bench.server("--workers", "1", *WAYS[way]) as server:
        # A lone client first: figures that the server learns from it must not matter later among many.
        alone = load(server, "closed", "--concurrency", 1, "--seconds", 1, "--seed", seed)
        report = load(server, "closed", "--concurrency", CLIENTS, "--seconds", 3 if bench.a.quick else 10,
                      "--warm-up", 1, "--seed", seed)
    took = report["phases"][0]["classes"]["line"]["latency_ms"]
    return {"p50_ms": took["p50"], "p99_ms": took["p99"], "answers_per_s": report["throughput"]["answers_per_s"],
            "cpus": report["cpus"]}, (alone, report)


def saturated(bench):
    """Run each of WAYS in turns, every other turn in reverse order."""
    load, runs, reports = learn_lines(bench), {way: [] for way in WAYS}, []
    for turn in range(1 if bench.a.quick else 5):
        for way in sorted(WAYS, reverse=turn % 2 == 1):
            figures, more = run_one(bench, load, way, 70 + turn)
            runs[way].append(figures)
            reports += more
    medians = {}
    for way, list_ in runs.items():
        medians[way] = {key: statistics.median(r[key] for r in list_) for key in ("p50_ms", "p99_ms", "answers_per_s")}
        spread = {key: f"{min(r[key] for r in list_):.0f} to {max(r[key] for r in list_):.0f}" for key in medians[way]}
        say(f"  {way:10} " + ", ".join(f"{key} {value:.0f} ({spread[key]})" for key, value in medians[way].items()))
    bench.results["saturated"] = {"clients": CLIENTS, "runs": runs, "medians": medians}
    bench.clean(f"{CLIENTS} clients, one worker", *reports, refusals=False)
    own, fifo = medians["default"], medians["by arrival"]
    bench.claim(f"{CLIENTS} clients, one worker: p50 / that in order of arrival", own["p50_ms"] / fifo["p50_ms"], 0.6)
    bench.claim(f"{CLIENTS} clients, one worker: p99 / that in order of arrival", own["p99_ms"] / fifo["p99_ms"], 1.3)
