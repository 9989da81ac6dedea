"""How a server uses a bundle's files: it checks every byte once, and reads no file afterwards."""
import json
import os
import shutil
import subprocess

import pytest

import bundle
from conftest import CLI, Local, run_server

TEXTS = ["Hello.", "The dog runs. The cat sleeps.", "Greetings to all, 42 times."]


@pytest.fixture
def folder(models, tmp_path):
    return shutil.copytree(os.path.join(models, "en-de"), tmp_path / "served" / "en-de").parent


def edit_manifest(path):
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    manifest["decoding"] = dict(manifest.get("decoding", {}), length_penalty=0.1)
    (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def edit_vocabulary(path):
    (vocabulary, *_) = path.glob("*.vocab")
    lines = vocabulary.read_text(encoding="utf-8").split("\n")
    lines[40], lines[41] = lines[41], lines[40]
    vocabulary.write_text("\n".join(lines), encoding="utf-8")


def other_weights(path):
    """Puts another model's weights in the bundle and seals it again: whole files with valid hashes."""
    other = bundle.make(CLI, str(path.parent.parent / "other"), seed=9)
    shutil.copyfile(os.path.join(other, "weights.dgw"), path / "weights.dgw")
    subprocess.run([CLI, "seal", str(path)], check=True, capture_output=True)


BREAKS = {
    "a manifest edited under its old version": (edit_manifest, "something was changed after it was sealed"),
    "a vocabulary edited": (edit_vocabulary, "something was changed after it was sealed"),
    "another model's weights, sealed": (other_weights, "its test sentence has log-probability"),
}


@pytest.mark.parametrize("how", BREAKS)
def test_what_was_changed_is_not_served(folder, how):
    """Neither the start, nor a reload, nor --check-config accepts changed files. A reload keeps the loaded model where
    manifest and weights are the same."""
    damage, words = BREAKS[how]
    with Local(str(folder)) as server:
        before = server.translate(TEXTS).json()["translations"]
        damage(folder / "en-de")
        reply = server.reload()
        if "vocabulary" in how:
            assert reply.json()["kept"] == 1
        else:
            assert reply.status_code == 422 and words in reply.json()["error"]["message"], reply.text
        assert server.translate(TEXTS).json()["translations"] == before
    for flags in (["--check-config"], ["--port", "0"]):
        done = run_server("--models", str(folder), *flags)
        assert done.returncode == 1 and words in done.stderr and str(folder / "en-de") in done.stderr, done.stderr


def test_no_file_is_touched_while_it_serves(folder):
    """Files that are truncated, overwritten or removed neither change an answer nor end the server."""
    with Local(str(folder)) as server:
        before = server.translate(TEXTS).json()["translations"]
        with open("/proc/%d/maps" % server.process.pid, encoding="utf-8") as maps:
            assert str(folder) not in maps.read()
        files = sorted(p for p in (folder / "en-de").iterdir() if p.name != "manifest.json")
        for how in (lambda p: p.write_bytes(b"\xff" * p.stat().st_size), lambda p: os.truncate(p, 1), os.remove):
            for path in files:
                how(path)
            assert server.translate(TEXTS).json()["translations"] == before
            assert server.translate(["A new sentence, %s." % how]).status_code == 200
        assert server.get("/v1/models").status_code == 200 and server.get("/metrics").status_code == 200
