"""Marian's variants (tests/data/convert/ctranslate2) through `dragoman convert marian`: forced log-probabilities and greedy
answers must be CTranslate2's. Two vocabularies, untied and tied matrices, different depths, all three position tables,
positions beyond 100."""
import json
import os

import pytest

from program import run

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert", "ctranslate2")
LIMIT = 130
TOLERANCE = 1e-4  # both sides compute in float32; errors seen are below 2e-5

# CTranslate2's norms use an epsilon of 1e-5 with any kind of positions.
MODELS = {"apart": ["--positions", "halves"], "all": ["--positions", "marian", "--norm-eps", "1e-5"],
          "trained": ["--positions", "halves"]}


@pytest.fixture(scope="session", params=MODELS)
def model(request, tmp_path_factory):
    name = request.param
    bundle = str(tmp_path_factory.mktemp(name) / "bundle")
    at = os.path.join(DATA, name)
    run(["convert", "marian", "--model", at + ".npz", "--vocab", at + ".source.yml", "--vocab", at + ".target.yml",
         "--source-lang", "en", "--target-lang", "de", "--out", bundle] + MODELS[name])
    with open(at + ".json", encoding="utf-8") as f:
        return name, bundle, json.load(f)


def test_there_is_something_to_compare(model):
    _, _, value = model
    assert len(value["greedy"]) >= 12 and len({len(c["target"]) for c in value["greedy"]}) >= 6
    assert max(len(c["source"]) for c in value["forced"]) > 100 < max(len(c["target"]) for c in value["forced"])


def test_forced(model, tmp_path):
    _, bundle, value = model
    paths = {side: tmp_path / side for side in ("source", "target")}
    for side, path in paths.items():
        path.write_text("".join(" ".join(c[side]) + "\n" for c in value["forced"]), encoding="utf-8")
    out = run(["score", "--model", bundle, "--source", str(paths["source"]), "--target", str(paths["target"]), "--pieces",
               "--json"])
    answers = [json.loads(x) for x in out.splitlines()]
    assert len(answers) == len(value["forced"])
    for case, answer in zip(value["forced"], answers):
        assert [t["token"] for t in answer["tokens"]] == case["target"] + ["</s>"]
        assert [t["logprob"] for t in answer["tokens"]] == pytest.approx(case["logprobs"], abs=TOLERANCE)


def test_greedy(model):
    _, bundle, value = model
    out = run(["translate", "--model", bundle, "--pieces", "--json", "--beam", "1", "--max-length", str(LIMIT)],
              [" ".join(c["source"]) for c in value["greedy"]])
    for case, line in zip(value["greedy"], out.splitlines()):
        assert json.loads(line)["tokens"].split() == case["target"], len(case["source"])


def test_the_bundle_says_which_variant(model):
    name, bundle, _ = model
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as f:
        m = json.load(f)["model"]
    assert m["positions"] == {"apart": "halves", "all": "marian", "trained": "learned"}[name]
    assert (m["encoder_layers"], m["decoder_layers"]) == {"apart": (1, 2), "all": (2, 1), "trained": (1, 1)}[name]
    assert m["tied_embeddings"] == (name == "all") and m["tied_output"] == (name != "apart")
    assert m["activation"] == ("relu" if name == "all" else "swish")
    assert (m["source_vocab"] == m["target_vocab"]) == (name == "all")


def test_tags_of_target_languages(tmp_path):
    """OPUS-MT's models for several target languages: a source begins with a piece that names one."""
    vocab = tmp_path / "vocab.yml"
    vocab.write_text("</s>: 0\n<unk>: 1\n'>>fra<<': 2\n'>>pt_BR<<': 3\n'x': 4\n")
    args = ["convert", "marian", "--model", os.path.join(DATA, "..", "marian", "shared.npz"), "--vocab", str(vocab), "--source-lang", "en"]
    bundle = str(tmp_path / "b")
    run(args + ["--target-lang", "fr,pt-BR", "--out", bundle])
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8") as f:
        m = json.load(f)
    assert m["pairs"] == [["en", "fr"], ["en", "pt-BR"]] and m["tags"] == {"fr": ">>fra<<", "pt-BR": ">>pt_BR<<"}
    assert m["name"] == "en-fr-pt-BR" and m["training"]["converted_from"] == "marian"
    # The tag is put in front of the source: the scores are those of a model without tags for a source that starts with it.
    vocab.write_text("</s>: 0\n<unk>: 1\n'fra': 2\n'ptbr': 3\n'x': 4\n")
    run(args + ["--target-lang", "fr", "--out", bundle + "0"])
    plain, tagged = (tmp_path / n for n in ("plain", "tagged"))
    plain.write_text("x x\n"), tagged.write_text("ptbr x x\n")
    score = ["score", "--tokens", "--json", "--target", str(plain)]
    assert run(score + ["--model", bundle, "--source", str(plain), "--target-lang", "pt-BR"]) == \
        run(score + ["--model", bundle + "0", "--source", str(tagged)])
    assert "no tags of languages" in run(args + ["--target-lang", "fr,de", "--out", bundle + "1"], code=1)
    vocab.write_text("</s>: 0\n<unk>: 1\n'>>fra<<': 2\ny: 3\nx: 4\n")
    assert 'such as >>fra<<, and none for "de"' in run(args + ["--target-lang", "de", "--out", bundle + "2"], code=1)
    assert "fr twice" in run(args + ["--target-lang", "fr,fr", "--out", bundle + "2"], code=1)
