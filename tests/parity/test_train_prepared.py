"""Folders of prepared data that several runs of `dragoman-train` share."""
import fcntl
import json
import os
import subprocess

from train_runs import TRAIN, UPDATES, command, run, same_end, wait_for
from train_runs import data, whole  # noqa: F401  fixtures


def is_locked(path):
    with open(path, "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_prepared_data_stays_while_a_run_uses_it(data, tmp_path):
    """Other runs may use the data at the same time. It is prepared again only when no run uses it, and then no checkpoint of the old
    data fits it."""
    shared, first, second = tmp_path / "shared", tmp_path / "first", tmp_path / "second"
    prepare = [TRAIN, "prepare", str(data / "recipe.json"), "--data", str(data), "--out", str(shared), "--quiet"]
    other = ["--set", "cleaning.max_tokens=9"]
    run(prepare)
    manifest = (shared / "prepared.json").read_text()
    process = subprocess.Popen(command(data, first, "--prepared", str(shared), "--set", "training.updates=30000"),
                               stderr=subprocess.DEVNULL)
    try:
        wait_for(first, 4, process)
        assert is_locked(shared / ".use-lock")
        assert "another run uses the prepared data" in run([*prepare, *other], expect=1)
        assert "another run uses the prepared data" in run(command(data, second, "--prepared", str(shared), *other), expect=1)
        run(command(data, second, "--prepared", str(shared), "--set", "training.updates=4"))
        run(prepare)
        assert (shared / "prepared.json").read_text() == manifest
    finally:
        process.terminate()
        process.wait()
    assert not is_locked(shared / ".use-lock")
    run([*prepare, *other])
    average = [TRAIN, "average", str(second), "--last", "1", "--no-scores", "--quiet", "--out", str(tmp_path / "bundle")]
    assert "this run started with" in run(average, expect=2)
    assert not (tmp_path / "bundle").exists()


def test_a_run_and_its_shared_data_are_moved(data, whole, tmp_path):  # noqa: F811
    """Run and data may be moved together: the run finds the data by its relative path. If it finds none, it names the folder expected."""
    before, after = tmp_path / "before", tmp_path / "else" / "after"
    before.mkdir()
    after.parent.mkdir()
    shared, run_there = before / "shared", before / "runs" / "one"
    run([TRAIN, "prepare", str(data / "recipe.json"), "--data", str(data), "--out", str(shared), "--quiet"])
    run(command(data, run_there, "--prepared", str(shared), "--set", "training.updates=8"))
    before.rename(after)
    moved = after / "runs" / "one"
    run(command(data, moved, "--quiet", "--set", f"training.updates={UPDATES}", verb="resume"))
    same_end(moved, whole)
    (after / "shared").rename(after / "gone")
    assert str(after) in run(command(data, moved, "--quiet", "--set", "training.updates=40", verb="resume"), expect=1)


def test_one_process_prepares_a_shared_folder(data, whole, tmp_path):
    """The other processes wait, then find it prepared. A waiting one can be stopped."""
    folder = tmp_path / "shared"
    folder.mkdir()
    prepare = [TRAIN, "prepare", str(data / "recipe.json"), "--data", str(data), "--out", str(folder), "--quiet"]

    def begin():
        process = subprocess.Popen(prepare, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert "another process prepares it" in process.stderr.readline()
        return process
    with open(folder / ".prepare-lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stopped, waiting = begin(), begin()
        stopped.terminate()
        assert "stopped while another process prepares" in stopped.communicate(timeout=300)[1] and stopped.returncode
        assert sorted(os.listdir(folder)) == [".prepare-lock"]
    assert waiting.wait(timeout=300) == 0
    waiting.stderr.close()
    hashes = [json.loads((f / "prepared.json").read_text())["hash"] for f in (folder, whole / "data")]
    assert hashes[0] == hashes[1]
    before = os.stat(folder / "prepared.json").st_mtime_ns
    run(prepare)
    assert os.stat(folder / "prepared.json").st_mtime_ns == before, "what is made is left as it is"


def test_names_are_replaced_by_others(data, tmp_path):
    """Three further forms of each pair with a name of the list. Another list is other data; a faulty one is refused before any text is read."""
    recipe = json.loads((data / "recipe.json").read_text())
    recipe["data"]["names"] = [{"file": "names.tsv", "forms": 3}]
    own, made = data / "with-names.json", tmp_path / "made"
    own.write_text(json.dumps(recipe))
    prepare = [TRAIN, "prepare", str(own), "--data", str(data), "--out", str(made), "--quiet"]
    names = data / "names.tsv"

    def prepared():
        run(prepare)
        return json.loads((made / "prepared.json").read_text())
    assert "names.tsv" in run(prepare, expect=1)
    names.write_text("kind\ten\nletter\talpha\n")
    assert "names.tsv has no column for xx" in run(prepare, expect=2)
    names.write_text("kind\ten\txx\nletter\tbeta\tbetao\nletter\tgamma\tgammao\nletter\tmu\tmuo\n")
    first = prepared()
    source = (data / "train.en").read_text().splitlines()
    with_name = sum(any(line.split().count(name) == 1 for name in ("beta", "gamma", "mu")) for line in source)
    kept = first["counts"]["total"]["kept"]
    assert first["sets"][0]["shards"][0]["sentences"] == kept + 3 * with_name
    names.write_text("kind\ten\txx\nletter\tbeta\tbetao\nletter\tgamma\tgammao\n")
    assert prepared()["hash"] != first["hash"]
    assert "data.names[0].forms" in run([*prepare, "--set", 'data.names=[{"file": "names.tsv", "forms": 101}]'], expect=2)
