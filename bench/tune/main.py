#!/usr/bin/env python3
"""What a setting of a recipe is worth when CPU time is what there is little of: each variant is trained for as many CPU
minutes on one thread, the last two fifths with a rate that falls to 0, its checkpoints are averaged, and dev sets are
scored. Bits a character compare vocabularies of different sizes; BLEU is beside them.

  main.py --trainer build/release/bin/dragoman-train --data DIR bench/tune/en-de.json [--minutes 5] [--only NAME,...]

A run that is interrupted goes on the next time. Data that two variants share is prepared once. Writes what there is so far
to bench/results/tune-<plan>.json and .md; with --only, it trains and writes no table; with --report, the other way round.
"""
import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import machine  # noqa: E402
import record  # noqa: E402
import stoppable  # noqa: E402
import texts  # noqa: E402

CONSTANT = 0.6  # share of the time before the learning rate falls


class Stopped(Exception):
    pass


def settings(values):
    return [x for k, v in values.items() for x in ("--set", f"{k}={v if isinstance(v, str) else json.dumps(v)}")]


class Tuning(stoppable.Stoppable):
    def __init__(self, a, plan):
        super().__init__()
        self.a, self.plan = a, plan

    def part(self, variant):
        return self.plan["parts"][variant["part"]]

    def folder(self, variant):
        return os.path.join(self.a.work, variant.get("of", variant["name"]))

    def recipe(self, variant):
        part = self.part(variant)
        init = ["--init", part["init"]] if "init" in part else []
        return [part["recipe"], "--data", self.a.data, *init,
                *settings({**self.plan["base"], **part.get("set", {}), "training.updates": 10000000, **variant.get("set", {})})]

    def call(self, *command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"bench: {' '.join(command)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def prepared(self, variant):
        """The folder of prepared data that this variant shares with all variants that need the same data."""
        recipe = json.loads(self.call(self.a.trainer, "recipe", *self.recipe(variant)))
        key = json.dumps([self.part(variant).get("init"), *(recipe[x] for x in ("cleaning", "variants", "vocabulary", "data"))], sort_keys=True)
        folder = os.path.join(self.a.work, "data-" + hashlib.sha256(key.encode()).hexdigest()[:12])
        if not os.path.exists(os.path.join(folder, "prepared.json")):
            self.call(self.a.trainer, "prepare", *self.recipe(variant), "--out", folder)
        return folder

    def updates(self, variant):
        return max(x["step"] for x in record.read(os.path.join(self.folder(variant), "checkpoints", "index.json"))["checkpoints"])

    def run(self, state, limit, *command):
        """Train until the end or until `limit` CPU seconds are spent in total. On SIGTERM the trainer saves a checkpoint."""
        before = machine.children_seconds()
        self.finish([self.a.trainer, *command, "--threads", "1", "--quiet", "--no-scores"], subprocess.DEVNULL,
                    lambda process: state["cpu"] + machine.process_seconds(process.pid) >= limit)
        state["cpu"] = round(state["cpu"] + machine.children_seconds() - before, 1)

    def train(self, variant):
        """Train from where the last start stopped, until the variant's time is spent."""
        folder, seconds = self.folder(variant), 60 * self.a.minutes
        path = os.path.join(folder, "tune.json")
        state = record.read_if_there(path, {"cpu": 0.0})
        if not os.path.exists(os.path.join(folder, "checkpoints", "index.json")):
            shutil.rmtree(folder, ignore_errors=True)
            state = {"cpu": 0.0}
        while "done" not in state:
            if "end" in state:
                falling = settings({"training.updates": state["end"], "training.cooldown": state["falling"]})
                self.run(state, 2 * seconds, "resume", folder, *falling)
                if not self.stopping:
                    state["done"] = True
            else:
                begun = ["resume", folder] if state["cpu"] else ["run", *self.recipe(variant), "--prepared", self.prepared(variant), "--out", folder]
                self.run(state, CONSTANT * seconds, *begun)
                if not self.stopping:
                    n = self.updates(variant)
                    state["end"] = math.ceil(n / CONSTANT)
                    state["falling"] = state["end"] - n
            record.write(folder, "tune", {".json": state})
            if self.stopping:
                raise Stopped
        return state

    def score(self, variant):
        folder = self.folder(variant)
        bundle = os.path.join(self.a.work, variant["name"] + ".bundle")
        average = variant.get("average", self.plan["average"])
        shutil.rmtree(bundle, ignore_errors=True)
        self.call(self.a.trainer, "average", folder, "--last", str(average), "--out", bundle, "--no-scores")
        found = {}
        for name, source, target in self.plan["dev"]:
            source, target = (os.path.join(self.a.data, x) for x in (source, target))
            lines, before = texts.lines(target, self.a.lines), machine.children_seconds()
            x = json.loads(self.call(self.a.trainer, "evaluate", bundle, source, target, "--lines", str(self.a.lines), "--json", "--threads", "1"))
            cpu = machine.children_seconds() - before
            if x["lines"] != len(lines):
                sys.exit(f"bench: {x['lines']} of {len(lines)} lines of {target} were scored")
            found[name] = {"bits_a_character": round(x["nll"] * x["pieces"] / math.log(2) / sum(len(line) + 1 for line in lines), 4),
                           "bleu": round(x["bleu"], 2), "chrf": round(x["chrf"], 2),
                           "cpu_ms_a_line": round(1000 * cpu / len(lines), 1)}
        shutil.rmtree(bundle)
        return found

    def finished(self, variant):
        old = record.read_if_there(self.result(variant), {})
        return old if old.get("minutes") == self.a.minutes and old["set"] == variant.get("set", {}) else None

    def result(self, variant):
        return os.path.join(self.a.work, variant["name"] + ".json")

    def finish(self, variant):
        old = self.finished(variant)
        if old:
            return old
        state = self.train(variant)
        one = {"name": variant["name"], "part": variant["part"], "about": variant["about"], "set": variant.get("set", {}), "minutes": self.a.minutes,
               "cpu_seconds": state["cpu"], "updates": self.updates(variant), "scores": self.score(variant)}
        record.write(self.a.work, variant["name"], {".json": one})
        return one


def table(plan, runs):
    """A table for each part, in the plan's order."""
    names = [x[0] for x in plan["dev"]]
    lines = []
    for part, about in plan["parts"].items():
        lines += [about["about"] + ":", "",
                  "| | updates | bits a character: " + " | ".join(names) + " | BLEU: " + " | ".join(names) + " |", "|---" * (2 + 2 * len(names)) + "|"]
        for r in runs:
            if r["part"] == part:
                scores = [r["scores"][x] for x in names]
                cells = [f"{x['bits_a_character']:.3f}" for x in scores] + [f"{x['bleu']:.1f}" for x in scores]
                lines.append(f"| {r['about']} | {r['updates']:,} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("plan")
    p.add_argument("--trainer", required=True)
    p.add_argument("--data", required=True)
    p.add_argument("--minutes", type=float, default=5, help="CPU minutes of each variant")
    p.add_argument("--lines", type=int, default=300, help="of each dev set, at most")
    p.add_argument("--work", default=".cache/bench-tune")
    p.add_argument("--out", default="bench/results")
    p.add_argument("--only", default="")
    p.add_argument("--report", action="store_true", help="train nothing: the tables of what is finished")
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    plan = record.read(a.plan)
    os.makedirs(a.work, exist_ok=True)
    tuning, runs = Tuning(a, plan), []
    wanted = [v for v in plan["variants"] if not a.only or v["name"] in a.only.split(",")]
    if a.report:
        wanted = [v for v in wanted if tuning.finished(v)]
    try:
        for variant in wanted:
            runs.append(tuning.finish(variant))
            print(f"{variant['name']}: {runs[-1]['scores']}", file=sys.stderr, flush=True)
    except Stopped:
        print("bench: stopped; the same command goes on", file=sys.stderr)
    if a.only or not runs:
        return
    name = "tune-" + os.path.splitext(os.path.basename(a.plan))[0]
    result = {"date": record.now(), "machine": machine.describe(),
              "revision": a.revision, "plan": a.plan, "about": plan["about"], "minutes": a.minutes, "lines": a.lines, "runs": runs,
              "complete": len(runs) == len(plan["variants"])}
    print(record.write(a.out, name, {".json": result, ".md": table(plan, runs)}))


if __name__ == "__main__":
    main()
