#!/usr/bin/env python3
"""What enforced glossary terms do to translations: `bench/glossary/measure.py DATA [--out FILE.json]`.

DATA/test has newstest2014.en-de.{en,de}.gz. Of each of the first lines one term is taken: the longest word of the reference
(letters alone; of equal ones the first) that the model aligns with one word of the source, which the line has once. That word
is its entry's source side, so the entry applies; where the term goes is the search's to find. Each line is translated without
and with its glossary. Then: is the term there as a word (letter for letter, but for a capital that begins the answer), and
what is chrF (sacreBLEU's chrF2) of the whole, and of the rest: answers and references without the term. No flag of either run
is hidden.
"""
import argparse
import collections
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import sacrebleu

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))

import record  # noqa: E402
import texts  # noqa: E402

WORD = re.compile(r"[^\W\d_]+")


def translate(args, lines, *options):
    done = subprocess.run([args.program, "translate", "--model", args.model, "--source-lang", "en", "--target-lang", "de", "--json", *options],
                          input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def entry(args, source, reference):
    answer = translate(args, [source], "--alignments", "--target-prefix", reference)[0]
    words = {m.span(): m.group() for m in WORD.finditer(source)}
    for term in sorted(WORD.finditer(reference), key=lambda m: -len(m.group())):
        of = {tuple(a) for a, b in answer["alignment"] if b[0] < term.end() and b[1] > term.start()}
        word = next((w for (begin, end), w in words.items() if of and len(of) == 1 and min(of)[0] <= begin and end <= min(of)[1]), None)
        if word and [w.lower() for w in words.values()].count(word.lower()) == 1 and answer["text"].startswith(reference):
            return word.lower(), term.group()
    return None


def has(text, term):
    return re.search(rf"(?<![^\W_]){re.escape(term)}(?![^\W_])", text) is not None or \
        text.lower().startswith(term.lower()) and not text[len(term):len(term) + 1].isalnum()


def without(text, term):
    return " ".join(re.sub(rf"(?<![^\W_]){re.escape(term)}(?![^\W_])", " ", text, flags=re.I).split())


def chrf(answers, references):
    return round(sacrebleu.corpus_chrf(answers, [references]).score, 2)


def scores(cases, plain, forced):
    refs, terms = [c[1] for c in cases], [c[2][1] for c in cases]
    rest = [without(r, t) for r, t in zip(refs, terms)]
    return {
        "lines": len(cases),
        "chrf": {"without": chrf([p["text"] for p in plain], refs), "with": chrf([f["text"] for f in forced], refs)},
        "chrf_of_the_rest": {"without": chrf([without(p["text"], t) for p, t in zip(plain, terms)], rest),
                             "with": chrf([without(f["text"], t) for f, t in zip(forced, terms)], rest)},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "release", "bin", "dragoman"))
    parser.add_argument("--model", default=os.path.join(ROOT, "weights", "bundles", "en-de-fr"))
    parser.add_argument("--out")
    args = parser.parse_args()
    sides = [texts.lines(os.path.join(args.data, "test", f"newstest2014.en-de.{language}.gz"), None) for language in ("en", "de")]
    cases = list(itertools.islice(((s, r, e) for s, r in zip(*sides) if (e := entry(args, s, r))), args.lines))
    began = time.monotonic()
    plain = translate(args, [c[0] for c in cases])
    plain_s, began, forced = time.monotonic() - began, time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        for source, _, pair in cases:
            path = os.path.join(folder, "one.tsv")
            with open(path, "w", encoding="utf8") as f:
                f.write("\t".join(pair) + "\n")
            forced.append(translate(args, [source], "--glossary", path)[0])
    forced_s = time.monotonic() - began
    there = [has(p["text"], c[2][1]) for p, c in zip(plain, cases)]
    new = [i for i, t in enumerate(there) if not t]
    result = {
        "command": "bench/glossary/measure.py " + " ".join(["DATA", *sys.argv[2:]]), "model": os.path.basename(args.model),
        "term_present": {"without": sum(there), "with": sum(has(f["text"], c[2][1]) for f, c in zip(forced, cases))},
        "all": scores(cases, plain, forced),
        "lines_whose_answer_lacked_the_term": scores([cases[i] for i in new], [plain[i] for i in new], [forced[i] for i in new]),
        "flags": {name: dict(collections.Counter(flag for a in answers for flag in a["flags"]))
                  for name, answers in (("without", plain), ("with", forced))},
        "repetition_with_alone": sum("repetition" in f["flags"] and "repetition" not in p["flags"] for f, p in zip(forced, plain)),
        "mean_length_ratio": round(sum(len(f["text"]) / max(1, len(p["text"])) for f, p in zip(forced, plain)) / len(cases), 3),
        "seconds": {"without": round(plain_s, 1), "with": round(forced_s, 1)},
    }
    record.show(result, args.out)


main()
