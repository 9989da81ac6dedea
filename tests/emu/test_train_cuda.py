"""Runs of dragoman-train on the emulated CUDA backend: the CPU's losses in fp32, nearly the same in bf16, and resuming from a
checkpoint."""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "parity"))
import train_runs as runs  # noqa: E402

PLUGIN = os.path.abspath(os.path.join(runs.BUILD, "tests", "libdragoman-cuda-emu.so"))
pytestmark = pytest.mark.skipif(not os.path.exists(PLUGIN), reason="the emulated plugin is not built")
SETTINGS = ["--set", "training.updates=4", "--set", "training.log_updates=1", "--set", "training.checkpoint_updates=2",
            "--set", "training.average_last=1", "--set", "training.batch_tokens=60",
            "--set", "cleaning.max_tokens=60"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    runs.write_corpus(folder)
    with open(folder / "recipe.json", "w", encoding="utf-8") as f:
        json.dump(runs.RECIPE, f)
    return folder


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("DRAGOMAN_CUDA_PLUGIN", PLUGIN)


def losses(out):
    return {x["update"]: x["loss"] for x in runs.log(out, "train")}


@pytest.fixture(scope="module")
def cpu(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("cpu") / "run"
    runs.run(runs.command(data, out, "--threads", "1", "--device", "cpu", *SETTINGS))
    return losses(out)


@pytest.mark.parametrize("precision,tolerance", [("fp32", 2e-5), ("bf16", 0.02)])
def test_losses_are_the_cpus(data, cpu, tmp_path, precision, tolerance):
    """Over four updates. fp32: only the order of sums differs. bf16: activations of eight bits, parameters in fp32."""
    out = tmp_path / "run"
    runs.run(runs.command(data, out, "--device", "cuda", "--precision", precision, *SETTINGS))
    got = losses(out)
    assert sorted(got) == sorted(cpu) and len(got) == 4
    for update in cpu:
        assert got[update] == pytest.approx(cpu[update], rel=tolerance), update


def test_micro_batches_fit_the_device(data, tmp_path, monkeypatch):
    """The device's memory counts, not the host's: large passes with much memory, smaller ones with little, an error if none fits."""
    def run(memory):
        monkeypatch.setenv("DRAGOMAN_EMU_MEMORY", str(memory))
        out = tmp_path / str(memory)
        command = runs.command(data, out, "--device", "cuda", *SETTINGS, "--set", "training.updates=1")
        return out, runs.subprocess.run(command, text=True, capture_output=True, timeout=300)
    much, done = run(16 << 30)
    assert done.returncode == 0 and runs.checkpoint(much, 1)["micro_tokens"] == 50000, done.stderr
    little, done = run(110 << 20)
    assert done.returncode == 0 and 512 <= runs.checkpoint(little, 1)["micro_tokens"] <= 16384, done.stderr
    _, done = run(65 << 20)  # 64 MiB are the workspaces of both streams
    assert done.returncode == 1 and "the device has 0.0 GiB" in done.stderr, done.stderr


@pytest.mark.parametrize("gigabytes", [80, 141])
@pytest.mark.parametrize("preset", ["paper-base-ende", "paper-big-ende"])
def test_plan_of_a_device(data, tmp_path, monkeypatch, preset, gigabytes):
    """The paper's batch fits in one pass on devices with the memory of real ones; the vocabulary is the corpus's small one."""
    monkeypatch.setenv("DRAGOMAN_EMU_MEMORY", str(gigabytes * 10 ** 9))
    with open(data / f"{preset}.json", "w", encoding="utf-8") as f:
        json.dump({k: runs.RECIPE[k] for k in ("data", "cleaning", "vocabulary")} | {"name": preset, "preset": preset}, f)
    text = runs.run([runs.TRAIN, "plan", str(data / f"{preset}.json"), "--data", str(data), "--out", str(tmp_path / "plan"), "--device", "cuda",
                     "--precision", "bf16", "--quiet"])
    assert "passes of 50000 source + target tokens" in text and "the device has" in text, text


def test_another_device_takes_its_own_passes(data, tmp_path):
    """A run that resumes on another device does not keep the pass size that the first device's memory allowed."""
    out = tmp_path / "run"
    runs.run(runs.command(data, out, "--device", "cuda", *SETTINGS, "--set", "training.updates=2"))
    runs.run([runs.TRAIN, "resume", str(out), "--set", "training.updates=4", "--device", "cpu", "--quiet"])
    assert [runs.checkpoint(out, n)["micro_tokens"] for n in (2, 4)] == [50000, 4096]


def test_goes_on_from_a_checkpoint(data, tmp_path):
    """A run resumes bit for bit on the same device: sums always have the same order there, too."""
    whole, half = tmp_path / "whole", tmp_path / "half"
    runs.run(runs.command(data, whole, "--device", "cuda", *SETTINGS))
    runs.run(runs.command(data, half, "--device", "cuda", *SETTINGS, "--set", "training.updates=2"))
    runs.run([runs.TRAIN, "resume", str(half), "--set", "training.updates=4", "--device", "cuda", "--quiet"])
    assert runs.checkpoint(half, 4)["xxh3"] == runs.checkpoint(whole, 4)["xxh3"]


@pytest.fixture(scope="module")
def guided(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("guided") / "run"
    runs.run(runs.command(data, out, "--threads", "1", "--device", "cpu", *SETTINGS, *runs.GUIDED))
    return runs.log(out, "train")


@pytest.mark.parametrize("precision,tolerance", [("fp32", 2e-5), ("bf16", 0.02)])
def test_guided_alignment(data, cpu, guided, tmp_path, precision, tolerance):
    """Both losses are the CPU's, and the guide has an effect: without it, the same updates give another loss."""
    out = tmp_path / "run"
    runs.run(runs.command(data, out, "--device", "cuda", "--precision", precision, *SETTINGS, *runs.GUIDED))
    got = runs.log(out, "train")
    assert len(got) == len(guided) == 4
    for mine, theirs in zip(got, guided):
        assert mine["alignment_loss"] == pytest.approx(theirs["alignment_loss"], rel=tolerance), mine["update"]
        assert mine["loss"] == pytest.approx(theirs["loss"], rel=tolerance), mine["update"]
    assert got[-1]["loss"] != pytest.approx(cpu[4], rel=1e-6)


@pytest.mark.parametrize("precision,tolerance", [("bf16", 0.02), ("fp16", 0.005)])
def test_attention_on_tensor_cores(data, tmp_path, monkeypatch, precision, tolerance):
    """Heads of 32 use tensor cores. The kernels on CUDA cores give nearly the same losses, and a second run gives the same bits."""
    def train(out, kernels):
        monkeypatch.setenv("DRAGOMAN_DEBUG", "cuda-plain-attention" * (kernels == "plain"))
        runs.run(runs.command(data, tmp_path / out, "--device", "cuda", "--precision", precision, *SETTINGS, *runs.GUIDED,
                              "--set", "model.d_model=64"))
        return runs.log(tmp_path / out, "train"), runs.checkpoint(tmp_path / out, 4)["xxh3"]

    (mma, bits), (_, again), (plain, other) = train("mma", "mma"), train("again", "mma"), train("plain", "plain")
    assert bits == again != other
    assert len(mma) == len(plain) == 4
    for mine, theirs in zip(mma, plain):
        assert mine["loss"] == pytest.approx(theirs["loss"], rel=tolerance), mine["update"]
        assert mine["alignment_loss"] == pytest.approx(theirs["alignment_loss"], rel=tolerance), mine["update"]


def test_train_bench():
    """train-bench, which times updates for bench/gpu, does the same on the device as on the CPU: its loss after some updates is equal."""
    sizes = ["--model", "small", "--vocab", "300", "--pairs", "3", "--source", "7", "--length", "5", "--updates", "2"]

    def bench(*device):
        return json.loads(runs.run([os.path.join(runs.BUILD, "bin", "train-bench"), *sizes, *device]))

    here, there = bench("--device", "cpu"), bench("--device", "cuda")
    assert here["backend"].startswith("cpu/") and there["backend"].startswith("cuda:0/")
    assert there["loss"] == pytest.approx(here["loss"], rel=2e-5)
    assert there["tflop_per_update"] == here["tflop_per_update"] > 0 and there["tokens_per_s"] > 0
