"""--cors-origins: which pages of other origins may read answers; and a page in a browser that does."""
import http.server
import socket
import subprocess
import threading

import pytest
import requests

from conftest import PATIENCE, Server
from test_keys import new_key
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


def send(server, path, method="POST", **headers):
    """Sends a form, which a browser sends for any page without a preflight."""
    return requests.request(method, server.url(path), data={"text": "Hello.", "target_lang": "DE"} if method == "POST" else None, timeout=PATIENCE,
                            headers={k.replace("_", "-"): v for k, v in headers.items()})


LT = "/translate?q=Hello.&source=en&target=de"
OTHER = {"Sec_Fetch_Site": "cross-site", "Origin": "https://evil.com"}


def test_pages_of_other_sites_send_nothing_where_they_may_read_nothing(models):
    with Server(models) as s:
        for path in ("/v1/translate", "/v1/documents", "/v1/glossaries", "/v2/translate", "/v2/glossaries"):
            for origin in ("https://evil.com", "http://evil.com", "null"):
                reply = send(s, path, **dict(OTHER, Origin=origin))
                assert reply.status_code == 403 and "--cors-origins" in reply.text, (path, reply.text)
        assert send(s, "/v1/documents", **OTHER).json()["error"]["code"] == "forbidden"
        assert send(s, LT, **OTHER).status_code == 200  # pages of any origin may read the answer
        assert send(s, "/v1/languages", "GET", **OTHER).status_code == 200  # the browser hides the answer from the page
        for own in ({"Sec_Fetch_Site": "same-origin", "Origin": s.url("")}, {"Sec_Fetch_Site": "same-site", "Origin": THERE},
                    {"Sec_Fetch_Site": "none"}, {"Origin": HERE}, {},
                    {"Sec_Fetch_Site": "cross-site", "Origin": "moz-extension://4f2c"}):
            assert send(s, "/v2/translate", **own).status_code == 200, own
    with Server(models, "--cors-origins", HERE) as s:
        assert send(s, "/v2/translate", **dict(OTHER, Origin=HERE)).status_code == 200
        assert send(s, "/v2/translate", **OTHER).status_code == send(s, LT, **OTHER).status_code == 403
    with Server(models, "--cors-origins", "none") as s:
        assert send(s, LT, **OTHER).status_code == 403 and "error" in send(s, LT, **OTHER).json()


def test_a_strangers_name_for_this_machine_is_refused(models):
    """DNS rebinding: a stranger's name resolves to 127.0.0.1, so that a browser lets a page of that name read all answers of this port."""
    with Server(models) as s:
        for method, path in (("GET", "/"), ("GET", "/v1/languages"), ("GET", "/v1/status"), ("POST", "/v2/translate"), ("POST", LT)):
            reply = send(s, path, method, Host="evil.com:%d" % s.port)
            assert reply.status_code == 403 and "--cors-origins" in reply.text, (method, path)
        for host in ("localhost:%d" % s.port, "[::1]:%d" % s.port, "box.local:%d" % s.port, "evil.com", "evil.com:8443"):
            # A proxy on this machine passes on the last two. A page of such a name reaches the proxy, not this port.
            assert send(s, "/v2/translate", Host=host).status_code == 200, host
    with Server(models, "--cors-origins", "http://box.example.org:1,https://app.example") as s:
        assert send(s, "/v2/translate", Host="box.example.org:%d" % s.port).status_code == 403
    with Server(models, "--cors-origins", "*") as s:
        assert send(s, "/v2/translate", Host="box.example.org:%d" % s.port).status_code == 200
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Server(models, "--port", str(port), "--cors-origins", "http://box.example.org:%d" % port) as s:
        assert send(s, "/v2/translate", Host="Box.example.org:%d" % port).status_code == 200


def test_with_keys_pages_need_one(models, tmp_path):
    keys = str(tmp_path / "keys.db")
    key = "DeepL-Auth-Key " + new_key(keys)
    with Server(models, "--keys", keys) as s:
        assert send(s, "/v2/translate", **OTHER).status_code in (401, 403)
        assert send(s, "/v2/translate", Authorization=key, Host="evil.com:%d" % s.port, **OTHER).status_code == 200


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


SEND = """
const done = arguments[2];
fetch(arguments[0], {method: 'POST', mode: 'no-cors', body: new URLSearchParams(arguments[1])}).then(() => done('sent'), e => done(String(e)))
"""


def test_a_page_of_another_site_stores_nothing(models, chrome, elsewhere, tmp_path):  # noqa: F811
    """For a browser, localhost and 127.0.0.1 are different sites."""
    body = {"name": "a", "source_lang": "en", "target_lang": "de", "entries": "dog\tKatze", "entries_format": "tsv"}
    chrome.set_script_timeout(PATIENCE)
    with Server(models, "--collections", str(tmp_path / "c.db")) as s:
        url = s.url("/v2/glossaries")
        chrome.get(elsewhere)
        assert chrome.execute_async_script(SEND, url.replace("127.0.0.1", "localhost"), body) == "sent"
        s.until(lambda: s.logged("route=/v2/glossaries status=403"))
        assert s.get("/v1/glossaries").json()["glossaries"] == []
        assert chrome.execute_async_script(SEND, url, body) == "sent"  # the same host at another port is the same site
        assert len(s.get("/v1/glossaries").json()["glossaries"]) == 1, s.log[-3:]
