"""Documents larger than --max-body-bytes: each API translates packed ones, and refuses others with 413."""
import concurrent.futures
import contextlib
import io
import random
import select
import sqlite3
import struct
import time
import zipfile
import zlib

import docx
import pytest
import requests

from conftest import BUNDLES, PATIENCE, Server, read_all
from http_replies import status_of
from test_settings import at_most, plan
from test_v1_documents import over

MIB = 1 << 20
GERMAN = "Zwei Hunde spielen im Schnee."


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture():
    """A PNG of 3 MiB: noise, which cannot be compressed."""
    rows = b"".join(b"\0" + random.Random(row).randbytes(3072) for row in range(1024))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1024, 1024, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


PICTURE = picture()


def word():
    d, out = docx.Document(), io.BytesIO()
    d.add_paragraph("Two dogs play in the snow.")
    d.add_picture(io.BytesIO(PICTURE))
    d.save(out)
    return out.getvalue()


WORD = word()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(BUNDLES, "--documents", str(tmp_path_factory.mktemp("large") / "d.db")) as s:
        yield s


FIELDS = {"/v1/documents": {"source": "en", "target": "de"}, "/translate_file": {"source": "en", "target": "de"}, "/v2/document": {"target_lang": "DE", "source_lang": "EN"}}


def send(server, path, name, content, chunked=False):
    form = requests.Request("POST", server.url(path), files={"file": (name, content)}, data=FIELDS[path]).prepare()
    body = (form.body[i:i + 50000] for i in range(0, len(form.body), 50000)) if chunked else form.body
    return requests.post(server.url(path), data=body, headers={"Content-Type": form.headers["Content-Type"]}, timeout=PATIENCE)


def translation(server, path, reply):
    """Waits for the document of a reply, and returns its translation."""
    assert reply.status_code in (200, 201), reply.text
    made = reply.json()
    if path == "/translate_file":
        return requests.get(made["translatedFileUrl"], timeout=PATIENCE).content
    if path == "/v1/documents":
        assert over(server, made)["status"] == "done"
        return server.get("/v1/documents/%s/result" % made["id"]).content
    at, key = "/v2/document/" + made["document_id"], {"document_key": made["document_key"]}
    server.until(lambda: server.post(at, key).json()["status"] == "done")
    return server.post(at + "/result", key).content


def message(reply):
    body = reply.json()
    error = body.get("error", body)
    return error if isinstance(error, str) else error["message"]


@pytest.mark.parametrize("chunked", (False, True), ids=("length", "chunked"))
@pytest.mark.parametrize("path", FIELDS)
def test_a_document_with_a_photo(server, path, chunked):
    """A .docx with one photo is larger than --max-body-bytes, and was refused."""
    assert len(WORD) > 3 * MIB
    out = translation(server, path, send(server, path, "a.docx", WORD, chunked))
    assert docx.Document(io.BytesIO(out)).paragraphs[0].text == GERMAN
    with zipfile.ZipFile(io.BytesIO(out)) as z:
        assert z.read("word/media/image1.png") == PICTURE


@pytest.mark.parametrize("path", FIELDS)
def test_large_texts_are_refused(server, path):
    """A file that is not packed is all text, so the limit of other bodies holds for it."""
    reply = send(server, path, "a.txt", b"Two dogs. " * 300000)
    assert reply.status_code == 413
    assert message(reply) == "the file has 3000000 bytes, the limit is 1048576 for this kind of file, and 10485760 for packed kinds such as .docx and .epub"
    if path == "/v1/documents":
        assert (reply.json()["error"]["code"], reply.json()["error"]["field"]) == ("too_large", "file")


def head(path, length):
    return (f"POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n" + length + "\r\n").encode()


@pytest.mark.parametrize("path", FIELDS)
def test_documents_over_their_limit(server, path):
    """The server refuses it once the headers give its length or, if they do not, at the first byte over the limit."""
    got = server.raw(head(path, f"Content-Length: {10 * MIB + 1}\r\n"))
    assert status_of(got) == 413 and b"the body has 10485761 bytes, the limit is 10485760" in got
    with server.connect() as s:
        s.sendall(head(path, "Transfer-Encoding: chunked\r\n") + b"%x\r\n" % (11 * MIB))
        with contextlib.suppress(OSError):
            for _ in range(11):
                s.sendall(bytes(MIB))
        got = read_all(s)
    assert status_of(got) == 413 and b"the body has more than 10485760 bytes" in got


@pytest.mark.parametrize("path", ("/v1/translate", "/translate", "/v2/translate", "/v1/glossaries", "/v2/document/a"))
def test_other_bodies_keep_their_limit(server, path):
    assert status_of(server.raw(head(path, f"Content-Length: {MIB + 1}\r\n"))) == 413


def test_without_documents_nothing_is_larger():
    with Server(BUNDLES) as s:
        assert status_of(s.raw(head("/v1/documents", f"Content-Length: {MIB + 1}\r\n"))) == 413


def test_a_smaller_limit_than_that_of_bodies(tmp_path):
    """--max-body-bytes holds if it is larger, so that documents that were accepted before the option existed still are."""
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--max-body-bytes", str(4 * MIB), "--max-document-bytes", "2048") as s:
        assert send(s, "/v1/documents", "a.docx", WORD).status_code == 201
        assert status_of(s.raw(head("/v1/documents", f"Content-Length: {4 * MIB + 1}\r\n"))) == 413


def test_arriving_documents_are_bounded_and_leave_room(tmp_path):
    """Four of the largest may arrive at a time. A fifth gets 503, and texts are translated meanwhile."""
    size = 200000
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--max-body-bytes", "10000", "--max-document-bytes", str(size), "--body-timeout", "300") as s, \
            contextlib.ExitStack() as stack:
        for _ in range(4):
            c = stack.enter_context(s.connect())
            c.sendall(head("/v1/documents", f"Content-Length: {size}\r\n") + bytes(size - 1))
        fifth = head("/v2/document", "Content-Length: 5\r\n")

        def refused():
            """Announces a fifth document without sending it: only bytes that have arrived take room."""
            with s.connect() as c:
                c.sendall(fifth)
                return bool(select.select([c], [], [], 0.5)[0]) and status_of(read_all(c)) == 503

        s.until(refused)
        for _ in range(4):
            assert s.translate("One. " * 1000).status_code == 200


def test_documents_in_line_take_no_room(endless, tmp_path):
    """A client of LibreTranslate's API waits for the translation. Its document is already stored, so its body frees its memory for other documents."""
    long, store, path = "".join(f"A man in a red shirt is riding bicycle {n}.\n" for n in range(3000)), str(tmp_path / "d.db"), "/translate_file"
    with concurrent.futures.ThreadPoolExecutor(6) as pool, Server(endless, "--documents", store, "--max-document-bytes", str(4 * MIB), "--drain-timeout", "0") as s, \
            contextlib.closing(sqlite3.connect(store, PATIENCE)) as file:
        assert send(s, "/v1/documents", "long.txt", long.encode()).status_code == 201
        sent = []
        for n in range(6):  # 18 MiB in all; 16 may arrive at a time
            sent.append(pool.submit(send, s, path, "a.docx", WORD))
            s.until(lambda: sent[-1].done() or file.execute("SELECT count(*) FROM documents").fetchone() == (n + 2,))
        assert not any(one.done() for one in sent)


def test_a_slow_client_has_time_for_a_large_document(tmp_path):
    """--body-timeout is the time for --max-body-bytes. A document gets it again for each further --max-body-bytes."""
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--max-body-bytes", "50000", "--body-timeout", "1") as s:
        body = requests.Request("POST", s.url("/v1/documents"), files={"file": ("a.docx", WORD)}, data=FIELDS["/v1/documents"]).prepare()
        with s.connect() as c:
            c.sendall(head("/v1/documents", f"Content-Length: {len(body.body)}\r\n").replace(b"multipart/form-data; boundary=b", body.headers["Content-Type"].encode()))
            begun, step = time.monotonic(), len(body.body) // 16 + 1
            for at in range(0, len(body.body), step):
                c.sendall(body.body[at:at + step])
                time.sleep(0.15)
            assert time.monotonic() - begun > 2
            assert status_of(read_all(c)) == 201
        begun = time.monotonic()
        assert status_of(s.raw(head("/v1/documents", "Content-Length: 100000\r\n") + bytes(60000))) == 408
        assert time.monotonic() - begun < 30


def of_tags(tag, n):
    """Makes a .docx that repeats a tag n times: small when packed, large in memory."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WORD)) as there, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in there.namelist():
            if not name.endswith(".png"):
                packed.writestr(name, there.read(name).replace(b"</w:body>", tag * n + b"</w:body>") if name == "word/document.xml" else there.read(name))
    return out.getvalue()


def test_packed_tags_take_what_the_plan_says(tmp_path):
    flags = ["--documents", str(tmp_path / "d.db"), "--max-body-bytes", "1048576", "--workers", "1"]
    most = at_most(plan(BUNDLES, *flags)[1])
    with Server(BUNDLES, *flags) as s, concurrent.futures.ThreadPoolExecutor(4) as pool:
        reply = send(s, "/v1/documents", "a.docx", of_tags(b"<a/>", 3 * MIB))
        assert reply.status_code == 413 and "more than 2097152 tags" in message(reply)
        large = of_tags(b'<a b="ccccccccccccccccccc"/>', 2090000)
        assert len(large) < MIB
        for made in pool.map(lambda _: send(s, "/v1/documents", "a.docx", large).json(), range(4)):
            assert over(s, made)["status"] == "done"
        used = s.memory_mb("VmHWM")
    assert 200 < used < most, (used, most)
