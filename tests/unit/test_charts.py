"""The charts of bench/results are what bench/redraw.py draws from their JSON: none is older than the program."""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def pictures(folder):
    return {os.path.relpath(os.path.join(here, n), folder): open(os.path.join(here, n), encoding="utf-8").read()
            for here, _, names in os.walk(folder) for n in names if n.endswith(".svg")}


def test_charts_are_drawn_from_their_figures(tmp_path):
    shutil.copytree(os.path.join(ROOT, "bench"), tmp_path / "bench")
    drawn = tmp_path / "bench" / "results"
    for name in pictures(drawn):
        (drawn / name).write_text("")
    subprocess.run([sys.executable, str(tmp_path / "bench" / "redraw.py")], check=True, capture_output=True, cwd=ROOT)
    assert pictures(drawn) == pictures(os.path.join(ROOT, "bench", "results"))


def test_charts_follow_the_readers_scheme():
    found = {**pictures(os.path.join(ROOT, "bench", "results")), **pictures(os.path.join(ROOT, "docs", "pictures"))}
    assert len(found) >= 10
    for name, text in found.items():
        assert "prefers-color-scheme:dark" in text and text.count("<svg") == 1, name


def test_pictures_name_files_that_exist():
    named = {path for text in pictures(os.path.join(ROOT, "docs", "pictures")).values() for path in re.findall(r"\b[a-z_]+(?:/[a-z0-9_]+)+\.[ch]\b", text)}
    assert len(named) > 8
    assert [path for path in sorted(named) if not os.path.exists(os.path.join(ROOT, path))] == []
