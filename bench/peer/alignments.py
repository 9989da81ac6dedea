#!/usr/bin/env python3
"""How far the engine's word alignments agree with eflomal's (Oestling & Tiedemann 2016), an aligner of another kind.

  python3 -m venv aligner && aligner/bin/pip install eflomal==2.0.0
  aligner/bin/python bench/peer/alignments.py --bundle tests/data/en-de --text SOURCE.gz --train EN.gz DE.gz

The bundle translates --text with alignments. eflomal aligns those very pairs in both directions, having read --lines pairs
of --train before them, lower case, words without the marks around them. Links that both directions have count as sure,
those of either as possible: precision is the share of the engine's links that are possible, recall the share of the sure
ones it has, AER = 1 - (|A and sure| + |A and possible|) / (|A| + |sure|) (Och & Ney 2003). Nobody's judgement is in it: an
aligner is no gold standard. --look says which attention, as LAYER or LAYER.HEAD, from 1; without it, what the manifest names.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import texts  # noqa: E402


def words(text):
    """Spans of the words: like the engine, everything between white space."""
    return [m.span() for m in re.finditer(r"\S+", text)]


def is_mark(c):
    return unicodedata.category(c)[0] in "PSZ"


def plain(word):
    """The word in lower case without the punctuation around it; a word of punctuation alone stays."""
    begin, end = 0, len(word)
    while begin < end and is_mark(word[begin]):
        begin += 1
    while end > begin and is_mark(word[end - 1]):
        end -= 1
    return (word[begin:end] or word).lower()


def aligner_line(text):
    return " ".join(plain(text[b:e]) for b, e in words(text))


def looking(bundle, look, folder):
    """A copy of the bundle whose manifest names another attention; the bundle itself if `look` is empty."""
    if not look:
        return bundle
    copy = os.path.join(folder, "look-" + look)
    shutil.copytree(bundle, copy)
    path = os.path.join(copy, "manifest.json")
    with open(path, encoding="utf-8") as f:
        manifest = json.load(f)
    manifest.pop("alignment_head", None)
    layer, _, head = look.partition(".")
    manifest["alignment_layer"] = int(layer)
    if head:
        manifest["alignment_head"] = int(head)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(manifest, f)
    return copy


def translate(program, bundle, sources, threads):
    out = subprocess.run([program, "translate", "--model", bundle, "--json", "--alignments", "--threads", str(threads)],
                         input="\n".join(sources) + "\n", capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def engine_links(source, answer):
    """{(index of source word, index of answer word)}, without words of punctuation alone."""
    sides = [{span: i for i, span in enumerate(words(t)) if not all(map(is_mark, t[span[0]:span[1]]))}
             for t in (source, answer["text"])]
    pairs = [(tuple(s), tuple(t)) for s, t in answer["alignment"]]
    return {(sides[0][s], sides[1][t]) for s, t in pairs if s in sides[0] and t in sides[1]}


def eflomal_links(sources, targets):
    import eflomal
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, name) for name in ("there", "back")]
        eflomal.Aligner().align(sources, targets, links_filename_fwd=files[0], links_filename_rev=files[1])
        return [[{tuple(map(int, p.split("-"))) for p in line.split()} for line in texts.lines(f, None)] for f in files]


def without_marks(links, source, target):
    sides = [t.split() for t in (source, target)]
    return {(s, t) for s, t in links if not all(map(is_mark, sides[0][s])) and not all(map(is_mark, sides[1][t]))}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--program", default="build/release/bin/dragoman")
    p.add_argument("--bundle", required=True)
    p.add_argument("--text", required=True)
    p.add_argument("--texts", type=int, default=1000, help="lines of it")
    p.add_argument("--train", nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    p.add_argument("--lines", type=int, default=30000, help="pairs of it")
    p.add_argument("--look", nargs="*", default=[""])
    p.add_argument("--threads", type=int, default=1)
    a = p.parse_args()

    sources = texts.lines(a.text, a.texts)
    train = [texts.lines(path, a.lines) for path in a.train]
    with tempfile.TemporaryDirectory() as folder:
        answers = {look: translate(a.program, looking(a.bundle, look, folder), sources, a.threads) for look in a.look}
    first = answers[a.look[0]]
    # An empty line would shift eflomal's output.
    kept = [i for i, x in enumerate(first) if x["text"].strip() and sources[i].strip()]
    pairs = [(s, t) for s, t in zip(*train) if s.strip() and t.strip()]
    s_lines = [aligner_line(s) for s, _ in pairs] + [aligner_line(sources[i]) for i in kept]
    t_lines = [aligner_line(t) for _, t in pairs] + [aligner_line(first[i]["text"]) for i in kept]
    there, back = (links[len(pairs):] for links in eflomal_links(s_lines, t_lines))
    sure, possible = [], []
    for k, (f, b) in enumerate(zip(there, back)):
        ends = s_lines[len(pairs) + k], t_lines[len(pairs) + k]
        sure.append(without_marks(f & b, *ends))
        possible.append(without_marks(f | b, *ends))
    n_sure = sum(map(len, sure))
    for look in a.look:
        assert [x["text"] for x in answers[look]] == [x["text"] for x in first]
        got = [engine_links(sources[i], answers[look][i]) for i in kept]
        n = sum(map(len, got))
        right = sum(len(g & x) for g, x in zip(got, possible))
        found = sum(len(g & x) for g, x in zip(got, sure))
        print(json.dumps({"bundle": os.path.basename(os.path.normpath(a.bundle)), "look": look or "manifest", "lines": len(kept),
                          "links": n, "sure": n_sure, "possible": sum(map(len, possible)),
                          "precision": round(right / n, 4), "recall": round(found / n_sure, 4),
                          "aer": round(1 - (right + found) / (n + n_sure), 4)}), flush=True)


main()
