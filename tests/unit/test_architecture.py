"""ARCHITECTURE.md names only files, folders and functions that exist, and answers a newcomer's questions."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = "base cli convert examples include library documents kernels model server store text tokenizer trainer translate weights tests bench scripts".split()

with open(os.path.join(ROOT, "ARCHITECTURE.md"), encoding="utf-8") as f:
    TEXT = f.read()


def sources():
    for folder in FOLDERS:
        for here, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".cc", ".cu", ".cuh")):
                    yield os.path.join(here, name)


def test_every_path_exists():
    named = re.findall(r"`((?:%s)/[\w./*-]*)`" % "|".join(FOLDERS), TEXT)
    assert len(named) > 30
    missing = [p for p in named if not os.path.exists(os.path.join(ROOT, p)) and "*" not in p]
    assert not missing


def test_every_function_exists():
    named = set(re.findall(r"`(dg_\w+)`", TEXT))
    assert len(named) >= 8
    code = "\n".join(open(path, encoding="utf-8").read() for path in sources())
    missing = sorted(name for name in named if not re.search(r"\b%s\b" % name, code))
    assert not missing


def test_a_function_is_in_the_file_beside_it():
    """A function named as `dg_some_thing` in `folder/file.c` is defined in that file."""
    pairs = re.findall(r"`(dg_\w+)` in `([\w./]+)`", TEXT)
    assert len(pairs) >= 8
    wrong = []
    for name, path in pairs:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            if not re.search(r"^\w[^;]*\b%s\([^;]*\n\{" % name, f.read(), re.M):
                wrong.append((name, path))
    assert not wrong


def test_the_questions_are_answered():
    section = TEXT.split("## Where is")[1].split("\n## ")[0]
    for word in ("deadline", "beam search", "manifest", "batch item", "hangs up", "Markdown", "Adam", "averaged"):
        assert word in section, word
