"""`dragoman-train bleu HYP REF` against sacreBLEU: always its recorded values, and the package itself if it is installed."""
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


@pytest.mark.parametrize("latin", [0, 1, 2])
def test_other_encodings_are_an_error(tmp_path, latin):
    """Letters in another encoding differ from the same letters: a score would be wrong."""
    paths = [tmp_path / "hyp", tmp_path / "ref", tmp_path / "other"]
    for i, path in enumerate(paths):
        path.write_bytes("Ein Mann.\nMänner grüßen.\n".encode("latin-1" if i == latin else "utf-8"))
    out = subprocess.run([PROGRAM, "bleu", *paths], capture_output=True, text=True)
    assert out.returncode != 0 and out.stdout == ""
    assert out.stderr == f"dragoman-train bleu: {paths[latin]} line 2: not UTF-8\n"


def spoil(lines, share, seed):
    """Swap two neighbouring words in this share of the lines."""
    rng = random.Random(seed)
    out = []
    for line in lines:
        words = line.split()
        if rng.random() < share and len(words) > 3:
            i = rng.randrange(len(words) - 1)
            words[i], words[i + 1] = words[i + 1], words[i]
        out.append(" ".join(words))
    return out


def paired(tmp_path, hyp, ref, other):
    for name, lines in (("hyp", hyp), ("ref", ref), ("other", other)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    out = subprocess.run([PROGRAM, "bleu", tmp_path / "hyp", tmp_path / "ref", tmp_path / "other"],
                         capture_output=True, text=True, check=True).stdout
    number = r"(-?[0-9.]+)"
    found = re.findall(rf"^(BLEU|chrF2) +{number} \+- {number} +others {number} \+- {number} +difference [+-][0-9.]+, p = {number} \((.*)\)$",
                       out, re.M)
    assert [f[0] for f in found] == ["BLEU", "chrF2"], out
    return {f[0]: [float(x) for x in f[1:6]] + [f[6]] for f in found}


def test_paired_bootstrap(tmp_path):
    """Against sacreBLEU's own test, on the recorded cases' references with words swapped: p differs by no more than between samples."""
    metrics = pytest.importorskip("sacrebleu.metrics")
    significance = pytest.importorskip("sacrebleu.significance")
    ref = [case_line for case in CASES for case_line in case["ref"] if len(case_line.split()) > 3]
    ref = (ref * (400 // len(ref) + 1))[:400]
    for share, seed in ((0.55, 1), (0.5, 2), (0.95, 3)):
        hyp, other = spoil(ref, 0.5, 4), spoil(ref, share, seed)
        ours = paired(tmp_path, hyp, ref, other)
        _, theirs = significance.PairedTest([("others", other), ("hyp", hyp)], {"BLEU": metrics.BLEU(), "chrF2": metrics.CHRF()},
                                            [ref], "bs", n_samples=1000)()
        for name in ("BLEU", "chrF2"):
            base, system = theirs[name]
            assert ours[name][0] == pytest.approx(system.score, abs=0.006) and ours[name][2] == pytest.approx(base.score, abs=0.006)
            assert ours[name][1] == pytest.approx(system.ci, rel=0.15) and ours[name][3] == pytest.approx(base.ci, rel=0.15)
            assert ours[name][4] == pytest.approx(system.p_value, abs=0.06)
            assert (ours[name][5] == "significant") == (ours[name][4] < 0.05)
    same = paired(tmp_path, hyp, ref, hyp)
    assert same["BLEU"][4:] == same["chrF2"][4:] == [1, "may be chance"]
