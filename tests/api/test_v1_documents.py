"""Documents over /v1: sent, polled, fetched and deleted; with a glossary, also by DeepL's route; separately for each key."""
import concurrent.futures
import contextlib
import sqlite3
import time

import pytest
import requests

from conftest import BUNDLES, NARROW, PATIENCE, Server
from test_batch import answers, spread
from test_documents import GERMAN, HTML, TEXT, document
from test_documents import wait as deepl_wait
from test_keys import new_key

WORDS = {"name": "pets", "dictionaries": [{"source": "en", "target": "de", "entries": {"dogs": "Katzen"}}, {"source": "de", "target": "fr", "entries": {"Hunde": "chats"}}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("v1")
    (folder / "terms.en-de.tsv").write_text("dogs\tHaustiere\n")
    with Server(BUNDLES, "--documents", str(folder / "d.db"), "--collections", str(folder / "c.db"), "--glossaries", str(folder / "terms.en-de.tsv")) as s:
        yield s


def ask(server, method, path, key=None, **others):
    return requests.request(method, server.url("/v1/documents" + path), headers={"Authorization": "Bearer " + key} if key else {}, timeout=PATIENCE, **others)


def send(server, name="a.txt", content=TEXT, key=None, **fields):
    return ask(server, "POST", "", key, files={"file": (name, content)}, data={"source": "en", "target": "de", **fields})


def over(server, made, key=None):
    """Waits until the document is done or failed. Returns what the server then says of it."""
    def now():
        return ask(server, "GET", "/" + made["id"], key).json()
    server.until(lambda: now()["status"] in ("done", "failed"))
    return now()


def result(server, made, key=None):
    assert over(server, made, key)["status"] == "done"
    return ask(server, "GET", "/%s/result" % made["id"], key)


def test_sent_had_and_removed(server):
    reply = send(server, "my report.txt")
    made = reply.json()
    assert reply.status_code == 201 and made == {"id": made["id"], "name": "my report.txt", "source": "en", "target": "de", "status": "queued",
                                                 "progress": 0, "characters": len(TEXT) - 3, "created": made["created"]}
    file = result(server, made)
    assert file.content.decode() == GERMAN and file.headers["Content-Disposition"] == 'attachment; filename="my_report_de.txt"'
    assert ask(server, "GET", "/" + made["id"]).json() == {**made, "status": "done", "progress": 1}
    assert ask(server, "DELETE", "/" + made["id"]).status_code == 204
    for method, at in (("GET", ""), ("GET", "/result"), ("DELETE", "")):
        gone = ask(server, method, "/" + made["id"] + at)
        assert gone.status_code == 404 and gone.json()["error"]["code"] == "not_found"
    found = send(server, "a.html", HTML, source="auto").json()
    assert found["source"] == "en" and result(server, found).text == "<h1>Zwei Hunde</h1><p>Zwei Hunde spielen im <b>Schnee</b>.</p>"


def test_not_yet_and_removed_meanwhile(server):
    long = send(server, content="".join("A man in a red shirt is riding bicycle %d.\n" % i for i in range(400))).json()
    early = ask(server, "GET", "/%s/result" % long["id"])
    assert early.status_code == 404 and "not translated yet" in early.json()["error"]["message"]
    assert ask(server, "DELETE", "/" + long["id"]).status_code == 204
    assert result(server, send(server).json()).text == GERMAN  # the server goes on


def test_a_removed_one_is_not_translated_on(endless, busy, tmp_path):
    """The next document does not wait for one that was removed."""
    lines = [i["text"] for i in spread(busy(0.2), 300)]
    with Server(endless, *NARROW, "--documents", str(tmp_path / "d.db")) as s:
        made = send(s, content="".join(line + "\n\n" for line in lines)).json()
        s.until(lambda: ask(s, "GET", "/" + made["id"]).json()["progress"] > 0)
        assert ask(s, "DELETE", "/" + made["id"]).status_code == 204
        next_one = send(s, content="Short.\n").json()
        s.until(lambda: ask(s, "GET", "/" + next_one["id"]).json()["status"] == "done")
        assert s.metric("dragoman_sentences_total") < len(lines) / 2


def test_with_a_glossary(server):
    terms = send(server, glossary="terms").json()
    assert terms["glossary"] == "terms" and "Haustiere" in result(server, terms).text
    g = server.post("/v1/glossaries", WORDS).json()["id"]
    html = result(server, send(server, "a.html", HTML, glossary=g).json()).text
    assert html.count("Katzen") == 2 and html.startswith("<h1>")
    id, key = document(server, "a.txt", TEXT.encode(), source_lang="EN", glossary_id=g)
    deepl_wait(server, id, key)
    assert "Katzen" in server.post("/v2/document/%s/result" % id, key).text
    for fields, message in (({"glossary_id": g}, "source_lang"), ({"glossary_id": "no", "source_lang": "EN"}, "'glossary_id' not supported"),
                            ({"glossary_id": "terms", "source_lang": "EN", "target_lang": "FR"}, "no entries")):
        reply = requests.post(server.url("/v2/document"), files={"file": ("a.txt", TEXT)}, data={"target_lang": "DE", **fields}, timeout=PATIENCE)
        assert reply.status_code == 400 and message in reply.json()["message"], reply.text


@pytest.mark.parametrize("name,content,fields,status,field", [
    ("a.pdf", "x", {}, 400, "file"), ("", "x", {}, 400, "file"), ("a.json", "{", {}, 400, "file"), ("a.txt", b"caf\xe9", {}, 400, "file"),
    ("a.txt", "x", {"source": ""}, 400, "source"), ("a.txt", "x", {"target": "zz"}, 400, "target"),
    ("a.txt", "x", {"beam": "4"}, 400, "beam"), ("a.txt", "x", {"glossary": "none"}, 400, "glossary"), ("a.txt", "x", {"glossary": "n" * 100}, 400, "glossary"),
    ("a.txt", "x", {"glossary": "terms", "target": "fr"}, 400, "glossary"), ("a.txt", "x", {"glossary": "terms", "source": "de", "target": "fr"}, 400, "glossary")])
def test_what_is_refused(server, name, content, fields, status, field):
    reply = send(server, name, content, **fields)
    assert reply.status_code == status and reply.json()["error"].get("field") == field, reply.text


def test_other_bodies(server):
    assert ask(server, "POST", "", json={}).status_code == 415
    assert ask(server, "POST", "", files={"file": ("a.txt", TEXT)}, data={"source": "en"}).json()["error"]["field"] == "target"
    assert ask(server, "GET", "/" + "x" * 100).status_code == 404


def test_each_key_has_its_own(tmp_path):
    keys = str(tmp_path / "keys.db")
    a, b = new_key(keys), new_key(keys)
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--collections", str(tmp_path / "c.db"), "--keys", keys) as s:
        auth = {"headers": {"Authorization": "Bearer " + a}}
        g = s.post("/v1/glossaries", WORDS, **auth).json()["id"]
        memory = {"name": "m", "dictionaries": [{"source": "en", "target": "de", "entries": {"A girl is smiling.": "Lächelndes Kind."}}]}
        assert s.post("/v1/memories", memory, **auth).status_code == 201
        made = send(s, key=a, glossary=g).json()
        text = result(s, made, a).text
        assert "Katzen" in text and "Lächelndes Kind." in text  # the key's memories, too
        assert "Lächelndes Kind." not in result(s, send(s, key=b).json(), b).text
        assert send(s, key=b, glossary=g).json()["error"]["field"] == "glossary"
        for method, at in (("GET", ""), ("GET", "/result"), ("DELETE", "")):
            assert ask(s, method, "/" + made["id"] + at, b).status_code == 404
            assert ask(s, method, "/" + made["id"] + at).status_code == 401
        assert ask(s, "DELETE", "/" + made["id"], a).status_code == 204


def test_a_key_has_its_share_beside_anothers_document(endless, busy, tmp_path):
    keys = str(tmp_path / "keys.db")
    a, b = new_key(keys), new_key(keys)
    with Server(endless, *NARROW, "--max-queue-tokens", "300", "--documents", str(tmp_path / "d.db"), "--keys", keys) as s:
        lines = [i["text"] for i in spread(busy(0.05), 1000)]
        made = send(s, content="\n\n".join(lines), key=a).json()
        s.until(lambda: s.metric("dragoman_queue_depth") > 5)
        items = spread(busy(0.05).replace("road", "street"), 20)
        reply = s.post("/v1/batch", {"items": items}, headers={"Authorization": "Bearer " + b})
        assert all("text" in i for i in answers(reply))
        assert ask(s, "GET", "/" + made["id"], a).json()["progress"] < 0.5  # 20 items are 0.02 of the document, the rest a machine that stalls


def test_without_documents():
    with Server(BUNDLES) as s:
        for method, at in (("POST", ""), ("GET", "/x"), ("GET", "/x/result"), ("DELETE", "/x")):
            reply = ask(s, method, at)
            assert reply.status_code == 403 and "--documents" in reply.text


def test_a_locked_file_holds_up_no_reader(tmp_path):
    """Another program keeps the file locked: only what changes it waits."""
    path = str(tmp_path / "d.db")
    with Server(BUNDLES, "--documents", path, "--http-threads", "1") as s, concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = [send(s).json() for _ in range(2)]
        assert [over(s, m)["status"] for m in made] == ["done", "done"]
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            waiting = [pool.submit(ask, s, "DELETE", "/" + made[0]["id"]), pool.submit(send, s)]
            s.until(lambda: s.in_flight() == 2)
            for m in made:
                assert ask(s, "GET", "/" + m["id"]).json()["status"] == "done" and ask(s, "GET", "/" + m["id"] + "/result").status_code == 200
            assert s.get("/livez").status_code == 200 and not any(w.done() for w in waiting)
        removed, sent = [w.result().status_code for w in waiting]
        assert removed in (204, 503) and sent in (201, 503)  # 503 after two seconds
        assert ask(s, "GET", "/" + made[0]["id"]).status_code == (404 if removed == 204 else 200)
        assert ask(s, "DELETE", "/" + made[1]["id"]).status_code == 204 and ask(s, "DELETE", "/" + made[1]["id"]).status_code == 404


def test_a_file_that_is_locked_when_a_document_ends(tmp_path):
    """The translation cannot be written within two seconds. A failure could be then, but the translation is kept."""
    path, text = str(tmp_path / "d.db"), "".join("Two dogs play in the snow with number %d.\n" % i for i in range(200))
    with Server(BUNDLES, "--documents", path) as s, contextlib.closing(sqlite3.connect(path, PATIENCE, isolation_level=None)) as db:
        made = send(s, content=text).json()
        s.until(lambda: ask(s, "GET", "/" + made["id"]).json()["status"] == "translating")
        db.execute("BEGIN IMMEDIATE")
        s.until(lambda: s.logged('event="store failed" keeps="documents"'))
        db.execute("COMMIT")
        assert result(s, made).text.count("\n") == 200


def test_its_texts_are_counted_as_translations(tmp_path):
    totals = ("sentences_total", "characters_total", "source_tokens_total", "target_tokens_total", "truncated_total", "batch_items_total")

    def counts(s):
        return [s.metric("dragoman_" + name) for name in totals]
    texts = ["Two dogs play in the snow. A girl is smiling.", "Two dogs play in the snow, and " * 100 + "one sleeps."]
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db")) as s:
        usage = s.post("/v1/translate", {"text": texts, "source": "en", "target": "de"}).json()["usage"]
        first = counts(s)
        assert first[:4] == [4, *(usage[f] for f in ("source_characters", "source_tokens", "target_tokens"))] and first[4] > 0
        assert over(s, send(s, "a.html", "".join("<p>%s</p>" % t for t in texts)).json())["status"] == "done"
        assert counts(s) == [2 * n for n in first] and first[-1] == 0
        assert s.metric("dragoman_sentences_total", pair="en-de") == 8


def test_the_last_success_is_a_models_answer(tmp_path):
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--suggestions", str(tmp_path / "s.db")) as s:
        s.post("/v2/usage", {})
        s.post("/v2/languages", {})
        assert s.post("/v1/detect", {"text": TEXT}).status_code == 200
        assert s.post("/suggest", {"q": "a", "s": "b", "source": "en", "target": "de"}).status_code == 200
        made = send(s, "a.html", "").json()
        assert over(s, made)["status"] == "done"
        assert s.metric("dragoman_last_success_timestamp_seconds") == 0
        before = time.time()
        assert over(s, send(s).json())["status"] == "done"
        document = s.metric("dragoman_last_success_timestamp_seconds")
        assert before - 1 <= document <= time.time() + 1
        for path, body in (("/v1/score", {"text": "A dog.", "translation": "Ein Hund."}), ("/v1/translate", {"text": "A dog."}), ("/v1/batch", {"items": [{"text": "A dog.", "source": "en", "target": "de"}]})):
            last = s.metric("dragoman_last_success_timestamp_seconds")
            assert s.post(path, body if "items" in body else {**body, "source": "en", "target": "de"}).status_code == 200, path
            assert s.metric("dragoman_last_success_timestamp_seconds") > last, path
        last = s.metric("dragoman_last_success_timestamp_seconds")
        assert s.post("/v1/batch", {"items": [{"text": "A dog.", "source": "en", "target": "xx"}]}).status_code == 200
        assert s.metric("dragoman_last_success_timestamp_seconds") == last
