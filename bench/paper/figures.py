#!/usr/bin/env python3
"""Figures 3 to 5 of the paper: encoder self-attention in layer 5 of 6, on the paper's own sentences, from a bundle with six encoder layers.

  figures.py --model BUNDLE [--out docs/pictures/paper] [--layer 5] [--heads A,B] [--further C,D]

--heads are those of Figure 4 and --further those of Figure 5: which ones do what is another matter in each model, so look at all of
them first (`dragoman attention --kind encoder --layer 5 --source TEXT --out all.svg`).
"""
import argparse
import os
import re
import subprocess
import sys

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")
MAKING = ("It is in this spirit that a majority of American governments have passed new laws since 2009 making the registration or voting process "
          "more difficult .")
LAW = "The Law will never be perfect , but its application should be just - this is what we are missing , in my opinion ."


def draw(a, name, text, heads, *options):
    path = os.path.join(a.out, name + ".svg")
    subprocess.run([f"{BIN}/dragoman", "attention", "--model", a.model, *a.languages, "--kind", "encoder", "--layer", str(a.layer), "--heads", heads, "--source",
                    text, "--out", path, *options], check=True)
    print(path)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", required=True)
    p.add_argument("--languages", default="en-de", help="which direction the model is asked for")
    p.add_argument("--out", default="docs/pictures/paper")
    p.add_argument("--layer", type=int, default=5)
    p.add_argument("--heads", default="1,2")
    p.add_argument("--further", default="3,4")
    a = p.parse_args()
    said = subprocess.run([f"{BIN}/dragoman", "inspect", a.model], capture_output=True, text=True, check=True).stdout
    layers = int(re.search(r"encoder (\d+)", said).group(1))
    if layers < a.layer:
        sys.exit(f"bench: {a.model} has {layers} encoder layers, and --layer is {a.layer}")
    source, target = a.languages.split("-")
    a.languages = ["--source-lang", source, "--target-lang", target]
    os.makedirs(a.out, exist_ok=True)
    draw(a, "figure3", MAKING, "all", "--word", "making")
    draw(a, "figure4-whole", LAW, a.heads.split(",")[0])
    draw(a, "figure4-its", LAW, a.heads, "--word", "its")
    for i, head in enumerate(a.further.split(",")):
        draw(a, f"figure5-{i + 1}", LAW, head)


if __name__ == "__main__":
    main()
