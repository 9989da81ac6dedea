"""The look at the server at /status, and the keys that both pages ask for."""
import subprocess
import time

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from conftest import CLI, PATIENCE, Server
from web_page import BUNDLES, TEXT, Page, axe, bundled, chrome, emulate, expected, page, picture  # noqa: F401


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
