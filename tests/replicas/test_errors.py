"""What the balancers (packaging/balancers) answer by themselves has the form of the server's errors."""
import contextlib
import signal
import socket
import time

import pytest
import requests

from test_downloads import name  # noqa: F401  (a fixture)
from test_replicas import Balancer, PATIENCE
from conftest import Server
from conftest import models  # noqa: F401  (a fixture)

BODY = {"text": "Two dogs play.", "source": "en", "target": "de"}


def post(balancer, **body):
    return requests.post(balancer.url("/v1/translate"), timeout=PATIENCE, **(body or {"json": BODY}))


def check(reply, status, code):
    assert (reply.status_code, reply.headers["Content-Type"]) == (status, "application/json"), reply.text
    assert reply.json()["error"]["code"] == code and reply.json()["error"]["message"]


def test_no_replica_is_there(name, models, tmp_path):  # noqa: F811
    with Server(models) as server, Balancer(name, [server.port] * 3, tmp_path) as balancer:
        server.stop()
        reply = post(balancer)
        # HAProxy says 502 until its check has found out.
        check(reply, 503 if name == "haproxy" and reply.status_code == 503 else 502, "unavailable")
        assert reply.headers["Retry-After"] == "1"


def test_a_replica_answers_too_late(name, models, tmp_path):  # noqa: F811
    def hasty(text):
        return text.replace("timeout server 75s", "timeout server 1s").replace("proxy_read_timeout 75s", "proxy_read_timeout 1s")
    with Server(models) as server, Balancer(name, [server.port] * 3, tmp_path, hasty) as balancer:
        server.process.send_signal(signal.SIGSTOP)
        try:
            check(post(balancer), 504, "timeout")
        finally:
            server.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("name", ["nginx"], indirect=True)
def test_a_body_is_too_large_for_the_balancer(name, models, tmp_path):  # noqa: F811
    def small(text):
        return text.replace("client_max_body_size 10m", "client_max_body_size 10k")
    with Server(models) as server, Balancer(name, [server.port] * 3, tmp_path, small) as balancer:
        check(post(balancer, data=b" " * 20000), 413, "too_large")
        check(post(balancer, data=b"{", headers={"Content-Type": "application/json"}), 400, "invalid_json")  # a replica's own


@pytest.mark.parametrize("name", ["nginx"], indirect=True)
def test_a_request_is_no_http(name, models, tmp_path):  # noqa: F811
    with Server(models) as server, Balancer(name, [server.port] * 3, tmp_path) as balancer:
        with socket.create_connection(("127.0.0.1", balancer.port), timeout=PATIENCE) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n")
            said = s.recv(65536)
        assert b" 400 " in said.splitlines()[0] and b"\r\nContent-Type: application/json\r\n".lower() in said.lower()
        assert b'"code": "bad_framing"' in said


def test_a_host_that_is_off_is_passed_over(name, models, tmp_path):  # noqa: F811
    """Nothing answers its packets, as with a listener whose queue is full. Every request is answered by the other replicas."""
    with socket.socket() as off, contextlib.ExitStack() as stack:
        off.bind(("127.0.0.1", 0))
        off.listen(0)
        for _ in range(3):  # fill the queue
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(off.getsockname())
        server = stack.enter_context(Server(models))
        balancer = stack.enter_context(Balancer(name, [off.getsockname()[1], server.port, server.port], tmp_path))
        for _ in range(12):  # nginx leaves it out for some seconds after the first try, for /readyz
            assert post(balancer).status_code == 200
            time.sleep(0.6)


def test_the_servers_errors_pass_through(name, models, tmp_path):  # noqa: F811
    with Server(models) as server, Balancer(name, [server.port] * 3, tmp_path) as balancer:
        reply = post(balancer, json={**BODY, "beam": 5})
        check(reply, 400, "invalid_request")
        assert reply.json()["error"]["field"] == "beam"
