"""Several ranks over MPI on one machine: the same run as one process with as many threads, bit for bit."""
import fcntl
import os
import shutil
import signal
import subprocess
import time

import pytest

import train_runs as runs
from train_runs import data, whole  # noqa: F401  fixtures

MPIRUN = shutil.which("mpirun")
PLUGIN = os.path.join(runs.BUILD, "bin", "libdragoman-mpi.so")

needs_mpi = pytest.mark.skipif(not MPIRUN or not os.path.exists(PLUGIN),
                               reason="MPI is not installed (openmpi-bin, libopenmpi-dev)")

# Containers often run as root, with fewer cores than ranks. MPI's own leaks are ignored.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1",
           ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
ONE_THREAD = ["--set", "training.threads=1"]


def mpirun(n, args):
    return [MPIRUN, "-n", str(n), *args]


def losses(out):
    return [x["loss"] for x in runs.log(out, "train")]


@needs_mpi
def test_two_ranks_are_two_threads(data, whole, tmp_path):
    out = tmp_path / "run"
    text = runs.run(mpirun(2, runs.command(data, out, *ONE_THREAD)), env=ENV)
    runs.same_end(out, whole)
    assert "2 ranks of 1 threads over Open MPI" in text
    assert losses(out) == losses(whole), "each line written once, by the rank that leads"
    assert (out / "bundle" / "manifest.json").exists()


@needs_mpi
def test_guided_alignment_over_ranks(data, tmp_path):
    """Its loss is summed over the ranks like the other loss; each rank has its own links."""
    one, two = tmp_path / "one", tmp_path / "two"
    runs.run(runs.command(data, one, *runs.GUIDED))
    runs.run(mpirun(2, runs.command(data, two, *ONE_THREAD, *runs.GUIDED)), env=ENV)
    runs.same_end(two, one)
    a, b = ([x["alignment_loss"] for x in runs.log(out, "train")] for out in (one, two))
    assert a == b and len(a) == runs.UPDATES // 4


@needs_mpi
def test_three_ranks_follow_one(data, tmp_path):
    """Only the order of sums differs: within 1e-5 relative over the first 100 updates of the paper's warm-up. (The learning
    rate of the other tests is a hundred times larger, and with it rounding differences grow between any two orders.)"""
    more = [*ONE_THREAD, "--set", "training.updates=100", "--set", "training.log_updates=1",
            "--set", "training.checkpoint_updates=100",
            "--set", "training.warmup=4000"]
    runs.run(runs.command(data, tmp_path / "one", *more))
    runs.run(mpirun(3, runs.command(data, tmp_path / "three", *more)), env=ENV)
    one, three = losses(tmp_path / "one"), losses(tmp_path / "three")
    assert len(one) == len(three) == 100
    assert max(abs(a - b) / a for a, b in zip(one, three)) < 1e-5
    assert one != three, "nothing was shared"


@needs_mpi
def test_signal_saves_and_any_number_of_processes_goes_on(data, whole, tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen(mpirun(2, runs.command(data, out, *ONE_THREAD)), env=ENV,
                               stderr=subprocess.PIPE, text=True)
    runs.wait_for(out, 4, process)
    process.send_signal(signal.SIGUSR1)
    stderr = process.communicate(timeout=300)[1]
    assert process.returncode == 0, stderr
    if not (out / "bundle" / "manifest.json").exists():
        assert stderr.count("continue with: dragoman-train resume") == 1
        runs.run(runs.command(data, out, "--quiet", "--set", "training.threads=2", verb="resume"))
    runs.same_end(out, whole)


@needs_mpi
def test_signal_before_there_is_anything_to_save(data, tmp_path):
    """While the leading rank waits for another process to prepare the data, a signal ends all ranks with status 0."""
    folder, out = tmp_path / "shared", tmp_path / "run"
    folder.mkdir()
    with open(folder / ".prepare-lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen(mpirun(2, runs.command(data, out, *ONE_THREAD, "--prepared", str(folder))), env=ENV,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert any("another process prepares it" in line for line in process.stderr)
        process.send_signal(signal.SIGUSR1)
        stderr = process.communicate(timeout=300)[1]
    assert process.returncode == 0 and stderr.count("stopped while another process prepares") == 1, stderr
    assert not (out / "checkpoints").exists()


@needs_mpi
def test_a_validation_made_up_for_ends_all(data, tmp_path):
    """The leading rank does the missing validation before the first update, and tells the others that it ends the run."""
    out = tmp_path / "run"
    runs.killed_while_validating(data, out, *ONE_THREAD)
    text = runs.run(mpirun(2, runs.command(data, out, *ONE_THREAD, "--set", f"training.updates={runs.UPDATES}", "--set",
                                           "training.patience=2", verb="resume")), env=ENV)
    assert "stopping early" in text and runs.checkpoint_steps(out)[-1] == 12


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(p) for p in f.read().split()]


@needs_mpi
def test_lost_rank_ends_the_run_with_its_checkpoint_whole(data, whole, tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen(mpirun(2, runs.command(data, out, *ONE_THREAD)), env=ENV,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    runs.wait_for(out, 4, process)
    ranks = children(process.pid)
    if process.poll() is None and len(ranks) == 2:
        os.kill(ranks[1], signal.SIGKILL)
        assert process.wait(timeout=60) != 0
    process.wait(timeout=300)
    assert runs.checkpoint_steps(out)
    if not (out / "bundle" / "manifest.json").exists():
        runs.run(mpirun(2, runs.command(data, out, "--quiet", verb="resume")), env=ENV)
    runs.same_end(out, whole)


@needs_mpi
@pytest.mark.parametrize("precision", ["fp32", "auto"])
def test_ranks_that_differ_are_refused(data, tmp_path, precision):
    """With precision auto, too, where only one of them has bf16 and could measure its speed."""
    args = runs.command(data, tmp_path / "run", *ONE_THREAD, "--set", f"training.precision={precision}")
    done = subprocess.run(
        [MPIRUN, "-n", "1", "-x", "DRAGOMAN_ISA=generic", *args, ":", "-n", "1", *args],
        env=ENV, capture_output=True, text=True, timeout=300)
    if "cpu/generic" in runs.run(runs.command(data, tmp_path / "alone", "--set", "training.updates=1")):
        pytest.skip("this machine has nothing but generic")
    assert done.returncode != 0
    assert "rank 1 has an instruction set (DRAGOMAN_ISA sets one for all) or precision other than rank 0's" in done.stderr


@needs_mpi
def test_precision_is_the_same_for_all(data, tmp_path):
    args = runs.command(data, tmp_path / "run", *ONE_THREAD, "--set", "training.precision=auto")
    done = subprocess.run([MPIRUN, "-n", "1", *args, ":", "-n", "1", *args, "--precision", "fp32"], env=ENV, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode != 0
    assert "rank 1 has a precision (--precision or DRAGOMAN_PRECISION) other than rank 0's" in done.stderr


@needs_mpi
def test_an_error_of_one_ends_all(data, tmp_path):
    started = time.time()
    done = subprocess.run(
        mpirun(2, runs.command(data, tmp_path / "run", *ONE_THREAD, "--set", "model.heads=3")),
        env=ENV, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "heads" in done.stderr
    assert time.time() - started < 120


def test_without_the_plugin_it_says_so(data, tmp_path):
    """Without it, N ranks would be N separate runs in one folder."""
    alone = tmp_path / "bin"
    alone.mkdir()
    shutil.copy(runs.TRAIN, alone / "dragoman-train")
    args = runs.command(data, tmp_path / "run")
    args[0] = str(alone / "dragoman-train")
    done = subprocess.run(args, env=dict(os.environ, OMPI_COMM_WORLD_SIZE="2"), capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1
    assert "needs a build with MPI" in done.stderr
    assert not (tmp_path / "run" / "checkpoints").exists()
