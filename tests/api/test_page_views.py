"""The web page at /: a sentence looked at closely, models, and how people read and reach all of it."""
import os
import re

import pytest
import yaml
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from conftest import ROOT
from web_page import BUNDLES, TEXT, Page, axe, bundled, chrome, emulate, expected, page, picture  # noqa: F401


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
    # What was chosen has its sources, too, and the keyboard is still there.
    assert page.driver.switch_to.active_element == page["sentence"]
    page.all("#sentence-target button")[1].click()
    page.until(lambda: [w.text for w in page.all("#sentence-source .hit")] == ["dogs"])


def test_a_word_of_the_translation_is_clicked(page):
    page.translate(TEXT)
    x, y = page.driver.execute_script("""
        const text = document.querySelector('#output .s').firstChild, range = document.createRange();
        range.setStart(text, text.data.indexOf('Hunde') + 1);
        range.setEnd(text, text.data.indexOf('Hunde') + 2);
        const box = range.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];""")
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mousePressed", "x": x, "y": y, "button": "left", "clickCount": 1})
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1})
    page.until(lambda: [w.text for w in page.all("#sentence-target [aria-pressed=true]")] == ["Hunde"])
    page.until(lambda: [w.text for w in page.all("#sentence-source .hit")] == ["dogs"])
    page.until(lambda: len(page.all("#alternatives button")) >= 3)


def test_other_translations_have_scores(page):
    page.translate("Where is the station?")
    page.open_sentence()
    page.driver.find_element(By.CSS_SELECTOR, "#nbest summary").click()
    page.until(lambda: len(page.all("#nbest li")) >= 4)
    scores = [float(s.text) for s in page.all("#nbest .score")]
    assert scores == sorted(scores, reverse=True)


@pytest.fixture
def attention(page):
    page.translate("The bicycle is in the snow.")
    page.open_sentence()
    page.driver.find_element(By.CSS_SELECTOR, "#attention summary").click()
    page.until(lambda: page.all("#att-picture line"))
    return page


def weights(page, kind):
    """The server's own, a head of the last layer after another."""
    entry = page.server.post("/v1/attention", {"text": "The bicycle is in the snow.", "translation": page.output(), "source": "en", "target": "de",
                                               "kind": kind}).json()
    return entry, entry["layers"][-1]["heads"]


CELLS = "return [...document.querySelectorAll('#att-picture .cell')].map((c) => Number(c.getAttribute('fill-opacity')))"


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_attention_is_drawn(attention, kind):
    page = attention
    entry, heads = weights(page, kind)
    page.choose("att-kind", kind)
    page.until(lambda: len(page.all("#att-layer option")) == len(entry["layers"]) and len(page.all("#att-head option")) == len(heads) + 2)
    page.choose("att-layer", str(len(entry["layers"]) - 1))
    assert "→" in page["att-picture"].get_attribute("aria-label")
    page.choose("att-view", "map")
    page.choose("att-head", "1")
    assert page.driver.execute_script(CELLS) == pytest.approx([w for row in heads[1] for w in row], abs=0.0006)
    page.choose("att-head", "mean")
    mean = [sum(h[r][c] for h in heads) / len(heads) for r in range(len(heads[0])) for c in range(len(heads[0][0]))]
    assert page.driver.execute_script(CELLS) == pytest.approx(mean, abs=0.0006)
    assert page["att-note"].text.startswith("Rows")


def test_tokens_are_added_up_to_words(attention):
    """A column's word has its tokens' weights together, a row's the mean of its tokens."""
    page = attention
    entry, heads = weights(page, "cross")
    page.choose("att-view", "map")
    page.choose("att-head", "0")
    assert len(page.driver.execute_script(CELLS)) == len(entry["target_tokens"]) * len(entry["source_tokens"])
    page.choose("att-unit", "words")
    begins = lambda tokens: [i for i, t in enumerate(tokens) if i == 0 or t.startswith("▁") or t == "</s>" or tokens[i - 1].startswith("<")] + [len(tokens)]
    rows, columns = begins(entry["target_tokens"]), begins(entry["source_tokens"])
    assert len(columns) - 1 < len(entry["source_tokens"]) or len(rows) - 1 < len(entry["target_tokens"])
    wanted = [sum(heads[0][i][j] for i in range(a, b) for j in range(c, d)) / (b - a)
              for a, b in zip(rows, rows[1:]) for c, d in zip(columns, columns[1:])]
    assert page.driver.execute_script(CELLS) == pytest.approx(wanted, abs=0.0006)
    labels = [t.text for t in page.all("#att-picture text")]
    assert "snow." in labels and not any("␣" in label for label in labels)
    page.choose("att-unit", "tokens")
    assert any(t.text.startswith("␣") for t in page.all("#att-picture text"))


def test_heads_are_labelled(attention):
    page = attention
    entry, heads = weights(page, "encoder")
    page.choose("att-kind", "encoder")
    page.until(lambda: len(page.all("#att-layer option")) == len(entry["layers"]))
    page.choose("att-layer", str(len(entry["layers"]) - 1))
    page.choose("att-head", "all")
    page.until(lambda: len(page.all("#att-picture .heads li")) == len(heads))
    labels = [li.text for li in page.all("#att-picture .heads li")]
    assert [label.split(":")[0] for label in labels] == ["Head %d" % (i + 1) for i in range(len(heads))]
    # A label that names a place names the one that most weight goes to, and how much.
    places = {"the first token": lambda r, n: 0, "the end": lambda r, n: n - 1, "the token before": lambda r, n: r - 1,
              "the token itself": lambda r, n: r, "the next token": lambda r, n: r + 1}
    for label, head in zip(labels, heads):
        n = len(head)
        share = {name: [head[r][at(r, n)] for r in range(n) if 0 <= at(r, n) < n] for name, at in places.items()}
        share = {name: sum(found) / len(found) for name, found in share.items()}
        best = max(share, key=share.get)
        if share[best] >= 0.4:
            assert label.endswith(": %s, %.0f %%" % (best, 100 * share[best]))
        else:
            assert label.endswith(("one token each", "several tokens"))
    colours = page.driver.execute_script("return [...new Set([...document.querySelectorAll('#att-picture line')].map((l) => getComputedStyle(l).stroke))]")
    assert len(colours) == min(len(heads), 8)
    page.choose("att-view", "map")
    assert [c.text for c in page.all("#att-picture figcaption")] == labels


def test_doubtful_sentences_are_explained(page):
    page.translate("Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.", "en", "de")
    page.until(lambda: page["legend"].is_displayed())
    assert len(page.all("#output .flagged")) == 1
    assert "language" in page["legend"].text or "improbable" in page["legend"].text
    page.all("#legend button")[0].click()
    assert page["sentence-flags"].text


def test_every_flag_is_explained(bundled):
    with open(os.path.join(ROOT, "openapi.yaml"), encoding="utf-8") as f:
        schemas = yaml.safe_load(f)["components"]["schemas"]
    flags = schemas["Sentence"]["properties"]["flags"]["items"]["enum"]
    explained = re.findall(r"^  (\w+): '(.*)',$", bundled.get("/web/flags.js").text, re.M)
    assert {name for name, _ in explained} == set(flags)
    assert all(text.endswith(".") for _, text in explained)


def test_models_have_their_cards(page, bundled):
    page["show-models"].click()
    models = bundled.get("/v1/models").json()["models"]
    assert len(page.all("#models .pairs li")) == len(models)
    assert [p.text for p in page.all("#models .pairs li")][:2] == ["English → German", "German → English"]
    card = bundled.get("/v1/models/%s/card" % models[0]["version"]).json()
    page.driver.find_element(By.CSS_SELECTOR, "#models summary").click()
    page.until(lambda: page.all("#models .card-text table"))
    facts = dict(zip([t.text for t in page.all("#models dt")], [d.text for d in page.all("#models dd")]))
    assert facts["Licence"] == card["licence"] and facts["Version"] == card["version"]
    assert facts["Origin"].startswith("trained with " + card["origin"]["program"])
    assert facts["Size"].startswith("%.3g MB, " % (card["bytes"] / 1e6))
    # The card's own text: a heading, a table's cell and a code block, no mark of Markdown left.
    text = page.driver.find_element(By.CSS_SELECTOR, "#models .card-text").text
    assert "What it cannot do" in text and "Wo ist die nächste Apotheke?" in text and "dragoman-train run" in text
    assert not re.search(r"^#|\*\*|\|---|\]\(", text, re.M)
    assert not page.all("#models .card-text img")


def test_a_card_runs_nothing(page):
    """Whatever a card holds is text, and its links lead to the web alone."""
    shown = page.driver.execute_async_script(r"""
        const done = arguments[0];
        import('/web/markdown.js').then(({markdown}) => {
          const box = document.createElement('div');
          box.append(...markdown(`# <img src=x onerror=alert(1)>\n\n[a](javascript:alert(1)) [b](https://example.org/x) ![c](http://example.org/y.png)
- one\n- **two** \`**three**\`\n  goes on\n\n1. first\n2. second\n\n| h | \`k|l\` |\n|---|---|\n| x | y \\| z |\n\n~~~\n<script>\n~~~`));
          done([box.querySelectorAll('img, script').length, [...box.querySelectorAll('a')].map((a) => a.href), box.querySelector('h4').textContent,
                [...box.querySelectorAll('li')].map((l) => l.innerHTML), [...box.querySelectorAll('td')].map((c) => c.textContent),
                box.querySelector('pre').textContent]);
        }, (e) => done(String(e)));""")
    assert shown == [0, ["https://example.org/x"], "<img src=x onerror=alert(1)>",
                     ["one", "<strong>two</strong> <code>**three**</code> goes on", "first", "second"], ["y | z"], "<script>"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_found_by_axe(page, scheme):
    emulate(page, prefers_color_scheme=scheme)
    page.translate(TEXT)
    assert axe(page) == "[]"
    page["show-models"].click()
    page.driver.find_element(By.CSS_SELECTOR, "#models summary").click()
    page.until(lambda: page.all("#models .card-text table"))
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
    page["show-history"].click()
    picture(page, "page-" + scheme)


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
