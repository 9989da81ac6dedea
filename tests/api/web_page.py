"""The web page in a real browser (headless Chromium): what its tests share. A test's file has one browser and one server.

DRAGOMAN_SCREENSHOTS=FOLDER also writes the pictures that README and docs show.
"""
import base64
import contextlib
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
    # Without "More careful", the page has the answers that the API gives without options, and tests take less time. /status keeps nothing.
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        try {
          if (!location.pathname.endsWith('/status')) localStorage.getItem('dragoman-rerank') ?? localStorage.setItem('dragoman-rerank', 'no');
        } catch { /* forbidden, or about:blank */ }"""})
    yield driver
    driver.quit()


class Page:
    """The page, freshly opened, with what a person does on it."""

    def __init__(self, driver, server, rest="", languages=3):
        """Waits for as many languages; rest: a path, or what a link has after its #."""
        self.driver, self.server = driver, server
        self.open(rest)
        self.until(lambda: len(self.all("#target option")) >= languages)

    def open(self, rest=""):
        self.driver.get("about:blank")
        self.driver.get(self.server.url("/") + rest)

    def __getitem__(self, name):
        return self.driver.find_element(By.ID, name)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def until(self, condition):
        """Waits for a condition; an element that the page replaces meanwhile counts as not yet."""
        end = time.monotonic() + PATIENCE

        def holds():
            try:
                return condition()
            except StaleElementReferenceException:
                return False
        while not holds():
            assert time.monotonic() < end, " ".join(e.text for e in self.all("#status, #error")) + str(self.driver.get_log("browser"))
            time.sleep(0.05)

    def choose(self, name, value):
        assert value == self.driver.execute_script(
            "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change')); return s.value", name, value)

    def choose_languages(self, source="en", target="de"):
        self.choose("source", source)
        self.choose("target", target)

    def listen(self):
        """Notes what the status says from now on, for said(): a look now and then misses what it says for a moment."""
        self.driver.execute_script("""
            const status = document.getElementById('status');
            window.said = [];
            new MutationObserver(() => said.push(status.textContent)).observe(status, {childList: true});""")

    def said(self):
        return self.driver.execute_script("return said")

    def done(self):
        self.until(lambda: self["status"].text.startswith("Done"))

    def translate(self, text, source="en", target="de"):
        self.choose_languages(source, target)
        self.paste(text)
        self.done()
        return self.output()

    def paste(self, text):
        """Sets the text at once and presses the button, instead of the wait that follows typing."""
        self.driver.execute_script(
            "const i = document.getElementById('input'); i.value = arguments[0]; i.dispatchEvent(new Event('input'));"
            "document.getElementById('translate').click()", text)

    def upload(self, path, content):
        """Writes a file and chooses it."""
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self["file"].send_keys(str(path))

    def output(self):
        return self["output"].get_property("textContent")

    def document(self, part):
        """Returns a part of the newest document's line."""
        return self.all("#document-list li")[-1].find_element(By.CSS_SELECTOR, part)

    def open_sentence(self, n=0):
        """Clicks a sentence. The press on its panel ends the page's wait before it scrolls there: a later click would meet something else."""
        self.all("#output .s")[n].click()
        self.until(lambda: self["sentence"].is_displayed())
        self.driver.execute_script("document.getElementById('sentence').dispatchEvent(new PointerEvent('pointerdown'))")
        return self["sentence"]

    def choose_word(self, n=1):
        """Clicks a word of the open sentence's translation."""
        self.until(lambda: len(self.all("#sentence-target button")) >= 4)
        self.all("#sentence-target button")[n].click()

    def unfold(self, name):
        self.all(f"#{name} summary")[0].click()


def forget(driver, server):
    """Clears what another test stored. Opens a file of the same origin without scripts."""
    driver.get(server.url("/web/icon.svg"))
    driver.execute_script("localStorage.clear(); sessionStorage.clear()")


def no_script_failed(driver):
    """Nothing was asked for elsewhere, either."""
    wrong = [line for line in driver.get_log("browser") if line["level"] == "SEVERE" and line["source"] != "network"]
    assert not wrong, wrong


@pytest.fixture
def page(chrome, bundled):
    forget(chrome, bundled)
    yield Page(chrome, bundled)
    no_script_failed(chrome)


def expected(server, text, source="en", target="de"):
    return server.post("/v1/translate", {"text": text, "source": source, "target": target}).json()["translations"][0]["text"]


def axe(page, part="html"):
    """Returns what axe-core finds wrong in a part of the page, as text: "[]" if nothing."""
    axe_core_python = pytest.importorskip("axe_core_python", reason="scripts/test-env installs it")
    source = os.path.join(os.path.dirname(axe_core_python.__file__), "axe.min.js")
    with open(source, encoding="utf-8") as f:
        page.driver.execute_script(f.read())
    page.driver.set_script_timeout(PATIENCE)  # a long page on a busy machine
    found = page.driver.execute_async_script("axe.run(arguments[0], {resultTypes: ['violations']}).then(arguments[1])", part)
    return json.dumps([(v["id"], [n["html"][:150] for n in v["nodes"]]) for v in found["violations"]], indent=1)


def emulate(page, **features):
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": k.replace("_", "-"), "value": v} for k, v in features.items()]})


def picture(page, name, width=1100):
    """Saves a picture of the whole page if DRAGOMAN_SCREENSHOTS asks for pictures."""
    folder = os.environ.get("DRAGOMAN_SCREENSHOTS")
    if not folder:
        return
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 600, "deviceScaleFactor": 1, "mobile": width < 600})
    page.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    time.sleep(0.5)  # for redrawing at this width, and colours that fade in
    height = page.driver.execute_script("return document.documentElement.scrollHeight")
    shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {
        "format": "png", "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
    with open(os.path.join(folder, name + ".png"), "wb") as f:
        f.write(base64.b64decode(shot["data"]))
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def pressed(page, *keys):
    ActionChains(page.driver).send_keys(*keys).perform()


def chord(page, modifier, key):
    ActionChains(page.driver).key_down(modifier).send_keys(key).key_up(modifier).perform()


def tab_to(page, element, back=False):
    """Moves the focus to the element by Tab alone. Every stop on the way shows that it has the focus."""
    for _ in range(60):
        if back:
            chord(page, Keys.SHIFT, Keys.TAB)
        else:
            pressed(page, Keys.TAB)
        here = page.driver.switch_to.active_element
        seen = page.driver.execute_script("""
            const e = arguments[0], shown = e.id === 'file' ? document.querySelector('label[for=file]') : e;
            return [getComputedStyle(shown).outlineStyle, e.tagName]""", here)
        assert seen[0] != "none" or seen[1] == "BODY", here.get_attribute("outerHTML")
        if here == element:
            return
    raise AssertionError("Tab does not lead to " + element.get_attribute("outerHTML")[:200])


@contextlib.contextmanager
def phone(page, width=320):
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 640, "deviceScaleFactor": 1, "mobile": True})
    try:
        yield
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextlib.contextmanager
def before_each_page(chrome, script):
    """Runs a script in each page before the page's own."""
    added = chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        yield
    finally:
        chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


@contextlib.contextmanager
def unplugged(chrome, *urls):
    """Blocks connections to these addresses meanwhile."""
    chrome.execute_cdp_cmd("Network.enable", {})
    chrome.execute_cdp_cmd("Network.setBlockedURLs", {"urls": urls})
    try:
        yield
    finally:
        chrome.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})


def sideways(page):
    """Returns the width of the page with all its content."""
    return page.driver.execute_script("return document.documentElement.scrollWidth")


def sent(driver):
    """Returns (URL, body or "") of each request that the browser itself says it sent since the last call."""
    found = []
    for line in driver.get_log("performance"):
        message = json.loads(line["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            request = message["params"]["request"]
            found.append((request["url"], request.get("postData", "")))
    return [(url, body) for url, body in found if not url.startswith(("about:", "data:", "chrome:"))]
