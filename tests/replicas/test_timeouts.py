"""The balancers' timeouts (packaging/balancers) are longer than the server's, route by route."""
import http.server
import os
import re
import shutil
import subprocess
import threading
import time

import pytest
import requests

from test_replicas import Balancer, PATIENCE, ROOT, free_port
from conftest import SERVER

SLOW = 2.5
FILES = {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}


def timeouts(text):
    """{path: seconds}, in either balancer's words; the path "" stands for all others."""
    found = {"": int(re.search(r"^ *(?:timeout server|proxy_read_timeout) +(\d+)s", text, re.M).group(1))}
    for seconds, path in re.findall(r"set-timeout server (\d+)s if \{ path (\S+) \}", text):
        found[path] = int(seconds)
    for path, seconds in re.findall(r"location = (\S+) \{\s+proxy_read_timeout (\d+)s;", text):
        found[path] = int(seconds)
    return found


@pytest.mark.parametrize("name", FILES)
def test_the_server_is_the_first_to_give_up(name):
    printed = subprocess.run([SERVER, "--print-config"], capture_output=True, text=True, check=True).stdout
    default = {key: int(value) for key, value in re.findall(r"^(\w+_timeout) = (\d+) ", printed, re.M)}
    with open(os.path.join(ROOT, "packaging", "balancers", FILES[name]), encoding="utf-8") as f:
        found = timeouts(f.read())
    assert found[""] > default["request_timeout"]
    assert found["/v1/batch"] > default["batch_timeout"]
    with open(os.path.join(ROOT, "server", "api", "libretranslate", "files.c"), encoding="utf-8") as f:
        longest_ns = int(re.search(r"#define LONGEST_NS (\d+)ull", f.read()).group(1))
    assert found["/translate_file"] > longest_ns / 1e9


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers a POST as late as a server at work does."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(SLOW)
        self.do_GET()


@pytest.fixture
def ports():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [server.server_port] * 3
    server.shutdown()


@pytest.mark.parametrize("name", FILES)
def test_only_long_routes_may_take_long(name, ports, tmp_path):
    """With 1 s for 75 s. The client's own timeout is as short, and does not run while the server works."""
    if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin"):
        pytest.skip("no %s here: scripts/deps replicas" % name)
    with Balancer(name, ports, tmp_path, lambda text: text.replace("75s", "1s")) as balancer:
        def status(path):
            return requests.post(balancer.url(path), data=b"{}", timeout=PATIENCE).status_code
        assert status("/v1/translate") == 504
        time.sleep(2.5)  # nginx takes the replica out for two seconds
        assert status("/v1/batch") == 200
        assert status("/translate_file") == 200
