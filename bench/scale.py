#!/usr/bin/env python3
"""How time grows: with the source's length, the beam, the rows of a batch, the vocabulary, the threads. The base model with
random int8 weights (step-bench); writes bench/results/scale-<cpu>.json and .svg, with growth exponents.

  scale.py --programs DIR --out bench/results [--quick]

An exponent is the slope of log(time) over log(x) by least squares, over all points and over the upper half: 1 is
proportional, 0 is flat. Memory-bound at first, so most begin flat: a decoder step reads all weights for one row as for sixteen.
"""
import argparse
import json
import os
import subprocess
from math import log

import chart
import machine
import record


def run(a, **options):
    command = [os.path.join(a.programs, "step-bench"), "--reps", "1" if a.quick else "3"]
    if options.get("threads", 1) == 1 and a.cpu_time:
        command.append("--cpu-time")
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def slope(points):
    if len(points) < 2:
        return None
    xs, ys = [log(x) for x, _ in points], [log(y) for _, y in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return round(sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs), 3)


def sweep(a, name, field, values, what, **fixed):
    """Run with each value of `field`; `what` names the figures to keep."""
    points = []
    for value in values:
        options = {k: v(value) if callable(v) else v for k, v in fixed.items()}
        result = run(a, **{field: value}, **options)
        points.append({"x": value, **{w: result[w] for w in what}})
        print(f"{name}: {value:>6}  " + "  ".join(f"{w} {result[w]:.3f}" for w in what), flush=True)
    exponents = {}
    for w in what:
        line = [(p["x"], p[w]) for p in points]
        exponents[w] = {"all": slope(line), "upper_half": slope(line[len(line) // 2:])}
    return {"name": name, "varied": field, "fixed": {k: "as varied" if callable(v) else v for k, v in fixed.items()},
            "points": points, "exponents": exponents}


def list_sweeps(a):
    """(name, varied option, its values, figures, fixed options) of each sweep; with --quick only every third value."""
    cores = os.cpu_count() or 1
    rows = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    sweeps = [
        ("source length: encoder and first step", "source", [10, 20, 50, 100, 200, 400], ["best_first_ms"],
         dict(beam=1, length=2)),
        ("length in and out: whole sentence, beam 4", "source", [10, 20, 50, 100, 200, 400], ["best_total_ms", "best_step_ms"],
         dict(beam=4, length=lambda n: n)),
        ("beam: one step", "beam", [1, 2, 4, 8, 16], ["best_step_ms", "resident_mb"], dict(sentences=1)),
        ("rows: one step, greedy", "sentences", rows, ["best_step_ms", "resident_mb"], dict(beam=1, source=27, length=14)),
        ("vocabulary: one step, beam 4", "vocab", [4000, 8000, 16000, 32000, 64000], ["best_step_ms"], dict(beam=4)),
        ("threads: one sentence, beam 4", "threads", sorted({1, 2, 4, 8, 16, cores} & set(range(1, cores + 1))),
         ["best_total_ms"], dict(beam=4)),
    ]
    return [(n, f, v[::3] if a.quick else v, w, x) for n, f, v, w, x in sweeps]


AXES = {"source": "source tokens", "beam": "beam size", "sentences": "sentences at a time", "vocab": "tokens of the vocabulary",
        "threads": "threads"}
FIGURES = {"best_first_ms": "encoder and first step", "best_total_ms": "whole sentence", "best_step_ms": "one decode step"}


def draw(result):
    parts, at = [], 0
    for s in result["sweeps"]:
        if len(s["points"]) < 2:
            continue
        curves = []
        for w, name in FIGURES.items():
            if w in s["points"][0]:
                growth = s["exponents"][w]["upper_half"] or s["exponents"][w]["all"]
                curves.append(chart.Curve(f"{name}: time grows as x to the power {growth:.2f}", [(p["x"], p[w]) for p in s["points"]], len(curves), dots=True))
        x = chart.Axis(AXES[s["varied"]], [p["x"] for p in s["points"]], True, ticks=[p["x"] for p in s["points"]])
        y = chart.Axis("milliseconds", [v for c in curves for _, v in c.points], True).widen(0.1)
        title = s["name"][0].upper() + s["name"][1:]
        parts += chart.at(at % 2 * 430, at // 2 * 290, chart.panel(title, x, y, curves, 420, 280))
        at += 1
    return chart.document(860, (at + 1) // 2 * 290, parts)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--programs", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--quick", action="store_true", help="a few points, to see that it works")
    p.add_argument("--only", default="", help="sweeps with this in their names, into the result that is there")
    p.add_argument("--cpu-time", action="store_true", help="CPU time where one thread runs: for crowded machines")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    result = {"date": record.now(),
              "machine": machine.describe(), "revision": a.revision,
              "model": "base (6 layers, 512/2048, 8 heads, vocabulary 32,000 unless varied), random weights, int8",
              "clock": "CPU time where one thread runs" if a.cpu_time else "wall time",
              "sweeps": [sweep(a, name, field, values, what, **fixed) for name, field, values, what, fixed in list_sweeps(a)
                         if a.only in name]}
    name = f"scale-{machine.slug()}"
    before = os.path.join(a.out, f"{name}.json")
    if a.only and os.path.exists(before):
        old = record.read(before)
        again = {s["name"]: s for s in result["sweeps"]}
        result = {**old, "sweeps": [again.get(s["name"], s) for s in old["sweeps"]]}
    print(record.write(a.out, name, {".json": result, ".svg": draw(result)}))


if __name__ == "__main__":
    main()
