#!/usr/bin/env python3
"""One JSON object of what bench/gpu/run.sh left in a folder, and tables on stdout. Needs no GPU.

  report.py FOLDER [--out FILE] [--device NAME] [--driver VERSION] [--revision NAME]   (else as run.sh wrote them down)
"""
import argparse
import glob
import json
import math
import os
import re

LENGTH, SOURCE, D, LAYERS, VOCABULARY = 27, 27, 512, 6, 32000
# Number of weights that a decoder step of the base model reads, each once: 6 layers of 3.7 M, and 32,000 x 512.
WEIGHTS = LAYERS * (6 * D * D + 2 * D * 4 * D) + VOCABULARY * D

# From the data sheets. PEAKS: dense bf16 operations in 10^12 a second, to rate training. MEMORY: bandwidth in 10^12 bytes a
# second, to rate a decoder step.
PEAKS = {"H200": 989, "H100 80GB HBM3": 989, "H100 PCIe": 756, "A100": 312}
MEMORY = {"H200": 4.8, "H100 80GB HBM3": 3.35, "H100 PCIe": 2.0, "A100": 2.0}


def of_device(table, device):
    return next((value for name, value in table.items() if name in device), None)


def limit_ms(row, device):
    """Lower bound of a step's time at the mean position: the time to move its bytes (weights, keys and values, logits written
    and read back) or for its operations, whichever is longer. None if the device's rates are unknown or the precision is fp32."""
    peak, memory = of_device(PEAKS, device), of_device(MEMORY, device)
    if not peak or row["precision"] == "fp32":
        return None
    rows, position = row["sentences"] * row["beam"], (LENGTH + 2) / 2  # mean position of the steps after the first
    kv = 2 * 2 * D * LAYERS  # bytes of the keys and values of one position over all layers
    read = 2 * WEIGHTS + rows * position * kv + row["sentences"] * SOURCE * kv + 2 * 4 * rows * VOCABULARY
    operations = 2 * rows * (WEIGHTS + LAYERS * 2 * D * (position + SOURCE))
    return max(read / memory, operations / peak) * 1e-9


def steps(work):
    """Rows of our decoder steps and PyTorch's; both are medians."""
    rows = []
    for variant, names in (("dragoman", ("bf16", "fp16", "fp32")), ("dragoman-ops", ("ops",)), ("dragoman-host", ("host",))):
        for r in (r for name in names for r in work.lines(name)):
            precision = r["backend"].split("/")[1]
            rows.append(dict(variant=variant, precision=precision, beam=r["beam"], sentences=r["sentences"],
                             total_ms=r["total_ms"], step_ms=r["step_ms"], best_total_ms=r["best_total_ms"],
                             weight_gb_per_s=WEIGHTS * (4 if precision == "fp32" else 2) / r["step_ms"] * 1e-6))
    return rows + work.lines("torch")


def training(work, device):
    """Rows of training updates. Our rows name their backend, PyTorch's rows their variant."""
    peak = of_device(PEAKS, device)
    rows = [dict(r, variant=variant, precision=r["backend"].split("/")[1])
            for variant, name in (("dragoman", "train"), ("dragoman-plain", "plain")) for r in work.lines(name)]
    rows += work.lines("torch_train")
    for r in rows:
        if peak and r["precision"] == "bf16" and "tflop_per_s" in r:
            r["utilisation"] = r["tflop_per_s"] / peak
    return rows


def compare_losses(rows, notes):
    """Our runs start from the same parameters and masks, so after so few updates precision and kernels must hardly change the loss."""
    ours = [r for r in rows if r["variant"].startswith("dragoman")]
    for r in ours:
        loss = r.get("loss", math.nan)
        wide = next((x.get("loss", math.nan) for x in ours if x["model"] == r["model"] and x["precision"] == "fp32"), loss)
        if not abs(loss / wide - 1) <= 0.02:
            notes.append(f"{r['variant']} {r['precision']} {r['model']}: loss {loss:.4f}, in fp32 {wide:.4f}: not within 2 %")


def show_steps(rows):
    print(f"{'':14} {'type':5} beam sentences  total ms   step ms  tokens/s  of the limit")
    for r in rows:
        if "total_ms" in r:
            print(f"{r['variant']:14} {r['precision']:5} {r['beam']:4} {r['sentences']:9} {r['total_ms']:9.2f} {r['step_ms']:9.3f} "
                  f"{r['tokens_per_s']:9.0f}  " + (f"{r['limit_share']:6.1%}" if "limit_share" in r else "")
                  + (f"  {r['same_pieces']:.0%} the eager pieces" if "same_pieces" in r else ""))
    for variant, cache in sorted({(r["variant"], r["cache"]) for r in rows if "cache" in r}):
        print(f"PyTorch {variant}: cache {cache}")


def show_training(rows):
    print(f"{'training':14} {'type':8} {'model':5} update ms  tokens/s  Tflop/s  of the peak    loss")
    for r in sorted(rows, key=lambda r: r["model"]):
        if "update_ms" in r:
            share = f"{r['utilisation']:.1%}" if "utilisation" in r else ""
            print(f"{r['variant']:14} {r.get('way', r['precision']):8} {r['model']:5} {r['update_ms']:9.2f} {r['tokens_per_s']:9.0f} "
                  f"{r['tflop_per_s']:8.1f}  {share:>11}  {r.get('loss', math.nan):6.4f}")


def value(rows, key, **wanted):
    found = [r[key] for r in rows if key in r and all(r.get(k) == v for k, v in wanted.items())]
    return min(found) if found else None


def goals(rows, trained):
    """The goals for an H100 or H200 in bf16, and the results; the best of our three variants counts."""
    ours = [dict(r, variant="ours") for r in rows if r["variant"].startswith("dragoman") and "total_ms" in r]
    out = []

    def add(what, goal, measured, smaller=False):
        if measured is not None and goal is not None:
            out.append(dict(what=what, goal=goal, measured=measured, reached=(measured <= goal) if smaller else measured >= goal))

    at = dict(precision="bf16", beam=4)
    add("one sentence, ms", 8, value(ours, "total_ms", sentences=1, **at), smaller=True)
    shares = [r["limit_share"] for r in ours if "limit_share" in r and r["sentences"] == 64 and r["beam"] == 4 and r["precision"] == "bf16"]
    add("64 sentences, share of a step's limit", 0.6, max(shares) if shares else None)
    for variant, times in (("eager", 3), ("compiled", 1.3)):
        for n in (1, 8, 64, 256):
            mine, theirs = value(ours, "total_ms", sentences=n, **at), value(rows, "total_ms", variant=variant, sentences=n, **at)
            add(f"times PyTorch {variant}, {n} sentences", times, theirs / mine if mine and theirs else None)
    for model in ("base", "big"):
        of = dict(precision="bf16", model=model)
        mine = value(trained, "update_ms", variant="dragoman", **of)
        theirs = [x for x in (value(trained, "update_ms", variant=v, **of) for v in ("eager", "compiled")) if x]
        add(f"training {model}, share of the peak", 0.35, value(trained, "utilisation", variant="dragoman", **of))
        add(f"training {model}, times PyTorch's fastest way", 1.2, min(theirs) / mine if mine and theirs else None)
    return out


class Work:
    """The files that run.sh left: lines of JSON, and the programs' messages."""

    def __init__(self, folder):
        self.folder, self.notes = folder, []

    def text(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def lines(self, name):
        rows = []
        for x in self.text(name + ".jsonl").splitlines():
            try:
                rows += [json.loads(x)] if x.strip() else []
            except ValueError:  # half a line of a program that was stopped
                self.notes.append(f"{name}: a line is not whole: {x[:60]}")
        self.notes += [f"{name}: {r['variant']} {r['precision']} failed: {r['error']}" for r in rows if "error" in r]
        return rows

    def said(self):
        """Note what spoils the figures: products for which cuBLASLt had no algorithm, and programs that failed or were left out."""
        for path in sorted(glob.glob(os.path.join(self.folder, "*.err"))):
            name = os.path.basename(path)[:-4]
            text = self.text(name + ".err").splitlines()
            own = [x for x in text if "gemm_own" in x]
            if own:
                shapes = sorted({" ".join(re.findall(r'\b(?:kind|n|k|in|out)=(?:"[^"]*"|\S+)', x)) for x in own})
                self.notes.append(f"{name}: gemm_own {len(own)} times, our own, slow kernel multiplied: {'; '.join(shapes)}")
            self.notes += [f"{name}: {x}" for x in text if x.startswith(("failed: ", "left out: "))]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--out", default="-", help="default: bench/results/gpu-<device>.json")
    p.add_argument("--device", help="as nvidia-smi calls it")
    p.add_argument("--driver")
    p.add_argument("--revision")
    a = p.parse_args()
    work = Work(a.folder)
    name, _, driver = work.text("device").strip().partition(", ")
    device = a.device or name or "unknown"
    rows = steps(work)
    for r in rows:
        if "total_ms" in r:
            r["tokens_per_s"] = r["sentences"] * LENGTH / r["total_ms"] * 1e3
            limit = limit_ms(r, device)
            if limit:
                r["limit_ms"], r["limit_share"] = limit, limit / r["step_ms"]
    trained = training(work, device)
    compare_losses(trained, work.notes)
    work.said()
    reached = goals(rows, trained)
    result = dict(what="base model, random weights, vocabulary 32,000, 27 pieces in and out, forced; medians of 20 runs",
                  device=device, driver=a.driver or driver or "unknown", revision=a.revision or work.text("revision").strip() or "unknown",
                  rows=rows, training=trained, goals=reached, notes=work.notes)
    out = a.out if a.out != "-" else f"bench/results/gpu-{device.lower().replace(' ', '-')}.json"
    os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
    with open(out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    show_steps(rows)
    show_training(trained)
    for g in reached:
        print(f"{'reached' if g['reached'] else 'MISSED ':8} {g['what']:45} {g['measured']:8.3f}  goal {g['goal']}")
    for note in work.notes:
        print("LOOK    " + note)
    print(out)


if __name__ == "__main__":
    main()
