"""Glossaries and translation memories that clients store (--collections): created, read, changed and deleted over /v1; each key has its
own."""
import concurrent.futures
import subprocess
import time

import pytest
import requests

from conftest import EN_DE, PATIENCE, Server
from test_keys import new_key

TEXT = "Two dogs play in the snow."
TMX = ('<tmx version="1.4"><header/><body><tu><tuv xml:lang="en-US"><seg>dogs</seg></tuv>'
       '<tuv xml:lang="de"><seg>Vierbeiner</seg></tuv></tu></body></tmx>')
PETS = {"name": "pets", "dictionaries": [{"source": "en", "target": "de", "entries": "dogs\tHaustiere\nsnow\tRegen\n"}]}


def ask(server, method, path, body=None, key=None, **headers):
    if key:
        headers["Authorization"] = "Bearer " + key
    return requests.request(method, server.url(path), json=body, headers=headers, timeout=PATIENCE)


def made(server, body, key=None, path="/v1/glossaries"):
    reply = ask(server, "POST", path, body, key)
    assert reply.status_code == 201, reply.text
    return reply.json()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return str(tmp_path_factory.mktemp("collections") / "collections.db")


@pytest.fixture(scope="module")
def server(file):
    with Server(EN_DE, "--collections", file, "--cache-bytes", "1000000") as s:
        yield s


def text_of(server, key=None, **fields):
    headers = {"Authorization": "Bearer " + key} if key else {}
    reply = server.post("/v1/translate", {"text": TEXT, "source": "en", "target": "de", **fields}, headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


@pytest.mark.parametrize("dictionary,word", [
    ({"entries": "dogs\tHaustiere\n"}, "Haustiere"), ({"entries": {"dogs": "Katzen"}}, "Katzen"),
    ({"format": "csv", "entries": "dogs,Tiere\ncats,toutous,en,fr\n"}, "Tiere"), ({"format": "csv", "entries": "dogs;Tiere\r\n"}, "Tiere"), ({"format": "tmx", "entries": TMX}, "Vierbeiner")])
def test_made_used_and_removed(server, dictionary, word):
    plain = text_of(server)
    g = made(server, {"name": "a", "dictionaries": [{"source": "EN", "target": "de", **dictionary}]})
    assert g["dictionaries"] == [{"source": "en", "target": "de", "entries": 1}] and g["shared"] is True and g["created"].endswith("Z")
    assert word not in plain and word in text_of(server, glossary=g["id"])
    item = {"text": TEXT, "source": "en", "target": "de"}
    batch = server.post("/v1/batch", {"items": [item, {**item, "glossary": g["id"]}]}).json()["items"]
    assert [i["text"] for i in batch] == [plain, text_of(server, glossary=g["id"])]
    deepl = server.post("/v2/translate", {"text": [TEXT], "source_lang": "EN", "target_lang": "DE", "glossary_id": g["id"]})
    assert word in deepl.json()["translations"][0]["text"]
    assert g in ask(server, "GET", "/v1/glossaries").json()["glossaries"]
    assert ask(server, "GET", "/v1/glossaries/" + g["id"]).json() == g
    assert ask(server, "DELETE", "/v1/glossaries/" + g["id"]).status_code == 204
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/entries")):
        gone = ask(server, method, "/v1/glossaries/" + g["id"] + path)
        assert gone.status_code == 404 and gone.json()["error"]["code"] == "not_found", gone.text
    reply = server.translate(TEXT, glossary=g["id"])
    assert reply.status_code == 400 and "no glossary" in reply.text


def test_the_index_tells_what_the_server_keeps(server):
    """The web page offers glossaries and documents by it."""
    assert [server.get("/").json()[name] for name in ("glossaries", "collections", "documents")] == [True, True, []]
    with Server(EN_DE) as without:
        assert [without.get("/").json()[name] for name in ("glossaries", "collections", "documents")] == [False, False, []]


def test_entries_and_changes(server):
    g = made(server, PETS)
    path = "/v1/glossaries/" + g["id"]
    reply = ask(server, "GET", path + "/entries")
    assert reply.text == "dogs\tHaustiere\nsnow\tRegen\n" and reply.headers["Content-Type"].startswith("text/tab-separated-values")
    csv = ask(server, "GET", path + "/entries?source=EN&target=DE", Accept="text/csv")
    assert csv.text == "dogs,Haustiere\nsnow,Regen\n" and csv.headers["Content-Type"].startswith("text/csv")
    assert "Regen" in text_of(server, glossary=g["id"])
    more = ask(server, "PATCH", path, {"name": "new", "dictionaries": [{"source": "en", "target": "de", "entries": {"snow": "Wind"}},
                                                                      {"source": "en", "target": "fr", "entries": {"dogs": "toutous"}}]}).json()
    assert more["name"] == "new" and [d["entries"] for d in more["dictionaries"]] == [2, 1]
    answer = text_of(server, glossary=g["id"])  # neither from the cache nor with the old entries
    assert "Wind" in answer and "Haustiere" in answer
    which = ask(server, "GET", path + "/entries")
    assert which.status_code == 400 and "source and target" in which.text
    assert ask(server, "GET", path + "/entries?source=en&target=fr").text == "dogs\ttoutous\n"
    assert ask(server, "GET", path + "/entries?source=en&target=it").status_code == 404
    assert ask(server, "DELETE", path + "?source=en&target=fr").status_code == 204
    assert ask(server, "DELETE", path + "?source=en&target=fr").status_code == 404
    put = ask(server, "PUT", path, {"name": "p", "dictionaries": [{"source": "en", "target": "de", "entries": {"snow": "Eis"}}]}).json()
    assert put["dictionaries"] == [{"source": "en", "target": "de", "entries": 1}] and put["id"] == g["id"]
    assert "Eis" in text_of(server, glossary=g["id"]) and "Haustiere" not in text_of(server, glossary=g["id"])


def test_many_entries_are_removed_at_once(server):
    """Each was compared with all others, on the one thread for glossaries and memories: minutes for a body of 1 MiB."""
    entries = {f"word{i}": f"Wort{i}" for i in range(15000)}
    g = made(server, {"name": "many", "dictionaries": [{"source": "en", "target": "de", "entries": entries}]})
    began = time.monotonic()
    reply = ask(server, "PATCH", "/v1/glossaries/" + g["id"], {"dictionaries": [{"source": "en", "target": "de", "entries": dict.fromkeys(entries)}]})
    assert reply.json()["dictionaries"] == [], reply.text
    assert time.monotonic() - began < PATIENCE / 4
    ask(server, "DELETE", "/v1/glossaries/" + g["id"])


def test_entries_are_removed(server):
    """One by one, beside others that are added. To remove an entry, a client had to replace the whole glossary."""
    g = made(server, {"name": "a", "dictionaries": [{"source": "en", "target": "de", "entries": {"dogs": "Haustiere", "snow": "Regen"}},
                                                    {"source": "en", "target": "fr", "entries": {"dogs": "toutous"}}]})
    path = "/v1/glossaries/" + g["id"]

    def change(entries, target="de"):
        return ask(server, "PATCH", path, {"dictionaries": [{"source": "en", "target": target, "entries": entries}]})
    assert "Haustiere" in text_of(server, glossary=g["id"])
    left = change({"dogs": None, "snow": "Wind", "cats": None}).json()
    assert [d["entries"] for d in left["dictionaries"]] == [1, 1]
    assert ask(server, "GET", path + "/entries?source=en&target=de").text == "snow\tWind\n"
    assert "Haustiere" not in text_of(server, glossary=g["id"])
    assert change({"dogs": None}, "fr").json()["dictionaries"] == [{"source": "en", "target": "de", "entries": 1}]
    assert change({"snow": None}).json()["dictionaries"] == []
    for wrong in {"": None}, {"dogs": 5}, {"dogs": ""}:
        assert change(wrong).status_code == 400, wrong
    for method, at in ("POST", "/v1/glossaries"), ("PUT", path):
        reply = ask(server, method, at, {"name": "a", "dictionaries": [{"source": "en", "target": "de", "entries": {"dogs": None}}]})
        assert reply.status_code == 400 and "must be a string" in reply.text
    assert ask(server, "DELETE", path).status_code == 204


WRONG = [
    ({}, "name"), ({**PETS, "name": ""}, "name"), ({**PETS, "name": "n" * 256}, "name"), ({**PETS, "name": 5}, "name"),
    ({**PETS, "entries": "a"}, "entries"), ({"name": "a"}, "dictionaries"), ({"name": "a", "dictionaries": []}, "dictionaries"),
    ({"name": "a", "dictionaries": [5]}, "dictionaries[0]"), ({"name": "a", "dictionaries": [{"source": "en", "entries": {"a": "b"}}]}, "dictionaries[0]"),
] + [({"name": "a", "dictionaries": [{"source": "en", "target": "de", **d}]}, "dictionaries[0]." + f) for d, f in [
    ({"entries": "one\n"}, "entries"), ({"entries": ""}, "entries"), ({"entries": {}}, "entries"), ({"entries": {"a": 5}}, "entries"),
    ({"entries": {"a": ""}}, "entries"), ({"entries": {"a": " \t"}}, "entries"), ({"entries": {" \n": "b"}}, "entries"), ({}, "entries"), ({"entries": "a\tb", "format": "xls"}, "format"), ({"entries": {"a": "b"}, "format": "xls"}, "format"), ({"entries": "<tmx>", "format": "tmx"}, "entries"),
    ({"entries": TMX.replace("dogs", "dogs<tu>cats</tu>"), "format": "tmx"}, "entries"), ({"entries": '"a","b"\rcat,d', "format": "csv"}, "entries"),
    ({"entries": "a,b,fr,it", "format": "csv"}, "entries"), ({"source": "!", "entries": {"a": "b"}}, "source"), ({"target": "x", "entries": {"a": "b"}}, "target"), ({"entries": {"a": "b"}, "x": 1}, "x")]]


@pytest.mark.parametrize("body,field", WRONG, ids=range(len(WRONG)))
def test_wrong_bodies_are_refused_by_field(server, body, field):
    before = ask(server, "GET", "/v1/glossaries").json()
    reply = ask(server, "POST", "/v1/glossaries", body)
    assert reply.status_code == 400 and reply.json()["error"].get("field") == field, reply.text
    assert ask(server, "GET", "/v1/glossaries").json() == before


def test_limits(server):
    many = "".join("%d\tb\n" % i for i in range(100001))
    reply = ask(server, "POST", "/v1/glossaries", {"name": "a", "dictionaries": [{"source": "en", "target": "de", "entries": many}]})
    assert reply.status_code == 413 and "100001 entries, the limit is 100000" in reply.text
    reply = ask(server, "POST", "/v1/glossaries", {"name": "a", "dictionaries": [{"source": "en", "target": "de", "entries": "a\t" + "b" * 1025}]})
    assert reply.status_code == 400 and "1025 bytes" in reply.text
    reply = ask(server, "POST", "/v1/glossaries", {"name": "a", "dictionaries": [PETS["dictionaries"][0]] * 65})
    assert reply.status_code == 413
    for headers in ({}, {"Content-Type": "application/jsonlines"}):
        assert requests.post(server.url("/v1/glossaries"), data="x", headers=headers, timeout=PATIENCE).status_code == 415, headers
    reply = requests.post(server.url("/v1/glossaries"), data="x", headers={"Content-Type": "application/json"}, timeout=PATIENCE)
    assert reply.status_code == 400 and reply.json()["error"]["code"] == "invalid_json"
    for query in ("?source=en", "?source=en&target=!", "?x=1", "?source=en&source=de&target=de"):
        assert ask(server, "DELETE", "/v1/glossaries/x" + query).status_code == 400, query


def test_they_survive_a_restart(tmp_path):
    file = str(tmp_path / "c.db")
    with Server(EN_DE, "--collections", file) as s:
        g = made(s, PETS)
    with Server(EN_DE, "--collections", file) as s:
        assert ask(s, "GET", "/v1/glossaries").json() == {"glossaries": [g], "server": []}
        assert "Haustiere" in text_of(s, glossary=g["id"])


def test_each_key_has_its_own(tmp_path):
    file, keys = str(tmp_path / "c.db"), str(tmp_path / "keys.db")
    with Server(EN_DE, "--collections", file) as s:  # made without keys: shared by all
        shared = made(s, {**PETS, "name": "shared"})
    a, b = new_key(keys), new_key(keys)
    with Server(EN_DE, "--collections", file, "--keys", keys) as s:
        g = made(s, PETS, a)
        assert g["shared"] is False and "Haustiere" in text_of(s, a, glossary=g["id"])
        assert [x["name"] for x in ask(s, "GET", "/v1/glossaries", key=a).json()["glossaries"]] == ["shared", "pets"]
        assert [x["name"] for x in ask(s, "GET", "/v1/glossaries", key=b).json()["glossaries"]] == ["shared"]
        for method, path, body in (("GET", "", None), ("GET", "/entries", None), ("PUT", "", PETS), ("PATCH", "", PETS), ("DELETE", "", None)):
            assert ask(s, method, "/v1/glossaries/" + g["id"] + path, body, b).status_code == 404
        reply = s.post("/v1/translate", {"text": TEXT, "source": "en", "target": "de", "glossary": g["id"]}, headers={"X-API-Key": b})
        assert reply.status_code == 400 and "no glossary" in reply.text
        assert "Haustiere" in text_of(s, b, glossary=shared["id"])
        refused = ask(s, "DELETE", "/v1/glossaries/" + shared["id"], key=b)
        assert refused.status_code == 404 and "clients cannot change it" in refused.text
        assert ask(s, "POST", "/v1/glossaries", PETS).status_code == ask(s, "GET", "/v1/glossaries").status_code == 401


def test_an_id_with_more_behind_it_is_no_id(tmp_path):
    key = new_key(tmp_path / "keys.db")
    with Server(EN_DE, "--collections", str(tmp_path / "c.db"), "--keys", str(tmp_path / "keys.db")) as s:
        for path, deepl in (("/v1/glossaries", "/v3/glossaries/"), ("/v1/memories", "/v3/translation_memories/")):
            g = made(s, PETS, key, path)
            for longer in (g["id"] + "0", g["id"] + "%20", 2 * g["id"]):
                for method, at, body in (("GET", "", None), ("GET", "/entries", None), ("PUT", "", PETS), ("PATCH", "", {"name": "x"}), ("DELETE", "", None)):
                    assert ask(s, method, path + "/" + longer + at, body, key).status_code == 404, (method, path, at)
                assert ask(s, "GET", deepl + longer, key=key).status_code == 404
            assert ask(s, "GET", path + "/" + g["id"], key=key).json() == g
            assert ask(s, "GET", deepl + g["id"], key=key).status_code == 200
            assert ask(s, "DELETE", path + "/" + g["id"], key=key).status_code == 204


def test_without_the_flag(tmp_path):
    with Server(EN_DE) as s:
        for method, path in (("GET", ""), ("POST", ""), ("GET", "/x"), ("GET", "/x/entries")):
            reply = ask(s, method, "/v1/glossaries" + path, PETS if method == "POST" else None)
            assert reply.status_code == 403 and "--collections" in reply.text
    (tmp_path / "no.db").write_text("not a database at all, not even nearly one")
    run = subprocess.run([*Server(EN_DE, "--collections", str(tmp_path / "no.db")).command], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode != 0 and "no.db" in run.stderr, run.stderr


def test_reading_a_large_glossary_holds_nobody_up(tmp_path):
    """A glossary is read when it is first used, and again after a change: not on the only HTTP thread."""
    entries = "".join("term%d of art\tWort%d\n" % (i, i) for i in range(60000))
    with Server(EN_DE, "--collections", str(tmp_path / "c.db"), "--http-threads", "1", "--max-body-bytes", "16000000",
                "--max-queue-seconds", "60") as s:
        g = made(s, {"name": "large", "dictionaries": [{"source": "en", "target": "de", "format": "tsv", "entries": entries}]})
        shares = []
        for i in range(3):
            if i > 0:
                change = {"dictionaries": [{"source": "en", "target": "de", "entries": {"added %d" % i: "dazu"}}]}
                assert ask(s, "PATCH", "/v1/glossaries/" + g["id"], change).status_code == 200
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                begin, longest = time.monotonic(), 0
                answer = pool.submit(text_of, s, glossary=g["id"])
                while not answer.done():
                    asked = time.monotonic()
                    assert requests.get(s.url("/livez"), timeout=PATIENCE).status_code == 200
                    longest = max(longest, time.monotonic() - asked)
                assert answer.result()
                shares.append(longest / (time.monotonic() - begin))
        assert min(shares) < 0.5, shares
