import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import stand_in  # noqa: E402

BIN = os.path.join(os.environ.get("DRAGOMAN_BUILD", os.path.join(stand_in.ROOT, "build", "release")), "bin")
DRAGOMAN = os.path.join(BIN, "dragoman")


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return stand_in.authority(str(tmp_path_factory.mktemp("ca")))


@pytest.fixture
def hub(authority):
    server = stand_in.StandIn(*authority[1:])
    yield server
    server.close()


class Puller:
    """dragoman pull into a folder of the test's own, with the throw-away authority."""

    def __init__(self, folder, ca):
        self.models, self.cache = folder / "models", folder / "cache"
        self.env = {"PATH": os.environ["PATH"], "CURL_CA_BUNDLE": ca, "XDG_CACHE_HOME": str(self.cache)}

    def __call__(self, *args, ok=True, env=(), verb="pull", **more):
        done = subprocess.run([DRAGOMAN, verb, *args, "--models", str(self.models)], capture_output=True, text=True,
                              timeout=120, env={**self.env, **dict(env)}, **more)
        assert (done.returncode == 0) == ok, done.stdout + done.stderr
        return done.stdout if ok else done.stderr

    def installed(self):
        return sorted(p.name for p in self.models.iterdir() if not p.name.startswith(".")) if self.models.exists() else []

    def left(self):
        """Returns the names of the files in the cache."""
        return sorted(p.name for p in self.cache.rglob("*") if p.is_file())

    def translate(self, name, text):
        return subprocess.run([DRAGOMAN, "translate", "--model", str(self.models / name)], input=text, capture_output=True,
                              text=True, timeout=60, check=True).stdout.strip()


@pytest.fixture
def pull(tmp_path, authority):
    return Puller(tmp_path, authority[0])
