"""Clients of LibreTranslate, as they come from PyPI, against this server with the bundled model: another URL is all they need."""
import os
import sys
import urllib.error

import deep_translator
import libretranslatepy
import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "api"))

from conftest import BUNDLES, Server  # noqa: E402
from test_keys import new_key  # noqa: E402

ENGLISH = ["Two dogs play in the snow.", "A girl is smiling.", "Ça & là: 50 % more?\nA second line."]
GERMAN = "Zwei Hunde spielen im Schnee."


@pytest.fixture(scope="module")
def server():
    with Server(BUNDLES) as s:
        yield s


@pytest.fixture(scope="module")
def lt(server):
    return libretranslatepy.LibreTranslateAPI(server.url("/"))


def own(server, text, source="en", target="de"):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target})
    return reply.json()["translations"][0]["text"]


@pytest.mark.parametrize("text", ENGLISH)
@pytest.mark.parametrize("target", ["de", "fr"])
def test_libretranslatepy_translates_as_v1_does(server, lt, text, target):
    assert lt.translate(text, "en", target) == own(server, text, "en", target)


def test_libretranslatepy_through_a_third_language(server, lt):
    assert lt.translate(GERMAN, "de", "fr") == own(server, GERMAN, "de", "fr")


def test_html(server, lt):
    """Both clients send the format text for any text: its tags survive all the same."""
    text = "<p>Two dogs play in the <b>snow</b>. AT&amp;T</p>"
    with_format = requests.post(server.url("/translate"), params={"q": text, "source": "en", "target": "de", "format": "html"}, timeout=60)
    answer = with_format.json()["translatedText"]
    assert "<b>Schnee</b>" in answer and "AT&amp;T" in answer and answer.startswith("<p>") and answer.endswith("</p>")
    assert "<b>Schnee</b>" in deep(server).translate(text) and "<b>Schnee</b>" in lt.translate(text, "en", "de")  # as plain text


def test_libretranslatepy_detects(lt):
    found = lt.detect(GERMAN)
    assert [f["language"] for f in found] == ["de"] and found[0]["confidence"] >= 95


def test_libretranslatepy_lists_languages(lt):
    languages = {x["code"]: x for x in lt.languages()}
    assert {code: x["name"] for code, x in languages.items()} == {"de": "German", "en": "English", "fr": "French"}
    assert all(set(x["targets"]) == set(languages) for x in languages.values())


def test_libretranslatepy_sees_errors(lt):
    with pytest.raises(urllib.error.HTTPError) as wrong:
        lt.translate("Hello", "en", "zz")
    assert wrong.value.code == 400 and b"zz is not supported" in wrong.value.read()


def deep(server, source="en", target="de", key="any"):
    return deep_translator.LibreTranslator(source=source, target=target, api_key=key, custom_url=server.url("/"))


@pytest.mark.parametrize("text", ENGLISH)
def test_deep_translator_translates_as_v1_does(server, text):
    assert deep(server).translate(text) == own(server, text)


def test_deep_translator_by_names_and_in_batches(server):
    assert deep(server, "English", "French").translate_batch(ENGLISH[:2]) == [own(server, t, "en", "fr") for t in ENGLISH[:2]]


def test_deep_translator_finds_the_language_out(server):
    assert deep(server, "auto", "en").translate(GERMAN) == own(server, GERMAN, "de", "en")


def test_keys(tmp_path):
    keys = str(tmp_path / "keys.db")
    secret = new_key(keys)
    with Server(BUNDLES, "--keys", keys) as s:
        assert deep(s, key=secret).translate(ENGLISH[0]) == libretranslatepy.LibreTranslateAPI(
            s.url("/"), secret).translate(ENGLISH[0], "en", "de")
        with pytest.raises(deep_translator.exceptions.AuthorizationException):
            deep(s, key="wrong").translate(ENGLISH[0])
        with pytest.raises(urllib.error.HTTPError) as missing:
            libretranslatepy.LibreTranslateAPI(s.url("/")).translate(ENGLISH[0], "en", "de")
        assert missing.value.code == 400
