"""What the server tells a service manager, and the sockets that one may pass on."""
import concurrent.futures
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
import requests

import bundle
from conftest import NARROW, PATIENCE, ROOT, SERVER, Server, long_text
from stopped_engine import stopped_engine


class Manager:
    """The other end of $NOTIFY_SOCKET."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name)
        self.socket.settimeout(PATIENCE)
        self.env = {"NOTIFY_SOCKET": name.replace("\0", "@")}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def hear(self):
        return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().split("\n"))


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_ready_reloading_stopping(models, tmp_path, kind):
    name = str(tmp_path / "notify") if kind == "path" else "\0dragoman-test-%d" % os.getpid()
    with Manager(name) as manager:
        with Server(models, env=manager.env, ready=False) as server:
            heard = manager.hear()
            assert heard["READY"] == "1" and heard["STATUS"] == "2 models on port %d" % server.port
            assert server.get("/readyz").status_code == 200
            before = time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6
            server.process.send_signal(signal.SIGHUP)
            heard = manager.hear()
            assert heard["RELOADING"] == "1"
            assert before - 1 <= int(heard["MONOTONIC_USEC"]) <= time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6
            assert manager.hear()["READY"] == "1"
            server.process.send_signal(signal.SIGTERM)
            assert manager.hear()["STOPPING"] == "1"


@pytest.fixture
def many(models, tmp_path):
    """Bundles that take seconds to load."""
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(60):
        os.symlink(os.path.join(os.path.abspath(models), "en-de"), folder / str(i))
    return folder


def test_a_start_is_stopped(models, many, tmp_path):
    """A service that is stopped while it loads does not load the rest first, nor wait for balancers that never saw it ready."""
    with Manager(str(tmp_path / "notify")) as manager, contextlib.ExitStack() as stack:
        with bundle.loading(os.path.join(models, "en-de"), str(many / "!")):  # the first by name
            server = stack.enter_context(Server(str(many), "--workers", "1", "--lame-duck", "1", env=manager.env, ready=False))
            server.process.send_signal(signal.SIGTERM)
        assert server.stop() == 0
        assert manager.hear() == {"STOPPING": "1"}
        assert server.logged('event="?stopping"? before=ready') and server.logged('event="?stopped"?')
        assert not server.logged('event="?ready"?')


def test_a_reload_is_stopped(models, many, tmp_path):
    served = tmp_path / "served"
    os.symlink(os.path.abspath(models), served)
    with Manager(str(tmp_path / "notify")) as manager:
        with Server(str(served), "--workers", "1", env=manager.env) as server:
            assert manager.hear()["READY"] == "1"
            served.unlink()
            os.symlink(many, served)
            with bundle.loading(os.path.join(models, "en-de"), str(many / "!")):
                server.process.send_signal(signal.SIGHUP)
                assert "RELOADING" in manager.hear()
                server.process.send_signal(signal.SIGTERM)
                server.until(lambda: server.logged('event="?stopping"? '))
            assert server.stop() == 0
            assert server.logged('event="reload failed" .*the server is stopping')


def test_ready_again_after_a_reload_that_failed(models, tmp_path):
    shutil.copytree(models, tmp_path / "m")
    with Manager(str(tmp_path / "notify")) as manager:
        with Server(str(tmp_path / "m"), env=manager.env) as server:
            assert "READY" in manager.hear()
            (tmp_path / "m" / "en-de" / "manifest.json").write_text("{")
            server.process.send_signal(signal.SIGHUP)
            assert "RELOADING" in manager.hear() and manager.hear()["READY"] == "1"


def test_the_watchdog_hears_often_enough(models, tmp_path):
    with Manager(str(tmp_path / "notify")) as manager:
        with Server(models, env={**manager.env, "WATCHDOG_USEC": "8000000"}) as server:
            assert "READY" in manager.hear()
            last = time.monotonic()
            for _ in range(2):
                server.translate("Hello.")
                assert manager.hear() == {"WATCHDOG": "1"}
                assert time.monotonic() - last < 8
                last = time.monotonic()
        with Server(models, env={**manager.env, "WATCHDOG_USEC": "300000", "WATCHDOG_PID": "1"}):
            while "READY" not in manager.hear():
                pass
            manager.socket.settimeout(1)
            with pytest.raises(socket.timeout):  # meant for another process
                manager.hear()
            manager.socket.settimeout(PATIENCE)


def test_the_watchdog_hears_between_reloads(models, tmp_path):
    """Reloads that follow each other faster than the server looks at its engines: from each to the next, the manager hears of it."""
    with Manager(str(tmp_path / "notify")) as manager:
        with Server(models, env={**manager.env, "WATCHDOG_USEC": "3000000"}) as server:
            heard, end = set(), time.monotonic() + PATIENCE
            while "WATCHDOG" not in heard and time.monotonic() < end:
                server.process.send_signal(signal.SIGHUP)
                while "READY" not in heard:  # the start's, later the end of this reload
                    heard |= set(manager.hear())
                heard.discard("READY")
            assert heard == {"STATUS", "RELOADING", "MONOTONIC_USEC", "WATCHDOG"}


def test_the_watchdog_is_not_told_that_all_is_well_when_it_is_not(endless, tmp_path):
    """The engine's thread stops midway: sentences wait, no step is taken, and the manager hears nothing until it goes on."""
    with Manager(str(tmp_path / "notify")) as manager, concurrent.futures.ThreadPoolExecutor(1) as pool, \
            Server(endless, *NARROW, env={**manager.env, "WATCHDOG_USEC": "1000000"}) as server:
        assert "READY" in manager.hear()
        with stopped_engine(server):
            waits = pool.submit(server.translate, long_text(3))
            server.until(lambda: server.logged('level=error event="stuck" waiting=3 '))
            manager.socket.setblocking(False)
            with contextlib.suppress(BlockingIOError):  # drains what was said before
                while manager.hear():
                    pass
            said = len(stuck(server))
            server.until(lambda: len(stuck(server)) > said + 2)  # the check repeats
            with pytest.raises(BlockingIOError):
                manager.hear()
            # The probes say the same, by the same rule.
            assert not waits.done()
            for path in ("/livez", "/readyz"):
                reply = server.get(path)
                assert reply.status_code == 503 and reply.json() == {"status": "stuck"}
            assert server.metric("dragoman_stuck") == 1 and server.metric("dragoman_ready") == 0
            manager.socket.settimeout(PATIENCE)
        assert manager.hear() == {"WATCHDOG": "1"}
        server.until(lambda: server.get("/livez").status_code == 200)
        assert waits.result().status_code == 200


def test_one_engine_hangs_while_another_works(endless):
    """Steps of one worker hide nothing: the other one has a sentence and does not advance."""
    with Server(endless, *NARROW, "--workers", "2", "--stuck-after", "0.5") as server, concurrent.futures.ThreadPoolExecutor(1) as pool:
        def steps(worker):
            return server.metric("dragoman_worker_steps_total", worker=worker)
        waits = pool.submit(server.translate, long_text(500), timeout_ms=300000)
        server.until(lambda: steps(0) > 0 and steps(1) > 0)  # there is work for both
        assert server.get("/livez").status_code == 200
        with stopped_engine(server):
            before = steps(1)
            server.until(lambda: server.logged('level=error event="stuck" .*worker=0 '))
            for path in ("/livez", "/readyz"):
                assert server.get(path).status_code == 503
            assert not waits.done() and steps(1) > before
        server.until(lambda: server.get("/livez").status_code == 200)
        assert waits.result().status_code == 200


@pytest.mark.parametrize("kind", ["whole", "stream", "batch", "lines"])
def test_an_engine_that_hangs_delays_no_deadline(endless, kind):
    """The HTTP side sends 504 by its own clock, and the engine's late result does no harm."""
    body = dict(text=long_text(30), source="en", target="de", timeout_ms=500)
    asked = {"whole": ("/v1/translate", body), "stream": ("/v1/translate", dict(body, stream=True)),
             "batch": ("/v1/batch", dict(items=[dict(text=long_text(30), source="en", target="de")], timeout_ms=500))}
    asked["lines"] = asked["batch"]
    path, body = asked[kind]
    headers = {"Accept": "application/x-ndjson"} if kind == "lines" else {}
    with Server(endless, *NARROW) as server:
        with stopped_engine(server):
            start, said, cut = time.monotonic(), "", False
            with requests.post(server.url(path), json=body, headers=headers, stream=True, timeout=PATIENCE) as reply:
                try:
                    said = reply.text
                except requests.RequestException:
                    cut = True  # the reply breaks off
            assert time.monotonic() - start < PATIENCE / 2
            if kind in ("whole",) or (kind == "batch" and reply.status_code != 200):
                assert reply.status_code == 504 and reply.json()["error"]["code"] == "timeout"
            elif kind == "batch":
                assert reply.json()["items"][0]["error"]["code"] == "timeout"
            elif kind == "stream":
                assert reply.status_code == 200 and "event: error" in said and '"timeout"' in said
            else:
                assert cut or '"timeout"' in said
        server.until(lambda: server.get("/readyz").status_code == 200)
        assert server.translate("Hello.").status_code == 200


def stuck(server):
    return [line for line in server.log if 'event="stuck"' in line]


@pytest.mark.parametrize("name", ["/nowhere/at/all", "relative", "@", "", "x" * 200])
def test_a_manager_that_is_not_there(models, name):
    with Server(models, env={"NOTIFY_SOCKET": name}) as server:
        assert server.translate("Hello.").status_code == 200


class Activated(Server):
    """A server that is passed sockets as descriptors 3, 4, ..."""

    def __init__(self, models, *sockets):
        super().__init__(models)
        self.sockets = sockets

    def __enter__(self):
        keep = [os.dup(s.fileno()) for s in self.sockets]  # copies, away from 3
        plug = [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]

        def arrange():
            high = [os.dup2(k, 100 + i, True) for i, k in enumerate(keep)]
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i, True)
        script = 'LISTEN_PID=$$ LISTEN_FDS=%d exec "$0" "$@"' % len(keep)
        self.process = subprocess.Popen(["sh", "-c", script, *self.command], env=self.env, stderr=subprocess.PIPE,
                                        text=True, preexec_fn=arrange, close_fds=False)
        for fd in keep + plug:
            os.close(fd)
        self.listening = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.listening.wait(PATIENCE)
        return self


def test_a_socket_that_listens_already(models):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        # A client may come before the server does: it waits in the kernel, and for the models.
        body = b'{"text": "Hello.", "source": "en", "target": "de"}'
        early = socket.create_connection(("127.0.0.1", port))
        early.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                      b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        with Activated(models, listener) as server:
            assert server.port == port and server.logged("socket=passed")
            server.until(lambda: server.get("/readyz").status_code == 200)
            early.settimeout(PATIENCE)
            assert early.recv(4096).startswith(b"HTTP/1.1 200 ")
            early.close()
            assert server.translate("Hello.").status_code == 200
            assert server.stop() == 0
        # The manager owns the socket and still has it: clients wait for the next server.
        with Activated(models, listener) as server:
            server.until(lambda: server.get("/readyz").status_code == 200)


def test_clients_of_a_server_that_stops_while_it_loads_wait_for_the_next(models, many):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        early = socket.create_connection(listener.getsockname())
        early.sendall(b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n")
        with Activated(str(many), listener) as server:
            assert server.stop() == 0
        with Activated(models, listener):
            early.settimeout(PATIENCE)
            assert early.recv(4096).startswith(b"HTTP/1.1 200 ")
        early.close()


def test_what_is_no_socket_to_listen_on(models):
    plain = socket.socket()
    two = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    for sockets, words in (([plain], "not a listening TCP socket"), (two, "2 sockets were passed")):
        server = Activated(models, *sockets)
        server.__enter__()
        assert server.process.wait(PATIENCE) == 1
        server.reader.join(PATIENCE)
        assert words in "".join(server.log)
    for s in [plain, *two]:
        s.close()


def test_sockets_for_another_process_are_left_alone(models):
    with Server(models, env={"LISTEN_FDS": "1", "LISTEN_PID": "1"}) as server:
        assert server.translate("Hello.").status_code == 200


@pytest.mark.skipif(not shutil.which("systemd-socket-activate"), reason="systemd-socket-activate is not installed")
def test_with_systemds_own_tool(models):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    process = subprocess.Popen(["systemd-socket-activate", "-l", "127.0.0.1:%d" % port, SERVER, "--models", models],
                               stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if requests.get("http://127.0.0.1:%d/readyz" % port, timeout=PATIENCE).status_code == 200:
                    break
            except requests.ConnectionError:
                pass
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.1)
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_the_units_are_what_systemd_understands(tmp_path):
    """The installed systemd accepts the units; program paths are those of the build."""
    (tmp_path / "server.json").write_text("{}")
    for name in ("dragoman.service", "dragoman.socket"):
        with open(os.path.join(ROOT, "packaging", "systemd", name + ".in"), encoding="utf-8") as f:
            text = f.read().replace("@bindir@", os.path.dirname(SERVER)).replace("@sysconfdir@", str(tmp_path))
        (tmp_path / name).write_text(text)
    for name in ("dragoman.service", "dragoman.socket"):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(tmp_path / name)], capture_output=True, text=True)
        ours = [line for line in done.stderr.splitlines() if "dragoman" in line]
        assert ours == [], done.stderr
