#!/usr/bin/env python3
"""How often the language of few words is found: `bench/detect/measure.py DATA [--out FILE.json]`.

DATA/test has newstest2014.en-de.{en,de}.gz and newstest2014.en-fr.fr.gz, which are in no training
text. The first words of the first 600 lines of each language, by text/detect and by CLD2 alone (its
first guess that is one of the three languages); then what a wrong or a right `source` is called.
"""
import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import record  # noqa: E402
import texts  # noqa: E402

FILES = {"en": "newstest2014.en-de.en.gz", "de": "newstest2014.en-de.de.gz", "fr": "newstest2014.en-fr.fr.gz"}
WORDS = {"1": 1, "2": 2, "4": 4, "8": 8, "line": None}


def ask(program, options, lines):
    done = subprocess.run([program, *options], input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)
    answers = [line.split() for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    return answers


def percent(flags):
    flags = list(flags)
    return round(100 * sum(flags) / len(flags), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--lines", type=int, default=600)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "bin", "detect-bench"))
    parser.add_argument("--out")
    args = parser.parse_args()
    lines = {language: texts.lines(os.path.join(args.data, "test", name), args.lines) for language, name in FILES.items()}
    codes = list(FILES)
    right, cld2, confidence = {}, {}, []
    for name, words in WORDS.items():
        right[name], cld2[name] = {}, {}
        for language in codes:
            starts = [" ".join(line.split(" ")[:words]) for line in lines[language]]
            answers = ask(args.program, codes, starts)
            right[name][language] = percent(a[0] == language for a in answers)
            cld2[name][language] = percent(a[0] == language for a in ask(args.program, ["--cld2", *codes], starts))
            confidence += [(int(a[1]), a[0] == language) for a in answers]
    said = {}
    for low, high in ((34, 60), (60, 80), (80, 95), (95, 99), (99, 101)):
        there = [ok for c, ok in confidence if low <= c < high]
        if there:
            said[f"{low} to {high - 1}"] = {"answers": len(there), "right": percent(there)}
    doubtful = {
        f"{stated} stated, {language} written": percent(a[2] == "1" for a in ask(args.program, [stated], lines[language]))
        for stated in codes for language in codes}
    result = {"command": "bench/detect/measure.py " + " ".join(["DATA", *sys.argv[2:]]), "lines": args.lines,
              "right_percent_by_first_words": right, "cld2_alone": cld2, "by_confidence": said,
              "source_language_doubtful_percent_of_lines": doubtful}
    record.show(result, args.out)


main()
