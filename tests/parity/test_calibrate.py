"""`dragoman-train calibrate` on real text: the references are a model's own translations with a certain length penalty, which
must be found again."""
import functools
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


@functools.cache
def answers(*more):
    """The model's own translations, before calibration."""
    return translate(MODEL, *more)


def decoding(bundle):
    """The decoding settings with FORMAT.md's names and defaults; older manifests have older names."""
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
    (bundle.parent / "dev.de").write_text(answers("--length-penalty", str(alpha)), encoding="utf-8")
    assert decoding(bundle)["alpha"] == pytest.approx(0.6)
    said = calibrate(bundle)
    assert decoding(bundle)["alpha"] == alpha and decoding(bundle)["beam"] == 4
    assert f"beam 4, length penalty {alpha:g}: BLEU 100.00, chrF2 100.00" in said
    assert translate(bundle) == (bundle.parent / "dev.de").read_text(encoding="utf-8")  # the new default applies without an option


def test_a_pair_has_its_own_penalty(bundle):
    """References that only a high penalty with a cap produces: the pair gets both, and they apply to requests without a penalty."""
    (bundle.parent / "dev.de").write_text(answers("--length-penalty", "3", "--length-penalty-cap", "1.3"), encoding="utf-8")
    assert answers("--length-penalty", "2") != (bundle.parent / "dev.de").read_text(encoding="utf-8")
    said = calibrate(bundle)
    assert "en-de beam 4, length penalty 3 over at most 1.3 x the source: BLEU 100.00, chrF2 100.00" in said
    assert "; en-de: length penalty 3 over at most 1.3 x the source (" in said
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["pair_decoding"] == {"en-de": {"length_penalty": 3, "length_penalty_cap": pytest.approx(1.3)}}
    assert translate(bundle) == (bundle.parent / "dev.de").read_text(encoding="utf-8")
    assert "en-de: length_penalty 3, counting at most 1.3 x input" in run(os.path.join(BIN, "dragoman"), "inspect", str(bundle))
    # An explicit penalty applies without the pair's cap.
    assert translate(bundle, "--length-penalty", "0.6") == answers()


def test_other_pairs_keep_their_settings(tmp_path):
    """Calibration on one pair of several replaces that pair's settings only."""
    bundle = tmp_path / "model"
    shutil.copytree("weights/bundles/en-de-fr", bundle)
    path = bundle / "manifest.json"
    before = json.loads(path.read_text(encoding="utf-8"))["pair_decoding"]
    assert set(before) == {"en-de", "en-fr"}
    (tmp_path / "dev.en").write_text("\n".join(LINES[:3]) + "\n", encoding="utf-8")
    (tmp_path / "dev.de").write_text("Etwas ganz anderes.\n" * 3, encoding="utf-8")  # no penalty is better than another
    calibrate(bundle)
    assert json.loads(path.read_text(encoding="utf-8"))["pair_decoding"] == {"en-fr": before["en-fr"]}
    done = run(os.path.join(BIN, "dragoman-train"), "calibrate", str(bundle), f"EN:fr:{tmp_path / 'dev.en'}:{tmp_path / 'dev.de'}",
               f"en:FR:{tmp_path / 'dev.en'}:{tmp_path / 'dev.de'}")  # codes may be written in capitals
    assert "chosen: " in done and "pair_decoding" not in json.loads(path.read_text(encoding="utf-8"))


def test_other_names_of_the_languages(bundle):
    """The manifest names the pair by the bundle's own codes, whatever the command line calls the languages: the bundle still opens."""
    (bundle.parent / "dev.de").write_text(answers("--length-penalty", "3", "--length-penalty-cap", "1.3"), encoding="utf-8")
    files = f"{bundle.parent / 'dev.en'}:{bundle.parent / 'dev.de'}"
    run(os.path.join(BIN, "dragoman-train"), "calibrate", str(bundle), f"eng:ger:{files}", "--lines", "40")
    assert list(json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["pair_decoding"]) == ["en-de"]
    assert translate(bundle)
    before = (bundle / "manifest.json").read_bytes()
    said = run(os.path.join(BIN, "dragoman-train"), "calibrate", str(bundle), f"de-AT:en:{files}", expect=2)
    assert "does not translate from de-AT to en" in said and (bundle / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("pairs, fault", [
    ({"de-en": {"length_penalty": 1}}, "pair_decoding has 1 members, of which 0 are pairs of this bundle"),
    ({"en-de": {"length_penalty": 11}}, "pair_decoding.en-de.length_penalty"),
    ({"en-de": {"length_penalty_cap": 1}}, "pair_decoding.en-de.length_penalty"),
    ({"en-de": {"length_penalty": 1, "cap": 1}}, "pair_decoding.en-de.cap"),
    ({"en-de": 3}, "pair_decoding.en-de"),
    (7, "pair_decoding must be an object"),
])
def test_a_wrong_pair_decoding_is_refused(bundle, pairs, fault):
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**manifest, "pair_decoding": pairs}), encoding="utf-8")
    said = ""
    for verb in (["seal", str(bundle)], ["translate", "--model", str(bundle)]):
        done = subprocess.run([os.path.join(BIN, "dragoman"), *verb], input="A dog.\n", capture_output=True, text=True)
        said += done.stderr
    assert done.returncode != 0 and fault in said, said


def test_the_threshold_spares_good_answers(bundle):
    """All answers are perfect here: at most one in a hundred is flagged, and a slightly higher threshold flags more."""
    (bundle.parent / "dev.de").write_text(answers(), encoding="utf-8")
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


def test_a_set_in_another_encoding_is_refused(bundle):
    """Its references would match no answer, and the settings that they choose would be sealed."""
    (bundle.parent / "dev.de").write_text("\n".join("Männer grüßen." for _ in LINES) + "\n", encoding="latin-1")
    before = (bundle / "manifest.json").read_bytes()
    said = calibrate(bundle, "--lines", "5", expect=1)
    assert f"{bundle.parent / 'dev.de'} line 1: not UTF-8" in said
    assert (bundle / "manifest.json").read_bytes() == before
    said = run(os.path.join(BIN, "dragoman-train"), "evaluate", str(bundle), str(bundle.parent / "dev.en"),
               str(bundle.parent / "dev.de"), expect=1)
    assert f"{bundle.parent / 'dev.de'} line 1: not UTF-8" in said
