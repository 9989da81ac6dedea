#!/usr/bin/env python3
"""One JSON object of what bench/gpu/run.sh measured, and a table on stdout."""
import argparse
import json
import subprocess

LENGTH, SOURCE, D, LAYERS, VOCABULARY = 27, 27, 512, 6, 32000
# Weights that a decoder step of the base model reads: 6 layers of 3.7 M and 32,000 x 512, each once.
WEIGHTS = LAYERS * (6 * D * D + 2 * D * 4 * D) + VOCABULARY * D

# By the makers' data sheets: dense bf16 operations a second in 10^12, for the share that training reaches; memory's bytes a
# second in 10^12, for the share of its limit that a decoder step reaches.
PEAKS = {"H200": 989, "H100 80GB HBM3": 989, "H100 PCIe": 756, "A100": 312}
MEMORY = {"H200": 4.8, "H100 80GB HBM3": 3.35, "H100 PCIe": 2.0, "A100": 2.0}


def of_device(table, device):
    return next((value for name, value in table.items() if name in device), None)


def limit_ms(row, device):
    """The least a step can take, at the mean position: its bytes (weights, keys and values, logits out and back), or its
    operations where they take longer. None where the device's rates are not known or do not hold for the type."""
    peak, memory = of_device(PEAKS, device), of_device(MEMORY, device)
    if not peak or row["precision"] == "fp32":
        return None
    rows, position = row["sentences"] * row["beam"], (LENGTH + 1) / 2
    kv = 2 * 2 * D * LAYERS  # bytes of keys and values for one position of all layers
    read = 2 * WEIGHTS + rows * position * kv + row["sentences"] * SOURCE * kv + 2 * 4 * rows * VOCABULARY
    operations = 2 * rows * (WEIGHTS + LAYERS * 2 * D * (position + SOURCE))
    return max(read / memory, operations / peak) * 1e-9


def training(a, device):
    """What an update takes; ours name their backend, PyTorch's their variant."""
    peak = of_device(PEAKS, device)
    rows = [dict(r, variant="dragoman", precision=r["backend"].split("/")[1]) for r in lines(a.train)] + lines(a.torch_train)
    for r in rows:
        if peak and r["precision"] == "bf16" and "tflop_per_s" in r:
            r["utilisation"] = r["tflop_per_s"] / peak
    return rows


def show_training(rows):
    print(f"{'training':10} {'type':5} {'model':5} update ms  tokens/s  Tflop/s  of the peak")
    for r in rows:
        if "update_ms" in r:
            share = f"{r['utilisation']:.1%}" if "utilisation" in r else ""
            print(f"{r['variant']:10} {r['precision']:5} {r['model']:5} {r['update_ms']:9.2f} {r['tokens_per_s']:9.0f} "
                  f"{r['tflop_per_s']:8.1f}  {share}")


def value(rows, key, **wanted):
    found = [r[key] for r in rows if key in r and all(r.get(k) == v for k, v in wanted.items())]
    return min(found) if found else None


def goals(rows, trained):
    """What was aimed at on an H100 or H200 in bf16, and what came out; the best of our three ways."""
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
        mine, theirs = (value(trained, "update_ms", variant=v, **of) for v in ("dragoman", "compiled"))
        add(f"training {model}, share of the peak", 0.35, value(trained, "utilisation", variant="dragoman", **of))
        add(f"training {model}, times PyTorch compiled", 1.2, theirs / mine if mine and theirs else None)
    return out


def lines(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [json.loads(x) for x in f if x.strip()]
    except OSError:
        return []


def smi(what):
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=" + what, "--format=csv,noheader"], capture_output=True, text=True)
    except OSError:
        return "unknown"
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else "unknown"


def main():
    p = argparse.ArgumentParser()
    for name in ("ours", "ours-host", "ours-graph", "torch", "train", "torch-train", "out", "revision"):
        p.add_argument("--" + name, required=True)
    p.add_argument("--device", help="as nvidia-smi would call it")
    a = p.parse_args()
    rows = []
    ways = [("dragoman", a.ours), ("dragoman-host", a.ours_host), ("dragoman-graph", a.ours_graph)]
    for variant, r in [(v, r) for v, path in ways for r in lines(path)]:
        size = 4 if "/fp32/" in r["backend"] else 2
        rows.append(dict(variant=variant, precision=r["backend"].split("/")[1], beam=r["beam"], sentences=r["sentences"],
                         total_ms=r["best_total_ms"], step_ms=r["best_step_ms"],
                         weight_gb_per_s=WEIGHTS * size / r["best_step_ms"] * 1e-6))
    rows += lines(a.torch)
    device = smi("name") if not a.device else a.device
    for r in rows:
        if "total_ms" in r:
            r["tokens_per_s"] = r["sentences"] * LENGTH / r["total_ms"] * 1e3
            limit = limit_ms(r, device)
            if limit:
                r["limit_ms"], r["limit_share"] = limit, limit / r["step_ms"]
    trained = training(a, device)
    reached = goals(rows, trained)
    result = dict(what="base model, random weights, vocabulary 32,000, 27 pieces in and out, forced; best of five",
                  device=device, driver=smi("driver_version"), revision=a.revision, rows=rows, training=trained, goals=reached)
    with open(a.out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    print(f"{'':14} {'type':5} beam sentences  total ms   step ms  tokens/s  of the limit")
    for r in rows:
        if "total_ms" in r:
            print(f"{r['variant']:14} {r['precision']:5} {r['beam']:4} {r['sentences']:9} {r['total_ms']:9.2f} {r['step_ms']:9.3f} "
                  f"{r['tokens_per_s']:9.0f}  " + (f"{r['limit_share']:.1%}" if "limit_share" in r else ""))
    show_training(trained)
    for g in reached:
        print(f"{'reached' if g['reached'] else 'MISSED ':8} {g['what']:45} {g['measured']:8.3f}  goal {g['goal']}")


if __name__ == "__main__":
    main()
