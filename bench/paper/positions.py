#!/usr/bin/env python3
"""Section 3.5 of the paper: sinusoids against learned positions beyond the trained length. Base (seed 2) and row E of the scaled grid
(grid.py), whose models are used where they are in the work folder, are trained on Multi30k, whose sentences are short; then each gives its
probabilities for translations of several sentences of val joined to one, position by position. Learned positions have 256 rows, of which
training touched the first ones alone. Writes bench/results/paper/positions.json. Goes on where it stopped (SIGTERM is fine).

  positions.py --data DIR [--updates N --out DIR] [--threads N] [--list]
"""
import argparse
import json
import math
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import grid  # noqa: E402
import machine  # noqa: E402
import record  # noqa: E402
import texts  # noqa: E402

KINDS = {"sinusoids": grid.Row("base-2", "table3/base", 2), "learned": grid.Row("e-learned", "table3/e-learned", 1)}
JOINED = 8  # sentences to a line
RANGES = ((1, 16), (17, 32), (33, 64), (65, 96), (97, 128), (129, 160))


def core_minutes(updates):
    return sum(grid.core_minutes(grid.scaled(grid.whole(row.recipe)["model"]), updates) for row in KINDS.values())


class Positions(grid.Grid):
    def bundle(self, row):
        """The row's bundle, trained to its end first if necessary; None if stopped."""
        out = os.path.join(self.a.work, row.name + ".bundle")
        if os.path.exists(os.path.join(out, "manifest.json")):
            return out
        if self.train(row) is None:
            return None
        shutil.rmtree(out, ignore_errors=True)
        self.call(f"{grid.BIN}/dragoman-train", "average", os.path.join(self.a.work, row.name), "--last", "1", "--out", out, "--no-scores")
        return out

    def joined(self):
        """Write the source and target files of val with JOINED sentences to a line. Returns their paths."""
        files = []
        for side in ("en", "de"):
            lines = texts.lines(os.path.join(self.a.data, f"multi30k/val.{side}.gz"), None)
            files.append(texts.write(os.path.join(self.a.work, "joined." + side),
                                     [" ".join(lines[i:i + JOINED]) for i in range(0, len(lines) - JOINED + 1, JOINED)]))
        return files

    def scored(self, bundle, files):
        """The log-probabilities of the target pieces, a list for each line."""
        out, _ = self.call(f"{grid.BIN}/dragoman", "score", "--model", bundle, "--json", "--workers", "1", "--source", files[0], "--target", files[1])
        return [[t["logprob"] for t in json.loads(line)["tokens"]] for line in out.splitlines()]

    def longest(self, bundle):
        """Number of pieces of the longest training target, looked for among the two hundred with the most characters."""
        sides = [texts.lines(os.path.join(self.a.data, f"multi30k/train.{side}.gz"), None) for side in ("en", "de")]
        pairs = sorted(zip(*sides), key=lambda pair: -len(pair[1]))[:200]
        files = [texts.write(os.path.join(self.a.work, "long." + side), [pair[i] for pair in pairs]) for i, side in enumerate(("en", "de"))]
        return max(len(x) for x in self.scored(bundle, files))

    def run(self):
        os.makedirs(self.a.work, exist_ok=True)
        bundles = {kind: self.bundle(row) for kind, row in KINDS.items()}
        if self.stopping:
            return
        files = self.joined()
        found = ranges({kind: self.scored(bundle, files) for kind, bundle in bundles.items()})
        longest = self.longest(bundles["sinusoids"])
        if self.stopping:
            return
        print(record.write(self.a.out, "positions", {".json": {
            "what": f"Base and row E of the scaled grid, val in lines of {JOINED} sentences", "updates": self.a.updates, "longest": longest, "ranges": found,
            "precision": self.a.precision, "machine": machine.describe(), "revision": self.a.revision,
            "date": record.today()}}))


def ranges(lines):
    """{kind: lines of log-probabilities} -> rows of the table: perplexity by a piece's position in its line."""
    kinds = list(lines)
    same = zip(*(lines[k] for k in kinds))
    assert all(len({len(x) for x in group}) == 1 for group in same), "the two models cut the lines into other pieces"
    found = []
    for begin, end in RANGES:
        cut = {k: [p for line in lines[k] for p in line[begin - 1:end]] for k in kinds}
        n = len(cut[kinds[0]])
        if n:
            found.append({"from": begin, "to": end, "pieces": n, **{k: math.exp(-sum(v) / n) for k, v in cut.items()}})
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default=os.environ.get("DATA"))
    p.add_argument("--list", action="store_true", help="the estimated minutes of one core, and train nothing")
    p.add_argument("--updates", type=int, default=grid.UPDATES)
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--precision", choices=("fp32", "bf16"), default="bf16" if "avx512_bf16" in machine.cpu_flags() else "fp32")
    p.add_argument("--work", default=".cache/paper-grid")
    p.add_argument("--out", default="bench/results/paper")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    if a.list:
        print(f"{core_minutes(a.updates):.0f} core-minutes of a Zen 3 in fp32")
        return
    if not a.data:
        p.error("--data or DATA must name a folder with multi30k/train.en.gz")
    if a.updates != grid.UPDATES and a.work == p.get_default("work"):
        p.error(f"other than {grid.UPDATES} updates need a --work of their own")
    Positions(a).run()


if __name__ == "__main__":
    main()
