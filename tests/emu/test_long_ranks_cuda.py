"""Longer runs of several ranks on emulated devices: a hundred updates compared with one rank's, 16 bits, a rank that is killed,
and ranks that stop responding."""
import os
import signal
import subprocess

import pytest

import ranks_cuda as emu
from ranks_cuda import mpi, runs

pytestmark = emu.needs


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return emu.prepare(tmp_path_factory.mktemp("corpus"))


def test_a_hundred_updates(data, tmp_path):
    """In fp32, two ranks stay within 1e-5 of one rank over the first hundred updates."""
    one, two = tmp_path / "one", tmp_path / "two"
    more = emu.settings(100, 100)
    runs.run(emu.command(data, one, *more), env=emu.environment())
    emu.trained(2, emu.command(data, two, *more))
    assert len(emu.losses(one)) == 100 and emu.farthest(one, two) < 1e-5
    assert emu.losses(one) != emu.losses(two), "nothing was shared"


def test_goes_on_from_a_checkpoint(data, tmp_path):
    """Two ranks resume bit for bit: the emulated NCCL always adds in the same order."""
    whole, half = tmp_path / "whole", tmp_path / "half"
    emu.trained(2, emu.command(data, whole, *emu.settings(8, 4)))
    emu.trained(2, emu.command(data, half, *emu.settings(4, 4)))
    emu.trained(2, [runs.TRAIN, "resume", str(half), "--device", "cuda", "--quiet", "--set", "training.updates=8"])
    assert runs.checkpoint(half, 8)["xxh3"] == runs.checkpoint(whole, 8)["xxh3"]


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_16_bits(data, tmp_path, precision):
    """Gradients are fp32 on the device, so ranks add as little error as in fp32. But with activations of 8 or 11 bits, the sign of
    a gradient that is mere noise is undetermined, and so is the direction in which its weight moves."""
    one, two = tmp_path / "one", tmp_path / "two"
    more = ["--precision", precision, *emu.settings(6, 6)]
    runs.run(emu.command(data, one, *more), env=emu.environment())
    emu.trained(2, emu.command(data, two, *more))
    assert emu.farthest(one, two) < 1e-3


def test_guided_alignment_over_ranks(data, tmp_path):
    """Its loss is summed over the ranks like the other loss; each rank has its own links."""
    one, two = tmp_path / "one", tmp_path / "two"
    more = ["--prepared", str(tmp_path / "prepared"), *emu.settings(6, 6), *runs.GUIDED]
    runs.run(emu.command(data, one, *more), env=emu.environment())
    emu.trained(2, emu.command(data, two, *more))
    a, b = ([x["alignment_loss"] for x in runs.log(out, "train")] for out in (one, two))
    assert len(a) == 6 and b == pytest.approx(a, rel=1e-5)
    assert emu.farthest(one, two) < 1e-5


def test_killed_rank_ends_the_run(data, tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen(mpi.mpirun(2, emu.command(data, out, *emu.settings(1000, 1))), env=emu.environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    runs.wait_for(out, 2, process)
    assert process.poll() is None
    os.kill(mpi.children(process.pid)[1], signal.SIGKILL)
    assert process.wait(timeout=300) != 0
    end = max(runs.checkpoint_steps(out)) + 1
    runs.run([runs.TRAIN, "resume", str(out), "--device", "cuda", "--quiet", "--set", f"training.updates={end}"],
             env=emu.environment())
    assert end in runs.checkpoint_steps(out)


@emu.emulated
def test_silent_ranks_end_the_run(data, tmp_path):
    """NCCL reports no error, and aborting it hangs as well: the wait times out."""
    out = tmp_path / "run"
    text = emu.refused(2, emu.command(data, out, *emu.settings(40, 2)), DRAGOMAN_EMU_NCCL="silent:20",
                       DRAGOMAN_RANKS_WAIT="15")
    assert "no news from the other ranks for 15 seconds at adding gradients" in text
    steps = runs.checkpoint_steps(out)
    assert steps and max(steps) < 40 and f"the checkpoint of update {max(steps)} in" in text
