"""A file has one job: no C source is longer than 400 lines, but for tables."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST = 400
TABLES = ()  # files that are one table, by path


def sources():
    """What git tracks; in an archive without git, what is there."""
    found = subprocess.run(["git", "ls-files", "*.c", "*.h", "*.cc", "*.cu", "*.cuh"], cwd=ROOT, capture_output=True, text=True)
    if found.returncode == 0 and found.stdout:
        return found.stdout.split()
    return [os.path.relpath(os.path.join(here, name), ROOT) for here, _, names in os.walk(ROOT)
            for name in names if name.endswith((".c", ".h", ".cc", ".cu", ".cuh")) and not os.path.relpath(here, ROOT).startswith(("build", "."))]


def test_files_are_short():
    files = sources()
    assert len(files) > 900
    lengths = {}
    for name in files:
        if os.path.exists(os.path.join(ROOT, name)):
            with open(os.path.join(ROOT, name), encoding="utf-8") as f:
                lengths[name] = sum(1 for _ in f)
    assert not {name: n for name, n in lengths.items() if n > MOST and name not in TABLES}
