#!/usr/bin/env python3
"""Training side by side: `dragoman-train` and PyTorch alternately on the very same batches, real tokens counted on both
sides, for each number of threads, in fp32 and, where the processor has it, with products in bf16. Prints each run and the medians; writes train-MACHINE.json and .md to --out after each round, so
that what was measured before an interruption is kept.

CPU time is compared too: it hardly suffers from who else uses the cores. foreign_cpus says how many cores others used
meanwhile; a round with much of that is not to be trusted by the clock.

  compare_train.py --trainer build/release/bin/dragoman-train --data DIR --out bench/results [--rounds 3 --updates 60]
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import machine  # noqa: E402
import record  # noqa: E402

QUIET = 0.15  # cores that others may use; above that, wall times are not to be trusted
FIGURES = ("tokens_per_s", "tokens_per_cpu_s")
PRECISIONS = ("fp32", "bf16")


def summary(lines):
    """Real source and target tokens a second. The first line does not count: its updates warm up caches and allocators."""
    lines = lines[1:]
    tokens = sum(x["source_tokens"] + x["target_tokens"] for x in lines)
    seconds = sum(x["seconds"] for x in lines)
    cpu = sum(x["cpu_seconds"] if "cpu_seconds" in x else (x["source_tokens"] + x["target_tokens"]) / x["tokens_per_cpu_s"]
              for x in lines)
    return {"tokens": tokens, "tokens_per_s": round(tokens / seconds, 1), "tokens_per_cpu_s": round(tokens / cpu, 1),
            "last_loss": round(lines[-1]["loss"], 4)}


def measured(run):
    with machine.Others() as others:
        lines = run()
    return {**summary(lines), "foreign_cpus": others.cores}


class Programs:
    """Runs both trainers on the batches of one recipe."""

    def __init__(self, a):
        self.a = a
        self.prepared, self.batches, self.run = (os.path.join(a.work, x) for x in ("data", "batches.jsonl", "run"))
        self.common = [a.recipe, "--data", a.data, "--set", f"training.updates={a.updates}",
                       "--set", f"training.log_updates={a.log}"]
        subprocess.run([a.trainer, "prepare", *self.common, "--out", self.prepared, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(self.batches, "w", encoding="utf-8") as f:
            subprocess.run([a.trainer, "batches", *self.common, "--prepared", self.prepared, "--lines", str(a.updates)],
                           check=True, stdout=f)
        with open(os.path.join(self.prepared, "source.vocab"), encoding="utf-8") as f:
            self.vocab = sum(1 for _ in f)

    def dragoman(self, precision, threads):
        shutil.rmtree(self.run, ignore_errors=True)
        subprocess.run([self.a.trainer, "run", *self.common, "--prepared", self.prepared, "--out", self.run,
                        "--threads", str(threads), "--precision", precision, "--quiet"], check=True, stderr=subprocess.DEVNULL)
        with open(os.path.join(self.run, "log.jsonl"), encoding="utf-8") as f:
            return [x for x in map(json.loads, f) if x["kind"] == "train"]

    def pytorch(self, precision, threads):
        out = subprocess.run([sys.executable, os.path.join(HERE, "torch_train.py"), "--batches", self.batches, "--vocab",
                              str(self.vocab), "--threads", str(threads), "--updates", str(self.a.updates),
                              "--log", str(self.a.log), *(["--bf16"] if precision == "bf16" else [])],
                             check=True, capture_output=True, text=True).stdout
        return [json.loads(x) for x in out.splitlines()]


def settle(runs):
    """Medians over the rounds for one number of threads, and their ratios."""
    result = {}
    for name, list_of in runs.items():
        result[name] = {"runs": list_of}
        for key in FIGURES:
            figures = [x[key] for x in list_of]
            middle = statistics.median(figures)
            result[name][key] = middle
            result[name][f"{key}_spread_percent"] = round(100 * (max(figures) - min(figures)) / middle, 1)
    result["ratio"] = {key: round(result["dragoman"][key] / result["pytorch"][key], 3) for key in FIGURES}
    return result


def medians(result):
    """(precision, threads, medians) of everything measured, by precision."""
    return [(precision, threads, x) for precision in PRECISIONS if precision in result
            for threads, x in result[precision].items()]


def table(result):
    """The medians as Markdown."""
    m = result["machine"]
    lines = [f"# Training beside PyTorch: {m['cpu']}, {m['cores']} cores ({', '.join(m['flags'])})", "",
             f"{result['date']}, revision {result['revision']}, PyTorch {result['torch']}; {result['model']}.",
             f"Medians of {result['rounds']} alternating rounds, {result['updates'] - result['warm_up_updates']} updates each, source + "
             "target tokens a second, padding not counted. Made by `make bench-train`.", "",
             "| products | threads | Dragoman | PyTorch | ratio | by CPU time | spread, ours and theirs | cores of others, at most |",
             "|---|---|---|---|---|---|---|---|"]
    for precision, threads, x in medians(result):
        ours, theirs = x["dragoman"], x["pytorch"]
        foreign = max(r["foreign_cpus"] for by in (ours, theirs) for r in by["runs"])
        lines.append(f"| {precision} | {threads} | {ours['tokens_per_s']:,.0f} | {theirs['tokens_per_s']:,.0f} | {x['ratio']['tokens_per_s']:.2f} | "
                     f"{x['ratio']['tokens_per_cpu_s']:.2f} | {ours['tokens_per_s_spread_percent']:.0f} %, "
                     f"{theirs['tokens_per_s_spread_percent']:.0f} % | {foreign} |")
    if "bf16" in result:
        lines += ["", "bf16: `--precision bf16`, and PyTorch's autocast."]
    if not result["quiet"]:
        lines += ["", "Others used the cores meanwhile: two threads of PyTorch wait busily for each other and suffer most."]
    return "\n".join(lines) + "\n"


def write(a, runs, rounds, date):
    result = {"date": date, "machine": machine.describe(), "revision": a.revision, "torch": torch.__version__,
              "torch_uses": torch.backends.cpu.get_cpu_capability(),
              "model": "3 + 3 layers, 256/1024, 4 heads, vocabulary 6,000; Multi30k, at most 1,200 padded tokens a batch",
              "updates": a.updates, "warm_up_updates": a.log, "rounds": rounds,
              "quiet": max(x["foreign_cpus"] for by in runs.values() for one in by.values() for x in one) < QUIET}
    for precision, threads in runs:
        result.setdefault(precision, {})[str(threads)] = settle(runs[precision, threads])
    return record.write(a.out, f"train-{machine.slug()}", {".json": result, ".md": table(result)}), result


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--trainer", required=True)
    p.add_argument("--data", required=True, help="folder with multi30k/train.en.gz and .de.gz")
    p.add_argument("--work", default=".cache/bench-train")
    p.add_argument("--out", default="bench/results")
    p.add_argument("--recipe", default=os.path.join(HERE, "train-small.json"))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--updates", type=int, default=60)
    p.add_argument("--log", type=int, default=20, help="updates a line; the first line is not counted")
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    if a.updates < 2 * a.log:
        p.error(f"--updates {a.updates} leaves nothing to measure after the first {a.log}")
    os.makedirs(a.work, exist_ok=True)
    programs, date = Programs(a), record.now()
    precisions = PRECISIONS if "avx512_bf16" in machine.cpu_flags() else PRECISIONS[:1]
    runs = {(p, n): {"dragoman": [], "pytorch": []} for p in precisions for n in a.threads}
    for i in range(a.rounds):
        for (precision, threads), by in runs.items():
            # The two take turns at going first: the second finds warm files and a warm processor.
            for name in sorted(by, reverse=i % 2 == 1):
                x = measured(lambda: getattr(programs, name)(precision, threads))
                by[name].append(x)
                print(f"round {i + 1}, {precision}, {threads} thread{'s' * (threads > 1)}, {name}: {x['tokens_per_s']:.0f} tokens/s, "
                      f"{x['tokens_per_cpu_s']:.0f} per CPU second, loss {x['last_loss']:.4f}, "
                      f"others took {x['foreign_cpus']:.2f} cores", flush=True)
            a_tokens, b_tokens = (by[x][-1]["tokens"] for x in ("dragoman", "pytorch"))
            if a_tokens != b_tokens:
                sys.exit(f"bench: {a_tokens} tokens against {b_tokens}: these were not the same batches")
        path, result = write(a, runs, i + 1, date)
    for precision, threads, x in medians(result):
        print(f"{precision}, {threads} thread{'s' * (threads != '1')}: {x['ratio']['tokens_per_s']:.2f} times PyTorch by the clock, "
              f"{x['ratio']['tokens_per_cpu_s']:.2f} times by CPU time (medians)")
    if not result["quiet"]:
        print("Others used the cores meanwhile. PyTorch's threads wait busily for each other and suffer most, by the clock and in "
              "CPU time: trust no figure of two threads from this run.")
    print(path)


main()
