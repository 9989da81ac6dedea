"""`dragoman-train calibrate` on real text: a model's own translations under some length penalty are the references, so that
this one must be found again."""
import itertools
import json
import os
import shutil
import subprocess

import pytest

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")
BIN = os.path.join(BUILD, "bin")
MODEL = "tests/data/en-de"
WHO = ["A man in a red shirt", "Two young women", "A little boy with a hat", "Several people", "An old man and his dog", "A girl"]
WHAT = ["is riding a bicycle down the street", "are sitting on a bench in the park", "plays the guitar in front of a crowd",
        "is climbing a rock", "look at something in the distance"]
HOW = [".", " while other people are watching.", " on a sunny day.", " near the water."]
LINES = ["".join((who, " ", what, how)) for who, what, how in itertools.product(WHO, WHAT, HOW)]


def run(*args, text=None, expect=0):
    done = subprocess.run(args, input=text, capture_output=True, text=True, timeout=900)
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


def translate(model, *more):
    return run(os.path.join(BIN, "dragoman"), "translate", "--model", str(model), *more, text="\n".join(LINES) + "\n")


def decoding(bundle):
    """With the names and defaults of FORMAT.md; older manifests have older names."""
    said = json.loads((bundle / "manifest.json").read_text(encoding="utf-8")).get("decoding", {})
    return {"beam": said.get("beam_size", said.get("beam", 4)), "alpha": said.get("length_penalty", said.get("alpha", 0.6)),
            "low_confidence": said.get("low_confidence", -0.8)}


@pytest.fixture
def bundle(tmp_path):
    shutil.copytree(MODEL, tmp_path / "model")
    (tmp_path / "dev.en").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return tmp_path / "model"


def calibrate(bundle, *more, expect=0):
    dev = bundle.parent
    return run(os.path.join(BIN, "dragoman-train"), "calibrate", str(bundle), f"en:de:{dev / 'dev.en'}:{dev / 'dev.de'}", *more,
               expect=expect)


@pytest.mark.parametrize("alpha", [0, 1.5])
def test_the_penalty_is_found_again(bundle, alpha):
    (bundle.parent / "dev.de").write_text(translate(bundle, "--length-penalty", str(alpha)), encoding="utf-8")
    assert decoding(bundle)["alpha"] == pytest.approx(0.6)
    said = calibrate(bundle)
    assert decoding(bundle)["alpha"] == alpha and decoding(bundle)["beam"] == 4
    assert f"beam 4, length penalty {alpha:.1f}: BLEU 100.00, chrF2 100.00" in said
    assert translate(bundle) == (bundle.parent / "dev.de").read_text(encoding="utf-8")  # without being told


def test_the_threshold_spares_good_answers(bundle):
    """All answers are perfect here: one in a hundred of them at most is flagged, and one more by a threshold a little higher."""
    (bundle.parent / "dev.de").write_text(translate(bundle), encoding="utf-8")
    assert len(LINES) == 120
    calibrate(bundle, "--quiet")

    def flagged():
        lines = translate(bundle, "--json").splitlines()
        assert len(lines) == 120
        return sum("low_confidence" in json.loads(line)["flags"] for line in lines)
    threshold = decoding(bundle)["low_confidence"]
    assert flagged() <= 1 and threshold != -0.8
    run(os.path.join(BIN, "dragoman"), "seal", str(bundle), "--set", f"decoding.low_confidence={threshold + 0.002}")
    assert flagged() >= 2


def test_few_good_answers_leave_the_threshold(bundle):
    (bundle.parent / "dev.de").write_text("".join("Etwas ganz anderes steht hier.\n" for _ in LINES), encoding="utf-8")
    said = calibrate(bundle, "--lines", "20")
    assert decoding(bundle)["low_confidence"] == pytest.approx(-0.8) and "as before: 0 sentences" in said


def test_what_is_wrong_is_said(bundle):
    said = run(os.path.join(BIN, "dragoman-train"), "calibrate", str(bundle), "dev.en:dev.de", expect=2)
    assert "must be FROM:TO:SOURCE:TARGET" in said
    assert decoding(bundle)["alpha"] == pytest.approx(0.6)
