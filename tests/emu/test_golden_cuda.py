"""Whole models on the CUDA backend, emulated on the host: forced log-probabilities and searches of tests/golden must be
those of the CPU. A selection of models, because one emulated GPU is slow: the paper's, heads of odd and unequal
sizes, one head; and other programs' decoders, SSRU and pre-norm. `make test-gpu` runs all of tests/parity/test_golden.py on a device,
and the 16-bit modes here with DRAGOMAN_TEST_GPU=1, which selects the machine's own device."""
import json
import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "parity"))
import test_golden as golden  # noqa: E402
import test_m2m100 as m2m100  # noqa: E402
import test_pymarian as pymarian  # noqa: E402

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")
REAL = os.environ.get("DRAGOMAN_TEST_GPU") == "1"
PLUGIN = os.path.join(BUILD, *(("bin", "libdragoman-cuda.so") if REAL else ("tests", "libdragoman-cuda-emu.so")))
pytestmark = pytest.mark.skipif(not os.path.exists(PLUGIN), reason="the plugin is not built")
emulated = pytest.mark.skipif(REAL, reason="asks the emulation for something")
MODELS = ["paper", "odd-sizes", "one-head"]


@pytest.fixture(autouse=True)
def device(monkeypatch):
    monkeypatch.setenv("DRAGOMAN_CUDA_PLUGIN", os.path.abspath(PLUGIN))
    monkeypatch.setenv("DRAGOMAN_DEVICE", "cuda")


def translate(name, lines, args=(), env=None):
    return subprocess.run([golden.DRAGOMAN, "translate", "--model", golden.bundle(name), "--pieces", "--json", *args],
                          input=lines, text=True, capture_output=True, timeout=600, env=dict(os.environ, **(env or {})))


def sources(name, n):
    vocab = golden.vocabulary(name, "source")
    return "".join(golden.line(vocab, c["source"]) for c in golden.expected(name)["forced"][:n])


@pytest.mark.parametrize("name", MODELS)
def test_forced(name, tmp_path):
    golden.test_forced(name, None, tmp_path)


@pytest.mark.parametrize("name,setting", [("paper", 2), ("narrow-keys", 2)])
def test_search(name, setting):
    golden.test_search(name, setting)


@pytest.mark.parametrize("precision,tolerance", [("fp16", 0.03), ("bf16", 0.2)])
def test_sixteen_bits(precision, tolerance, tmp_path, monkeypatch):
    """Forced log-probabilities through two layers on each side: fp16 keeps 11 bits, bf16 8; the largest errors seen are 0.013 and 0.094."""
    monkeypatch.setenv("DRAGOMAN_PRECISION", precision)
    monkeypatch.setattr(golden, "PIECE_TOLERANCE", tolerance)
    monkeypatch.setattr(golden, "SCORE_TOLERANCE", 120 * tolerance)
    golden.test_forced("paper", None, tmp_path)


@pytest.mark.parametrize("name", ["ssru", "prenorm"])
def test_what_marian_says(name, tmp_path, monkeypatch):
    """Marian's scores, and the SSRU student's greedy answers; with beam 4 the CPU's answers: states follow their hypotheses."""
    bundle, cases = pymarian.convert(name, tmp_path), pymarian.cases(name)
    few = sorted(cases, key=lambda c: len(c["source"]))[:8]
    pymarian.test_scores((name, bundle, [c for c in cases if c in few or len(c["source"].split()) > 60]), tmp_path)
    if name == "ssru":
        pymarian.test_greedy((name, bundle, few))
    beams = ["translate", "--model", bundle, "--json", "--beam", "4", "--n-best", "2", "--keep-loops", "--max-length", "30"]
    mine = pymarian.answers(beams, [c["source"] for c in few])
    monkeypatch.setenv("DRAGOMAN_DEVICE", "cpu")
    theirs = pymarian.answers(beams, [c["source"] for c in few])
    assert [[h["text"] for h in a["n_best"]] for a in mine] == [[h["text"] for h in a["n_best"]] for a in theirs]


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_what_marian_says_in_sixteen_bits(precision, tmp_path, monkeypatch):
    monkeypatch.setenv("DRAGOMAN_PRECISION", precision)
    monkeypatch.setattr(pymarian, "RELATIVE", {"fp16": 0.01, "bf16": 0.05}[precision])
    for name in ("ssru", "prenorm"):
        cases = pymarian.cases(name)
        few = [max(cases, key=lambda c: len(c["source"]))] + cases[:6]
        pymarian.test_scores((name, pymarian.convert(name, tmp_path), few), tmp_path)


def test_what_transformers_says_of_m2m100(tmp_path):
    bundle = tmp_path / "m2m"
    m2m100.run(["convert", "huggingface", os.path.join(m2m100.DATA, "m2m"), "--out", str(bundle)])
    for case in m2m100.expected("m2m")["forced"][:4]:
        for side in ("source", "target"):
            (tmp_path / side).write_text(" ".join(case[side]) + "\n", encoding="utf-8")
        out = m2m100.run(["score", "--model", str(bundle), "--source", str(tmp_path / "source"), "--target", str(tmp_path / "target"),
                          "--tokens", "--json", *m2m100.languages(case)])
        assert [t["logprob"] for t in json.loads(out)["tokens"]] == pytest.approx(case["logprobs"], abs=1e-4)
    for case in m2m100.expected("m2m")["greedy"][:4]:
        assert m2m100.translate(bundle, case, " ".join(case["source"]), "--tokens")["tokens"].split() == case["target"]


@emulated
def test_a_failing_device_is_an_error_not_an_answer():
    """The device breaks in the middle of a search that runs to its length limit: no translation is printed."""
    done = translate("endless", sources("endless", 2), env={"DRAGOMAN_EMU_FAIL": "100"})
    assert done.returncode != 0
    assert done.stdout == ""
    assert "launch failure" in done.stderr


@emulated
def test_no_device():
    done = translate("paper", sources("paper", 1), ["--device", "auto"], env={"DRAGOMAN_EMU_DEVICES": "0"})
    assert done.returncode == 0
    assert "device: the CPU (no CUDA device" in done.stderr
    done = translate("paper", sources("paper", 1), ["--device", "cuda:3"])
    assert done.returncode != 0
    assert "there are 1 CUDA devices" in done.stderr


@emulated
def test_reversed_threads_give_the_same_bits():
    """No kernel depends on the order in which a block's threads run between two barriers."""
    forward = translate("odd-sizes", sources("odd-sizes", 4), ["--beam", "4"])
    reverse = translate("odd-sizes", sources("odd-sizes", 4), ["--beam", "4"], env={"DRAGOMAN_EMU_ORDER": "reverse"})
    assert forward.returncode == 0 and forward.stdout
    assert forward.stdout == reverse.stdout
