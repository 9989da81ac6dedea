#!/usr/bin/env python3
"""Training side by side: `dragoman-train` and PyTorch alternately on the very same batches, real tokens counted on both
sides. Prints each round and the medians; writes one JSON to --out.

  compare_train.py --trainer build/release/bin/dragoman-train --data DIR --out bench/results [--rounds 3 --updates 150]
"""
import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def foreign_share(before, seconds, own_cpu):
    """Part of a core that other processes took meanwhile."""
    busy = sum(before_after[1] - before_after[0] for before_after in zip(before, cpu_times())) / os.sysconf("SC_CLK_TCK")
    return max(0.0, (busy - own_cpu) / seconds)


def cpu_times():
    with open("/proc/stat", encoding="ascii") as f:
        fields = [int(x) for x in f.readline().split()[1:]]
    return [fields[0], fields[1], fields[2], fields[5], fields[6]]


def summary(lines, skip=1):
    """Lines of the first `skip` intervals warm caches and allocators up."""
    lines = lines[skip:] or lines
    tokens = sum(x["source_tokens"] + x["target_tokens"] for x in lines)
    seconds = sum(x["seconds"] for x in lines)
    cpu = sum(x["cpu_seconds"] if "cpu_seconds" in x else (x["source_tokens"] + x["target_tokens"]) / x["tokens_per_cpu_s"]
              for x in lines)
    return {"tokens_per_s": tokens / seconds, "tokens_per_cpu_s": tokens / cpu, "last_loss": lines[-1]["loss"]}


def measured(run):
    before, start = cpu_times(), time.time()
    usage = os.times()
    lines = run()
    after = os.times()
    own = (after.children_user + after.children_system) - (usage.children_user + usage.children_system)
    return {**summary(lines), "foreign": foreign_share(before, time.time() - start, own)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--trainer", required=True)
    p.add_argument("--data", required=True, help="folder with multi30k/train.en.gz and .de.gz")
    p.add_argument("--work", default=".cache/bench-train")
    p.add_argument("--out", default="bench/results")
    p.add_argument("--recipe", default=os.path.join(HERE, "train-small.json"))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--updates", type=int, default=150)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--revision", default="unknown")
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    prepared, batches, run_dir = (os.path.join(a.work, x) for x in ("data", "batches.jsonl", "run"))
    common = [a.recipe, "--data", a.data, "--set", f"training.updates={a.updates}"]

    subprocess.run([a.trainer, "prepare", *common, "--out", prepared, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with open(batches, "w", encoding="utf-8") as f:
        subprocess.run([a.trainer, "batches", *common, "--prepared", prepared, "--lines", str(a.updates)], check=True,
                       stdout=f)
    with open(os.path.join(prepared, "source.vocab"), encoding="utf-8") as f:
        vocab = sum(1 for _ in f)

    def ours():
        shutil.rmtree(run_dir, ignore_errors=True)
        subprocess.run([a.trainer, "run", *common, "--prepared", prepared, "--out", run_dir, "--threads", str(a.threads),
                        "--quiet"], check=True, stderr=subprocess.DEVNULL)
        with open(os.path.join(run_dir, "log.jsonl"), encoding="utf-8") as f:
            return [x for x in map(json.loads, f) if x["kind"] == "train"]

    def theirs():
        out = subprocess.run([sys.executable, os.path.join(HERE, "torch_train.py"), "--batches", batches, "--vocab",
                              str(vocab), "--threads", str(a.threads), "--updates", str(a.updates)], check=True,
                             capture_output=True, text=True).stdout
        return [json.loads(x) for x in out.splitlines()]

    rounds = []
    for i in range(a.rounds):
        rounds.append({"dragoman": measured(ours), "pytorch": measured(theirs)})
        r = rounds[-1]
        print(f"round {i + 1}: " + "; ".join(
            f"{name} {x['tokens_per_s']:.0f} tokens/s ({x['tokens_per_cpu_s']:.0f} per CPU second, loss {x['last_loss']:.4f}, "
            f"others took {x['foreign']:.2f} cores)" for name, x in r.items()), flush=True)
    median = {name: {k: statistics.median(r[name][k] for r in rounds) for k in ("tokens_per_s", "tokens_per_cpu_s")}
              for name in rounds[0]}
    ratio = {k: median["dragoman"][k] / median["pytorch"][k] for k in ("tokens_per_s", "tokens_per_cpu_s")}
    print(f"median: {ratio['tokens_per_s']:.2f} times PyTorch by the clock, {ratio['tokens_per_cpu_s']:.2f} times by CPU time")
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        cpu = next((x.split(":")[1].strip() for x in f if x.startswith("model name")), platform.machine())
    import torch
    result = {"revision": a.revision, "date": time.strftime("%Y-%m-%d"), "cpu": cpu, "cores": os.cpu_count(),
              "torch": torch.__version__, "threads": a.threads, "updates": a.updates, "rounds": rounds, "median": median,
              "ratio": ratio}
    os.makedirs(a.out, exist_ok=True)
    path = os.path.join(a.out, f"train-{result['date']}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    print(path)


main()
