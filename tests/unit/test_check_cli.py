"""The check sentence in a bundle's manifest: made with the bundle, and verified by every program that loads it."""
import json
import os
import shutil
import subprocess

import pytest

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin")
DRAGOMAN = os.path.join(BIN, "dragoman")
DATA = "tests/data/convert/pymarian"


def run(*args, code=0, text=""):
    done = subprocess.run([DRAGOMAN, *args], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("check") / "bundle")
    run("convert", "marian", "--model", DATA + "/attention.npz", "--vocab", DATA + "/attention.spm", "--source-lang", "en",
        "--target-lang", "de", "--out", folder)
    return folder


@pytest.fixture
def bundle(made, tmp_path):
    return shutil.copytree(made, tmp_path / "bundle")


def manifest(folder):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
        return json.load(f)


def change(folder, how):
    m = manifest(folder)
    how(m)
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as f:
        json.dump(m, f)
    run("seal", str(folder))


def scored(folder, check, tmp_path):
    for side in ("source", "target"):
        (tmp_path / side).write_text(check[side] + "\n", encoding="utf-8")
    out = run("score", "--model", str(folder), "--tokens", "--json", "--source", str(tmp_path / "source"), "--target",
              str(tmp_path / "target"))
    return sum(t["logprob"] for t in json.loads(out)["tokens"])


def test_it_is_the_model_s_own_answer(bundle, tmp_path):
    check = manifest(bundle)["check"]
    assert check["pair"] == ["en", "de"] and check["source"].replace(" ", "") == "▁The▁house▁is▁small."
    assert run("translate", "--model", str(bundle), "--tokens", text=check["source"] + "\n").split() == check["target"].split()
    assert check["logprob"] == pytest.approx(scored(bundle, check, tmp_path), abs=0.0051)


def test_quantising_writes_its_own(bundle, tmp_path):
    run("quantize", str(bundle), "--out", str(tmp_path / "int8"))
    check = manifest(tmp_path / "int8")["check"]
    assert check != manifest(bundle)["check"]
    assert check["logprob"] == pytest.approx(scored(tmp_path / "int8", check, tmp_path), abs=0.0051)


@pytest.mark.parametrize("factor,refused", [(1.005, False), (0.995, False), (1.02, True), (0.98, True), (2, True), (0, True)])
def test_a_sum_that_is_off_by_more_than_a_hundredth_is_refused(bundle, factor, refused):
    change(bundle, lambda m: m["check"].update(logprob=m["check"]["logprob"] * factor))
    message = run("translate", "--model", str(bundle), text="The dog.\n", code=1 if refused else 0)
    if refused:
        assert "its test sentence has log-probability" in message and "the manifest says" in message


@pytest.mark.parametrize("how", [
    lambda m: m["model"].update(activation="swish" if m["model"]["activation"] != "swish" else "relu"),
    lambda m: m["model"].update(positions="halves"), lambda m: m["model"].update(embed_scale=1)],
    ids=["activation", "positions", "scale"])
def test_a_model_that_is_read_wrongly_is_refused(bundle, how):
    """Refused although every checksum is right, because the model computes something else."""
    change(bundle, how)
    assert "not what it was when the bundle was made" in run("translate", "--model", str(bundle), text="The dog.\n", code=1)
    doctor = subprocess.run([DRAGOMAN, "doctor", "--models", str(bundle)], capture_output=True, text=True, timeout=120)
    assert "its test sentence has" in doctor.stdout and doctor.returncode != 0
    server = subprocess.run([os.path.join(BIN, "dragoman-server"), "--models", str(bundle), "--port", "0", "--check-config"],
                            capture_output=True, text=True, timeout=120)
    assert server.returncode != 0 and "its test sentence has" in server.stdout + server.stderr


def test_a_bundle_without_one_is_taken_as_it_is(bundle):
    change(bundle, lambda m: m.pop("check"))
    run("translate", "--model", str(bundle), text="The dog.\n")


def test_it_is_scored_over_the_whole_vocabulary(bundle):
    """A shortlist that changes the answers does not change the check's sum, so the check stays valid."""
    def answer():
        return run("translate", "--model", str(bundle), text="The house is small.\n")

    whole, before = answer(), manifest(bundle)["check"]
    subprocess.run([os.path.join(BIN, "random-shortlist"), str(bundle), "3", "20"], check=True)
    assert manifest(bundle)["files"]["shortlist"] and manifest(bundle)["check"] == before
    assert answer() != whole


def test_it_does_not_depend_on_how_the_search_goes(bundle):
    """Settings of the search, which `dragoman-train calibrate` and `dragoman seal --set` write, leave the check valid."""
    change(bundle, lambda m: m["decoding"].update(beam_size=1, length_penalty=2, low_confidence=-0.1))
    run("translate", "--model", str(bundle), text="The house is small.\n")


@pytest.mark.parametrize("check", [{}, {"pair": ["en", "de"], "source": "x"}, {"pair": ["en"], "source": "a", "target": "b", "logprob": -1}])
def test_one_that_is_not_whole_is_refused(bundle, check):
    change(bundle, lambda m: m.update(check=check))
    assert "check must have pair, source, target and logprob" in run("translate", "--model", str(bundle), text="The dog.\n", code=1)
