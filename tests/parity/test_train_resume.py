"""Runs of `dragoman-train` that were stopped, killed or ran out of disk resume bit for bit; what does not fit together is refused."""
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import time

import pytest

from train_runs import (
    RECIPE, TRAIN, UPDATES, checkpoint, checkpoint_steps, command, log, run, same_end, wait_for, write_corpus)
from train_runs import begun, data, whole  # noqa: F401  fixtures


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_saves_and_resumes(data, whole, tmp_path, number):
    out = tmp_path / "run"
    process = subprocess.Popen(command(data, out), stderr=subprocess.PIPE, text=True)
    wait_for(out, 4, process)
    process.send_signal(number)
    stderr = process.communicate(timeout=300)[1]
    assert process.returncode == 0, stderr
    if not (out / "bundle" / "manifest.json").exists():
        assert "continue with: dragoman-train resume" in stderr
        run(command(data, out, "--quiet", verb="resume"))
    same_end(out, whole)
    assert [x["update"] for x in log(out, "train")] == [x["update"] for x in log(whole, "train")]


def stopped(args, out, step):
    """Stop a run after a checkpoint of that step. Returns the command that it prints to continue."""
    process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_for(out, step, process)
    process.terminate()
    stderr = process.communicate(timeout=300)[1]
    assert process.returncode == 0, stderr
    return shlex.split(re.search("continue with: (.*)", stderr)[1])


def test_what_is_said_to_go_on_with(data, tmp_path):
    """The command has the options that the folder does not keep: device, precision, what to leave out at the end, event files."""
    out = tmp_path / "it's a run"
    given = ["--device", "cpu", "--precision", "fp32", "--no-scores", "--tensorboard", str(tmp_path / "its events")]
    said = stopped(command(data, out, *given, "--set", "training.updates=30000"), out, 4)
    assert said == ["dragoman-train", "resume", str(out), *given]
    args = ["resume", str(out), "--device", "cpu", "--prepared", str(out / "data")]
    said = stopped([TRAIN, *args, "--threads", "1"], out, checkpoint_steps(out)[-1] + 1)
    assert said == ["dragoman-train", *args], "settings are kept in the folder"
    assert stopped([TRAIN, *args[:2]], out, checkpoint_steps(out)[-1] + 1) == ["dragoman-train", *args[:2]]


def test_killed_again_and_again(data, whole, tmp_path):
    """kill -9 at random moments, with a checkpoint after every update, so that it often hits a half-written one."""
    out, rng = tmp_path / "run", random.Random(3)
    args = command(data, out, "--set", "training.checkpoint_updates=1")
    for attempt in range(12):
        process = subprocess.Popen(args, stderr=subprocess.DEVNULL)
        have = checkpoint_steps(out)
        wait_for(out, (have[-1] if have else 0) + 1, process)
        time.sleep(rng.uniform(0, 0.05))
        process.kill()
        process.wait()
        if checkpoint_steps(out):
            args = command(data, out, "--quiet", verb="resume")
    run(args)
    same_end(out, whole)
    assert not [n for n in os.listdir(out / "checkpoints") if ".tmp" in n]


def test_more_updates_are_the_same_run(data, whole, begun):
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_changed_recipe_is_refused(data, begun):
    text = run(command(data, begun, "--set", "training.dropout=0.5", "--set", "model.d_ff=64", verb="resume"), expect=2)
    assert "training.dropout: 0.5, was 0.2" in text and "model.d_ff: 64, was 32" in text


def test_settings_that_are_wrong_are_refused(data, begun, tmp_path):
    """A message names the field, not a file of the program's own; a folder without a run stays as it is."""
    text = run(command(data, begun, "--set", "training.updats=9", verb="resume"), expect=2)
    assert f"{begun}/run.json: unknown field training.updats" in text
    assert "preset cannot be set" in run(command(data, begun, "--set", "preset=big", verb="resume"), expect=2)
    for verb in "resume", "average":
        text = run([TRAIN, verb, str(tmp_path / "rnu")], expect=1)
        assert f"there is no run in {tmp_path}/rnu: cannot open {tmp_path}/rnu/run.json" in text and not (tmp_path / "rnu").exists()


@pytest.mark.parametrize("name", ["run.json", "checkpoints/index.json"])
def test_a_file_that_is_no_json_is_named_once(begun, name):
    (begun / name).write_text("{")
    assert run([TRAIN, "resume", str(begun)], expect=1).count(str(begun / name)) == 1


def test_changed_data_is_refused(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    write_corpus(own)
    with open(own / "recipe.json", "w", encoding="utf-8") as f:
        json.dump(RECIPE, f)
    out = tmp_path / "run2"
    run(command(own, out, "--set", "training.updates=4"))
    with open(own / "train.xx", "a", encoding="utf-8") as f:
        f.write("one more line\n")
    text = run(command(own, out, "--set", "training.updates=8", verb="resume"), expect=2)
    assert "data of this run has changed" in text and "train.xx" in text
    # Missing raw files do not matter.
    os.remove(own / "train.xx")
    run(command(own, out, "--quiet", "--set", "training.updates=8", verb="resume"))


def test_other_prepared_data_is_refused(data, begun, tmp_path):
    other = tmp_path / "other"
    run([TRAIN, "prepare", str(data / "recipe.json"), "--data", str(data), "--out", str(other), "--quiet",
         "--set", "cleaning.max_tokens=9"])
    text = run(command(data, begun, "--prepared", str(other), verb="resume"), expect=2)
    assert "this run started with" in text


def test_other_thread_count_is_told(data, begun):
    text = run(command(data, begun, "--threads", "1", "--set", "training.updates=12", verb="resume"))
    assert "not be bit-identical" in text
    assert checkpoint(begun, 12)["threads"] == 1


def test_folder_with_a_run_is_not_begun_anew(data, whole, begun):
    """The command is refused before it prepares data again, so the existing run can go on."""
    more = ["--set", "cleaning.max_tokens=9"]
    assert "holds a run with checkpoints" in run(command(data, begun), expect=2)
    assert "holds a run with checkpoints" in run(command(data, begun, *more), expect=2)
    plan = [TRAIN, "plan", str(data / "recipe.json"), "--data", str(data), "--out", str(begun), "--quiet", *more]
    assert "holds a run with checkpoints" in run(plan, expect=2)
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_two_processes_in_one_folder(data, tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen(command(data, out, "--set", "training.updates=30000", "--set", "training.keep_last=10000"),
                               stderr=subprocess.DEVNULL)
    try:
        wait_for(out, 4, process)
        assert "another process is training" in run(command(data, out, verb="resume"), expect=1)
        average = [TRAIN, "average", str(out), "--last", "1", "--no-scores", "--quiet"]
        assert "another process is training" in run(average, expect=1)
        run([*average, "--out", str(tmp_path / "meanwhile")])
        assert (tmp_path / "meanwhile" / "manifest.json").exists() and not (out / "bundle").exists()
    finally:
        process.terminate()
        process.wait()


def limit_files(size):
    def f():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    return f


def test_full_disk(data, whole, begun):
    """No checkpoint fits any more: training warns and goes on, fails at the end, and the old checkpoint stays intact."""
    before = checkpoint(begun, 8)
    text = run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"), expect=1,
               preexec_fn=limit_files(30000))
    assert "training continues" in text and "File too large" in text
    assert checkpoint(begun, 8) == before
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_full_disk_for_everything(data, whole, begun):
    """No room for the log or a validation: training warns and goes on. No room for the last checkpoint: an error."""
    size = (begun / "log.jsonl").stat().st_size + 20
    text = run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", "--set", "validation.every=12",
                       verb="resume"), expect=1, preexec_fn=limit_files(size))
    assert text.count("log.jsonl: File too large; it will lack lines") == 1
    assert "validation: " in text and text.count("training continues") >= 3
    assert f"checkpoint of update {UPDATES}" in text and "checkpoint of update 8 " in text
    with open(begun / "log.jsonl", encoding="utf-8") as f:
        assert all(x.endswith("\n") and json.loads(x) for x in f)
    run(command(data, begun, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(begun, whole)


def test_damaged_checkpoint_falls_back(data, whole, begun):
    os.truncate(begun / "checkpoints" / "00000008.ckpt", 5000)
    text = run(command(data, begun, "--set", f"training.updates={UPDATES}", verb="resume"))
    assert "continuing after update 4" in text and "damaged" in text
    same_end(begun, whole)


def test_divergence_stops_and_keeps_the_last_good(data, begun):
    with open(begun / "run.json", encoding="utf-8") as f:
        assert json.load(f)["recipe"]["training"]["updates"] == 8
    out = begun.parent / "diverging"
    text = run(command(data, out, "--set", "training.lr_scale=1000000", "--set", "training.warmup=1",
                       "--set", "training.checkpoint_updates=1", "--set", "training.updates=400",
                       "--set", "training.clip=0"), expect=1)
    assert "training diverged in update" in text and "is whole" in text
    steps, failed = checkpoint_steps(out), int(re.search(r"diverged in update (\d+)", text)[1])
    assert steps and checkpoint(out, steps[-1])["step"] == steps[-1]
    assert steps[-1] < failed - 1 or len(steps) == 1, "the model that failed is not what the run would go on from"
    assert log(out, "error")


def test_a_run_of_an_older_program(tmp_path):
    """A run of an older program (tests/data/old-run) resumes from its checkpoint and recipe as that program would."""
    shutil.copytree("tests/data/old-run", tmp_path / "run")
    run([TRAIN, "resume", str(tmp_path / "run"), "--quiet", "--no-scores", "--set", "training.updates=16"])
    losses = {x["update"]: x["loss"] for x in log(tmp_path / "run", "train")}
    assert losses[8] == 3.15117122  # from the old program's log
    assert losses[12] == pytest.approx(3.09244758, abs=1e-4) and losses[16] == pytest.approx(3.01574232, abs=1e-4)
