"""Models of other programs for the tests (tests/data/convert): none is large, and each comes with the script that made it."""
import os

import pytest

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "convert")
MOST = 1_000_000  # bytes of all files of a model


def models():
    """{model: bytes}. A model is a file or a folder, together with everything that has the same name and another suffix."""
    sizes = {}
    for family in sorted(f for f in os.listdir(DATA) if os.path.isdir(os.path.join(DATA, f)) and f != "__pycache__"):
        for name in os.listdir(os.path.join(DATA, family)):
            path = os.path.join(DATA, family, name)
            files = [os.path.join(d, f) for d, _, fs in os.walk(path) for f in fs] if os.path.isdir(path) else [path]
            key = f"{family}/{name.split('.')[0]}"
            sizes[key] = sizes.get(key, 0) + sum(map(os.path.getsize, files))
    return sizes


def test_there_are_models():
    assert len(models()) > 30 and {m.split("/")[0] for m in models()} >= {
        "bergamot", "ctranslate2", "ctranslate2_prenorm", "huggingface", "m2m100", "marian", "pymarian"}


@pytest.mark.parametrize("name", sorted(models()))
def test_none_is_large(name):
    assert models()[name] <= MOST


@pytest.mark.parametrize("family", sorted({m.split("/")[0] for m in models()}))
def test_the_script_that_made_it_is_there(family):
    own, shared = os.path.join(DATA, family, "make.py"), os.path.join(DATA, "make.py")
    if os.path.exists(own):
        return
    with open(shared, encoding="utf-8") as f:
        assert f'"{family}' in f.read()
