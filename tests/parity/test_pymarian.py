"""Toy models that Marian itself trained and saved (tests/data/convert/pymarian) through `dragoman convert marian`: its decoder's
greedy answers, their scores and alignments, and its scorer's sums, positions beyond 100 included."""
import json
import os

import pytest

from program import run

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert", "pymarian")
VOCABULARIES = {"attention": ["attention.spm"], "ssru": ["ssru.spm"], "prenorm": ["prenorm.source.spm", "prenorm.target.spm"]}
RELATIVE = 1e-5  # difference of sums over a sentence, float32 on both sides; Marian prints six or seven digits


def answers(args, lines=()):
    return [json.loads(x) for x in run(args, lines).splitlines()]


def convert(name, folder):
    bundle = str(folder / name)
    args = ["convert", "marian", "--model", os.path.join(DATA, name + ".npz"), "--source-lang", "en", "--target-lang", "de"]
    for file in VOCABULARIES[name]:
        args += ["--vocab", os.path.join(DATA, file)]
    run(args + ["--out", bundle])
    return bundle


def cases(name):
    with open(os.path.join(DATA, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


@pytest.fixture(scope="session", params=VOCABULARIES)
def model(request, tmp_path_factory):
    name = request.param
    return name, convert(name, tmp_path_factory.mktemp(name)), cases(name)


def test_there_is_something_to_compare(model):
    _, _, cases = model
    assert len(cases) >= 24
    if model[0] == "prenorm":
        return  # make.py explains why there are no answers
    assert len({len(c["greedy"]["pieces"].split()) for c in cases}) >= 8
    assert sum(c["answer"] == c["target"] for c in cases) >= 5  # it has learned something


def test_scores(model, tmp_path):
    _, bundle, cases = model
    for side in ("source", "target"):
        (tmp_path / side).write_text("".join(c[side] + "\n" for c in cases), encoding="utf-8")
    got = answers(["score", "--model", bundle, "--source", str(tmp_path / "source"), "--target", str(tmp_path / "target"),
                   "--json"])
    assert len(got) == len(cases) and max(len(a["tokens"]) for a in got) > 100
    for case, answer in zip(cases, got):
        assert sum(t["logprob"] for t in answer["tokens"]) == pytest.approx(case["score"], rel=RELATIVE)


def test_greedy(model):
    name, bundle, cases = model
    if name == "prenorm":
        pytest.skip("Marian's decoder is not Marian's scorer there: make.py")
    if name == "ssru":  # unlike the engines for students, Marian's decoder does not split sentences
        run(["seal", bundle, "--set", "decoding.max_source_tokens="])
    got = answers(["translate", "--model", bundle, "--json", "--beam", "1", "--penalty", "none", "--keep-loops", "--max-length",
                   "400"], [c["source"] for c in cases])
    for case, answer in zip(cases, got):
        assert answer["text"] == case["answer"]
        assert answer["score"] == pytest.approx(case["greedy"]["total"], rel=RELATIVE)


def test_alignment(model):
    """Marian shows the first head of the last layer, piece by piece. Pieces with two equally good positions are left out."""
    name, bundle, cases = model
    if name != "ssru":
        pytest.skip("the others' guided layer is not said")
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    assert (manifest["alignment_layer"], manifest["alignment_head"]) == (manifest["model"]["decoder_layers"], 1)
    seen = 0
    for case in cases[::3]:
        map_ = json.loads(run(["attention", "--model", bundle, "--source", case["source"], "--target", case["answer"], "--json"]))
        if map_["target_tokens"] != case["greedy"]["pieces"].split() + ["</s>"]:
            continue  # the text is the same, but split into other pieces than those of the search
        rows = map_["layers"][-1]["heads"][0]
        for row, best in zip(rows, case["greedy"]["alignment"]):
            if best >= 0:
                assert row.index(max(row)) == best, case["source"]
                seen += 1
    assert seen > 60


def test_what_the_manifest_says(model):
    name, bundle, _ = model
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as f:
        value = json.load(f)
    m, d = value["model"], value["decoding"]
    assert m.get("decoder", "attention") == ("ssru" if name == "ssru" else "attention")
    assert m.get("pre_norm", False) == (name == "prenorm")
    assert m.get("decoder_d_ff", 0) == (96 if name == "prenorm" else 0)
    assert m["tied_embeddings"] == (name != "prenorm") and m["tied_output"]
    assert d["never"] == m["unk"] == 1
    assert (d["beam_size"], d.get("length_factor")) == ((1, 2) if name == "ssru" else (4, None))
