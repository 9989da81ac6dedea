"""Google's own client of its v2 API, as it comes from PyPI, against this server with the bundled model: another endpoint is all it needs."""
import os
import sys

import pytest
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import translate_v2

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "api"))

from conftest import BUNDLES, Server  # noqa: E402
from test_keys import new_key  # noqa: E402

ENGLISH = ["Two dogs play in the snow.", "A girl is smiling.\n\nÇa & là: 50 %?"]
GERMAN = "Zwei Hunde spielen im Schnee."


@pytest.fixture(scope="module")
def server():
    with Server(BUNDLES) as s:
        yield s


def connect(server):
    return translate_v2.Client(credentials=AnonymousCredentials(), client_options={"api_endpoint": server.url("")})


@pytest.fixture(scope="module")
def client(server):
    return connect(server)


def own(server, text, source="en", target="de", **more):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target, **more})
    return reply.json()["translations"][0]["text"]


def test_one_text(server, client):
    assert client.translate(ENGLISH[0], target_language="de") == {
        "input": ENGLISH[0], "translatedText": own(server, ENGLISH[0]), "detectedSourceLanguage": "en"}


def test_several_texts(server, client):
    answers = client.translate([*ENGLISH, GERMAN], target_language="fr", format_="text", model="nmt")
    assert [a["translatedText"] for a in answers] == [own(server, t, "en", "fr") for t in ENGLISH] + [own(server, GERMAN, "de", "fr")]
    assert [(a["detectedSourceLanguage"], a["model"]) for a in answers] == [("en", "nmt"), ("en", "nmt"), ("de", "nmt")]
    (named,) = client.translate(ENGLISH[:1], target_language="fr", source_language="en", format_="text")
    assert named == {"input": ENGLISH[0], "translatedText": own(server, ENGLISH[0], "en", "fr")}


def test_as_many_texts_as_google_takes(client):
    assert len(client.translate(ENGLISH[:1] * 128, target_language="de")) == 128


def test_html(server, client):
    page = "<p>Two dogs play in the <b>snow</b>. A &amp; B</p>"
    answer = client.translate(page, target_language="de")["translatedText"]
    assert answer == own(server, page, format="html") and "<b>Schnee</b>" in answer


def test_languages(client):
    assert client.get_languages() == [{"language": c, "name": n} for c, n in (("en", "English"), ("de", "German"), ("fr", "French"))]
    assert {x["name"] for x in client.get_languages(target_language="fr")} == {"anglais", "allemand", "français"}


def test_detection(client):
    assert client.detect_language([ENGLISH[0], GERMAN])[1]["language"] == "de"
    assert client.detect_language(GERMAN)["confidence"] > 0.9


def test_errors(client):
    with pytest.raises(exceptions.BadRequest, match='target is "xx", expected one of en, de, fr') as wrong:
        client.translate("Hello", target_language="xx")
    assert wrong.value.errors[0]["reason"] == "invalid"
    with pytest.raises(exceptions.GoogleAPICallError, match="the limit is 200000"):
        client.translate("a" * 200001, target_language="de")


def test_without_a_key(tmp_path):
    keys = str(tmp_path / "keys.db")
    new_key(keys)
    with Server(BUNDLES, "--keys", keys) as s:
        with pytest.raises(exceptions.Forbidden, match="valid API key"):
            connect(s).translate("Hello", target_language="de")
