"""dragoman quantize on the shipped bundle: complete, smaller, says what it costs; rows and packed forms translate alike,
and a sentence's answer in int8 does not depend on its neighbours either."""
import json
import os
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
BUNDLE = "weights/bundles/en-de"
LINES = ["A man is riding a bicycle.", "Two dogs play in the snow.", "A woman in a red dress sings on a stage.",
         "Three children are looking at a map.", "People wait.", "A boy jumps over a small fence in the park."]


def dragoman(*args, stdin="", ok=True):
    run = subprocess.run([DRAGOMAN, *args], input=stdin, capture_output=True, text=True)
    assert (run.returncode == 0) == ok, run.stderr
    return run.stdout if ok else run.stderr


def translate(bundle, lines, *options):
    out = dragoman("translate", "--model", bundle, "--json", "--workers", "1", *options, stdin="\n".join(lines) + "\n")
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    there = tmp_path_factory.mktemp("int8")
    rows, packed = str(there / "rows"), str(there / "packed")
    sentences = there / "sentences.txt"
    sentences.write_text("\n".join(LINES) + "\n")
    report = dragoman("quantize", BUNDLE, "--out", rows, "--sentences", str(sentences), "--worst", "5")
    dragoman("quantize", BUNDLE, "--out", packed, "--packed")
    return rows, packed, report


def test_it_is_smaller_and_verifies(bundles):
    rows, packed, _ = bundles
    size = {b: os.path.getsize(os.path.join(b, "weights.dgw")) for b in (BUNDLE, rows, packed)}
    tensors = dragoman("inspect", BUNDLE, "--tensors")
    if " s8/" not in tensors:
        assert size[rows] < 0.55 * size[BUNDLE]  # half of f16, a quarter of f32
    assert size[packed] > 1.8 * size[rows]
    for bundle in rows, packed:
        assert "verified" in dragoman("inspect", bundle, "--verify")


def test_the_report_lists_the_worst_layers(bundles):
    report = bundles[2]
    if "nothing to report" in report:
        pytest.skip("the shipped bundle is in int8 already")
    table = report[report.index("tensor "):].splitlines()
    errors = [float(line.split()[3].rstrip("%")) for line in table[1:6]]
    assert errors == sorted(errors, reverse=True)
    # 127 steps of a row's range: the outputs are about 1 to 2 % off; 10 % would be a fault.
    assert all(0 < e < 10 for e in errors)
    assert table[6].startswith("mean")


def test_rows_and_packed_translate_alike(bundles):
    rows, packed, _ = bundles
    assert translate(rows, LINES, "--beam", "4", "--n-best", "3") == translate(packed, LINES, "--beam", "4", "--n-best", "3")


def test_answers_do_not_depend_on_neighbours(bundles):
    together = translate(bundles[0], LINES, "--beam", "4")
    assert together == [translate(bundles[0], [line], "--beam", "4")[0] for line in LINES]
    assert together == translate(bundles[0], LINES, "--beam", "4", "--threads", "2")


def test_translations_stay_close_to_fp32(bundles):
    """Scores are mean log-probabilities: int8 moves them by hundredths."""
    for a, b in zip(translate(BUNDLE, LINES), translate(bundles[0], LINES)):
        assert abs(a["score"] - b["score"]) < 0.1


def test_wrong_usage():
    assert "--out" in dragoman("quantize", BUNDLE, ok=False)
    assert "itself" in dragoman("quantize", BUNDLE, "--out", BUNDLE, ok=False)
    assert os.path.exists(os.path.join(BUNDLE, "manifest.json"))
