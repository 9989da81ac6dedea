"""Tries openapi.yaml on a server with the bundled model: schemathesis makes up requests, good and bad, and checks the answers."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TESTS, "api"))

from conftest import BUNDLES, ROOT, Server  # noqa: E402
from test_keys import new_key  # noqa: E402

PROGRAM = os.path.join(ROOT, ".venv", "api", "bin", "st")  # installed by scripts/test-env
SEED = 20170612


def run(folder, examples):
    """Runs all checks on every operation. Returns what schemathesis prints; fails with it if a check fails."""
    keys = os.path.join(folder, "keys.db")
    key = new_key(keys, "--scope", "translate,admin")
    with Server(BUNDLES, "--keys", keys, "--documents", os.path.join(folder, "documents.db"),
                "--collections", os.path.join(folder, "collections.db"), "--suggestions", os.path.join(folder, "suggestions.db"),
                "--max-queue-tokens", "1000000") as server:
        done = subprocess.run(
            [PROGRAM, "--config-file", os.path.join(HERE, "schemathesis.toml"), "run", os.path.join(ROOT, "openapi.yaml"),
             "--url", server.url(""), "--header", "Authorization: Bearer " + key, "--checks", "all", "--seed", str(SEED),
             "--max-examples", str(examples), "--continue-on-failure", "--no-color"],
            cwd=folder, env=dict(os.environ, SCHEMATHESIS_HOOKS="hooks", PYTHONPATH=HERE), capture_output=True, text=True, check=False)
        assert server.get("/livez").status_code == 200
    passed = re.search(r"(\d+) generated, \1 passed", done.stdout)
    assert done.returncode == 0 and passed and int(passed.group(1)) >= 36 * examples // 2, done.stdout[-20000:] + done.stderr[-2000:]
    return done.stdout
