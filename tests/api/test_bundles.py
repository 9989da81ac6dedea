"""The shipped bundles: whole, small, without paths of any machine, and each pair translates."""
import os
import re
import subprocess

import pytest

import conftest

FOLDER = os.path.join(conftest.ROOT, "weights", "bundles")
# Only the shipped bundles, not those that dragoman pull put beside them.
NAMES = sorted(n for n in os.listdir(FOLDER) if os.path.exists(os.path.join(FOLDER, n, "MODEL_CARD.md")))
GREETINGS = {"en": "Thank you very much!", "de": "Vielen Dank!", "fr": "Merci beaucoup !"}


def run(*command, text=None):
    return subprocess.run([conftest.CLI, *command], input=text, capture_output=True, text=True, check=True).stdout


def pairs(name):
    listed = re.search(r"^pairs\s+(.*)$", run("inspect", os.path.join(FOLDER, name)), re.M).group(1)
    return re.findall(r"\b(\w\w)-(\w\w)\b", listed)


@pytest.mark.parametrize("name", NAMES)
def test_whole(name):
    out = run("inspect", os.path.join(FOLDER, name), "--verify")
    assert "every checksum and the version" in out


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_translates(name):
    for source, target in pairs(name):
        out = run("translate", "--model", os.path.join(FOLDER, name), "--source-lang", source, "--target-lang", target,
                  text=GREETINGS[source] + "\n")
        assert out.strip().lower() not in ("", GREETINGS[source].lower())


def test_together_small():
    size = sum(os.path.getsize(os.path.join(at, f)) for n in NAMES for at, _, files in os.walk(os.path.join(FOLDER, n)) for f in files)
    assert size <= 36e6


@pytest.mark.parametrize("name", NAMES)
def test_of_no_machine(name):
    for file in ("manifest.json", "MODEL_CARD.md"):
        with open(os.path.join(FOLDER, name, file), encoding="utf-8") as f:
            assert not re.search(r'(?<![\w./])/(work|home|root|tmp|mnt|srv)/', f.read()), file


def test_german_to_french_goes_through_english():
    with conftest.Server(FOLDER) as server:
        answer = server.post("/v1/translate", {"text": "Vielen Dank!", "source": "de", "target": "fr"}).json()
        assert answer["translations"][0]["pivot"] == "en"
        assert answer["translations"][0]["text"].startswith("Merci")
