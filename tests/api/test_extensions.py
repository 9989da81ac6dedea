"""What browser extensions send to a self-hosted server: Immersive Translate, KISS Translator, hcfy, DeepLX."""
import pytest
import requests

from conftest import PATIENCE, Server

ENGLISH = "The committee will meet again on Thursday to discuss the new proposal."
GERMAN = "Der Ausschuss wird am Donnerstag erneut über den neuen Vorschlag beraten."


@pytest.fixture(scope="module")
def server(models):
    with Server(models, "--pivot", "de", "--max-queue-tokens", "1000000") as s:
        yield s


def own(server, text, source, target, **more):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target, **more})
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


def ask(server, path, body, status=200):
    reply = server.post(path, body)
    assert reply.status_code == status, reply.text
    return reply.json()


def test_immersive_translate(server):
    texts = [ENGLISH, GERMAN, ""]
    assert ask(server, "/imme", {"source_lang": "auto", "target_lang": "fr", "text_list": texts}) == {"translations": [
        {"detected_source_lang": "en", "text": own(server, ENGLISH, "en", "fr")},
        {"detected_source_lang": "de", "text": own(server, GERMAN, "de", "fr")},
        {"detected_source_lang": ask(server, "/v1/detect", {"text": ""})["detections"][0]["language"], "text": ""}]}
    named = ask(server, "/imme", {"source_lang": "EN-US", "target_lang": "de", "text_list": ["Hello.", "Three."]})
    assert named["translations"] == [{"detected_source_lang": "en", "text": own(server, t, "en", "de")} for t in ("Hello.", "Three.")]


def test_kiss_translator(server):
    one = {"text": own(server, ENGLISH, "en", "de"), "src": "en"}
    assert ask(server, "/kiss", {"text": ENGLISH, "from": "auto", "to": "de"}) == one
    for texts in ([], None):
        assert ask(server, "/kiss", {"text": ENGLISH, "texts": texts, "from": "en", "to": "de"}) == one
    assert "translations" in ask(server, "/kiss", {"text": None, "texts": [ENGLISH], "from": "en", "to": "de"})
    assert ask(server, "/kiss", {"texts": [ENGLISH, GERMAN], "from": "", "to": "fr"}) == {"translations": [
        {"text": own(server, ENGLISH, "en", "fr"), "src": "en"}, {"text": own(server, GERMAN, "de", "fr"), "src": "de"}]}
    there = ask(server, "/kiss", {"texts": [GERMAN, ENGLISH], "from": "auto", "to": "de"})["translations"]
    assert [t["text"] for t in there] == [GERMAN, own(server, ENGLISH, "en", "de")]  # it is German already


def test_hcfy(server):
    text = ENGLISH + "\n\nHello."
    body = {"name": "any", "text": text, "destination": ["德语", "法语"], "source": "英语"}
    answer = {"text": text, "from": "英语", "to": "德语", "result": own(server, text, "en", "de").split("\n")}
    assert ask(server, "/hcfy", body) == answer and len(answer["result"]) == 3
    for source in ("", None, "auto", "en"):
        assert ask(server, "/hcfy", dict(body, source=source)) == answer
    del body["source"]
    assert ask(server, "/hcfy", body) == answer


def test_hcfys_second_destination(server):
    answer = ask(server, "/hcfy", {"text": GERMAN, "destination": ["德语", "法语"]})
    assert answer == {"text": GERMAN, "from": "德语", "to": "法语", "result": [own(server, GERMAN, "de", "fr")]}
    alone = ask(server, "/hcfy", {"text": GERMAN, "destination": ["德语"]})
    assert (alone["to"], alone["result"]) == ("德语", [GERMAN])


def test_deeplx(server):
    answer = ask(server, "/deeplx", {"text": ENGLISH, "source_lang": "auto", "target_lang": "DE"})
    assert isinstance(answer.pop("id"), int)
    assert answer == {"code": 200, "data": own(server, ENGLISH, "en", "de"), "alternatives": [], "source_lang": "EN",
                      "target_lang": "DE", "method": "Free"}
    page = "<p>Two <b>dogs</b> play.</p>"
    for handling, text in (("html", own(server, page, "en", "de", format="html")), ("", own(server, page, "en", "de"))):
        assert ask(server, "/deeplx", {"text": page, "source_lang": "EN", "target_lang": "DE", "tag_handling": handling})["data"] == text


@pytest.mark.parametrize("path, body, status, message", [
    ("/imme", {"target_lang": "de"}, 400, "text_list is missing"),
    ("/imme", {"target_lang": "de", "text_list": []}, 400, "text_list is an empty array"),
    ("/imme", {"target_lang": "de", "text_list": ["a", 5]}, 400, "text_list must be a string or an array of strings, not an integer"),
    ("/imme", {"text_list": ["a"]}, 400, "target_lang is missing"),
    ("/imme", {"target_lang": "zz", "text_list": ["a"]}, 400, 'target_lang is "zz", expected one of fr, de'),
    ("/imme", {"target_lang": "de", "source_lang": "fr", "text_list": ["a"]}, 400, 'source_lang is "fr", expected one of de, en; to install one: dragoman pull firefox/fr-en'),
    ("/imme", {"target_lang": "de", "source_lang": 5, "text_list": ["a"]}, 400, "source_lang must be a string, not an integer"),
    ("/imme", {"target_lang": "de", "text_list": ["a" * 200001]}, 413, "200001 characters, the limit is 200000"),
    ("/imme", {"target_lang": "de", "text_list": ["a"] * 129}, 413, "129 texts, the limit is 128"),
    ("/kiss", {"from": "en", "to": "de"}, 400, "text is missing"),
    ("/kiss", {"text": ["a"], "from": "en", "to": "de"}, 400, "text must be a string, not an array"),
    ("/kiss", {"text": ["a"], "texts": ["a"], "from": "en", "to": "de"}, 400, "text must be a string, not an array"),
    ("/kiss", {"text": "a", "from": "en", "to": "zz"}, 400, 'to is "zz"'),
    ("/hcfy", {"destination": ["德语"]}, 400, "text is missing"),
    ("/hcfy", {"text": ["a"], "destination": ["德语"]}, 400, "text must be a string"),
    ("/hcfy", {"text": "a"}, 400, "destination must be an array"),
    ("/hcfy", {"text": "a", "destination": []}, 400, "destination must be an array"),
    ("/hcfy", {"text": "a", "destination": [5]}, 400, "destination must be a language's name, not an integer"),
    ("/hcfy", {"text": "a", "destination": ["中文(简体)"]}, 400, 'destination is "中文(简体)", expected one of fr, de'),
    ("/hcfy", {"text": GERMAN, "destination": ["德语", "日语"]}, 400, 'destination is "日语"'),
    ("/hcfy", {"text": "a", "destination": ["德语"], "source": "法语"}, 400, 'source is "法语", expected one of de, en'),
    ("/deeplx", {"target_lang": "DE"}, 404, "No text to translate"),
    ("/deeplx", {"text": "", "target_lang": "DE"}, 404, "No text to translate"),
    ("/deeplx", {"text": ["a"], "target_lang": "DE"}, 400, "text must be a string"),
    ("/deeplx", {"text": "a"}, 400, "target_lang is missing"),
    ("/deeplx", {"text": "a", "target_lang": "DE", "tag_handling": "md"}, 400, "Allowed values are 'html' and 'xml'."),
    ("/deeplx", {"text": "<a>", "target_lang": "DE", "source_lang": "EN", "tag_handling": "xml"}, 400, "not well-formed"),
    ("/deeplx", {"text": "a" * 200001, "target_lang": "DE"}, 413, "the limit is 200000"),
])
def test_bad_input(server, path, body, status, message):
    answer = ask(server, path, body, status)
    if path == "/deeplx":
        assert set(answer) == {"code", "message"} and answer["code"] == status and message in answer["message"]
    else:
        assert set(answer) == {"error"} and message in answer["error"]


@pytest.mark.parametrize("path", ["/imme", "/kiss", "/hcfy", "/deeplx"])
def test_what_is_no_json(server, path):
    reply = requests.post(server.url(path), data="{", headers={"Content-Type": "application/json"}, timeout=PATIENCE)
    assert reply.status_code == 400 and "Invalid JSON format" in reply.text
    assert server.post(path, ["a"]).status_code == 400


def test_chinese_is_written_as_extensions_write_it(tmp_path):
    """A zh-Hans model serves zh-CN and reports it so; hcfy has its own name for it."""
    import bundle
    from conftest import CLI
    bundle.make(CLI, str(tmp_path / "en-zh"), "en", "zh-Hans", seed=4)
    bundle.make(CLI, str(tmp_path / "zh-en"), "zh-Hans", "en", seed=5)
    with Server(str(tmp_path)) as s:
        to = own(s, "Hello.", "en", "zh-Hans")
        assert ask(s, "/imme", {"source_lang": "zh-CN", "target_lang": "en", "text_list": ["a"]})["translations"][0]["detected_source_lang"] == "zh-CN"
        assert ask(s, "/kiss", {"text": "Hello.", "from": "en", "to": "zh-CN"})["text"] == to
        answer = ask(s, "/hcfy", {"text": "Hello.", "source": "英语", "destination": ["中文(简体)", "英语"]})
        assert (answer["from"], answer["to"], answer["result"]) == ("英语", "中文(简体)", to.split("\n"))
        answer = ask(s, "/hcfy", {"text": "今天天气很好，我们去公园散步吧。", "destination": ["中文(简体)", "英语"]})
        assert (answer["from"], answer["to"]) == ("中文(简体)", "英语")
        for wrong in ("/imme", "/kiss"):
            body = {"source_lang": "en", "target_lang": "zh-TW", "text_list": ["a"], "from": "en", "to": "zh-TW", "text": "a"}
            assert ask(s, wrong, body, 400)
        assert {x["language"] for x in s.get("/language/translate/v2/languages").json()["data"]["languages"]} == {"en", "zh-CN"}
