"""scripts/gpu-first, rehearsed on the emulated device: every check that a first run on a GPU makes, but for its speed."""
import json
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIRST = os.path.join(ROOT, "scripts", "gpu-first")
BUILD = os.path.abspath(os.environ.get("DRAGOMAN_BUILD", "build/release"))
pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "tests", "libdragoman-cuda-emu.so")),
                                reason="the emulated plugin is not built")


def first(*options, **env):
    return subprocess.run([sys.executable, FIRST, *options], text=True, capture_output=True, timeout=900, cwd=ROOT, env=dict(os.environ, **env))


def test_all_of_it(tmp_path):
    done = first("--rehearse", "--build", BUILD, "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    results = {r["check"]: r for r in json.loads((tmp_path / "summary.json").read_text())}
    assert [r["state"] for name, r in results.items() if name != "kernels"] == ["ok"] * 6
    assert results["bundled model"]["said"].startswith("answers as on the CPU: fp32 4/4, fp32 without graphs 4/4, fp32 searched by the host 4/4")
    assert results["server and load"]["said"].startswith("6 answers as alone")
    assert all((tmp_path / name).stat().st_size for name in ("bundled-model.log", "step-of-1-in-bf16.log", "server-and-load.log"))


def test_the_second_part(tmp_path):
    done = first("--part", "second", "--rehearse", "--build", BUILD, "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    results = {r["check"]: r for r in json.loads((tmp_path / "summary.json").read_text())}
    for name in "base in bf16", "big in bf16", "base in fp32":
        assert results[f"update of {name}"]["state"] == "ok" and "update_ms" in results[f"update of {name}"]["said"]
    assert all(r["state"] in ("ok", "left out") for r in results.values()) and len(results) == 10


def test_a_broken_device_is_told_and_the_next_check_runs(tmp_path):
    """A plugin that cannot be opened: each check fails with its log's end, and the summary names them all."""
    os.makedirs(tmp_path / "build" / "tests")
    os.symlink(os.path.join(BUILD, "bin"), tmp_path / "build" / "bin")
    (tmp_path / "build" / "tests" / "libdragoman-cuda-emu.so").write_text("no library")
    done = first("--rehearse", "--build", str(tmp_path / "build"), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    results = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [r["state"] for r in results if r["check"] != "kernels"] == ["FAILED"] * 6
    assert "libdragoman-cuda-emu.so" in done.stdout


def test_it_says_what_it_needs_and_takes():
    assert "build/gpu/bin/libdragoman-cuda.so" in first("--files").stdout.splitlines()
    for part in "first", "second":
        limits = [int(line.split()[0]) for line in first("--part", part, "--list").stdout.splitlines()]
        assert len(limits) > 5 and sum(limits) <= 540
