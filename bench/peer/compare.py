#!/usr/bin/env python3
"""Runs Dragoman and CTranslate2 alternately on the same weights and sentences; writes one JSON file a machine.

  compare.py --dragoman BIN --bundle DIR --peer DIR --sentences FILE --out bench/results [--pairs 3] [--only TEXT]

Each repetition is ours, then the peer's, each in a fresh process: a busy neighbour or a hot CPU hurts both alike.
Both clocks run from pieces to pieces, loading left out.
foreign_cpus says how many cores others used meanwhile; a repetition with much of that is not to be trusted.
"""
import argparse
import datetime
import json
import os
import platform
import re
import resource
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = [
    dict(mode="latency", beam=4, workers=1, threads=1),
    dict(mode="latency", beam=1, workers=1, threads=1),
    dict(mode="throughput", beam=4, workers=2, threads=1),
    dict(mode="throughput", beam=1, workers=2, threads=1),
]
LENGTH = 27


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        names = re.findall(r"^model name\s*:\s*(.*)$", f.read(), re.M)
    return names[0].strip() if names else platform.machine()


def cpu_flags():
    """The instruction sets that matter for speed."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = set(re.search(r"^(?:flags|Features)\s*:\s*(.*)$", f.read(), re.M).group(1).split())
    return [x for x in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile") if x in flags]


def memory_gb():
    with open("/proc/meminfo", encoding="utf-8") as f:
        return round(int(f.readline().split()[1]) / 1e6, 1)


def busy_seconds():
    """CPU seconds of the whole machine (stolen ones too), and those of our finished children."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq + steal) / ticks, own.ru_utime + own.ru_stime


def measure(command):
    """The program's JSON, with what others used of the machine meanwhile."""
    all_before, own_before = busy_seconds()
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: {done.stderr}")
    all_after, own_after = busy_seconds()
    foreign = (all_after - all_before) - (own_after - own_before)
    return json.loads(done.stdout), round(max(0.0, foreign) / wall, 3)


def summary(key, results):
    figures = [r[key] for r, _ in results]
    return {"backend": results[0][0]["backend"], key: round(statistics.median(figures), 2),
            "runs": [round(x, 2) for x in figures], "foreign_cpus": [f for _, f in results]}


def compare(a, setting):
    key = "p50_ms" if setting["mode"] == "latency" else "tokens_per_s"
    common = ["--sentences", a.sentences, "--mode", setting["mode"], "--beam", str(setting["beam"]), "--length",
              str(LENGTH), "--workers", str(setting["workers"]), "--threads", str(setting["threads"]), "--reps",
              "2" if setting["mode"] == "latency" else "1"]
    ours = [a.dragoman, "bench", "--model", a.bundle, "--json"] + common
    theirs = [sys.executable, os.path.join(HERE, "ct2.py"), "bench", "--model", a.peer] + common
    results = {"ours": [], "peer": []}
    for _ in range(a.pairs):
        results["ours"].append(measure(ours))
        results["peer"].append(measure(theirs))
    mine, other = summary(key, results["ours"]), summary(key, results["peer"])
    if {r["pieces_out"] for r, _ in results["ours"]} != {r["pieces_out"] for r, _ in results["peer"]} and \
            setting["mode"] == "throughput":
        sys.exit(f"not the same work: {results}")
    ratio = other[key] / mine[key] if key == "p50_ms" else mine[key] / other[key]
    name = f"{setting['mode']}, beam {setting['beam']}, {setting['workers']} x {setting['threads']} threads"
    print(f"{name:<36} {key:<13} ours {mine[key]:>9.1f}   CTranslate2 {other[key]:>9.1f}   {ratio:.2f}x as fast",
          flush=True)
    return {**setting, "type": "float32", "length": LENGTH, "ours": mine, "peer": other, "times_as_fast": round(ratio, 3),
            "commands": [shlex.join(["dragoman"] + ours[1:]), shlex.join(["python3", "bench/peer/ct2.py"] + theirs[2:])]}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("dragoman", "bundle", "peer", "sentences", "out"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--pairs", type=int, default=3)
    p.add_argument("--only", default="", help="only settings with this in their mode; nothing is written")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    settings = [compare(a, s) for s in SETTINGS if a.only in s["mode"]]
    if a.only:
        return
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "memory_gb": memory_gb(), "flags": cpu_flags(),
                    "kernel": platform.release()},
        "revision": a.revision,
        "model": "base (6 layers, 512/2048, 8 heads, vocabulary 32,000), random weights, 27 pieces in and out, forced",
        "settings": settings,
    }
    slug = re.sub(r"[^a-z0-9]+", "-", f"{cpu_name()} {os.cpu_count()} cores".lower()).strip("-")
    path = os.path.join(a.out, f"cpu-{slug}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    print(path)


main()
