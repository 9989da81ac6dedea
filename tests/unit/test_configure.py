"""CMake configures and installs on systems and in folders that differ from those of Debian 12's usual build."""
import json
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("DRAGOMAN_BUILD", os.path.join(ROOT, "build", "release")))


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


@pytest.fixture(scope="module")
def configured(tmp_path_factory):
    """A build in a folder with odd letters, of sources in another one. pkg-config refuses SentencePiece: Debian 13's libsentencepiece-dev
    names protobuf-lite, which it does not depend on."""
    folder = tmp_path_factory.mktemp("configured") / "\xe4 b & c"
    folder.mkdir()
    (folder / "sources").symlink_to(ROOT)
    (folder / "sentencepiece.pc").write_text(
        "Name: sentencepiece\nDescription: x\nVersion: 0.2.0\nLibs: -lsentencepiece\nRequires.private: dragoman-absent\n")
    environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))
    assert run("pkg-config", "--exists", "sentencepiece", env=environment).returncode != 0
    done = run("cmake", "-S", str(folder / "sources"), "-B", str(folder / "build"), "-DDG_TRAINER=OFF", env=environment)
    return folder, done


def test_sentencepiece_is_found_although_pkg_config_refuses_it(configured):
    _, done = configured
    assert done.returncode == 0, done.stderr


def test_no_command_names_the_systems_headers(configured):
    """The compiler looks there by itself, after C++'s headers. With CMake 3.31, a file's own property becomes -isystem /usr/include, before
    them, and C++'s <cstdlib> does not find <stdlib.h>."""
    folder, done = configured
    assert done.returncode == 0, done.stderr
    for entry in json.loads((folder / "build/compile_commands.json").read_text()):
        assert not re.search(r"(-I|-isystem) ?/usr/include( |$)", entry["command"]), entry["file"]


def test_cmake_installs_from_any_folder(configured):
    folder, done = configured
    assert done.returncode == 0, done.stderr
    for name in ("bin", "lib"):
        if os.path.lexists(folder / "build" / name):
            (folder / "build" / name).rmdir()
        (folder / "build" / name).symlink_to(os.path.join(BUILD, name))
    installed = run("cmake", "--install", str(folder / "build"), "--prefix", "/usr", env=dict(os.environ, DESTDIR="stage"), cwd=folder)
    assert installed.returncode == 0, installed.stderr
    assert os.access(folder / "stage/usr/bin/dragoman-server", os.X_OK)
    assert (folder / "stage/etc/dragoman/server.json").exists()
