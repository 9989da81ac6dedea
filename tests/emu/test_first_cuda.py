"""scripts/gpu-first on the emulated device: every check of a first run on a GPU, except for speed."""
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
    assert [r["state"] for name, r in results.items() if "kernels" not in name] == ["ok"] * 6
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
    """With a plugin that cannot be opened, each check fails and shows the end of its log, and the summary names them all."""
    os.makedirs(tmp_path / "build" / "tests")
    os.symlink(os.path.join(BUILD, "bin"), tmp_path / "build" / "bin")
    (tmp_path / "build" / "tests" / "libdragoman-cuda-emu.so").write_text("no library")
    done = first("--rehearse", "--build", str(tmp_path / "build"), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    results = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [r["state"] for r in results if "kernels" not in r["check"]] == ["FAILED"] * 6
    assert "libdragoman-cuda-emu.so" in done.stdout


# In the format of `ncu --csv`.
HEADER = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name",'
          '"Metric Name","Metric Unit","Metric Value"')
LAUNCHES = [("void norm_rows<__nv_bfloat16, (bool)1>(dg_k_norm)", "2,000", "4,000,000"), ("begin_step(dg_k_device_search)", "1,500", "3,000"),
            ("void norm_rows<__nv_bfloat16, (bool)1>(dg_k_norm)", "4,000", "2,000,000")]
NCU = "\n".join(["==PROF== Connected to process 7 (/step-bench)", '==PROF== Profiling "norm_rows": 0%....100% - 1 pass', '{"backend": "cuda"}',
                 "==PROF== Disconnected from process 7", HEADER]
                + [f'"{i}","7","step-bench","127.0.0.1","{name}","1","7","(128, 1, 1)","(64, 1, 1)","0","9.0","Command line profiler metrics",'
                   f'"{metric}","{unit}","{value}"'
                   for i, (name, ns, moved) in enumerate(LAUNCHES)
                   for metric, unit, value in (("dram__bytes.sum", "byte", moved), ("gpu__time_duration.sum", "nsecond", ns))]) + "\n"


def stand_in(path, said):
    path.write_text(f"#!/bin/sh\necho \"$(basename $0) $*\" >>{path.parent}/calls\ncat <<'END'\n{said}END\n")
    path.chmod(0o755)


def test_kernel_tables(tmp_path):
    """The profiler's part, with a stub that prints what the profiler would."""
    stand_in(tmp_path / "ncu", NCU)
    done = first("--rehearse", "--only", "kernels", "--build", BUILD, "--out", str(tmp_path / "out"),
                 PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stdout + done.stderr
    results = {r["check"]: r for r in json.loads((tmp_path / "out" / "summary.json").read_text())}
    assert results["kernels"]["said"].startswith("the longest of 4 rows: norm_rows 3 us, 256 rows")
    rows = [line.split("\t") for line in (tmp_path / "out" / "kernels-1024.tsv").read_text().splitlines()]
    assert rows == [["kernel", "launches", "us", "GB/s"], ["norm_rows", "2", "3.00", "1000"], ["begin_step", "1", "1.50", "2"]]
    calls = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("ncu")]
    assert len(calls) == 3 and all("--profile-from-start off" in line and "--precision bf16" in line and "--profile " in line for line in calls)


def test_it_says_what_it_needs_and_takes():
    assert "build/gpu/bin/libdragoman-cuda.so" in first("--files").stdout.splitlines()
    for part in "first", "second":
        limits = [int(line.split()[0]) for line in first("--part", part, "--list").stdout.splitlines()]
        assert len(limits) > 5 and sum(limits) <= 540
