"""Shared by the tests of several ranks on emulated devices: two devices, an emulated NCCL, short runs. With
DRAGOMAN_TEST_GPU=1 (scripts/test-gpu), the tests that inject no fault use the machine's own devices and NCCL."""
import json
import os
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "parity"))
import test_train_ranks as mpi  # noqa: E402
import train_runs as runs  # noqa: E402

REAL = os.environ.get("DRAGOMAN_TEST_GPU") == "1"
PLUGIN = os.path.abspath(os.path.join(runs.BUILD, *(("bin", "libdragoman-cuda.so") if REAL else
                                                    ("tests", "libdragoman-cuda-emu.so"))))
NCCL = os.path.abspath(os.path.join(runs.BUILD, "tests", "libnccl-emu.so"))
MPI = os.path.join(runs.BUILD, "bin", "libdragoman-mpi.so")
emulated = pytest.mark.skipif(REAL, reason="asks the emulation for a fault")
BUILT = [PLUGIN, MPI] + ([] if REAL else [NCCL])
needs = pytest.mark.skipif(not shutil.which("mpirun") or not all(map(os.path.exists, BUILT)),
                           reason="MPI is not installed, or the plugin is not built")
SETTINGS = ["--set", "training.log_updates=1", "--set", "training.average_last=1", "--set", "training.batch_tokens=60",
            "--set", "cleaning.max_tokens=60", "--set", "training.warmup=4000", "--set", "training.threads=1"]


def settings(updates, every):
    """Settings for a run of `updates` with a checkpoint every `every` updates."""
    return [*SETTINGS, "--set", f"training.updates={updates}", "--set", f"training.checkpoint_updates={every}"]


def environment(**more):
    env = {k: v for k, v in mpi.ENV.items() if not k.startswith("DRAGOMAN_") or k == "DRAGOMAN_BUILD"}
    env.update(DRAGOMAN_CUDA_PLUGIN=PLUGIN)
    if REAL:
        env.update(DRAGOMAN_RANKS="nccl")
    else:
        env.update(DRAGOMAN_EMU_DEVICES="2", DRAGOMAN_NCCL=NCCL)
    env.update(more)
    return env


def command(data, out, *more):
    return runs.command(data, out, "--prepared", str(data / "prepared"), "--device", "cuda", *more)


def prepare(data):
    """Write a corpus and its recipe, and prepare the data once for all runs: all have the same settings for the data."""
    runs.write_corpus(data)
    (data / "recipe.json").write_text(json.dumps(runs.RECIPE), encoding="utf-8")
    runs.run([runs.TRAIN, "prepare", str(data / "recipe.json"), "--data", str(data), "--out", str(data / "prepared"),
              "--quiet", *SETTINGS])
    return data


def ranks(n, args, **env):
    return subprocess.run(mpi.mpirun(n, args), env=environment(**env), capture_output=True, text=True, timeout=600)


def trained(n, args, **env):
    done = ranks(n, args, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def refused(n, args, **env):
    done = ranks(n, args, **env)
    assert done.returncode != 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def losses(out):
    return [x["loss"] for x in runs.log(out, "train")]


def farthest(a, b):
    a, b = losses(a), losses(b)
    assert len(a) == len(b) > 0
    return max(abs(x - y) / x for x, y in zip(a, b))
