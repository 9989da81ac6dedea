"""Translation memories, from the server's files and over /v1/memories: known sentences are answered from them and flagged, never from
another key's."""
import concurrent.futures
import signal
import sqlite3
import subprocess
import time

import pytest

import bundle
from conftest import CLI, EN_DE, PATIENCE, Local, Server
from test_collections import ask
from test_keys import new_key

DOGS, KNOWN = "Two dogs play in the snow.", "Zwei Hunde toben im Schnee herum."
OTHER = "A girl is smiling."
BODY = {"name": "captions", "dictionaries": [{"source": "en", "target": "de", "entries": {DOGS: KNOWN}}]}
TMX = ('<tmx version="1.4"><header/><body><tu><tuv xml:lang="en-US"><seg>%s</seg></tuv>'
       '<tuv xml:lang="de-DE"><seg>%s</seg></tuv></tu></body></tmx>')


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memories")
    (folder / "m").mkdir()
    (folder / "m" / "captions.tmx").write_text(TMX % (DOGS, KNOWN))
    (folder / "m" / "more.en-de.tsv").write_text("Stop. Go on.\tHalt! Weiter!\nA  cafe\u0301.\tEin Lokal.\nFish & chips.\tFisch & Fritten.\n")
    with Server(EN_DE, "--collections", str(folder / "c.db"), "--memories", str(folder / "m"), "--cache-bytes", "1000000",
                "--documents", str(folder / "d.db")) as s:
        yield s


def one(server, text, key=None, **fields):
    headers = {"X-API-Key": key} if key else {}
    reply = server.post("/v1/translate", {"text": text, "source": "en", "target": "de", **fields}, headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.json()["translations"][0]


def flags(answer):
    return [s["flags"] for s in answer["sentences"]]


def test_a_sentence_and_its_flag(server):
    plain = one(server, DOGS, memory=False)
    assert plain["text"] != KNOWN and "from_memory" not in flags(plain)[0]
    assert one(server, DOGS, memory=True)["text"] == KNOWN
    answer = one(server, DOGS)
    assert answer["text"] == KNOWN and flags(answer) == [["from_memory"]]
    assert answer["sentences"][0]["source"] == [0, len(DOGS)] and answer["sentences"][0]["target"] == [0, len(KNOWN)]
    both = one(server, "  %s %s\n" % (OTHER, DOGS), scores=True, n_best=2, alignments=True)
    assert both["text"] == "  %s %s\n" % (one(server, OTHER)["text"], KNOWN) and [("from_memory" in f) for f in flags(both)] == [False, True]
    assert all(n["text"].endswith(KNOWN + "\n") for n in both["n_best"])


def test_it_takes_no_model(server):
    usage = server.post("/v1/translate", {"text": [DOGS] * 5, "source": "en", "target": "de"}).json()["usage"]
    assert usage["source_tokens"] == usage["target_tokens"] == 0 and usage["source_characters"] == 5 * len(DOGS)


@pytest.mark.parametrize("text,known", [
    ("Stop. Go on.", "Halt! Weiter!"),  # several sentences that are one entry
    ("A caf\u00e9.", "Ein Lokal."), ("A\u00a0caf\u00e9.", None), ("a caf\u00e9.", None),  # an exact match after normalisation
    ("Two dogs  play in the snow.", KNOWN), ("Two dogs play in the snow", None), ("Stop.", None)])
def test_what_fits(server, text, known):
    answer = one(server, text)
    assert (answer["text"] == known) == (known is not None) and (["from_memory"] in flags(answer)) == (known is not None), answer


@pytest.mark.parametrize("format,text,known", [
    ("html", "<p>Two dogs play in\nthe snow.</p><p>Fish &amp; chips.</p>", "<p>Zwei Hunde toben im\nSchnee herum.</p><p>Fisch &amp; Fritten.</p>"),
    ("markdown", "# Two dogs play in the snow.\n\n- Fish & chips.\n", "# Zwei Hunde toben im Schnee herum.\n\n- Fisch & Fritten.\n"),
    ("srt", "1\n00:00:01,000 --> 00:00:02,000\nTwo dogs play\nin the snow.\n", "1\n00:00:01,000 --> 00:00:02,000\nZwei Hunde toben\nim Schnee herum.\n"),
    ("xml", "<a>Fish &amp; chips.</a>", "<a>Fisch &amp; Fritten.</a>")])
def test_in_every_format(server, format, text, known):
    assert one(server, text, format=format)["text"] == known
    assert one(server, text, format=format, memory=False)["text"] != known


def test_tags_within_are_the_models(server):
    text = "<p>Two <b>dogs</b> play in the snow.</p>"
    assert one(server, text, format="html") == one(server, text, format="html", memory=False)


def test_in_every_dialect(server):
    lt = server.post("/translate", {"q": DOGS, "source": "en", "target": "de"}).json()
    deepl = server.post("/v2/translate", {"text": [DOGS], "source_lang": "EN", "target_lang": "DE"}).json()
    assert lt["translatedText"] == deepl["translations"][0]["text"] == KNOWN
    item = {"text": DOGS, "source": "en", "target": "de"}
    batch = server.post("/v1/batch", {"items": [item, {**item, "memory": False}, {**item, "memory": 1}]}).json()["items"]
    assert batch[0]["text"] == KNOWN and batch[1]["text"] != KNOWN and batch[2]["error"]["field"] == "items[2].memory"
    begun = one(server, DOGS, target_prefix="Zwei Hunde spielen")
    assert begun["text"].startswith("Zwei Hunde spielen")
    assert one(server, DOGS, glossary={"dogs": "Tiere"})["text"] == KNOWN  # the memory beats the glossary


def test_reading_again(tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "a.en-de.tsv").write_text("%s\tEins.\n" % DOGS)
    (folder / "b.en-de.csv").write_text("%s,Drei.\n" % OTHER)
    with Server(EN_DE, "--collections", str(tmp_path / "c.db"), "--memories", str(folder)) as s:
        assert one(s, DOGS)["text"] == "Eins." and one(s, OTHER)["text"] == "Drei."
        ids = [m["id"] for m in ask(s, "GET", "/v1/memories").json()["memories"]]
        (folder / "a.en-de.tsv").write_text("%s\tZwei.\n" % DOGS)
        s.process.send_signal(signal.SIGHUP)
        s.until(lambda: one(s, DOGS)["text"] == "Zwei.")
        s.until(lambda: s.logged(r"memories.* files=2 read=1 dropped=1 entries=2"))
        after = [m["id"] for m in ask(s, "GET", "/v1/memories").json()["memories"]]
        assert len(after) == 2 and ids[1] in after and ids[0] not in after
        (folder / "a.en-de.tsv").write_text("broken\n")
        s.process.send_signal(signal.SIGHUP)
        s.until(lambda: any("memories not reloaded" in line and "a.en-de.tsv" in line for line in s.log))
        assert one(s, DOGS)["text"] == "Zwei."
        (folder / "a.en-de.tsv").unlink()
        s.process.send_signal(signal.SIGHUP)
        s.until(lambda: one(s, DOGS)["text"] != "Zwei.")
        assert one(s, OTHER)["text"] == "Drei."
        refused = ask(s, "DELETE", "/v1/memories/" + ids[1])
        assert refused.status_code == 403  # without keys only through the Unix socket


def test_none_answers_for_another_key(tmp_path):
    keys = str(tmp_path / "keys.db")
    a, b = new_key(keys), new_key(keys)
    (tmp_path / "shared.en-de.tsv").write_text("%s\tAlle.\n%s\tGrinsen.\n" % (DOGS, OTHER))
    with Server(EN_DE, "--collections", str(tmp_path / "c.db"), "--memories", str(tmp_path / "shared.en-de.tsv"), "--keys", keys) as s:
        m = ask(s, "POST", "/v1/memories", BODY, a)
        assert m.status_code == 201 and m.json()["shared"] is False
        assert one(s, DOGS, a)["text"] == KNOWN and one(s, OTHER, a)["text"] == "Grinsen."  # its own memory beats the shared one
        assert one(s, DOGS, b)["text"] == "Alle."
        path = "/v1/memories/" + m.json()["id"]
        assert ask(s, "GET", path + "/entries", key=a).text == "%s\t%s\n" % (DOGS, KNOWN)
        assert ask(s, "GET", path, key=b).status_code == 404
        assert ask(s, "PATCH", path, {"dictionaries": [{"source": "en", "target": "de", "entries": {DOGS: "Neu."}}]}, a).status_code == 200
        assert one(s, DOGS, a)["text"] == "Neu."
        removed = {"dictionaries": [{"source": "en", "target": "de", "entries": {DOGS.replace(" ", "  "): None}}]}
        assert ask(s, "PATCH", path, removed, a).status_code == 200 and one(s, DOGS, a)["text"] == "Alle."
        shared = next(x for x in ask(s, "GET", "/v1/memories", key=b).json()["memories"])
        assert shared["shared"] is True and "clients cannot change it" in ask(s, "DELETE", "/v1/memories/" + shared["id"], key=b).text
        assert ask(s, "DELETE", path, key=a).status_code == 204
        assert one(s, DOGS, a)["text"] == "Alle."


def test_two_servers_on_one_file(tmp_path):
    """As during an upgrade: the new server uses memories that the old one makes after the new one's start."""
    file, keys = str(tmp_path / "c.db"), str(tmp_path / "keys.db")
    key = new_key(keys)
    with Server(EN_DE, "--collections", file, "--keys", keys) as old, Server(EN_DE, "--collections", file, "--keys", keys) as new:
        assert one(new, DOGS, key)["text"] != KNOWN
        assert old.post("/v1/memories", BODY, headers={"X-API-Key": key}).status_code == 201
        assert one(new, DOGS, key)["text"] == one(old, DOGS, key)["text"] == KNOWN


def test_two_servers_with_memories_of_their_own(tmp_path):
    """Neither drops what the other has read, at a start or a reload; once a server has stopped, its memories go with it."""
    one_dir, other_dir, file = tmp_path / "one", tmp_path / "other", str(tmp_path / "c.db")
    for folder, source, target in ((one_dir, DOGS, "Eins."), (other_dir, OTHER, "Zwei.")):
        folder.mkdir()
        (folder / "m.en-de.tsv").write_text("%s\t%s\n" % (source, target))
    with Server(EN_DE, "--collections", file, "--memories", str(one_dir)) as a:
        with Server(EN_DE, "--collections", file, "--memories", str(other_dir)) as b, Server(EN_DE, "--collections", file) as c:
            for server in (a, b, c):
                server.process.send_signal(signal.SIGHUP)
                server.until(lambda: server.logged(r"reloaded.* opened="))
            assert [one(server, DOGS)["text"] for server in (a, b, c)] == ["Eins."] * 3
            assert [one(server, OTHER)["text"] for server in (a, b, c)] == ["Zwei."] * 3
            (other_dir / "m.en-de.tsv").write_text("%s\tDrei.\n" % OTHER)
            b.process.send_signal(signal.SIGHUP)
            b.until(lambda: one(b, OTHER)["text"] == "Drei.")
            b.until(lambda: len(ask(b, "GET", "/v1/memories").json()["memories"]) == 2)
        a.process.send_signal(signal.SIGHUP)
        a.until(lambda: one(a, OTHER)["text"] != "Drei.")
        assert one(a, DOGS)["text"] == "Eins."


def test_a_start_waits_for_another_server_that_reads_the_files(tmp_path):
    """That server has the file of collections locked for as long as it reads a large file of memories."""
    db, file = tmp_path / "c.db", tmp_path / "m.en-de.tsv"
    file.write_text("%s\t%s\n" % (DOGS, KNOWN))
    with Server(EN_DE, "--collections", str(db)):
        pass
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    server = Server(EN_DE, "--collections", str(db), "--memories", str(file))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        started = pool.submit(server.__enter__)
        while not any("database is locked" in line for line in list(server.log)):
            assert not started.done(), started.result()
            time.sleep(0.01)
        other.execute("ROLLBACK")
        started.result()
    try:
        assert one(server, DOGS)["text"] == KNOWN
    finally:
        server.__exit__()
        other.close()


def test_a_stop_does_not_wait_for_a_locked_file(tmp_path):
    """Neither at a start nor at a reload, which waits half a minute for another server."""
    db, file = tmp_path / "c.db", tmp_path / "m.en-de.tsv"
    file.write_text("%s\t%s\n" % (DOGS, KNOWN))
    flags = ["--collections", str(db), "--memories", str(file)]
    with Server(EN_DE, *flags) as s:
        other = sqlite3.connect(db, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        file.write_text("%s\tZwei.\n" % DOGS)
        s.process.send_signal(signal.SIGHUP)
        s.until(lambda: s.logged("database is locked"))
        begun = time.monotonic()
        assert s.stop() == 0
        assert time.monotonic() - begun < 15
    run = subprocess.Popen(Server(EN_DE, *flags).command, stderr=subprocess.PIPE, text=True)
    line = next(line for line in run.stderr if "database is locked" in line)
    begun = time.monotonic()
    run.send_signal(signal.SIGTERM)
    rest = run.communicate(timeout=PATIENCE)[1]
    assert run.returncode == 0 and time.monotonic() - begun < 15, line + rest
    other.close()


def test_clients_use_their_glossaries_while_memories_are_read(tmp_path):
    """A file of memories took the collections for as long as it was read."""
    folder = tmp_path / "m"
    folder.mkdir()
    for n in range(4):
        (folder / ("m%d.en-de.tsv" % n)).write_text("".join("Sentence %d of file %d.\tSatz %d.\n" % (i, n, i) for i in range(30000)))
    with Server(EN_DE, "--collections", str(tmp_path / "c.db"), "--memories", str(folder)) as s:
        for n in range(4):
            (folder / ("m%d.en-de.tsv" % n)).write_text("".join("Phrase %d of file %d.\tPhrase %d.\n" % (i, n, i) for i in range(30000)))
        s.process.send_signal(signal.SIGHUP)
        answers = 0
        while not s.logged(r"memories.* files=4 read=4 dropped=4"):
            assert ask(s, "GET", "/v1/glossaries").status_code == 200
            answers += 1
        assert answers > 20  # not one between two files


def test_without_keys_the_owner_changes_them(tmp_path):
    with Local(EN_DE, "--collections", str(tmp_path / "c.db")) as s:
        assert ask(s, "POST", "/v1/memories", BODY).status_code == 403
        assert one(s, DOGS)["text"] != KNOWN
        assert s.local("POST", "/v1/memories", BODY).status_code == 201
        assert one(s, DOGS)["text"] == KNOWN and len(ask(s, "GET", "/v1/memories").json()["memories"]) == 1


def test_codes_of_chinese(tmp_path):
    """A model of zh-Hans serves zh-CN, and so do a glossary and a memory in zh-CN; Google's dialect calls the language so."""
    bundle.make(CLI, str(tmp_path / "models" / "en-zh"), "en", "zh-Hans", seed=4)
    (tmp_path / "m.tmx").write_text((TMX % (DOGS, KNOWN)).replace("de-DE", "zh-CN"))
    with Server(str(tmp_path / "models"), "--collections", str(tmp_path / "c.db"), "--memories", str(tmp_path / "m.tmx")) as s:
        for code, status in (("zh-CN", 200), ("zh_Hans_SG", 200), ("zh-TW", 400)):
            body = {"name": code, "dictionaries": [{"source": "en", "target": code, "entries": {"girl": "x"}}]}
            made = ask(s, "POST", "/v1/glossaries", body)
            assert made.status_code == 201, made.text
            reply = s.post("/v1/translate", {"text": OTHER, "source": "en", "target": "zh-CN", "glossary": made.json()["id"]})
            assert reply.status_code == status, reply.text
        answer = s.post("/v1/translate", {"text": DOGS, "source": "en", "target": "zh-CN"}).json()["translations"][0]
        assert answer["text"] == KNOWN and flags(answer) == [["from_memory"]]


def test_the_flags_are_checked_at_start(tmp_path):
    (tmp_path / "a.en-de.tsv").write_text("x\n")
    for options, told in ((["--memories", str(tmp_path)], "--memories needs --collections"),
                          (["--memories", str(tmp_path), "--collections", str(tmp_path / "c.db")], "a.en-de.tsv: line 1 has no tab")):
        run = subprocess.run([*Server(EN_DE, *options).command], capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode != 0 and told in run.stderr, run.stderr
