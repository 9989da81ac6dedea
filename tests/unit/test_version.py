"""CMakeLists.txt has the version; every other place that states it agrees."""
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VERSION = subprocess.run([os.path.join(ROOT, "scripts", "version")], capture_output=True, text=True, check=True).stdout.strip()

# file -> pattern that finds the version in it
PLACES = {
    "openapi.yaml": r"^  version: ([\d.]+)$",
    "docs/api.md": r"^  version: ([\d.]+)$",
    "docs/operations.md": r"dragoman(?:-cuda)?:(\d[\d.]*\d)",
    "docker/Dockerfile": r"^ARG VERSION=([\d.]+)$",
    "docker/Dockerfile.cuda": r"^ARG VERSION=([\d.]+)$",
    "docker/compose.yaml": r"image: dragoman:([\d.]+)$",
    "docker/kubernetes/deployment.yaml": r"image: dragoman:([\d.]+)$",
    "packaging/debian/changelog": r"\Adragoman \(([\d.]+)\)",
    "include/dragoman.h": r'such as "(\d[\d.]+)"',
}


@pytest.mark.parametrize("path", PLACES)
def test_one_version(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        found = re.findall(PLACES[path], f.read(), re.M)
    assert found and set(found) == {VERSION}


def test_the_packages_ask_for_this_one():
    """CMake and pkg-config files, the wheel and manual pages are generated from that one place; none of them contains a number."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    for path in ("packaging/library/dragoman.pc.in", "packaging/library/dragomanConfig.cmake.in", "python/pyproject.toml", "python/setup.py"):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            assert VERSION not in f.read(), path
    with open(os.path.join(ROOT, "examples", "CMakeLists.txt"), encoding="utf-8") as f:
        assert re.search(r"find_package\(dragoman ([\d.]+)", f.read()).group(1) == VERSION.rsplit(".", 1)[0]
    for path in os.listdir(os.path.join(ROOT, "packaging", "man")):
        with open(os.path.join(ROOT, "packaging", "man", path), encoding="utf-8") as f:
            assert VERSION not in f.read(), path
