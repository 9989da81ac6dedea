"""--cors-origins: which pages of other origins may read answers; and a page in a browser that does."""
import http.server
import subprocess
import threading

import pytest
import requests

from conftest import PATIENCE, Server
from web_page import chrome  # noqa: F401

GOOD = {"text": "Hello.", "source": "en", "target": "de"}
HERE, THERE = "https://app.example", "http://localhost:3000"


def ask(server, path, origin, method="POST", **headers):
    return requests.request(method, server.url(path), json=GOOD if method == "POST" else None, timeout=PATIENCE,
                            headers={**({"Origin": origin} if origin else {}), **headers})


def preflight(server, path, origin):
    return ask(server, path, origin, "OPTIONS", **{"Access-Control-Request-Method": "POST",
                                                   "Access-Control-Request-Headers": "content-type,x-api-key"})


def allowed(reply):
    return reply.headers.get("Access-Control-Allow-Origin")


def test_without_the_setting_dialects_alone_have_pages(models):
    with Server(models) as s:
        assert allowed(ask(s, "/translate", HERE)) == "*" and allowed(ask(s, "/v1/translate", HERE)) is None
        assert allowed(preflight(s, "/translate", HERE)) == "*" and allowed(preflight(s, "/v2/translate", HERE)) is None
        assert "Vary" not in ask(s, "/translate", HERE).headers


@pytest.mark.parametrize("path", ["/v1/translate", "/translate", "/v2/translate"])
def test_a_list_lets_its_origins_in_and_no_others(models, path):
    with Server(models, "--cors-origins", HERE + "," + THERE) as s:
        for origin in (HERE, THERE):
            for reply in (ask(s, path, origin), preflight(s, path, origin), ask(s, path, origin, "DELETE")):
                assert allowed(reply) == origin and reply.headers["Vary"] == "Origin"
        for origin in (None, "https://other.example", HERE + ".evil.example", HERE + ":444", "null", HERE + "/"):
            for reply in (ask(s, path, origin), preflight(s, path, origin)):
                assert allowed(reply) is None and reply.headers["Vary"] == "Origin", origin
        reply = preflight(s, path, HERE)
        assert reply.status_code == 204 and reply.headers["Access-Control-Max-Age"] == "1728000"
        assert {"Authorization", "Content-Type", "X-API-Key"} <= set(reply.headers["Access-Control-Allow-Headers"].split(", "))
        assert {"GET", "POST"} <= set(reply.headers["Access-Control-Allow-Methods"].split(", "))
        exposed = ask(s, path, HERE).headers["Access-Control-Expose-Headers"].split(", ")
        assert {"X-Request-Id", "Retry-After", "X-Model-Version"} <= set(exposed)


def test_all_and_none(models):
    with Server(models, "--cors-origins", "*") as s:
        assert allowed(ask(s, "/v1/translate", HERE)) == allowed(ask(s, "/nothing", HERE)) == "*"
    with Server(models, "--cors-origins", "none") as s:
        assert allowed(ask(s, "/translate", HERE)) is None


@pytest.mark.parametrize("wrong", ["", "example.org", "https://", "https://a.example/", "https://a.example,", "https://*.a.example",
                                   "dialects,https://a.example"])
def test_a_wrong_list_is_refused(models, wrong):
    done = subprocess.run(Server(models, "--cors-origins", wrong).command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "cors_origins has" in done.stderr


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """Serves an empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title>")

    def log_message(self, *_):
        pass


@pytest.fixture
def elsewhere():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d" % site.server_address[1]
        site.shutdown()


FETCH = """
const done = arguments[2];
fetch(arguments[0], {method: 'POST', headers: {'Content-Type': 'application/json', 'X-API-Key': 'any'}, body: arguments[1]})
  .then(async r => done({status: r.status, id: r.headers.get('X-Request-Id'), body: await r.json()}))
  .catch(e => done({refused: String(e)}))
"""


def test_a_browser_fetches_across_origins(models, chrome, elsewhere):  # noqa: F811
    body = '{"text": "Hello.", "source": "en", "target": "de"}'
    chrome.set_script_timeout(PATIENCE)
    with Server(models, "--cors-origins", elsewhere) as s:
        chrome.get(elsewhere)
        got = chrome.execute_async_script(FETCH, s.url("/v1/translate"), body)
        assert got["status"] == 200 and got["id"] and got["body"] == ask(s, "/v1/translate", None).json(), got
        wrong = chrome.execute_async_script(FETCH, s.url("/translate"), "{")
        assert wrong["status"] == 400 and wrong["body"]["error"].startswith("Invalid JSON"), wrong  # can be read, too
    with Server(models, "--cors-origins", HERE) as s:
        chrome.get(elsewhere)
        assert "refused" in chrome.execute_async_script(FETCH, s.url("/v1/translate"), body)
