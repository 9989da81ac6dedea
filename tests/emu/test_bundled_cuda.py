"""The bundled model on the CUDA backend, emulated on the host: in fp32 it gives the CPU's answers on the same weights, in every
mode of the search; in bf16 nearly the same. With DRAGOMAN_TEST_GPU=1 it runs on the machine's own device."""
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import full_precision  # noqa: E402

BUILD = os.environ.get("DRAGOMAN_BUILD", "build/release")
DRAGOMAN, TRAIN = (os.path.join(BUILD, "bin", name) for name in ("dragoman", "dragoman-train"))
REAL = os.environ.get("DRAGOMAN_TEST_GPU") == "1"
PLUGIN = os.path.join(BUILD, *(("bin", "libdragoman-cuda.so") if REAL else ("tests", "libdragoman-cuda-emu.so")))
BUNDLE = os.path.join(ROOT, "weights", "bundles", "en-de-fr")
pytestmark = pytest.mark.skipif(not os.path.exists(PLUGIN), reason="the plugin is not built")
LINES = 50 if REAL else 2  # lines of each direction


def sentences(n=LINES):
    """{(source, target): the first n lines}; n None: all lines"""
    out = {}
    with open(os.path.join(ROOT, "bench", "card", "ordinary.tsv"), encoding="utf-8") as f:
        for line in f:
            _, source, target, text = line.rstrip("\n").split("\t")
            out.setdefault((source, target), []).append(text)
    return {pair: lines[:n] for pair, lines in out.items()}


def translate(model, pair, lines, device, **env):
    done = subprocess.run([DRAGOMAN, "translate", "--model", model, "--source-lang", pair[0], "--target-lang", pair[1], "--device", device],
                          input="".join(x + "\n" for x in lines), text=True, capture_output=True, timeout=600,
                          env=dict(os.environ, DRAGOMAN_CUDA_PLUGIN=os.path.abspath(PLUGIN), **env))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def on_cpu_of(lines_of, tmp_path_factory):
    """{pair: answers} on the CPU with the same weights in fp32."""
    copy = str(tmp_path_factory.mktemp("fp32") / "bundle")
    full_precision.copy(BUNDLE, copy, DRAGOMAN)
    return {pair: translate(copy, pair, lines, "cpu") for pair, lines in lines_of.items()}


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory):
    return on_cpu_of(sentences(), tmp_path_factory)


@pytest.mark.parametrize("step", [{}, {"DRAGOMAN_DEBUG": "cuda-graphs-off"}, {"DRAGOMAN_CUDA_STEP": "host"}], ids=str)
def test_fp32_answers_are_the_cpus(on_cpu, step):
    assert len(on_cpu) == 4
    for pair, lines in sentences().items():
        assert translate(BUNDLE, pair, lines, "cuda", **step) == on_cpu[pair], pair


def chrf(answers, references, tmp_path):
    for name, lines in ("answers", answers), ("references", references):
        (tmp_path / name).write_text("".join(x + "\n" for x in lines), encoding="utf-8")
    said = subprocess.run([TRAIN, "bleu", str(tmp_path / "answers"), str(tmp_path / "references")], text=True, capture_output=True,
                          check=True).stdout
    return float(said.split("chrF2")[1].split(" = ")[1].split()[0])


def test_bf16_answers_are_nearly_the_cpus(on_cpu, tmp_path):
    answers, references = [], []
    for pair, lines in sentences().items():
        answers += translate(BUNDLE, pair, lines, "cuda", DRAGOMAN_PRECISION="bf16")
        references += on_cpu[pair]
    assert chrf(answers, references, tmp_path) > 85
    assert sum(a == b for a, b in zip(answers, references)) >= len(answers) / 2
