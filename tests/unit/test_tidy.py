"""clang-tidy finds nothing in the C sources with the checks of .clang-tidy."""
import concurrent.futures
import json
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release"))
# The analyser gives up on a function after so many states: a tenth of the default limit's time, with the same findings here.
STATES = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang", "--extra-arg=max-nodes=40000"]
LEFT_OUT = ("tests/", "kernels/cuda/")


def program():
    found = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    assert found, "clang-tidy is missing: scripts/deps test installs it"
    if " version 14." not in subprocess.run([found, "--version"], capture_output=True, text=True).stdout:
        pytest.skip("another clang-tidy than Debian 12's finds other things")
    return found


def sources():
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as f:
        names = {os.path.relpath(entry["file"], ROOT) for entry in json.load(f)}
    return sorted(n for n in names if n.endswith(".c") and not n.startswith(("..", "build/") + LEFT_OUT))


def tidy(files):
    return subprocess.run([program(), "--quiet", "-p", BUILD, *STATES, *files], cwd=ROOT, capture_output=True, text=True)


def test_nothing_is_found():
    files = sources()
    assert len(files) > 400
    parts = [files[i::32] for i in range(32)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = [(part, run) for part, run in zip(parts, pool.map(tidy, parts)) if run.returncode]
    assert not found, "\n".join(run.stdout[-3000:] + run.stderr[-500:] for _, run in found[:5])


def test_a_bug_is_found(tmp_path):
    """The list of checks is read, and a finding fails."""
    source = tmp_path / "bug.c"
    source.write_text("int f(int x);\nint f(int x)\n{\n    return x > 3 && x > 3;\n}\n")
    config = os.path.join(ROOT, ".clang-tidy")
    run = subprocess.run([program(), "--quiet", "--config-file=" + config, str(source), "--"], capture_output=True, text=True)
    assert run.returncode != 0 and "misc-redundant-expression" in run.stdout, run.stdout
