"""The forms of /docs in a real browser: what is typed is sent, and the answer is shown as it came."""
import json

import pytest
import requests

from conftest import PATIENCE, Server
from test_keys import new_key
from web_page import BUNDLES, Keys, Page, axe, before_each_page, bundled, chrome, emulate, no_script_failed, phone, pressed, sideways  # noqa: F401


class Docs(Page):
    def __init__(self, driver, server):
        super().__init__(driver, server, "docs", languages=0)
        self.until(lambda: self.all("#translate .try")[0].is_displayed())

    def unfold(self, operation):
        super().unfold(operation)
        self.until(lambda: self.all(f"#{operation} .try button")[0].is_displayed())

    def status(self, operation):
        return self.all(f"#{operation} .try [role=status]")[0].text

    def send(self, operation, body=None):
        if body is not None:
            field = self.all(f"#{operation} .try textarea")[0]
            field.clear()
            field.send_keys(body)
        self.all(f"#{operation} .try button")[0].click()
        self.until(lambda: self.status(operation)[:1].isdigit())
        return int(self.status(operation)[:3]), self.all(f"#{operation} .try .answer")[0].get_property("textContent")


@pytest.fixture
def docs(chrome, bundled):  # noqa: F811
    page = Docs(chrome, bundled)
    chrome.execute_script("sessionStorage.clear()")
    yield page
    no_script_failed(chrome)


def test_a_browser_that_keeps_nothing_has_forms(chrome, bundled):  # noqa: F811
    """With cookies blocked, access to sessionStorage itself throws, and the page had no forms."""
    with before_each_page(chrome, """
        for (const area of ['localStorage', 'sessionStorage'])
            Object.defineProperty(window, area, {get() { throw new DOMException('denied', 'SecurityError'); }});"""):
        docs = Docs(chrome, bundled)
        docs.unfold("index")
        assert docs.send("index")[0] == 200
        docs["key"].send_keys("k")
        no_script_failed(chrome)


def test_an_example_is_sent_and_answered(docs, bundled):  # noqa: F811
    docs.unfold("translate")
    body = json.loads(docs.all("#translate .try textarea")[0].get_property("value"))
    status, answer = docs.send("translate")
    expected = bundled.post("/v1/translate", body).json()
    assert status == 200
    assert [t["text"] for t in json.loads(answer)["translations"]] == [t["text"] for t in expected["translations"]]


def test_every_example_is_taken(docs):
    """No form of the page starts with a body that its endpoint rejects as invalid."""
    forms = docs.driver.execute_script("""return [...document.querySelectorAll('.try form')].map(f =>
        [f.closest('section').id, f.dataset.method,
         f.dataset.path + [...f.querySelectorAll('[data-query]')].filter((e) => e.value).map((e, i) => `${i ? '&' : '?'}${e.name}=${encodeURIComponent(e.value)}`).join(''),
         f.elements.body ? f.elements.body.value : null])""")
    assert len(forms) > 15
    for operation, method, path, body in forms:
        if path == "v1/models/reload" or "{" in path:
            continue
        reply = requests.request(method, docs.server.url("/" + path), data=body and body.encode(), timeout=PATIENCE,
                                 headers={"Content-Type": "application/json"} if body else {})
        assert reply.status_code in (200, 401, 403), (operation, reply.text)


def test_what_is_wrong_is_shown(docs):
    docs.unfold("translate")
    status, answer = docs.send("translate", '{"text": 3}')
    assert status == 400 and json.loads(answer)["error"]["field"] == "text"
    assert axe(docs, "#translate") == "[]"
    status, answer = docs.send("translate", "{")
    assert status == 400 and json.loads(answer)["error"]["code"] == "invalid_json"


def test_a_name_in_the_path_is_asked_for(docs):
    docs.unfold("webFile")
    field = docs.all("#webFile .try input")[0]
    assert field.get_property("value") == "style.css"
    field.clear()
    field.send_keys("a/../b?c")
    assert docs.send("webFile")[0] == 404


def test_a_query_is_asked_for(docs):
    docs.unfold("googleTranslateByQuery")
    q, target = docs.all("#googleTranslateByQuery .try input")[:2]
    assert (q.get_property("value"), target.get_property("value")) == ("Two dogs play in the snow.", "de")
    q.clear()
    q.send_keys("A & B?")
    status, answer = docs.send("googleTranslateByQuery")
    assert status == 200 and "A" in json.loads(answer)["data"]["translations"][0]["translatedText"]


@pytest.fixture(scope="module")
def keeping(tmp_path_factory):
    """A server that keeps glossaries of clients, and documents."""
    folder = tmp_path_factory.mktemp("kept")
    with Server(BUNDLES, "--collections", str(folder / "c.db"), "--documents", str(folder / "d.db")) as server:
        yield server


def test_one_pair_of_a_glossary_is_read_and_deleted(chrome, keeping):  # noqa: F811
    """The forms asked for the id alone: reading was refused, and deleting took the whole glossary."""
    pairs = [{"source": "en", "target": t, "entries": "dogs\tHunde\n"} for t in ("de", "fr")]
    made = keeping.post("/v1/glossaries", {"name": "pets", "dictionaries": pairs}).json()
    docs = Docs(chrome, keeping)
    for operation, status in (("getGlossaryEntries", 200), ("removeGlossary", 204)):
        docs.unfold(operation)
        for field, value in zip(docs.all(f"#{operation} .try input"), (made["id"], "en", "fr"), strict=True):
            field.clear()
            field.send_keys(value)
        assert docs.send(operation)[0] == status
    left = keeping.get("/v1/glossaries/" + made["id"]).json()
    assert [(p["source"], p["target"]) for p in left["dictionaries"]] == [("en", "de")]


@pytest.mark.parametrize("operation, fields", [
    ("sendDocument", {"source": "en", "target": "de"}), ("libretranslateFile", {"source": "en", "target": "de"}), ("deeplDocument", {"target_lang": "DE"})])
def test_a_file_is_sent(chrome, keeping, tmp_path, operation, fields):  # noqa: F811
    """The forms of these operations had no fields, and were always refused."""
    path = tmp_path / "a.html"
    path.write_text("<p>Two dogs.</p>")
    docs = Docs(chrome, keeping)
    docs.unfold(operation)
    for name, value in {"file": str(path), **fields}.items():
        docs.all(f"#{operation} .try [name={name}]")[0].send_keys(value)
    status, answer = docs.send(operation)
    assert status in (200, 201) and json.loads(answer), answer
    assert axe(docs, "#" + operation) == "[]"


def test_the_keyboard_is_enough_for_a_form(docs):
    docs.driver.execute_script("document.querySelector('#models .try summary').focus()")
    pressed(docs, Keys.ENTER, Keys.TAB, Keys.ENTER)
    docs.until(lambda: docs.status("models").startswith("200"))
    assert json.loads(docs.all("#models .try .answer")[0].get_property("textContent"))["models"]


def test_a_key_goes_with_what_is_sent(chrome, tmp_path):  # noqa: F811
    keys = str(tmp_path / "keys.db")
    key = new_key(keys)
    with Server(BUNDLES, "--keys", keys) as server:
        docs = Docs(chrome, server)
        chrome.execute_script("sessionStorage.clear()")
        docs.unfold("models")
        assert docs.send("models")[0] == 401
        docs.all("#key")[0].send_keys(key)
        assert docs.send("models")[0] == 200
        chrome.execute_script("sessionStorage.clear()")
    chrome.get_log("browser")  # drops the message about the refused request


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_description(docs, scheme):
    emulate(docs, prefers_color_scheme=scheme)
    docs.unfold("translate")
    assert docs.send("translate")[0] == 200
    assert axe(docs) == "[]"


def test_the_description_fits_a_narrow_phone(docs):
    with phone(docs):
        docs.driver.execute_script("for (const d of document.querySelectorAll('.try details, details.try')) d.open = true;")
        assert docs.send("translate")[0] == 200
        assert sideways(docs) <= 320
