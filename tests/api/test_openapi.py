"""openapi.yaml describes exactly the routes that exist, and replies are what it says."""
import glob
import json
import os
import re
import subprocess

import pytest
import requests
import yaml

from conftest import ROOT, SERVER, Local

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
        reply = requests.request(method, server.url(path), timeout=60)
        # DeepLX answers 404 to a request without a text.
        assert reply.status_code not in (404, 405) or reply.json() == {"code": 404, "message": "No text to translate"}, path


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


def every(node, wanted, at=""):
    """Yields (place, part) for each part of a description that wanted() accepts."""
    if isinstance(node, dict):
        if wanted(node):
            yield at, node
        for key, value in node.items():
            yield from every(value, wanted, "%s/%s" % (at, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from every(value, wanted, "%s/%d" % (at, i))


def schemas_of_replies(document):
    """Returns the schemas that replies refer to, directly or through others, by their reference."""
    seen, left = {}, []
    for path, item in document["paths"].items():
        for method in set(item) & set(METHODS):
            left += [reply for reply in item[method]["responses"].values()]
    while left:
        for _, node in every(left.pop(), lambda n: "$ref" in n):
            name = node["$ref"]
            if name not in seen:
                seen[name] = resolve(document, node)
                left.append(seen[name])
    return seen


def test_replies_schemas_are_closed(document):
    """Every object schema of a reply says which other fields the object may have, if any."""
    replies = [item[m]["responses"] for item in document["paths"].values() for m in set(item) & set(METHODS)]
    open_ones = [at for root in [replies, *schemas_of_replies(document).values()]
                 for at, node in every(root, lambda n: n.get("type") == "object" and "additionalProperties" not in n)]
    described = ("/properties/info", "/properties/paths", "/properties/components", "/items")  # parts of OpenAPI itself, in Description
    assert [at for at in open_ones if not at.endswith(described)] == []


def test_each_operation_says_how_it_refuses(document):
    """Bad framing, size, encoding and slowness are refused on every path."""
    for path, item in document["paths"].items():
        for method in set(item) & set(METHODS):
            assert {"400", "408", "413", "415"} <= set(item[method]["responses"]), (method, path)


@pytest.mark.parametrize("headers, body, status", [
    ({"Content-Encoding": "gzip"}, b"", 415),
    ({}, b"x" * (1 << 21), 413),
    ({"Host": "a\r\nHost: b"}, b"", 400),
    ({"Host": "attacker.com:PORT", "Connection": "close"}, b"", 403),  # DNS rebinding
])
def test_refusals_are_as_described(server, document, headers, body, status):
    for method, path in sorted(described(document)):
        if status == 413 and path == "/v1/models/reload":
            continue  # 403 before that, without keys
        at = re.sub(r"\{.*?\}", "x", path)
        lines = ["%s: %s" % (k, v) for k, v in {"Host": "a", **headers, "Content-Length": len(body)}.items()]
        lines[0] = lines[0].replace("PORT", str(server.port))
        data = server.raw(("%s %s HTTP/1.1\r\n%s\r\n\r\n" % (method, at, "\r\n".join(lines))).encode() + (b"" if status == 413 else body))
        head, _, text = data.partition(b"\r\n\r\n")
        assert head.split(b" ")[1] == b"%d" % status, (path, head)
        told = resolve(document, document["paths"][path][method.lower()]["responses"][str(status)])["content"]["application/json"]["schema"]
        jsonschema = pytest.importorskip("jsonschema")
        jsonschema.Draft4Validator(dict(told, components=document["components"])).validate(json.loads(text))


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
    ("/language/translate/v2", {"q": ["Hello.", "Guten Morgen."], "target": "de", "model": "nmt"}),
    ("/language/translate/v2", {"q": "Hello."}),
    ("/language/translate/v2", {"q": "a" * 200001, "target": "de"}),
    ("/language/translate/v2/detect", {"q": ["Hello.", "Guten Morgen."]}),
    ("/language/translate/v2/detect", {}),
    ("/imme", {"text_list": ["Hello."], "target_lang": "de"}),
    ("/imme", {}),
    ("/kiss", {"text": "Hello.", "to": "de"}),
    ("/kiss", {"texts": ["Hello.", "Guten Morgen."], "from": "auto", "to": "de"}),
    ("/kiss", {"text": "a" * 200001, "to": "de"}),
    ("/hcfy", {"text": "Hello.\nYou.", "destination": ["德语"]}),
    ("/hcfy", {"text": "Hello."}),
    ("/deeplx", {"text": "Hello.", "target_lang": "de"}),
    ("/deeplx", {"text": "Hello.", "target_lang": "xx"}),
    ("/deeplx", {}),
    ("/v1/score", SCORE),
    ("/v1/score", dict(SCORE, target=["a", "b"])),
    ("/v1/models/reload", {}),
    ("/v1/models/reload", {"models": "x"}),
])
def test_posts_answer_as_described(server, document, path, body):
    check(document, "post", path, server.post(path, body))
    check(document, "post", path, server.local("POST", path, body))
    check(document, "post", path, requests.post(server.url(path), data="{}", timeout=60))


@pytest.mark.parametrize("path", ["/", "/livez", "/readyz", "/v1/models", "/languages", "/frontend/settings", "/health", "/spec", "/v2/languages", "/v2/usage", "/v3/languages?resource=translate_text",
                                  "/v3/languages", "/v3/languages/resources",
                                  "/language/translate/v2/languages", "/language/translate/v2/languages?target=de", "/language/translate/v2/languages?target=qq",
                                  "/language/translate/v2?q=Hello&target=de", "/language/translate/v2?q=Hello", "/language/translate/v2/detect?q=Hello"])
def test_gets_answer_as_described(server, document, path):
    check(document, "get", path.partition("?")[0], server.get(path))


def test_a_models_card_is_as_described(server, document):
    for model in server.get("/v1/models").json()["models"]:
        check(document, "get", "/v1/models/{version}/card", server.get("/v1/models/%s/card" % model["version"]))
    check(document, "get", "/v1/models/{version}/card", server.get("/v1/models/none/card"))


def test_the_example_of_a_card_is_that_of_a_bundled_model(document):
    """/docs fills its form in with it."""
    example, = (p["example"] for p in document["paths"]["/v1/models/{version}/card"]["get"]["parameters"] if p.get("name") == "version")
    versions = set()
    for path in glob.glob(os.path.join(ROOT, "weights", "bundles", "*", "manifest.json")):
        with open(path, encoding="utf-8") as f:
            versions.add(json.load(f)["version"])
    assert example in versions


def test_forms_have_the_fields_of_their_json(server, document):
    """A generated client cannot send a field that the description lacks. Each described word is accepted."""
    schemas = document["components"]["schemas"]
    for kind in ("LtTranslate", "LtSuggest", "LtDetect", "DeeplTranslate", "GoogleTranslate", "GoogleDetect"):
        assert set(schemas[kind + "Request"]["properties"]) <= set(schemas[kind + "Form"]["properties"]), kind
    for path, kind, good in (("/v2/translate", "DeeplTranslateForm", {"text": "Hello.", "target_lang": "DE"}),
                             ("/language/translate/v2", "GoogleTranslateForm", {"q": "Hello.", "target": "de"})):
        for field, schema in schemas[kind]["properties"].items():
            for word in schema.get("enum", ()):
                reply = requests.post(server.url(path), data=dict(good, **{field: word}), timeout=60)
                refused = word == "quality_optimized"  # by models of one direction
                assert reply.status_code == (400 if refused else 200), (field, word, reply.text)


def test_a_file_that_is_gone_is_described(models, document, tmp_path):
    """Writes are refused with 500 while the server's file is not at its path (docs/operations.md)."""
    flags = [word for name in ("collections", "documents") for word in ("--" + name, str(tmp_path / (name + ".db")))]
    entries = {"name": "a", "dictionaries": [{"source": "en", "target": "de", "entries": {"dogs": "Haustiere"}}]}
    with Local(models, *flags) as server:
        made = {path: server.local("POST", path, entries).json()["id"] for path in ("/v1/glossaries", "/v1/memories")}
        for name in ("collections.db", "documents.db"):
            (tmp_path / name).rename(tmp_path / ("was_" + name))
        for path, which in made.items():
            for method, at in (("POST", path), ("PUT", path + "/{id}"), ("PATCH", path + "/{id}"), ("DELETE", path + "/{id}")):
                reply = server.local(method, at.replace("{id}", which), entries if method != "DELETE" else None)
                assert reply.status_code == 500, (method, at)
                check(document, method, at, reply)
        reply = requests.post(server.url("/v1/documents"), files={"file": ("a.txt", b"Two dogs.")}, data={"source": "en", "target": "de"}, timeout=60)
        assert reply.status_code == 500
        check(document, "post", "/v1/documents", reply)


def test_examples_are_good_requests(server, document):
    for path in ("/v1/translate", "/v1/batch", "/v1/score", "/v1/detect", "/translate", "/detect", "/v2/translate", "/language/translate/v2",
                 "/language/translate/v2/detect", "/imme", "/kiss", "/hcfy", "/deeplx"):
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
