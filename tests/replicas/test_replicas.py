"""Three replicas behind HAProxy and behind nginx (Debian's, with the files of packaging/balancers) under load: one is killed, one
drained, one frozen for a while, and each comes back. No accepted request is lost except those of the killed one. REPLICAS_SECONDS
(1.5) is the time between two of these."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import requests

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))

from conftest import PATIENCE, ROOT, Server, sanitized  # noqa: E402
from conftest import models  # noqa: E402,F401  (a fixture)
from test_stream import read_events  # noqa: E402

SECONDS = float(os.environ.get("REPLICAS_SECONDS", "1.5"))
CLIENTS = 8
TEXTS = ["Number %d walks along the road." % i for i in range(24)]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Replica(Server):
    """A server on a fixed port, so that it comes back where it was."""

    def __init__(self, models, port):  # noqa: F811
        super().__init__(models, "--workers", "1", "--http-threads", "1", "--lame-duck", "1.5", "--max-queue-tokens", "1000000")
        self.command[self.command.index("--port") + 1] = str(port)

    def __exit__(self, *_):
        self.stop()


class Balancer:
    """A balancer before servers on these ports, with its file of packaging/balancers; change alters that file's text."""

    def __init__(self, name, ports, folder, change=lambda text: text):
        self.port = free_port()
        file = "haproxy.cfg" if name == "haproxy" else "nginx.conf"
        with open(os.path.join(ROOT, "packaging", "balancers", file), encoding="utf-8") as f:
            text = change(f.read())
        conf = str(folder / file)
        env = dict(os.environ, DRAGOMAN_FRONT="127.0.0.1:%d" % self.port,
                   **{"DRAGOMAN_" + "ABC"[i]: "127.0.0.1:%d" % port for i, port in enumerate(ports)})
        if name == "haproxy":
            command = ["haproxy", "-db", "-f", conf]
        else:
            text = text.replace("127.0.0.1:8000", "127.0.0.1:%d" % self.port)
            for i, port in enumerate(ports):
                text = text.replace("10.0.0.%d:8080" % (i + 1), "127.0.0.1:%d" % port)
            assert "10.0.0" not in text
            text = "pid %s/nginx.pid; daemon off; error_log stderr;\n" % folder + text
            command = ["nginx", "-p", str(folder), "-c", conf]
        with open(conf, "w", encoding="utf-8") as f:
            f.write(text)
        self.command, self.env = command, env

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if requests.get(self.url("/readyz"), timeout=2).status_code == 200:
                    return self
            except requests.RequestException:
                pass
            assert self.process.poll() is None and time.monotonic() < end
            time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def url(self, path):
        return "http://127.0.0.1:%d%s" % (self.port, path)


class Load:
    """Clients that send one request after another, every fourth a stream; notes the outcome and the times of each."""

    def __init__(self, balancer, expected):
        self.balancer, self.expected = balancer, expected
        self.done, self.lost = [], []
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(CLIENTS)]

    def ask(self, session, text, stream):
        body = dict(text=text, source="en", target="de", **({"stream": True} if stream else {}))
        reply = session.post(self.balancer.url("/v1/translate"), json=body, timeout=PATIENCE)
        if reply.status_code != 200:
            return "status %d" % reply.status_code
        answer = read_events(reply.text)[-1][1] if stream else reply.json()
        return "" if answer["translations"] == self.expected[text] else "another answer"

    def run(self, number):
        session = requests.Session()
        n = number
        while not self.over.is_set():
            text, begun = TEXTS[n % len(TEXTS)], time.monotonic()
            try:
                what = self.ask(session, text, n % 4 == 0)
            except (requests.RequestException, AssertionError) as e:
                what = type(e).__name__
            (self.lost if what else self.done).append((begun, time.monotonic(), what))
            n += 1

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for t in self.threads:
            t.join(PATIENCE)


def has_two_ready(replicas):
    return sum(r.process.poll() is None and requests.get(r.url("/readyz"), timeout=PATIENCE).status_code == 200
               for r in replicas) >= 2


@pytest.mark.skipif(sanitized(), reason="what is slow there is not the balancers")
@pytest.mark.parametrize("name", ["haproxy", "nginx"])
def test_nothing_is_lost_but_what_a_killed_replica_had(models, tmp_path, name):  # noqa: F811
    os.environ["PATH"] += ":/usr/sbin"
    if not shutil.which(name):
        pytest.skip("no %s here: scripts/deps replicas" % name)
    ports = [free_port() for _ in range(3)]
    with Replica(models, ports[0]) as a, Replica(models, ports[1]) as b, Replica(models, ports[2]) as c:
        expected = {t: a.translate(t).json()["translations"] for t in TEXTS}
        with Balancer(name, ports, tmp_path) as balancer, Load(balancer, expected) as load:
            time.sleep(SECONDS)
            killed = time.monotonic()
            a.process.kill()
            a.process.wait(PATIENCE)
            gone = time.monotonic()
            time.sleep(SECONDS)
            with Replica(models, ports[0]) as again:
                time.sleep(SECONDS)
                assert b.stop(signal.SIGTERM) == 0  # ends with its requests answered
                drained = time.monotonic()
                time.sleep(SECONDS)
                with Replica(models, ports[1]) as back:
                    assert has_two_ready([again, back])
                    c.process.send_signal(signal.SIGSTOP)
                    time.sleep(SECONDS)
                    during = sum(begun > drained for begun, _, _ in load.done)
                    c.process.send_signal(signal.SIGCONT)
                    time.sleep(SECONDS)
                    load.__exit__()
    served = [len(re.findall(r"route=/v1/translate status=200", "".join(r.log))) for r in (a, b, c, again, back)]
    print("\n%s: %d answered (by replica %s), lost %s" % (name, len(load.done), served, [what for _, _, what in load.lost]))
    assert all(n > 0 for n in served) and during > 0 and len(load.done) > 100
    # Only the killed replica's requests are lost: each client has one request at a time. It sees the connection closed, or the
    # balancer's 502; none gets a wrong answer.
    assert len(load.lost) <= CLIENTS
    for begun, _, what in load.lost:
        assert begun <= gone and what != "another answer", (begun - killed, what)
