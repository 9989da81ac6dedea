#!/usr/bin/env python3
"""What comes through a translation, and how often a sentence is flagged: `bench/kept.py DATA [--out FILE.json]`.

DATA/test has newstest2014.en-{de,fr}.*.gz. Of each direction's first lines it counts those with a flag: news has few characters that a
model does not know, so flags for lost ones ought to be rare. Then the tables of tests/api/kept.py, in every format: addresses,
placeholders, names of files and names that are in the answer once, and characters that are kept, flagged or neither.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "api")]

import machine  # noqa: E402
import record  # noqa: E402
import texts  # noqa: E402

DIRECTIONS = [("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")]
# Flags of lost text. number_mismatch and word_copied do not count: they are older, and tell of the model's faults.
LOST = {"character_lost", "markup_in_text"}


def translate(args, source, target, lines):
    done = subprocess.run([args.program, "translate", "--model", args.model, "--source-lang", source, "--target-lang", target, "--json"],
                          input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def flags(args, source, target):
    pair = "en-fr" if "fr" in (source, target) else "en-de"
    lines = texts.lines(os.path.join(args.data, "test", f"newstest2014.{pair}.{source}.gz"), args.lines)
    answers = translate(args, source, target, lines)
    assert len(answers) == len(lines)
    counts = collections.Counter(flag for a in answers for flag in set(a["flags"]))
    lost = sum(bool(LOST & set(a["flags"])) for a in answers)
    odd = sum(bool({c for c in a["text"] if c == "\ufffd" or ord(c) < 32 or 0x7f <= ord(c) < 0xa0} - set(s)) for a, s in zip(answers, lines))
    return {"lines": len(lines), "with_a_flag_of_something_lost": lost, "percent": round(100 * lost / len(lines), 2),
            "with_a_character_that_is_none": odd, "flags": dict(sorted(counts.items()))}


def tables(args):
    import conftest
    import kept
    found = {}
    with conftest.Server(args.model) as server:
        for format in kept.FORMATS:
            rows = {}
            for kind, spans in kept.SPANS.items():
                cases = kept.cases(format, spans)
                answers = kept.answers(server, [t for _, t in cases], format)
                rows[kind] = {"of": len(cases), "kept": sum(a["text"].count(s) == 1 for (s, _), a in zip(cases, answers))}
            cases = [c for characters in kept.CHARACTERS.values() for c in kept.cases(format, characters, ["The sign @ is here."])]
            answers = kept.answers(server, [t for _, t in cases], format)
            there = [c in a["text"] for (c, _), a in zip(cases, answers)]
            told = ["character_lost" in kept.flags(a) for a in answers]
            rows["characters"] = {"of": len(cases), "kept": sum(there), "flagged": sum(f and not k for f, k in zip(told, there)),
                                  "silently_lost": sum(not f and not k for f, k in zip(told, there))}
            found[format] = rows
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--lines", type=int, default=3000)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "bin", "dragoman"))
    parser.add_argument("--model", default=os.path.join(ROOT, "weights", "bundles", "en-de-fr"))
    parser.add_argument("--out")
    args = parser.parse_args()
    manifest = record.read(os.path.join(args.model, "manifest.json"))
    result = {"command": " ".join(["bench/kept.py", "DATA", *sys.argv[2:]]), "date": record.today(), "machine": machine.describe(),
              "model": manifest["name"], "version": manifest.get("version"),
              "newstest2014": {f"{s}-{t}": flags(args, s, t) for s, t in DIRECTIONS}, "tables": tables(args)}
    record.show(result, args.out)


main()
