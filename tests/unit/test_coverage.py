"""scripts/coverage counts executed lines, here of a program with two functions of which one is called."""
import os
import runpy
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = """int twice(int x);
int twice(int x)
{
    return 2 * x;
}
int never(int x);
int never(int x)
{
    x++;
    return x;
}
int main(void)
{
    return twice(0);
}
"""


@pytest.fixture
def script(tmp_path):
    """The script's functions, with tmp_path as the repository; the program in it has run twice."""
    (tmp_path / "base").mkdir()
    (tmp_path / "build").mkdir()
    (tmp_path / "base" / "a.c").write_text(SOURCE)
    subprocess.run(["gcc", "--coverage", "-O0", "-o", "build/a", "base/a.c"], cwd=tmp_path, check=True)
    for _ in range(2):
        subprocess.run(["build/a"], cwd=tmp_path, check=True)
    found = runpy.run_path(os.path.join(ROOT, "scripts", "coverage"))
    found["measure"].__globals__.update(ROOT=str(tmp_path), BUILD=str(tmp_path / "build"))
    return found


def test_lines_that_ran_are_counted(script):
    lines = script["measure"]()
    assert set(lines) == {"base/a.c"}
    ran = {n for n, times in lines["base/a.c"].items() if times}
    assert ran == {2, 4, 12, 14} and lines["base/a.c"][4] == 2
    run, all_ = script["share"](script["of_folder"](lines, "base"))
    assert (run, all_) == (4, 7) and script["share"](script["of_folder"](lines, "bas")) == (0, 0)


def test_lines_that_nothing_ran_are_named(script, capsys):
    script["report"](script["measure"](), "base")
    assert capsys.readouterr().out.split("\n")[:2] == ["base          57.1 %  4 of 7 lines", "   3 base/a.c: 7, 9-10"]


def test_nothing_that_has_run_is_said(script, tmp_path):
    for path in script["data_files"]():
        os.remove(path)
    with pytest.raises(SystemExit, match="no test has run"):
        script["measure"]()
