"""Documents over HTTP, as LibreTranslate's and DeepL's clients send them: real translations, restarts, limits, keys."""
import concurrent.futures
import contextlib
import io
import os
import signal
import sqlite3
import subprocess
import time
import zipfile

import deepl
import pytest
import requests

import bundle
from conftest import BUNDLES, NARROW, PATIENCE, Server
from stopped_engine import stopped_engine
from test_keys import new_key

TEXT, GERMAN = "Two dogs play in the snow.\n\nA girl is smiling.\n", "Zwei Hunde spielen im Schnee.\n\nEin Mädchen lächelt.\n"
HTML = "<h1>Two dogs</h1><p>Two dogs play in the <b>snow</b>.</p>"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return str(tmp_path_factory.mktemp("documents") / "documents.db")


@pytest.fixture(scope="module")
def server(store):
    with Server(BUNDLES, "--documents", store, "--workers", "1") as s:
        yield s


def send(server, name, content, **fields):
    return requests.post(server.url("/translate_file"), files={"file": (name, content)}, data={"source": "en", "target": "de", **fields},
                         timeout=PATIENCE)


def document(server, name, content, **fields):
    """Sends a document to DeepL's API. Returns its id, and its key as a body."""
    reply = requests.post(server.url("/v2/document"), files={"file": (name, content)}, data={"target_lang": "DE", **fields}, timeout=PATIENCE)
    assert reply.status_code == 200, reply.text
    return reply.json()["document_id"], {"document_key": reply.json()["document_key"]}


def status(server, id, key):
    reply = server.post("/v2/document/" + id, key)
    assert reply.status_code == 200, reply.text
    return reply.json()


def wait(server, id, key):
    """Waits until the document is done or failed. Returns its status."""
    server.until(lambda: status(server, id, key)["status"] not in ("queued", "translating"))
    return status(server, id, key)


@pytest.mark.parametrize("name,plain,coded", [
    ("Größe & 報告.txt", "Gr____e__________de.txt", "Gr%C3%B6%C3%9Fe%20_%20%E5%A0%B1%E5%91%8A_de.txt"),
    ("é" * 61 + ".txt", "_" * 120 + "_de.txt", "%C3%A9" * 60 + "_de.txt"), ("a" + "報" * 61 + ".txt", "a" + "_" * 117 + "_de.txt", "a" + "%E5%A0%B1" * 39 + "_de.txt")], ids=("short", "cut", "cut in a character"))
def test_names_of_other_languages(server, name, plain, coded):
    """A name without ASCII came back as a row of "_"."""
    url = send(server, name, TEXT.encode()).json()["translatedFileUrl"]
    assert requests.get(url, timeout=PATIENCE).headers["Content-Disposition"] == f"attachment; filename=\"{plain}\"; filename*=UTF-8''{coded}"


def test_libretranslate(server):
    reply = send(server, "my report.txt", TEXT.encode())
    assert reply.status_code == 200 and list(reply.json()) == ["translatedFileUrl"], reply.text
    url = reply.json()["translatedFileUrl"]
    assert url.startswith(server.url("/download_file/")) and url.endswith(".txt")
    file = requests.get(url, timeout=PATIENCE)
    assert file.content.decode() == GERMAN and file.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert file.headers["Content-Disposition"] == 'attachment; filename="my_report_de.txt"'
    assert file.headers["X-Content-Type-Options"] == "nosniff" and file.headers["Access-Control-Allow-Origin"] == "*"
    assert requests.get(url, timeout=PATIENCE).content == file.content  # it can be fetched again until it expires


def test_settings_say_what_is_served(server):
    settings = server.get("/frontend/settings").json()
    assert settings["filesTranslation"] is True and {".txt", ".docx", ".odt", ".epub", ".po"} <= set(settings["supportedFilesFormat"])


@pytest.mark.parametrize("name, content, fields, code, message", [
    ("a.pdf", b"x", {}, 400, "Invalid request: file format not supported"),
    ("a.txt", b"", {}, 400, "Invalid request: empty file"),
    ("a.txt", b"x", {"source": ""}, 400, "Invalid request: missing source parameter"),
    ("a.txt", b"x", {"target": ""}, 400, "Invalid request: missing target parameter"),
    ("a.txt", b"x", {"target": "zz"}, 400, "zz is not supported"),
    ("a.json", b"{", {}, 400, "the file is broken"),
    ("a.docx", b"x", {}, 400, "the file is broken"),
    ("a.txt", b"caf\xe9", {}, 400, "not UTF-8"),
])
def test_what_libretranslate_refuses(server, name, content, fields, code, message):
    reply = send(server, name, content, **fields)
    assert reply.status_code == code and message in reply.json()["error"], reply.text


def test_a_form_whose_file_is_not_chosen(server):
    """A browser then sends a file with an empty name."""
    part = b"--a\r\nContent-Disposition: form-data; name=%s\r\n\r\n%s\r\n"
    body = part % (b'"file"; filename=""\r\nContent-Type: application/octet-stream', b"") + part % (b"source", b"en") + part % (b"target", b"de") + b"--a--\r\n"
    for path, refusal in (("/translate_file", {"error": "Invalid request: missing file parameter"}),
                          ("/v2/document", {"message": "Parameter 'file' not specified"})):
        reply = requests.post(server.url(path), data=body, headers={"Content-Type": "multipart/form-data; boundary=a"}, timeout=PATIENCE)
        assert (reply.status_code, reply.json()) == (400, refusal)


@pytest.mark.parametrize("name", ["Übersicht für \u200eAna.txt", 'a "b".txt', "x" * 250 + ".txt", "a;b=c.txt", ".txt"])
def test_names_of_files(server, name):
    reply = send(server, name, TEXT.encode())
    assert reply.status_code == 200, reply.text
    assert requests.get(reply.json()["translatedFileUrl"], timeout=PATIENCE).text == GERMAN


def test_forms_that_are_none(server):
    for body, type in ((b"x", "text/plain"), (b"x", "multipart/form-data"), (b"x", "multipart/form-data; boundary=a"),
                       (b"--a\r\n\r\nx", "multipart/form-data; boundary=a"), (b"", "multipart/form-data; boundary=" + "a" * 100),
                       (b"--a\r\nContent-Disposition: form-data; name=source\r\n\r\nen\r\n--a--", "multipart/form-data; boundary=a")):
        reply = requests.post(server.url("/translate_file"), data=body, headers={"Content-Type": type}, timeout=PATIENCE)
        assert reply.status_code == 400 and list(reply.json()) == ["error"], reply.text
    for name in ("a", "..%2f..%2fetc%2fpasswd", "x" * 36 + ".txt", "../../etc/passwd"):
        assert server.get("/download_file/" + name).status_code in (400, 404)


def test_deepl(server):
    id, key = document(server, "a.txt", TEXT.encode(), source_lang="EN")
    done = wait(server, id, key)
    assert done == {"document_id": id, "status": "done", "billed_characters": len(TEXT) - 3}  # line ends are not billed
    file = server.post("/v2/document/%s/result" % id, key)
    assert file.status_code == 200 and file.content.decode() == GERMAN
    for wrong in ({"document_key": "no"}, {}):
        assert server.post("/v2/document/" + id, wrong).status_code == 404
        assert server.post("/v2/document/%s/result" % id, wrong).status_code == 404
    assert server.post("/v2/document/no", key).status_code == 404


def test_deepl_java_client(server):
    """DeepL's Java client sends a document to /v2/document/."""
    parts = (("file", ("in é.txt", TEXT, "text/plain", {"Content-Transfer-Encoding": "binary"})), ("source_lang", (None, "en")), ("target_lang", (None, "de")))
    reply = requests.post(server.url("/v2/document/"), files=parts, headers={"Authorization": "DeepL-Auth-Key any"}, timeout=PATIENCE)
    assert reply.status_code == 200, reply.text
    assert wait(server, reply.json()["document_id"], {"document_key": reply.json()["document_key"]})["status"] == "done"


@pytest.mark.parametrize("letter", ["a", "ä"])
def test_deepl_name_of_a_file(server, letter):
    """The field filename may have 255 bytes, as a name in the form may."""
    fit = (letter * 251).encode()[:250].decode() + "a.txt"
    id, key = document(server, "a.txt", TEXT.encode(), filename=fit)
    assert wait(server, id, key)["status"] == "done"
    for name in ("a" + fit, letter * 300 + ".txt"):
        reply = requests.post(server.url("/v2/document"), files={"file": ("a.txt", TEXT)}, data={"target_lang": "DE", "filename": name}, timeout=PATIENCE)
        message = "the document's name has %d bytes, the limit is 255" % len(name.encode())
        assert (reply.status_code, reply.json()) == (400, {"message": message})


def test_kept_under_a_name_without_suffix(tmp_path):
    """Earlier versions cut long names. Such a document is not found, and takes no server down."""
    store = str(tmp_path / "d.db")
    with Server(BUNDLES, "--documents", store) as s:
        id, key = document(s, "a.txt", TEXT.encode())
        wait(s, id, key)
    with contextlib.closing(sqlite3.connect(store)) as file, file:
        file.execute("UPDATE documents SET name = ?", ("a" * 255,))
    with Server(BUNDLES, "--documents", store) as s:
        assert s.get("/download_file/" + id + ".txt").status_code == 404
        assert s.post("/v2/document/%s/result" % id, key).text == GERMAN


def test_deepl_client(server, tmp_path):
    """DeepL's own client, unchanged; the language is detected."""
    client = deepl.DeepLClient("any", server_url=server.url(""))
    (tmp_path / "a.html").write_text(HTML)
    state = client.translate_document_from_filepath(str(tmp_path / "a.html"), str(tmp_path / "b.html"), target_lang="DE")
    assert state.done and state.billed_characters > 0
    assert (tmp_path / "b.html").read_text() == "<h1>Zwei Hunde</h1><p>Zwei Hunde spielen im <b>Schnee</b>.</p>"
    (tmp_path / "a.pdf").write_text("x")
    with pytest.raises(deepl.DeepLException, match="Invalid file data"):
        client.translate_document_from_filepath(str(tmp_path / "a.pdf"), str(tmp_path / "c.pdf"), target_lang="DE")


def test_the_language_that_a_file_names(server):
    """DeepL's clients write languages in capitals; in files, case matters."""
    id, key = document(server, "a.arb", b'{"@@locale": "en", "a": "Two dogs"}', target_lang="DE")
    wait(server, id, key)
    assert server.post("/v2/document/%s/result" % id, key).text == '{"@@locale": "de", "a": "Zwei Hunde"}'


def test_through_a_third_language(server):
    id, key = document(server, "a.html", "<p>Zwei Hunde spielen im <b>Schnee</b>.".encode(), source_lang="DE", target_lang="FR")
    assert wait(server, id, key)["status"] == "done"
    text = server.post("/v2/document/%s/result" % id, key).text
    assert text.startswith("<p>Deux chiens") and "<b>" in text


@pytest.mark.parametrize("fields, message", [
    ({"target_lang": "XX"}, "target_lang"), ({"source_lang": "XX"}, "source_lang"), ({"output_format": "pdf"}, "output_format"),
    ({"formality": "more"}, "formality"), ({"glossary_id": "x", "source_lang": "EN"}, "glossary_id")])
def test_what_deepl_refuses(server, fields, message):
    reply = requests.post(server.url("/v2/document"), files={"file": ("a.txt", b"Two dogs.")}, data={"target_lang": "DE", **fields}, timeout=PATIENCE)
    assert reply.status_code == 400 and message in reply.json()["message"]


def test_a_file_that_is_no_longer_what_it_was(server):
    """Zip bombs are refused at once."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("word/document.xml", b" " * (100 << 20))
    reply = send(server, "a.docx", packed.getvalue())
    assert reply.status_code == 400 and "unpacks to more than" in reply.json()["error"]


@pytest.mark.parametrize("path, fields", [("/v1/documents", {"source": "en", "target": "de"}), ("/v2/document", {"target_lang": "DE"}),
                                          ("/translate_file", {"source": "en", "target": "de"})])
def test_a_slow_document_delays_nobody(tmp_path, path, fields):
    """A small file that unpacks to many paragraphs takes long to read. Other requests are answered meanwhile."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("word/document.xml", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>' +
                   "<w:p><w:r><w:t>1</w:t></w:r></w:p>" * 340000 + "</w:body></w:document>")
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--http-threads", "1") as s, concurrent.futures.ThreadPoolExecutor(1) as pool:
        sent = pool.submit(requests.post, s.url(path), files={"file": ("a.docx", packed.getvalue())}, data=fields, timeout=PATIENCE)
        answers = 0
        while not sent.done():
            assert s.get("/livez").status_code == 200
            answers += 1
            time.sleep(0.005)
        assert sent.result().status_code in (200, 201) and answers >= 8  # a few before the file arrives; then one, if it held the thread


def test_restart(endless, tmp_path):
    """Documents that were queued or in progress are translated by the next server; finished ones are still there."""
    store = str(tmp_path / "d.db")
    with Server(BUNDLES, "--documents", store) as s:
        first = document(s, "a.txt", TEXT.encode())
        wait(s, *first)
    with Server(endless, "--documents", store, "--drain-timeout", "0") as s:  # takes much longer
        long = document(s, "long.txt", ("Two dogs play in the snow with number %d.\n" * 300 % tuple(range(300))).encode())
        last = document(s, "b.txt", TEXT.encode())
        assert status(s, *last)["status"] == "queued"
    for _ in range(3):  # stopped at an arbitrary moment
        with Server(BUNDLES, "--documents", store) as s:
            time.sleep(0.03)
    with Server(BUNDLES, "--documents", store) as s:
        assert s.post("/v2/document/%s/result" % first[0], first[1]).text == GERMAN
        assert wait(s, *long)["status"] == "done" and wait(s, *last)["status"] == "done"
        assert s.post("/v2/document/%s/result" % long[0], long[1]).text.count("\n") == 300
        assert s.post("/v2/document/%s/result" % last[0], last[1]).text == GERMAN


def test_a_server_beside_another(tmp_path):
    """As in an upgrade: both take documents and give them out, and the newer one translates once the older one has stopped."""
    def long(n):
        return "".join("Two dogs play in the snow with number %d.\n" % i for i in range(n)).encode()

    def sentences(s):
        return s.metric("dragoman_sentences_total")

    store = str(tmp_path / "d.db")
    with Server(BUNDLES, "--documents", store, "--workers", "1", "--drain-timeout", "0") as old, concurrent.futures.ThreadPoolExecutor(1) as pool:
        with stopped_engine(old):
            first = document(old, "long.txt", long(300))
            old.until(lambda: status(old, *first)["status"] == "translating")
            old.process.send_signal(signal.SIGSTOP)
        with Server(BUNDLES, "--documents", store) as new:
            try:
                waiting = pool.submit(send, new, "a.txt", TEXT.encode())
                new.until(lambda: new.logged("documents: not translated yet"))
                time.sleep(1.5)  # it asks each second
                assert status(new, *first)["status"] == "translating" and not sentences(new) and not waiting.done()
            finally:
                old.process.send_signal(signal.SIGCONT)
            assert requests.get(waiting.result().json()["translatedFileUrl"], timeout=PATIENCE).text == GERMAN  # by the old one
            assert wait(new, *first)["status"] == "done" and not sentences(new)
            assert new.post("/v2/document/%s/result" % first[0], first[1]).text.count("\n") == 300
            began = time.monotonic()  # the older one is idle, and looks each second for what others have taken
            for name in "b.txt", "c.txt":
                wait(new, *document(new, name, TEXT.encode()))
            assert time.monotonic() - began < 20 and not sentences(new)
            with stopped_engine(old):
                last = document(old, "long.txt", long(600))
                old.until(lambda: status(old, *last)["status"] == "translating")
                old.process.send_signal(signal.SIGTERM)
                old.until(lambda: old.logged('event="stopping"'))
            assert old.stop() == 0
            assert wait(new, *last)["status"] == "done" and sentences(new)
            assert new.post("/v2/document/%s/result" % last[0], last[1]).text.count("\n") == 600


LISTS = ("/v1/languages", "/languages", "/frontend/settings", "/v2/languages", "/v2/languages?type=target", "/v2/glossary-language-pairs",
         "/v3/languages?resource=translate_text", "/language/translate/v2/languages")


def test_while_the_models_load(tmp_path):
    """Each API asks a client to try again; without models, its languages would be unknown ones."""
    file = {"files": {"file": ("a.txt", TEXT)}}
    words = {"name": "pets", "source_lang": "en", "target_lang": "de", "entries": "dogs\tKatzen", "entries_format": "tsv"}
    flags = ("--documents", str(tmp_path / "d.db"), "--collections", str(tmp_path / "c.db"))
    with contextlib.ExitStack() as stack:
        with bundle.loading(os.path.join(BUNDLES, "en-de-fr"), str(tmp_path / "en-de-fr")) as models:
            s = stack.enter_context(Server(models, *flags, ready=False))
            early = [requests.post(s.url(path), timeout=PATIENCE, **body) for path, body in (
                ("/v1/documents", {"data": {"source": "en", "target": "de"}, **file}), ("/v1/documents", {"data": {"source": "auto", "target": "de"}, **file}),
                ("/translate_file", {"data": {"source": "en", "target": "de"}, **file}), ("/v2/document", {"data": {"target_lang": "DE"}, **file}),
                ("/v2/glossaries", {"json": words}))]
            lists = [s.get(path) for path in LISTS] + [s.post("/v2/languages", {"type": "target"})]
            others = [s.get("/v1/documents/x").status_code, requests.delete(s.url("/v1/documents/x"), timeout=PATIENCE).status_code,
                      s.get("/v2/glossaries").status_code, s.get("/readyz").status_code]
        said = "the models are loading"
        assert [(r.status_code, r.headers.get("Retry-After")) for r in early] == [(503, "1")] * 5, [r.text for r in early]
        assert [r.json() for r in early] == [{"error": {"code": "starting", "message": said}}] * 2 + [{"error": said}] + [{"message": said}] * 2
        assert others == [404, 404, 200, 503]  # what needs no model is answered
        # Weblate keeps a list for two days, Mastodon for seven: an empty one would switch translation off for that time.
        assert [(r.status_code, r.headers.get("Retry-After"), said in r.text) for r in lists] == [(503, "1", True)] * len(lists), [r.text for r in lists]
        s.until(lambda: s.get("/readyz").status_code == 200)
        assert send(s, "a.txt", TEXT.encode()).status_code == 200 and s.post("/v2/glossaries", words).status_code == 201
        assert all(s.get(path).status_code == 200 for path in LISTS)


def test_a_request_while_the_models_load_is_none_of_its_key(tmp_path):
    """It counted in the key's rate: a client that tried again until the server was ready got 429 then."""
    keys = str(tmp_path / "keys.db")
    key = new_key(keys, "--requests-per-minute", "1")
    text = {"json": {"text": TEXT, "source": "en", "target": "de"}, "headers": {"X-API-Key": key}, "timeout": PATIENCE}
    with contextlib.ExitStack() as stack:
        with bundle.loading(os.path.join(BUNDLES, "en-de-fr"), str(tmp_path / "en-de-fr")) as models:
            s = stack.enter_context(Server(models, "--keys", keys, ready=False))
            early = [requests.post(s.url("/v1/translate"), **text) for _ in range(3)]
        assert [(r.status_code, r.json()["error"]["code"]) for r in early] == [(503, "starting")] * 3
        s.until(lambda: s.get("/readyz").status_code == 200)
        assert [requests.post(s.url("/v1/translate"), **text).status_code for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("key", ["output_format", "filename", "glossary_id", "formality"])
def test_an_empty_option_of_deepl_is_absent(server, key):
    id, body = document(server, "a.txt", TEXT.encode(), **{key: ""})
    assert wait(server, id, body)["status"] == "done"


def test_an_empty_source_language_is_detected(server):
    for given in ({}, {"source_lang": "", "formality": ""}):
        id, key = document(server, "a.txt", TEXT.encode(), **given)
        assert wait(server, id, key)["status"] == "done"
        assert server.post("/v2/document/%s/result" % id, key).text == GERMAN


def test_progress(server):
    with stopped_engine(server):
        id, key = document(server, "long.txt", ("A man in a red shirt is riding a bicycle with number %d.\n" * 400 % tuple(range(400))).encode())
        server.until(lambda: status(server, id, key)["status"] == "translating")
        assert server.post("/v2/document/%s/result" % id, key).status_code == 503
    while (now := status(server, id, key))["status"] != "done":
        assert now["status"] == "translating" and now.get("seconds_remaining", 1) >= 1
        time.sleep(0.02)


def test_a_client_that_leaves(endless, busy, tmp_path):
    """A client that leaves gets 499 in the log; its document is translated all the same, and the server stops when told to."""
    with Server(endless, *NARROW, "--documents", str(tmp_path / "d.db"), "--drain-timeout", "0") as s:
        with pytest.raises(requests.exceptions.ReadTimeout):
            requests.post(s.url("/translate_file"), files={"file": ("a.txt", busy(60))}, data={"source": "en", "target": "de"}, timeout=(PATIENCE, 0.1))
        s.until(lambda: s.logged("route=/translate_file status=499"))


def test_more_clients_wait_than_may(endless, busy, tmp_path):
    """64 clients may wait; the others are refused, and their documents are not kept."""
    store = str(tmp_path / "d.db")
    with concurrent.futures.ThreadPoolExecutor(70) as pool, Server(endless, *NARROW, "--documents", store, "--drain-timeout", "0") as s:
        document(s, "long.txt", busy(60).encode())
        sent = [pool.submit(send, s, "a.txt", TEXT.encode()) for _ in range(70)]
        done = concurrent.futures.as_completed(sent, timeout=PATIENCE)
        refused = [next(done).result() for _ in range(6)]
        assert [(r.status_code, r.json()["error"]) for r in refused] == 6 * [(503, "64 clients wait for documents, which is the limit")]
        with contextlib.closing(sqlite3.connect(store, timeout=PATIENCE)) as file:
            assert file.execute("SELECT count(*) FROM documents").fetchone() == (65,)
        assert s.stop() == 0  # the long document would keep the others waiting
        assert [f.result().json()["error"] for f in done] == 64 * ["the server is stopping"]


def test_a_server_that_stops(endless, busy, tmp_path):
    """Clients that wait get 503, and their documents are not kept."""
    store = str(tmp_path / "d.db")
    with concurrent.futures.ThreadPoolExecutor(1) as pool, Server(endless, *NARROW, "--documents", store, "--drain-timeout", "0") as s:
        sent = pool.submit(send, s, "a.txt", busy(60).encode())
        s.until_running(1)
        assert s.stop() == 0
        assert (sent.result().status_code, sent.result().json()) == (503, {"error": "the server is stopping"})
    with contextlib.closing(sqlite3.connect(store)) as file:
        assert file.execute("SELECT count(*) FROM documents").fetchone() == (0,)


def test_limits_and_keys(tmp_path):
    keys = str(tmp_path / "keys.db")
    secret = new_key(keys, "--characters-per-day", "60")
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--keys", keys, "--max-batch-characters", "100") as s:
        assert send(s, "a.txt", TEXT.encode()).status_code == 400
        assert send(s, "a.txt", TEXT.encode(), api_key="no").status_code == 403
        assert send(s, "a.txt", TEXT.encode(), api_key=secret).status_code == 200
        auth = {"Authorization": "DeepL-Auth-Key " + secret}
        assert s.get("/v2/usage", headers=auth).json()["character_count"] == len(TEXT) - 3
        over = requests.post(s.url("/v2/document"), files={"file": ("a.txt", TEXT)}, data={"target_lang": "DE"}, headers=auth, timeout=PATIENCE)
        assert over.status_code == 456
        large = requests.post(s.url("/v2/document"), files={"file": ("a.txt", "Two dogs. " * 20)}, data={"target_lang": "DE"}, headers=auth,
                              timeout=PATIENCE)
        assert large.status_code == 413 and "the limit is 100" in large.json()["message"]


def test_expiry_and_room(tmp_path):
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--documents-bytes", "1048576") as s:
        id, key = document(s, "a.txt", TEXT.encode())
        wait(s, id, key)
        sent = [send(s, "a.txt", ("12 " * 120000).encode()).status_code for _ in range(4)]
        assert sent == [200, 200, 503, 503]
    subprocess.run(["sqlite3", str(tmp_path / "d.db"), "UPDATE documents SET created_s = created_s - 100000"], check=True)
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db")) as s:
        s.until(lambda: s.post("/v2/document/" + id, key).status_code == 404)


def test_a_document_that_expires_in_line(endless, busy, tmp_path):
    """The client that waits for it is told, however long the documents before it take."""
    store = str(tmp_path / "d.db")
    with concurrent.futures.ThreadPoolExecutor(1) as pool, Server(endless, *NARROW, "--documents", store, "--drain-timeout", "0") as s, \
            contextlib.closing(sqlite3.connect(store, PATIENCE, isolation_level=None)) as file:
        document(s, "long.txt", busy(120).encode())  # longer than the time between two checks
        sent = pool.submit(send, s, "a.txt", TEXT.encode())
        expire = "UPDATE documents SET created_s = created_s - 100000 WHERE name = 'a.txt'"
        s.until(lambda: file.execute(expire).rowcount == 1)
        s.until(sent.done)  # expired documents are dropped five seconds after the start, then each minute
        assert (sent.result().status_code, sent.result().json()) == (400, {"error": "the document has expired, or was removed"})


def test_without_documents():
    with Server(BUNDLES) as s:
        assert send(s, "a.txt", b"x").status_code == 403 and s.get("/download_file/a").status_code == 403
        assert s.post("/v2/document/a", {}).status_code == s.post("/v2/document", {}).status_code == 403
        assert s.get("/frontend/settings").json()["filesTranslation"] is False
