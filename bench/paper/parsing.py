#!/usr/bin/env python3
"""Section 6.3 of the paper on free treebanks: a parser of one of two sizes, learning rate and beam chosen on a part of GUM that it does
not see, scored as EVALB does on held-out parts of GUM and CRAFT and on the sample of the Wall Street Journal that NLTK gives out (which
is for evaluation alone). "small" is trained on GUM and CRAFT, "tiny" on GUM. Writes bench/results/paper/parsing-SIZE.json. Goes on where
it stopped (SIGTERM is fine).

  parsing.py --data DIR [--size tiny|small] [--updates N --out DIR] [--threads N] [--list]

DIR has treebank/{gum,craft,wsj-sample}.trees.gz, a bracketed tree a line.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import machine  # noqa: E402
import record  # noqa: E402
import stoppable  # noqa: E402
import texts  # noqa: E402

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")
RECIPES = "trainer/recipes/paper"
BEAMS, BEAM_LINES = (1, 4, 8, 21), 300
HELD_OUT = 1000  # test: a treebank's last trees, whole documents except the first; dev: in GUM, as many before them


class Size(NamedTuple):
    updates: int
    rates: tuple  # learning rates to try
    rate_updates: int  # updates of each trial
    seconds_an_update: float  # on a Zen 3 core in fp32
    search_minutes: int


# small: 77 GFLOP an update (1,400 source and 3,000 target pieces) at 66 GFLOP/s.
SIZES = {"small": Size(8000, (0.3, 0.6, 1.0), 1000, 1.17, 25), "tiny": Size(8000, (0.4, 0.8), 400, 0.24, 4)}


def core_minutes(size, updates=0):
    s = SIZES[size]
    return ((updates or s.updates) + len(s.rates) * s.rate_updates) * s.seconds_an_update / 60 + s.search_minutes


class Parsing(stoppable.Stoppable):
    def __init__(self, a):
        super().__init__()
        self.kept = machine.children_seconds()
        self.a, self.size, self.recipe = a, SIZES[a.size], f"{RECIPES}/parsing-{a.size}.json"

    def call(self, *command, stdout=subprocess.PIPE):
        if self.stopping:
            sys.exit("bench: stopped; the same command goes on")
        return self.finish(command, stdout)

    def path(self, *parts):
        return os.path.join(self.a.work, *parts)

    def treebanks(self):
        """Write NAME.trees, .words and .parse of each part."""
        if os.path.exists(self.path("parts.json")):
            return
        counts = {}
        for bank, parts in (("gum", ("train", "dev", "test")), ("craft", ("train", "test")), ("wsj-sample", ("test",))):
            trees = texts.lines(os.path.join(self.a.data, "treebank", bank + ".trees.gz"), None)
            ends = [len(trees) - HELD_OUT * (len(parts) - 1 - i) for i in range(len(parts))]
            for part, begin, end in zip(parts, [0, *ends], ends):
                name = f"{bank}-{part}"
                texts.write(self.path(name + ".trees"), trees[begin:end])
                print(self.call(f"{BIN}/dragoman-train", "treebank", self.path(name + ".trees"), "--out", self.path(name))[1], end="", file=sys.stderr)
                with open(self.path(name + ".words"), encoding="utf-8") as f:
                    counts[name] = sum(1 for _ in f)
        record.write(self.a.work, "parts", {".json": counts})

    def spent(self):
        """CPU seconds of training and scoring so far, earlier starts included."""
        return record.read_if_there(self.path("cpu.json"), {"cpu_seconds": 0})["cpu_seconds"] + self.cpu()

    def cpu(self):
        return machine.children_seconds() - self.kept

    def keep_cpu(self):
        record.write(self.a.work, "cpu", {".json": {"cpu_seconds": round(self.spent(), 1)}})
        self.kept = machine.children_seconds()

    def train(self, name, rate, updates, cooldown):
        """Train a run to its end, or go on with it. Returns its folder."""
        folder, bundle = self.path(name), self.path(name, "bundle")
        options = ["--quiet", "--no-scores", *(["--threads", str(self.a.threads)] if self.a.threads else [])]
        if not os.path.exists(bundle):
            if os.path.exists(self.path(name, "checkpoints", "index.json")):
                self.call(f"{BIN}/dragoman-train", "resume", folder, *options)
            else:
                shutil.rmtree(folder, ignore_errors=True)
                values = {"training.lr_scale": rate, "training.updates": updates, "training.cooldown": cooldown}
                self.call(f"{BIN}/dragoman-train", "run", self.recipe, "--data", self.a.work, "--out", folder, "--prepared", self.path("data"),
                          "--precision", self.a.precision, *[x for k, v in values.items() for x in ("--set", f"{k}={v}")], *options)
            self.keep_cpu()
            if self.stopping:
                sys.exit("bench: stopped; the same command goes on")
        return folder

    def parse(self, bundle, part, beam, lines=None):
        """EVALB's figures for a part, and how many answers were repaired."""
        for suffix in (".gold", ".words"):
            texts.write(self.path("now" + suffix), texts.lines(self.path(part + suffix), lines))
        out, _ = self.call(f"{BIN}/dragoman", "parse", "--model", bundle, "--tokenized", "--json", "--beam-size", str(beam), self.path("now.words"))
        said = [json.loads(x) for x in out.splitlines()]
        texts.write(self.path("now.parsed"), [x["tree"] for x in said])
        scores = json.loads(self.call(f"{BIN}/dragoman-train", "evalb", self.path("now.gold"), self.path("now.parsed"), "--json")[0])
        return {**scores, "repaired": sum(x["repaired"] for x in said)}

    def dev_loss(self, bundle):
        out, _ = self.call(f"{BIN}/dragoman-train", "evaluate", bundle, self.path("gum-dev.words"), self.path("gum-dev.parse"), "--lines", "300",
                           "--beam-size", "1", "--json")
        return json.loads(out)["nll"]

    def remembered(self, name, find):
        """The result of find(), kept in NAME.json: it is computed only once."""
        path = self.path(name + ".json")
        if not os.path.exists(path):
            record.write(self.a.work, name, {".json": find()})
            self.keep_cpu()
        return record.read(path)

    def run(self):
        os.makedirs(self.a.work, exist_ok=True)
        self.treebanks()
        rate_updates = min(self.size.rate_updates, self.a.updates)
        rates = {str(x): self.remembered(f"rate-{x}-loss", lambda x=x: self.dev_loss(os.path.join(
            self.train(f"rate-{x}", x, rate_updates, 0), "bundle"))) for x in self.size.rates}
        rate = float(min(rates, key=rates.get))
        bundle = os.path.join(self.train("full", rate, self.a.updates, self.a.updates * 3 // 8), "bundle")
        beams = {str(b): self.remembered(f"beam-{b}", lambda b=b: self.parse(bundle, "gum-dev", b, BEAM_LINES)) for b in BEAMS}
        beam = int(max(beams, key=lambda b: beams[b]["f1"]))
        tests = {part: self.remembered(f"scores-{part}", lambda part=part: self.parse(bundle, part, beam)) for part in ("gum-test", "craft-test", "wsj-sample-test")}
        version, sentences = record.read(os.path.join(bundle, "manifest.json"))["version"], record.read(self.path("parts.json"))
        print(record.write(self.a.out, f"parsing-{self.a.size}", {".json": {
            "recipe": self.recipe, "updates": self.a.updates, "sentences": sentences, "rates": rates, "rate": rate, "beams": beams, "beam": beam, "tests": tests,
            "bundle": version, "cpu_seconds": round(self.spent(), 1), "precision": self.a.precision, "machine": machine.describe(), "revision": self.a.revision,
            "date": record.today()}}))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default=os.environ.get("DATA"))
    p.add_argument("--list", action="store_true", help="the estimated minutes of one core, and train nothing")
    p.add_argument("--size", choices=SIZES, default="tiny")
    p.add_argument("--updates", type=int, default=0, help="0: as many as the size has")
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--precision", choices=("fp32", "bf16"), default="bf16" if "avx512_bf16" in machine.cpu_flags() else "fp32")
    p.add_argument("--work", help=".cache/paper-parsing-SIZE")
    p.add_argument("--out", default="bench/results/paper")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    a.updates = a.updates or SIZES[a.size].updates
    a.work = a.work or f".cache/paper-parsing-{a.size}"
    if a.list:
        print(f"{core_minutes(a.size, a.updates):.0f} core-minutes of a Zen 3 in fp32")
        return
    if not a.data:
        p.error("--data or DATA must name a folder with treebank/gum.trees.gz")
    Parsing(a).run()


if __name__ == "__main__":
    main()
