"""Full disks, broken disks and partial reads and writes under the command line and the trainer: bundles, checkpoints, prepared data,
downloads and keys are whole or absent, earlier files stay, and each refusal names its reason.

FILES_STEPS: how many calls of each kind fail, one in each run (3); `make faults-files`: all of them, of training 40."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE] + [os.path.join(HERE, "..", name) for name in ("api", "parity", "pull")]

import bundle  # noqa: E402
import stand_in  # noqa: E402
import train_runs  # noqa: E402
from conftest import CLI, ROOT, sanitized  # noqa: E402
from faults import control, tree  # noqa: E402,F401  (control: a fixture)
from io_faults import STEPS, each_call, say  # noqa: E402

TRAIN = os.path.join(ROOT, train_runs.TRAIN)
TRAIN_STEPS = min(STEPS, 2) if STEPS else 40
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has calls of its own")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bundle.make(CLI, str(tmp_path_factory.mktemp("model") / "en-de"), seed=1)


def check_bundle(folder, want, done):
    """Checks that the bundle is the right one, or missing: the manifest is written last. A writer that gave up leaves no temporary file."""
    found = tree(folder)
    if any(".tmp-" in name for name in found):
        return "temporary files: %s" % sorted(found)
    if done.returncode == 0 or "manifest.json" in found:
        # The manifest contains the time of day, so it is not compared.
        return None if {**found, "manifest.json": 0} == {**want, "manifest.json": 0} else "another bundle: %s" % sorted(found)
    return None


def makes(control, out, command):
    subprocess.run(command, check=True, capture_output=True)
    want = tree(out)
    say(*each_call(control, command, str(out), prepare=lambda: shutil.rmtree(out, ignore_errors=True),
                   after=lambda done: check_bundle(out, want, done)))


def test_quantize(control, model, tmp_path):
    makes(control, tmp_path / "b", [CLI, "quantize", model, "--out", str(tmp_path / "b")])


def test_convert(control, tmp_path):
    import numpy as np
    spm = str(shutil.copy(os.path.join(bundle.DATA, "bytes.model"), tmp_path / "v.spm"))
    np.savez(tmp_path / "m.npz", **bundle.marian_arrays(bundle.vocabulary_size(spm), 32, 64, 2, 4.0, 1))
    makes(control, tmp_path / "b", [CLI, "convert", "marian", "--model", str(tmp_path / "m.npz"), "--vocab", spm, "--source-lang", "en",
                                    "--target-lang", "de", "--out", str(tmp_path / "b")])


def test_what_is_read(control, model, tmp_path):
    """A model on a broken disk is refused; one that is read in pieces is used."""
    text = tmp_path / "text"
    text.write_text("The dog plays.\n\nGo.\n" * 3)
    command = [CLI, "translate", "--model", model, str(text)]
    want = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    say(*each_call(control, command, str(os.path.dirname(model)), after=lambda done: None if want.startswith(done.stdout) else done.stdout))


def test_seal(control, model, tmp_path):
    """The bundle is sealed in place: it is as before, or as it should be."""
    folder = tmp_path / "b"
    command = [CLI, "seal", str(folder), "--set", "decoding.beam_size=3"]

    def prepare():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(model, folder)
    prepare()
    before = tree(folder)
    subprocess.run(command, check=True, capture_output=True)
    want = tree(folder)

    def after(done):
        found = tree(folder)
        # The folder is synced after the rename: if that fails, the new manifest is there.
        return None if found == want or (done.returncode and found == before) else sorted(found)
    say(*each_call(control, command, str(folder), prepare=prepare, after=after))


# Training ---------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    train_runs.write_corpus(folder)
    (folder / "recipe.json").write_text(json.dumps(train_runs.RECIPE))
    return folder


def unfinished(out):
    return [p.name for p in out.rglob("*") if ".tmp-" in p.name]


def test_prepare(control, data, tmp_path):
    out = tmp_path / "out"
    command = [TRAIN, "prepare", str(data / "recipe.json"), "--data", str(data), "--out", str(out), "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    manifest = out / "prepared.json"
    want = json.loads(manifest.read_text())["hash"]

    def after(done):
        """Incomplete data is not taken for whole, and the next run makes it."""
        if done.returncode and manifest.exists():
            return "a manifest" if json.loads(manifest.read_text())["hash"] != want else None
        subprocess.run(command, check=True, capture_output=True)
        return None if json.loads(manifest.read_text())["hash"] == want and not unfinished(out) else "other data"
    say(*each_call(control, command, str(out), prepare=lambda: shutil.rmtree(out, ignore_errors=True), after=after, steps=TRAIN_STEPS))


def test_training(control, data, tmp_path):
    """Checkpoints, log, validation and export: what a run says it has written exists, and it resumes to the same weights."""
    start, out = tmp_path / "start", tmp_path / "run"
    begin = [TRAIN, "run", str(data / "recipe.json"), "--data", str(data), "--out", str(start), "--quiet"]
    subprocess.run([*begin, "--set", "training.updates=8"], check=True, capture_output=True)
    command = [TRAIN, "resume", str(out), "--quiet", "--set", "training.updates=%d" % train_runs.UPDATES, "--set", "validation.every=12"]

    def prepare():
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(start, out)

    def end(done=None):
        """Returns the hashes of the last checkpoint and of the bundle's weights. If a checkpoint could not be written, the bundle is a mean
        of others: None."""
        mean = None if done and "training continues" in done.stderr else tree(out / "bundle")["weights.dgw"]
        return train_runs.checkpoint(out)["xxh3"], mean
    prepare()
    subprocess.run(command, check=True, capture_output=True)
    want = end()

    def after(done):
        wanted = (want[0], None) if "training continues" in done.stderr else want
        if done.returncode == 0 and end(done) != wanted:
            return "other weights"
        again = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if again.returncode:
            return "it does not go on: " + again.stderr
        return None if end(done) == wanted and not unfinished(out) else "other weights, or temporary files"
    say(*each_call(control, command, str(out), prepare=prepare, after=after, steps=TRAIN_STEPS))


# Downloads --------------------------------------------------------------------------------------------------------

def test_pull(control, tmp_path, tmp_path_factory):
    """Whatever fails, an installed model is whole, and the next pull installs a missing one."""
    ca, *pair = stand_in.authority(str(tmp_path_factory.mktemp("ca")))
    hub = stand_in.StandIn(*pair)
    hub.serve_firefox()
    place = tmp_path / "disk"
    command = [CLI, "pull", "firefox/en-de", "--index", hub.url + hub.index, "--models", str(place / "models")]
    env = {"CURL_CA_BUNDLE": ca, "XDG_CACHE_HOME": str(place / "cache")}

    def pull():
        return subprocess.run(command, env={**os.environ, **env}, check=True, capture_output=True)

    def installed():
        at = place / "models" / "firefox-en-de"
        return tree(at) if at.exists() else None
    pull()
    want = installed()

    def after(done):
        there = installed()
        if there not in (None, want) or (done.returncode == 0 and there != want):
            return "a bundle that is not whole: %s" % there
        pull()
        left = [n for n in os.listdir(place / "models") if n not in ("firefox-en-de", ".pull.lock")]
        return None if installed() == want and not left else "the next pull: %s %s" % (installed(), left)
    try:
        say(*each_call(control, command, str(place), prepare=lambda: shutil.rmtree(place, ignore_errors=True), after=after, env=env))
    finally:
        hub.close()


# Keys -------------------------------------------------------------------------------------------------------------

def test_keys(control, tmp_path):
    """A key that is shown is in the file; the file is sound."""
    file = tmp_path / "k" / "keys.db"
    command = [CLI, "keys", "add", "--name", "test", "--json"]
    env = {"DRAGOMAN_KEYS": str(file)}

    def prepare():
        shutil.rmtree(tmp_path / "k", ignore_errors=True)
        os.mkdir(tmp_path / "k")
        subprocess.run(command, env={**os.environ, **env}, check=True, capture_output=True)

    def after(done):
        db = sqlite3.connect(file)
        try:
            sound = db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            ids = {row[0] for row in db.execute("SELECT id FROM keys")}
        finally:
            db.close()
        if done.returncode == 0 and json.loads(done.stdout)["id"] not in ids:
            return "a key that is not kept"
        return None if sound and (done.returncode == 0 or "key" not in done.stdout) else "%s %s" % (sound, done.stdout)
    say(*each_call(control, command, str(file.parent), prepare=prepare, after=after, env=env))
