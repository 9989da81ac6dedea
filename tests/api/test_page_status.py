"""The look at the server at /status, and the keys that both pages ask for."""
import concurrent.futures
import itertools
import math
import os
import re
import shutil
import subprocess
import time

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from conftest import CLI, EN_DE, PATIENCE, ROOT, Server
from web_page import BUNDLES, TEXT, Page, axe, bundled, chrome, emulate, page, phone, picture, sideways  # noqa: F401


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
    with phone(page):
        assert sideways(page) <= 320
    if os.environ.get("DRAGOMAN_SCREENSHOTS"):
        work(bundled, 60)
        picture(page, "status-" + scheme)


def work(server, seconds):
    """What a server has to do in a busy minute: three pairs, texts short and long, all of them new, more at one time than at another."""
    end = time.monotonic() + seconds
    n = itertools.count()

    def client(k):
        while time.monotonic() < end:
            for _ in range(1 + k + next(n) % 5):
                target = ("de", "de", "fr")[next(n) % 3]
                server.post("/v1/translate", {"text": "The %d dogs play in the snow near the old station. " % next(n) * (1 + next(n) % 8), "source": "en", "target": target})
            time.sleep(0.3 + 0.7 * abs(math.sin(time.monotonic() / 9)))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(client, range(3)))


def test_the_latency_is_of_all_routes_that_translate(bundled):
    with open(os.path.join(ROOT, "server", "api", "routes.c"), encoding="utf-8") as f:
        routes = {path for path, _ in re.findall(r'\{"[A-Z]+", "([^"]+)", NULL, &(dg_\w*_translate)\b', f.read())}
    assert {"/v1/translate", "/translate", "/v2/translate", "/language/translate/v2"} <= routes
    counted = re.search(r"const TRANSLATING = \[(.*)\];", bundled.get("/web/status.js").text).group(1)
    assert set(re.findall(r"'([^']+)'", counted)) == routes


def cells(page, table):
    return [[c.text for c in row.find_elements(By.TAG_NAME, "td")] for row in page.all("#%s tbody tr" % table)]


def test_use_by_model_is_of_the_last_minutes(chrome, models, tmp_path):
    """Two models, one of them asked: its sentences are counted from when the page was opened, and those of the cache are not."""
    shutil.copytree(EN_DE, tmp_path / "en-de")
    shutil.copytree(os.path.join(models, "de-fr"), tmp_path / "de-fr")
    with Server(str(tmp_path), "--cache-bytes", "10000000") as server:
        server.translate("This sentence is older than the page.")
        chrome.get(server.url("/status"))
        page = Page.__new__(Page)
        page.driver, page.server = chrome, server
        page.until(lambda: len(cells(page, "models")) == 2)
        assert [row[:2] for row in sorted(cells(page, "models"))] == [["de-fr", "0"], ["en-de-small", "0"]]
        waited = lambda: sum(float(v) for v in re.findall(r'^dragoman_queue_wait_seconds_count\{model="en-de-small".*\} (\d+)$',
                                                          server.get("/metrics").text, re.M))
        before = waited()
        for n in range(7):
            assert server.post("/translate", {"q": "A man sees %d dogs." % n, "source": "en", "target": "de"}).status_code == 200
        translated = waited() - before  # some of them twice, for their doubts
        assert before > 0 and 7 <= translated <= 14
        server.translate("A man sees 0 dogs.")  # from the cache
        page.until(lambda: dict(row[:2] for row in cells(page, "models"))["en-de-small"] == "%d" % translated)
        assert waited() == before + translated
        idle, busy = sorted(cells(page, "models"))
        name, _, a_minute, share, waits, waiting = busy
        assert idle == ["de-fr", "0", "0", "0 %", "–, –", "0"]
        assert name == "en-de-small" and float(a_minute.replace(",", "")) > 7 and 0 < float(share.split()[0]) < 100 and waiting == "0"
        median, most = (float(w.replace(",", "")) for w in waits.split(", "))
        assert 0 < median <= most
        page.until(lambda: "p50 –" not in page.all("figcaption")[2].text)  # every translating route counts for the latency
    chrome.get("about:blank")


def test_a_key_is_asked_for(chrome, tmp_path):
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
        asked = Page.__new__(Page)
        asked.driver = chrome
        assert axe(asked) == "[]"
        with phone(asked):
            assert sideways(asked) <= 320
        chrome.find_element(By.ID, "key").send_keys(key + Keys.ENTER)
        while not chrome.find_elements(By.CSS_SELECTOR, "#target option"):
            assert time.monotonic() < end
            time.sleep(0.05)
        chrome.execute_script("sessionStorage.clear()")
    chrome.get_log("browser")  # the refused requests


def test_the_look_at_the_server_asks_for_an_admin_key(chrome, tmp_path):
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
        asked = Page.__new__(Page)
        asked.driver = chrome
        assert axe(asked) == "[]"
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
