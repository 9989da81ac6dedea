"""`dragoman-train bleu HYP REF` against sacreBLEU: recorded values always, the package itself where it is installed."""
import json
import os
import random
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build/release")), "bin", "dragoman-train")
CASES = json.load(open(os.path.join(ROOT, "tests/data/scores/cases.json"), encoding="utf-8"))["cases"]


def scores(tmp_path, hyp, ref):
    for name, lines in (("hyp", hyp), ("ref", ref)):
        (tmp_path / name).write_bytes("".join(line + "\n" for line in lines).encode())
    out = subprocess.run([PROGRAM, "bleu", tmp_path / "hyp", tmp_path / "ref"], capture_output=True, text=True, check=True)
    bleu = re.search(r"^BLEU\|nrefs:1\|case:mixed\|eff:no\|tok:13a\|smooth:exp\|version:dragoman-\S+ = ([0-9.]+)", out.stdout, re.M)
    chrf = re.search(r"^chrF2\|nrefs:1\|case:mixed\|eff:yes\|nc:6\|nw:0\|space:no\|version:dragoman-\S+ = ([0-9.]+)", out.stdout, re.M)
    assert bleu and chrf, out.stdout
    return float(bleu.group(1)), float(chrf.group(1))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_recorded(case, tmp_path):
    bleu, chrf = scores(tmp_path, case["hyp"], case["ref"])
    assert abs(bleu - case["bleu"]) <= 0.0051  # two decimals are printed
    assert abs(chrf - case["chrf"]) <= 0.0051


def test_live(tmp_path):
    metrics = pytest.importorskip("sacrebleu.metrics")
    rng = random.Random(11)
    words = "Haus der Größe 3,5 1990-1995 (alt) \"neu\" &amp; 中文 e.g. U.S. l'eau it's -- ... 50% a_b".split()
    for _ in range(5):
        ref = [" ".join(rng.choice(words) for _ in range(rng.randrange(1, 30))) for _ in range(200)]
        hyp = [" ".join(w if rng.random() < 0.8 else rng.choice(words) for w in line.split()) for line in ref]
        bleu, chrf = scores(tmp_path, hyp, ref)
        assert abs(bleu - metrics.BLEU().corpus_score(hyp, [ref]).score) <= 0.0051
        assert abs(chrf - metrics.CHRF().corpus_score(hyp, [ref]).score) <= 0.0051


def test_unequal_lengths_are_an_error(tmp_path):
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "b").write_text("one\n")
    out = subprocess.run([PROGRAM, "bleu", tmp_path / "a", tmp_path / "b"], capture_output=True, text=True)
    assert out.returncode != 0 and "line-aligned" in out.stderr
