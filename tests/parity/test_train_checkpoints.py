"""Which checkpoints a run of `dragoman-train` makes, keeps and averages, and when it ends early: by updates, time, scores
or a signal."""
import json
import math
import os
import subprocess

from train_runs import (
    DRAGOMAN, TRAIN, UPDATES, checkpoint, checkpoint_steps, command, killed_while_validating, log, run, wait_for,
    with_longer_dev)
from train_runs import data  # noqa: F401  fixtures


def test_early_stopping(data, tmp_path):
    out = tmp_path / "run"
    text = run(command(data, out, "--set", "training.patience=2", "--set", "validation.every=1",
                       "--set", "training.lr_scale=0", "--set", "training.stop_metric=loss"))
    assert "stopping early" in text
    assert len(log(out, "valid")) == 3  # the first is the best, the next two are not better
    assert checkpoint_steps(out)[-1] == 3, "where it stopped is kept, though no checkpoint was due"


def kept(out):
    return json.loads((out / "checkpoints" / "index.json").read_text())["checkpoints"]


def averaged(out):
    return json.loads((out / "bundle" / "manifest.json").read_text())["training"]["checkpoints"]


def test_checkpoints_that_were_not_due_are_not_averaged(data, tmp_path):
    """A run resumes from a checkpoint that a signal caused, but the average uses only the scheduled ones."""
    out, every = tmp_path / "run", 50
    process = subprocess.Popen(command(data, out, "--set", f"training.checkpoint_updates={every}", "--set",
                                       "training.updates=30000", "--no-scores"), stderr=subprocess.DEVNULL)
    wait_for(out, every, process)
    process.terminate()
    process.wait()
    stopped = kept(out)[-1]
    assert stopped.get("extra", False) == (stopped["step"] % every != 0)
    end = (stopped["step"] // every + 1) * every
    run(command(data, out, "--quiet", "--no-scores", "--set", f"training.updates={end}", verb="resume"))
    assert averaged(out) == [end - every, end]
    # Settings given on resume hold from then on, and the bundles record them.
    run([TRAIN, "average", str(out), "--last", "1", "--no-scores", "--out", str(tmp_path / "last"), "--quiet"])
    for bundle in out / "bundle", tmp_path / "last":
        recipe = json.loads((bundle / "manifest.json").read_text())["training"]["recipe"]
        assert recipe["training"]["updates"] == end


def test_no_dev_set(data, tmp_path):
    """Without a dev set there is no validation, no checkpoint for one, and no average of the best."""
    recipe = json.loads((data / "recipe.json").read_text())
    del recipe["data"]["pairs"][0]["dev"]
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    start = [TRAIN, "run", str(tmp_path / "recipe.json"), "--data", str(data), "--quiet", "--set", "validation.every=3",
             "--set", "training.keep_last=100"]
    run([*start, "--out", str(tmp_path / "run")])
    assert checkpoint_steps(tmp_path / "run") == list(range(4, UPDATES + 1, 4))
    text = run([*start, "--out", str(tmp_path / "best"), "--set", "training.average_best=1"], expect=2)
    assert "training.average_best is 1, must be 0 without a dev set" in text


def test_validation_made_up_for_is_looked_at(data, tmp_path):
    """Killed during the validation that would have ended the run: on resume, that validation ends it."""
    out = tmp_path / "run"
    killed_while_validating(data, out)
    text = run(command(data, out, "--set", f"training.updates={UPDATES}", "--set", "training.patience=2", verb="resume"))
    assert "stopping early" in text and checkpoint_steps(out)[-1] == 12


def test_checkpoints_by_the_clock_and_best_of_them(data, tmp_path):
    out = tmp_path / "run"
    run(command(data, out, "--set", "training.checkpoint_updates=0", "--set", "training.checkpoint_minutes=0.00001",
                "--set", "training.keep_last=3", "--set", "training.keep_best=2", "--set", "training.average_best=2",
                "--set", "training.stop_metric=loss", "--set", "output.type=f16",
                "--set", "validation.every=0"))
    kept = json.loads((out / "checkpoints" / "index.json").read_text())["checkpoints"]
    assert len(kept) >= 3 and all(c["score"] is not None for c in kept)
    best = sorted(sorted(kept, key=lambda c: (-c["score"], -c["step"]))[:2], key=lambda c: c["step"])
    with open(out / "bundle" / "manifest.json", encoding="utf-8") as f:
        assert json.load(f)["training"]["checkpoints"] == [c["step"] for c in best]
    run([TRAIN, "average", str(out), "--best", "1", "--no-scores", "--out", str(tmp_path / "one"), "--quiet"])
    sizes = [os.path.getsize(tmp_path / "one" / "weights.dgw"), checkpoint(out)["elements"] * 4]
    assert sizes[0] < 0.9 * sizes[1]  # matrices are f16


def test_minutes_between_checkpoints_are_those_of_training(data, tmp_path):
    """Even a validation longer than checkpoint_minutes causes no further checkpoint."""
    corpus, out = tmp_path / "corpus", tmp_path / "run"
    with_longer_dev(data, corpus, 720)
    minutes = 0.008
    run(command(corpus, out, "--set", f"training.checkpoint_minutes={minutes}", "--set", "training.checkpoint_updates=8",
                "--set", "validation.every=0", "--no-scores"))
    assert [x["update"] for x in log(out, "valid")] == [8, 16, 24]
    assert max(x["seconds"] for x in log(out, "valid")) > 60 * minutes, "else this test shows nothing"


def dev_perplexity(data, bundle):
    lines = run([DRAGOMAN, "score", "--model", str(bundle), "--source", str(data / "dev.en"),
                 "--target", str(data / "dev.xx")]).splitlines()
    total = sum(float(line.split("\t")[0]) for line in lines)
    return math.exp(-total / sum(len(line.split("\t")[1].split()) for line in lines))


def test_the_best_of_mean_newest_and_best_is_exported(data, tmp_path):
    """A mean that includes the warm-up is worse than the newest checkpoint alone, so the bundle is the newest checkpoint."""
    out = tmp_path / "run"
    compare = ["--set", "training.average_compare=true", "--set", "training.ema=0", "--set", "training.updates=100",
               "--set", "training.checkpoint_updates=50", "--no-scores"]
    text = run(command(data, out, *compare))
    training = json.loads((out / "bundle" / "manifest.json").read_text())["training"]
    perplexity = {x["weights"]: x["perplexity"] for x in training["compared"]}
    assert perplexity["newest"] < perplexity["mean"]
    assert f"newest perplexity on dev {perplexity['newest']:.3f}  <- the bundle" in text
    assert training["averaged"] == "newest checkpoint" and averaged(out) == [100]
    # `average` makes exactly the mean that it was asked for.
    run([TRAIN, "average", str(out), "--last", "2", "--no-scores", "--out", str(tmp_path / "mean"), "--quiet"])
    training = json.loads((tmp_path / "mean" / "manifest.json").read_text())["training"]
    assert training["checkpoints"] == [50, 100] and "compared" not in training
    # As bundles they have the perplexities that were compared.
    for folder, name in (out / "bundle", "newest"), (tmp_path / "mean", "mean"):
        assert math.isclose(dev_perplexity(data, folder), perplexity[name], rel_tol=1e-3)
