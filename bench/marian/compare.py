#!/usr/bin/env python3
"""Training side by side: `dragoman-train` and Marian (`pymarian train`) alternately on Multi30k, one thread each, with the same small
model, vocabulary, batch budget and schedule. Speed is real target tokens a CPU second, without the first log line; losses are each
program's own, at equal updates; in the end one program scores both models, Marian's after `dragoman convert marian`.
Writes marian-MACHINE.json and .md to --out after each round, so that an interruption loses no finished round.

  compare.py --build build/release/bin --marian .cache/bench-marian-venv/bin/pymarian --data DIR --updates 200 --rounds 2
"""
import argparse
import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import machine  # noqa: E402
import record  # noqa: E402

PEAK = 0.001  # learning rate at the end of the warm-up
D_MODEL = 256
# "Ep. 1 : Up. 2 : Sen. 124 : Cost 9.36455154 : Time 50.08s : 54.27 words/s"; words are real target tokens
LINE = re.compile(r"Up\. (\d+) .*?Cost ([\d.]+) .*?Time ([\d.]+)s : ([\d.]+) words/s")


def unpack(source, target):
    with gzip.open(source, "rb") as a, open(target, "wb") as b:
        shutil.copyfileobj(a, b)


def check(args, **kw):
    done = subprocess.run(args, capture_output=True, text=True, **kw)
    if done.returncode:
        sys.exit(f"{' '.join(args)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def speed(lines):
    """Target tokens a CPU second from the second line on, and each line's loss. Lines are (update, loss, target tokens, CPU seconds)."""
    rest = lines[1:]
    return {"target_tokens_per_cpu_s": round(sum(x[2] for x in rest) / sum(x[3] for x in rest), 1),
            "target_tokens_per_update": round(sum(x[2] for x in lines) / lines[-1][0]),
            "losses": {str(x[0]): round(x[1], 3) for x in lines}}


class Bench:
    def __init__(self, a):
        self.a = a
        self.train, self.dragoman = (os.path.join(a.build, x) for x in ("dragoman-train", "dragoman"))
        self.files = {}
        os.makedirs(a.work, exist_ok=True)
        for name, packed in (("train", "multi30k/train"), ("test", "test/multi30k_test_2016_flickr")):
            for side in ("en", "de"):
                self.files[name, side] = os.path.join(a.work, f"{name}.{side}")
                unpack(os.path.join(a.data, f"{packed}.{side}.gz"), self.files[name, side])
        self.recipe = os.path.join(a.work, "recipe.json")
        self.prepared = os.path.join(a.work, "data")
        with open(self.recipe, "w", encoding="utf-8") as f:
            json.dump({"preset": "small", "name": "marian-peer", "cleaning": {"deduplicate": False, "language_check": False},
                       "data": {"pairs": [{"source_lang": "en", "target_lang": "de",
                                           "train": [{"source": "train.en", "target": "train.de"}]}]},
                       "vocabulary": {"size": 6000, "character_coverage": 1},
                       "model": {"attention_bias": True, "output_bias": True, "decoder_start": "zero", "positions": "marian"},
                       "training": {"updates": a.updates, "batch_tokens": a.batch, "warmup": a.warmup, "dropout": 0.1,
                                    "lr_scale": PEAK * D_MODEL ** 0.5 * a.warmup ** 0.5, "label_smoothing": 0.1, "threads": 1,
                                    "precision": "fp32", "log_updates": a.log, "checkpoint_updates": 0, "average_last": 1}}, f)
        check([self.train, "prepare", self.recipe, "--data", a.work, "--out", self.prepared, "--quiet"])

    def ours(self, number):
        out = os.path.join(self.a.work, f"dragoman-{number}")
        shutil.rmtree(out, ignore_errors=True)
        check([self.train, "run", self.recipe, "--data", self.a.work, "--prepared", self.prepared, "--out", out, "--quiet",
               "--no-scores", "--set", f"training.seed={number}"])
        with open(os.path.join(out, "log.jsonl"), encoding="utf-8") as f:
            log = [x for x in map(json.loads, f) if x["kind"] == "train"]
        lines = [(x["update"], x["loss"], x["target_tokens"], (x["source_tokens"] + x["target_tokens"]) / x["tokens_per_cpu_s"])
                 for x in log]
        return speed(lines), os.path.join(out, "bundle")

    def marians(self, number):
        """Train with Marian; reads the process's CPU time whenever it writes a line."""
        a, out = self.a, os.path.join(self.a.work, f"marian-{number}")
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        vocabulary = os.path.join(out, "joint.spm")
        shutil.copy(os.path.join(self.prepared, "source.spm"), vocabulary)
        model = os.path.join(out, "model.npz")
        options = ["--type", "transformer", "--train-sets", self.files["train", "en"], self.files["train", "de"], "--vocabs",
                   vocabulary, vocabulary, "--model", model, "--overwrite", "--dim-emb", str(D_MODEL), "--transformer-heads", "4",
                   "--transformer-dim-ffn", "1024", "--enc-depth", "3", "--dec-depth", "3", "--tied-embeddings-all",
                   "--transformer-preprocess", "", "--transformer-postprocess", "dan", "--transformer-postprocess-emb", "d",
                   "--transformer-ffn-activation", "relu", "--transformer-dropout", "0.1", "--label-smoothing", "0.1",
                   "--optimizer-params", "0.9", "0.98", "1e-9", "--learn-rate", str(PEAK), "--lr-warmup", str(a.warmup),
                   "--lr-decay-inv-sqrt", str(a.warmup), "--cost-type", "ce-mean-words", "--mini-batch-words", str(a.marian_batch),
                   "--max-length", "256", "--maxi-batch", "1000", "--clip-norm", "0", "--cpu-threads", "1", "--workspace", "2000",
                   "--seed", str(number), "--after", f"{a.updates}u", "--disp-freq", f"{a.log}u", "--tempdir", out]
        process = subprocess.Popen([a.marian, "train", *options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        lines, before, rest = [], 0.0, []
        for text in process.stderr:
            rest.append(text)
            found = LINE.search(text)
            if not found:
                continue
            now = machine.process_seconds(process.pid)
            lines.append((int(found[1]), float(found[2]), float(found[3]) * float(found[4]), now - before))
            before = now
        if process.wait() or len(lines) < 2:
            sys.exit("pymarian train:\n" + "".join(rest[-30:]))
        bundle = os.path.join(out, "bundle")
        check([self.dragoman, "convert", "marian", "--model", model, "--vocab", vocabulary, "--source-lang", "en", "--target-lang",
               "de", "--out", bundle])
        return speed(lines), bundle

    def scores(self, bundle):
        """Scores on Multi30k's test set of 2016, with length penalty 0.6."""
        text = check([self.train, "evaluate", bundle, self.files["test", "en"], self.files["test", "de"], "--beam-size",
                      str(self.a.beam), "--length-penalty", "0.6", "--lines", str(self.a.lines)])
        return {"test_nats_per_piece": float(re.search(r"\(([\d.]+) nats\)", text)[1]),
                "test_bleu": float(re.search(r"^BLEU\S* = ([\d.]+)", text, re.M)[1])}


def table(result):
    names = ("dragoman", "marian")
    runs = {n: result["programs"][n] for n in names}
    mean = {n: {k: statistics.mean(r[k] for r in runs[n]) for k in ("target_tokens_per_cpu_s", "test_nats_per_piece", "test_bleu",
                                                                    "target_tokens_per_update")} for n in names}
    rows = ["| | Dragoman | Marian |", "|---|---|---|"]
    for key, what, form in (("target_tokens_per_cpu_s", "target tokens a CPU second", "{:,.0f}"),
                            ("target_tokens_per_update", "target tokens an update", "{:,.0f}"),
                            ("test_nats_per_piece", "test 2016, nats a piece", "{:.3f}"), ("test_bleu", "test 2016, BLEU", "{:.1f}")):
        rows.append(f"| {what} | " + " | ".join(form.format(mean[n][key]) for n in names) + " |")
    for update in runs["dragoman"][0]["losses"]:
        cells = [f"{statistics.mean(r['losses'][update] for r in runs[n]):.2f}" for n in names]
        rows.append(f"| training loss up to update {update} (each its own) | " + " | ".join(cells) + " |")
    ratio = mean["dragoman"]["target_tokens_per_cpu_s"] / mean["marian"]["target_tokens_per_cpu_s"]
    m = result["machine"]
    return (f"# Training beside Marian: {m['cpu']}, {m['cores']} cores ({', '.join(m['flags'])})\n\n"
            f"{result['date']}, revision {result['revision']}, {result['marian']}; {result['model']}. {result['updates']} updates, "
            f"{result['rounds']} alternating rounds, means of them. By CPU time Dragoman's speed is {ratio:.2f} times Marian's. Scored with "
            f"beam {result['beam']} on {result['test_lines']} lines. Made by `make bench-marian`.\n\n" + "\n".join(rows) + "\n")


def main():
    p = argparse.ArgumentParser()
    for name in ("build", "marian", "data"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--out", default="bench/results")
    p.add_argument("--work", default=".cache/bench-marian")
    p.add_argument("--revision", default="unknown")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--updates", type=int, default=3000)
    p.add_argument("--log", type=int, default=50)
    p.add_argument("--warmup", type=int, default=1000)
    p.add_argument("--batch", type=int, default=1200, help="tokens of a side in our batches, at most")
    p.add_argument("--marian-batch", type=int, default=1200, help="Marian's --mini-batch-words for the same number an update")
    p.add_argument("--beam", type=int, default=4)
    p.add_argument("--lines", type=int, default=0, help="of the test set that are scored; 0: all")
    a = p.parse_args()
    bench = Bench(a)
    told = subprocess.run([a.marian, "--version"], capture_output=True, text=True)
    version = (told.stdout + told.stderr).strip() or "version not told"
    runs = {"dragoman": [], "marian": []}
    for number in range(1, a.rounds + 1):
        for name, run in (("dragoman", bench.ours), ("marian", bench.marians)):
            with machine.Others() as others:
                figures, bundle = run(number)
            runs[name].append({**figures, **bench.scores(bundle), "foreign_cpus": others.cores})
            print(name, number, json.dumps(runs[name][-1]), flush=True)
        result = {"date": record.now(), "machine": machine.describe(), "revision": a.revision,
                  "marian": "pymarian " + version.splitlines()[-1], "rounds": number, "updates": a.updates, "warmup": a.warmup,
                  "model": f"3 + 3 layers, {D_MODEL}/1024, 4 heads, one vocabulary of 6,000, fp32, one thread; Multi30k, post-norm, "
                           f"dropout and label smoothing 0.1, peak rate {PEAK} after {a.warmup} updates",
                  "beam": a.beam, "test_lines": a.lines or "all", "programs": runs}
        record.write(a.out, "marian-" + machine.slug(), {".json": result, ".md": table(result)})
    print(table(result))


if __name__ == "__main__":
    main()
