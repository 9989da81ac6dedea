#!/usr/bin/env python3
"""Runs Dragoman and CTranslate2 alternately on the same weights and sentences; writes one JSON file a machine.

  compare.py --programs DIR --bundle DIR --int8 DIR --short DIR --peer DIR --peer-int8 DIR --sentences FILE --out bench/results [--pairs N] [--only TEXT]
             [--brief]

Each repetition is ours, then the peer's, each in a fresh process: a busy neighbour or a hot CPU hurts both alike.
Both clocks run from pieces to pieces, loading left out.
CPU time, too, is compared: with one thread a worker it does not see who else uses the cores (CTranslate2's several threads
wait busily, and look slower than they are; where one thread is faster for it, it gets one). foreign_cpus says how many cores others used meanwhile; a repetition with much of that is not to be trusted.
Beside the comparison: what memory and cores give at most (limits-bench), and what a step spends its time on (step-bench).
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import compare_chart  # noqa: E402
import machine  # noqa: E402
import record  # noqa: E402
import regressions  # noqa: E402
import tables  # noqa: E402

LENGTH = 27


def list_settings(brief=False):
    """All settings, cheap ones first, so that an interrupted run has shown the most. brief: those of the short form, with fewer pairs."""
    latency = [dict(type=t, mode="latency", beam=beam, workers=1, threads=threads, pairs=3)
               for t in ("int8", "float32") for threads in (1, 2) for beam in (4, 1)]
    throughput = [dict(type=t, mode="throughput", beam=beam, workers=2, threads=1, pairs=pairs)
                  for t, pairs in (("int8", 3), ("float32", 2)) for beam in (4, 1)]
    short = dict(type="int8", mode="latency", beam=4, workers=1, threads=1, pairs=3, shortlist=True)
    every = latency[:2] + [short] + latency[2:] + throughput
    if not brief:
        return every
    few = [s for s in every if s["type"] == "int8" or (s["mode"], s["beam"], s["threads"]) == ("latency", 4, 1)]
    return [{**s, "pairs": 2 if s["mode"] == "latency" else 1} for s in few]


def measure(command):
    """(the program's JSON with its peak memory added, number of cores that other programs used meanwhile)"""
    with machine.Others() as others:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            out, err = process.stdout.read(), process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{shlex.join(command)}: {err}")
    result = json.loads(out)
    result["peak_mb"] = round(usage.ru_maxrss * 1024 / 1e6, 1)
    return result, others.cores


def summary(key, results):
    figures = [r[key] for r, _ in results]
    middle = statistics.median(figures)
    return {"backend": results[0][0]["backend"], key: round(middle, 2), "runs": [round(x, 2) for x in figures],
            "spread_percent": round(100 * (max(figures) - min(figures)) / middle, 1),
            "cpu_s": round(statistics.median(r["cpu_s"] for r, _ in results), 4),
            "peak_mb": max(r["peak_mb"] for r, _ in results), "foreign_cpus": [f for _, f in results]}


def fastest(key, commands):
    """(threads, command) of the fastest among commands {threads: command}. Runs each once, unless there is only one."""
    if len(commands) == 1:
        return next(iter(commands.items()))
    figures = {threads: measure(command)[0][key] for threads, command in commands.items()}
    best = (min if key == "p50_ms" else max)(figures, key=figures.get)
    return best, commands[best]


def compare(a, s):
    key = "p50_ms" if s["mode"] == "latency" else "tokens_per_s"
    length = s.get("length", LENGTH)
    common = ["--sentences", a.sentences, "--mode", s["mode"], "--beam", str(s["beam"]), "--length", str(length),
              "--workers", str(s["workers"]), "--reps", "2" if s["mode"] == "latency" and s["type"] == "int8" else "1"]
    if s["mode"] == "latency":
        common += ["--src-len", str(length)]
    bundle = a.short if s.get("shortlist") else a.int8 if s["type"] == "int8" else a.bundle
    ours = [os.path.join(a.programs, "dragoman"), "bench", "--model", bundle, "--json"] + common + \
        ["--threads", str(s["threads"])]
    peer = [sys.executable, os.path.join(HERE, "ct2.py"), "bench", "--model", a.peer_int8 if s["type"] == "int8" else a.peer,
            "--compute", s["type"]] + common
    peer_threads, theirs = fastest(key, {n: peer + ["--threads", str(n)] for n in sorted({1, s["threads"]})})
    results = {"ours": [], "peer": []}
    for _ in range(a.pairs or s["pairs"]):
        results["ours"].append(measure(ours))
        results["peer"].append(measure(theirs))
    mine, other = summary(key, results["ours"]), summary(key, results["peer"])
    if {r["tokens_out"] for r, _ in results["ours"]} != {r["tokens_out"] for r, _ in results["peer"]} and \
            s["mode"] == "throughput":
        sys.exit(f"not the same work: {results}")
    ratio = other[key] / mine[key] if key == "p50_ms" else mine[key] / other[key]
    by_cpu = other["cpu_s"] / mine["cpu_s"]
    fewer = " (1 thread)" if peer_threads < s["threads"] else ""
    print(f"{regressions.name(s):<62}{key:<13} ours {mine[key]:>8.1f}   CTranslate2 {other[key]:>8.1f}{fewer}   {ratio:.2f}x as fast"
          f", by CPU time {by_cpu:.2f}x", flush=True)
    return {**{k: v for k, v in s.items() if k != "pairs"}, "length": length, "ours": mine, "peer": other, "peer_threads": peer_threads,
            "times_as_fast": round(ratio, 3), "times_as_fast_by_cpu_time": round(by_cpu, 3),
            "commands": [shlex.join(["dragoman"] + ours[1:]), shlex.join(["python3", "bench/peer/ct2.py"] + theirs[2:])]}


def step_table(a, limits, sentences, beam, threads=1):
    """One step-bench run: per-op shares, and how near a step comes to the machine's limits."""
    command = [os.path.join(a.programs, "step-bench"), "--model", a.int8, "--sentences", str(sentences), "--beam",
               str(beam), "--threads", str(threads), "--reps", "20" if sentences == 1 else "3", "--ops"]
    result, foreign = measure(command)
    result["foreign_cpus"] = foreign
    steps = [o for o in result["ops"] if o["phase"] == "step" and "gop_s" in o and not o["op"].startswith("cross.kv")]
    calls = result["ops"] and sum(o["calls"] for o in steps if o["op"] == "self.qkv.w") / 6
    gigabytes = sum(o["weights_gb_s"] * o["ms"] for o in steps) * 1e-3 / calls
    operations = sum(o["gop_s"] * o["ms"] for o in steps) * 1e-3 / calls
    seconds = result["step_ms"] * 1e-3
    result["step_weights_gb_s"], result["step_gop_s"] = round(gigabytes / seconds, 2), round(operations / seconds, 1)
    read = limits["step_weights_gb_s"].get(str(threads)), limits["memory_gb_s"].get(str(threads))
    result["percent_of_reading_weights"], result["percent_of_reading_memory"] = (
        round(100 * gigabytes / seconds / x, 1) if x else None for x in read)
    for name in ("int8", "int8_paired"):  # paired: the limit of our own paired sums, which VNNI does not need
        if name + "_gop_s" in limits:
            result[f"percent_of_{name}_limit"] = round(100 * operations / seconds / (limits[name + "_gop_s"] * threads), 1)
    print(f"step, {sentences} x beam {beam}, {threads} thread(s): {result['step_ms']:.2f} ms; weights "
          f"{result['step_weights_gb_s']:.1f} GB/s ({result['percent_of_reading_memory']} % of reading memory, "
          f"{result['percent_of_reading_weights']} % of reading as much again and again), {result['step_gop_s']:.0f} GOP/s "
          f"({result['percent_of_int8_limit']} % of the instructions' limit"
          + (f", {result['percent_of_int8_paired_limit']} % with paired sums" if "percent_of_int8_paired_limit" in result else "")
          + f"); ops sum to {result['ops_percent']:.1f} %")
    return result


def measure_memory(a):
    """Resident memory with 32 sentences of 27 tokens in flight at beam 4, with the cache filled as in their worst case."""
    command = [os.path.join(a.programs, "step-bench"), "--model", a.int8, "--sentences", "32", "--beam", "4", "--source",
               "27", "--length", "77", "--reps", "1"]
    result, _ = measure(command)
    print(f"resident with 32 sentences at beam 4 and 77 positions: {result['resident_mb']:.0f} MB")
    return {"sentences": 32, "beam": 4, "source": 27, "length": 77, "resident_mb": round(result["resident_mb"], 1),
            "peak_mb": result["peak_mb"]}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("programs", "bundle", "int8", "short", "peer", "peer-int8", "sentences", "out"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--pairs", type=int, default=0, help="repetitions of every setting (default 3; long ones 2)")
    p.add_argument("--only", default="", help="only settings with this in their names (\"steps\": the tables); nothing is written")
    p.add_argument("--brief", action="store_true", help="the short form, five minutes at most: fewer settings and pairs; nothing is written")
    p.add_argument("--merge", action="store_true", help="with --only: write them into the result that is there")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    begin, now = time.time(), record.now()
    limits = json.loads(subprocess.run([os.path.join(a.programs, "limits-bench")], capture_output=True, check=True).stdout)
    print(f"limits: {limits}")
    result = {
        "date": now,
        "machine": machine.describe(),
        "revision": a.revision,
        "model": "base (6 layers, 512/2048, 8 heads, vocabulary 32,000), random weights, 27 tokens in and out, forced",
    }
    if "steps" in a.only or not a.only:
        result["limits_of_one_core"] = limits
        shapes = [(1, 4), (1, 1), (32, 4)] if a.brief else [(1, 4), (1, 1), (32, 4), (64, 1), (1, 4, 2)]
        result["steps"] = [step_table(a, limits, *shape) for shape in shapes]
        result["memory"] = measure_memory(a)
    result["settings"] = [{**compare(a, s), "date": now, "revision": a.revision} for s in list_settings(a.brief)
                          if a.only in regressions.name(s)]
    result["seconds"] = round(time.time() - begin)
    print(f"{result['seconds']} s")
    regressions.say(os.path.join(a.out, f"cpu-{machine.slug()}.json"), result)  # before the file is overwritten
    write(a, result)


def merge(old, new):
    """The settings of both results; where both have one, the new one counts."""
    done = {regressions.name(s) for s in new["settings"]}
    kept = [{"date": old["date"], "revision": old["revision"], **s} for s in old["settings"] if regressions.name(s) not in done]
    order = [regressions.name(s) for s in list_settings()]
    both = sorted(kept + new["settings"], key=lambda s: order.index(regressions.name(s)))
    return {**old, **new, "settings": both}


def write(a, result):
    if a.brief or a.only and not a.merge:
        return
    name = f"cpu-{machine.slug()}"
    path = os.path.join(a.out, f"{name}.json")
    if a.merge and os.path.exists(path):
        result = merge(record.read(path), result)
    texts = {".json": result, ".svg": compare_chart.draw(result)}
    if "steps" in result:
        texts[".md"] = tables.document(result)
    print(record.write(a.out, name, texts))


if __name__ == "__main__":
    main()
