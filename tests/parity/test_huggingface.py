"""MarianMT directories made by transformers (tests/data/convert/huggingface) through `dragoman convert huggingface`: forced
log-probabilities, greedy answers and text must be those of transformers, positions beyond 100 included."""
import json
import os
import shutil
import struct

import pytest

from program import run

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert", "huggingface")
MODELS = ["swish", "separate", "multi", "learned", "uneven"]
LIMIT = 130

# Both sides compute in float32; errors seen are below 2e-5.
TOLERANCE = 1e-4


def answers(args, lines):
    return [json.loads(x) for x in run(args, lines).splitlines()]


@pytest.fixture(scope="session")
def bundles(tmp_path_factory):
    root = tmp_path_factory.mktemp("bundles")
    for name in MODELS:
        run(["convert", "huggingface", os.path.join(DATA, name), "--out", str(root / name)])
    return root


def expected(name):
    with open(os.path.join(DATA, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def manifest(bundle):
    with open(bundle / "manifest.json", encoding="utf-8") as f:
        return json.load(f)


def vocabulary(bundle, side):
    with open(bundle / manifest(bundle)["files"][side + "_vocab"], encoding="utf-8") as f:
        return f.read().split("\n")[:-1]


def line(vocab, ids):
    return " ".join(vocab[i] for i in ids)


@pytest.mark.parametrize("name", MODELS)
def test_there_is_something_to_compare(name):
    value = expected(name)
    assert len(value["greedy"]) >= 9 and len(value["texts"]) >= 9
    assert max(len(c["source"]) for c in value["forced"]) > 100
    assert max(len(c["target"]) for c in value["forced"]) > 100
    if name != "uneven":  # the only one that was not trained
        assert len({len(c["target"]) for c in value["greedy"]}) >= 4  # answers end at different lengths


@pytest.mark.parametrize("name", MODELS)
def test_the_bundle_is_whole(bundles, name):
    run(["inspect", str(bundles / name), "--verify"])


@pytest.mark.parametrize("name", MODELS)
def test_forced(bundles, name, tmp_path):
    bundle, cases = bundles / name, expected(name)["forced"]
    source, target = vocabulary(bundle, "source"), vocabulary(bundle, "target")
    paths = [tmp_path / "source", tmp_path / "target"]
    paths[0].write_text("".join(line(source, c["source"]) + "\n" for c in cases), encoding="utf-8")
    paths[1].write_text("".join(line(target, c["target"]) + "\n" for c in cases), encoding="utf-8")
    # With a model that has tags, one is put in front of every source: the expected values have none.
    got = answers(["score", "--model", untagged(bundle, tmp_path), "--source", str(paths[0]), "--target", str(paths[1]),
                   "--pieces", "--json"], [])
    assert len(got) == len(cases)
    for case, answer in zip(cases, got):
        assert [t["token"] for t in answer["tokens"]] == [target[i] for i in case["target"]] + ["</s>"]
        for i, (token, logprob) in enumerate(zip(answer["tokens"], case["logprobs"])):
            assert token["logprob"] == pytest.approx(logprob, abs=TOLERANCE), i


def untagged(bundle, tmp_path):
    """The bundle itself, or if it has tags, a copy whose manifest names none."""
    value = manifest(bundle)
    if "tags" not in value:
        return str(bundle)
    copy = tmp_path / "untagged"
    shutil.copytree(bundle, copy)
    del value["tags"], value["check"]  # the check was scored with the first pair's tag
    (copy / "manifest.json").write_text(json.dumps(value))
    return str(copy)


@pytest.mark.parametrize("name", MODELS)
def test_greedy(bundles, name, tmp_path):
    bundle, cases = bundles / name, expected(name)["greedy"]
    source, target = vocabulary(bundle, "source"), vocabulary(bundle, "target")
    got = answers(["translate", "--model", untagged(bundle, tmp_path), "--pieces", "--json", "--beam", "1", "--max-length",
                   str(LIMIT)], [line(source, c["source"]) for c in cases])
    for case, answer in zip(cases, got):
        # At the limit, transformers replaces the last piece by </s>.
        assert answer["tokens"].split()[:LIMIT - 1] == [target[i] for i in case["target"]]


@pytest.mark.parametrize("name", MODELS)
def test_text(bundles, name):
    """From text to text: the SentencePiece models, the ids of vocab.json and the tags work as in MarianTokenizer."""
    bundle = bundles / name
    seen = 0
    for tag in sorted({c["tag"] for c in expected(name)["texts"]}):
        cases = [c for c in expected(name)["texts"] if c["tag"] == tag]
        language = next((k for k, v in manifest(bundle).get("tags", {}).items() if v == tag), None)
        args = ["translate", "--model", str(bundle), "--json", "--beam", "1", "--keep-loops", "--max-length",
                    str(LIMIT)]
        got = answers(args + (["--target-lang", language] if tag else []), [c["text"] for c in cases])
        for case, answer in zip(cases, got):
            assert answer["text"].isprintable()
            if "<unk>" not in case["pieces"] and not case["length_limited"]:
                assert answer["text"].strip() == case["answer"]  # transformers strips a last piece without letters
                seen += 1
    assert seen >= 4 or name == "uneven"


def test_what_the_manifest_says(bundles):
    swish, separate, multi, learned, uneven = (manifest(bundles / n) for n in MODELS)
    assert swish["name"] == "swish" and swish["pairs"] == [["en", "de"]] and "tags" not in swish
    assert swish["model"]["activation"] == "swish" and swish["model"]["positions"] == "halves"
    assert (swish["model"]["encoder_layers"], swish["model"]["decoder_layers"]) == (2, 1)
    assert swish["model"]["tied_embeddings"] and swish["model"]["tied_output"] and swish["model"]["output_bias"]
    assert swish["decoding"]["beam_size"] == 6
    pad = vocabulary(bundles / "swish", "target").index("<pad>")
    assert swish["model"]["start"] == pad and swish["decoding"]["never"] == pad
    assert not separate["model"]["tied_embeddings"] and not separate["model"]["tied_output"]
    assert separate["model"]["source_vocab"] != separate["model"]["target_vocab"]
    assert separate["model"]["activation"] == "gelu"
    assert separate["files"]["source_vocab"] == "source.vocab"
    assert multi["model"]["positions"] == "halves" and multi["model"]["embed_scale"] == 1
    assert multi["tags"] == {"de": ">>deu<<", "fr": ">>fra<<", "zh-Hans": ">>cmn_Hans<<", "x-1": ">>x_1<<"}
    assert ["en", "zh-Hans"] in multi["pairs"] and len(multi["pairs"]) == 4
    assert (uneven["model"]["d_ff"], uneven["model"]["decoder_d_ff"]) == (48, 40)
    assert (uneven["model"]["heads"], uneven["model"]["decoder_heads"]) == (4, 2)
    assert learned["model"]["positions"] == "learned" and learned["model"]["max_positions"] == 160


@pytest.mark.parametrize("name,files", [
    ("learned", ["learned.bin"]), ("learned", ["learned.legacy.bin"]), ("separate", ["separate.bin"]),
    ("separate", ["separate.legacy.bin"]), ("multi", ["multi.bin"]), ("multi", ["multi.legacy.bin"]),
    ("learned", ["model.safetensors.index.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"])])
def test_other_files_give_the_same_bundle(bundles, tmp_path, name, files):
    """Weights as torch.save writes them, today and before torch 1.6, and in shards: the version is a hash over every byte."""
    folder = tmp_path / name
    shutil.copytree(os.path.join(DATA, name), folder)
    (folder / "model.safetensors").unlink()
    for file in files:
        shutil.copy(os.path.join(DATA, "files", file),
                    folder / ("pytorch_model.bin" if file.endswith(".bin") else file))
    run(["convert", "huggingface", str(folder), "--out", str(tmp_path / "bundle")])
    assert manifest(tmp_path / "bundle")["version"] == manifest(bundles / name)["version"]


def test_languages_can_be_chosen(tmp_path):
    args = ["convert", "huggingface", os.path.join(DATA, "multi"), "--out", str(tmp_path / "b")]
    run(args + ["--source-lang", "en,nl", "--target-lang", "zh,DE", "--name", "two"], code=1)  # only zh-Hans exists
    run(args + ["--source-lang", "en,nl", "--target-lang", "zh-Hans,DE", "--name", "two"])
    value = manifest(tmp_path / "b")
    assert value["name"] == "two" and value["tags"] == {"zh-Hans": ">>cmn_Hans<<", "DE": ">>deu<<"}
    assert value["pairs"] == [["en", "zh-Hans"], ["en", "DE"], ["nl", "zh-Hans"], ["nl", "DE"]]


def test_groups_of_languages(bundles, tmp_path):
    """For opus-mt-en-ROMANCE, the tags say which languages are in the group. For opus-mt-ROMANCE-en, only options can say it."""
    for name, side in (("multi", "target_lang"), ("swish", "source_lang")):
        folder = shutil.copytree(os.path.join(DATA, name), tmp_path / name)
        path = folder / "tokenizer_config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), side: "ROMANCE"}))
    run(["convert", "huggingface", str(tmp_path / "multi"), "--out", str(tmp_path / "b")])
    assert manifest(tmp_path / "b")["pairs"] == manifest(bundles / "multi")["pairs"]
    answers_ = {code: run(["translate", "--model", str(tmp_path / "b"), "--source-lang", "en", "--target-lang", code, "--json"],
                          ["The house is small."]) for code in ("de", "fr", "zh-Hans")}
    assert len(set(answers_.values())) == 3  # they differ at least in their scores
    run(["convert", "huggingface", str(tmp_path / "swish"), "--source-lang", "fr,es,it", "--out", str(tmp_path / "c")])
    assert manifest(tmp_path / "c")["pairs"] == [["fr", "de"], ["es", "de"], ["it", "de"]]


def test_a_tag_without_a_pair_is_left_out(tmp_path):
    """German to German is not a pair, so no pair needs the tag for German."""
    run(["convert", "huggingface", os.path.join(DATA, "multi"), "--out", str(tmp_path / "b"), "--source-lang", "de"])
    value = manifest(tmp_path / "b")
    assert set(value["tags"]) == {pair[1] for pair in value["pairs"]} == {"fr", "zh-Hans", "x-1"}


def test_padding_is_never_put_out(tmp_path):
    """With a logit bias that makes padding the best piece everywhere, greedy and beam search still skip it."""
    source = tmp_path / "pad"
    shutil.copytree(os.path.join(DATA, "swish"), source)
    raw = bytearray((source / "model.safetensors").read_bytes())
    n = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    pad = json.loads((source / "config.json").read_text())["pad_token_id"]
    at = 8 + n + header["final_logits_bias"]["data_offsets"][0] + 4 * pad
    raw[at:at + 4] = struct.pack("<f", 40.0)
    (source / "model.safetensors").write_bytes(raw)
    run(["convert", "huggingface", str(source), "--out", str(tmp_path / "b")])
    vocab = vocabulary(tmp_path / "b", "source")
    cases = [c for c in expected("swish")["greedy"] if len(c["source"]) < 20]
    lines = [line(vocab, c["source"]) for c in cases]
    got = answers(["translate", "--model", str(tmp_path / "b"), "--pieces", "--json", "--beam", "1", "--max-length", str(LIMIT)],
                  lines)
    for case, answer in zip(cases, got):
        assert answer["tokens"].split()[:LIMIT - 1] == [vocab[i] for i in case["target"]]
        assert answer["score"] < -20  # padding keeps its share of the probability
    beams = answers(["translate", "--model", str(tmp_path / "b"), "--pieces", "--json", "--beam", "4", "--n-best", "4"], lines)
    for answer in beams:
        assert len(answer["n_best"]) == 4
        assert all("<pad>" not in h["tokens"].split() for h in answer["n_best"])


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_types(tmp_path, type_, bundles):
    run(["convert", "huggingface", os.path.join(DATA, "swish"), "--out", str(tmp_path / "b"), "--type", type_])
    whole = os.path.getsize(bundles / "swish" / "weights.dgw")
    assert os.path.getsize(tmp_path / "b" / "weights.dgw") < 0.6 * whole
    run(["inspect", str(tmp_path / "b"), "--verify"])
