"""Several ranks of dragoman-train, each on an emulated device: gradients go over an emulated NCCL or through the host, the
losses are those of one rank, a lost rank ends the run, and a setup that cannot work is refused with a clear message."""
import subprocess

import pytest

import ranks_cuda as emu
from ranks_cuda import mpi, runs

pytestmark = [emu.needs, emu.emulated]
UPDATES = 10


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return emu.prepare(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def one(data, tmp_path_factory):
    """A run of one rank on one device."""
    out = tmp_path_factory.mktemp("one") / "run"
    runs.run(emu.command(data, out, *emu.settings(UPDATES, UPDATES)), env=emu.environment())
    return out


@pytest.mark.parametrize("device", ["auto", "cuda", "cuda:1,cuda:0"])
def test_two_ranks_follow_one(data, one, tmp_path, device):
    """Only the order of sums differs: 1e-5 is a hundred times fp32's rounding."""
    out = tmp_path / "run"
    text = emu.trained(2, emu.command(data, out, "--device", device, *emu.settings(UPDATES, UPDATES)))
    assert "2 ranks of one device over NCCL 2.28.9" in text
    assert emu.farthest(one, out) < 1e-5
    assert (out / "bundle" / "manifest.json").exists()


def test_without_nccl_through_the_host_and_aloud(data, one, tmp_path):
    out = tmp_path / "run"
    text = emu.trained(2, emu.command(data, out, *emu.settings(UPDATES, UPDATES)), DRAGOMAN_NCCL="/nowhere/libnccl.so.2")
    assert "2 ranks of one device over Open MPI" in text
    assert "through the hosts' memory, which is slow: NCCL cannot be opened: /nowhere/libnccl.so.2" in text
    assert emu.farthest(one, out) < 1e-5


def test_one_rank_without_nccl_is_enough(data, tmp_path):
    args = emu.command(data, tmp_path / "run", *emu.settings(1, 1))
    done = subprocess.run([mpi.MPIRUN, "-n", "1", *args, ":", "-n", "1", "-x", "DRAGOMAN_NCCL=/nowhere", *args],
                          env=emu.environment(), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "through the hosts' memory, which is slow: rank 1 has no NCCL" in done.stdout + done.stderr


@pytest.mark.parametrize("env,said", [
    (dict(DRAGOMAN_NCCL="libm.so.6", DRAGOMAN_RANKS="nccl"),
     "DRAGOMAN_RANKS is nccl, but libm.so.6 is no NCCL of 2.14 or later: it has no ncclGetVersion"),
    (dict(DRAGOMAN_EMU_NCCL="old", DRAGOMAN_RANKS="nccl"), "is NCCL version 21005: 2.14 (21400) or later is needed"),
    (dict(DRAGOMAN_EMU_NCCL="refuse"), "NCCL 2.28.9 failed at meeting between ranks: unhandled system error"),
    (dict(DRAGOMAN_RANKS="fast"), 'DRAGOMAN_RANKS is "fast": expected auto, nccl, host or shared'),
    (dict(DRAGOMAN_RANKS_WAIT="soon"), 'DRAGOMAN_RANKS_WAIT is "soon": expected seconds'),
    (dict(DRAGOMAN_EMU_DEVICES="1"), "ranks 0 and 1 would share one CUDA device: start as many ranks on a host"),
])
def test_refused(data, tmp_path, env, said):
    out = tmp_path / "run"
    assert said in emu.refused(2, emu.command(data, out, *emu.settings(2, 2)), **env)
    assert not list((out / "checkpoints").glob("*.ckpt"))


def test_a_named_device_is_every_rank_s(data, tmp_path):
    said = emu.refused(2, emu.command(data, tmp_path / "run", "--device", "cuda:1", *emu.settings(2, 2)))
    assert "ranks 0 and 1 would share one CUDA device" in said


def test_sharing_a_device_on_purpose(data, one, tmp_path):
    out = tmp_path / "run"
    text = emu.trained(2, emu.command(data, out, *emu.settings(UPDATES, UPDATES)), DRAGOMAN_EMU_DEVICES="1",
                       DRAGOMAN_RANKS="shared")
    assert "through the hosts' memory" in text and "slow" not in text
    assert emu.farthest(one, out) < 1e-5


def test_each_rank_sees_its_own_device_as_number_0(data, tmp_path):
    """As with some launchers: the ranks' device numbers are equal, but their devices are not."""
    args = emu.command(data, tmp_path / "run", *emu.settings(1, 1))
    done = subprocess.run([mpi.MPIRUN, "-n", "1", *args, ":", "-n", "1", "-x", "DRAGOMAN_EMU_FIRST=1", *args],
                          env=emu.environment(DRAGOMAN_EMU_DEVICES="1"), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("env,more,said", [
    ([], ["--device", "cpu"], "a kind of device (--device cpu or cuda for all)"),
    ([], ["--precision", "bf16"], "a precision (--precision or DRAGOMAN_PRECISION)"),
    (["-x", "DRAGOMAN_RANKS=shared"], [], "a DRAGOMAN_RANKS"),
])
def test_ranks_that_differ_are_refused(data, tmp_path, env, more, said):
    args = emu.command(data, tmp_path / "run", *emu.settings(2, 2))
    done = subprocess.run([mpi.MPIRUN, "-n", "1", *args, ":", "-n", "1", *env, *args, *more],
                          env=emu.environment(), capture_output=True, text=True, timeout=600)
    assert done.returncode != 0
    assert f"rank 1 has {said} other than rank 0's" in done.stderr


def test_lost_rank_ends_the_run_with_its_checkpoint_whole(data, tmp_path):
    """In its 20th sum, which is in the third update or later, NCCL finds that the other rank is gone."""
    out = tmp_path / "run"
    more = emu.settings(40, 2)
    text = emu.refused(2, emu.command(data, out, *more), DRAGOMAN_EMU_NCCL="lost:20")
    assert "NCCL 2.28.9 failed at adding gradients between ranks: remote process exited" in text
    steps = runs.checkpoint_steps(out)
    assert steps and max(steps) < 40 and f"the checkpoint of update {max(steps)} in" in text
    end = max(steps) + 1
    runs.run([runs.TRAIN, "resume", str(out), "--device", "cuda", "--quiet", "--set", f"training.updates={end}"],
             env=emu.environment())
    assert end in runs.checkpoint_steps(out)
