#!/usr/bin/env python3
"""Table 3 in small: every row of it trained on Multi30k, dimensions a quarter and layers half of the paper's, for the same number of
updates; no averaging, beam 4, length penalty 0.6. Base has two seeds. Then what came since the paper on the same grid, with a base of
its own, so that these rows can be of one machine and one precision. A row's result is a file of its own in bench/results/paper/grid/;
one that is there is not trained again, and a row that was interrupted goes on (SIGTERM is fine).

  grid.py --data DIR [--only ROW,...] [--list] [--updates N --out DIR] [--threads N]

Training uses bf16 where the processor has bf16 products; the result names the precision. Use --only to divide the rows among machines.
"""
import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import facts  # noqa: E402
import machine  # noqa: E402
import record  # noqa: E402
import shapes  # noqa: E402
import stoppable  # noqa: E402

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")
RECIPES = "trainer/recipes/paper"
VOCABULARY, UPDATES = 6000, 3000
# As in multi30k-reference.json, except for what the rows set themselves and the table's conditions: no averaging, no calibration.
SETTINGS = {"vocabulary.size": VOCABULARY, "vocabulary.character_coverage": 1, "training.batch_tokens": 1200, "training.batch_mode": "padded",
            "training.warmup": 1000, "training.lr_scale": 0.6, "training.checkpoint_updates": 250, "training.checkpoint_minutes": 0,
            "training.keep_last": 1, "training.keep_best": 0, "training.average_last": 1, "validation.every": 1000000000,
            "validation.calibrate": 0}
DATA = {"pairs": [{"source_lang": "en", "target_lang": "de", "train": [{"source": "multi30k/train.en.gz", "target": "multi30k/train.de.gz"}],
                   "dev": [{"source": "multi30k/val.en.gz", "target": "multi30k/val.de.gz"}]}]}
FLOPS = 66e9  # operations a second of one Zen 3 core in fp32: multi30k-reference.json, 3,650 updates in 39 minutes
PADDED_FULL = 0.85  # share of the padded tokens that are real pieces


class Row(NamedTuple):
    name: str  # of its result file
    recipe: str
    seed: int


def rows():
    return [Row(name, f"table3/{name}", 1) for name in facts.TABLE3] + [Row("base-2", "table3/base", 2)]


# Architecture changes since the paper: (recipe, what changes).
SINCE = {"since-base": ("table3/base", "base"), "since-pre-norm": ("since/pre-norm", "norms before the sublayers, a last one for each stack"),
         "since-deep-encoder": ("since/deep-encoder", "deep encoder, shallow decoder"),
         "since-ssru": ("since/ssru", "SSRU decoder")}


def since():
    return [Row(name, recipe, 1) for name, (recipe, _) in SINCE.items()]


def whole(recipe):
    """The recipe with all defaults filled in."""
    out = subprocess.run([f"{BIN}/dragoman-train", "recipe", f"{RECIPES}/{recipe}.json"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def scaled(m):
    """The model at a quarter of its dimensions and half of its layers; the number of heads stays."""
    quarter = {k: m[k] // 4 for k in ("d_model", "d_ff", "d_k", "d_v")}
    return {**m, **quarter, "encoder_layers": m["encoder_layers"] // 2, "decoder_layers": m["decoder_layers"] // 2}


def core_minutes(m, updates):
    """Estimated minutes of one Zen 3 core in fp32."""
    tokens = int(PADDED_FULL * SETTINGS["training.batch_tokens"])
    return updates * shapes.training_flops(m, VOCABULARY, tokens, 15) / FLOPS / 60


class Grid(stoppable.Stoppable):
    def __init__(self, a):
        super().__init__()
        self.a = a

    def recipe(self, row):
        """Write the row's recipe, scaled and on Multi30k, to a file of our own. Returns its path."""
        full = whole(row.recipe)
        values = {**SETTINGS, "training.updates": self.a.updates, "training.seed": row.seed}
        sections = {"name": f"grid-{row.name}", "extends": os.path.abspath(f"{RECIPES}/{row.recipe}.json"), "data": DATA, "model": scaled(full["model"]),
                    "vocabulary": {}, "training": {}, "validation": {}}
        for key, value in values.items():
            section, field = key.split(".")
            sections[section][field] = value
        sections["training"]["dropout"] = full["training"]["dropout"]
        record.write(self.a.work, row.name, {".json": sections})
        return os.path.join(self.a.work, row.name + ".json")

    def call(self, *command):
        """Run the command to its end: (standard output, CPU seconds)."""
        before = machine.children_seconds()
        out, _ = self.finish(command)
        return out, machine.children_seconds() - before

    def train(self, row):
        """Train the row. Returns its total CPU seconds, earlier starts included; None if it was stopped."""
        folder = os.path.join(self.a.work, row.name)
        state = os.path.join(folder, "grid.json")
        spent = record.read_if_there(state, {"cpu_seconds": 0.0})["cpu_seconds"]
        options = ["--quiet", "--no-scores", *(["--threads", str(self.a.threads)] if self.a.threads else [])]
        if os.path.exists(os.path.join(folder, "checkpoints", "index.json")):
            command = [f"{BIN}/dragoman-train", "resume", folder]
        else:
            shutil.rmtree(folder, ignore_errors=True)
            spent = 0.0
            command = [f"{BIN}/dragoman-train", "run", self.recipe(row), "--data", self.a.data, "--out", folder, "--precision", self.a.precision,
                       "--prepared", os.path.join(self.a.work, "data")]
        _, cpu = self.call(*command, *options)
        record.write(folder, "grid", {".json": {"cpu_seconds": round(spent + cpu, 1)}})
        return None if self.stopping else spent + cpu

    def translate_seconds(self, bundle, source):
        """CPU seconds to translate the source with beam 4 on one core: the best of three."""
        return min(self.call(f"{BIN}/dragoman", "translate", "--model", bundle, "--workers", "1", "--beam-size", "4",
                             "--length-penalty", "0.6", source)[1] for _ in range(3))

    def row(self, row):
        cpu = self.train(row)
        if cpu is None:
            return
        bundle, source = os.path.join(self.a.work, row.name + ".bundle"), os.path.join(self.a.work, "val.en")
        shutil.rmtree(bundle, ignore_errors=True)
        with gzip.open(os.path.join(self.a.data, "multi30k/val.en.gz"), "rb") as f, open(source, "wb") as g:
            shutil.copyfileobj(f, g)
        self.call(f"{BIN}/dragoman-train", "average", os.path.join(self.a.work, row.name), "--last", "1", "--out", bundle, "--no-scores")
        out, _ = self.call(f"{BIN}/dragoman-train", "evaluate", bundle, *(os.path.join(self.a.data, f"multi30k/val.{x}.gz") for x in ("en", "de")),
                           "--beam-size", "4", "--length-penalty", "0.6", "--json")
        seconds = None if self.stopping else self.translate_seconds(bundle, source)
        if self.stopping:
            return
        scores = json.loads(out)
        m = scaled(whole(row.recipe)["model"])
        print(record.write(self.a.out, row.name, {".json": {
            "row": os.path.basename(row.recipe), "seed": row.seed, "updates": self.a.updates, "perplexity": scores["perplexity"], "bleu": scores["bleu"], "lines": scores["lines"],
            "parameters": shapes.parameters(m, VOCABULARY), "cpu_seconds": round(cpu, 1),
            "translate_cpu_seconds": round(seconds, 3), "precision": self.a.precision,
            "data": "Multi30k: 29,000 pairs en-de; scored on val", "machine": machine.describe(), "revision": self.a.revision,
            "date": record.today()}}), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default=os.environ.get("DATA"))
    p.add_argument("--only", default="", help="rows, by the names of --list")
    p.add_argument("--list", action="store_true", help="rows with the estimated minutes of one core, and train nothing")
    p.add_argument("--updates", type=int, default=UPDATES)
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--precision", choices=("fp32", "bf16"), default="bf16" if "avx512_bf16" in machine.cpu_flags() else "fp32")
    p.add_argument("--work", default=".cache/paper-grid")
    p.add_argument("--out", default="bench/results/paper/grid")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    wanted = [r for r in rows() + since() if not a.only or r.name in a.only.split(",")]
    if a.list:
        for row in wanted:
            there = " (there)" if os.path.exists(os.path.join(a.out, row.name + ".json")) else ""
            print(f"{row.name:18} {core_minutes(scaled(whole(row.recipe)['model']), a.updates):5.0f}{there}")
        return
    if not a.data:
        p.error("--data or DATA must name a folder with multi30k/train.en.gz")
    if a.updates != UPDATES and a.out == p.get_default("out"):
        p.error(f"results of other than {UPDATES} updates need an --out of their own")
    grid = Grid(a)
    for row in wanted:
        if not grid.stopping and not os.path.exists(os.path.join(a.out, row.name + ".json")):
            os.makedirs(a.work, exist_ok=True)
            grid.row(row)


if __name__ == "__main__":
    main()
