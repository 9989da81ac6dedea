"""Training where the address space is limited (`ulimit -v`): it works, or says what is missing; it does not hang."""
import json
import os
import re
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api"), os.path.join(HERE, "..", "parity")]

import train_runs  # noqa: E402
from conftest import ROOT, sanitized  # noqa: E402

TRAIN = os.path.join(ROOT, train_runs.TRAIN)
MB = 1 << 20
pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer takes terabytes of it")


def limited(mb, *command, **env):
    """Returns (exit status, output) of the command under a limit; status -9: it hung."""
    process = subprocess.Popen(["prlimit", "--as=%d" % (mb * MB), *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=dict(os.environ, **env))
    try:
        said = process.communicate(timeout=120)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        said = process.communicate()[0]
    return process.returncode, said


def test_before_main():
    """OpenBLAS allocates its buffers when it is loaded, before main."""
    status, said = limited(100, TRAIN, "--help")
    assert status == 1 and "ulimit -v" in said and "OPENBLAS_NUM_THREADS=1" in said, said
    assert limited(4000, TRAIN, "--help", OPENBLAS_NUM_THREADS="1")[0] == 0


def test_training(tmp_path):
    train_runs.write_corpus(tmp_path)
    (tmp_path / "recipe.json").write_text(json.dumps(train_runs.RECIPE))
    states = []
    for mb in (150, 250, 330, 410, 490, 4000):
        out = tmp_path / str(mb)
        status, said = limited(mb, TRAIN, "run", str(tmp_path / "recipe.json"), "--data", str(tmp_path), "--out", str(out), "--quiet",
                               OPENBLAS_NUM_THREADS="1")
        assert status in (0, 1), (mb, status, said)
        assert status == 0 or re.search("ulimit -v|memory|Resource temporarily unavailable", said), (mb, said)
        assert (out / "bundle" / "manifest.json").exists() == (status == 0)
        states.append(status)
    assert states[-1] == 0 and 1 in states, states
