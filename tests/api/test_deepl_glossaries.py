"""DeepL's glossary API, v2 and v3, on the wire: stored with --collections, each key has its own, and /v1/glossaries shows the same ones."""
import re

import deepl
import pytest
import requests

from conftest import EN_DE, PATIENCE, Server
from test_keys import new_key

TEXT = "Two dogs play in the snow."
ONE = {"name": "pets", "source_lang": "EN-US", "target_lang": "de", "entries": "dogs\tHaustiere\nsnow\tRegen", "entries_format": "tsv"}
MANY = {"name": "pets", "dictionaries": [{k: v for k, v in ONE.items() if k != "name"}]}
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(EN_DE, "--collections", str(tmp_path_factory.mktemp("collections") / "c.db")) as s:
        yield s


def ask(server, method, path, body=None, key="any", **others):
    return requests.request(method, server.url(path), json=body, timeout=PATIENCE, headers={"Authorization": "DeepL-Auth-Key " + key}, **others)


def translated(server, key="any", **fields):
    reply = ask(server, "POST", "/v2/translate", {"text": [TEXT], "source_lang": "EN", "target_lang": "DE", **fields}, key)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


@pytest.mark.parametrize("how", [
    {"json": ONE}, {"data": ONE}, {"json": {**ONE, "entries": "dogs,Haustiere\nsnow,Regen\n", "entries_format": "csv"}}])
def test_one_pair(server, how):
    reply = requests.post(server.url("/v2/glossaries"), timeout=PATIENCE, **how)
    made = reply.json()
    assert reply.status_code == 201 and re.fullmatch(MOMENT, made.pop("creation_time"))
    assert made == {"glossary_id": made["glossary_id"], "name": "pets", "ready": True, "source_lang": "en", "target_lang": "de", "entry_count": 2}
    path = "/v2/glossaries/" + made["glossary_id"]
    assert "Haustiere" in translated(server, glossary_id=made["glossary_id"]) and "Haustiere" not in translated(server)
    assert made.items() <= ask(server, "GET", path).json().items()
    assert made["glossary_id"] in [g["glossary_id"] for g in ask(server, "GET", "/v2/glossaries").json()["glossaries"]]
    entries = ask(server, "GET", path + "/entries")
    assert entries.text == "dogs\tHaustiere\nsnow\tRegen\n" and entries.headers["Content-Type"].startswith("text/tab-separated-values")
    assert server.get("/v1" + path[3:]).json()["dictionaries"] == [{"source": "en", "target": "de", "entries": 2}]
    assert ask(server, "DELETE", path).status_code == 204
    for method, at in (("GET", ""), ("DELETE", ""), ("GET", "/entries")):
        gone = ask(server, method, path + at)
        assert gone.status_code == 404 and list(gone.json()) == ["message"]
    refused = ask(server, "POST", "/v2/translate", {"text": [TEXT], "source_lang": "EN", "target_lang": "DE", "glossary_id": made["glossary_id"]})
    assert refused.status_code == 400 and "glossary_id" in refused.json()["message"]


def test_several_pairs(models, tmp_path):
    with Server(models, "--collections", str(tmp_path / "c.db")) as server:
        back = {"source_lang": "de", "target_lang": "fr-CA", "entries": "Schnee,verglas", "entries_format": "csv"}
        reply = ask(server, "POST", "/v3/glossaries", {"name": "pets", "dictionaries": [*MANY["dictionaries"], back]})
        made = reply.json()
        path = "/v3/glossaries/" + made["glossary_id"]
        assert reply.status_code == 201 and re.fullmatch(MOMENT, made["creation_time"]) and made["name"] == "pets"
        assert made["dictionaries"] == [{"source_lang": "de", "target_lang": "fr", "entry_count": 1}, {"source_lang": "en", "target_lang": "de", "entry_count": 2}]
        assert ask(server, "GET", path).json() == made and ask(server, "GET", "/v3/glossaries").json() == {"glossaries": [made]}
        # v2 shows only glossaries of a single pair.
        assert ask(server, "GET", "/v2/glossaries").json() == {"glossaries": []}
        assert ask(server, "GET", "/v2" + path[3:]).status_code == ask(server, "DELETE", "/v2" + path[3:]).status_code == 404
        more = ask(server, "PATCH", path, {"name": "new", "dictionaries": [{**MANY["dictionaries"][0], "entries": "snow\tWind\nplay\tsingen"}]}).json()
        assert more["name"] == "new" and more["dictionaries"][1]["entry_count"] == 3
        entries = ask(server, "GET", path + "/entries?source_lang=EN&target_lang=DE").json()
        assert entries == {"dictionaries": [{"source_lang": "en", "target_lang": "de", "entries": "dogs\tHaustiere\nplay\tsingen\nsnow\tWind\n", "entries_format": "tsv"}]}
        put = ask(server, "PUT", path + "/dictionaries", {**MANY["dictionaries"][0], "entries": "snow\tEis"})
        assert put.status_code == 200 and put.json() == {"source_lang": "en", "target_lang": "de", "entry_count": 1}
        assert "Eis" in translated(server, glossary_id=made["glossary_id"])
        assert ask(server, "PATCH", path, {}).json()["dictionaries"] == [made["dictionaries"][0], put.json()]
        assert ask(server, "DELETE", path + "/dictionaries?source_lang=de&target_lang=FR").status_code == 204
        assert ask(server, "DELETE", path + "/dictionaries?source_lang=de&target_lang=fr").status_code == 404
        assert ask(server, "GET", path + "/entries?source_lang=de&target_lang=fr").status_code == 404
        assert ask(server, "GET", "/v2" + path[3:]).json()["entry_count"] == 1
        assert ask(server, "DELETE", path).status_code == 204 and ask(server, "GET", "/v3/glossaries").json() == {"glossaries": []}


def in_a_form(body):
    """The body as DeepL's Node, Java and .NET clients send it."""
    return {**{k: v for k, v in body.items() if k != "dictionaries"},
            **{"dictionaries[%d].%s" % (i, k): v for i, d in enumerate(body.get("dictionaries", [])) for k, v in d.items()}}


def test_several_pairs_in_forms(models, tmp_path):
    with Server(models, "--collections", str(tmp_path / "c.db")) as server:
        def form(method, path, body):
            return requests.request(method, server.url(path), data=in_a_form(body), timeout=PATIENCE)
        back = {"source_lang": "de", "target_lang": "fr", "entries": "Schnee,verglas", "entries_format": "csv"}
        made = form("POST", "/v3/glossaries", {**MANY, "dictionaries": [*MANY["dictionaries"], back]})
        assert made.status_code == 201, made.text
        assert made.json()["dictionaries"] == [{"source_lang": "de", "target_lang": "fr", "entry_count": 1}, {"source_lang": "en", "target_lang": "de", "entry_count": 2}]
        path = "/v3/glossaries/" + made.json()["glossary_id"]
        renamed = form("PATCH", path, {"name": "new"})
        assert renamed.status_code == 200 and renamed.json() == {**made.json(), "name": "new"}
        more = form("PATCH", path, {"dictionaries": [{**MANY["dictionaries"][0], "entries": "play\tsingen"}]})
        assert more.status_code == 200 and more.json()["name"] == "new" and more.json()["dictionaries"][1]["entry_count"] == 3
        put = form("PUT", path + "/dictionaries", {**MANY["dictionaries"][0], "entries": "snow\tEis"})
        assert put.status_code == 200 and put.json() == {"source_lang": "en", "target_lang": "de", "entry_count": 1}
        assert "Eis" in translated(server, glossary_id=made.json()["glossary_id"])


@pytest.mark.parametrize("body,status,told", [
    ({"name": "a"}, 400, "dictionaries"), ({**MANY, "name": ""}, 400, "name"), ({**MANY, "dictionaries": MANY["dictionaries"] * 65}, 413, "limit is 64"),
    ({"name": "a", "dictionaries": [{"source_lang": "en"}]}, 400, "target_lang"), ({"name": "a", "dictionaries": [{**MANY["dictionaries"][0], "entries": "one"}]}, 400, "Invalid"),
    ({"name": "a", "dictionaries[1].source_lang": "en"}, 400, "dictionaries"), ({"name": "a", "dictionaries": []}, 400, "dictionaries")])
def test_wrong_forms_in_its_words(server, body, status, told):
    reply = requests.post(server.url("/v3/glossaries"), data=in_a_form(body), timeout=PATIENCE)
    assert reply.status_code == status and list(reply.json()) == ["message"] and told in reply.json()["message"], reply.text


LANGUAGES = [({"source_lang": "XX"}, "source_lang"), ({"target_lang": "XX"}, "target_lang"), ({"target_lang": "EN"}, "target_lang"), ({"source_lang": None}, "source_lang"),
             ({"source_lang": "de", "target_lang": "en"}, "lang")]
ENTRIES = [({"entries": ""}, "entries"), ({"entries": "one"}, "Invalid glossary entries provided"), ({"entries": None}, "entries"), ({"entries": {"a": "b"}}, "entries"),
           ({"entries_format": "tmx"}, "entries_format"), ({"entries": "a\t" + "b" * 1025}, "1025 bytes")]
WRONG = [("POST", "/v2/glossaries", {**ONE, **f}, 400, told) for f, told in LANGUAGES + ENTRIES + [({"name": ""}, "name"), ({"name": "n" * 256}, "name"), ({"name": 5}, "name")]] + [
    ("POST", "/v3/glossaries", {"name": "a", "dictionaries": [{**MANY["dictionaries"][0], **f}]}, 400, told if told != "entries" else "") for f, told in LANGUAGES + ENTRIES[:2]] + [
    ("POST", "/v3/glossaries", {**MANY, "dictionaries": []}, 400, "dictionaries"), ("POST", "/v3/glossaries", {**MANY, "dictionaries": [5]}, 400, "dictionaries"),
    ("POST", "/v3/glossaries", {**MANY, "dictionaries": "a"}, 400, "dictionaries"), ("POST", "/v3/glossaries", {**MANY, "name": None}, 400, "name"),
    ("POST", "/v3/glossaries", {**MANY, "dictionaries": MANY["dictionaries"] * 65}, 413, "limit is 64"),
    ("PATCH", "/v3/glossaries/x", MANY, 404, "no glossary"), ("PUT", "/v3/glossaries/x/dictionaries", MANY["dictionaries"][0], 404, "no glossary"),
    ("PUT", "/v3/glossaries/x/dictionaries", {}, 400, "source_lang"), ("GET", "/v3/glossaries/x/entries", None, 400, "source_lang"),
    ("GET", "/v3/glossaries/x/entries?source_lang=en&target_lang=!", None, 400, "target_lang"), ("DELETE", "/v3/glossaries/x/dictionaries?source_lang=en", None, 400, "target_lang"),
    ("GET", "/v3/glossaries/x/entries?source_lang=en&target_lang=de", None, 404, "no glossary"), ("DELETE", "/v3/glossaries/x/dictionaries?source_lang=en&target_lang=de", None, 404, "no glossary")]


@pytest.mark.parametrize("method,path,body,status,told", WRONG, ids=range(len(WRONG)))
def test_wrong_requests_in_its_words(server, method, path, body, status, told):
    before = server.get("/v1/glossaries").json()
    reply = ask(server, method, path, body)
    assert reply.status_code == status and list(reply.json()) == ["message"] and told in reply.json()["message"], reply.text
    assert server.get("/v1/glossaries").json() == before


def test_other_bodies(server):
    for method, at in (("POST", ""), ("PATCH", "/x"), ("PUT", "/x/dictionaries")):
        other = requests.request(method, server.url("/v3/glossaries" + at), data="a", headers={"Content-Type": "text/plain"}, timeout=PATIENCE)
        assert other.status_code == 415 and "application/x-www-form-urlencoded" in other.json()["message"]
    assert requests.post(server.url("/v2/glossaries"), data="{", headers={"Content-Type": "application/json"}, timeout=PATIENCE).status_code == 400
    put = requests.put(server.url("/v2/glossaries/x"), timeout=PATIENCE)
    assert put.status_code == 405 and put.headers["Allow"] == "GET, HEAD, DELETE, OPTIONS" and list(put.json()) == ["message"]


def test_a_dictionary_is_found_by_its_own_codes(server):
    """A glossary may have de-AT beside de: made at /v1/glossaries, or when there was a model for it."""
    def dictionaries(path):
        entries = {}
        for d in server.get("/v1" + path[3:]).json()["dictionaries"]:
            query = "?source=%s&target=%s" % (d["source"], d["target"])
            accepts = {"Accept": "text/tab-separated-values"}
            entries[d["source"], d["target"]] = server.get("/v1" + path[3:] + "/entries" + query, headers=accepts).text
        return entries
    german, austrian, swiss = (("en", t) for t in ("de", "de-AT", "de-CH"))
    made = server.post("/v1/glossaries", {"name": "a", "dictionaries": [
        {"source": "en", "target": "de", "entries": {"dog": "Hund", "cat": "Katze"}}, {"source": "en", "target": "de-AT", "entries": {"tomato": "Paradeiser"}}]}).json()
    path = "/v3/glossaries/" + made["id"]
    before = dictionaries(path)
    for source, target in (("en", "de-AT"), ("EN", "DE_at"), ("en-US", "de-AT")):
        entries = ask(server, "GET", path + "/entries?source_lang=%s&target_lang=%s" % (source, target)).json()["dictionaries"][0]
        assert (entries["target_lang"], entries["entries"]) == ("de-AT", "tomato\tParadeiser\n")
    put = ask(server, "PUT", path + "/dictionaries", {"source_lang": "en-US", "target_lang": "de-AT", "entries": "potato\tErdapfel", "entries_format": "tsv"})
    assert put.status_code == 200 and put.json() == {"source_lang": "en", "target_lang": "de-AT", "entry_count": 1}
    assert dictionaries(path) == {german: before[german], austrian: "potato\tErdapfel\n"}
    more = {"source_lang": "en", "target_lang": "DE-AT", "entries": "plum\tZwetschke", "entries_format": "tsv"}
    assert ask(server, "PATCH", path, {"dictionaries": [more, {**more, "target_lang": "de-CH", "entries": "bike\tVelo"}]}).status_code == 200
    now = dictionaries(path)
    assert now[austrian] == "plum\tZwetschke\npotato\tErdapfel\n" and swiss not in now and now[german] == "bike\tVelo\n" + before[german]
    assert ask(server, "DELETE", path + "/dictionaries?source_lang=en-GB&target_lang=de-AT").status_code == 204
    assert list(dictionaries(path)) == [german]
    assert ask(server, "DELETE", path).status_code == 204


def test_a_request_uses_the_entries_for_its_own_code(server):
    """One model for `de` used to answer every region by the first region's entries."""
    regions = {"de-AT": "Erdapfel", "de-CH": "Knolle"}
    made = ask(server, "POST", "/v1/glossaries", {"name": "potatoes", "dictionaries": [
        {"source": "en-US", "target": target, "entries": {"potato": word}} for target, word in regions.items()]}).json()
    for source in ("en", "en-US", "en-GB"):
        for target, word in regions.items():
            body = {"text": "potato", "source": source, "target": target, "glossary": made["id"]}
            reply = ask(server, "POST", "/v1/translate", body)
            assert reply.status_code == 200 and reply.json()["translations"][0]["text"] == word, reply.text
            assert translated(server, text=["potato"], target_lang=target.upper(), glossary_id=made["id"]) == word
    assert translated(server, text=["potato"], glossary_id=made["id"]) in regions.values()


def test_entries_for_one_region_are_not_for_another(server):
    """Entries for `de` took those for `de-AT` along to a request for `de-CH`."""
    made = ask(server, "POST", "/v1/glossaries", {"name": "tomatoes", "dictionaries": [
        {"source": "en", "target": "de", "entries": {"potato": "Knolle"}}, {"source": "en", "target": "de-AT", "entries": {"tomato": "Paradeiser"}}]}).json()
    for target, words in (("DE", ["Knolle", "Paradeiser"]), ("DE-AT", ["Knolle", "Paradeiser"]), ("DE-CH", ["Knolle", None])):
        answers = [translated(server, text=[text], target_lang=target, glossary_id=made["id"]) for text in ("potato", "tomato")]
        assert [a if a in ("Knolle", "Paradeiser") else None for a in answers] == words, (target, answers)


def test_json_declared_without_a_body(server):
    made = ask(server, "POST", "/v3/glossaries", MANY).json()
    path, pair = "/v3/glossaries/" + made["glossary_id"], "?source_lang=en&target_lang=de"
    declared = {"Authorization": "DeepL-Auth-Key any", "Content-Type": "application/json"}
    entries = requests.get(server.url(path + "/entries" + pair), headers=declared, timeout=PATIENCE)
    assert entries.status_code == 200 and entries.json()["dictionaries"][0]["entries"] == "dogs\tHaustiere\nsnow\tRegen\n"
    memories = requests.get(server.url("/v3/translation_memories?page_size=1"), headers=declared, timeout=PATIENCE)
    assert memories.status_code == 200
    removed = requests.delete(server.url(path + "/dictionaries" + pair), headers=declared, timeout=PATIENCE)
    assert removed.status_code == 204
    assert ask(server, "DELETE", path).status_code == 204


def test_pairs(server):
    assert server.get("/v2/glossary-language-pairs").json() == {"supported_languages": [{"source_lang": "en", "target_lang": "de"}]}
    languages = server.get("/v3/languages?resource=glossary").json()
    assert [(x["lang"], x["usable_as_source"], x["usable_as_target"]) for x in languages] == [("en", True, False), ("de", False, True)]
    assert "glossary" in [r["name"] for r in server.get("/v3/languages/resources").json()]


def test_without_collections_no_pair_is_listed():
    """Weblate asks for the client's glossaries of each pair that is listed; it takes 403 there as a reason to stop for half an hour."""
    with Server(EN_DE) as s:
        assert s.get("/v2/glossary-language-pairs").json() == {"supported_languages": []}
        assert s.get("/v2/glossaries").status_code == 403


def test_each_key_has_its_own(tmp_path):
    keys = str(tmp_path / "keys.db")
    a, b = new_key(keys), new_key(keys)
    with Server(EN_DE, "--collections", str(tmp_path / "c.db"), "--keys", keys) as s:
        made = ask(s, "POST", "/v2/glossaries", ONE, a).json()
        path = "glossaries/" + made["glossary_id"]
        assert "Haustiere" in translated(s, a, glossary_id=made["glossary_id"])
        assert ask(s, "POST", "/v2/translate", {"text": [TEXT], "source_lang": "EN", "target_lang": "DE", "glossary_id": made["glossary_id"]}, b).status_code == 400
        for method, at, body in (("GET", "", None), ("DELETE", "", None), ("GET", "/entries?source_lang=en&target_lang=de", None), ("PATCH", "", MANY),
                                 ("PUT", "/dictionaries", MANY["dictionaries"][0]), ("DELETE", "/dictionaries?source_lang=en&target_lang=de", None)):
            assert ask(s, method, "/v3/" + path + at, body, b).status_code == 404, (method, at)
        assert ask(s, "GET", "/v2/" + path, key=b).status_code == 404 and ask(s, "GET", "/v3/glossaries", key=b).json() == {"glossaries": []}
        assert ask(s, "GET", "/v2/glossaries", key="wrong").status_code == ask(s, "POST", "/v3/glossaries", MANY, "wrong").status_code == 403
        assert ask(s, "DELETE", "/v2/" + path, key=a).status_code == 204


def test_memories(tmp_path):
    keys = str(tmp_path / "keys.db")
    a, b = new_key(keys), new_key(keys)
    with Server(EN_DE, "--collections", str(tmp_path / "c.db"), "--keys", keys) as s:
        def make(name, *pairs):
            made = s.post("/v1/memories", {"name": name, "dictionaries": [{"source": x, "target": y, "entries": {"A cat.": "1", "A dog.": "2"}} for x, y in pairs]},
                          headers={"Authorization": "Bearer " + a})
            return made.json()["id"]
        ids = [make("one", ("en", "de")), make("two", ("en", "de"), ("en", "fr"), ("fr", "en"))]
        got = ask(s, "GET", "/v3/translation_memories", key=a).json()
        assert got["total_count"] == 2 and [m["translation_memory_id"] for m in got["translation_memories"]] == ids
        two = got["translation_memories"][1]
        assert re.fullmatch(MOMENT, two.pop("creation_time"))
        assert two == {"translation_memory_id": ids[1], "name": "two", "source_language": "en", "target_languages": ["de", "fr"], "segment_count": 4}
        one = ask(s, "GET", "/v3/translation_memories?page=1&page_size=1", key=a).json()
        assert one["total_count"] == 2 and [m["name"] for m in one["translation_memories"]] == ["two"]
        assert two.items() <= ask(s, "GET", "/v3/translation_memories/" + ids[1], key=a).json().items()
        assert ask(s, "GET", "/v3/translation_memories/" + ids[1], key=b).status_code == 404
        assert ask(s, "GET", "/v3/translation_memories", key=b).json() == {"translation_memories": [], "total_count": 0}
        for query in ("page=x", "page=-1", "page_size=0", "page_size=26", "page="):
            wrong = ask(s, "GET", "/v3/translation_memories?" + query, key=a)
            assert wrong.status_code == 400 and query.split("=")[0] in wrong.json()["message"], query
        client = deepl.DeepLClient(a, server_url=s.url(""))
        assert [m.segment_count for m in client.list_translation_memories()] == [2, 4] and client.get_translation_memory(ids[0]).name == "one"


def test_without_the_flag():
    with Server(EN_DE) as s:
        for method, path, body in (("GET", "/v2/glossaries", None), ("POST", "/v2/glossaries", ONE), ("PUT", "/v3/glossaries/x/dictionaries", MANY)):
            reply = ask(s, method, path, body)
            assert reply.status_code == 403 and "--collections" in reply.json()["message"]
        assert s.get("/v3/languages?resource=glossary").json() == []
