#!/usr/bin/env python3
"""One JSON object of what bench/gpu/run.sh measured, and a table on stdout."""
import argparse
import json
import subprocess

LENGTH = 27
# Bytes of weights that a decoder step of the base model reads: 6 layers of 5.25 M and 32,000 x 512, each once.
WEIGHTS = 6 * (3 * 512 * 512 + 512 * 512 + 512 * 512 + 512 * 512 + 2 * 512 * 2048) + 32000 * 512


# Dense bf16 operations a second by the makers' data sheets, in 10^12, for the share that training reaches.
PEAKS = {"H200": 989, "H100 80GB HBM3": 989, "H100 PCIe": 756, "A100": 312}


def training(a, device):
    """What an update takes; ours name their backend, PyTorch's their variant."""
    peak = next((p for name, p in PEAKS.items() if name in device), None)
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


def lines(path):
    try:
        with open(path, encoding="utf-8") as f:
            return [json.loads(x) for x in f if x.strip()]
    except OSError:
        return []


def smi(what):
    done = subprocess.run(["nvidia-smi", "--query-gpu=" + what, "--format=csv,noheader"], capture_output=True, text=True)
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else "unknown"


def main():
    p = argparse.ArgumentParser()
    for name in ("ours", "ours-host", "ours-graph", "torch", "train", "torch-train", "out", "revision"):
        p.add_argument("--" + name, required=True)
    a = p.parse_args()
    rows = []
    ways = [("dragoman", a.ours), ("dragoman-host", a.ours_host), ("dragoman-graph", a.ours_graph)]
    for variant, r in [(v, r) for v, path in ways for r in lines(path)]:
        size = 4 if "/fp32/" in r["backend"] else 2
        rows.append(dict(variant=variant, precision=r["backend"].split("/")[1], beam=r["beam"], sentences=r["sentences"],
                         total_ms=r["best_total_ms"], step_ms=r["best_step_ms"],
                         weight_gb_per_s=WEIGHTS * size / r["best_step_ms"] * 1e-6))
    rows += lines(a.torch)
    for r in rows:
        if "total_ms" in r:
            r["tokens_per_s"] = r["sentences"] * LENGTH / r["total_ms"] * 1e3
    trained = training(a, smi("name"))
    result = dict(what="base model, random weights, vocabulary 32,000, 27 pieces in and out, forced; best of five",
                  device=smi("name"), driver=smi("driver_version"), revision=a.revision, rows=rows, training=trained)
    with open(a.out, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    print(f"{'':14} {'type':5} beam sentences  total ms   step ms  tokens/s")
    for r in rows:
        if "total_ms" in r:
            print(f"{r['variant']:14} {r['precision']:5} {r['beam']:4} {r['sentences']:9} {r['total_ms']:9.2f} {r['step_ms']:9.3f} "
                  f"{r['tokens_per_s']:9.0f}")
    show_training(trained)


if __name__ == "__main__":
    main()
