"""The container's health check, run beside a server: plain, with TLS, and where nothing good answers."""
import os
import socket
import subprocess
import threading
import time

from conftest import ROOT, Server
from test_tls import Encrypted, pairs  # noqa: F401  (pairs: a fixture)

SCRIPT = os.path.join(ROOT, "docker", "healthcheck")


def check(port, *path, **env):
    """Returns the exit status of the health check; Docker gives it four seconds."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("DRAGOMAN_")}
    return subprocess.run(["bash", SCRIPT, *path], env=dict(clean, DRAGOMAN_PORT=str(port), **env), capture_output=True,
                          timeout=30).returncode


def test_a_plain_server(models):
    with Server(models) as server:
        assert check(server.port) == check(server.port, "/livez") == 0
        assert check(server.port, "/nothing-here") == 1


def test_a_server_with_tls(models, pairs):  # noqa: F811
    with Encrypted(models, pairs["first"]) as server:
        named = dict(DRAGOMAN_TLS_CERTIFICATE=pairs["first"][0])
        assert check(server.port, **named) == check(server.port, "/livez", **named) == 0
        assert check(server.port, "/nothing-here", **named) == 1
        # If TLS is set by a flag or in a file, the environment does not show it.
        assert check(server.port) == 0 and check(server.port, "/nothing-here") == 1


def test_one_that_is_about_to_stop(models):
    with Server(models, "--lame-duck", "20") as server:
        assert check(server.port) == 0
        server.process.terminate()
        server.until(lambda: server.get("/readyz").status_code == 503)
        assert check(server.port) == 1 and check(server.port, "/livez") == 0
        server.process.terminate()


def test_nobody_answers():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        assert check(port) == 1
        s.listen()  # accepts connections and never answers
        begin = time.monotonic()
        assert check(port) == 1
        assert check(port, DRAGOMAN_TLS_CERTIFICATE="there.pem") == 1
        assert time.monotonic() - begin < 12


def test_words_that_are_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as s:
        def answer():
            for _ in range(2):
                c, _ = s.accept()
                c.sendall(b"SSH-2.0 200 ok\r\n")
                c.close()
        threading.Thread(target=answer, daemon=True).start()
        assert check(s.getsockname()[1]) == 1
