"""DeepL's API v2 on the wire."""
import re
import subprocess

import pytest
import requests

from conftest import PATIENCE, Server
from test_keys import new_key

ENGLISH = "The committee will meet again on Thursday to discuss the new proposal."
GERMAN = "Der Ausschuss wird am Donnerstag erneut über den neuen Vorschlag beraten."


@pytest.fixture(scope="module")
def server(models):
    with Server(models, "--pivot", "de", "--max-queue-tokens", "1000000") as s:
        yield s


def own(server, text, source, target):
    reply = server.post("/v1/translate", {"text": text, "source": source, "target": target})
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


def test_json_and_form(server):
    expected = {"translations": [{"detected_source_language": "EN", "text": own(server, t, "en", "de")}
                                 for t in ("Hello.", "A & b: 1 %")]}
    body = {"text": ["Hello.", "A & b: 1 %"], "source_lang": "EN", "target_lang": "DE"}
    assert server.post("/v2/translate", body).json() == expected
    assert requests.post(server.url("/v2/translate"), data=body, timeout=PATIENCE).json() == expected
    assert requests.post(server.url("/v2/translate"), params=body, timeout=PATIENCE).json() == expected
    parts = [(name, (None, value)) for name, values in body.items() for value in ([values] if isinstance(values, str) else values)]
    assert requests.post(server.url("/v2/translate"), files=parts, timeout=PATIENCE).json() == expected
    alone = dict(body, text="Hello.", show_billed_characters=True, model_type="latency_optimized", debug=True)
    assert server.post("/v2/translate", alone).json() == {"translations": [dict(
        expected["translations"][0], billed_characters=6, model_type_used="latency_optimized")]}


def test_models_of_one_direction_do_not_rerank(server):
    """quality_optimized is refused, and prefer_quality_optimized translates without reranking. tests/clients has a model that reranks."""
    body = {"text": ["Hello.", "Der Hund schläft heute lange."], "target_lang": "DE"}
    reply = server.post("/v2/translate", dict(body, model_type="quality_optimized"))
    assert reply.status_code == 400 and reply.json() == {"message": "Value for 'model_type' not supported."}
    reply = server.post("/v2/translate", dict(body, model_type="prefer_quality_optimized", source_lang="EN"))
    assert [t["model_type_used"] for t in reply.json()["translations"]] == 2 * ["latency_optimized"]
    assert [t["text"] for t in reply.json()["translations"]] == [own(server, t, "en", "de") for t in body["text"]]


def test_every_reply_has_a_trace_id(server):
    for path, body in (("/v2/translate", {"text": ["Hello."], "target_lang": "DE", "source_lang": "EN"}), ("/v2/translate", {}), ("/v2/none", {}), ("/v2/usage", {})):
        reply = server.post(path, body, headers={"X-Request-Id": "abc"})
        assert reply.headers["X-Trace-ID"] == reply.headers["X-Request-Id"] == "abc"
    assert "X-Trace-ID" not in server.get("/livez").headers


def test_languages_found_out(server):
    answer = server.post("/v2/translate", {"text": [GERMAN, ENGLISH], "target_lang": "fr"}).json()["translations"]
    assert answer == [{"detected_source_language": "DE", "text": own(server, GERMAN, "de", "fr")},
                      {"detected_source_language": "EN", "text": own(server, ENGLISH, "en", "fr")}]


@pytest.mark.parametrize("body, status, message", [
    ({"target_lang": "DE"}, 400, "Parameter 'text' not specified"),
    ({"text": [], "target_lang": "DE"}, 400, "Parameter 'text' not specified"),
    ({"text": ["a"]}, 400, "Value for 'target_lang' not supported."),
    ({"text": ["a"], "target_lang": "XX"}, 400, "Value for 'target_lang' not supported."),
    ({"text": ["a"], "source_lang": "FI", "target_lang": "DE"}, 400,
     "Value for 'source_lang' not supported. To install some: dragoman pull firefox/fi-en firefox/en-de"),
    ({"text": ["a"], "target_lang": "DE", "source_lang": 5}, 400, "Value for 'source_lang' not supported."),
    ({"text": ["a"], "target_lang": "DE", "formality": "less"}, 400, "Target language 'DE' doesn't support formality."),
    ({"text": ["a"], "target_lang": "DE", "formality": "rude"}, 400, "Value for 'formality' not supported."),
    ({"text": ["a"], "target_lang": "DE", "split_sentences": "2"}, 400, "Value for 'split_sentences' not supported."),
    ({"text": ["a"], "target_lang": "DE", "tag_handling": "html", "tag_handling_version": "v3"}, 400,
     "Value for 'tag_handling_version' not supported."),
    ({"text": ["a"], "target_lang": "DE", "tag_handling": "markdown"}, 400, "Value for 'tag_handling' not supported."),
    ({"text": ["a"], "target_lang": "DE", "tag_handling": "xml", "ignore_tags": [5]}, 400, "Value for 'ignore_tags' not supported."),
    ({"text": ["<a>"], "target_lang": "DE", "tag_handling": "xml"}, 400, "the XML is not well-formed: line 1"),
    ({"text": ["a"], "target_lang": "DE", "ignore_tags": [5]}, 400, "Value for 'ignore_tags' not supported."),
    ({"text": ["a"], "target_lang": "DE", "glossary_id": [None]}, 400, "Value for 'glossary_id' not supported."),
    ({"text": ["a"], "target_lang": ["DE"]}, 400, "Value for 'target_lang' not supported."),
    ({"text": ["a"], "target_lang": "DE", "outline_detection": 7}, 400, "Value for 'outline_detection' not supported."),
    ({"text": ["a"], "target_lang": "DE", "glossary_id": "x"}, 400, "Value for 'glossary_id' not supported."),
    ({"text": "a" * 200001, "target_lang": "DE"}, 413, "200001 characters"),
    ({"text": [5], "target_lang": "DE"}, 400, "text must be"),
])
def test_errors_in_its_words(server, body, status, message):
    reply = server.post("/v2/translate", body)
    assert reply.status_code == status
    assert list(reply.json()) == ["message"] and message in reply.json()["message"]


EMPTY = ("source_lang", "formality", "split_sentences", "model_type", "style_id", "glossary_ids", "translation_memory_id", "tag_handling",
         "preserve_formatting", "outline_detection", "show_billed_characters", "glossary_id", "tag_handling_version")


@pytest.mark.parametrize("form", [True, False], ids=["form", "JSON"])
def test_tag_handling_may_be_off(server, form):
    """Clients offer "off" in their menus. It means the same as no tag_handling."""
    body = {"text": ["<b>Two dogs"], "target_lang": "DE"}
    for path in ("/v2/translate", "/deeplx"):
        body["text"] = body["text"] if path[1] == "v" else body["text"][0]
        plain, off = (requests.post(server.url(path), **{"data" if form and path[1] == "v" else "json": dict(body, **more)}, timeout=PATIENCE)
                      for more in ({}, {"tag_handling": "off"}))
        assert off.status_code == 200 and {**off.json(), "id": 0} == {**plain.json(), "id": 0}, off.text


@pytest.mark.parametrize("form", [True, False], ids=["form", "JSON"])
def test_an_empty_option_is_absent(server, form):
    """Forms with fields left open send them so; Mastodon sends source_lang for a post without a language."""
    body = {"text": ["Two dogs\nplay."], "target_lang": "DE"}
    right = server.post("/v2/translate", body).json()
    for empty in ({key: ""} for key in EMPTY):
        reply = requests.post(server.url("/v2/translate"), **{"data" if form else "json": {**body, **empty}}, timeout=PATIENCE)
        assert reply.status_code == 200 and reply.json() == right, (empty, reply.text)
    page = {"text": "<d><t>Two dogs</t><p>play in the snow.</p></d>", "source_lang": "EN", "target_lang": "DE", "tag_handling": "xml"}
    on, empty, off = (requests.post(server.url("/v2/translate"), **{"data" if form else "json": {**page, **more}}, timeout=PATIENCE).json()
                      for more in ({}, {"outline_detection": ""}, {"outline_detection": "0"}))
    assert on == empty != off
    bare = requests.post(server.url("/v2/translate"), data="text=Two%20dogs%0Aplay.&source_lang&target_lang=DE&formality",
                         headers={"Content-Type": "application/x-www-form-urlencoded"}, timeout=PATIENCE)
    assert bare.status_code == 200 and bare.json() == right, bare.text


def test_options_as_numbers(server):
    """JSON of many programs, such as Elixir's deepl package, has 1 and 0, or true and false, for DeepL's "1" and "0"."""
    body = {"text": ["Two dogs\nplay."], "source_lang": "EN", "target_lang": "DE"}
    page = dict(body, text=["<d><t>Two dogs</t><p>play in the snow.</p></d>"], tag_handling="xml")
    for base, key in ((body, "split_sentences"), (page, "outline_detection"), (body, "show_billed_characters")):
        on, off = (server.post("/v2/translate", {**base, key: word}).json() for word in ("1", "0"))
        assert on != off and "translations" in on, on
        for value in (1, True, 0, False):
            assert server.post("/v2/translate", {**base, key: value}).json() == (on if value else off), (key, value)
        for wrong in (2, -1, 0.5, [1]):
            reply = server.post("/v2/translate", {**base, key: wrong})
            assert reply.status_code == 400 and reply.json() == {"message": "Value for '%s' not supported." % key}, (wrong, reply.text)


def test_auto_is_no_language_to_install(server):
    reply = server.post("/v2/translate", {"text": ["a"], "source_lang": "auto", "target_lang": "DE"})
    assert reply.status_code == 400 and reply.json() == {"message": "Value for 'source_lang' not supported."}


@pytest.mark.parametrize("options, text, answer", [
    ({"tag_handling": "html"}, "<p>Two dogs play in the <b>snow</b>.", r"<p>.*<b>.+</b>.*"),
    ({"tag_handling": "xml"}, "<r><p>Two dogs play in the <i>snow</i>.</p></r>", r"<r><p>.*<i>.+</i>.*</p></r>"),
    ({"tag_handling": "xml", "ignore_tags": ["x", "y"]}, "<p>The name is <x>red dog</x>.</p>", r"<p>.*<x>red dog</x>.*</p>"),
    ({"tag_handling": "xml", "splitting_tags": "s,t"}, "Two dogs play. <s>A girl is smiling.</s> yes", r".+ <s>(?!A girl).+</s> .+"),
    ({"tag_handling": "xml", "outline_detection": False, "split_sentences": "nonewlines"}, "<a>Two dogs</a>\n<b>play</b>",
     r"\s*<a>.+</a>\s*<b>.+</b>"),
])
def test_tags(server, options, text, answer):
    """JSON and forms get the same answer. Real translations: test_clients_deepl.py."""
    body = {"text": [text], "source_lang": "EN", "target_lang": "DE", **options}
    (t,) = server.post("/v2/translate", body).json()["translations"]
    assert re.fullmatch(answer, t["text"], re.S), t
    form = {k: "0" if v is False else v for k, v in body.items()}
    reply = requests.post(server.url("/v2/translate"), data=form, timeout=PATIENCE)
    assert reply.json()["translations"][0]["text"] == t["text"]


@pytest.mark.parametrize("between", [" ", ",", " , ", ",,  "])
def test_lists_of_tags_in_one_string(server, between):
    """One string may hold up to 256 names, whatever separates them; the last name counts, too."""
    names = between.join(["x%d" % i for i in range(255)] + ["keep"])
    for field in ("ignore_tags", "splitting_tags", "non_splitting_tags"):
        body = {"text": ["<p>Two dogs. <keep>red dog</keep></p>"], "source_lang": "EN", "target_lang": "DE", "tag_handling": "xml", field: names}
        reply = server.post("/v2/translate", body)
        assert reply.status_code == 200, reply.text
        assert ("<keep>red dog</keep>" in reply.json()["translations"][0]["text"]) == (field == "ignore_tags")
        more = server.post("/v2/translate", dict(body, **{field: names + ",more"}))
        assert more.status_code == 400 and more.json() == {"message": "Value for '%s' not supported: 257 names, the limit is 256." % field}


@pytest.mark.parametrize("handling", ["xml", "html"])
def test_many_tags_and_many_names(server, handling):
    """Each tag is looked up among the names: 38,000 tags and 80,000 names once took a planning thread 36 s."""
    body = {"text": ["<a>" + "<z/>" * 38000 + "12</a>"], "source_lang": "EN", "target_lang": "DE", "tag_handling": handling}
    before = server.cpu_seconds()
    for n, status in ((80000, 400), (256, 200)):
        assert server.post("/v2/translate", dict(body, splitting_tags=["y%d" % i for i in range(n)])).status_code == status
    assert server.cpu_seconds() - before < 3


def test_the_version_of_tags_is_said(server):
    body = {"text": ["<p>Two <b>dogs</b>.</p>", "a"], "source_lang": "EN", "target_lang": "DE", "tag_handling": "html"}
    for version, said in (("v1", "v1"), ("v2", "v2"), (None, "v2")):
        answer = server.post("/v2/translate", dict(body, tag_handling_version=version)).json()["translations"]
        assert [t["tag_handling_version"] for t in answer] == [said] * 2
    del body["tag_handling"]
    assert "tag_handling_version" not in server.post("/v2/translate", dict(body, tag_handling_version="v1")).json()["translations"][0]


def sentences(server):
    return server.metric("dragoman_sentences_total", pair="en-de")


def test_a_text_that_is_not_split(server):
    """split_sentences 0: as many sentences as texts."""
    body = {"text": ["Two dogs play. A girl is smiling.", "He runs. She reads."], "source_lang": "EN", "target_lang": "DE"}
    counted = [sentences(server)]
    for split in ("0", "1"):
        assert len(server.post("/v2/translate", dict(body, split_sentences=split)).json()["translations"]) == 2
        counted.append(sentences(server))
    assert [b - a for a, b in zip(counted, counted[1:])] == [2, 4]
    (one,) = server.post("/v2/translate", dict(body, text=[ENGLISH], split_sentences="0")).json()["translations"]
    assert one["text"] == own(server, ENGLISH, "en", "de")


def test_line_ends_that_end_no_sentence(server):
    """nonewlines is what /v1 calls wrapped; and 0 takes each paragraph for one sentence."""
    wrapped = "Two dogs\nplay. A girl\nis smiling.\n\nHe runs."
    body = {"text": [wrapped], "source_lang": "EN", "target_lang": "DE"}
    v1 = server.post("/v1/translate", {"text": wrapped, "source": "en", "target": "de", "format": "wrapped"}).json()["translations"][0]
    counted = []
    for split in ("1", "nonewlines", "0"):
        before = sentences(server)
        reply = server.post("/v2/translate", dict(body, split_sentences=split))
        assert reply.status_code == 200, reply.text
        counted.append(sentences(server) - before)
        if split == "nonewlines":
            assert reply.json()["translations"][0]["text"] == v1["text"]
    assert counted == [5, len(v1["sentences"]), 2] and len(v1["sentences"]) == 3
    page = {"text": ["<p>Two dogs. They play.</p><p>He runs.</p>"], "source_lang": "EN", "target_lang": "DE", "tag_handling": "html"}
    before = sentences(server)
    assert server.post("/v2/translate", dict(page, split_sentences="0")).json()["translations"][0]["text"].count("<p>") == 2
    assert sentences(server) - before == 2


def test_languages_of_resources(server):
    every = {"tag_handling": {"status": "stable"}, "glossary": {"status": "stable"}}
    detected = dict(every, auto_detection={"status": "stable"})
    languages = {x.pop("lang"): x for x in server.get("/v3/languages?resource=translate_text&include=beta").json()}
    assert languages == {
        "de": {"name": "German", "usable_as_source": True, "usable_as_target": True, "status": "stable", "features": detected},
        "en": {"name": "English", "usable_as_source": True, "usable_as_target": False, "status": "stable", "features": detected},
        "fr": {"name": "French", "usable_as_source": False, "usable_as_target": True, "status": "stable", "features": every}}
    for resource in ("translate_document", "glossary", "voice", "write", "style_rules", "translation_memory"):
        assert server.get("/v3/languages?resource=" + resource).json() == []
    assert [r["name"] for r in server.get("/v3/languages/resources").json()] == ["translate_text"]
    for query, message in (("", "Parameter 'resource' not specified"), ("?resource=x", "Value for 'resource' not supported.")):
        reply = server.get("/v3/languages" + query)
        assert (reply.status_code, reply.json()) == (400, {"message": message})


def test_languages(server):
    assert server.get("/v2/languages").json() == [{"language": "DE", "name": "German"}, {"language": "EN", "name": "English"}]
    targets = [{"language": "FR", "name": "French", "supports_formality": False},
               {"language": "DE", "name": "German", "supports_formality": False}]
    for ask in (lambda: requests.get(server.url("/v2/languages"), data={"type": "target"}, timeout=PATIENCE),  # a body on GET
                lambda: server.get("/v2/languages?type=target"), lambda: server.post("/v2/languages", {"type": "target"})):
        assert ask().json() == targets
    assert server.get("/v2/languages?type=other").status_code == 400


def test_json_declared_without_a_body(server):
    declared = {"Content-Type": "application/json"}
    for path in ("/v2/languages?type=target", "/v3/languages?resource=translate_text"):
        assert server.get(path, headers=declared).json() == server.get(path).json()
        assert requests.head(server.url(path), headers=declared, timeout=PATIENCE).status_code == 200
    empty = requests.post(server.url("/v2/translate"), params={"text": "Hello.", "target_lang": "DE"}, headers=declared, timeout=PATIENCE)
    assert empty.status_code == 400 and "JSON" in empty.json()["message"]


def test_keys(models, tmp_path):
    keys = str(tmp_path / "keys.db")
    secret = new_key(keys, "--characters-per-day", "20")
    body = {"text": ["Hello."], "source_lang": "en", "target_lang": "de"}
    with Server(models, "--keys", keys) as s:
        with_key = {"Authorization": "DeepL-Auth-Key " + secret}
        assert s.post("/v2/translate", body).status_code == 403
        assert s.post("/v2/translate", body, headers={"Authorization": "DeepL-Auth-Key no"}).status_code == 403
        assert s.post("/v2/translate", body, headers=with_key).status_code == 200
        assert s.post("/v2/translate", dict(body, auth_key=secret)).status_code == 200
        assert s.get("/v2/usage", headers=with_key).json() == {"character_count": 12, "character_limit": 20}
        assert s.get("/v1/usage", headers={"Authorization": "Bearer " + secret}).json() == {"characters": 12, "limit": 20}
        assert s.get("/v1/usage").status_code == 401
        over = s.post("/v2/translate", dict(body, text=["Hello there."]), headers=with_key)
        assert (over.status_code, over.json()) == (456, {"message": "Quota exceeded"})
        assert s.get("/v2/usage", headers=with_key).json()["character_count"] == 12
        assert s.get("/v2/usage").status_code == 403
        assert s.get("/v2/usage", params={"auth_key": secret}, headers={"Content-Type": "application/json"}).status_code == 200
        assert s.get("/v2/languages").status_code == 403


def test_one_dialect_alone(models):
    with Server(models, "--dialects", "libretranslate") as s:
        assert s.get("/v2/languages").status_code == 404 and s.get("/languages").status_code == 200
    bad = subprocess.run([*Server(models, "--dialects", "deeepl").command], capture_output=True, text=True, timeout=PATIENCE)
    assert bad.returncode == 2 and 'dialects has "deeepl"' in bad.stderr
