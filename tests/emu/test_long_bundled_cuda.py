"""The bundled model on the emulated device, all lines: in fp32 the CPU's text on the 200 sentences of bench/card/ordinary.tsv; in 16 bits
chrF within 0.3 of fp32's, with the translations that were judged right as references (bench/card/judgements.tsv, 2 points)."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_bundled_cuda import BUNDLE, ROOT, chrf, on_cpu_of, pytestmark, sentences, translate  # noqa: E402, F401


def judged():
    """{(source, target): {line: translation}} of the translations judged right"""
    out = {}
    with open(os.path.join(ROOT, "bench", "card", "judgements.tsv"), encoding="utf-8") as f:
        for line in f:
            points, source, target, text, answer = line.rstrip("\n").split("\t")
            if points == "2":
                out.setdefault((source, target), {})[text] = answer
    return out


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory):
    return on_cpu_of(sentences(None), tmp_path_factory)


def test_fp32_answers_are_the_cpus(on_cpu):
    for pair, lines in sentences(None).items():
        assert translate(BUNDLE, pair, lines, "cuda") == on_cpu[pair], pair


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_16_bits_are_as_good(on_cpu, tmp_path, precision):
    answers, of_fp32, references = [], [], []
    for pair, right in judged().items():
        known = dict(zip(sentences(None)[pair], on_cpu[pair]))
        lines = [x for x in right if x in known]
        answers += translate(BUNDLE, pair, lines, "cuda", DRAGOMAN_PRECISION=precision)
        of_fp32 += [known[x] for x in lines]
        references += [right[x] for x in lines]
    assert len(references) > 80
    there, here = chrf(answers, references, tmp_path), chrf(of_fp32, references, tmp_path)
    print(f"{precision}: {len(references)} lines, chrF {there} on the device, {here} in fp32 on the CPU, "
          f"{sum(a == b for a, b in zip(answers, of_fp32))} answers the same")
    assert abs(there - here) <= 0.3
