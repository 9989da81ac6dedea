"""CTranslate2 directories as in Argos packages (tests/data/convert/ctranslate2_prenorm) through `dragoman convert ctranslate2` and
`convert argos`: pre-norm, position tables from the file, a decoder that starts from <s>, a source without </s>, weights in four
types. Log-probabilities are score_batch's, greedy answers and texts translate_batch's. The same files as versions 4 and 5, where
settings are variables."""
import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile

import pytest

from program import DRAGOMAN, run

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data", "convert", "ctranslate2_prenorm")
SPM = os.path.join(HERE, "..", "data", "convert", "pymarian", "attention.spm")
sys.path.insert(0, DATA)
from older import CASES, older, variable, without  # noqa: E402

# Relative difference of a sentence's sum: float32 on both sides; int8 activations are rounded differently (here 7 bits, zero point).
TOLERANCE = {"f32": 1e-5, "int16": 1e-5, "f16": 1e-5, "int8": 0.03}


def convert(name, out, *more, code=0):
    """Returns the bundle, or the message of a refusal."""
    told = run(["convert", "ctranslate2", os.path.join(DATA, name), "--source-lang", "en", "--target-lang", "de", "--out", str(out),
                *more], code=code)
    return told if code else str(out)


@pytest.fixture(scope="session")
def expected():
    with open(os.path.join(DATA, "answers.json"), encoding="utf-8") as f:
        return json.load(f)


def check_scores(bundle, source, target, expected, tolerance, folder):
    for side, lines in (("source", source), ("target", target)):
        (folder / side).write_text("".join(x + "\n" for x in lines), encoding="utf-8")
    got = [json.loads(x) for x in run(["score", "--model", bundle, "--source", str(folder / "source"), "--target",
                                       str(folder / "target"), "--tokens", "--json"]).splitlines()]
    assert len(got) == len(expected) and max(len(x) for x in expected) > 100
    for answer, logprobs in zip(got, expected):
        assert len(answer["tokens"]) == len(logprobs)
        assert sum(t["logprob"] for t in answer["tokens"]) == pytest.approx(sum(logprobs), rel=tolerance)


def check_greedy(bundle, source, expected):
    out = run(["translate", "--model", bundle, "--tokens", "--json", "--beam-size", "1", "--max-length", "40", "--keep-loops"], source)
    for line, pieces in zip(out.splitlines(), expected):
        assert json.loads(line)["tokens"].split()[:39] == pieces.split()[:39]


@pytest.mark.parametrize("name", TOLERANCE)
def test_scores(name, tmp_path, expected):
    check_scores(convert(name, tmp_path / "b"), expected["source"], expected["target"], expected[name], TOLERANCE[name], tmp_path)


def test_greedy(tmp_path, expected):
    check_greedy(convert("f32", tmp_path / "b"), expected["source"], expected["greedy"])


def as_older(folder, version, settings, has_config=False):
    shutil.copytree(os.path.join(DATA, "f32"), folder)
    (folder / "model.bin").write_bytes(older((folder / "model.bin").read_bytes(), version, settings))
    if not has_config:
        (folder / "config.json").unlink()
    return folder


@pytest.mark.parametrize("name", CASES)
def test_settings_before_version_6(name, tmp_path, expected):
    """Which piece starts the decoder, which ends an answer, and whether the source has </s>: as CTranslate2 reads them."""
    with open(os.path.join(DATA, "older.json"), encoding="utf-8") as f:
        answers = json.load(f)[name]
    bundle = convert(as_older(tmp_path / "model", *CASES[name]), tmp_path / "b")
    check_scores(bundle, expected["source"], expected["target"], answers["scores"], TOLERANCE["f32"], tmp_path)
    check_greedy(bundle, expected["source"], answers["greedy"])


def test_norms_before_the_flag_s_time(tmp_path, expected):
    """Files of before May 2021 (CTranslate2 1) have no pre_norm, and CTranslate2 reads it as true."""
    folder = as_older(tmp_path / "model", 4, {})
    data = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(without(data, "pre_norm"))
    assert b"/pre_norm" in data and b"/pre_norm" not in (folder / "model.bin").read_bytes()
    with open(os.path.join(DATA, "older.json"), encoding="utf-8") as f:
        answers = json.load(f)["nothing"]
    check_scores(convert(folder, tmp_path / "b"), expected["source"], expected["target"], answers["scores"], TOLERANCE["f32"], tmp_path)


def test_sources_of_marian_end_with_eos(tmp_path):
    """transformers' converter leaves add_source_eos false, because the tokenizer that its users call adds </s>; the one of a bundle
    does not. Only Marian's decoders start from zeros."""
    folder, manifests = shutil.copytree(os.path.join(DATA, "f32"), tmp_path / "model"), {}
    data, flag = (folder / "model.bin").read_bytes(), "decoder/start_from_zero_embedding"
    assert data.count(variable(flag, 0)) == 1
    (folder / "model.bin").write_bytes(data.replace(variable(flag, 0), variable(flag, 1)))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for eos in (False, True):
        (folder / "config.json").write_text(json.dumps({**config, "add_source_eos": eos, "decoder_start_token": "</s>"}), encoding="utf-8")
        with open(os.path.join(convert(folder, tmp_path / f"b{eos}"), "manifest.json"), encoding="utf-8") as f:
            manifests[eos] = json.load(f)
    assert manifests[False]["model"]["source_eos"] and manifests[False] == manifests[True]


@pytest.mark.parametrize("settings,told", [
    ({"with_source_bos": True}, "before version 6 with_source_bos"),
    ({"user_decoder_start_tokens": True}, "before version 6 user_decoder_start_tokens"),
    ({"with_source_eos": "ab"}, "variable with_source_eos has 2 elements, expected one"),
    ({"eos_token": "nothing"}, 'eos_token is "nothing", no piece of the target vocabulary')])
def test_settings_before_version_6_are_refused_by_name(tmp_path, settings, told):
    assert told in convert(as_older(tmp_path / "model", 5, settings), tmp_path / "b", code=1)
    assert not (tmp_path / "b" / "manifest.json").exists()


@pytest.mark.parametrize("key,value,told", [
    ("decoder_start_token", None, "decoder_start_token is null"), ("add_source_bos", True, "add_source_bos is true"),
    ("add_source_eos", None, "add_source_eos is missing"), ("eos_token", None, "eos_token is missing"),
    ("unk_token", 7, "unk_token is missing, or no text")])
def test_settings_of_version_6_are_refused_by_name(tmp_path, key, value, told):
    """CTranslate2 opens no file without one of these, and starts no decoder without a piece."""
    folder = shutil.copytree(os.path.join(DATA, "f32"), tmp_path / "model")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, key: value}), encoding="utf-8")
    assert told in convert(folder, tmp_path / "b", code=1)
    (folder / "config.json").unlink()
    assert "config.json" in convert(folder, tmp_path / "b", code=1)
    assert not (tmp_path / "b" / "manifest.json").exists()


def test_text(tmp_path, expected):
    """SentencePiece's pieces are looked up by name, because the ids of its model are different."""
    bundle = convert("f32", tmp_path / "b", "--spm", SPM)
    got = run(["translate", "--model", bundle, "--beam-size", "1", "--max-length", "40", "--keep-loops"],
              [t[0] for t in expected["texts"]]).splitlines()
    assert [g.strip() for g in got] == [t[1] for t in expected["texts"]]


def test_what_the_manifest_says(tmp_path):
    with open(os.path.join(convert("int8", tmp_path / "b"), "manifest.json"), encoding="utf-8") as f:
        m = json.load(f)["model"]
    assert m["pre_norm"] and m["positions"] == "learned" and m["max_positions"] == 150
    assert (m["start"], m["eos"], m["unk"], m["source_eos"]) == (1, 2, 0, False)
    assert m["tied_embeddings"] and m["tied_output"] and m["output_bias"] and m["attention_bias"]
    assert "s8/" in run(["inspect", str(tmp_path / "b"), "--tensors"])
    assert "s8/" not in run(["inspect", convert("int8", tmp_path / "c", "--type", "f16"), "--tensors"])


def files_of(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def small():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


def test_a_conversion_that_fails_leaves_the_bundle_that_was_there(tmp_path):
    """Whether a tensor is refused after others were read, or the weights do not fit on the disk. Quantising, too."""
    bundle, folder = tmp_path / "b", shutil.copytree(os.path.join(DATA, "f32"), tmp_path / "model")
    convert("f32", bundle)
    before, data = files_of(bundle), (folder / "model.bin").read_bytes()
    name = b"decoder/layer_1/ffn/linear_1/bias\0"
    assert data.count(name) == 1
    (folder / "model.bin").write_bytes(data.replace(name, b"decoder/layer_1/ffn/linear_1/xxxx\0"))
    assert "linear_1/bias is missing" in convert(folder, bundle, code=1)
    assert files_of(bundle) == before
    for command in (["convert", "ctranslate2", os.path.join(DATA, "f32"), "--source-lang", "en", "--target-lang", "de"],
                    ["quantize", convert("f16", tmp_path / "c")]):
        done = subprocess.run([DRAGOMAN, *command, "--out", str(bundle)], capture_output=True, text=True, timeout=600, preexec_fn=small,
                              restore_signals=False)
        assert done.returncode == 1 and "File too large" in done.stderr and files_of(bundle) == before
    run(["inspect", str(bundle), "--verify"])


def package(path, folder, metadata, extra=()):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("translate-en_de-1_9/metadata.json", json.dumps(metadata))
        z.write(SPM, "translate-en_de-1_9/sentencepiece.model")
        for file in os.listdir(folder):
            z.write(os.path.join(folder, file), "translate-en_de-1_9/model/" + file)
        for name in extra:
            z.writestr(name, "x")


def test_argos(tmp_path, expected):
    file = str(tmp_path / "a.argosmodel")
    package(file, os.path.join(DATA, "f32"), {"from_code": "en", "to_code": "pb"},
            ["translate-en_de-1_9/../../evil", "translate-en_de-1_9/stanza/x"])
    run(["convert", "argos", file, "--out", str(tmp_path / "b")])
    with open(tmp_path / "b" / "manifest.json", encoding="utf-8") as f:
        assert json.load(f)["pairs"] == [["en", "pt-BR"]]
    got = run(["translate", "--model", str(tmp_path / "b"), "--beam-size", "1", "--max-length", "40", "--keep-loops"],
              [t[0] for t in expected["texts"]]).splitlines()
    assert [g.strip() for g in got] == [t[1] for t in expected["texts"]]
    package(file, os.path.join(DATA, "int8"), {"from_code": "en", "to_code": "de"}, ["translate-en_de-1_9/bpe.model"])
    assert "bpe.model" in run(["convert", "argos", file, "--out", str(tmp_path / "c")], code=1)
    assert "zip" in run(["convert", "argos", SPM, "--out", str(tmp_path / "c")], code=1)
    package(file, os.path.join(DATA, "f32"), ["en", "pb"])
    assert "metadata.json is not an object" in run(["convert", "argos", file, "--out", str(tmp_path / "c")], code=1)


def test_a_package_s_target_prefix_starts_each_answer(tmp_path, expected):
    """As Argos Translate passes it to translate_batch: it is forced at the start, and not part of the answer."""
    file, about = str(tmp_path / "a.argosmodel"), {"from_code": "en", "to_code": "pb"}
    package(file, os.path.join(DATA, "f32"), {**about, "target_prefix": expected["prefix"]})
    run(["convert", "argos", file, "--out", str(tmp_path / "b")])
    with open(tmp_path / "b" / "manifest.json", encoding="utf-8") as f:
        assert json.load(f)["target_tags"] == {"pt-BR": expected["prefix"]}
    out = run(["translate", "--model", str(tmp_path / "b"), "--tokens", "--json", "--beam-size", "1", "--max-length", "40", "--keep-loops"],
              expected["source"])
    got = [json.loads(line)["tokens"].split()[:39] for line in out.splitlines()]
    assert got == [pieces.split()[:39] for pieces in expected["prefixed"]]
    assert sum(a != b.split()[:39] for a, b in zip(got, expected["greedy"])) >= 5  # it has an effect
    package(file, os.path.join(DATA, "f32"), {**about, "target_prefix": ""})
    run(["convert", "argos", file, "--out", str(tmp_path / "c")])
    with open(tmp_path / "c" / "manifest.json", encoding="utf-8") as f:
        assert "target_tags" not in json.load(f)
    package(file, os.path.join(DATA, "f32"), {**about, "target_prefix": "__no_piece__"})
    message = run(["convert", "argos", file, "--out", str(tmp_path / "d")], code=1)
    assert 'target_prefix is "__no_piece__", no piece of the target vocabulary' in message and not (tmp_path / "d" / "manifest.json").exists()


def with_last_pieces(folder, pieces):
    """The model with other names of its last pieces."""
    shutil.copytree(os.path.join(DATA, "f32"), folder)
    file = folder / "shared_vocabulary.json"
    vocabulary = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(vocabulary[:-len(pieces)] + pieces), encoding="utf-8")
    return folder


def test_tags_of_languages(tmp_path):
    """OPUS-MT's groups: as in the other converters, a pair for each language, and its tag before the source."""
    folder = with_last_pieces(tmp_path / "model", [">>fra<<", ">>pt_BR<<"])
    with open(os.path.join(convert(folder, tmp_path / "b", "--target-lang", "fr,pt-BR"), "manifest.json"), encoding="utf-8") as f:
        m = json.load(f)
    assert m["pairs"] == [["en", "fr"], ["en", "pt-BR"]] and m["tags"] == {"fr": ">>fra<<", "pt-BR": ">>pt_BR<<"}
    assert m["name"] == "en-fr-pt-BR" and m["training"] == {"converted_from": "ctranslate2"}
    assert 'none for "de"' in convert(folder, tmp_path / "c", code=1)
    assert "no tags of languages" in convert("f32", tmp_path / "c", "--target-lang", "fr,de", code=1)
    assert not (tmp_path / "c" / "manifest.json").exists()


@pytest.mark.parametrize("pieces", [["__fr__", "__ast__", "__de__"], ["fra_Latn", "deu_Latn"]])
def test_pieces_of_languages_are_refused_by_name(tmp_path, pieces):
    """M2M-100, SMaLL-100, NLLB: without its piece, the language of an answer would be the model's choice. A package's prefix is one."""
    folder = with_last_pieces(tmp_path / "model", pieces)
    message = convert(folder, tmp_path / "b", code=1)
    assert "pieces of languages, such as " + pieces[1] in message and not (tmp_path / "b" / "manifest.json").exists()
    about = {"from_code": "en", "to_code": "de", "target_prefix": pieces[-1]}
    package(str(tmp_path / "a.argosmodel"), folder, about)
    run(["convert", "argos", str(tmp_path / "a.argosmodel"), "--out", str(tmp_path / "c")])
    # Words of a program are no languages.
    convert(with_last_pieces(tmp_path / "code", ["__init__", "__name__", "__de__", "new_Line"]), tmp_path / "d")


@pytest.mark.parametrize("part,told", [
    ("relative_position_k", "relative positions"), ("relative_attention_b", "relative positions"), ("rotary_0", "rotary positions"),
    ("alibi_0", "ALiBi"), ("linear_0_noact", "gated feed-forward"), ("layernorm_embedding", "norm of the embeddings"),
    ("queries_scale", "scaled queries")])
def test_other_parts_are_refused_by_name(tmp_path, part, told):
    """A variable of the file is renamed as in a model that has this part."""
    folder = shutil.copytree(os.path.join(DATA, "f32"), tmp_path / "model")
    data = (folder / "model.bin").read_bytes()
    name = b"encoder/layer_1/self_attention/linear_0/weight\0"
    assert data.count(name) == 1
    other = f"encoder/layer_1/{part}".encode()
    other += b"/" + b"x" * (len(name) - len(other) - 2) + b"\0"
    (folder / "model.bin").write_bytes(data.replace(name, other))
    message = run(["convert", "ctranslate2", str(folder), "--source-lang", "en", "--target-lang", "de", "--out", str(tmp_path / "b")], code=1)
    assert told in message and part in message
