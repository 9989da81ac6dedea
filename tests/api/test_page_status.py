"""The server's status page at /status, and the keys that both pages ask for."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest

from conftest import EN_DE, ROOT, SERVER, Server
from test_keys import new_key
from web_page import BUNDLES, TEXT, Keys, Page, axe, bundled, chrome, emulate, page, phone, picture, pressed, sideways  # noqa: F401


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_server_is_looked_at(page, bundled, scheme):
    page.open("status")
    emulate(page, prefers_color_scheme=scheme)
    page.until(lambda: len(page.all("svg.chart")) == 6)
    for _ in range(3):
        assert bundled.translate(TEXT).status_code == 200
    page.until(lambda: any(r.text.startswith("ok") and not r.text.endswith(" 0") for r in page.all("#ends tbody tr")))
    page.until(lambda: "p50 –" not in page.all("figcaption")[2].text)
    assert "Ready" in page["summary"].text
    page.until(lambda: {r.text.split()[0]: int(r.text.split()[1].replace(",", "")) for r in page.all("#use tbody tr")}["en-de"] >= 6)
    assert axe(page) == "[]"
    cut = page.driver.execute_script("""return [...document.querySelectorAll('svg.chart')].flatMap((svg) => [...svg.querySelectorAll('text')].filter((t) => {
        const [a, b] = [t.getBoundingClientRect(), svg.getBoundingClientRect()];
        return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
    }).map((t) => t.textContent))""")
    # Read in one script, because the page redraws its charts each second.
    words = page.driver.execute_script("return [...document.querySelectorAll('svg.chart text')].map((t) => t.textContent)")
    assert cut == [] and words[1:3] == ["5 minutes ago", "now"]
    with phone(page):
        assert sideways(page) <= 320


LOAD = os.path.join(os.path.dirname(SERVER), "dragoman-load")
PHASES = ("15:50", "60:60", "25:40", "110:50", "40:90")  # requests a second:seconds


@pytest.mark.skipif(not os.environ.get("DRAGOMAN_SCREENSHOTS"), reason="five minutes of load, for the pictures alone: DRAGOMAN_SCREENSHOTS=docs/pictures")
def test_a_busy_server_is_pictured(page, bundled, tmp_path):
    """Three language pairs, texts short and long, five minutes of load."""
    items, learnt = tmp_path / "items", tmp_path / "learnt"
    with open(items, "w", encoding="utf-8") as f:
        for n in range(400):
            text = " ".join("The %d dogs play in the snow near the old station." % (10 * n + k) for k in range(1 + n % 7 // 3 * n % 9))
            source, target = (("en", "de"), ("en", "de"), ("en", "fr"), ("en", "de"), ("de", "fr"))[n % 5]
            f.write(json.dumps({"class": "long" if len(text) > 200 else "short", "body": {"text": text, "source": source, "target": target}}) + "\n")
    load = lambda verb, *more: subprocess.run([LOAD, verb, "--port", str(bundled.port), *more], check=True, capture_output=True)
    load("learn", "--items", str(items), "--out", str(learnt))
    page.open("status")
    load("run", "--items", str(learnt), "--share", "short=4", *(word for phase in PHASES for word in ("--phase", phase)))
    for scheme in ("light", "dark"):
        emulate(page, prefers_color_scheme=scheme)
        picture(page, "status-" + scheme)


def test_the_latency_is_of_all_routes_that_translate(bundled):
    with open(os.path.join(ROOT, "server", "api", "routes.c"), encoding="utf-8") as f:
        routes = {path for path, _ in re.findall(r'\{"[A-Z]+", "([^"]+)", \.endpoint = &(dg_\w*_translate)\b', f.read())}
    assert {"/v1/translate", "/translate", "/v2/translate", "/language/translate/v2"} <= routes
    counted = re.search(r"const TRANSLATING = \[(.*)\];", bundled.get("/web/status.js").text).group(1)
    assert set(re.findall(r"'([^']+)'", counted)) == routes


LENGTHS = [(0, "0 seconds"), (59.9, "59 seconds"), (61, "1 minute"), (3599, "59 minutes"), (3600, "1 hour 0 minutes"), (86400 + 7300, "1 day 2 hours")]


def test_a_page_says_how_long_the_server_is_up(chrome, bundled):
    page = Page(chrome, bundled, "status", languages=0)
    page.until(lambda: re.search(r"up for (\d+ seconds?|1 minute|\d+ minutes);", page["summary"].text))
    said = chrome.execute_async_script("const [given, done] = arguments; import('/web/status.js').then((m) => done(given.map(m.duration)))", [s for s, _ in LENGTHS])
    assert said == [words for _, words in LENGTHS]


def cells(page, table):
    """Returns the texts of a table's cells, read at one moment, because the page rewrites them each second."""
    return page.driver.execute_script("""return [...document.querySelectorAll(arguments[0])].map((row) =>
        [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim()))""", "#%s tbody tr" % table)


def test_use_by_model_is_of_the_last_minutes(chrome, models, tmp_path):
    """Two models, one of them asked: its sentences are counted, those before the page was opened too, and those of the cache are not."""
    shutil.copytree(EN_DE, tmp_path / "en-de")
    shutil.copytree(os.path.join(models, "de-fr"), tmp_path / "de-fr")
    with Server(str(tmp_path), "--cache-bytes", "10000000") as server:
        waited = lambda: sum(float(v) for v in re.findall(r'^dragoman_queue_wait_seconds_count\{model="en-de-small".*\} (\d+)$',
                                                          server.get("/metrics").text, re.M))
        server.translate("This sentence is older than the page.")
        before = waited()
        assert before > 0
        page = Page(chrome, server, "status", languages=0)
        page.until(lambda: len(cells(page, "models")) == 2)
        assert [row[:2] for row in sorted(cells(page, "models"))] == [["de-fr", "0"], ["en-de-small", "%d" % before]]
        assert [row[2] for row in cells(page, "ends") if row[0] == "ok"] == ["1"]
        for n in range(7):
            assert server.post("/translate", {"q": "A man sees %d dogs." % n, "source": "en", "target": "de"}).status_code == 200
        translated = waited() - before  # some twice: doubtful ones get a second round
        assert 7 <= translated <= 14
        server.translate("A man sees 0 dogs.")  # from the cache
        page.until(lambda: dict(row[:2] for row in cells(page, "models"))["en-de-small"] == "%d" % (before + translated))
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
    key = new_key(keys)
    with Server(BUNDLES, "--keys", keys) as server:
        page = Page(chrome, server, languages=0)
        page.until(lambda: page["key-form"].is_displayed())
        assert axe(page) == "[]"
        with phone(page):
            assert sideways(page) <= 320
        page["key"].send_keys(key + Keys.ENTER)
        page.until(lambda: page.all("#target option"))
        chrome.execute_script("sessionStorage.clear()")
    chrome.get_log("browser")  # drops the messages about the refused requests


def test_the_look_at_the_server_asks_for_an_admin_key(chrome, tmp_path):
    keys = str(tmp_path / "keys.db")
    plain, admin = new_key(keys), new_key(keys, "--scope", "admin")
    with Server(BUNDLES, "--keys", keys) as server:
        page = Page(chrome, server, "status", languages=0)
        page.until(lambda: page["key-form"].is_displayed())
        assert "API key is needed" in page["error"].text and not page.all("svg.chart")
        assert axe(page) == "[]"
        # The form has the focus: a person types, and needs no mouse.
        pressed(page, plain + Keys.ENTER)
        page.until(lambda: "lacks the scope admin" in page["error"].text)
        pressed(page, admin + Keys.ENTER)
        page.until(lambda: len(page.all("svg.chart")) == 6)
        assert not page["key-form"].is_displayed() and page["error"].text == ""
        # Kept only in this tab, and apart from the key that the translation page sends.
        assert chrome.execute_script("return [sessionStorage.getItem('dragoman-admin-key'), sessionStorage.getItem('dragoman-key'),"
                                     " localStorage.length]") == [admin, None, 0]
        chrome.refresh()
        page.until(lambda: len(page.all("svg.chart")) == 6)
        chrome.execute_script("sessionStorage.clear()")
    chrome.get_log("browser")  # drops the messages about the refused requests


def test_the_server_keeps_the_last_minutes(bundled):
    """The server takes a sample of what the page draws every ten seconds, without the values that are 0. The other tests are part of the wait."""
    assert "earlier" not in bundled.get("/v1/status").json() and "earlier" not in bundled.get("/v1/status?earlier=false").json()
    refused = bundled.get("/v1/status?earlier=perhaps")
    assert refused.status_code == 400 and refused.json()["error"]["field"] == "earlier"
    assert bundled.translate(TEXT).status_code == 200
    ask = lambda: bundled.get("/v1/status?earlier=true").json()
    bundled.until(lambda: len(ask()["earlier"]) >= 2 and ask()["earlier"][-1]["samples"].get("dragoman_target_tokens_total"))
    now = ask()
    times = [s["at_ms"] / 1000 for s in now["earlier"]] + [now["at_ms"] / 1000]
    assert times == sorted(times) and all(9 < b - a < 20 for a, b in zip(times, times[1:-1]))
    begun = now["samples"]["process_start_time_seconds"]
    exact = re.search(r"^process_start_time_seconds (.*)$", bundled.get("/metrics").text, re.M).group(1)
    assert abs(begun - float(exact)) <= 0.5  # nine significant digits would be steps of ten seconds
    assert -1 <= times[0] - begun < 10 and abs(times[-1] - time.time()) < 5
    first, last = now["earlier"][0]["samples"], now["earlier"][-1]["samples"]
    assert first["process_start_time_seconds"] == begun and "dragoman_target_tokens_total" not in first
    assert set(last) < set(now["samples"])
    counted = {key: v for key, v in last.items() if key.endswith("_total") or "_total{" in key or "_count" in key}
    assert counted and all(0 < v <= now["samples"][key] for key, v in counted.items())
