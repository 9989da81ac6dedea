#!/usr/bin/env python3
"""Table 1 of the paper, measured: the time of a layer as length n and dimension d grow, beside its multiplications, sequential
operations and maximum path length. Writes bench/results/paper/table1.json and .svg. About a minute of one core.

  table1.py [--quick] [--out bench/results/paper] [--revision TEXT]

CPU time of the process on one thread, the least of several runs: other programs on the machine disturb it little.
"""
import argparse
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy loads its BLAS

import numpy as np  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import chart  # noqa: E402
import layers  # noqa: E402
import machine  # noqa: E402
import paths  # noqa: E402
import record  # noqa: E402

FIXED_N, FIXED_D = 256, 512
LENGTHS, DIMENSIONS = [16, 32, 64, 128, 256, 512, 1024, 2048], [64, 128, 256, 512, 1024]
GRAPHS = {"self-attention": paths.self_attention(), "recurrent": paths.recurrent(), "convolution": paths.convolution(layers.K),
          "separable": paths.convolution(layers.K), "dilated": paths.dilated_convolution(layers.K),
          "restricted": paths.restricted_self_attention(layers.R)}


def graph_of(name):
    """Finds the graph by the name's first word: "dilated convolution, k = 7"."""
    return GRAPHS[name.replace(",", " ").split()[0]]


def milliseconds(layer, x, seconds):
    """The least CPU time of one run, over as many runs as fit into `seconds`, at least three."""
    best, spent, runs = float("inf"), 0.0, 0
    while runs < 3 or spent < seconds:
        start = time.process_time()
        layer(x)
        one = time.process_time() - start
        best, spent, runs = min(best, one), spent + one, runs + 1
    return round(1000 * best, 4)


def slope(points):
    """Slope of log(y) over log(x) by least squares, over the upper half of the points: in small ones, fixed costs hide the growth."""
    points = points[(len(points) - 1) // 2:]
    logs = np.log(np.array(points, dtype=float))
    return round(float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0]), 2)


def measure(name, seconds, lengths, dimensions):
    rng = np.random.default_rng(1)
    count = layers.MULTIPLICATIONS[name]

    def point(x, n, d):
        layer = layers.LAYERS[name](rng, d)
        return {"x": x, "ms": milliseconds(layer, rng.standard_normal((n, d)).astype(np.float32), seconds), "multiplications": count(n, d)}

    sweeps = {"n": [point(n, n, FIXED_D) for n in lengths], "d": [point(d, FIXED_N, d) for d in dimensions]}
    graph = graph_of(name)
    found = {"name": name, "sweeps": sweeps,
             "growth": {k: {"time": slope([(p["x"], p["ms"]) for p in v]), "multiplications": slope([(p["x"], p["multiplications"]) for p in v])}
                        for k, v in sweeps.items()},
             "paths": [{"n": n, "found": paths.maximum_path_length(graph, n), "formula": graph.formula(n),
                        "sequential": paths.sequential_operations(graph, n)} for n in (8, 16, 32, 64)]}
    print(f"{name}: time grows with n ^ {found['growth']['n']['time']}, d ^ {found['growth']['d']['time']}", file=sys.stderr, flush=True)
    return found


def draw(result):
    parts = []
    for i, (axis, name, fixed) in enumerate((("n", "length n", f"d = {FIXED_D}"), ("d", "dimension d", f"n = {FIXED_N}"))):
        curves = [chart.Curve(f"{x['name']}: time grows as {axis} to the power {x['growth'][axis]['time']}",
                              [(p["x"], max(p["ms"], 1e-3)) for p in x["sweeps"][axis]], k, k % len(chart.DASHES), True) for k, x in enumerate(result["layers"])]
        ticks = sorted({p["x"] for x in result["layers"] for p in x["sweeps"][axis]})
        x = chart.Axis(name, ticks, True, ticks=ticks)
        y = chart.Axis("milliseconds", [v for c in curves for _, v in c.points], True).widen(0.1)
        parts += chart.at(i * 470, 0, chart.panel(f"Time of a layer over its {name}, {fixed}", x, y, curves, 460, 420))
    return chart.document(940, 430, parts)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", default="bench/results/paper")
    p.add_argument("--quick", action="store_true", help="a few points, to see that it works")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    some = slice(None, None, 3) if a.quick else slice(None)
    result = {"date": record.now(), "machine": machine.describe(), "revision": a.revision,
              "clock": "CPU time, one thread", "fixed": {"n": FIXED_N, "d": FIXED_D},
              "layers": [measure(name, 0.05 if a.quick else 0.4, LENGTHS[some], DIMENSIONS[some]) for name in layers.LAYERS]}
    print(record.write(a.out, "table1", {".json": result, ".svg": draw(result)}))


if __name__ == "__main__":
    main()
