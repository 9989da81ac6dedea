"""TLS by the server itself: versions, reload of the certificate, and that streams, hang-ups, limits and draining work as
they do without it."""
import concurrent.futures
import os
import signal
import socket
import ssl
import subprocess
import time

import pytest
import requests

from conftest import NARROW, PATIENCE, Local, Server, http_post, long_text, read_all, run_server
from http_replies import GOOD, code_of, header_of, read_reply, status_of
from test_stream import read_events


def make_pair(folder, name, days=30, kind=("ec", "-pkeyopt", "ec_paramgen_curve:P-256")):
    """A self-signed certificate for 127.0.0.1 and its key; it is its own authority."""
    certificate, key = str(folder / (name + ".pem")), str(folder / (name + ".key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", *kind, "-nodes", "-days", str(days), "-subj", "/CN=" + name,
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    return certificate, key


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    return {name: make_pair(folder, name, kind=kind) for name, kind in (
        ("first", ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")), ("second", ("rsa:2048",)))}


class Encrypted(Local):
    """A server that speaks TLS, and plain HTTP on its Unix socket."""

    def __init__(self, models, pair, *flags, **more):
        self.trust = pair[0]
        super().__init__(models, "--tls-certificate", pair[0], "--tls-key", pair[1], *flags, **more)

    def url(self, path):
        return "https://127.0.0.1:%d%s" % (self.port, path)

    def get(self, path, **more):
        return super().get(path, verify=self.trust, **more)

    def post(self, path, body, **more):
        return super().post(path, body, verify=self.trust, **more)

    def context(self):
        return ssl.create_default_context(cafile=self.trust)

    def connect(self, address="127.0.0.1"):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=(address, 0))
        return self.context().wrap_socket(plain, server_hostname="127.0.0.1")

    def name(self):
        """Returns the name in the certificate that a new connection gets."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as plain:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            with context.wrap_socket(plain) as s:
                pem = ssl.DER_cert_to_PEM_cert(s.getpeercert(True))
        said = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=pem, text=True, capture_output=True)
        return said.stdout.split("=")[-1].strip()

    def metrics(self):
        return self.local("GET", "/metrics").text


@pytest.fixture(scope="module")
def server(models, pairs):
    with Encrypted(models, pairs["first"], "--max-queue-tokens", "1000000") as s:
        yield s


def test_requests_are_answered(server):
    reply = server.translate("Hello.")
    assert reply.status_code == 200 and reply.json()["translations"]
    assert reply.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert server.local("GET", "/readyz").status_code == 200  # plain, through the Unix socket
    assert "Strict-Transport-Security" not in server.local("GET", "/readyz").headers
    assert server.local("POST", "/v1/translate", GOOD).json() == server.translate("Hello.").json()


def test_a_translated_file_is_found_at_its_address(models, pairs, tmp_path):
    def send(server, **headers):
        reply = requests.post(server.url("/translate_file"), files={"file": ("a.txt", b"Two dogs.\n")}, data={"source": "en", "target": "de"},
                              headers=headers, verify=pairs["first"][0], timeout=PATIENCE)
        assert reply.status_code == 200, reply.text
        return reply.json()["translatedFileUrl"]
    with Encrypted(models, pairs["first"], "--documents", str(tmp_path / "d.db")) as s:
        address = send(s)
        assert address.startswith(s.url("/download_file/"))
        assert requests.get(address, verify=s.trust, timeout=PATIENCE).status_code == 200
    with Server(models, "--documents", str(tmp_path / "d.db")) as plain:
        assert send(plain).startswith("http://")
        assert send(plain, **{"X-Forwarded-Proto": "https"}).startswith("https://")


def test_versions_and_ciphers(server):
    def offer(*options):
        done = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % server.port, "-CAfile", server.trust,
                               *options], input="", capture_output=True, text=True, timeout=PATIENCE)
        return done.stdout + done.stderr
    assert "TLSv1.3, Cipher is TLS_" in offer() and "Verification: OK" in offer()
    assert "TLSv1.2, Cipher is ECDHE-" in offer("-tls1_2")
    assert "ALPN protocol: http/1.1" in offer("-alpn", "http/1.1")
    for old in (("-tls1_1", "-cipher", "ALL:@SECLEVEL=0"), ("-tls1", "-cipher", "ALL:@SECLEVEL=0"),
                ("-tls1_2", "-cipher", "AES128-SHA:AES256-SHA:AES128-GCM-SHA256"),  # no forward secrecy
                ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA256")):  # CBC
        assert "Cipher is (NONE)" in offer(*old), old


def test_many_clients_get_the_answers_they_get_without(models, pairs):
    """Keep-alive connections and new ones, over several threads of the server; bodies of many records."""
    texts = ["Number %d walks along the road." % i for i in range(40)] + [long_text(60)]
    flags = ("--max-queue-tokens", "1000000", "--http-threads", "3")
    with Encrypted(models, pairs["first"], *flags) as server:
        def ask(text):
            with requests.Session() as session:
                body = dict(text=text, source="en", target="de")
                return [session.post(server.url("/v1/translate"), json=body, verify=server.trust,
                                     timeout=PATIENCE).json()["translations"] for _ in range(3)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            encrypted = list(pool.map(ask, texts))
        for text, answers in zip(texts, encrypted):
            body = dict(text=text, source="en", target="de")
            plain = server.local("POST", "/v1/translate", body).json()["translations"]
            assert answers == [plain] * 3


def test_requests_in_one_record_are_answered_in_order(server):
    """Requests that the TLS layer has read ahead are answered, though no more bytes come from the socket to wake the
    thread."""
    with server.connect() as s:
        s.sendall(http_post("/v1/translate", GOOD) * 5 + b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        rest = b""
        for expected in (b"translations",) * 5 + (b"ok",):
            reply, rest = read_reply(s, rest)
            assert status_of(reply) == 200 and expected in reply
        assert rest == b""


def test_a_request_in_many_small_records(server):
    with server.connect() as s:
        for byte in http_post("/v1/translate", GOOD):
            s.send(bytes([byte]))
        assert status_of(read_reply(s)[0]) == 200


# A certificate is exchanged ---------------------------------------------------------------------------------------

def put(pair, at):
    for source, target in zip(pair, at):
        with open(source, "rb") as f, open(target + ".new", "wb") as g:
            g.write(f.read())
        os.rename(target + ".new", target)


def test_a_certificate_is_exchanged_without_dropping_connections(models, pairs, tmp_path):
    at = (str(tmp_path / "tls.pem"), str(tmp_path / "tls.key"))
    put(pairs["first"], at)
    with Encrypted(models, at) as server:
        kept = server.connect()
        kept.sendall(http_post("/v1/translate", GOOD))
        assert status_of(read_reply(kept)[0]) == 200 and server.name() == "first"
        assert abs(server.metric("dragoman_tls_certificate_expiry_timestamp_seconds") - time.time() - 30 * 86400) < 3700
        put(pairs["second"], at)
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: server.name() == "second")
        for _ in range(3):  # with its first certificate, which is still in memory
            kept.sendall(http_post("/v1/translate", GOOD))
            assert status_of(read_reply(kept)[0]) == 200
        server.trust = pairs["second"][0]
        assert server.translate("Hello.").status_code == 200
        for n, bad in enumerate(((pairs["first"][0], pairs["second"][1]), (__file__, pairs["second"][1]),
                                 (pairs["second"][0], os.devnull))):
            put(bad, at)
            server.process.send_signal(signal.SIGHUP)
            server.until(lambda: sum("certificate not reloaded" in line for line in server.log) == n + 1)
            assert server.name() == "second"
        assert server.metric("dragoman_last_reload_failed", part="certificate") == 1
        kept.sendall(http_post("/v1/translate", GOOD))
        assert status_of(read_reply(kept)[0]) == 200
        kept.close()
        put(pairs["first"], at)
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: server.name() == "first")
        server.trust = pairs["first"][0]
        server.until(lambda: server.metric("dragoman_last_reload_failed", part="certificate") == 0)


def test_what_cannot_be_used_is_refused_at_start(models, pairs, tmp_path):
    certificate, key = pairs["first"]
    alone = run_server("--models", models, "--port", "0", "--tls-certificate", certificate)
    assert alone.returncode == 2 and "must be given together" in alone.stderr
    for pair, word in (((certificate, pairs["second"][1]), "key"), ((__file__, key), "certificate"),
                       ((certificate, str(tmp_path / "none")), "none")):
        done = run_server("--models", models, "--port", "0", "--tls-certificate", pair[0], "--tls-key", pair[1])
        assert done.returncode == 1 and word in done.stderr, done.stderr
        assert done.stderr.count("dragoman-server: ") == 1


# Streams, hang-ups, deadlines ----------------------------------------------------------------------------------------

def test_a_stream_comes_sentence_by_sentence(endless, pairs, busy):
    with Encrypted(endless, pairs["first"], *NARROW) as server:
        reply = server.translate(long_text(6), stream=True)
        assert reply.headers["Content-Type"] == "text/event-stream"
        assert [name for name, _ in read_events(reply.text)] == ["sentence"] * 6 + ["done"]
        with server.held(busy(60)) as reply:
            lines = reply.iter_lines()  # the connection lives as long as this iterator
            assert next(lines) == b"event: sentence" and server.metric("dragoman_queue_depth") > 0  # not all at the end


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_hangs_up_frees_the_engine(endless, pairs, busy, stream):
    with Encrypted(endless, pairs["first"], *NARROW) as server:
        for polite in (True, False):  # with and without close_notify
            s = server.connect()
            s.sendall(http_post("/v1/translate", dict(text=busy(60), source="en", target="de", stream=stream)))
            server.until(lambda: server.metric("dragoman_live_sentences") > 0)
            if polite:
                s.settimeout(0.2)
                try:
                    s.unwrap()
                except (OSError, ssl.SSLError):
                    pass
            s.close()
            server.until(lambda: server.metric("dragoman_live_sentences") == 0)
        server.until(lambda: server.metric("dragoman_requests_total", dialect="v1", outcome="cancelled") == 2)


def test_a_deadline_holds(endless, pairs, busy):
    with Encrypted(endless, pairs["first"], *NARROW) as server:
        reply = server.translate(busy(60), timeout_ms=300)
        assert reply.status_code == 504


def test_running_requests_are_answered_when_the_server_stops(endless, pairs, busy):
    with Encrypted(endless, pairs["first"], *NARROW) as server:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(server.translate, busy(2))
            server.until(lambda: server.metric("dragoman_live_sentences") > 0)
            server.process.send_signal(signal.SIGTERM)
            assert asked.result(PATIENCE).status_code == 200
        assert server.stop() == 0


# Limits ----------------------------------------------------------------------------------------------------------------

def test_bodies_are_bounded(models, pairs):
    with Encrypted(models, pairs["first"], "--max-body-bytes", "20000") as server:
        reply = server.translate("x" * 30000)
        assert reply.status_code == 413
        with server.connect() as s:  # found while reading: the refusal bypasses the library, but is encrypted
            s.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n")
            try:
                for _ in range(40):
                    s.sendall(b"400\r\n" + b"x" * 0x400 + b"\r\n")
            except (ConnectionError, ssl.SSLError):
                pass
            data = b""
            try:
                data = read_all(s)
            except ssl.SSLError:
                pass
        assert status_of(data) == 413 and code_of(data) == "too_large" and header_of(data, "X-Request-Id")
        assert server.translate("Hello.").status_code == 200


def closes(s, seconds):
    s.settimeout(seconds)
    try:
        while s.recv(4096):
            pass
    except ConnectionError:
        pass


def test_slow_clients_are_cut_off_without_words_that_nobody_could_read(models, pairs):
    with Encrypted(models, pairs["first"], "--header-timeout", "0.5", "--body-timeout", "0.5") as server:
        silent = socket.create_connection(("127.0.0.1", server.port))  # no handshake
        half = socket.create_connection(("127.0.0.1", server.port))
        half.sendall(b"\x16\x03\x01\x02\x00\x01")  # the start of a handshake
        slow = server.connect()
        slow.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
        for s in (silent, half, slow):
            closes(s, PATIENCE)  # returns: it was closed
        server.until(lambda: server.metric("dragoman_connections_timed_out_total") == 3)
        server.until(lambda: any("status=408" in line for line in server.log))


def test_connections_are_bounded(models, pairs):
    with Encrypted(models, pairs["first"], "--max-connections", "32", "--idle-timeout", "300",
                   "--max-connections-per-address", "8") as server:
        idle = []
        for i in range(12):
            s = server.connect("127.0.0.2")
            s.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            read_reply(s)
            idle.append(s)
        assert server.metric("dragoman_connections_evicted_total") >= 4
        for s in idle[:4]:
            closes(s, PATIENCE)
        at_work = []
        for i in range(8):  # the other connections of this address are sending bodies now
            s = server.connect("127.0.0.3")
            s.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
            at_work.append(s)
        server.until(lambda: server.in_flight() == 8)  # their headers were read
        with pytest.raises((ConnectionError, ssl.SSLError, OSError)):
            server.connect("127.0.0.3")
        assert server.metric("dragoman_connections_refused_total") >= 1
        assert server.get("/livez").status_code == 200


def test_who_speaks_no_tls_is_closed_and_hurts_nobody(server):
    for junk in (b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", os.urandom(600), b"\x16\x03\x03\x40\x00" + os.urandom(0x4000),
                 b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", b""):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as s:
            try:
                s.sendall(junk)
                s.shutdown(socket.SHUT_WR)
            except OSError:  # the server closed first
                pass
            data = read_all(s)
        assert b"HTTP" not in data
    with server.connect() as s:  # close_notify at once
        s.settimeout(5)
        s.unwrap()
    assert server.translate("Hello.").status_code == 200
    server.until(lambda: server.metric("dragoman_connections_open") <= 2)


def test_a_client_that_asks_for_a_new_handshake_again_and_again(server):
    """TLS 1.2's renegotiation is a cheap way to make a server compute: the connection ends, and others are answered."""
    done = subprocess.run(["openssl", "s_client", "-connect", "127.0.0.1:%d" % server.port, "-tls1_2", "-CAfile",
                           server.trust], input="R\nR\nR\n", capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.count("verify return") <= 4
    assert server.translate("Hello.").status_code == 200
