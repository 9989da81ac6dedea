"""A sentence's answer and score are bit for bit the same alone and among others, for bundles converted from each family's files:
from text to text, in the files' own type and in int8."""
import json
import os
import subprocess

import pytest

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert")
DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
EN_DE = ["--source-lang", "en", "--target-lang", "de"]
SPM = os.path.join(DATA, "pymarian", "attention.spm")
FAMILIES = {
    "marian": ["marian", "--model", os.path.join(DATA, "pymarian", "attention.npz"), "--vocab", SPM, *EN_DE],
    "marian_prenorm": ["marian", "--model", os.path.join(DATA, "pymarian", "prenorm.npz"), *EN_DE, "--vocab",
                       os.path.join(DATA, "pymarian", "prenorm.source.spm"), "--vocab", os.path.join(DATA, "pymarian", "prenorm.target.spm")],
    "marian_ssru": ["marian", "--model", os.path.join(DATA, "pymarian", "ssru.npz"), *EN_DE, "--vocab", os.path.join(DATA, "pymarian", "ssru.spm")],
    "bergamot": ["bergamot", os.path.join(DATA, "bergamot")],
    "bergamot_stored_scales": ["bergamot", os.path.join(DATA, "bergamot"), "--activation-scales", "stored"],
    "opus": ["huggingface", os.path.join(DATA, "huggingface", "swish")],
    "argos": ["ctranslate2", os.path.join(DATA, "ctranslate2_prenorm", "int8"), *EN_DE, "--spm", SPM],
    "m2m100": ["huggingface", os.path.join(DATA, "m2m100", "m2m"), *EN_DE],
    "nllb": ["huggingface", os.path.join(DATA, "m2m100", "nllb"), *EN_DE]}
with open(os.path.join(DATA, "bergamot", "answers.json"), encoding="utf-8") as f:
    TEXTS = json.load(f)["texts"][:24]


def answers(bundle, texts, *more):
    done = subprocess.run([DRAGOMAN, "translate", "--model", bundle, "--json", "--keep-loops", "--max-length", "40", "--n-best", "2",
                           "--beam", "3", *EN_DE, *more], input="".join(t + "\n" for t in texts), text=True, encoding="utf-8",
                          capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("family", FAMILIES)
def test_neighbours_change_no_bit(family, tmp_path):
    bundle = str(tmp_path / "b")
    subprocess.run([DRAGOMAN, "convert", *FAMILIES[family], "--out", bundle], check=True, capture_output=True, timeout=300)
    bundles = [bundle]
    if family != "bergamot_stored_scales":
        subprocess.run([DRAGOMAN, "quantize", bundle, "--out", bundle + "8"], check=True, capture_output=True, timeout=300)
        bundles.append(bundle + "8")
    for b in bundles:
        together = answers(b, TEXTS, "--workers", "1")
        assert len(together) == len(TEXTS) and len({json.loads(x)["text"] for x in together}) > 8
        assert answers(b, TEXTS[::-1], "--workers", "2", "--threads", "2")[::-1] == together  # every digit of every score
        for i in (0, 7, 15, 23):
            assert answers(b, TEXTS[i:i + 1], "--workers", "1") == together[i:i + 1]
