"""GET /docs: openapi.yaml as a page that stands alone."""
import html
import html.parser
import os
import re

import pytest
import yaml

from conftest import ROOT

METHODS = ("get", "post", "put", "patch", "delete")


class Page(html.parser.HTMLParser):
    """Checks nesting, and keeps tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.ids, self.links = [], set(), [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.add(tag)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [v for k, v in attributes.items() if k in ("href", "src", "action", "data")]
        assert not [k for k in attributes if k.startswith("on")]
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        self.words.append(data)

    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))


@pytest.fixture(scope="module")
def document():
    with open(os.path.join(ROOT, "openapi.yaml"), encoding="utf-8") as f:
        return yaml.safe_load(f)


@pytest.fixture(scope="module")
def page(server):
    reply = server.get("/docs")
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    return Page(reply.text)


def test_nothing_from_elsewhere(server, page):
    """The page has the web page's own policy: no inline script or style, and nothing from elsewhere."""
    headers = server.get("/docs").headers
    policy = headers["Content-Security-Policy"]
    assert policy == server.get("/", headers={"Accept": "text/html"}).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "form-action 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not page.tags & {"style", "img", "iframe", "object", "embed"}
    for link in page.links:
        assert link in ("openapi.yaml", "web/docs.css", "web/docs.js") or link.startswith("#"), link
    for link in ("web/docs.css", "web/docs.js"):
        reply = server.get("/" + link)
        assert reply.status_code == 200 and "url(" not in reply.text and "@import" not in reply.text


def test_links_lead_somewhere(page):
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        assert not link.startswith("#") or link[1:] in page.ids, link


def test_every_operation_is_there(page, document):
    text = page.text()
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                assert item[method]["operationId"] in page.ids
                assert text.count("%s %s" % (method.upper(), path)) >= 2  # list and section
                assert item[method]["summary"] in text


def test_every_schema_and_field_is_there(page, document):
    text = page.text()
    for name, schema in document["components"]["schemas"].items():
        assert "schema-" + name in page.ids
        for field, value in schema.get("properties", {}).items():
            assert field in page.words, (name, field)
            described = re.sub(r"\s+", " ", value.get("description", "")).replace("`", "").strip()
            assert described in text, (name, field)


def test_examples_are_json(server, document):
    import json
    text = server.get("/docs").text
    examples = [m["content"]["application/json"]["example"]
                for item in document["paths"].values() for o in item.values()
                for m in [o.get("requestBody", {"content": {}})] if "example" in m["content"].get("application/json", {})]
    blocks = [html.unescape(b) for b in re.findall(r"<pre>(.*?)</pre>", text, re.S)]
    assert [json.loads(b) for b in blocks] == examples
    forms = [html.unescape(b) for b in re.findall(r"<textarea[^>]*>(.*?)</textarea>", text, re.S)]
    assert [json.loads(b) for b in forms if b != "{}"] == examples


def fields_of(document, operation):
    """Names of what an operation's form must have a field for. Keys have one field for all forms; what a body says, too, is in the body."""
    def resolved(node):
        while "$ref" in node:
            found = document
            for part in node["$ref"][2:].split("/"):
                found = found[part]
            node = found
        return node
    content = operation.get("requestBody", {}).get("content", {})
    parameters = [resolved(p) for p in operation.get("parameters", [])]
    names = [p["name"] for p in parameters if p["in"] == "path" or (p["in"] == "query" and ("example" in p or not content))]
    if "multipart/form-data" in content:
        names += resolved(content["multipart/form-data"]["schema"])["properties"]
    return [n for n in names if n not in ("api_key", "key", "token")]


def test_every_form_has_the_fields_of_its_operation(server, document):
    """A form without `source` and `target` deleted a whole glossary where one pair of languages was meant; one without a file sent none."""
    forms = dict(re.findall(r'(<form data-method="[A-Z]+" data-path="[^"]*">)(.*?)</form>', server.get("/docs").text, re.S))
    for path, item in document["paths"].items():
        for method in set(METHODS) & set(item):
            form = forms['<form data-method="%s" data-path="%s">' % (method.upper(), path[1:])]
            assert re.findall(r'<input id="[^"]*" name="([^"]*)"', form) == fields_of(document, item[method]), (method, path)


def test_every_operation_has_a_form(page, server, document):
    forms = re.findall(r'<form data-method="([A-Z]+)" data-path="([^"]*)">', server.get("/docs").text)
    assert sorted(forms) == sorted((method.upper(), path[1:]) for path, item in document["paths"].items()
                                   for method in METHODS if method in item)
