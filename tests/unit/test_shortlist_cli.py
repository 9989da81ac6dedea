"""A bundle's shortlist is measured beside the whole vocabulary; the manifest keeps the decision, which programs follow."""
import json
import os
import shutil
import subprocess

import pytest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")), "bin")
MODEL = os.path.join(ROOT, "tests", "data", "en-de")
LINES = ["Two dogs play in the snow.", "A man in a blue shirt is standing on a ladder.", "A girl reads a book.",
         "Three children are sitting on a wall."]


def run(*args, expect=0, lists="auto", **kw):
    done = subprocess.run(args, capture_output=True, text=True, env={**os.environ, "DRAGOMAN_SHORTLIST": lists}, **kw)
    assert done.returncode == expect, done.stderr
    return done


def translate(bundle, lists="auto"):
    return run(os.path.join(BIN, "dragoman"), "translate", "--model", str(bundle), "--beam-size", "1", "--keep-loops",
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
    """A set whose references are what the model says with its whole vocabulary."""
    (tmp_path / "s").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    (tmp_path / "t").write_text(translate(bundle), encoding="utf-8")
    return "en:de:%s:%s" % (tmp_path / "s", tmp_path / "t")


def add_list(bundle, each, always):
    run(os.path.join(BIN, "random-shortlist"), str(bundle), str(each), str(always))


def test_a_poor_list_is_not_used_unless_it_is_asked_for(bundle, texts):
    whole = translate(bundle)
    add_list(bundle, 3, 20)
    poor = translate(bundle)  # a manifest without a decision: the list that is there is used
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
    add_list(bundle, 3, 20)  # another list: nothing is known of it
    assert "shortlist" not in manifest(bundle)


def test_a_list_that_keeps_the_answers_is_used(bundle, texts):
    whole = translate(bundle)
    add_list(bundle, 1, 7900)  # longer than lists may be: each sentence has the whole vocabulary
    assert "is used" in shortlist(bundle, texts).stdout
    decision = manifest(bundle)["shortlist"]
    assert decision["use"] is True and decision["tolerance"] == pytest.approx(0.1)
    assert all(m["bleu"] == m["bleu_full"] and m["chrf"] == m["chrf_full"] for m in decision["measured"])
    assert translate(bundle) == whole == translate(bundle, lists="off")


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


def test_what_is_wrong_is_named(bundle, texts):
    assert "has no shortlist" in shortlist(bundle, texts, expect=2).stderr
    assert "neither is given" in shortlist(bundle, expect=2).stderr
    assert "DRAGOMAN_SHORTLIST is \"perhaps\"" in run(
        os.path.join(BIN, "dragoman"), "translate", "--model", str(bundle), input="A dog.\n", lists="perhaps", expect=1).stderr
    changed = manifest(bundle)
    changed["shortlist"] = {"use": 1}
    (bundle / "manifest.json").write_text(json.dumps(changed), encoding="utf-8")
    assert "shortlist.use must be true or false" in run(os.path.join(BIN, "dragoman"), "inspect", str(bundle), expect=1).stderr
