"""Full disks, broken disks and partial reads and writes under a server: it stores each entry that it acknowledges and none that it refuses,
answers requests that need no disk as before, and recovers with the disk.

FILES_STEPS: how many calls of each kind fail, one at a time (3); `make faults-files`: all of them."""
import collections
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
import requests

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "api")]

import bundle  # noqa: E402
from conftest import CLI, EN_DE, PATIENCE, Local, sanitized  # noqa: E402
from faults import OPEN, SYNC, control  # noqa: E402,F401  (control: a fixture)
from io_faults import FULL, WAYS, chosen, failing  # noqa: E402
from test_keys import add, used  # noqa: E402

pytestmark = pytest.mark.skipif(sanitized(), reason="a sanitizer has calls of its own")
PAIR = {"source": "en", "target": "de"}
ENTRIES = [dict(PAIR, entries={"dog": "Hund", "snow": "Schnee"})]
DOCUMENT = {"files": {"file": ("a.txt", "Two dogs play.\n")}, "data": {"target_lang": "DE"}}
KINDS = ("glossary", "memory", "change", "suggestion", "document")


def served(control, models, *flags):
    return Local(models, *flags, env=control.env())


class Stores:
    """A server that stores data. Each request returns its reply, and whether the store agrees with it."""

    def __init__(self, server, folder, key):
        self.server, self.folder, self.turn = server, folder, 0
        self.headers = {"Authorization": "Bearer " + key["key"]}

    def send(self, method, path, **more):
        return requests.request(method, self.server.url(path), headers=self.headers, timeout=PATIENCE, **more)

    def translate(self, text="Two dogs play."):
        return self.send("POST", "/v1/translate", json=dict(PAIR, text=text))

    def rows(self, name, sql):
        db = sqlite3.connect("file:%s?mode=ro" % (self.folder / (name + ".db")), uri=True)
        try:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return [row[0] for row in db.execute(sql)]
        finally:
            db.close()

    def part(self, what):
        """Returns how the name of the file begins that keeps these."""
        return str(self.folder / {"suggestion": "suggestions", "document": "documents"}.get(what, "collections"))

    def ask_suggestion(self):
        return self.send("POST", "/suggest", json=dict(PAIR, q="q", s="s"))

    def ask_glossary(self):
        return self.send("POST", "/v1/glossaries", json={"name": "n", "dictionaries": ENTRIES})

    def ask_change(self):
        made = self.send("GET", "/v1/glossaries").json()["glossaries"][0]
        return self.send("PATCH", "/v1/glossaries/" + made["id"], json={"name": "c"})

    def collection(self, path):
        self.turn += 1
        name = "n%d" % self.turn
        reply = self.send("POST", path, json={"name": name, "dictionaries": ENTRIES})
        kept = self.rows("collections", "SELECT (SELECT count(*) FROM pairs WHERE collection = number) FROM collections WHERE name = '%s'" % name)
        return reply, {201: [2]}.get(reply.status_code, []) == kept

    def glossary(self):
        return self.collection("/v1/glossaries")

    def memory(self):
        return self.collection("/v1/memories")

    def change(self):
        """Changes a glossary's name and entries: both or none."""
        first = self.send("GET", "/v1/glossaries")
        if first.status_code != 200:
            return first, True
        made = first.json()["glossaries"][0]
        self.turn += 1
        reply = self.send("PATCH", "/v1/glossaries/" + made["id"], json={
            "name": "c%d" % self.turn, "dictionaries": [dict(PAIR, entries={"cat%d" % self.turn: "Katze"})]})
        now = self.send("GET", "/v1/glossaries/" + made["id"])
        if now.status_code != 200:
            return now, True
        now = now.json()
        if reply.status_code == 200:
            return reply, now["name"] == "c%d" % self.turn and now["dictionaries"][0]["entries"] == made["dictionaries"][0]["entries"] + 1
        return reply, now == made

    def suggestion(self):
        self.turn += 1
        reply = self.send("POST", "/suggest", json=dict(PAIR, q="q%d" % self.turn, s="s"))
        kept = self.rows("suggestions", "SELECT text FROM suggestions WHERE text = 'q%d'" % self.turn)
        return reply, bool(kept) == (reply.status_code == 200)

    def document(self):
        """A document is accepted and translated, or fails with a message; it does not stay in progress for ever."""
        reply = self.send("POST", "/v2/document", **DOCUMENT)
        if reply.status_code != 200:
            return reply, True
        id, key = reply.json()["document_id"], {"document_key": reply.json()["document_key"]}
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            now = self.send("POST", "/v2/document/" + id, json=key)
            state = now.json().get("status") if now.status_code == 200 else None
            if state == "done":
                got = self.send("POST", "/v2/document/%s/result" % id, json=key)
                return reply, got.status_code != 200 or got.text.startswith("Zwei Hunde")
            if state == "error":
                return reply, bool(now.json().get("error_message") or now.json().get("message"))
            time.sleep(0.05)
        return reply, False


@pytest.fixture
def stores(control, tmp_path):
    folder = tmp_path / "stores"
    folder.mkdir()
    key = add(folder / "keys.db")
    flags = [x for name in ("keys", "collections", "suggestions", "documents") for x in ("--" + name, str(folder / (name + ".db")))]
    with served(control, EN_DE, *flags) as server:
        s = Stores(server, folder, key)
        for what in KINDS:
            reply, good = getattr(s, what)()
            assert reply.status_code in (200, 201) and good, (what, reply.text)
        yield s
        control.io_mask = 0


def refused(reply):
    """True if the reply is a refusal as the API promises it, with a message and a request id."""
    said = reply.json() if reply.status_code in (500, 503) else {}
    return reply.headers.get("X-Request-Id") and isinstance(said.get("error", said.get("message")), (str, dict))


@pytest.mark.parametrize("what", KINDS)
def test_stores(control, stores, what):
    ways, wrong = collections.Counter(), []
    part = stores.part(what)
    ask, plain = getattr(stores, what), stores.translate().json()["translations"]
    for name, kinds, how in WAYS:
        with failing(control, part, kinds, how, 0):
            ask()
        calls = control.io_calls
        for at in chosen(calls):
            with failing(control, part, kinds, how, at):
                reply, good = ask()
            where = "%s, call %d of %d: %d %s" % (name, at, calls, reply.status_code, reply.text[:300])
            if str(stores.folder) in reply.text:
                wrong.append("says where the file is: " + where)
            ways["not reached" if not control.io_failed else "refused" if reply.status_code >= 400 else "done all the same"] += 1
            if reply.status_code >= 400 and (how == 0 or not refused(reply)):
                wrong.append("refused: " + where)
            if not good:
                wrong.append("kept in part: " + where)
            reply, good = ask()
            if reply.status_code >= 400 or not good:
                wrong.append("after %s: %d %s" % (where, reply.status_code, reply.text[:300]))
        if stores.translate().json()["translations"] != plain:
            wrong.append("another answer")
    print(what, dict(ways))
    assert not wrong, "%d of %s:\n%s\n%s" % (len(wrong), dict(ways), "\n".join(wrong[:8]), "".join(stores.server.log[-10:]))
    assert ways["refused"] and ways["done all the same"]
    stores.server.until(lambda: stores.server.logged('event="store failed" .*path="%s' % part))


def test_what_is_acknowledged_outlasts_a_power_failure(control, stores):
    """The disk is told to keep each entry before its client is; a key's change, too."""
    for what in KINDS:
        with failing(control, stores.part(what), SYNC, errno.EIO, 0):
            reply = stores.send("POST", "/v2/document", **DOCUMENT) if what == "document" else getattr(stores, what)()[0]
            assert reply.status_code in (200, 201) and control.io_calls > 0, (what, reply.text)
    id = stores.rows("keys", "SELECT id FROM keys")[0]
    with failing(control, "keys", SYNC, errno.EIO, 0):
        subprocess.run([CLI, "keys", "set", id, "--keys", str(stores.folder / "keys.db"), "--name", "n"], check=True, capture_output=True,
                       env=control.env())
        assert control.io_calls > 0


def test_no_folder_for_temporary_files_is_needed(control, stores):
    """A container with a read-only root has none. SQLite keeps what it deletes in a temporary file, if it is more than 2 MB."""
    def body(part):
        words = ("%s number %06d of a collection that is large" % (part, i) for i in range(15000))
        return {"name": "large", "dictionaries": [dict(PAIR, entries=dict.fromkeys(words, "w"))]}
    for path in ("/v1/glossaries", "/v1/memories"):
        made = path + "/" + stores.send("POST", path, json=body("a")).json()["id"]
        for part in "bcd":
            assert stores.send("PATCH", made, json=body(part)).status_code == 200
        with failing(control, "tmp/etilqs_", OPEN, errno.EACCES, 1, 1 << 40):
            reply = stores.send("PUT", made, json=body("e"))
            assert reply.status_code == 200, reply.text
        with failing(control, str(stores.folder / "etilqs_"), OPEN, errno.EACCES, 0):
            for part in "bcd":
                assert stores.send("PATCH", made, json=body(part)).status_code == 200
            assert stores.send("DELETE", made).status_code == 204
            assert control.io_calls > 0


def test_a_disk_that_stays_full(control, stores):
    """Translations go on, data to be stored is refused, and the keys' usage is written once there is room: none is lost."""
    keys = stores.folder / "keys.db"
    id = {"id": stores.rows("keys", "SELECT id FROM keys")[0]}
    before, asked = used(keys, id)[1], 0
    with failing(control, str(stores.folder), FULL, errno.ENOSPC, 1, 1 << 40):
        def failed():
            nonlocal asked
            asked += 1
            assert stores.translate("Two dogs.").status_code == 200
            time.sleep(0.2)  # usage is written every few seconds
            return stores.server.logged('event="keys" store=failed')
        stores.server.until(failed)
        for what in KINDS:
            reply, good = getattr(stores, what)()
            assert refused(reply) and good, (what, reply.status_code, reply.text)
        assert stores.server.get("/readyz").status_code == 200
    assert not stores.server.logged("cannot rollback")  # the line before says what is wrong
    stores.server.until(lambda: stores.server.logged('event="keys" store=recovered'))
    for what in KINDS:
        reply, good = getattr(stores, what)()
        assert reply.status_code in (200, 201) and good
    stores.server.until(lambda: used(keys, id)[1] >= before + asked * len("Two dogs."))


def test_an_accepted_document_outlasts_a_full_disk(control, stores):
    """The server keeps the translation until there is room, and the log reports the failure once."""
    errors = lambda: stores.server.metric("dragoman_store_errors_total", store="documents")
    text = "\n".join("The dog number %d plays in the snow." % i for i in range(600))
    assert errors() == 0
    made = stores.send("POST", "/v1/documents", files={"file": ("b.txt", text)}, data={"source": "en", "target": "de"}).json()
    status = lambda: stores.send("GET", "/v1/documents/" + made["id"]).json()["status"]
    stores.server.until(lambda: status() == "translating")
    with failing(control, stores.part("document"), FULL, errno.ENOSPC, 1, 1 << 40):
        stores.server.until(lambda: stores.server.logged('event="documents: cannot be written'))
        translated = stores.server.metric("dragoman_sentences_total")
        stores.server.until(lambda: errors() >= 4)
        assert status() == "translating"
    stores.server.until(lambda: status() == "done")
    assert stores.server.metric("dragoman_sentences_total") == translated
    assert stores.send("GET", "/v1/documents/%s/result" % made["id"]).text.count("\n") == 599
    assert len([line for line in stores.server.log if "documents" in line and "level=error" in line]) == 2, stores.server.log


def test_a_store_that_was_removed_takes_nothing(control, stores):
    """Nobody would find what is written to a removed file again. Once it is back, the server writes to it."""
    for what, name in (("suggestion", "suggestions"), ("glossary", "collections"), ("change", "collections"), ("document", "documents")):
        path = stores.folder / (name + ".db")
        path.rename(path.with_suffix(".aside"))
        path.touch()  # replaced, such as by a copy from a backup
        reply = stores.send("POST", "/v2/document", **DOCUMENT) if what == "document" else getattr(stores, "ask_" + what)()
        assert refused(reply) and "removed or replaced" in reply.text and str(stores.folder) not in reply.text, (what, reply.text)
        path.with_suffix(".aside").rename(path)
        reply, good = getattr(stores, what)()
        assert reply.status_code in (200, 201) and good, (what, reply.text)
    assert stores.server.logged('event="store failed" .*message="the file was removed or replaced')


def test_reload(control, tmp_path):
    """A bundle that cannot be read, at any call, is refused and the old one keeps serving; one that is read in pieces is accepted."""
    folder, wrong, ways = tmp_path / "served", [], collections.Counter()
    for seed in (21, 22):
        bundle.make(CLI, str(tmp_path / str(seed)), seed=seed)
    shutil.copytree(tmp_path / "21", folder / "en-de")

    def exchange(turn):
        shutil.copytree(tmp_path / str(21 + turn % 2), tmp_path / "next")
        os.rename(folder / "en-de", tmp_path / "old")
        os.rename(tmp_path / "next", folder / "en-de")
        shutil.rmtree(tmp_path / "old")
    with served(control, str(folder)) as server:
        def version():
            return server.get("/v1/models").json()["models"][0]["version"]
        turn = 1
        for name, kinds, how in WAYS[1:]:
            exchange(turn)
            with failing(control, str(folder), kinds, how, 0):
                assert server.reload().status_code == 200
            calls = control.io_calls
            for at in chosen(calls):
                turn, before = turn + 1, version()
                exchange(turn)
                with failing(control, str(folder), kinds, how, at):
                    reply = server.reload()
                where = "%s, call %d of %d: %d %s" % (name, at, calls, reply.status_code, reply.text[:300])
                ways["not reached" if not control.io_failed else str(reply.status_code)] += 1
                if (reply.status_code == 200) == (version() == before) or (how == 0 and reply.status_code != 200):
                    wrong.append(where)
                if reply.status_code != 200 and "Input/output error" not in reply.text:
                    wrong.append("not clear: " + where)
                if server.translate("Hello.").status_code != 200 or server.reload().status_code != 200 or version() == before:
                    wrong.append("afterwards: " + where)
            turn += 1
    print(dict(ways))
    assert not wrong and ways["422"] > 1, "%d of %s:\n%s" % (len(wrong), dict(ways), "\n".join(wrong[:8]))
