"""Which of many models answers: pairs as people write them."""
import subprocess

import pytest

import bundle
from conftest import CLI, PATIENCE, SERVER, Server

SERVED = [("en", "de"), ("en", "pt-BR"), ("zh-Hant", "en"), ("en-US", "fr"), ("en", "fr")]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    for seed, (source, target) in enumerate(SERVED, 1):
        bundle.make(CLI, str(folder / ("%s-%s" % (source, target))), source, target, seed=seed)
    return str(folder)


@pytest.fixture(scope="module")
def server(many):
    with Server(many, "--aliases", "pb=pt-BR,zt=zh-Hant,british=en", "--pivot", "off") as s:
        yield s


@pytest.mark.parametrize("source, target, pair", [
    ("en", "de", ("en", "de")),
    ("EN", "De", ("en", "de")),
    ("en-GB", "de_AT", ("en", "de")),
    ("eng", "ger", ("en", "de")),
    ("ENG_us", "deu", ("en", "de")),
    ("en", "pt-BR", ("en", "pt-BR")),
    ("en", "pt_br", ("en", "pt-BR")),
    ("en", "pt", ("en", "pt-BR")),
    ("en", "por", ("en", "pt-BR")),
    ("en", "pb", ("en", "pt-BR")),
    ("british", "PB", ("en", "pt-BR")),
    ("zh-Hant-TW", "en", ("zh-Hant", "en")),
    ("zt", "en", ("zh-Hant", "en")),
    ("zh", "en", ("zh-Hant", "en")),
    ("chi", "eng", ("zh-Hant", "en")),
    ("en-US", "fr", ("en-US", "fr")),
    ("en_us", "fra", ("en-US", "fr")),
    ("en", "fr", ("en", "fr")),
    ("en-GB", "fr-CA", ("en", "fr")),
])
def test_codes_find_their_pair(server, source, target, pair):
    reply = server.post("/v1/translate", dict(text="Hello.", source=source, target=target))
    assert reply.status_code == 200, reply.text
    answer = reply.json()["translations"][0]
    assert (answer["source"], answer["target"]) == pair and answer["model"] == "%s-%s" % pair
    direct = server.post("/v1/translate", dict(text="Hello.", source=pair[0], target=pair[1]))
    assert direct.json() == reply.json()


@pytest.mark.parametrize("source, target, field", [
    ("en", "pt-PT", "target"), ("zh-Hans", "en", "source"), ("en", "xx", "target"), ("e", "de", "source"),
    ("de", "en", "source"), ("en", "d", "target"), ("x" * 100, "de", "source"), ("en", "de" + "-x" * 50, "target"),
])
def test_codes_that_find_none(server, source, target, field):
    reply = server.post("/v1/translate", dict(text="Hello.", source=source, target=target))
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "unsupported_language" and reply.json()["error"]["field"] == field


def test_aliases_that_are_none_stop_the_start(many):
    done = subprocess.run([SERVER, "--models", many, "--port", "0", "--aliases", "pb:pt"], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode != 0 and "pb:pt" in done.stderr
