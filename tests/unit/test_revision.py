"""The revision of a build: git's in a checkout, the archive's commit in a source archive, otherwise unknown."""
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def revision(source, out):
    """The revision that scripts/revision.cmake writes for the sources in a folder."""
    subprocess.run(["cmake", f"-DSOURCE={source}", f"-DOUT={out}", "-P", os.path.join(ROOT, "scripts", "revision.cmake")], check=True)
    return re.search(r'dg_build_revision\[\] = "(.*)";', out.read_text()).group(1)


@pytest.fixture(scope="module")
def head():
    git = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True)
    if not os.path.exists(os.path.join(ROOT, ".git")) or git.returncode != 0:
        pytest.skip("a source archive: git knows nothing of it")
    return git.stdout[:12]


def test_of_a_checkout(head, tmp_path):
    assert revision(ROOT, tmp_path / "out.c") == head


def test_of_a_source_archive(head, tmp_path):
    archive = subprocess.run(["git", "-C", ROOT, "archive", "--format=tar", "HEAD", ".revision"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", tmp_path], input=archive, check=True)
    assert revision(tmp_path, tmp_path / "out.c") == head


@pytest.mark.parametrize("text,shown", [("0123456789abcdef0123\n", "0123456789ab"), ("$Format:%H$\n", "unknown"), ("", "unknown"), (None, "unknown")])
def test_of_a_file(text, shown, tmp_path):
    if text is not None:
        (tmp_path / ".revision").write_text(text)
    assert revision(tmp_path, tmp_path / "out.c") == shown
