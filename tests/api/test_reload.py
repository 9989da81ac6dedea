"""Models exchanged while the server runs: no request is lost, the old model is freed, a broken bundle changes nothing."""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time

import pytest
import requests

import bundle
from conftest import CLI, NARROW, PATIENCE, SERVER, Local, Server


@pytest.fixture
def folder(models, tmp_path):
    """A directory of our own with the two bundles, and a third one beside it for exchanges."""
    shutil.copytree(models, tmp_path / "served")
    bundle.make(CLI, str(tmp_path / "next" / "en-de"), seed=7)
    return tmp_path


def exchange(folder):
    """Exchanges the bundle by renaming, so that nobody sees half of one."""
    os.rename(folder / "served" / "en-de", folder / "old")
    os.rename(folder / "next" / "en-de", folder / "served" / "en-de")


def versions(server):
    return {m["source"] + "-" + m["target"]: m["version"] for m in server.get("/v1/models").json()["models"]}


def counts(server):
    """Returns how many reloads succeeded, and how many failed."""
    return [server.metric("dragoman_model_reloads_total", outcome=o) for o in ("ok", "failed")]


def models_open(server):
    """Returns the number of models in the server's memory, including replaced ones."""
    return server.metric("dragoman_models_open")


@pytest.mark.parametrize("how", ["post", "signal"])
def test_no_request_is_lost_in_an_exchange(folder, how):
    with Local(str(folder / "served"), "--max-queue-tokens", "1000000") as server:
        before, first = versions(server), server.translate("Keep on.")
        wanted = {before["en-de"]: first.json()["translations"]}
        assert first.headers["X-Model-Version"] == before["en-de"]
        stop, wrong, seen = threading.Event(), [], {}
        lock = threading.Lock()

        def ask():
            with requests.Session() as session:
                while not stop.is_set():
                    r = session.post(server.url("/v1/translate"), timeout=PATIENCE,
                                     json=dict(text="Keep on.", source="en", target="de"))
                    version = r.headers.get("X-Model-Version")
                    with lock:
                        if r.status_code != 200 or wanted.setdefault(version, r.json()["translations"]) != \
                                r.json()["translations"]:
                            wrong.append((r.status_code, r.text))
                        seen[version] = seen.get(version, 0) + 1

        clients = [threading.Thread(target=ask) for _ in range(6)]
        for c in clients:
            c.start()
        try:
            server.until(lambda: seen.get(before["en-de"], 0) > 20)
            exchange(folder)
            if how == "post":
                reply = server.reload()
                assert reply.status_code == 200, reply.text
                assert {k: reply.json()[k] for k in ("opened", "kept", "removed")} == dict(opened=1, kept=1, removed=1)
                assert {m["version"] for m in reply.json()["models"]} == set(versions(server).values())
            else:
                server.process.send_signal(signal.SIGHUP)
                server.until(lambda: counts(server) == [1, 0])
            after = versions(server)
            server.until(lambda: seen.get(after["en-de"], 0) > 20)
        finally:
            stop.set()
            for c in clients:
                c.join()
        assert wrong == [] and set(seen) == {before["en-de"], after["en-de"]}
        assert after["en-de"] != before["en-de"] and after["de-fr"] == before["de-fr"]
        assert wanted[before["en-de"]] != wanted[after["en-de"]]  # another model, another answer
        server.until(lambda: models_open(server) == 2)
        assert server.metric("dragoman_model_last_reload_timestamp_seconds") > time.time() - 600
        server.until(lambda: server.logged('event="reloaded" opened=1 kept=1 removed=1'))


def test_the_old_model_stays_until_its_last_request_ends(endless, busy, tmp_path):
    served = tmp_path / "served"
    shutil.copytree(endless, served / "m")
    other = bundle.make(CLI, str(tmp_path / "next" / "m"), seed=5)
    with Local(str(served), *NARROW) as server:
        old = server.get("/v1/models").json()["models"][0]["version"]
        with server.held(busy(60)) as reply:
            assert reply.headers["X-Model-Version"] == old
            os.rename(served / "m", tmp_path / "old")
            os.rename(other, served / "m")
            assert server.reload().status_code == 200
            assert server.translate("Hello.").headers["X-Model-Version"] != old  # the new model serves meanwhile
            waiting = server.metric("dragoman_queue_depth")
            server.until(lambda: server.metric("dragoman_queue_depth") < waiting)  # the request goes on
            assert models_open(server) == 2
        server.until(lambda: models_open(server) == 1)


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


BREAKS = {
    "weights cut off": (lambda b: (b / "weights.dgw").write_bytes((b / "weights.dgw").read_bytes()[:5000]), "weights"),
    # Only a checksum detects this.
    "one bit of a weight": (lambda b: flip(b / "weights.dgw", (b / "weights.dgw").stat().st_size // 2), "weights.dgw"),
    "no weights": (lambda b: (b / "weights.dgw").unlink(), "weights.dgw"),
    "no vocabulary": (lambda b: [f.unlink() for f in b.glob("*.vocab")], ".vocab"),
    "a manifest that is none": (lambda b: (b / "manifest.json").write_text("{"), "manifest.json"),
}


@pytest.mark.parametrize("how", BREAKS)
def test_a_broken_bundle_changes_nothing(folder, how):
    damage, words = BREAKS[how]
    with Local(str(folder / "served")) as server:
        before, answer = versions(server), server.translate("Hello.").json()
        damage(folder / "next" / "en-de")
        exchange(folder)
        reply = server.reload()
        assert reply.status_code == 422 and reply.json()["error"]["code"] == "reload_failed"
        assert words in reply.json()["error"]["message"], reply.text
        assert str(folder / "served" / "en-de") in reply.json()["error"]["message"]
        assert versions(server) == before and server.translate("Hello.").json() == answer
        assert server.get("/readyz").status_code == 200
        assert counts(server) == [0, 1]
        server.until(lambda: server.logged(r'level=error event="reload failed" .*%s' % re.escape(words)))
        shutil.rmtree(folder / "served" / "en-de")  # repaired with the old bundle
        os.rename(folder / "old", folder / "served" / "en-de")
        assert server.reload().json()["kept"] == 2 and counts(server) == [1, 1]


def test_bundles_come_and_go(folder):
    with Local(str(folder / "served")) as server:
        assert set(versions(server)) == {"en-de", "de-fr"}
        bundle.make(CLI, str(folder / "served" / "en-fr"), "en", "fr", seed=8)
        assert server.post("/v1/translate", dict(text="a", source="fr", target="en")).status_code == 400
        assert server.reload().json()["opened"] == 1
        assert set(versions(server)) == {"en-de", "de-fr", "en-fr"}
        shutil.rmtree(folder / "served" / "en-de")
        reply = server.reload().json()
        assert (reply["opened"], reply["kept"], reply["removed"]) == (0, 2, 1)
        assert server.translate("a").status_code == 400
        shutil.rmtree(folder / "served")
        assert "cannot open the models directory" in server.reload().json()["error"]["message"]
        assert set(versions(server)) == {"de-fr", "en-fr"}


def test_many_who_ask_at_once(folder):
    with Local(str(folder / "served")) as server:
        replies = []
        clients = [threading.Thread(target=lambda: replies.append(server.reload().status_code)) for _ in range(8)]
        for c in clients:
            c.start()
        for c in clients:
            c.join()
        assert replies == [200] * 8 and 1 <= counts(server)[0] <= 8


def test_a_stop_while_models_are_reloaded(folder):
    with Local(str(folder / "served")) as server:
        replies = []

        def ask():
            try:
                replies.append(server.reload().status_code)
            except requests.ConnectionError:
                pass  # it came too late to be accepted

        clients = [threading.Thread(target=ask) for _ in range(4)]
        for c in clients:
            c.start()
        server.process.send_signal(signal.SIGHUP)
        server.stop()
        for c in clients:
            c.join()
        assert set(replies) <= {200, 503}


def test_who_may_reload(models, tmp_path):
    """With keys: holders of the scope. Without: users of the Unix socket, but not requests that a proxy passes on. No address is
    enough."""
    import test_keys
    over_http = lambda server, **more: requests.post(server.url("/v1/models/reload"), timeout=PATIENCE, **more)
    with Local(models) as server:
        assert server.reload().status_code == server.reload({}).status_code == 200
        assert server.reload({"models": "/etc"}).status_code == 400
        for header in ("X-Forwarded-For", "Forwarded", "Via", "Origin"):
            assert server.reload(**{header: "for=1.2.3.4"}).status_code == 403
        refused = over_http(server)
        assert refused.status_code == 403 and "--keys" in refused.json()["error"]["message"]
        assert server.local("POST", "/v1/translate", {"text": "a", "source": "en", "target": "de"}).status_code == 200
        assert stat.S_IMODE(os.stat(server.socket_path).st_mode) == 0o660
    path = tmp_path / "keys.db"
    translate, admin = test_keys.add(path), test_keys.add(path, "--scope", "admin")
    with Local(models, "--keys", str(path)) as server:
        assert over_http(server).status_code == 401
        assert over_http(server, headers=test_keys.bearer(translate)).status_code == 403
        assert over_http(server, headers=test_keys.bearer(admin)).status_code == 200
        assert server.reload().status_code == 200
        assert server.local("POST", "/v1/translate", {"text": "a", "source": "en", "target": "de"}).status_code == 401


def test_the_unix_socket_comes_and_goes(models):
    def refused(path):
        done = subprocess.run([SERVER, "--models", models, "--port", "0", "--unix-socket", path], capture_output=True,
                              text=True, timeout=PATIENCE)
        assert done.returncode == 1
        return done.stderr

    first = Local(models)
    with first:
        # A second server is refused, and takes nothing away.
        assert "another server uses this socket" in refused(first.socket_path)
        assert first.local("GET", "/livez").status_code == 200
    assert not os.path.exists(first.socket_path)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        killed = Server(models, "--unix-socket", path)
        killed.__enter__()
        killed.stop(signal.SIGKILL)
        assert os.path.exists(path)
        with Server(models, "--unix-socket", path):  # the killed server's socket is replaced
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(path)
        assert not os.path.exists(path)
        with open(path, "w", encoding="utf-8"):
            pass
        assert "not a socket" in refused(path) and os.path.exists(path)


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
def test_another_programs_socket_stays(models, tmp_path, kind):
    """Such as a logger's (/dev/log): it refuses a stream, although its program is alive."""
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX, kind) as other:
        other.bind(path)
        if kind == socket.SOCK_SEQPACKET:
            other.listen()
        for check in ([], ["--check-config"]):
            done = subprocess.run([SERVER, "--models", models, "--port", "0", "--unix-socket", path, *check],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
            assert done.returncode == 1 and "a socket of another kind" in done.stderr
        assert os.path.exists(path)


def test_a_server_that_drains_leaves_its_successors_socket(endless, busy):
    """Another server may take the path while the first one still ends its requests."""
    def is_free(path):
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(path) != 0

    with tempfile.TemporaryDirectory() as folder, Server(endless, *NARROW, "--unix-socket", os.path.join(folder, "socket")) as first:
        path = os.path.join(folder, "socket")
        asked = threading.Thread(target=first.translate, args=(busy(90),))
        asked.start()
        first.until_running(1)
        first.process.send_signal(signal.SIGTERM)
        first.until(lambda: is_free(path))
        with Server(endless, "--unix-socket", path):
            assert first.stop() == 0  # a second signal: the request fails
            asked.join()
            assert not is_free(path)


def footprint(server):
    """Returns the numbers of threads, descriptors and models."""
    proc = "/proc/%d/" % server.process.pid
    return len(os.listdir(proc + "task")), len(os.listdir(proc + "fd")), models_open(server)


def test_exchanges_leave_nothing_behind(folder):
    with Local(str(folder / "served")) as server:
        server.translate("Hello.")
        before = footprint(server)
        for i in range(12):
            exchange(folder)
            assert server.reload().json()["opened"] == 1
            assert server.translate("Hello.").status_code == 200
            os.rename(folder / "old", folder / "next" / "en-de")  # exchanged back the next time
        # No more than before, perhaps one connection less that was still closing then. A leak would be twelve.
        server.until(lambda: all(now <= then for now, then in zip(footprint(server), before)))


def test_settings_that_sighup_takes(models, tmp_path):
    """Limits, log level and cache change between two requests; the log names what needs a restart, and a wrong file changes
    nothing."""
    config = tmp_path / "server.json"

    def write(**settings):
        config.write_text(json.dumps(settings))
        server.log.clear()
        done = counts(server)[0] + 1
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: counts(server)[0] == done)  # the models are read after the settings

    config.write_text(json.dumps({"max_texts": 2}))
    with Server(models, "--config", str(config), "--max-sentences", "100") as server:
        assert server.translate(["One.", "Two.", "Three."]).status_code == 413
        assert server.metric("dragoman_cache_max_bytes") == 0
        write(max_texts=3, cache_bytes=1 << 20, log_level="debug", max_sentences=1, workers=2)
        assert server.translate(["One.", "Two.", "Three."]).status_code == 200  # max_sentences: the flag beats the file
        assert server.metric("dragoman_cache_max_bytes") == 1 << 20
        first = server.translate("Once more.").json()
        assert server.translate("Once more.").json()["translations"] == first["translations"]
        assert server.metric("dragoman_cache_hits_total") > 0
        assert server.logged(r'event="settings changed" now="?max_texts=3,cache_bytes=1048576,log_level=debug')
        assert server.logged(r'level=warn event="settings need a restart" names="?workers')
        server.until(lambda: server.logged("level=debug .*route=/metrics"))
        write(max_texts=2, idle_timeout=0.3, log_level="info", cache_bytes=0)
        assert server.translate(["One.", "Two.", "Three."]).status_code == 413
        assert server.metric("dragoman_cache_entries") == server.metric("dragoman_cache_max_bytes") == 0
        with server.connect() as s:  # a connection that was idle for so long is closed
            s.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            start, data = time.monotonic(), b""
            while more := s.recv(4096):
                data += more
            assert b" 200 " in data and time.monotonic() - start < 20  # and not 75 s
        write(max_texts=0, idle_timeout=60)
        assert server.logged('level=error event="settings not reloaded" .*max_texts')
        assert server.translate(["One.", "Two."]).status_code == 200
        # Nor is half of a file taken that the server would not start with.
        for name, value in (("dialects", "bogus"), ("aliases", "="), ("cors_origins", "nonsense"), ("device", "tpu"), ("tls_key", "key.pem"),
                            ("batch_rows", 1)):
            write(max_texts=7, **{name: value})
            server.until(lambda: server.logged('level=error event="settings not reloaded" .*' + name.split("_")[0]))
            assert server.translate(["One."] * 3).status_code == 413
        write(max_queue_tokens=1, request_timeout=5, address_requests_per_minute=1000)
        big = " ".join("Sentence number %d is here." % i for i in range(60))
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            server.until(lambda: 503 in list(pool.map(lambda _: server.translate(big, beam_size=8).status_code, range(6))))


def test_what_was_not_reloaded_is_a_metric_until_it_is(models, tmp_path):
    served, config, terms, memory = (tmp_path / name for name in ("served", "server.json", "terms.en-de.tsv", "memory.en-de.tsv"))
    shutil.copytree(models, served)
    manifest = served / "en-de" / "manifest.json"
    good = {config: '{"max_texts": 2}', terms: "dog\tHund\n", memory: "Hello.\tHallo.\n", manifest: manifest.read_text()}
    bad = {config: '{"max_texts": 0}', terms: "no tab\n", memory: "no tab\n", manifest: "{"}

    def reload(contents):
        for path, text in contents.items():
            path.write_text(text)
        server.process.send_signal(signal.SIGHUP)

    def failed():
        return set(re.findall(r'^dragoman_last_reload_failed\{part="(\w+)"\} 1$', server.get("/metrics").text, re.M))

    for path, text in good.items():
        path.write_text(text)
    with Server(str(served), "--config", str(config), "--glossaries", str(terms), "--memories", str(memory),
                "--collections", str(tmp_path / "c.db")) as server:
        assert failed() == set()
        reload(bad)
        server.until(lambda: failed() == {"settings", "glossaries", "memories", "models"})
        reload({**good, terms: "no tab\n"})
        server.until(lambda: failed() == {"glossaries"})
        reload(good)
        server.until(lambda: failed() == set())
