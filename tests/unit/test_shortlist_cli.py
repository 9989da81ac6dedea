"""A bundle's shortlist is compared with the full vocabulary; the manifest records the decision, which programs follow."""
import json
import os
import shutil
import subprocess
import sys

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")), "bin")
MODEL = os.path.join(ROOT, "tests", "data", "en-de")
BUNDLED = os.path.join(ROOT, "weights", "bundles", "en-de-fr")
MARIAN = os.path.join(ROOT, "tests", "data", "convert", "pymarian")
sys.path.append(MARIAN)

import corpus  # noqa: E402  the language of Marian's small model

LINES = ["Two dogs play in the snow.", "A man in a blue shirt is standing on a ladder.", "A girl reads a book.",
         "Three children are sitting on a wall."]


def run(*args, expect=0, lists="auto", **kw):
    done = subprocess.run(args, capture_output=True, text=True, env={**os.environ, "DRAGOMAN_SHORTLIST": lists}, **kw)
    assert done.returncode == expect, done.stderr
    return done


def translate(bundle, *pair, lists="auto"):
    return run(os.path.join(BIN, "dragoman"), "translate", "--model", str(bundle), *pair, "--beam-size", "1", "--keep-loops",
               input="\n".join(LINES) + "\n", lists=lists).stdout


def shortlist(bundle, *sets, **kw):
    return run(os.path.join(BIN, "dragoman-train"), "shortlist", str(bundle), *sets, "--threads", "1", **kw)


def manifest(bundle):
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture
def bundle(tmp_path):
    return shutil.copytree(MODEL, tmp_path / "bundle")


@pytest.fixture
def texts(bundle, tmp_path):
    """A test set whose references are the model's answers with its full vocabulary."""
    (tmp_path / "s").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    (tmp_path / "t").write_text(translate(bundle), encoding="utf-8")
    return "en:de:%s:%s" % (tmp_path / "s", tmp_path / "t")


def add_list(bundle, each, always):
    run(os.path.join(BIN, "random-shortlist"), str(bundle), str(each), str(always))


def test_a_poor_list_is_not_used_unless_it_is_asked_for(bundle, texts):
    whole = translate(bundle)
    add_list(bundle, 3, 20)
    poor = translate(bundle)  # without a decision in the manifest, an existing list is used
    assert poor != whole
    printed = shortlist(bundle, texts).stdout
    decision = manifest(bundle)["shortlist"]
    assert decision["use"] is False and "not used" in printed
    assert [m["beam_size"] for m in decision["measured"]] == [1, 4]
    greedy = decision["measured"][0]
    assert greedy["pair"] == ["en", "de"] and greedy["lines"] == len(LINES)
    assert greedy["bleu_full"] > 99.9 and greedy["chrf_full"] > 99.9 and greedy["bleu"] < 90 and greedy["chrf"] < 90
    assert translate(bundle) == whole
    assert translate(bundle, lists="on") == poor
    add_list(bundle, 3, 20)  # another list, without a decision
    assert "shortlist" not in manifest(bundle)


def test_a_list_that_keeps_the_answers_is_used(bundle, texts):
    whole = translate(bundle)
    add_list(bundle, 1, 7900)  # longer than the limit for lists: each sentence uses the full vocabulary
    assert "is used" in shortlist(bundle, texts).stdout
    decision = manifest(bundle)["shortlist"]
    assert decision["use"] is True and decision["tolerance"] == pytest.approx(0.1)
    assert all(m["bleu"] == m["bleu_full"] and m["chrf"] == m["chrf_full"] for m in decision["measured"])
    assert translate(bundle) == whole == translate(bundle, lists="off")


def test_a_list_is_used_for_the_pairs_that_keep_their_quality(tmp_path):
    bundle = shutil.copytree(BUNDLED, tmp_path / "bundle")
    pairs = {to: ("--source-lang", "en", "--target-lang", to) for to in ("de", "fr")}
    whole = {to: translate(bundle, *p) for to, p in pairs.items()}
    add_list(bundle, 3, 40)
    poor = {to: translate(bundle, *p) for to, p in pairs.items()}
    assert whole["de"] != poor["de"] and whole["fr"] != poor["fr"]
    (tmp_path / "en").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    (tmp_path / "de").write_text(whole["de"], encoding="utf-8")
    (tmp_path / "fr").write_text(poor["fr"], encoding="utf-8")  # answers that the full vocabulary does not give
    said = shortlist(bundle, *("en:%s:%s:%s" % (to, tmp_path / "en", tmp_path / to) for to in pairs)).stdout
    assert "the list is used for en-fr: it costs other directions" in said
    decision = manifest(bundle)["shortlist"]
    assert decision["use"] is True and decision["use_for"] == [["en", "fr"]]
    assert {to: translate(bundle, *p) for to, p in pairs.items()} == {"de": whole["de"], "fr": poor["fr"]}
    assert {to: translate(bundle, *p, lists="on") for to, p in pairs.items()} == poor
    assert {to: translate(bundle, *p, lists="off") for to, p in pairs.items()} == whole
    assert "shortlist   used for en-fr: it keeps BLEU" in run(os.path.join(BIN, "dragoman"), "inspect", str(bundle)).stdout
    for wrong, message in (("en-fr", "must be an array of pairs"), ([["en", "it"]], "is none of the bundle's pairs"),
                           ([5], "is none of the bundle's pairs")):
        changed = manifest(bundle)
        changed["shortlist"]["use_for"] = wrong
        (bundle / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
        assert message in run(os.path.join(BIN, "dragoman"), "inspect", str(bundle), expect=1).stderr


def test_a_list_is_not_used_for_pairs_that_were_not_measured(tmp_path):
    bundle = shutil.copytree(BUNDLED, tmp_path / "bundle")
    pairs = [("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")]
    options = {pair: ("--source-lang", pair[0], "--target-lang", pair[1]) for pair in pairs}
    whole = translate(bundle, *options["en", "fr"])
    add_list(bundle, 3, 40)
    (tmp_path / "s").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    sets = []
    for pair in pairs:
        (tmp_path / "-".join(pair)).write_text(translate(bundle, *options[pair]), encoding="utf-8")  # answers with the list
        sets.append("%s:%s:%s:%s" % (*pair, tmp_path / "s", tmp_path / "-".join(pair)))
    said = shortlist(bundle, sets[0]).stdout
    assert "the list is used for en-de: " in said and "was not measured for them" in said
    decision = manifest(bundle)["shortlist"]
    assert decision["use"] is True and decision["use_for"] == [["en", "de"]]
    assert translate(bundle, *options["en", "fr"]) == whole
    shortlist(bundle, sets[2].replace("en:fr", "EN:fra"), sets[1], sets[0])  # other spellings of the codes
    assert manifest(bundle)["shortlist"]["use_for"] == [list(pair) for pair in pairs[:3]]
    assert "the list is used: no set loses" in shortlist(bundle, *sets).stdout
    assert "use_for" not in manifest(bundle)["shortlist"]


def test_inspect_tells_of_lists(bundle, texts):
    def told(lists="auto"):
        said = run(os.path.join(BIN, "dragoman"), "inspect", str(bundle), lists=lists).stdout
        return said[said.index("shortlist  "):said.index("text  ")].splitlines()
    assert told() == ["shortlist   none"] == told("on")
    add_list(bundle, 3, 20)
    assert told() == ["shortlist   used: it was never measured"]
    shortlist(bundle, texts)
    lines = told()
    assert lines[0] == "shortlist   not used: it costs BLEU or chrF2" and len(lines) == 3
    beam = manifest(bundle)["shortlist"]["measured"][1]
    assert lines[2] == "            en-de, beam 4, %d lines: BLEU %.2f (%.2f without), chrF2 %.2f (%.2f)" % (
        len(LINES), beam["bleu"], beam["bleu_full"], beam["chrf"], beam["chrf_full"])
    assert told("on")[0] == "shortlist   used: DRAGOMAN_SHORTLIST says so; without it, it is not used: it costs BLEU or chrF2"


def test_a_converted_bundle_gets_a_list_from_text(tmp_path):
    converted = tmp_path / "converted"
    run(os.path.join(BIN, "dragoman"), "convert", "marian", "--model", os.path.join(MARIAN, "attention.npz"), "--vocab",
        os.path.join(MARIAN, "attention.spm"), "--source-lang", "en", "--target-lang", "de", "--out", str(converted))
    names = {}
    for name, pairs in (("train", corpus.pairs(2000, 1)), ("dev", corpus.pairs(20, 2))):
        names[name] = "en:de:%s:%s" % tuple(tmp_path / (name + side) for side in (".en", ".de"))
        for i, side in enumerate((".en", ".de")):
            (tmp_path / (name + side)).write_text("".join(p[i] + "\n" for p in pairs), encoding="utf-8")
    more = ["--text", names["train"], "--prepared", str(tmp_path / "data"), "--best", "4", "--frequent", "10"]
    said = shortlist(converted, names["dev"], *more).stdout
    pieces = int(said.split("a sentence's list has ")[1].split(" ")[0])
    coverage = float(said.split("and holds ")[1].split(" ")[0])
    assert 10 < pieces < manifest(converted)["model"]["target_vocab"] / 2 and coverage > 90
    assert "en-de, 20 lines, beam 4: BLEU" in said
    decision = manifest(converted)["shortlist"]
    assert isinstance(decision["use"], bool) and [m["lines"] for m in decision["measured"]] == [20, 20]
    assert decision["use"] == all(m[s] >= m[s + "_full"] - 0.1 for m in decision["measured"] for s in ("bleu", "chrf"))
    assert manifest(converted)["files"]["shortlist"] == "shortlist.dgl"
    made = (tmp_path / "data" / "prepared.json").stat().st_mtime_ns
    bits = (converted / "shortlist.dgl").read_bytes()
    shortlist(converted, *more)  # does not prepare the same text again
    assert (tmp_path / "data" / "prepared.json").stat().st_mtime_ns == made and (converted / "shortlist.dgl").read_bytes() == bits
    assert "--text needs --prepared DIR" in shortlist(converted, *more[:2], expect=2).stderr
    assert "must be FROM:TO:SOURCE:TARGET" in shortlist(converted, "--text", "a.en:a.de", *more[2:], expect=2).stderr


def test_what_is_wrong_is_named(bundle, texts):
    assert "has no shortlist" in shortlist(bundle, texts, expect=2).stderr
    assert "neither is given" in shortlist(bundle, expect=2).stderr
    assert "DRAGOMAN_SHORTLIST is \"perhaps\"" in run(
        os.path.join(BIN, "dragoman"), "translate", "--model", str(bundle), input="A dog.\n", lists="perhaps", expect=1).stderr
    changed = manifest(bundle)
    changed["shortlist"] = {"use": 1}
    (bundle / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
    assert "shortlist.use must be true or false" in run(os.path.join(BIN, "dragoman"), "inspect", str(bundle), expect=1).stderr
