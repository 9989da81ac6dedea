#!/usr/bin/env python3
"""Beam and length penalty on a development set: BLEU, length against the reference, CPU time, and how many of the steps up to
the output limit were taken before early termination. Writes bench/results/paper/decoding.json and
.svg, with the bundle's own choice for the pair (what `dragoman-train calibrate`, or the converter, left in its manifest) marked.

  decoding.py --model BUNDLE --source FILE --target FILE [--from en --to de] [--lines 200] [--beams 1,2,4,8,16] [--penalties 0,0.3,0.6,1,1.5,2]

A point that the result has already, for the same bundle and lines, is not measured again.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

import chart  # noqa: E402
import machine  # noqa: E402
import record  # noqa: E402
import texts  # noqa: E402

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")


def own_choice(manifest, pair):
    """(beam, penalty, cap): the penalty counts at most cap times the source's tokens; 0: no cap."""
    decoding = manifest["decoding"]
    way = manifest.get("pair_decoding", {}).get(pair, {})
    return (decoding.get("beam_size", decoding.get("beam", 4)), way.get("length_penalty", decoding.get("length_penalty", decoding.get("alpha", 0.6))),
            way.get("length_penalty_cap", 0))


def key(point):
    return point["beam"], point["length_penalty"], point.get("length_penalty_cap", 0)


def measure(a, folder, beam, penalty, cap):
    before = machine.children_seconds()
    out = subprocess.run([f"{BIN}/dragoman", "translate", "--model", a.model, "--source-lang", a.source_lang, "--target-lang", a.target_lang, "--workers", "1",
                          "--keep-loops", "--json", "--steps", "--beam-size", str(beam), "--length-penalty", str(penalty),
                          *(["--length-penalty-cap", str(cap)] if cap else []), os.path.join(folder, "source")],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    cpu = machine.children_seconds() - before
    answers = texts.write(os.path.join(folder, "answers"), [json.loads(x)["text"] for x in out.splitlines()])
    taken, most = (sum(json.loads(x)["steps"][i] for x in out.splitlines()) for i in (0, 1))
    said = subprocess.run([f"{BIN}/dragoman-train", "bleu", answers, os.path.join(folder, "target")], capture_output=True, text=True,
                          check=True).stdout
    found = re.search(r"= ([\d.]+) .*ratio = ([\d.]+)", said)
    return {"beam": beam, "length_penalty": penalty, **({"length_penalty_cap": cap} if cap else {}), "bleu": float(found.group(1)), "length_ratio": float(found.group(2)),
            "steps": taken, "most_steps": most, "cpu_ms_a_line": round(1000 * cpu / a.lines, 1)}


def draw(result):
    """A curve of BLEU over the penalty for each beam; the bundle's own point is marked."""
    points, own = result["points"], result["own"]
    beams = sorted({p["beam"] for p in points})
    curves = [chart.Curve(f"beam {beam}", [(p["length_penalty"], p["bleu"]) for p in points if p["beam"] == beam and not key(p)[2]], i, dots=True)
              for i, beam in enumerate(beams)]
    curves.append(chart.Curve("the bundle's own", [(own["length_penalty"], own["bleu"])], len(beams), dots=True))
    penalties = sorted({p["length_penalty"] for p in points})
    x = chart.Axis("length penalty α", penalties, ticks=penalties)
    y = chart.Axis(f"BLEU on {result['lines']} lines", [p["bleu"] for p in points]).widen(0.08)
    counted = f", at most {key(own)[2]:g} × source" if key(own)[2] else ""
    mark = (own["length_penalty"], f"the bundle's own: beam {own['beam']}, α {own['length_penalty']:g}{counted}")
    return chart.document(560, 430, chart.panel("BLEU over the length penalty", x, y, curves, 550, 420, [mark]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", required=True)
    p.add_argument("--source", required=True)
    p.add_argument("--target", required=True)
    p.add_argument("--from", dest="source_lang", default="en")
    p.add_argument("--to", dest="target_lang", default="de")
    p.add_argument("--lines", type=int, default=200)
    p.add_argument("--beams", default="1,2,4,8,16")
    p.add_argument("--penalties", default="0,0.3,0.6,1,1.5,2")
    p.add_argument("--out", default="bench/results/paper")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    manifest = record.read(os.path.join(a.model, "manifest.json"))
    own = own_choice(manifest, f"{a.source_lang}-{a.target_lang}")
    what = {"bundle": manifest["name"], "version": manifest["version"], "source": os.path.basename(a.source), "lines": a.lines,
            "pair": f"{a.source_lang}-{a.target_lang}"}
    result = record.read_if_there(os.path.join(a.out, "decoding.json"), {})
    if {k: result.get(k) for k in what} != what:
        result = {**what, "points": []}
    result.update(date=record.today(), machine=machine.describe(), revision=a.revision)
    wanted = [(int(b), float(x), 0) for b in a.beams.split(",") for x in a.penalties.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for name, file in (("source", a.source), ("target", a.target)):
            texts.write(os.path.join(folder, name), texts.lines(file, a.lines))
        for point in [own, *wanted]:
            if not any(key(x) == point for x in result["points"]):
                result["points"].append(measure(a, folder, *point))
                result["own"] = next(x for x in result["points"] if key(x) == own)
                record.write(a.out, "decoding", {".json": result, ".svg": draw(result)})
                print(result["points"][-1], flush=True)


if __name__ == "__main__":
    main()
