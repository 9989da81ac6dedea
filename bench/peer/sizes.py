#!/usr/bin/env python3
"""Runs Dragoman and CTranslate2 alternately on sizes that users have; writes one JSON file a machine.

  sizes.py --programs DIR --work DIR --out bench/results [--only TEXT]

WORK has base/ and big/ (6 layers, 1024/4096, 16 heads), each with int8/ (ours), ct2-int8/ and sentences.txt. int8, beam 4, one thread a worker:
one sentence of 8, 27, 100 and 250 tokens with base, of 27 with big, and 64 sentences on two workers; then big's start, our own alone.
bench/family measures the shapes of other programs' models (OPUS-MT, Firefox).
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import compare  # noqa: E402
import machine  # noqa: E402
import record  # noqa: E402

STARTS = 5


def list_settings():
    one = dict(type="int8", mode="latency", beam=4, workers=1, threads=1, pairs=3)
    many = dict(type="int8", mode="throughput", beam=4, workers=2, threads=1, pairs=2, length=compare.LENGTH)
    return [("base", {**one, "length": n}) for n in (8, 27, 100, 250)] + [("big", {**one, "length": 27}), ("big", many)]


def measure_start(a, shape):
    """Time from exec to the end of a translation of one token: median seconds and peak memory."""
    with open(os.path.join(a.work, shape, "sentences.txt"), encoding="utf-8") as f:
        token = f.readline().split()[0]
    one = os.path.join(a.work, "one.txt")
    with open(one, "w", encoding="utf-8") as f:
        f.write(token + "\n")
    command = [os.path.join(a.programs, "dragoman"), "translate", "--model", os.path.join(a.work, shape, "int8"), "--tokens", "--beam-size", "1",
               "--max-length", "1", "--workers", "1", one]
    seconds, peak = [], 0
    for _ in range(STARTS):
        start = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds.append(time.monotonic() - start)
        if process.returncode:
            sys.exit(f"{command}: status {process.returncode}")
        peak = max(peak, usage.ru_maxrss * 1024 / 1e6)
    print(f"{shape}: starts and translates a token in {statistics.median(seconds):.3f} s, {peak:.0f} MB at most")
    return {"shape": shape, "seconds": round(statistics.median(seconds), 4), "runs": [round(s, 4) for s in seconds], "peak_mb": round(peak, 1)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("programs", "work", "out"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--only", default="", help="only settings with this in their names, such as \"base 250\"; nothing is written")
    p.add_argument("--pairs", type=int, default=0, help="repetitions of every setting")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    result = {"date": record.now(), "machine": machine.describe(),
              "revision": a.revision, "settings": []}
    for shape, setting in list_settings():
        name = f"{shape} {setting['length']} {setting['mode']}"
        if a.only not in name:
            continue
        print(name, end=": ")
        folder = os.path.join(a.work, shape)
        paths = argparse.Namespace(programs=a.programs, pairs=a.pairs, int8=os.path.join(folder, "int8"),
                                   peer_int8=os.path.join(folder, "ct2-int8"), sentences=os.path.join(folder, "sentences.txt"))
        result["settings"].append({"shape": shape, **compare.compare(paths, setting)})
    if a.only:
        return
    result["starts"] = [measure_start(a, shape) for shape in ("base", "big")]
    name = f"sizes-{machine.slug()}"
    print(record.write(a.out, name, {".json": result}))


if __name__ == "__main__":
    main()
