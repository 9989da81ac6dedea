"""The web page at / in a real browser (headless Chromium), against a server with the bundled model.

DRAGOMAN_SCREENSHOTS=FOLDER also writes the pictures that README and docs show.
"""
import json
import os
import shutil
import time

import pytest

from conftest import PATIENCE, ROOT, Server

webdriver = pytest.importorskip("selenium.webdriver", reason="scripts/test-env installs selenium")
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

BUNDLES = os.path.join(ROOT, "weights", "bundles")
TEXT = "Two dogs play in the snow. Where is the station?"


@pytest.fixture(scope="module")
def bundled():
    with Server(BUNDLES) as s:
        yield s


@pytest.fixture(scope="module")
def chrome():
    assert shutil.which("chromium") and shutil.which("chromedriver"), "scripts/deps test installs chromium and its driver"
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1100,900",
                 "--lang=en"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(PATIENCE)
    yield driver
    driver.quit()


class Page:
    """The page, opened anew: what a person does with it."""

    def __init__(self, driver, server, hash=""):
        self.driver, self.server = driver, server
        driver.get("about:blank")
        driver.get(server.url("/") + hash)
        self.until(lambda: len(self.all("#target option")) >= 3)

    def __getitem__(self, name):
        return self.driver.find_element(By.ID, name)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def until(self, condition):
        """What the page replaces while it is looked at counts as not yet."""
        end = time.monotonic() + PATIENCE

        def holds():
            try:
                return condition()
            except StaleElementReferenceException:
                return False
        while not holds():
            assert time.monotonic() < end, self["status"].text + self["error"].text + str(self.driver.get_log("browser"))
            time.sleep(0.05)

    def choose(self, name, value):
        self.driver.execute_script(
            "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change'))", name, value)
        assert self[name].get_property("value") == value

    def done(self):
        self.until(lambda: self["status"].text.startswith("Done"))

    def translate(self, text, source="en", target="de"):
        self.choose("source", source)
        self.choose("target", target)
        self["input"].send_keys(text)
        self.done()
        return self.output()

    def output(self):
        return self["output"].get_property("textContent")

    def open_sentence(self, n=0):
        self.all("#output .s")[n].click()
        self.until(lambda: self["sentence"].is_displayed())
        return self["sentence"]


@pytest.fixture
def page(chrome, bundled):
    p = Page(chrome, bundled)
    chrome.execute_script("localStorage.clear(); sessionStorage.clear()")
    yield p
    # No script of the page failed, nothing was asked for elsewhere.
    wrong = [line for line in chrome.get_log("browser") if line["level"] == "SEVERE" and line["source"] != "network"]
    assert not wrong, wrong


def expected(server, text, source="en", target="de"):
    return server.post("/v1/translate", {"text": text, "source": source, "target": target}).json()["translations"][0]["text"]


def test_what_is_typed_is_translated(page, bundled):
    assert page.translate(TEXT) == expected(bundled, TEXT)
    assert len(page.all("#output .s")) == 2
    assert page["output"].get_attribute("lang") == "de"


def test_the_language_is_detected_and_swapped(page, bundled):
    assert page.translate("Wo ist der Bahnhof? Ich suche ihn schon lange.", "auto", "en").count(".") >= 1
    assert "German" in page["detected"].text
    english = page.output()
    page["swap"].click()
    page.until(lambda: page["input"].get_property("value") == english)
    page.done()
    assert page["source"].get_property("value") == "en" and page["target"].get_property("value") == "de"
    assert page.output() == expected(bundled, english)


def test_sentences_stream_in(page, bundled):
    """The first sentence is on the page while later ones are not."""
    text = " ".join("The %d dogs play in the snow near the old station." % n for n in range(2, 90))
    page["auto"].click()
    page.choose("source", "en")
    page.choose("target", "de")
    page.driver.execute_script("document.getElementById('input').value = arguments[0]", text)
    page.driver.execute_script("""
        window.seen = [];
        new MutationObserver(() => seen.push(document.querySelectorAll('#output .s').length))
            .observe(document.getElementById('output'), {childList: true, subtree: true});""")
    page["translate"].click()
    page.done()
    seen = page.driver.execute_script("return seen")
    assert seen[0] < seen[-1] == 88
    assert page.output() == expected(bundled, text)


def test_words_have_a_source_and_alternatives(page):
    page.translate("Two dogs play in the snow.")
    page.open_sentence()
    page.until(lambda: len(page.all("#sentence-target button")) >= 4)
    word = page.all("#sentence-target button")[1]
    word.click()
    page.until(lambda: len(page.all("#alternatives button")) >= 3)
    assert [w.text for w in page.all("#sentence-source .hit")] == ["dogs"]
    other = page.all("#alternatives button")[1]
    text = other.text
    assert text != page.output()
    other.click()
    assert page.output() == text


def test_other_translations_have_scores(page):
    page.translate("Where is the station?")
    page.open_sentence()
    page.driver.find_element(By.CSS_SELECTOR, "#nbest summary").click()
    page.until(lambda: len(page.all("#nbest li")) >= 4)
    scores = [float(s.text) for s in page.all("#nbest .score")]
    assert scores == sorted(scores, reverse=True)


def test_attention_is_drawn(page):
    page.translate("Two dogs play in the snow.")
    page.open_sentence()
    page.driver.find_element(By.CSS_SELECTOR, "#attention summary").click()
    page.until(lambda: page.all("#att-picture line"))
    model = page.server.get("/v1/models").json()["models"][0]
    assert len(page.all("#att-layer option")) >= 2 and len(page.all("#att-head option")) >= 5, model
    label = page["att-picture"].get_attribute("aria-label")
    assert "→" in label
    page.choose("att-view", "map")
    cells = len(page.all("#att-picture .cell"))
    page.choose("att-unit", "words")
    assert 0 < len(page.all("#att-picture .cell")) <= cells
    for kind in ("encoder", "decoder"):
        page.choose("att-kind", kind)
        page.until(lambda: page.all("#att-picture .cell") and page["att-note"].text.startswith("Rows"))
        shown = page.driver.execute_script("""
            const rects = [...document.querySelectorAll('#att-picture .cell')];
            return rects.reduce((sum, r) => sum + Number(r.getAttribute('fill-opacity')), 0)""")
        rows = page.driver.execute_script(
            "return new Set([...document.querySelectorAll('#att-picture .cell')].map((r) => r.getAttribute('y'))).size")
        assert abs(shown - rows) < 0.02 * rows  # a row of weights sums to 1


def test_doubtful_sentences_are_explained(page):
    page.translate("Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.", "en", "de")
    page.until(lambda: page["legend"].is_displayed())
    assert len(page.all("#output .flagged")) == 1
    assert "language" in page["legend"].text or "improbable" in page["legend"].text
    page.all("#legend button")[0].click()
    assert page["sentence-flags"].text


def test_a_document_keeps_its_marks(page, tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# Two dogs\n\n- Where is the *station*?\n\n```\nmake test\n```\n")
    page.choose("source", "en")
    page.choose("target", "de")
    page["file"].send_keys(str(path))
    page.done()
    lines = page.output().split("\n")
    assert lines[0].startswith("# ") and lines[2].startswith("- ") and "*" in lines[2]
    assert lines[4:7] == ["```", "make test", "```"]
    downloads = tmp_path / "downloads"
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    page["download"].click()
    page.until(lambda: (downloads / "notes.de.md").exists())
    page.until(lambda: (downloads / "notes.de.md").read_text() == page.output())


def test_a_link_holds_the_text_after_the_hash(page, chrome, bundled):
    wanted = page.translate(TEXT)
    page["share"].click()
    url = chrome.current_url
    assert "#" in url and "dogs" not in url.split("#")[0] and "dogs" in url
    again = Page(chrome, bundled, url[url.index("#"):])
    again.done()
    assert again.output() == wanted


def test_history_is_kept_only_if_wanted(page):
    page.translate(TEXT)
    page["show-history"].click()
    assert not page.all("#history-list li")
    page["history-keep"].click()
    page["translate"].click()
    page.until(lambda: len(page.all("#history-list li")) == 1)
    page["history-clear"].click()
    assert not page.all("#history-list li")
    assert page.driver.execute_script("return localStorage.getItem('dragoman-history')") is None


def test_models_are_listed(page):
    page["show-models"].click()
    assert len(page.all("#models tbody tr")) == len(page.server.get("/v1/models").json()["models"])


def test_the_keyboard_is_enough(page):
    page.choose("source", "en")
    page.choose("target", "de")
    page["input"].click()
    keys = ActionChains(page.driver)
    keys.send_keys(TEXT).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
    page.done()
    for _ in range(12):
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        if "s" in page.driver.switch_to.active_element.get_attribute("class").split():
            break
    ActionChains(page.driver).send_keys(Keys.ARROW_RIGHT).perform()
    second = page.driver.switch_to.active_element
    assert second == page.all("#output .s")[1]
    ActionChains(page.driver).send_keys(Keys.ENTER).perform()
    page.until(lambda: page["sentence"].is_displayed())
    assert page["sentence-source"].text == "Where is the station?"
    ActionChains(page.driver).send_keys(Keys.ESCAPE).perform()
    assert not page["sentence"].is_displayed()
    assert page.driver.switch_to.active_element == second


def test_a_server_that_is_gone_is_named(page, bundled):
    page.translate("Where is the station?")
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/v1/*"]})
    try:
        page["translate"].click()
        page.until(lambda: page["error"].is_displayed())
        assert "does not answer" in page["error"].text
    finally:
        page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    page["translate"].click()
    page.done()
    assert not page["error"].is_displayed()


def test_what_the_server_refuses_is_shown(page):
    page.choose("source", "en")
    page.choose("target", "de")
    page.driver.execute_script("document.getElementById('input').value = 'word '.repeat(50000)")
    page["translate"].click()
    page.until(lambda: page["error"].is_displayed())
    assert "characters" in page["error"].text


def test_a_slow_server_is_waited_for(page):
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": 700, "downloadThroughput": -1, "uploadThroughput": -1})
    try:
        page.choose("source", "en")
        page.choose("target", "de")
        page["input"].send_keys("Where is the station?")
        page.until(lambda: page["status"].text == "Translating …")
        page.done()
    finally:
        page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})


def test_long_texts_are_translated_in_parts(page, bundled):
    lines = ["The %d dogs play in the snow." % n for n in range(500)]
    text = "\n".join(lines) + "\n"
    page["auto"].click()
    page.choose("source", "en")
    page.choose("target", "de")
    page.driver.execute_script("document.getElementById('input').value = arguments[0]", text)
    page["translate"].click()
    page.done()
    answer = page.output().split("\n")
    assert len(answer) == 501
    for n in (0, 250, 499):
        assert answer[n] == expected(bundled, lines[n])


def axe(page):
    axe_core_python = pytest.importorskip("axe_core_python", reason="scripts/test-env installs it")
    source = os.path.join(os.path.dirname(axe_core_python.__file__), "axe.min.js")
    with open(source, encoding="utf-8") as f:
        page.driver.execute_script(f.read())
    found = page.driver.execute_async_script("axe.run().then(arguments[0])")
    return json.dumps([(v["id"], [n["html"][:150] for n in v["nodes"]]) for v in found["violations"]], indent=1)


def emulate(page, **features):
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_server_is_looked_at(page, bundled, scheme):
    page.driver.get(bundled.url("/status"))
    emulate(page, prefers_color_scheme=scheme)
    page.until(lambda: len(page.all("svg.chart")) == 6)
    for _ in range(3):
        assert bundled.translate(TEXT).status_code == 200
    page.until(lambda: any(r.text.startswith("ok") and not r.text.endswith(" 0") for r in page.all("#ends tbody tr")))
    page.until(lambda: "p50 –" not in page.all("figcaption")[2].text)
    assert "Ready" in page["summary"].text
    page.until(lambda: {r.text.split()[0]: int(r.text.split()[1].replace(",", "")) for r in page.all("#use tbody tr")}["en-de"] >= 6)
    assert axe(page) == "[]"
    picture(page, "status-" + scheme)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_found_by_axe(page, scheme):
    emulate(page, prefers_color_scheme=scheme)
    page.translate(TEXT)
    assert axe(page) == "[]"
    page["show-models"].click()
    page["show-history"].click()
    page.open_sentence()
    page.until(lambda: len(page.all("#sentence-target button")) >= 4)
    page.all("#sentence-target button")[1].click()
    page.until(lambda: page.all("#alternatives button"))
    page.driver.find_element(By.CSS_SELECTOR, "#attention summary").click()
    page.until(lambda: page.all("#att-picture line"))
    assert axe(page) == "[]"
    picture(page, "page-" + scheme)


def picture(page, name, height=1420):
    folder = os.environ.get("DRAGOMAN_SCREENSHOTS")
    if folder:
        page.driver.set_window_size(1100, height)
        page.driver.execute_script("scrollTo(0, 0)")
        page.driver.save_screenshot(os.path.join(folder, name + ".png"))


def test_a_narrow_phone_needs_no_sideways_scrolling(page):
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": True})
    try:
        page.translate(TEXT)
        page.open_sentence()
        page["show-models"].click()
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= 320
        picture(page, "page-phone")
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_text_from_right_to_left_is_shown_so(page):
    page["input"].send_keys("שלום עולם")
    assert page.driver.execute_script("return getComputedStyle(document.getElementById('input')).direction") == "rtl"


def test_nothing_is_fetched_from_elsewhere(page, bundled):
    page.translate(TEXT)
    fetched = page.driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert len(fetched) > 8 and all(url.startswith(bundled.url("/")) for url in fetched), fetched


def test_the_page_is_small_and_strict(bundled):
    import gzip
    page = bundled.get("/", headers={"Accept": "text/html,*/*"})
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy
    import re
    names = set(re.findall(r'/web/[a-z.]+', page.text)) | {"/web/" + n for n in os.listdir(os.path.join(ROOT, "server", "api", "web"))}
    names.discard("/web/index.html")
    total = len(gzip.compress(page.content)) + sum(len(gzip.compress(bundled.get(n).content)) for n in names)
    assert total <= 120 * 1024
    assert bundled.get("/", headers={"Accept": "application/json"}).json()["name"] == "dragoman-server"
    assert bundled.get("/").json()["routes"]
    assert bundled.get("/web/none.js").status_code == 404


def test_a_key_is_asked_for(chrome, tmp_path):
    import subprocess
    from conftest import CLI
    keys = str(tmp_path / "keys.db")
    made = subprocess.run([CLI, "keys", "add", "--keys", keys, "--name", "page"], capture_output=True, text=True, check=True)
    key = made.stdout.split()[-1]
    with Server(BUNDLES, "--keys", keys) as server:
        chrome.get("about:blank")
        chrome.get(server.url("/"))
        end = time.monotonic() + PATIENCE
        while not chrome.find_element(By.ID, "key-form").is_displayed():
            assert time.monotonic() < end
            time.sleep(0.05)
        chrome.find_element(By.ID, "key").send_keys(key + Keys.ENTER)
        while not chrome.find_elements(By.CSS_SELECTOR, "#target option"):
            assert time.monotonic() < end
            time.sleep(0.05)
        chrome.execute_script("sessionStorage.clear()")
    chrome.get_log("browser")  # the refused requests


def test_the_look_at_the_server_asks_for_an_admin_key(chrome, tmp_path):
    import subprocess
    from conftest import CLI
    keys = str(tmp_path / "keys.db")

    def add(*scope):
        made = subprocess.run([CLI, "keys", "add", "--keys", keys, "--name", "page", *scope], capture_output=True, text=True, check=True)
        return made.stdout.split()[-1]

    plain, admin = add(), add("--scope", "admin")
    with Server(BUNDLES, "--keys", keys) as server:
        chrome.get("about:blank")
        chrome.get(server.url("/status"))
        end = time.monotonic() + PATIENCE

        def wait(condition):
            while not condition():
                assert time.monotonic() < end
                time.sleep(0.05)
        form, error = (lambda: chrome.find_element(By.ID, "key-form")), (lambda: chrome.find_element(By.ID, "error").text)
        wait(lambda: form().is_displayed())
        assert "API key is needed" in error() and not chrome.find_elements(By.CSS_SELECTOR, "svg.chart")
        # The form has the focus: a person types, and needs no mouse.
        ActionChains(chrome).send_keys(plain + Keys.ENTER).perform()
        wait(lambda: "no scope admin" in error())
        ActionChains(chrome).send_keys(admin + Keys.ENTER).perform()
        wait(lambda: len(chrome.find_elements(By.CSS_SELECTOR, "svg.chart")) == 6)
        assert not form().is_displayed() and error() == ""
        # Kept in this tab alone, and not as the key that the translation page sends.
        assert chrome.execute_script("return [sessionStorage.getItem('dragoman-admin-key'), sessionStorage.getItem('dragoman-key'),"
                                     " localStorage.length]") == [admin, None, 0]
        chrome.refresh()
        wait(lambda: len(chrome.find_elements(By.CSS_SELECTOR, "svg.chart")) == 6)
        chrome.execute_script("sessionStorage.clear()")
    chrome.get_log("browser")  # the refused requests
