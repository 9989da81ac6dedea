"""Glossaries from the server's files (--glossaries): named in requests of each API, reread on SIGHUP; errors in them are reported."""
import os
import signal
import subprocess

import pytest

from conftest import PATIENCE, Server

MODEL = "tests/data/en-de"
TEXT = "Two dogs play in the snow."
TMX = ('<tmx version="1.4"><header/><body><tu><tuv xml:lang="en-US"><seg>dogs</seg></tuv>'
       '<tuv xml:lang="de"><seg>Vierbeiner</seg></tuv></tu></body></tmx>')


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", "-").replace("_", ".")).write_text(text)
    return str(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("glossaries")
    write(path, pets_en__de_tsv="dogs\tHaustiere\n", pets_de__en_csv="Schnee,sleet\n", legs_tmx=TMX, cats_csv="dogs,Katzen,en,de\n",
          french_en__fr_tsv="dogs\ttoutous\n")
    (path / "README.md").write_text("not a glossary")
    return path


@pytest.fixture(scope="module")
def server(folder):
    with Server(MODEL, "--glossaries", str(folder), "--cache-bytes", "1000000") as s:
        yield s


def one(server, name, text=TEXT):
    reply = server.translate(text, **({"glossary": name} if name else {}))
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]["text"]


@pytest.mark.parametrize("name,word", [("pets", "Haustiere"), ("legs", "Vierbeiner"), ("cats", "Katzen")])
def test_each_kind_of_file_is_named_by_requests(server, name, word):
    plain = one(server, None)
    assert word not in plain and word in one(server, name)
    assert one(server, None) == plain
    deepl = server.post("/v2/translate", {"text": [TEXT], "source_lang": "EN", "target_lang": "DE", "glossary_id": name})
    assert deepl.status_code == 200 and deepl.json()["translations"][0]["text"] == one(server, name)
    item = {"text": TEXT, "source": "en", "target": "de"}
    batch = server.post("/v1/batch", {"items": [item, {**item, "glossary": name}]}).json()["items"]
    assert [i["text"] for i in batch] == [plain, one(server, name)]


def dictionaries(*rows):
    return [{"source": source, "target": target, "entries": n} for source, target, n in rows]


def test_they_are_listed(server, folder, tmp_path):
    """No route told their names, so that no client could offer them."""
    names = [{"name": "cats", "dictionaries": dictionaries(("en", "de", 1))}, {"name": "french", "dictionaries": dictionaries(("en", "fr", 1))},
             {"name": "legs", "dictionaries": dictionaries(("en-us", "de", 1), ("de", "en-us", 1))},
             {"name": "pets", "dictionaries": dictionaries(("de", "en", 1), ("en", "de", 1))}]
    assert server.get("/v1/glossaries").json() == {"glossaries": [], "server": names}
    assert [server.get("/").json()[name] for name in ("glossaries", "collections")] == [True, False]
    assert server.post("/v1/glossaries", {"name": "a", "dictionaries": []}).status_code == 403
    with Server(MODEL, "--glossaries", str(folder), "--collections", str(tmp_path / "c.db")) as both:
        made = both.post("/v1/glossaries", {"name": "a", "dictionaries": [{"source": "en", "target": "de", "entries": {"dogs": "Tiere"}}]}).json()
        assert both.get("/v1/glossaries").json() == {"glossaries": [made], "server": names}


@pytest.mark.parametrize("name,told", [("none", 'no glossary is named \\"none\\"'), ("", 'no glossary is named \\"\\"'), ("README", "no glossary"),
                                       ("french", 'no entries for en to de'), ("x" * 5000, "no glossary")])
def test_a_wrong_name_is_refused(server, name, told):
    reply = server.translate(TEXT, glossary=name)
    assert reply.status_code == 400 and told in reply.text, reply.text


@pytest.mark.parametrize("fields,told", [({"glossary_id": "none"}, "Value for 'glossary_id' not supported."),
                                         ({"glossary_id": 5}, "Value for 'glossary_id' not supported."),
                                         ({"glossary_id": "pets", "source_lang": None}, "requires the source_lang"),
                                         ({"glossary_id": "french"}, "no entries for en to de")])
def test_deepl_refuses_a_wrong_one(server, fields, told):
    reply = server.post("/v2/translate", {"text": [TEXT], "source_lang": "EN", "target_lang": "DE", **fields})
    assert reply.status_code == 400 and told in reply.json()["message"], reply.text


def test_a_text_of_the_target_language_stays_as_it_is(server):
    reply = server.post("/v1/translate", {"text": TEXT, "source": "en", "target": "en", "glossary": "pets"})
    assert reply.status_code == 200 and reply.json()["translations"][0]["text"] == TEXT


def test_reading_again_takes_what_is_new_and_keeps_what_was_where_it_is_broken(tmp_path):
    path = tmp_path / "g"
    write(path, pets_en__de_tsv="dogs\tHaustiere\n")
    with Server(MODEL, "--glossaries", str(path), "--cache-bytes", "1000000") as s:
        plain = one(s, None)
        assert "Haustiere" in one(s, "pets")
        write(path, pets_en__de_tsv="dogs\tKatzen\n", more_en__de_tsv="snow\tRegen\n")
        s.process.send_signal(signal.SIGHUP)
        s.until(lambda: "Katzen" in one(s, "pets"))  # not from the cache
        assert "Regen" in one(s, "more") and one(s, None) == plain
        write(path, more_en__de_tsv="snow\tRegen\tWind\n")
        (path / "pets.en-de.tsv").unlink()
        s.process.send_signal(signal.SIGHUP)
        s.until(lambda: any("glossaries not reloaded" in line and "more.en-de.tsv" in line for line in s.log))
        assert "Katzen" in one(s, "pets") and "Regen" in one(s, "more")


@pytest.mark.parametrize("name,text,told", [
    ("a.en-de.tsv", b"one\n", "line 1 has no tab"), ("a.en-de.tsv", b"a\t\n", "line 1 has an empty target"),
    ("a.en-de.tsv", b"a\t\xff\n", "not UTF-8"), ("a.tsv", b"a\tb\n", "its name says no languages"),
    ("a.csv", b"a,b\n", "a.csv"), ("a.tmx", b"<tmx><body>", "a.tmx"), ("a.tmx", b'<!DOCTYPE x [<!ENTITY a "b">]>' + TMX.replace("dogs", "&a;").encode(), "an entity"),
    ("a b.en-de.tsv", b"a\tb\n", "a glossary's name has"), ("a.en-de.tsv", b"a" * 1025 + b"\tb\n", "1025 bytes"),
    ("a.en-de.tsv", b"".join(b"%d\tb\n" % i for i in range(100001)), "100001 entries, the limit is 100000")],
    ids=["no-tab", "no-target", "no-utf8", "no-languages", "csv-no-languages", "cut", "entity", "name", "long", "many"])
def test_broken_files_are_named_and_the_server_does_not_start(tmp_path, name, text, told):
    (tmp_path / name).write_bytes(text)
    for path in (tmp_path, tmp_path / name):
        run = subprocess.run([*Server(MODEL, "--glossaries", str(path)).command], capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode != 0 and told in run.stderr, run.stderr


def test_a_path_that_is_not_there(tmp_path):
    path = os.path.join(str(tmp_path), "nothing")
    run = subprocess.run([*Server(MODEL, "--glossaries", path).command], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode != 0 and path in run.stderr
