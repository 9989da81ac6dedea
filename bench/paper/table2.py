#!/usr/bin/env python3
"""Table 2 as far as it fits here: what a bundle of this project scores on newstest2014, English to German and to French, by sacreBLEU's
count, beam and length penalty the bundle's own. Writes bench/results/paper/table2.json.

  table2.py --data DIR [--model BUNDLE] [--lines N --out DIR]

DIR has test/newstest2014.en-{de,fr}.*.gz (scripts/get-data).
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import machine  # noqa: E402
import record  # noqa: E402

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")


def score(a, target):
    sides = [os.path.join(a.data, f"test/newstest2014.en-{target}.{side}.gz") for side in ("en", target)]
    before = machine.children_seconds()
    out = subprocess.run([f"{BIN}/dragoman-train", "evaluate", a.model, *sides, "--from", "en", "--to", target, "--threads", "1", "--lines", str(a.lines), "--json"],
                         capture_output=True, text=True, check=True).stdout
    return {**json.loads(out), "cpu_seconds": round(machine.children_seconds() - before, 1)}


def parameters(bundle):
    out = subprocess.run([f"{BIN}/dragoman", "inspect", bundle], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"^parameters +(\d+)", out, re.M).group(1))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default=os.environ.get("DATA"))
    p.add_argument("--model", default="weights/bundles/en-de-fr")
    p.add_argument("--lines", type=int, default=0, help="of each test set; 0: all")
    p.add_argument("--out", default="bench/results/paper")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    if not a.data:
        p.error("--data or DATA must name a folder with test/newstest2014.en-de.en.gz")
    manifest = record.read(os.path.join(a.model, "manifest.json"))
    print(record.write(a.out, "table2", {".json": {
        "bundle": manifest["name"], "version": manifest["version"], "parameters": parameters(a.model), "trained_pairs": manifest["training"]["counts"]["kept"],
        "pairs": {f"en-{target}": score(a, target) for target in ("de", "fr")}, "machine": machine.describe(), "revision": a.revision,
        "date": record.today()}}))


if __name__ == "__main__":
    main()
