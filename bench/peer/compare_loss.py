#!/usr/bin/env python3
"""Loss curves side by side: `dragoman-train` and PyTorch with the same settings on the same sentences, each with batches,
initial weights and dropout of its own, several seeds each. Mean training loss per target piece over each 500 updates.

A run that is interrupted (by --minutes, SIGTERM or a crash) goes on the next time; what there is so far is written each
time, runs that are not finished with their number of updates.

  compare_loss.py --trainer build/release/bin/dragoman-train --data DIR --out bench/results [--minutes 30] [--only pytorch-1]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import chart  # noqa: E402
import machine  # noqa: E402
import record  # noqa: E402
import stoppable  # noqa: E402

RECIPE = os.path.join(HERE, "../../trainer/recipes/multi30k-reference.json")
PROGRAMS = ("dragoman", "pytorch")
EVERY = 500


def read_log(folder):
    """(training lines, the "finished" line that only our trainer writes, or None)"""
    path = os.path.join(folder, "log.jsonl")
    if not os.path.exists(path):
        return [], None
    with open(path, encoding="utf-8") as f:
        lines = [json.loads(x) for x in f if x.endswith("\n")]
    finished = [x for x in lines if x["kind"] == "finished"]
    return [x for x in lines if x["kind"] == "train"], finished[-1] if finished else None


def means(lines):
    """[(update, mean loss of the EVERY updates up to it)]; the last interval may be shorter."""
    sums = {}
    for x in lines:
        at = -(-x["update"] // EVERY) * EVERY
        loss, pieces, _ = sums.get(at, (0, 0, 0))
        sums[at] = loss + x["loss"] * x["target_tokens"], pieces + x["target_tokens"], x["update"]
    return [(last, loss / pieces) for loss, pieces, last in sums.values()]


class Runs(stoppable.Stoppable):
    def __init__(self, a):
        super().__init__()
        self.a = a
        self.until = time.time() + 60 * a.minutes
        self.data, self.batches = os.path.join(a.work, "data"), os.path.join(a.work, "batches.jsonl")
        self.common = [RECIPE, "--data", a.data]

    def folder(self, program, seed):
        return os.path.join(self.a.work, f"{program}-{seed}")

    def settings(self, seed):
        """The recipe with all defaults filled in."""
        text = subprocess.run([self.a.trainer, "recipe", RECIPE, "--data", self.a.data, "--set", f"training.seed={seed}"],
                              check=True, capture_output=True, text=True).stdout
        return json.loads(text)

    def prepare(self):
        """Write the batches of the first epoch, every sentence once, as ids."""
        subprocess.run([self.a.trainer, "prepare", *self.common, "--out", self.data, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        kept = record.read(os.path.join(self.data, "prepared.json"))["counts"]["total"]["kept"]
        out = subprocess.run([self.a.trainer, "batches", *self.common, "--prepared", self.data, "--lines", "2000"],
                             check=True, capture_output=True, text=True).stdout
        lines, n = [], 0
        for line in out.splitlines():
            if n >= kept:
                break
            lines.append(line + "\n")
            n += len(json.loads(line)["source"])
        if n != kept:
            sys.exit(f"bench: the first epoch has {n} sentences, not {kept}")
        with open(self.batches, "w", encoding="utf-8") as f:
            f.writelines(lines)

    def dragoman(self, seed, recipe):
        folder, threads = self.folder("dragoman", seed), ["--threads", str(self.a.threads), "--quiet"]
        if os.path.exists(os.path.join(folder, "checkpoints", "index.json")):
            return [self.a.trainer, "resume", folder, *threads]
        return [self.a.trainer, "run", *self.common, "--prepared", self.data, "--out", folder, *threads,
                "--set", f"training.seed={seed}", "--set", f"validation.every={recipe['training']['updates']}"]

    def pytorch(self, seed, recipe):
        with open(os.path.join(self.data, "source.vocab"), encoding="utf-8") as f:
            vocab = sum(1 for _ in f)
        m, t = recipe["model"], recipe["training"]
        given = {"vocab": vocab, "threads": self.a.threads, "seed": seed, "updates": t["updates"], "log": t["log_updates"],
                 "shuffle": t["batch_tokens"], "d-model": m["d_model"], "d-ff": m["d_ff"], "layers": m["encoder_layers"],
                 "heads": m["heads"], "dropout": t["dropout"], "warmup": t["warmup"], "scale": t["lr_scale"], "save": 50}
        return [sys.executable, os.path.join(HERE, "torch_train.py"), "--batches", self.batches,
                "--run", self.folder("pytorch", seed), *(x for k, v in given.items() for x in (f"--{k}", str(v)))]

    def go_on(self, program, seed):
        """Train until done or out of time, from where the last start stopped."""
        recipe = self.settings(seed)
        lines, finished = read_log(self.folder(program, seed))
        done = finished if program == "dragoman" else lines and lines[-1]["update"] >= recipe["training"]["updates"]
        if not done and not self.stopping and time.time() < self.until:
            if not os.path.exists(self.batches):
                self.prepare()
            self.finish(getattr(self, program)(seed, recipe), subprocess.DEVNULL, lambda _: time.time() > self.until)


def check_settings(runs, seed):
    """Exit if a run of ours from an earlier start was not made with this recipe."""
    path = os.path.join(runs.folder("dragoman", seed), "run.json")
    if not os.path.exists(path):
        return
    was = record.read(path)["recipe"]
    now = runs.settings(seed)
    free = ("threads", "updates")
    for section in ("model", "training", "cleaning", "vocabulary"):
        for key, value in was[section].items():
            if key not in free and now[section].get(key) != value:
                sys.exit(f"bench: {path} was made with {section}.{key} {value}, not {now[section].get(key)}")


def collect(runs, seeds):
    found = []
    for program in PROGRAMS:
        for seed in seeds:
            lines, finished = read_log(runs.folder(program, seed))
            if not lines:
                continue
            one = {"program": program, "seed": seed, "updates": lines[-1]["update"],
                   "loss": [[u, round(x, 4)] for u, x in means(lines)],
                   "lines": [[x["update"], round(x["loss"], 4)] for x in lines],
                   "cpu_minutes": round(sum(x["cpu_seconds"] if "cpu_seconds" in x else
                                            (x["source_tokens"] + x["target_tokens"]) / x["tokens_per_cpu_s"]
                                            for x in lines) / 60, 1)}
            if finished:
                one["date"] = finished["date"]
                one["scores"] = finished["scores"]
            found.append(one)
    return found


def compare(found, updates):
    """Returns rows (update, our mean loss over the seeds, theirs, difference in per cent) for the intervals that both completed."""
    ends = [*range(EVERY, updates, EVERY), updates]
    rows = []
    for end in ends:
        at = {p: [dict(map(tuple, x["loss"]))[end] for x in found if x["program"] == p and x["updates"] >= end] for p in PROGRAMS}
        if all(at.values()):
            ours, theirs = (sum(at[p]) / len(at[p]) for p in PROGRAMS)
            rows.append({"update": end, "dragoman": round(ours, 4), "pytorch": round(theirs, 4),
                         "seeds": [len(at[p]) for p in PROGRAMS], "difference_percent": round(100 * (ours / theirs - 1), 2)})
    return rows


def write(a, result):
    table = re.sub(r"\[\s+(\d+),\s+([\d.]+)\s+\]", r"[\1, \2]", json.dumps(result, indent=1))  # one point a line
    return record.write(a.out, "loss-multi30k", {".json": table + "\n", ".svg": draw(result)})


def draw(result):
    """Training loss over updates, a line for each run: a colour for each program, a dash for each seed."""
    seeds = sorted({r["seed"] for r in result["runs"]})
    curves = []
    for r in result["runs"]:
        part = "" if r["updates"] >= result["updates"] else f", {r['updates']} updates so far"
        name, paint = ("Dragoman", chart.OURS) if r["program"] == "dragoman" else ("PyTorch", chart.PEER)
        curves.append(chart.Curve(f"{name}, seed {r['seed']}{part}", r["lines"], paint, seeds.index(r["seed"]) % len(chart.DASHES)))
    y = chart.Axis("nats per target token, label smoothing included", [v for c in curves for _, v in c.points]).widen(0.05)
    title = "Training loss of two programs"
    return chart.document(660, 430, chart.panel(title, chart.Axis("updates", [0, result["updates"]], zero=True), y, curves, 650, 420))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--trainer", required=True)
    p.add_argument("--data", required=True, help="folder with multi30k/ and test/")
    p.add_argument("--work", default=".cache/bench-loss")
    p.add_argument("--out", default="bench/results")
    p.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--minutes", type=float, default=float("inf"), help="for this time only; go on another day")
    p.add_argument("--only", default="", help="train only runs with this in their name, e.g. pytorch-1; \"none\": none")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    runs = Runs(a)
    for seed in a.seeds:
        check_settings(runs, seed)
        for program in PROGRAMS:
            if a.only in f"{program}-{seed}":
                runs.go_on(program, seed)
    recipe = runs.settings(a.seeds[0])
    found = collect(runs, a.seeds)
    wanted, updates = len(PROGRAMS) * len(a.seeds), recipe["training"]["updates"]
    result = {"date": record.now(), "machine": machine.describe(), "revision": a.revision,
              "model": recipe["model"], "training": recipe["training"], "every": EVERY, "updates": updates,
              "complete": sum(x["updates"] >= updates for x in found) == wanted, "runs": found, "table": compare(found, updates)}
    for x in found:
        print(f"{x['program']}-{x['seed']}: {x['updates']} of {updates} updates, {x['cpu_minutes']} CPU minutes")
    for r in result["table"]:
        print(f"{r['update']:>5}  ours {r['dragoman']:.4f}  PyTorch {r['pytorch']:.4f}  {r['difference_percent']:+.2f} %")
    if found:
        print(write(a, result), "" if result["complete"] else "(not complete: the same command goes on)")


if __name__ == "__main__":
    main()
