"""A client that openapi-python-client generates from openapi.yaml: it is complete, valid Python, and works with a server."""
import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "api"))

from conftest import BUNDLES, ROOT, Server  # noqa: E402

TOOLS = os.path.join(ROOT, ".venv", "api", "bin")  # installed by scripts/test-env
GENERATED = os.path.join(HERE, "generated")
GERMAN = "Zwei Hunde spielen im Schnee."


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("generated"))
    made = subprocess.run(
        [os.path.join(TOOLS, "openapi-python-client"), "generate", "--path", os.path.join(ROOT, "openapi.yaml"), "--meta", "none",
         "--config", os.path.join(GENERATED, "generator.yaml"), "--output-path", os.path.join(folder, "dragoman_client"), "--fail-on-warning"],
        capture_output=True, text=True, check=False)
    assert made.returncode == 0 and "WARNING" not in made.stdout, made.stdout + made.stderr
    with Server(BUNDLES, "--documents", os.path.join(folder, "documents.db")) as server:
        used = subprocess.run([os.path.join(TOOLS, "python3"), os.path.join(GENERATED, "use.py"), folder, server.url("")],
                              capture_output=True, text=True, check=False)
    assert used.returncode == 0, used.stderr
    return json.loads(used.stdout)


def test_it_is_whole(answers):
    assert answers["modules"] > 200


def test_each_dialect_translates_alike(answers):
    assert set(answers["translations"].values()) == {GERMAN} and len(answers["translations"]) == 12


def test_each_dialect_refuses_in_its_own_shape(answers):
    assert answers["refusals"] == {"v1": "Error", "libretranslate": "LtError", "deepl": "DeeplError", "google": "GoogleError",
                                   "kiss": "ExtError", "deeplx": "DeeplxError"}


def test_documents(answers):
    assert answers["document"] == [GERMAN, GERMAN]


def test_pages(answers):
    pages = answers["pages"]
    assert pages["libretranslate.libretranslate_health"] == {"status": "ok"}
    assert {x["code"] for x in pages["libretranslate.libretranslate_languages"]} == {"en", "de", "fr"}
    assert pages["translation.models"]["models"][0]["name"] == "en-de-fr" and all(pages.values())


def test_scores_and_languages(answers):
    assert answers["rest"]["score"] < 0 and answers["rest"]["detect"] == ["en", "de"]
