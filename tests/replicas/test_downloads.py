"""Clients of the balancers (packaging/balancers) can fetch the address that /translate_file returns, and have no rights of the server's owner."""
import contextlib
import os
import re
import shutil
import socket

import pytest
import requests

from test_replicas import Balancer, PATIENCE, ROOT
from conftest import Local, Server
from conftest import models  # noqa: F401  (a fixture)
from test_tls import make_pair

TEXT = "Two dogs play.\n"


@pytest.fixture(params=["haproxy", "nginx"])
def name(request, monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"] + ":/usr/sbin")
    if not shutil.which(request.param):
        pytest.skip("no %s here: scripts/deps replicas" % request.param)
    return request.param


def translate(balancer, **headers):
    """The address that the balancer's client gets for a document's translation."""
    reply = requests.post(balancer.url("/translate_file"), files={"file": ("dogs.txt", TEXT)}, data={"source": "en", "target": "de"},
                          headers=headers, timeout=PATIENCE)
    assert reply.status_code == 200, reply.text
    return reply.json()["translatedFileUrl"]


def test_the_address_is_the_balancers(name, models, tmp_path):  # noqa: F811
    with Server(models, "--documents", str(tmp_path / "d.db")) as server, Balancer(name, [server.port] * 3, tmp_path) as balancer:
        address = translate(balancer)
        assert address.startswith(balancer.url("/download_file/"))
        assert requests.get(address, timeout=PATIENCE).status_code == 200


def test_a_request_without_host_is_answered(name, models, tmp_path):  # noqa: F811
    with Server(models) as server, Balancer(name, [server.port] * 3, tmp_path) as balancer:
        requests.get(balancer.url("/readyz"), timeout=PATIENCE)  # the balancer is there
        host, port = balancer.url("").split("//")[1].split(":")
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as s:
            s.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
            assert s.recv(4096).split()[1] == b"200"


def test_its_clients_are_not_the_owner(name, models, tmp_path):  # noqa: F811
    """A balancer may use the server's Unix socket, whose users administer the server; its own clients may not."""
    with Local(models) as server:
        at = {"haproxy": "unix@", "nginx": "unix:"}[name] + server.socket_path
        user = "user root;\n" if name == "nginx" and os.getuid() == 0 else ""  # its workers must enter the socket's folder
        with Balancer(name, [server.port] * 3, tmp_path,
                      lambda text: user + re.sub(r'"\$\{DRAGOMAN_[ABC]\}"|10\.0\.0\.\d:8080', at, text)) as balancer:
            assert requests.post(balancer.url("/v1/models/reload"), timeout=PATIENCE).status_code == 403
        assert server.reload().status_code == 200


class Encrypted(Balancer):
    """A balancer at which TLS ends."""

    def __init__(self, name, ports, folder):
        certificate, key = make_pair(folder, "balancer")
        with open(certificate, encoding="utf-8") as c, open(key, encoding="utf-8") as k:
            (folder / "both.pem").write_text(c.read() + k.read())
        change = {"haproxy": ('bind "${DRAGOMAN_FRONT}"', f'bind "${{DRAGOMAN_FRONT}}" ssl crt {folder}/both.pem'),
                  "nginx": ("listen 127.0.0.1:8000;", f"listen 127.0.0.1:8000 ssl; ssl_certificate {certificate}; ssl_certificate_key {key};")}[name]
        super().__init__(name, ports, folder, lambda text: text.replace(*change))
        self.certificate = certificate

    def url(self, path):
        return super().url(path).replace("http://", "https://")


def test_the_address_is_encrypted_where_the_client_is(name, models, tmp_path, monkeypatch):  # noqa: F811
    with Server(models, "--documents", str(tmp_path / "d.db")) as server:
        balancer = Encrypted(name, [server.port] * 3, tmp_path)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", balancer.certificate)
        with balancer:
            address = translate(balancer)
            assert address.startswith(balancer.url("/download_file/"))
            assert requests.get(address, timeout=PATIENCE).status_code == 200


def one_replica_for_each_client(text):
    """A balancer's file with the setting of docs/scale.md instead of its own."""
    with open(os.path.join(ROOT, "docs", "scale.md"), encoding="utf-8") as f:
        haproxy, hashed, nginx = re.search(r"HAProxy: `(balance .*?)` and `(hash-type .*?)`; nginx: `(hash .*?)`", f.read()).groups()
    changed = text.replace("balance leastconn", haproxy + "\n    " + hashed).replace("least_conn;", nginx + ";")
    assert changed != text
    return changed


def test_a_client_finds_its_documents(name, models, tmp_path):  # noqa: F811
    """Three replicas, each with documents of its own. Clients may have a key, but fetch without one."""
    with contextlib.ExitStack() as stack:
        ports = [stack.enter_context(Server(models, "--documents", str(tmp_path / f"{i}.db"))).port for i in range(3)]
        balancer = stack.enter_context(Balancer(name, ports, tmp_path, one_replica_for_each_client))
        for headers in [{}] * 4 + [{"Authorization": f"Bearer {i}"} for i in range(4)]:
            address = translate(balancer, **headers)
            assert requests.get(address, timeout=PATIENCE).status_code == 200, headers
