"""M2M-100 and NLLB directories made by transformers (tests/data/convert/m2m100) through `dragoman convert huggingface`: forced
log-probabilities, greedy answers and texts must be those of transformers for every pair of languages, positions beyond 100
included."""
import json
import os
import shutil
import subprocess

import pytest

from program import DRAGOMAN, run

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert", "m2m100")
MODELS = ["m2m", "nllb"]
LIMIT = 130
# Both sides compute in float32; errors seen are below 1e-5.
TOLERANCE = 1e-4
CODES = {"__en__": "en", "__de__": "de", "__fr__": "fr", "__ns__": "nso", "__zh__": "zh", "eng_Latn": "en", "deu_Latn": "de",
         "fra_Latn": "fr", "zho_Hans": "zh-Hans", "arb_Arab": "ar"}


@pytest.fixture(scope="session")
def bundles(tmp_path_factory):
    root = tmp_path_factory.mktemp("bundles")
    for name in MODELS:
        run(["convert", "huggingface", os.path.join(DATA, name), "--out", str(root / name), "--licence", "CC-BY-NC-4.0"])
    return root


def expected(name):
    with open(os.path.join(DATA, name + ".json"), encoding="utf-8") as f:
        return json.load(f)


def manifest(bundle):
    with open(bundle / "manifest.json", encoding="utf-8") as f:
        return json.load(f)


def languages(case):
    return ["--source-lang", CODES[case["from"]], "--target-lang", CODES[case["to"]]]


@pytest.mark.parametrize("name", MODELS)
def test_there_is_something_to_compare(name):
    value = expected(name)
    assert len(value["greedy"]) >= 12 and len(value["texts"]) >= 9
    assert max(len(c["source"]) for c in value["forced"]) > 100 and max(len(c["target"]) for c in value["forced"]) > 100
    assert len({len(c["target"]) for c in value["greedy"]}) >= 6 and len({c["to"] for c in value["greedy"]}) == 4


@pytest.mark.parametrize("name,languages,pairs", [("m2m", 100, 9900), ("nllb", 202, 40602)])
def test_one_bundle_has_all_pairs(bundles, name, languages, pairs):
    m = manifest(bundles / name)
    assert len(m["pairs"]) == pairs and len(m["source_tags"]) == len(m["target_tags"]) == languages and "tags" not in m
    assert {CODES[t]: t for t in CODES if t in m["source_tags"].values()}.items() <= m["source_tags"].items()
    out = run(["inspect", str(bundles / name), "--verify"])
    assert "verified" in out and "norms before the sublayers" in out
    assert "NON-COMMERCIAL" in out and "CC-BY-NC-4.0" in out


def test_languages_of_nllb_are_called_as_bcp_47_does(bundles):
    tags = {piece: code for code, piece in manifest(bundles / "nllb")["source_tags"].items()}
    assert {k: tags[k] for k in ("zho_Hans", "zho_Hant", "srp_Cyrl", "kas_Arab", "kas_Deva", "ace_Arab", "ace_Latn", "pes_Arab",
                                 "zsm_Latn", "yue_Hant", "swh_Latn", "ckb_Arab", "nob_Latn", "uzn_Latn", "khk_Cyrl")} == {
        "zho_Hans": "zh-Hans", "zho_Hant": "zh-Hant", "srp_Cyrl": "sr", "kas_Arab": "ks", "kas_Deva": "ks-Deva", "ace_Arab": "ace-Arab",
        "ace_Latn": "ace", "pes_Arab": "fa", "zsm_Latn": "ms", "yue_Hant": "yue", "swh_Latn": "sw", "ckb_Arab": "ckb", "nob_Latn": "nb",
        "uzn_Latn": "uz", "khk_Cyrl": "mn"}
    assert len(set(tags.values())) == 202


@pytest.mark.parametrize("name", MODELS)
def test_languages_are_chosen(name, tmp_path):
    run(["convert", "huggingface", os.path.join(DATA, name), "--out", str(tmp_path / "b"), "--source-lang", "en,de", "--target-lang",
         "en,fr"])
    m = manifest(tmp_path / "b")
    assert m["pairs"] == [["en", "fr"], ["de", "en"], ["de", "fr"]] and set(m["target_tags"]) == {"en", "fr"}
    assert 'has no tag for "xx"' in run(["convert", "huggingface", os.path.join(DATA, name), "--out", str(tmp_path / "c"),
                                         "--source-lang", "xx"], code=1)


@pytest.mark.parametrize("name", MODELS)
def test_forced(bundles, name, tmp_path):
    for case in expected(name)["forced"]:
        for side in ("source", "target"):
            (tmp_path / side).write_text(" ".join(case[side]) + "\n", encoding="utf-8")
        out = run(["score", "--model", str(bundles / name), "--source", str(tmp_path / "source"), "--target", str(tmp_path / "target"),
                   "--tokens", "--json", *languages(case)])
        tokens = json.loads(out)["tokens"]
        assert [t["token"] for t in tokens] == case["target"] + ["</s>"]  # the language is not part of it
        for i, (token, logprob) in enumerate(zip(tokens, case["logprobs"])):
            assert token["logprob"] == pytest.approx(logprob, abs=TOLERANCE), i


def translate(bundle, case, line, *more):
    out = run(["translate", "--model", str(bundle), "--json", "--beam-size", "1", "--keep-loops", "--max-length", str(LIMIT), *more,
               *languages(case)], [line])
    return json.loads(out)


@pytest.mark.parametrize("name", MODELS)
def test_greedy(bundles, name):
    for case in expected(name)["greedy"]:
        got = translate(bundles / name, case, " ".join(case["source"]), "--tokens")["tokens"].split()
        assert got == case["target"]


@pytest.mark.parametrize("name", MODELS)
def test_text(bundles, name):
    for case in expected(name)["texts"]:
        answer = translate(bundles / name, case, case["text"])
        tokens = translate(bundles / name, case, case["text"], "--alignments")
        assert answer["text"] == tokens["text"]
        if "<unk>" not in case["pieces"]:
            assert answer["text"].replace(" ", "") == case["answer"].replace(" ", ""), case["text"]


@pytest.mark.parametrize("kind", ["decoder", "cross"])
@pytest.mark.parametrize("name", MODELS)
def test_attention(bundles, name, kind):
    """The decoder reads the language before the translation, found or given: the same weights, by the same tokens."""
    case = next(c for c in expected(name)["greedy"] if 3 < len(c["target"]) < LIMIT - 1)
    args = ["attention", "--model", str(bundles / name), "--source", " ".join(case["source"]), "--tokens", "--json", "--kind", kind, *languages(case)]
    found = json.loads(run([*args, "--beam-size", "1", "--max-length", str(LIMIT)]))
    given = json.loads(run([*args, "--target", " ".join(case["target"])]))
    assert found["target_tokens"] == [case["to"], *case["target"], "</s>"]
    assert found == given


@pytest.mark.parametrize("name", MODELS)
def test_int8_is_close(bundles, name, tmp_path):
    run(["quantize", str(bundles / name), "--out", str(tmp_path / "int8")])
    total = {"ours": 0, "theirs": 0}
    for case in expected(name)["forced"][:5]:
        for side in ("source", "target"):
            (tmp_path / side).write_text(" ".join(case[side]) + "\n", encoding="utf-8")
        out = run(["score", "--model", str(tmp_path / "int8"), "--source", str(tmp_path / "source"), "--target", str(tmp_path / "target"),
                   "--tokens", "--json", *languages(case)])
        total["ours"] += sum(t["logprob"] for t in json.loads(out)["tokens"])
        total["theirs"] += sum(case["logprobs"])
    assert total["ours"] == pytest.approx(total["theirs"], rel=0.03)


@pytest.mark.parametrize("name", MODELS)
def test_a_shortlist_leaves_the_language_alone(bundles, name, tmp_path):
    """Lists of every piece except the languages change no answer: the first piece is forced, whatever the list. Short lists do."""
    m = manifest(bundles / name)
    pieces = m["model"]["target_vocab"] - len(m["target_tags"]) - {"m2m": 8, "nllb": 3}[name]  # made-up pieces that make.py adds
    for always, same in ((pieces, True), (30, False)):
        bundle = shutil.copytree(bundles / name, tmp_path / str(always))
        subprocess.run([os.path.join(os.path.dirname(DRAGOMAN), "random-shortlist"), str(bundle), "1", str(always)], check=True)
        cases = [c for c in expected(name)["greedy"] if not set(c["target"]) & set(m["target_tags"].values())][:8]
        got = [translate(bundle, case, " ".join(case["source"]), "--tokens")["tokens"].split() for case in cases]
        assert (got == [case["target"] for case in cases]) == same


def test_beams_do_not_count_the_language(bundles, tmp_path):
    """A beam ranks by logP divided by the penalty for the answer's own pieces, without the language."""
    case = expected("m2m")["greedy"][4]
    line = " ".join(case["source"])
    out = json.loads(run(["translate", "--model", str(bundles / "m2m"), "--json", "--beam-size", "4", "--n-best", "3", "--tokens",
                          "--length-penalty", "1", "--length-penalty-kind", "power", *languages(case)], [line]))
    for one in out["n_best"]:
        (tmp_path / "source").write_text(line + "\n", encoding="utf-8")
        (tmp_path / "target").write_text(one["tokens"] + "\n", encoding="utf-8")
        scored = json.loads(run(["score", "--model", str(bundles / "m2m"), "--tokens", "--json", *languages(case), "--source",
                                 str(tmp_path / "source"), "--target", str(tmp_path / "target")]))
        logprobs = [t["logprob"] for t in scored["tokens"]]
        assert one["score"] == pytest.approx(sum(logprobs) / len(logprobs), abs=1e-5)


@pytest.mark.parametrize("change,told", [
    ({"tokenizer_class": "T5Tokenizer"}, "tokenizer_class"), ({"tokenizer_class": None}, "tokenizer_class"),
    ({"legacy_behaviour": True}, "legacy_behaviour")])
def test_other_tokenizers_are_refused_by_name(tmp_path, change, told):
    folder = shutil.copytree(os.path.join(DATA, "nllb"), tmp_path / "nllb")
    path = folder / "tokenizer_config.json"
    value = {**json.loads(path.read_text()), **change}
    path.write_text(json.dumps({k: v for k, v in value.items() if v is not None}))
    assert told in run(["convert", "huggingface", str(folder), "--out", str(tmp_path / "out")], code=1)


def test_a_vocabulary_without_room_for_the_languages(tmp_path):
    folder = shutil.copytree(os.path.join(DATA, "m2m"), tmp_path / "m2m")
    vocab = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    more = len(vocab)
    vocab.update({f"more{i}": more + i for i in range(20)})
    (folder / "vocab.json").write_text(json.dumps(vocab))
    assert "has no room for the piece of language" in run(["convert", "huggingface", str(folder), "--out", str(tmp_path / "out")], code=1)
