"""dragoman seal: changes settings of a manifest and gives the bundle a new, valid version; writes nothing if a setting is wrong."""
import json
import os
import shutil
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")


def dragoman(*args, stdin="", ok=True):
    run = subprocess.run([DRAGOMAN, *args], input=stdin, capture_output=True, text=True)
    assert (run.returncode == 0) == ok, run.stderr
    return run.stdout if ok else run.stderr


@pytest.fixture
def bundle(tmp_path):
    return shutil.copytree("tests/data/en-de", tmp_path / "bundle")


def manifest(bundle):
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))


def test_settings_change_and_the_version_with_them(bundle):
    before = manifest(bundle)
    version = dragoman("seal", str(bundle), "--set", "decoding.beam=2", "--set", "licence=", "--set", "name=mine",
                       "--set", "description=12").strip()
    after = manifest(bundle)
    assert after["version"] == version != before["version"]
    assert after["decoding"]["beam_size"] == 2 and "beam" not in after["decoding"] and after["name"] == "mine" and "licence" not in after
    assert "verified" in dragoman("inspect", str(bundle), "--verify")
    assert after["files"] == before["files"] and after["model"] == before["model"]


def test_pairs_and_seldom_characters(bundle):
    """Settings of one pair, and removing them again, which leaves the rest unchanged."""
    before = manifest(bundle)
    cap = "pair_decoding.en-de.length_penalty_cap"
    dragoman("seal", str(bundle), "--set", "pair_decoding.en-de.length_penalty=1.75", "--set", cap + "=1.5", "--set", "rare=łę")
    after = manifest(bundle)
    assert after["pair_decoding"] == {"en-de": {"length_penalty": 1.75, "length_penalty_cap": 1.5}} and after["rare"] == "łę"
    assert "en-de" in dragoman("inspect", str(bundle))
    dragoman("seal", str(bundle), "--set", cap + "=", "--set", "pair_decoding.en-de.length_penalty=", "--set", "rare=")
    assert manifest(bundle) == {**before, "version": manifest(bundle)["version"]}


def test_an_installed_bundle_is_sealed_by_its_name(bundle, monkeypatch):
    monkeypatch.setenv("DRAGOMAN_MODELS", str(bundle.parent))
    dragoman("seal", "bundle", "--set", "name=mine")
    assert manifest(bundle)["name"] == "mine"
    assert '"nobody" is not a folder' in dragoman("seal", "nobody", ok=False)


def test_the_same_settings_are_the_same_version(bundle):
    assert dragoman("seal", str(bundle)).strip() == manifest(bundle)["version"]
    one = dragoman("seal", str(bundle), "--set", "decoding.beam=2")
    dragoman("seal", str(bundle), "--set", "decoding.beam=3")
    assert dragoman("seal", str(bundle), "--set", "decoding.beam_size=2") == one


@pytest.mark.parametrize("setting, wrong", [
    ("decoding.beam=500", "decoding.beam_size"), ("decoding.beam_size=two", "decoding.beam_size"), ("capitals=loud", "capitals"),
    ("alignment_layer=4", "alignment_layer is 4, must be from 1 to 3"), ("alignment_layer=two", "alignment_layer"),
    ("alignment_head=99", "alignment_head"), ("model.D=3", "model.D"), ("version=1", "version"), ("decoding.heat=1", "decoding.heat"), ("name", "KEY=VALUE"),
    ("pair_decoding.de-fr.length_penalty=1", "pair_decoding has 1 members, of which 0 are pairs"), ("pair_decoding.length_penalty=1", "pair_decoding.length_penalty"),
    ("pair_decoding.en-de.length_penalty=11", "pair_decoding.en-de.length_penalty"), ("pair_decoding.en-de.length_penalty_cap=1", "pair_decoding.en-de.length_penalty"),
    ("decoding.en-de.beam_size=1", "decoding.en-de.beam_size"), ("name=", "name")])
def test_what_is_wrong_is_named_and_nothing_written(bundle, setting, wrong):
    before = (bundle / "manifest.json").read_bytes()
    assert wrong in dragoman("seal", str(bundle), "--set", "licence=mine", "--set", setting, ok=False)
    assert (bundle / "manifest.json").read_bytes() == before


def test_a_bundle_that_aligns_by_a_layer_it_lacks_is_refused(bundle):
    """Changed by hand, as by a program that checks less than `seal` does."""
    path = bundle / "manifest.json"
    path.write_text(json.dumps({**manifest(bundle), "alignment_layer": 9}), encoding="utf-8")
    assert "alignment_layer" in dragoman("seal", str(bundle), ok=False)
    assert "alignment_layer" in dragoman("inspect", str(bundle), ok=False)
    assert "alignment_layer" in dragoman("translate", "--model", str(bundle), stdin="Two dogs.\n", ok=False)
    dragoman("seal", str(bundle), "--set", "alignment_layer=3", "--set", "alignment_head=1")
    out = dragoman("translate", "--model", str(bundle), "--json", "--alignments", stdin="Two dogs.\n")
    assert json.loads(out)["alignment"]


def test_capitals(bundle):
    loud, calm = "TWO DOGS PLAY IN THE SNOW.\n", "Two dogs play in the snow.\n"
    dragoman("seal", str(bundle), "--set", "capitals=as_words")
    answer = dragoman("translate", "--model", str(bundle), stdin=calm)
    assert dragoman("translate", "--model", str(bundle), stdin=loud) == answer.upper()
    dragoman("seal", str(bundle), "--set", "capitals=as_written")
    assert dragoman("translate", "--model", str(bundle), stdin=calm) == answer
    assert dragoman("translate", "--model", str(bundle), stdin=loud) != answer.upper()
