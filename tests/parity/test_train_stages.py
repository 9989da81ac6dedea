"""A curriculum in a recipe (training.stages): which pairs each stage takes, and runs that resume bit for bit within stages and
across their ends. On real sentences."""
import json
import os
import shutil

import pytest

from real_pairs import HALF, batches, lines, prepare, recipe, write_pairs
from train_runs import TRAIN, checkpoint, log, run

STAGES = [{"until_update": 6, "domain_weights": {"late": 0}},
          {"until_update": 14, "domain_weights": {"early": 0.25, "late": 3}},
          {"domain_weights": {"early": 0}}]
UPDATES = 24


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """(folder, recipe) of a run in three stages, with prepared data."""
    folder = tmp_path_factory.mktemp("staged")
    write_pairs(folder)
    path = recipe(folder, training={"stages": STAGES})
    prepare(path, folder / "data")
    return folder, path


def train(staged, out, updates, expect=0):
    folder, path = staged
    common = ["--set", f"training.updates={updates}", "--no-scores", "--quiet"]
    if out.exists():
        return run([TRAIN, "resume", str(out), *common], expect=expect)
    return run([TRAIN, "run", str(path), "--data", str(folder), "--out", str(out), "--prepared", str(folder / "data"), *common],
               expect=expect)


@pytest.fixture(scope="module")
def whole(staged, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "run"
    train(staged, out, UPDATES)
    return out


def test_each_stage_takes_its_domains(staged):
    folder, path = staged
    early = set(lines("en")[:HALF])
    got = [[source in early for source, _ in batch] for batch in batches(path, folder / "data", UPDATES)]
    first, second, third = got[:6], got[6:14], got[14:]
    assert all(all(b) for b in first), "the late domain weighs nothing"
    assert not any(any(b) for b in third), "nor does the early one"
    n, share = sum(map(len, second)), sum(map(sum, second))
    assert 0.02 < share / n < 0.2, "1 in 13 is early, by the weights 0.25 and 3"


def test_domains_that_are_no_text(staged, tmp_path):
    """A domain in prepared.json that is not a string is refused; stages once crashed on it."""
    folder, path = staged
    shutil.copytree(folder / "data", tmp_path / "data")
    manifest = json.loads((tmp_path / "data" / "prepared.json").read_text())
    (tmp_path / "data" / "prepared.json").write_text(json.dumps({**manifest, "domains": ["early", 7]}))
    assert "domains[1] must be a string" in run([TRAIN, "batches", str(path), "--prepared", str(tmp_path / "data"), "--lines", "1"], expect=1)


def test_a_stage_is_a_run_with_its_weights(staged, tmp_path):
    """A stage yields the same pairs as a recipe with the stage's weights in data.domain_weights."""
    folder, _ = staged
    for name in ("early", "late"):
        for side in ("en", "de"):
            shutil.copy(folder / f"{name}.{side}", tmp_path)
    weights = {"early": 0.5, "late": 2}
    files = json.loads(staged[1].read_text())["data"]["pairs"]
    plain = recipe(tmp_path, data={"pairs": files, "domain_weights": weights})
    stage = recipe(tmp_path, training={"stages": [{"domain_weights": weights}]})
    prepare(plain, tmp_path / "plain")
    prepare(stage, tmp_path / "stage")
    assert batches(plain, tmp_path / "plain", 20) == batches(stage, tmp_path / "stage", 20)


def test_goes_on_within_a_stage_and_across_its_end(staged, whole, tmp_path):
    """Stopped within the first stage, at its last update, one update later, within the second, at its end, and in the last."""
    out = tmp_path / "run"
    for updates in (4, 6, 7, 10, 14, 15, UPDATES):
        train(staged, out, updates)
        assert checkpoint(out, updates)["step"] == updates
    a, b = checkpoint(out), checkpoint(whole)
    assert a["xxh3"] == b["xxh3"]
    place = ("stage", "epoch", "cursor", "batch", "epoch_tokens")
    assert [a[k] for k in place] == [b[k] for k in place] and a["stage"] == 2
    told = [(x["stage"], x["update"]) for x in log(out, "stage")]
    assert told == [(1, 7), (2, 15)] == [(x["stage"], x["update"]) for x in log(whole, "stage")]


def test_other_stages_are_another_run(staged, whole, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(whole, out)
    said = run([TRAIN, "resume", str(out), "--quiet", "--set", "training.updates=30", "--set",
                'training.stages=[{"until_update":6,"domain_weights":{"late":0.5}}]'], expect=2)
    assert "training.stages:" in said and "not the one this run started with" in said


def test_after_the_last_stage_pairs_have_their_own_weights(staged, tmp_path):
    folder, path = staged
    stages = [{"until_update": 3, "domain_weights": {"late": 0}}]
    ending = recipe(folder, training={"stages": stages})
    early = set(lines("en")[:HALF])
    got = [source in early for batch in batches(ending, folder / "data", 12)[3:] for source, _ in batch]
    assert 0.35 < sum(got) / len(got) < 0.65


@pytest.mark.parametrize("stages, what", [
    ([{"until_update": 9}, {"until_update": 9}],
     "training.stages[1].until_update is 9, must be more than the stage before it has (9)"),
    ([{"until_update": 9}, {"until_update": 4}, {}],
     "training.stages[1].until_update is 4, must be more than the stage before it has (9)"),
    ([{"domain_weights": {}}, {"until_update": 4}], "training.stages[0].until_update is missing"),
    ([{"until_update": 9, "domain_weights": {"lat": 2}}], 'training.stages[0].domain_weights names the domain "lat", which no'),
    ([{"until": 9}], "training.stages[0].until"),
    ([{"until_update": 0}], "training.stages[0].until_update"),
    ([{"domain_weights": {"late": -1}}], "training.stages[0].domain_weights.late"),
    ([{"domain_weights": {"early": 0, "late": 0}}], "training.stages[0].domain_weights leaves no training pair any weight"),
    ({}, "training.stages must be an array"),
])
def test_wrong_stages_are_refused_by_name(staged, tmp_path, stages, what):
    folder, path = staged
    said = run([TRAIN, "run", str(path), "--data", str(folder), "--prepared", str(folder / "data"), "--out", str(tmp_path / "run"),
                "--quiet", "--set", f"training.stages={json.dumps(stages)}"], expect=2)
    assert what in said


@pytest.mark.parametrize("weights, stages, what", [
    ({"late": 0}, [{"until_update": 4}, {"domain_weights": {"late": 2}}],
     'training.stages[1].domain_weights multiplies the weight of "late", which data.domain_weights sets to 0'),
    ({"lat": 2}, [], 'data.domain_weights names the domain "lat", which no training file of data.pairs has'),
])
def test_wrong_weights_are_refused_before_data_are_prepared(staged, tmp_path, weights, stages, what):
    folder, path = staged
    said = run([TRAIN, "run", str(path), "--data", str(folder), "--prepared", str(tmp_path / "data"), "--out", str(tmp_path / "run"),
                "--quiet", "--set", f"data.domain_weights={json.dumps(weights)}", "--set", f"training.stages={json.dumps(stages)}"],
               expect=2)
    assert what in said
    assert not (tmp_path / "data").exists()


def test_a_domain_of_a_file_of_labels_is_looked_up_there(staged, tmp_path):
    """A file's labels are known only once it is prepared."""
    folder, _ = staged
    for name in ("early", "late"):
        for side in ("en", "de"):
            shutil.copy(folder / f"{name}.{side}", tmp_path)
    (tmp_path / "labels").write_text("odd\neven\n" * (HALF // 2))
    train_files = [{"source": "early.en", "target": "early.de", "domains": "labels"}]
    pairs = [{"source_lang": "en", "target_lang": "de", "train": train_files}]
    good = recipe(tmp_path, data={"pairs": pairs}, training={"stages": [{"domain_weights": {"odd": 0}}]})
    bad = recipe(tmp_path, data={"pairs": pairs}, training={"stages": [{"domain_weights": {"od": 0}}]})
    prepare(good, tmp_path / "data")
    sources = {s for b in batches(good, tmp_path / "data", 6) for s, _ in b}
    assert sources and sources <= set(lines("en")[1:HALF:2])
    said = run([TRAIN, "run", str(bad), "--data", str(tmp_path), "--prepared", str(tmp_path / "data"), "--out",
                str(tmp_path / "run"), "--quiet"], expect=2)
    assert 'names the domain "od", which no training pair has' in said
    assert not os.path.exists(tmp_path / "run" / "bundle")
