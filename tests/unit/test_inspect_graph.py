"""dragoman inspect --graph and --dot: the boxes of the paper's Figures 1 and 2, drawn from the bundle."""
import json
import os
import re
import shutil
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
BUNDLE = "tests/data/en-de"


def inspect(*options, bundle=BUNDLE):
    return subprocess.run([DRAGOMAN, "inspect", str(bundle), *options], capture_output=True, text=True, check=True).stdout


def boxes(text):
    """Figure 1 as {name: (label, names that it reads)}."""
    figure = text.split("Figure 2")[0]
    found = re.findall(r"^  (\S+) +(.*?)(?:  <- (.*))?$", figure, re.M)
    return {name: (label, reads.split(", ") if reads else []) for name, label, reads in found}


@pytest.fixture
def unlike_the_paper(tmp_path):
    """A bundle of the same dimensions, but pre-norm and with an SSRU decoder; for the graph, inspect reads only the manifest."""
    shutil.copytree(BUNDLE, tmp_path / "b")
    path = tmp_path / "b" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["model"].update(pre_norm=True, decoder="ssru")
    path.write_text(json.dumps(manifest))
    return tmp_path / "b"


def leads_to(found, end):
    seen, todo = set(), [end]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += found[name][1]
    return seen


def test_every_box_leads_to_the_probabilities():
    found = boxes(inspect("--graph"))
    assert leads_to(found, "softmax") == set(found)
    # Figure 1 of the paper: the input of each sublayer, and the residual around it.
    assert found["enc_ffn_norm"][1] == ["enc_ffn", "enc_self_norm"]
    assert found["dec_cross"][1] == ["dec_self_norm", "enc_ffn_norm"]
    assert found["dec_cross_norm"][1] == ["dec_cross", "dec_self_norm"]
    assert found["linear"][1] == ["dec_ffn_norm"]
    assert "masked" in found["dec_self"][0] and "masked" not in found["enc_self"][0]


def test_shapes_and_counts_are_the_bundles():
    text = inspect("--graph")
    stored = dict(re.findall(r"^  (\S+) +(\[\d+,\d+\])", inspect("--tensors"), re.M))
    named = re.findall(r"((?:enc|dec)\.i\.\S+) (\[\d+,\d+\])", text)
    assert len(named) == 4 + 7
    for name, shape in named:
        assert stored[name.replace(".i.", ".0.")] == shape
    assert "encoder layer, 3 times" in text and "decoder layer, 3 times" in text


def test_norms_before_and_ssru(unlike_the_paper):
    found = boxes(inspect("--graph", bundle=unlike_the_paper))
    assert leads_to(found, "softmax") == set(found)
    assert found["enc_self"][1] == ["enc_self_norm"] and found["enc_self_sum"][1] == ["enc_self", "source_positions"]
    assert found["linear"][1] == ["dec_norm"] and found["dec_cross"][1] == ["dec_cross_norm", "enc_norm"]
    assert "SSRU, dec.i.ssru.w [512,256]" in found["dec_self"][0]


def test_dot_has_the_same_boxes(tmp_path):
    found, dot = boxes(inspect("--graph")), inspect("--dot")
    edges = {(a, b) for a, b in re.findall(r"^  (\w+) -> (\w+);$", dot, re.M) if not a.startswith("head_")}
    assert edges == {(read, name) for name, (_, reads) in found.items() for read in reads}
    assert dot.count("{") == dot.count("}") and dot.count('"') % 2 == 0
    if shutil.which("dot"):
        assert "<svg" in subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True).stdout


def test_one_form_at_a_time():
    done = subprocess.run([DRAGOMAN, "inspect", BUNDLE, "--graph", "--tensors"], capture_output=True, text=True)
    assert done.returncode == 2 and "--graph" in done.stderr
