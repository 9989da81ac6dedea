"""Each allocation of the command line and of the trainer fails once. The program does not crash, and its message names
memory. Files stay whole: the output is missing or right, a bundle is the old one or the new one, and a training run goes on
to the same weights.

FAULTS_STEPS: how many places of each program are tried (a few); `make faults` tries all, of training FAULTS_RUNS."""
import functools
import json
import os
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api"), os.path.join(HERE, "..", "parity")]

import bundle  # noqa: E402
from conftest import CLI, models, sanitized  # noqa: E402,F401  (models: a fixture)
from faults import control, each_place, tree  # noqa: E402,F401  (control: a fixture)
from train_runs import RECIPE, TRAIN, write_corpus  # noqa: E402

STEPS = int(os.environ.get("FAULTS_STEPS", "6"))  # 0: all
TRAIN_STEPS = min(STEPS, 2) if STEPS else int(os.environ.get("FAULTS_RUNS", "0"))
TEXT = "The dog plays in the snow.\nIt is cold today.\n\nGo.\n"
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has an allocator of its own")
TRAIN = os.path.abspath(TRAIN)
SMALL = ["--quiet", "--threads", "1"]
RUN = [x for s in ("training.updates=4", "training.checkpoint_updates=2", "training.threads=1", "validation.every=2",
                   "training.batch_tokens=300") for x in ("--set", s)]


def say(faults, ways):
    print(dict(ways))
    assert not faults, "%d of %s:\n%s" % (len(faults), dict(ways), "\n".join(faults[:6]))
    assert ways["refused"] + ways["done all the same"] > 0


def lines_of(want):
    """Returns a check that standard output is whole lines of `want`, from the first on."""
    def after(done):
        if want.startswith(done.stdout) and (not done.stdout or done.stdout.endswith("\n")):
            return None
        return "standard output: " + done.stdout[-500:]
    return after


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text(TEXT)
    return str(file)


@pytest.mark.parametrize("verb", ["translate", "json", "score", "html"])
def test_to_standard_output(models, control, text, verb):  # noqa: F811
    model = os.path.join(models, "en-de")
    command = {"translate": ["translate", "--model", model, text],
               "json": ["translate", "--model", model, "--json", "--alignments", "--n-best", "2", "--workers", "1", text],
               "html": ["translate", "--model", model, "--format", "html", text],
               "score": ["score", "--model", model, "--source", text, "--target", text, "--json"]}[verb]
    want = subprocess.run([CLI, *command], capture_output=True, text=True, check=True).stdout
    after = lines_of(want) if verb != "html" else lambda done: None if done.stdout in ("", want) else done.stdout
    say(*each_place(control, [CLI, *command], STEPS, after=after, keeps=True))


def is_whole(folder):
    """True if there is a bundle. The manifest is written last: without it there is none, with it the bundle is complete."""
    if not os.path.exists(folder / "manifest.json"):
        return False
    subprocess.run([CLI, "inspect", "--verify", str(folder)], check=True, capture_output=True)
    return True


def without(out):
    """Returns what prepares a run: its output is removed."""
    return functools.partial(shutil.rmtree, out, ignore_errors=True)


def makes(control, out, command, steps=STEPS):
    """A program that makes a bundle leaves the right one, or none."""
    prepare = without(out)
    prepare()
    subprocess.run(command, check=True, capture_output=True)
    want = tree(out)

    def after(done):
        if done.returncode == 0 and not is_whole(out):
            return "no bundle"
        return None if not is_whole(out) or tree(out)["weights.dgw"] == want["weights.dgw"] else "another bundle"
    say(*each_place(control, command, steps, prepare=prepare, after=after, keeps=True))


def test_a_document(models, control, text, tmp_path):  # noqa: F811
    folder = tmp_path / "out"
    command = [CLI, "translate", "--model", os.path.join(models, "en-de"), text, "-o", str(folder / "b.txt")]

    def prepare():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    prepare()
    subprocess.run(command, check=True, capture_output=True)
    want = tree(folder)

    def after(done):
        return None if tree(folder) == want or (not tree(folder) and done.returncode != 0) else str(sorted(tree(folder)))
    say(*each_place(control, command, STEPS, prepare=prepare, after=after, keeps=True))


def test_quantize(models, control, tmp_path):  # noqa: F811
    makes(control, tmp_path / "b", [CLI, "quantize", os.path.join(models, "en-de"), "--out", str(tmp_path / "b")])


def test_convert(control, tmp_path):
    import numpy as np
    spm = str(shutil.copy(os.path.join(bundle.DATA, "bytes.model"), tmp_path / "v.spm"))
    np.savez(tmp_path / "m.npz", **bundle.marian_arrays(bundle.vocabulary_size(spm), 32, 64, 2, 4.0, 1))
    makes(control, tmp_path / "b", [CLI, "convert", "marian", "--model", str(tmp_path / "m.npz"), "--vocab", spm, "--source-lang", "en",
                                    "--target-lang", "de", "--out", str(tmp_path / "b")])


def test_seal(models, control, tmp_path):  # noqa: F811
    folder = tmp_path / "out"

    def prepare():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(models, "en-de"), folder)
    command = [CLI, "seal", str(folder), "--set", "decoding.beam_size=3"]
    prepare()
    before = tree(folder)
    subprocess.run(command, check=True, capture_output=True)
    want = tree(folder)

    def after(done):
        return None if tree(folder) == (before if done.returncode else want) or tree(folder) == want else str(sorted(tree(folder)))
    say(*each_place(control, command, STEPS, prepare=prepare, after=after, keeps=True))


@pytest.fixture
def data(tmp_path):
    """The first few lines of a made-up language."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_corpus(folder)
    for name, n in (("train", 60), ("dev", 3)):
        for side in ("en", "xx"):
            file = folder / ("%s.%s" % (name, side))
            file.write_text("".join(file.read_text().splitlines(True)[:n]))
    return folder


@pytest.fixture
def recipe(data, tmp_path):
    file = tmp_path / "recipe.json"
    file.write_text(json.dumps(RECIPE))
    return ["--data", str(data), *RUN, *SMALL], str(file)


def weights(out):
    """Returns the hash of a run's final weights."""
    return tree(out / "bundle")["weights.dgw"]


def prepared(out):
    """Returns the files that a run reads: all but the statistics of preparing them, which contain the time."""
    return {k: v for k, v in tree(out).items() if k != "prepared.json" and not k.startswith(".")}


def test_run(control, recipe, tmp_path):
    """After each failure the same command, or the one that it suggests, ends with the same weights."""
    options, file = recipe
    out = tmp_path / "run"
    command = [TRAIN, "run", file, "--out", str(out), *options]
    prepare = without(out)
    subprocess.run(command, check=True, capture_output=True)
    want = weights(out)

    def after(done):
        if done.returncode < 0:
            return None
        again = subprocess.run(command, capture_output=True, text=True)
        if again.returncode != 0 and "resume" in again.stderr:
            again = subprocess.run([TRAIN, "resume", str(out), *SMALL], capture_output=True, text=True)
        if again.returncode != 0:
            return "a rerun fails: " + again.stderr
        return None if weights(out) == want else "other weights"
    say(*each_place(control, command, TRAIN_STEPS, prepare=prepare, after=after, keeps=True))


def test_prepare(control, recipe, tmp_path):
    options, file = recipe
    out = tmp_path / "prepared"
    command = [TRAIN, "prepare", file, "--out", str(out), *options]
    prepare = without(out)
    subprocess.run(command, check=True, capture_output=True)
    want = prepared(out)

    def after(done):
        if done.returncode < 0:
            return None
        again = subprocess.run(command, capture_output=True, text=True)
        return None if again.returncode == 0 and prepared(out) == want else "a rerun: %d %s %s" % (again.returncode, again.stderr, sorted(tree(out)))
    say(*each_place(control, command, TRAIN_STEPS, prepare=prepare, after=after, keeps=True))


def test_average_and_calibrate(control, recipe, data, tmp_path):
    options, file = recipe
    out = tmp_path / "run"
    subprocess.run([TRAIN, "run", file, "--out", str(out), *options], check=True, capture_output=True)
    makes(control, tmp_path / "b", [TRAIN, "average", str(out), "--last", "1", "--no-scores", "--quiet", "--out", str(tmp_path / "b")], TRAIN_STEPS)
    folder = tmp_path / "bundle"

    def prepare():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(out / "bundle", folder)
    command = [TRAIN, "calibrate", str(folder), "en:xx:%s:%s" % (data / "dev.en", data / "dev.xx"), "--lines", "2", *SMALL]
    prepare()
    before = tree(folder)
    subprocess.run(command, check=True, capture_output=True)
    want = tree(folder)

    def after(done):
        return None if tree(folder) in (before, want) else str(sorted(tree(folder)))
    say(*each_place(control, command, TRAIN_STEPS, prepare=prepare, after=after, keeps=True))
