"""openapi.yaml describes exactly the routes that exist, and replies are what it says."""
import json
import os
import subprocess

import pytest
import requests
import yaml

from conftest import ROOT, SERVER

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


@pytest.fixture(scope="module")
def document():
    with open(os.path.join(ROOT, "openapi.yaml"), encoding="utf-8") as f:
        return yaml.safe_load(f)


def described(document):
    return {(m.upper(), path) for path, item in document["paths"].items() for m in item if m in METHODS}


def test_routes_both_ways(document):
    printed = subprocess.run([SERVER, "--routes"], capture_output=True, text=True, check=True).stdout
    existing = {tuple(line.split(" ")) for line in printed.splitlines()}
    assert existing == described(document)


def test_described_routes_answer(server, document):
    for method, path in described(document):
        path = path.replace("{file}", "style.css").replace("{version}", server.get("/v1/models").json()["models"][0]["version"])
        assert requests.request(method, server.url(path), timeout=60).status_code not in (404, 405), path


def test_the_server_gives_the_same_document(server):
    with open(os.path.join(ROOT, "openapi.yaml"), "rb") as f:
        assert server.get("/openapi.yaml").content == f.read()


def test_version_is_the_programs(document):
    printed = subprocess.run([SERVER, "--version"], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["dragoman-server", document["info"]["version"]]


def check(document, method, path, reply):
    jsonschema = pytest.importorskip("jsonschema")
    responses = document["paths"][path][method.lower()]["responses"]
    assert str(reply.status_code) in responses, (path, reply.status_code)
    described_reply = resolve(document, responses[str(reply.status_code)])
    for name, header in described_reply.get("headers", {}).items():
        assert name in reply.headers, (path, name)
        schema = resolve(document, header)["schema"]
        if schema["type"] == "string":
            jsonschema.validate(reply.headers[name], schema)
    content = described_reply["content"]["application/json"]["schema"]
    jsonschema.Draft4Validator(dict(content, components=document["components"])).validate(reply.json())


def resolve(document, node):
    while "$ref" in node:
        at = document
        for key in node["$ref"].lstrip("#/").split("/"):
            at = at[key]
        node = at
    return node


GOOD = {"text": "Hello.", "source": "en", "target": "de"}
SCORE = {"text": "Hello.", "translation": "Hallo.", "source": "en", "target": "de"}


@pytest.mark.parametrize("path, body", [
    ("/v1/translate", GOOD),
    ("/v1/translate", dict(GOOD, text=["One. Two.", "", "12", "Three\n"], n_best=2, scores=True)),
    ("/v1/translate", dict(GOOD, text=1)),
    ("/v1/translate", dict(GOOD, source="zz")),
    ("/v1/translate", dict(GOOD, text="a" * 200001)),
    ("/v1/translate", dict(GOOD, priority="bulk")),
    ("/v1/translate", dict(GOOD, priority="later")),
    ("/v1/batch", {"items": [dict(GOOD, id="a"), dict(GOOD, id=1, source="zz"), GOOD, 5]}),
    ("/v1/batch", {"items": []}),
    ("/v1/detect", {"text": ["Guten Morgen.", "12"]}),
    ("/v1/detect", {"text": []}),
    ("/v1/translate", dict(GOOD, source="auto", text=["Hello, how are you?", "Good morning, everybody."])),
    ("/translate", {"q": ["Hello.", "Guten Morgen."], "source": "auto", "target": "de", "alternatives": 2}),
    ("/translate", {"q": "Hello.", "source": "auto", "target": "de", "alternatives": 1}),
    ("/translate", {"q": "Hello."}),
    ("/detect", {"q": "Hello."}),
    ("/detect", {}),
    ("/v2/translate", {"text": ["Hello."], "target_lang": "DE", "show_billed_characters": True, "model_type": "latency_optimized"}),
    ("/v2/translate", {"text": "a" * 200001, "target_lang": "DE"}),
    ("/v2/translate", {}),
    ("/v1/score", SCORE),
    ("/v1/score", dict(SCORE, target=["a", "b"])),
    ("/v1/models/reload", {}),
    ("/v1/models/reload", {"models": "x"}),
])
def test_posts_answer_as_described(server, document, path, body):
    check(document, "post", path, server.post(path, body))
    check(document, "post", path, server.local("POST", path, body))
    check(document, "post", path, requests.post(server.url(path), data="{}", timeout=60))


@pytest.mark.parametrize("path", ["/", "/livez", "/readyz", "/v1/models", "/languages", "/frontend/settings", "/health", "/spec", "/v2/languages", "/v2/usage"])
def test_gets_answer_as_described(server, document, path):
    check(document, "get", path, server.get(path))


def test_a_models_card_is_as_described(server, document):
    for model in server.get("/v1/models").json()["models"]:
        check(document, "get", "/v1/models/{version}/card", server.get("/v1/models/%s/card" % model["version"]))
    check(document, "get", "/v1/models/{version}/card", server.get("/v1/models/none/card"))


def test_examples_are_good_requests(server, document):
    for path in ("/v1/translate", "/v1/batch", "/v1/score", "/v1/detect", "/translate", "/detect", "/v2/translate"):
        example = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
        assert server.post(path, example).status_code == 200


def test_streamed_sentences_are_as_described(server, document):
    jsonschema = pytest.importorskip("jsonschema")
    text = server.translate("One. Two.", stream=True).text
    data = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    schema = dict(document["components"]["schemas"]["StreamedSentence"], components=document["components"])
    for line in data[:-1]:
        jsonschema.Draft4Validator(schema).validate(json.loads(line))
    whole = dict(document["components"]["schemas"]["TranslateResponse"], components=document["components"])
    jsonschema.Draft4Validator(whole).validate(json.loads(data[-1]))
