"""LibreTranslate's API on the wire: the answers of its server (1.9.6), except that languages are detected text by text."""

import pytest
import requests

from conftest import PATIENCE, Server
from test_keys import new_key

GERMAN = "Der Ausschuss wird am Donnerstag erneut über den neuen Vorschlag beraten."
ENGLISH = "The committee will meet again on Thursday to discuss the new proposal."


def translate(server, body=None, status=200, **fields):
    reply = server.post("/translate", fields if body is None else body)
    assert reply.status_code == status, reply.text
    return reply.json()


def own(server, text, source, target):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target})
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


def test_one_text_and_many(server):
    assert translate(server, q="Hello.", source="en", target="de") == {"translatedText": own(server, "Hello.", "en", "de")}
    texts = ["One.", "", "12", "Two. Three."]
    assert translate(server, q=texts, source="EN", target="DE") == {
        "translatedText": [own(server, t, "en", "de") for t in texts]}


def test_form_query_and_both(server):
    fields = {"q": "A dog & a cat: 50%.", "source": "en", "target": "de"}
    expected = {"translatedText": own(server, fields["q"], "en", "de")}
    url = server.url("/translate")
    for more in ({"data": fields}, {"params": fields}, {"params": {"q": fields["q"]}, "data": {"source": "en", "target": "de"}}):
        reply = requests.post(url, timeout=PATIENCE, **more)
        assert reply.status_code == 200 and reply.json() == expected, more
    ends = {**fields, "q": "One.\r\nTwo.\n"}
    assert requests.post(url, data=ends, timeout=PATIENCE).json()["translatedText"] == own(server, "One.\nTwo.", "en", "de")


def test_what_is_empty_in_the_query_may_be_in_the_form(server):
    fields = {"q": "A dog.", "source": "en", "target": "de"}
    reply = requests.post(server.url("/translate"), params={"q": "", "source": "", "target": ""}, data=fields, timeout=PATIENCE)
    assert reply.json() == {"translatedText": own(server, "A dog.", "en", "de")}
    reply = requests.post(server.url("/detect"), params={"q": ""}, data={"q": GERMAN}, timeout=PATIENCE)
    assert reply.json()[0]["language"] == "de"


def test_more_alternatives_than_the_models_beam(server):
    """The beam widens as needed; with few alternatives the best answer stays that of the model's own beam."""
    answer = translate(server, q="Hello there.", source="en", target="de", alternatives=9)
    assert len(answer["alternatives"]) > 4 and len(set(answer["alternatives"])) == len(answer["alternatives"])
    assert translate(server, q="Hello there.", source="en", target="de", alternatives=2)["translatedText"] == own(server, "Hello there.", "en", "de")


@pytest.mark.parametrize("path, field, value", [
    ("/translate", "source", ["en"]), ("/translate", "target", 5), ("/translate", "format", {}), ("/translate", "api_key", 7),
    ("/translate", "alternatives", [1]), ("/detect", "api_key", []), ("/detect", "q", [None]), ("/detect", "q", ["a\0b"])])
def test_json_of_another_type(server, path, field, value):
    reply = server.post(path, {"q": "Hello.", "source": "en", "target": "de", field: value})
    assert reply.status_code == 400 and field in reply.json()["error"]


def test_texts_without_anything(server):
    assert server.post("/detect", {"q": ["", ""]}).json() == [{"confidence": 0, "language": "de"}]


def test_a_language_found_out(server):
    answer = translate(server, q=ENGLISH, source="auto", target="de")
    assert answer == {"translatedText": own(server, ENGLISH, "en", "de"), "detectedLanguage": {"confidence": 100, "language": "en"}}


def test_languages_found_out_text_by_text(server):
    answer = translate(server, q=[ENGLISH, GERMAN, ENGLISH], source="auto", target="fr")
    assert [d["language"] for d in answer["detectedLanguage"]] == ["en", "de", "en"]
    assert answer["translatedText"] == [own(server, ENGLISH, "en", "fr"), own(server, GERMAN, "de", "fr"),
                                        own(server, ENGLISH, "en", "fr")]
    there = translate(server, q=[GERMAN, ENGLISH, ""], source="auto", target="de")
    assert there["translatedText"] == [GERMAN, own(server, ENGLISH, "en", "de"), ""]
    assert translate(server, q=GERMAN, source="auto", target="de")["translatedText"] == GERMAN


def test_the_same_language(server):
    assert translate(server, q=["Hello.", "x"], source="de", target="de") == {"translatedText": ["Hello.", "x"]}


def test_alternatives(server):
    answer = translate(server, q=ENGLISH, source="en", target="de", alternatives=3)
    others = server.post("/v1/translate", {"text": ENGLISH, "source": "en", "target": "de", "n_best": 4}).json()
    texts = [b["text"] for b in others["translations"][0]["n_best"]]
    assert [answer["translatedText"], *answer["alternatives"]] == texts and len(texts) > 1
    many = translate(server, q=[ENGLISH, "12"], source="en", target="de", alternatives="1")
    assert len(many["alternatives"]) == 2 and many["alternatives"][1] == []


@pytest.mark.parametrize("more", [{"alternatives": -1}, {"alternatives": "-1"}, {"format": ""}, {"alternatives": None, "format": None}])
def test_what_asks_for_nothing(server, more):
    """An empty format means text, and a negative number of alternatives means none, in JSON and in forms."""
    fields = {"q": ENGLISH, "source": "en", "target": "de", **more}
    expected = {"translatedText": own(server, ENGLISH, "en", "de")}
    assert translate(server, fields) == expected
    assert requests.post(server.url("/translate"), data=fields, timeout=PATIENCE).json() == expected


@pytest.mark.parametrize("body, message", [
    ({"source": "en", "target": "de"}, "Invalid request: missing q parameter"),
    ({"q": "", "source": "en", "target": "de"}, "Invalid request: missing q parameter"),
    ({"q": [], "source": "en", "target": "de"}, "Invalid request: missing q parameter"),
    ({"q": "a", "target": "de"}, "Invalid request: missing source parameter"),
    ({"q": "a", "source": "en"}, "Invalid request: missing target parameter"),
    ({"q": "a", "source": "zz", "target": "de"},
     "zz is not supported"),
    ({"q": "a", "source": "en", "target": "zz"}, "zz is not supported"),
    ({"q": "a", "source": "auto", "target": "zz"}, "zz is not supported"),
    ({"q": "a", "source": "fr", "target": "de"}, 
     "German (de) is not available as a target language from French (fr); to install some: dragoman pull firefox/fr-en firefox/en-de"),
    ({"q": "a", "source": "en", "target": "de", "format": "docx"}, "docx format is not supported"),
    ({"q": "a", "source": "en", "target": "de", "alternatives": "many"},
     "Invalid request: alternatives parameter is not a number"),
    ({"q": "a", "source": "en", "target": "de", "alternatives": 32}, "Invalid request: alternatives parameter must be <= 31"),
    ({"q": "a", "source": "en", "target": "de", "alternatives": 1.5},
     "Invalid request: alternatives parameter is not a number"),
    ({"q": "a" * 200001, "source": "en", "target": "de"}, "Invalid request: request (200001) exceeds text limit (200000)"),
    ({"q": ["a"] * 129, "source": "en", "target": "de"}, "Invalid request: request (129) exceeds text limit (128)"),
    ([], "Invalid JSON format"),
])
def test_errors_in_its_words(server, body, message):
    assert translate(server, body, 400) == {"error": message}


def test_a_body_that_is_no_json(server):
    reply = requests.post(server.url("/translate"), data="{", headers={"Content-Type": "application/json"}, timeout=PATIENCE)
    assert reply.status_code == 400 and reply.json()["error"].startswith("Invalid JSON format")


def test_detect(server):
    assert server.post("/detect", {"q": GERMAN}).json() == [{"confidence": 100, "language": "de"}]
    assert requests.post(server.url("/detect"), data={"q": ENGLISH}, timeout=PATIENCE).json()[0]["language"] == "en"
    assert server.post("/detect", {"q": [GERMAN, GERMAN]}).json() == [{"confidence": 100, "language": "de"}]
    assert server.post("/detect", {"q": "😀"}).json()[0]["confidence"] == 0
    reply = server.post("/detect", {})
    assert (reply.status_code, reply.json()) == (400, {"error": "Invalid request: missing q parameter"})


def test_languages(server):
    assert server.get("/languages").json() == [
        {"code": "de", "name": "German", "targets": ["de", "fr"]},
        {"code": "fr", "name": "French", "targets": ["fr"]},
        {"code": "en", "name": "English", "targets": ["de", "fr", "en"]}]


def test_settings(server):
    settings = server.get("/frontend/settings").json()
    assert settings == {
        "charLimit": 200000, "frontendTimeout": 500, "apiKeys": False, "keyRequired": False, "suggestions": False,
        "filesTranslation": False, "supportedFilesFormat": [],
        "language": {"source": {"code": "de", "name": "German"}, "target": {"code": "fr", "name": "French"}}}


def test_health_and_spec(server):
    assert server.get("/health").json() == {"status": "ok"}
    assert server.get("/spec").json()["paths"]["/translate"]["post"]


@pytest.mark.parametrize("method, path, status", [
    ("GET", "/translate", 405), ("GET", "/detect", 405), ("POST", "/languages", 405), ("POST", "/health", 405),
    ("OPTIONS", "/translate", 204), ("GET", "/languages", 200), ("POST", "/translate", 400)])
def test_pages_elsewhere_may_ask(server, method, path, status):
    reply = requests.request(method, server.url(path), headers={"Origin": "https://example.org"}, timeout=PATIENCE)
    assert reply.status_code == status
    assert reply.headers["Access-Control-Allow-Origin"] == "*"
    assert {"Authorization", "Content-Type"} <= set(reply.headers["Access-Control-Allow-Headers"].split(", "))
    assert reply.headers["Access-Control-Max-Age"] == "1728000"
    if status >= 400:
        assert isinstance(reply.json()["error"], str)
    assert "Access-Control-Allow-Origin" not in server.get("/v1/models").headers


def test_keys_in_the_request(models, tmp_path):
    keys = str(tmp_path / "keys.db")
    secret = new_key(keys)
    body = {"q": "Hello.", "source": "en", "target": "de"}
    with Server(models, "--keys", keys, "--pivot", "de") as s:
        assert translate(s, dict(body, api_key=secret))["translatedText"]
        assert requests.post(s.url("/translate"), data=dict(body, api_key=secret), timeout=PATIENCE).status_code == 200
        assert requests.post(s.url("/translate"), params=dict(body, api_key=secret), timeout=PATIENCE).status_code == 200
        assert translate(s, dict(body, api_key="wrong"), 403) == {"error": "Invalid API key"}
        assert translate(s, body, 400) == {"error": "Please contact the server operator to get an API key"}
        assert s.get("/languages").status_code == 200
        assert s.get("/frontend/settings").json()["keyRequired"] is True


def test_it_can_be_switched_off(models):
    with Server(models, "--dialects", "none") as s:
        for path in ("/translate", "/detect"):
            reply = s.post(path, {"q": "a", "source": "en", "target": "de"})
            assert reply.status_code == 404 and reply.json()["error"]["code"] == "not_found"
        assert s.get("/languages").status_code == 404
        assert "GET /languages" not in s.get("/").json()["routes"]


@pytest.fixture(scope="module")
def server(models):
    with Server(models, "--pivot", "de", "--max-queue-tokens", "1000000") as s:
        yield s
