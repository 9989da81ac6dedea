"""Google's Translation API v2 on the wire."""
import os
import shutil

import pytest
import requests

import bundle
from conftest import CLI, PATIENCE, Server

ENGLISH = "The committee will meet again on Thursday to discuss the new proposal."
GERMAN = "Der Ausschuss wird am Donnerstag erneut über den neuen Vorschlag beraten."
PATH = "/language/translate/v2"


@pytest.fixture(scope="module")
def server(models):
    with Server(models, "--pivot", "de", "--max-queue-tokens", "1000000") as s:
        yield s


def own(server, text, source, target, **more):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target, **more})
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


def test_json_form_query_and_both(server):
    fields = {"q": [ENGLISH, "Hello."], "source": "en", "target": "de", "format": "text"}
    expected = {"data": {"translations": [{"translatedText": own(server, t, "en", "de")} for t in fields["q"]]}}
    url = server.url(PATH)
    for reply in (requests.post(url, json=fields, timeout=PATIENCE), requests.post(url, data=fields, timeout=PATIENCE),
                  requests.get(url, params=fields, timeout=PATIENCE), requests.post(url, params=fields, timeout=PATIENCE),
                  requests.post(url, json={"q": fields["q"]}, params={k: fields[k] for k in ("source", "target", "format")}, timeout=PATIENCE)):
        assert reply.status_code == 200 and reply.json() == expected, reply.text
    for path in ("/", "/detect/", "/languages/"):  # Weblate and others write /v2/
        assert requests.get(url + path, params=fields, timeout=PATIENCE).json() == requests.get(url + path[:-1], params=fields, timeout=PATIENCE).json()
    one = requests.post(url, json=dict(fields, q="Hello.", model="base"), timeout=PATIENCE).json()
    assert one == {"data": {"translations": [dict(expected["data"]["translations"][1], model="nmt")]}}


def test_parameters_in_data(server):
    """Google's libraries for Python (googleapiclient) and .NET put a POST's parameters into an object "data"."""
    for path, fields in ((PATH, {"q": [ENGLISH, "Hello."], "source": "en", "target": "de"}), (PATH + "/detect", {"q": [GERMAN]}),
                         (PATH + "/languages", {"target": "fr"})):
        plain, wrapped = server.post(path, fields), server.post(path + "?key=any&alt=json", {"data": fields})
        assert wrapped.status_code == 200 and wrapped.json() == plain.json(), wrapped.text
    assert server.post(PATH, {"q": "Hello.", "target": "de", "data": {"target": "xx"}}).status_code == 200  # "data" is an unknown field here
    for wrong, message in (({"data": {}}, "q is missing"), ({"data": [1]}, "q is missing"), ({"data": {"data": {"q": "Hello."}}}, "q is missing"),
                           ({"data": {"q": "Hello.", "target": "xx"}}, 'target is "xx"')):
        reply = server.post(PATH, wrong)
        assert reply.status_code == 400 and message in reply.json()["error"]["message"], reply.text


def test_as_many_texts_as_google_takes(server):
    answer = server.post(PATH, {"q": ["Hello."] * 128, "source": "en", "target": "de"}).json()["data"]["translations"]
    assert len(answer) == 128


def test_languages_found_out(server):
    answer = server.post(PATH, {"q": [ENGLISH, GERMAN], "target": "fr", "format": "text"}).json()["data"]["translations"]
    assert answer == [{"translatedText": own(server, ENGLISH, "en", "fr"), "detectedSourceLanguage": "en"},
                      {"translatedText": own(server, GERMAN, "de", "fr"), "detectedSourceLanguage": "de"}]


def test_texts_are_html_unless_said_otherwise(server):
    page = "<p>Two <b>dogs</b> &amp; a cat.</p>"
    for format, expected in ((None, "html"), ("", "html"), ("html", "html"), ("text", "text")):
        (answer,) = server.post(PATH, {"q": page, "source": "en", "target": "de", "format": format}).json()["data"]["translations"]
        assert answer["translatedText"] == own(server, page, "en", "de", format=expected)


def test_the_same_language(server):
    for source in ({"source": "de"}, {}):
        (answer,) = server.post(PATH, dict(source, q=GERMAN, target="de", format="text")).json()["data"]["translations"]
        assert answer["translatedText"] == GERMAN


def test_detect(server):
    expected = server.post("/v1/detect", {"text": [ENGLISH, GERMAN]}).json()["detections"]
    for reply in (server.post(PATH + "/detect", {"q": [ENGLISH, GERMAN]}),
                  requests.get(server.url(PATH + "/detect"), params={"q": [ENGLISH, GERMAN]}, timeout=PATIENCE)):
        assert reply.json() == {"data": {"detections": [
            [{"language": d["language"], "isReliable": False, "confidence": d["confidence"] / 100}] for d in expected]}}


def test_languages(server):
    def names(query):
        return {x["language"]: x.get("name") for x in server.get(PATH + "/languages" + query).json()["data"]["languages"]}
    assert names("") == {"en": None, "de": None, "fr": None}
    assert names("?target=en") == {"en": "English", "de": "German", "fr": "French"}
    assert names("?target=de") == {"en": "Englisch", "de": "Deutsch", "fr": "Französisch"}
    assert names("?target=ja&model=nmt&key=any")["fr"] == "フランス語"


def test_languages_by_post(server):
    """As Google's guide asks for names: JSON with the language; other programs send a form."""
    def counted():
        return [line for line in server.get("/metrics").text.split("\n") if line.startswith(("dragoman_requests_total", "dragoman_last_success"))]
    before, path = counted(), PATH + "/languages"
    expected = server.get(path + "?target=de").json()
    assert "Englisch" in [x["name"] for x in expected["data"]["languages"]]
    for how in ({"json": {"target": "de"}}, {"data": {"target": "de"}}, {"params": {"target": "de"}}):
        reply = requests.post(server.url(path), timeout=PATIENCE, **how)
        assert reply.status_code == 200 and reply.json() == expected, reply.text
    assert requests.post(server.url(path), timeout=PATIENCE).json() == server.get(path).json()
    assert requests.post(server.url(path), json={"target": "qq"}, timeout=PATIENCE).status_code == 400
    for other in ("/v2/languages", "/v2/usage"):
        assert server.post(other, {}).status_code == 200
    assert counted() == before  # no translation


@pytest.mark.parametrize("more, body, status, reason, message", [
    ("", {"target": "de"}, 400, "required", "q is missing"),
    ("", {"q": "a"}, 400, "required", "target is missing"),
    ("", {"q": [], "target": "de"}, 400, "invalid", "q is an empty array"),
    ("", {"q": ["a", None], "target": "de"}, 400, "invalid", "q must be a string or an array of strings"),
    ("", {"q": "a", "target": "zz"}, 400, "invalid", 'target is "zz", expected one of fr, de'),
    ("", {"q": "a", "target": "de", "source": "fr"}, 400, "invalid", 'source is "fr", expected one of de, en; to install one: dragoman pull firefox/fr-en'),
    ("", {"q": "a", "target": "de", "format": "markdown"}, 400, "invalid", 'format is "markdown", expected html or text'),
    ("", {"q": "a", "target": "de", "model": "llm"}, 400, "invalid", 'model is "llm", expected nmt or base'),
    ("", {"q": ["a"] * 129, "target": "de"}, 413, "uploadTooLarge", "the limit is 128"),
    ("", {"q": "a" * 200001, "target": "de"}, 413, "uploadTooLarge", "the limit is 200000"),
    ("", ["a"], 400, "invalid", "Invalid JSON format"),
    ("/detect", {}, 400, "required", "q is missing"),
    ("/detect", {"q": "a" * 200001}, 413, "uploadTooLarge", "the limit is 200000"),
])
def test_errors_in_its_shape(server, more, body, status, reason, message):
    reply = server.post(PATH + more, body)
    error = reply.json()["error"]
    assert reply.status_code == error["code"] == status and message in error["message"]
    assert error == {"code": status, "message": error["message"],
                     "errors": [{"message": error["message"], "domain": "global", "reason": reason}]}


def test_an_error_says_that_there_are_more_languages(models, tmp_path):
    shutil.copytree(os.path.join(models, "en-de"), tmp_path / "many")
    codes = ["de", *(a + b for a in "abc" for b in "abcdefghijklmnopqrstuvwxyz")]
    bundle.edit(CLI, tmp_path / "many", lambda manifest: manifest.update(pairs=[["en", code] for code in codes]))
    with Server(str(tmp_path / "many")) as s:
        said = s.post(PATH, {"q": "a", "target": "zz"}).json()["error"]["message"]
    listed = said.split("expected one of ")[1].split(", ")
    assert listed[-1] == "..." and listed[:-1] == codes[:len(listed) - 1] and len(listed) > 30


def test_a_reader_of_no_language(server):
    for code in ("qq", ""):
        reply = server.get(PATH + "/languages?target=" + code)
        assert reply.status_code == 400 and reply.json()["error"]["errors"][0]["reason"] == "invalid"
