#!/usr/bin/env python3
"""What a model card has to say: BLEU and chrF of a bundle in each of its directions, what was unusual about the answers,
speed, and some sentences as they come out.

  main.py --dragoman build/release/bin/dragoman --trainer build/release/bin/dragoman-train --data DIR BUNDLE...
          [--pairs en-de,...] [--sets "Multi30k val",...] [--lines N] [--rerank] [--unjudged FILE] [--out DIR]

DIR as scripts/get-data makes it. Several bundles stand beside each other (int8 and float32, say). Prints Markdown and
writes OUT/<name of the bundle's folder>.json, from which a set is taken that was done before with the same bundle and program.
"""
import argparse
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import machine  # noqa: E402
import names  # noqa: E402
import ordinary  # noqa: E402
import record  # noqa: E402
import texts  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# name of a test set: (its file for a pair with English, its purpose); {} is the language, {other} the one that is not English
SETS = {"Multi30k test 2016": ("test/multi30k_test_2016_flickr.{}", "reporting"), "newstest2014": ("test/newstest2014.en-{other}.{}", "reporting"),
        "Multi30k val": ("multi30k/val.{}", "choosing"), "newstest2013": ("dev/newstest2013.en-{other}.{}", "choosing"),
        "FLORES dev": ("dev/flores.{}", "choosing")}
NAMES = {"en": "English", "de": "German", "fr": "French"}
ENDS = ".!?:;…"


def lines_of(data, name, language, other, n):
    return texts.lines(os.path.join(data, SETS[name][0].format(language, other=other) + ".gz"), n)


def translate(a, bundle, source, target, lines):
    """(answers as parsed JSON objects, CPU seconds, wall seconds)"""
    before, start = machine.children_seconds(), time.monotonic()
    done = subprocess.run([a.dragoman, "translate", "--model", bundle, "--source-lang", source, "--target-lang", target, "--json", *["--rerank"] * a.rerank],
                          input="\n".join(lines) + "\n", capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: {bundle}: {done.stderr}")
    cpu, wall = machine.children_seconds() - before, time.monotonic() - start
    answers = [json.loads(x) for x in done.stdout.splitlines()]
    if len(answers) != len(lines):
        sys.exit(f"bench: {len(answers)} answers to {len(lines)} lines")
    return answers, cpu, wall


def token_means(a, bundle, source, target, lines, translations):
    """The mean log-probability of each translation's tokens."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [texts.write(os.path.join(folder, name), x) for name, x in (("source", lines), ("target", translations))]
        done = subprocess.run([a.dragoman, "score", "--model", bundle, "--source-lang", source, "--target-lang", target,
                               "--source", paths[0], "--target", paths[1]], capture_output=True, text=True, check=True)
    scored = [line.split("\t") for line in done.stdout.splitlines()]
    return [float(total) / len(tokens.split(" ")) for total, tokens in scored]


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def last_sign(text):
    return text.rstrip(" \u00a0\u202f\"'”“„»«’‘)]")[-1:]


def bleu(a, hypotheses, references):
    with tempfile.TemporaryDirectory() as folder:
        paths = [texts.write(os.path.join(folder, name), [x.replace("\n", " ") for x in lines])
                 for name, lines in (("hypotheses", hypotheses), ("references", references))]
        out = subprocess.run([a.trainer, "bleu", *paths], capture_output=True, text=True, check=True).stdout
    return {"signature": re.search(r"BLEU\|(\S+) = ", out).group(1), "bleu": float(re.search(r"BLEU\S* = ([\d.]+)", out).group(1)),
            "chrf": float(re.search(r"chrF2\S* = ([\d.]+)", out).group(1))}


def score(a, bundle, name, source, target):
    other = target if source == "en" else source
    sources, references = (lines_of(a.data, name, x, other, a.lines) for x in (source, target))
    answers, cpu, wall = translate(a, bundle, source, target, sources)
    texts = [x["text"] for x in answers]
    ended = [t for s, t in zip(sources, texts) if last_sign(s) in ENDS and last_sign(s)]
    flags = collections.Counter(f for x in answers for f in x["flags"])
    return {**bleu(a, texts, references), "lines": len(sources), "empty": sum(not t.strip() for t in texts),
            "end_kept": sum(last_sign(t) in ENDS and bool(last_sign(t)) for t in ended) / max(1, len(ended)),
            "flags": {k: v / len(sources) for k, v in sorted(flags.items())}, "cpu_ms_a_line": 1000 * cpu / len(sources),
            "lines_per_s": len(sources) / wall}


def measure(a, bundle):
    manifest = record.read(os.path.join(bundle, "manifest.json"))
    wanted = ["-".join(p) for p in manifest["pairs"] if not a.pairs or "-".join(p) in a.pairs.split(",")]
    name_of_file = os.path.basename(os.path.normpath(bundle))
    result = record.read_if_there(os.path.join(a.out, name_of_file + ".json"), {})
    made = {"version": manifest["version"], "program": digest(a.dragoman), "limit": a.lines, "rerank": a.rerank}
    if any(result.get(key) != value for key, value in made.items()):
        decoding = manifest.get("decoding", {})
        result = {**made, "name": manifest["name"], "scores": {}, "says": {},
                  "beam": decoding.get("beam_size", decoding.get("beam", 4)),
                  "alpha": decoding.get("length_penalty", decoding.get("alpha", 0.6))}
    sentences = record.read(os.path.join(HERE, "sentences.json"))
    for pair in wanted:
        source, target = pair.split("-")
        result["says"][pair] = {kind: [[s, t["text"]] for s, t in zip(by[source], translate(a, bundle, source, target, by[source])[0])]
                                for kind, by in sentences.items()}
        for name in SETS:
            if (a.sets and name not in a.sets.split(",")) or "en" not in (source, target) or name in result["scores"].get(pair, {}):
                continue
            result["scores"].setdefault(pair, {})[name] = score(a, bundle, name, source, target)
            print(f"{bundle} {pair} {name}: {result['scores'][pair][name]}", file=sys.stderr, flush=True)
            record.write(a.out, name_of_file, {".json": result})

    def answers_to(source, target, lines):
        return translate(a, bundle, source, target, lines)[0]
    result["ordinary"] = ordinary.measure(answers_to, lambda *pairs: token_means(a, bundle, *pairs))
    result["names"] = names.measure(answers_to, wanted)
    record.write(a.out, name_of_file, {".json": result})
    return result


def percent(x):
    return f"{100 * x:.1f} %"


def arrow(pair):
    return " → ".join(NAMES[x] for x in pair.split("-"))


def report(r):
    pairs = sorted(r["scores"])
    signature = next((s["signature"] for p in r["scores"].values() for s in p.values()), "")
    out = [f"## {r['name']} `{r['version'][:12]}`", "", f"`{signature}`, beam {r['beam']}, α {r['alpha']}.", ""]
    for purpose in ("reporting", "choosing"):
        chosen = [n for n, (_, p) in SETS.items() if p == purpose and any(n in s for s in r["scores"].values())]
        if chosen:
            out += [f"| for {purpose}: BLEU, chrF2 | " + " | ".join(map(arrow, pairs)) + " |", "|---" * (1 + len(pairs)) + "|"]
            for n in chosen:
                cells = [r["scores"][p].get(n) for p in pairs]
                out.append(f"| {n} | " + " | ".join(f"**{s['bleu']:.1f}**, {s['chrf']:.1f}" if s else "" for s in cells) + " |")
            out.append("")
    out += ["| | empty | end kept | loops | low confidence | other numbers | CPU ms a line |", "|---|---|---|---|---|---|---|"]
    for p in pairs:
        for n, s in r["scores"][p].items():
            out.append(f"| {arrow(p)}, {n} | {s['empty']} | {percent(s['end_kept'])} | {percent(s['flags'].get('repetition', 0))} | "
                       f"{percent(s['flags'].get('low_confidence', 0))} | "
                       f"{percent(s['flags'].get('number_mismatch', 0))} | {s['cpu_ms_a_line']:.0f} |")
    out += ["", *names.report(r["names"], arrow), *ordinary.report(r["ordinary"])]
    for p, kinds in r["says"].items():
        for said in kinds.values():
            out += ["", "| " + " | ".join(NAMES[x] for x in p.split("-")) + " |", "|---|---|"]
            out += [f"| {s} | {t} |".replace("\n", " ") for s, t in said]
    return "\n".join(out) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bundles", nargs="+")
    p.add_argument("--dragoman", required=True)
    p.add_argument("--trainer", required=True)
    p.add_argument("--data", required=True)
    p.add_argument("--pairs", default="")
    p.add_argument("--sets", default="")
    p.add_argument("--lines", type=int, default=1000000, help="of each set, at most")
    p.add_argument("--rerank", action="store_true", help="choose answers by reading them back")
    p.add_argument("--unjudged", default="", metavar="FILE", help="append the ordinary sentences' answers that nobody has judged")
    p.add_argument("--out", default=".cache/bench-card")
    a = p.parse_args()
    for bundle in a.bundles:
        result = measure(a, bundle)
        print(report(result))
        if a.unjudged:
            with open(a.unjudged, "a", encoding="utf-8") as f:
                f.write("".join(x + "\n" for x in ordinary.unjudged(result["ordinary"])))


if __name__ == "__main__":
    main()
