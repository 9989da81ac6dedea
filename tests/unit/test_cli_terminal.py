"""Terminal escape sequences in a bundle's manifest are not printed."""
import json
import os
import shutil
import subprocess

import pytest

DRAGOMAN = os.path.join(os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
CLEAR = "\x1b[2J\x9b2J"  # U+009B begins a sequence, too


@pytest.mark.parametrize("verb, field", [
    ("inspect", {"pair_decoding": {CLEAR: {"length_penalty": 1}}}),
    ("list --models", {"origin": {"source": CLEAR}}),
    ("doctor --models", {"version": CLEAR}),
    ("inspect", {"version": CLEAR}),
])
def test_control_characters_are_not_printed(tmp_path, verb, field):
    bundle = shutil.copytree("tests/data/en-de", tmp_path / "bundle")
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    (bundle / "manifest.json").write_text(json.dumps({**manifest, **field}), encoding="utf-8")
    run = subprocess.run([DRAGOMAN, *verb.split(), str(bundle)], capture_output=True, text=True)
    said = run.stdout + run.stderr
    assert "\x1b" not in said and "\x9b" not in said and "?[2J??2J" in said
