"""The pages behind a proxy that serves them under a prefix: https://intranet.example/translator/ is this server's /."""
import contextlib
import http.server
import threading

import pytest
import requests

from conftest import PATIENCE, Server
from web_page import BUNDLES, TEXT, By, Page, chrome, expected  # noqa: F401

PREFIX = "/translator/"
PASSED_ON = ("Accept", "Content-Type", "Authorization")


class UnderPrefix(http.server.BaseHTTPRequestHandler):
    """A proxy as nginx's "location PREFIX { proxy_pass http://SERVER/; }" is; all else is another site's."""

    def pass_on(self):
        if not self.path.startswith(PREFIX):
            self.send_error(404)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        reply = requests.request(self.command, self.server.behind.url(self.path[len(PREFIX) - 1:]), data=body, timeout=PATIENCE,
                                 headers={name: self.headers[name] for name in PASSED_ON if self.headers[name]})
        self.send_response(reply.status_code)
        for name in ("Content-Type", "Content-Security-Policy"):
            if name in reply.headers:
                self.send_header(name, reply.headers[name])
        self.send_header("Content-Length", str(len(reply.content)))
        self.end_headers()
        self.wfile.write(reply.content)

    do_GET = do_POST = pass_on

    def log_message(self, *args):
        pass


class Proxy:
    def __init__(self, listener):
        self.listener = listener

    def url(self, path):
        return "http://127.0.0.1:%d%s" % (self.listener.server_address[1], PREFIX + path.lstrip("/"))


@contextlib.contextmanager
def proxy_of(server):
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), UnderPrefix)
    listener.behind = server
    thread = threading.Thread(target=listener.serve_forever)
    thread.start()
    try:
        yield Proxy(listener)
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


@pytest.fixture(scope="module")
def proxied(tmp_path_factory):
    with Server(BUNDLES, "--documents", str(tmp_path_factory.mktemp("documents") / "d.db")) as server, proxy_of(server) as proxy:
        yield proxy, server


def test_texts_and_documents_are_translated_under_a_prefix(chrome, proxied, tmp_path):  # noqa: F811
    """The page was white: it asked the other site for its script and its style."""
    proxy, server = proxied
    chrome.get_log("browser")
    page = Page(chrome, proxy)
    assert page.translate(TEXT) == expected(server, TEXT)
    page.open_sentence()
    page.choose_word()
    page.until(lambda: len(page.all("#alternatives button")) >= 3)
    page.upload(tmp_path / "dogs.html", "<p>Two dogs play.</p>")
    page.until(lambda: page.all("#document-list li") and page.document(".download").is_enabled())
    wrong = [line for line in chrome.get_log("browser") if line["level"] == "SEVERE" and "favicon.ico" not in line["message"]]
    assert not wrong, wrong


@pytest.mark.parametrize("path", ["/", "/status", "/docs"])
def test_links_stay_under_the_prefix(chrome, proxied, path):  # noqa: F811
    proxy, _ = proxied
    chrome.get(proxy.url(path))
    found = {a.get_property("href").split("#")[0] for a in chrome.find_elements(By.TAG_NAME, "a")}
    assert proxy.url("/openapi.yaml") in found or proxy.url("/metrics") in found
    for url in found:
        if url.startswith("http://127.0.0.1"):
            assert url.startswith(proxy.url("/")) and requests.get(url, timeout=PATIENCE).status_code == 200, url


def test_the_look_at_the_server_works_under_a_prefix(chrome, proxied):  # noqa: F811
    proxy, _ = proxied
    page = Page(chrome, proxy, "status", languages=0)
    page.until(lambda: len(page.all("svg.chart")) == 6)
