"""Models that are pre-norm, that have a recurrent unit in the decoder, and both: trained, stopped and resumed, sealed, scored, used to
translate, and served."""
import json
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))

from conftest import Server  # noqa: E402
from train_runs import DRAGOMAN, TRAIN, UPDATES, checkpoint, command, log, run, same_end  # noqa: E402
from train_runs import data  # noqa: E402,F401  a fixture

SWITCHES = {"pre-norm": {"pre_norm": True}, "ssru": {"decoder": "ssru"}, "both": {"pre_norm": True, "decoder": "ssru"}}


def settings(name):
    return [x for key, value in SWITCHES[name].items() for x in ("--set", f"model.{key}={json.dumps(value)}")]


@pytest.fixture(scope="module", params=SWITCHES)
def trained(request, data, tmp_path_factory):
    """(name, the run's folder)"""
    out = tmp_path_factory.mktemp(request.param) / "run"
    run(command(data, out, *settings(request.param), "--set", "model.decoder_layers=2"))
    return request.param, out


def test_the_loss_falls_and_the_manifest_says_what_it_is(trained):
    name, out = trained
    losses = [x["loss"] for x in log(out, "train")]
    assert losses[-1] < losses[0] - 0.2
    model = json.loads((out / "bundle" / "manifest.json").read_text())["model"]
    assert {key: model[key] for key in SWITCHES[name]} == SWITCHES[name]


def test_a_stopped_run_goes_on_bit_for_bit(trained, data, tmp_path):
    name, whole = trained
    out = tmp_path / "run"
    run(command(data, out, *settings(name), "--set", "model.decoder_layers=2", "--set", "training.updates=8"))
    run(command(data, out, "--set", f"training.updates={UPDATES}", "--quiet", verb="resume"))
    same_end(out, whole)
    assert checkpoint(out)["step"] == UPDATES


def test_cached_steps_give_the_loss_of_teacher_forcing(trained, data):
    """`score` goes position by position with a cache or a state; `evaluate` computes whole answers at once, as training does."""
    _, out = trained
    files = [str(data / "dev.en"), str(data / "dev.xx")]
    scored = run([DRAGOMAN, "score", "--model", str(out / "bundle"), "--json", "--source", files[0], "--target", files[1]])
    tokens = [t["logprob"] for line in scored.splitlines() for t in json.loads(line)["tokens"]]
    told = json.loads(run([TRAIN, "evaluate", str(out / "bundle"), *files, "--beam-size", "1", "--json"]))
    assert -sum(tokens) / len(tokens) == pytest.approx(told["nll"], abs=1e-5)


def test_a_server_answers_with_what_the_command_line_says(trained, tmp_path):
    name, out = trained
    shutil.copytree(out / "bundle", tmp_path / "models" / name)
    text = "alpha beta gamma"
    done = subprocess.run([DRAGOMAN, "translate", "--model", str(out / "bundle"), "--beam-size", "3"], input=text + "\n", capture_output=True,
                          text=True, check=True)
    with Server(str(tmp_path / "models")) as server:
        answer = server.post("/v1/translate", {"text": text, "source": "en", "target": "xx", "beam_size": 3})
        assert answer.status_code == 200, answer.text
        assert answer.json()["translations"][0]["text"] == done.stdout.rstrip("\n")


def test_another_name_is_refused(data, tmp_path):
    text = run(command(data, tmp_path / "run", "--set", "model.decoder=gru"), expect=2)
    assert "model.decoder" in text and "attention" in text and "ssru" in text
