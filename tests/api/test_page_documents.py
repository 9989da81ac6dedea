"""Documents on the web page, in a real browser: what is offered, sent, shown meanwhile, and downloaded."""
import io
import json
import os
import zipfile

import pytest
import requests

from conftest import PATIENCE, ROOT, Server
from selenium.webdriver.common.by import By
from test_keys import new_key
from web_page import BUNDLES, Keys, Page, axe, chord, chrome, emulate, phone, picture, pressed, sent, sideways, tab_to, unplugged  # noqa: F401

TEXT, GERMAN = "Two dogs play in the snow.", "Zwei Hunde spielen im Schnee."
AS_TEXT = {".txt", ".md", ".markdown", ".srt", ".vtt", ".html", ".htm"}


def docx(*paragraphs):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
                   'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
                   "</Types>")
        z.writestr("word/document.xml", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>' +
                   "".join(f"<w:p><w:r><w:t>{p}</w:t></w:r></w:p>" for p in paragraphs) + "</w:body></w:document>")
    return packed.getvalue()


def words(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as z:
        return z.read("word/document.xml").decode()


LONG = docx(*(f"A man in a red shirt is riding a bicycle with number {n}." for n in range(900)))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with Server(BUNDLES, "--documents", str(tmp_path_factory.mktemp("documents") / "d.db")) as s:
        yield s


@pytest.fixture(scope="module")
def without():
    with Server(BUNDLES) as s:
        yield s


@pytest.fixture
def folder(chrome, tmp_path):  # noqa: F811
    downloads = tmp_path / "downloads"
    chrome.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    return downloads


class DocumentPage(Page):
    def __init__(self, driver, server):
        super().__init__(driver, server)
        self.until(lambda: self["formats"].text)
        self.choose_languages()
        driver.execute_script("""
            window.seen = [];
            new MutationObserver(() => document.querySelector('#document-list li') && seen.push([document.querySelector('#document-list .state').textContent,
                document.querySelector('#document-list progress').position]))
                .observe(document.getElementById('document'), {childList: true, subtree: true, attributes: true});""")

    def states(self):
        """Returns what the document's line has said."""
        return self.driver.execute_script("return seen.map(([state]) => state)")

    def state(self):
        return self.document(".state").text if self.all("#document-list li") else ""

    def finished(self):
        self.until(lambda: self.state().startswith("Done in"))

    def had(self, path):
        self.document(".download").click()
        self.until(path.exists)
        self.until(lambda: path.read_bytes())
        return path.read_bytes()


def test_every_format_of_the_server_is_offered(chrome, served):  # noqa: F811
    page = DocumentPage(chrome, served)
    wanted = set(served.get("/").json()["documents"])
    assert {".docx", ".odt", ".epub", ".po", ".xliff", ".json"} <= wanted
    assert set(page["file"].get_attribute("accept").split(",")) == wanted
    assert {w for w in page["formats"].text.split() if w.startswith(".")} == wanted


def test_a_document_is_sent_watched_and_downloaded(chrome, served, tmp_path, folder):  # noqa: F811
    page = DocumentPage(chrome, served)
    page.upload(tmp_path / "my report.docx", LONG)
    page.until(lambda: page.state() and not page.document(".download").is_enabled() and page.document("h3").text == "my report.docx")
    page.finished()
    seen, states = chrome.execute_script("return seen"), page.states()
    assert "Uploading …" in states and any(s.startswith("Translating") and s.endswith("left") for s in states), states
    shares = [share for s, share in seen if s.startswith("Translating") and share >= 0]
    assert shares and all(0 <= s < 1 for s in shares) and seen[-1][1] == 1, seen
    german = words(page.had(folder / "my report.de.docx"))
    assert german.count("<w:p>") == 900 and "Mann" in german and "riding" not in german


@pytest.mark.parametrize("name, content", [
    ("page.html", f"<h1>Two dogs</h1><p>{TEXT}</p>"),
    ("strings.json", json.dumps({"title": TEXT, "n": 12})),
    ("app.po", f'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "{TEXT}"\nmsgstr ""\n'),
    ("app.xliff", '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" '
     f'target-language="de" datatype="plaintext"><body><trans-unit id="1"><source>{TEXT}</source></trans-unit></body></file></xliff>'),
])
def test_other_formats_keep_what_they_are(chrome, served, tmp_path, folder, name, content):  # noqa: F811
    page = DocumentPage(chrome, served)
    page.upload(tmp_path / name, content)
    page.finished()
    stem, ending = name.split(".")
    got = page.had(folder / f"{stem}.de.{ending}")
    url = requests.post(served.url("/translate_file"), files={"file": (name, content.encode())}, data={"source": "en", "target": "de"},
                        timeout=PATIENCE).json()["translatedFileUrl"]
    assert got == requests.get(url, timeout=PATIENCE).content and GERMAN in got.decode()


def test_a_broken_document_is_refused_with_the_servers_sentence(chrome, served, tmp_path):  # noqa: F811
    page = DocumentPage(chrome, served)
    page.upload(tmp_path / "a.docx", b"x")
    page.until(lambda: page.state().startswith("Not translated"))
    assert "the file is broken" in page.state()
    assert not page.document(".download").is_enabled()
    assert axe(page) == "[]"
    page.upload(tmp_path / "a.pdf", b"%PDF")
    page.until(lambda: "a.pdf" in page["error"].text)
    assert ".docx" in page["error"].text


def test_a_document_over_the_limit_is_refused_with_the_servers_sentence(chrome, served, tmp_path):  # noqa: F811
    """The server answers before the document has been sent."""
    page = DocumentPage(chrome, served)
    page.upload(tmp_path / "a.docx", bytes(40 << 20))
    page.until(lambda: page.state().startswith("Not translated"))
    assert "the limit is 10485760" in page.state()


def test_without_documents_text_still_is_translated(chrome, without, tmp_path):  # noqa: F811
    page = DocumentPage(chrome, without)
    assert set(page["file"].get_attribute("accept").split(",")) == AS_TEXT
    assert "--documents FILE" in page["formats"].text
    page.upload(tmp_path / "report.docx", docx(TEXT))
    page.until(lambda: page["error"].is_displayed())
    assert "report.docx" in page["error"].text and "without --documents FILE" in page["error"].text
    assert axe(page) == "[]"
    assert not page["document"].is_displayed() and not page["key-form"].is_displayed()
    page.upload(tmp_path / "page.html", f"<p>{TEXT}</p>")
    page.done()
    assert page.output() == f"<p>{GERMAN}</p>" and not page["error"].is_displayed()


@pytest.mark.parametrize("dialects", ["none", "deepl"])
def test_documents_need_no_other_servers_api(chrome, tmp_path, folder, dialects):  # noqa: F811
    """The page asked LibreTranslate's API for the kinds of documents, and refused all documents on a server without that API."""
    with Server(BUNDLES, "--documents", str(tmp_path / "d.db"), "--dialects", dialects) as server:
        page = DocumentPage(chrome, server)
        assert ".docx" in page["formats"].text and not page["error"].is_displayed()
        page.upload(tmp_path / "report.docx", docx(TEXT))
        page.finished()
        assert GERMAN in words(page.had(folder / "report.de.docx"))


def test_a_server_that_is_gone_is_asked_again(chrome, served, tmp_path):  # noqa: F811
    page = DocumentPage(chrome, served)
    with unplugged(chrome, "*/v1/documents/*"):
        page.upload(tmp_path / "a.docx", docx(TEXT))
        page.until(lambda: page.state().startswith("The server does not answer"))
        assert axe(page) == "[]"
    page.finished()


def test_a_key_whose_minute_is_used_up_gets_its_document(chrome, served, tmp_path):  # noqa: F811
    """Each of the three routes is asked again when the server says."""
    page = DocumentPage(chrome, served)
    chrome.execute_script("""
        const real = window.fetch;
        window.asked = {};
        window.fetch = (path, ...more) => {
          const kind = path.replace(/[0-9a-f-]{16,}/i, 'ID'), times = asked[kind] ||= [];
          return path.startsWith('/v1/documents') && times.push(performance.now()) === 1
            ? Promise.resolve(new Response('{"error": {"code": "rate_limited", "message": "Too many requests"}}', {status: 429, headers: {'Retry-After': '1'}}))
            : real(path, ...more);
        };""")
    page.upload(tmp_path / "a.docx", docx(TEXT))
    page.finished()
    assert "The requests of this minute are used up. Trying again …" in page.states()
    asked = {path: times for path, times in chrome.execute_script("return asked").items() if times}
    assert list(asked) == ["/v1/documents", "/v1/documents/ID", "/v1/documents/ID/result"]
    assert all(times[1] - times[0] >= 990 for times in asked.values()), asked
    assert not page["error"].is_displayed()


def test_a_restart_behind_a_proxy_loses_no_document(chrome, served, tmp_path, folder):  # noqa: F811
    """Where a proxy has no server behind it, it answers itself; and a connection breaks while the translation comes."""
    page = DocumentPage(chrome, served)
    chrome.execute_script("""
        const real = window.fetch, proxy = (status) => new Response('<html><h1>Bad Gateway</h1></html>', {status, headers: {'Content-Type': 'text/html', 'Retry-After': '0.2'}});
        const broken = new ReadableStream({start: (to) => { to.enqueue(new Uint8Array(9)); }, pull: (to) => to.error(new TypeError('network error'))});
        const answers = {status: [proxy(502), proxy(504)], result: [proxy(502), () => Promise.reject(new TypeError('Failed to fetch')), new Response(broken)]};
        window.left = answers;
        window.fetch = (path, ...more) => {
          const what = !/^\\/v1\\/documents\\//.test(path) ? null : path.endsWith('/result') ? 'result' : 'status';
          const answer = answers[what]?.shift();
          return !answer ? real(path, ...more) : answer instanceof Function ? answer() : Promise.resolve(answer);
        };""")
    page.upload(tmp_path / "a.docx", docx(TEXT))
    page.finished()
    assert "The server does not answer. Asking again …" in page.states()
    assert not page["error"].is_displayed() and chrome.execute_script("return left") == {"status": [], "result": []}
    assert GERMAN in words(page.had(folder / "a.de.docx"))


def test_a_long_document_is_asked_for_less_and_less(chrome, served):  # noqa: F811
    """So that its questions fit a key with few requests a minute."""
    page = DocumentPage(chrome, served)
    waits = page.driver.execute_async_script("""
        const done = arguments[0];
        import('/web/documents.js').then(({pause}) => done([pause(0), pause(1, 30), pause(20, 30), pause(20, 2), pause(20, 0.1), pause(600, 900)]))""")
    assert waits == [0.5, 0.5, 4, 2, 0.5, 10]


def test_the_keyboard_is_enough_for_documents(chrome, served, tmp_path, folder):  # noqa: F811
    page = DocumentPage(chrome, served)
    page["input"].click()
    tab_to(page, page["file"])  # Enter opens the browser's own dialog
    page.upload(tmp_path / "a.docx", docx(TEXT))
    page.finished()
    assert chrome.switch_to.active_element == page["document"]
    pressed(page, Keys.TAB, Keys.TAB)
    assert chrome.switch_to.active_element == page.document(".download")
    pressed(page, Keys.ENTER)
    page.until((folder / "a.de.docx").exists)
    page.until(lambda: (folder / "a.de.docx").read_bytes())
    assert GERMAN in words((folder / "a.de.docx").read_bytes())
    chord(page, Keys.SHIFT, Keys.TAB)
    pressed(page, Keys.ENTER)
    assert not page["document"].is_displayed() and chrome.switch_to.active_element == page["file"]


def test_a_document_is_translated_carefully(chrome, served, tmp_path):  # noqa: F811
    page = DocumentPage(chrome, served)
    page["rerank"].click()  # as on a first visit
    page.upload(tmp_path / "a.docx", docx("I forgot my umbrella on the bus this morning."))
    page.finished()
    made = json.loads(chrome.execute_script("return sessionStorage.getItem('dragoman-documents')"))[0]["made"]
    assert made["rerank"] and "im Bus" in words(served.get("/v1/documents/%s/result" % made["id"]).content)


def test_a_model_of_one_direction_translates_a_document_plainly(chrome, tmp_path):  # noqa: F811
    models = tmp_path / "models"
    models.mkdir()
    (models / "one-way").symlink_to(os.path.join(ROOT, "tests", "data", "en-de"))
    (models / "en-de-fr").symlink_to(os.path.join(BUNDLES, "en-de-fr"))
    with Server(str(models), "--documents", str(tmp_path / "d.db")) as s:
        page = DocumentPage(chrome, s)
        page["rerank"].click()  # as on a first visit
        page.upload(tmp_path / "a.docx", docx(TEXT))
        page.finished()
    chrome.get_log("browser")  # of the refusal


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chrome, served, tmp_path, scheme):  # noqa: F811
    page = DocumentPage(chrome, served)
    emulate(page, prefers_color_scheme=scheme)
    page["rerank"].click()  # as on a first visit
    page.upload(tmp_path / "cycling in the city.docx", LONG)
    page.finished()
    assert axe(page) == "[]"
    picture(page, "document-" + scheme)


def test_a_narrow_phone_shows_a_document(chrome, served, tmp_path):  # noqa: F811
    page = DocumentPage(chrome, served)
    with phone(page):
        page.upload(tmp_path / ("a-long-name-without-a-gap" * 5 + ".docx"), docx(TEXT))
        page.finished()
        assert sideways(page) <= 320


def test_a_key_goes_with_a_document(chrome, tmp_path):  # noqa: F811
    keys = str(tmp_path / "keys.db")
    key = new_key(keys)
    with Server(BUNDLES, "--keys", keys, "--documents", str(tmp_path / "d.db")) as s:
        chrome.get(s.url("/"))
        chrome.execute_script("sessionStorage.setItem('dragoman-key', arguments[0])", key)
        page = DocumentPage(chrome, s)
        page.upload(tmp_path / "a.docx", docx(TEXT))
        page.finished()
        chrome.execute_script("sessionStorage.clear()")


def by_name(page):
    """Returns what the page says of each document."""
    return {li.find_element(By.CSS_SELECTOR, "h3").text: li.find_element(By.CSS_SELECTOR, ".state").text for li in page.all("#document-list li")}


def dropped(page, *names):
    page.driver.execute_script("""
        const data = new DataTransfer();
        for (const name of arguments[0]) data.items.add(new File(['Two dogs play in the snow.\\n'], name));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));""", names)


def test_several_files_are_all_translated(chrome, served, folder):  # noqa: F811
    """The page took the first file and did not mention the others, and a document that was added during a translation replaced it."""
    page = DocumentPage(chrome, served)
    dropped(page, "a.txt", "b.html", "c.pdf", "d.md")
    assert page["error"].text.startswith("c.pdf cannot be translated: names end in .txt")
    page.until(lambda: list(by_name(page)) == ["a.txt", "b.html", "d.md"] and all(s.startswith("Done in") for s in by_name(page).values()))
    assert axe(page) == "[]"
    for name in "a.de.txt", "b.de.html", "d.de.md":
        page.all(f"[aria-label='Download the translation of {name.replace('.de', '')}']")[0].click()
        page.until((folder / name).exists)
        page.until(lambda: GERMAN in (folder / name).read_text())
    assert page["file"].get_property("multiple") and page["input"].get_property("value") == ""


def test_a_document_that_is_removed_is_removed_from_the_server(chrome, served, tmp_path):  # noqa: F811
    """Other documents wait for it on the server. After its removal, the next one is translated at once."""
    page = DocumentPage(chrome, served)
    sent(chrome)
    page.upload(tmp_path / "long.docx", LONG)
    page.until(lambda: page.state().startswith("Translating"))
    page.upload(tmp_path / "short.docx", docx(TEXT))
    assert by_name(page)["short.docx"] == "Waiting …"
    page.all("[aria-label='Remove long.docx']")[0].click()
    page.finished()
    assert list(by_name(page)) == ["short.docx"] and not page["error"].is_displayed()
    urls = {url for url, _ in sent(chrome) if "/v1/documents/" in url and not url.endswith("/result")}
    assert sorted(requests.get(url, timeout=PATIENCE).status_code for url in urls) == [200, 404]


def test_a_document_is_stopped(chrome, served, tmp_path):  # noqa: F811
    """Its line stays and says so; the server has it no more."""
    page = DocumentPage(chrome, served)
    sent(chrome)
    page.upload(tmp_path / "long.docx", LONG)
    page.until(lambda: page.state().startswith("Translating"))
    page.document(".stop").click()
    assert page.state() == "Stopped." and not page.document("progress").is_displayed() and not page.document(".stop").is_displayed()
    assert chrome.switch_to.active_element == page.document(".close") and axe(page) == "[]"
    page.upload(tmp_path / "short.docx", docx(TEXT))
    page.finished()
    assert list(by_name(page)) == ["long.docx", "short.docx"] and not page.document(".stop").is_displayed()
    urls = {url for url, _ in sent(chrome) if "/v1/documents/" in url and not url.endswith("/result")}
    assert sorted(requests.get(url, timeout=PATIENCE).status_code for url in urls) == [200, 404]


def test_a_reload_goes_on_with_documents(chrome, served, tmp_path, folder):  # noqa: F811
    page = DocumentPage(chrome, served)
    page.upload(tmp_path / "a.docx", docx(TEXT))
    page.finished()
    chrome.refresh()
    page.until(lambda: page.all("#document-list li"))
    page.finished()
    assert GERMAN in words(page.had(folder / "a.de.docx"))
    page = DocumentPage(chrome, served)
    assert not page["document"].is_displayed()


def test_without_documents_several_files_are_refused(chrome, without):  # noqa: F811
    page = DocumentPage(chrome, without)
    dropped(page, "a.txt", "b.txt")
    page.until(lambda: page["error"].is_displayed())
    assert page["error"].text == "Choose one file: several at once need a server that runs with --documents FILE."
    assert page["input"].get_property("value") == "" and not page["file"].get_property("multiple")
