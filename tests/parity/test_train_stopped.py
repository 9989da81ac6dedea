"""A run of `dragoman-train` that is stopped during a validation, or that goes back to an older checkpoint, ends like an undisturbed
one: the same scores, best checkpoints and patience."""
import json
import os
import shutil
import subprocess
import time

import pytest

from test_train_checkpoints import averaged, kept
from train_runs import checkpoint, command, log, run, with_longer_dev
from train_runs import data  # noqa: F401  fixtures

LOSS = ("--set", "training.stop_metric=loss")  # BLEU does not change with so little training
STILL = (*LOSS, "--set", "training.lr_scale=0")  # no score is better than the first


def settings(**fields):
    """Options for fields of `training`; `every` sets validation.every."""
    pairs = [("validation.every" if k == "every" else f"training.{k}", v) for k, v in fields.items()]
    return [x for k, v in pairs for x in ("--set", f"{k}={v}")]


@pytest.fixture(scope="module")
def corpus(data, tmp_path_factory):  # noqa: F811
    """A corpus whose dev set takes long enough to stop the run during a validation."""
    folder = tmp_path_factory.mktemp("longer") / "corpus"
    with_longer_dev(data, folder, 300)
    return folder


def stopped_while_validating(out, args):
    """Send SIGTERM once the first validation of this process has begun."""
    shutil.rmtree(out / "validation", ignore_errors=True)
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.time() + 300
    while process.poll() is None and time.time() < end and not (out / "validation" / "manifest.json").exists():
        time.sleep(0.002)
    process.terminate()
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 0, said
    assert f"continue with: dragoman-train resume {out}" in said


def index(out):
    return json.loads((out / "checkpoints" / "index.json").read_text())


def validated(out):
    return [x["update"] for x in log(out, "valid")]


@pytest.mark.parametrize("first, more", [
    (4, settings(updates=8, checkpoint_updates=4, every=4)),
    (3, settings(updates=8, checkpoint_updates=4, every=3)),
    (1, settings(updates=3, checkpoint_updates=0, checkpoint_minutes=1e-9, every=0)),
], ids=["at a checkpoint", "between two", "by the clock"])
def test_validation_that_was_stopped_is_made_up_for(corpus, tmp_path, first, more):
    straight, halted = tmp_path / "straight", tmp_path / "halted"
    more = [*LOSS, *more, *settings(keep_best=2, average_best=2), "--no-scores"]
    run(command(corpus, straight, *more))
    stopped_while_validating(halted, command(corpus, halted, *more))
    assert kept(halted)[-1]["step"] == first and kept(halted)[-1]["score"] is None
    stopped_while_validating(halted, command(corpus, halted, "--no-scores", verb="resume"))
    assert kept(halted)[-1]["step"] == first and not validated(halted), "what makes up for it is stopped like others"
    run(command(corpus, halted, "--no-scores", verb="resume"))
    assert validated(halted) == validated(straight) and index(halted) == index(straight)
    assert averaged(halted) == averaged(straight)


def test_last_validation_that_was_stopped_is_made_up_for(corpus, tmp_path):
    """The run does not end without it: its score takes part in choosing the checkpoints to average."""
    out = tmp_path / "run"
    stopped_while_validating(out, command(corpus, out, *LOSS, *settings(updates=4, average_best=1), "--no-scores"))
    assert kept(out) == [{"step": 4, "score": None}]
    assert not (out / "bundle").exists() and not log(out, "finished")
    run(command(corpus, out, "--no-scores", verb="resume"))
    assert validated(out) == averaged(out) == [4] and log(out, "finished")


@pytest.mark.parametrize("patience, end", [(0, [4, 8]), (1, [4, 6])], ids=["goes on", "ends"])
def test_stopped_where_nothing_was_due(corpus, tmp_path, patience, end):
    """Update 6 is validated and not better: its checkpoint is no candidate for the best, but one of the last if it ends the run."""
    straight, halted = tmp_path / "straight", tmp_path / "halted"
    keep = settings(checkpoint_updates=4, keep_best=2, average_best=0 if patience else 2)
    run(command(corpus, straight, *STILL, *keep, *settings(updates=4), "--no-scores"))
    shutil.copytree(straight, halted)
    more = [*settings(updates=8, every=6, patience=patience), "--no-scores"]
    run(command(corpus, straight, *more, verb="resume"))
    stopped_while_validating(halted, command(corpus, halted, *more, verb="resume"))
    assert kept(halted)[-1] == {"step": 6, "score": None, "extra": True}
    run(command(corpus, halted, *more, verb="resume"))
    assert index(halted) == index(straight)
    assert averaged(halted) == averaged(straight) == end


def lose(out, *steps):
    """Remove these checkpoints and the bundle, as if they had never been written."""
    path = out / "checkpoints" / "index.json"
    text = index(out)
    text["checkpoints"] = [c for c in text["checkpoints"] if c["step"] not in steps]
    path.write_text(json.dumps(text))
    for step in steps:
        (out / "checkpoints" / f"{step:08d}.ckpt").unlink()
    shutil.rmtree(out / "bundle")


def test_out_of_patience_is_where_it_was(data, tmp_path):  # noqa: F811
    """The checkpoint of the validation that ended the run is lost: the run ends there again, not where it resumes."""
    out = tmp_path / "run"
    more = settings(every=3, checkpoint_updates=4, keep_last=3, keep_best=0, patience=2)
    run(command(data, out, *STILL, *more, "--no-scores"))
    before, last = index(out), checkpoint(out, 9)
    assert [c["step"] for c in before["checkpoints"]] == [4, 8, 9] and before["bad"] == 2
    for lost in (9,), (8, 9):
        lose(out, *lost)
        assert "stopping early" in run(command(data, out, "--no-scores", verb="resume"))
        assert index(out) == before and averaged(out) == [8, 9]
        assert checkpoint(out, 9)["xxh3"] == last["xxh3"]


def test_damaged_checkpoints_are_made_again(data, tmp_path):  # noqa: F811
    """The best among them too, although its score is known and later ones were not better."""
    out = tmp_path / "run"
    more = settings(updates=8, every=6, checkpoint_updates=4, keep_best=2, average_best=2)
    run(command(data, out, *STILL, *more, "--no-scores"))
    before = index(out)
    assert before["best_step"] == 6 and before["bad"] == 1 and averaged(out) == [6, 8]
    for step in (6, 8):
        os.truncate(out / "checkpoints" / f"{step:08d}.ckpt", 3000)
    text = run(command(data, out, "--no-scores", verb="resume"))
    assert "continuing after update 4 (newer checkpoints are damaged)" in text
    assert index(out) == before and averaged(out) == [6, 8]
    assert all(checkpoint(out, c["step"])["step"] == c["step"] for c in kept(out))


def test_begun_anew_is_begun_anew(data, tmp_path):  # noqa: F811
    """Killed after a validation and before the first checkpoint: a new run in the folder starts with its own best and patience."""
    straight, out = tmp_path / "straight", tmp_path / "out"
    more = [*STILL, *settings(updates=4, every=1, checkpoint_updates=4, keep_best=0), "--no-scores"]
    run(command(data, straight, *more))
    (out / "checkpoints").mkdir(parents=True)
    left = {"checkpoints": [], "best": 0, "best_step": 1, "bad": 2, "validated": 3}
    (out / "checkpoints" / "index.json").write_text(json.dumps(left))
    run(command(data, out, *more))
    assert index(out) == index(straight)
