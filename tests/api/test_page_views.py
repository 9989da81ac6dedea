"""The web page at /: a sentence looked at closely, its flags, and the models."""
import os
import re

import pytest
import yaml
from selenium.webdriver.common.by import By

from conftest import ROOT
from web_page import TEXT, bundled, chrome, page  # noqa: F401


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
    # The chosen translation has source words, too, and the keyboard focus stays.
    assert page.driver.switch_to.active_element == page["sentence"]
    page.all("#sentence-target button")[1].click()
    page.until(lambda: [w.text for w in page.all("#sentence-source .hit")] == ["dogs"])


def test_the_last_word_that_was_clicked_counts(page):
    """A late answer for the word clicked before changes nothing."""
    page.translate("Two dogs play in the snow.")
    page.open_sentence()
    page.until(lambda: len(page.all("#sentence-target button")) >= 4)
    page.driver.execute_script("""
        const real = window.fetch;
        let asked = 0;
        window.answered = 0;
        window.fetch = async (...a) => {
            const first = String(a[0].url || a[0]).includes('/v1/alternatives') && asked++ === 0;
            if (first) await new Promise((go) => setTimeout(go, 1000));
            return real(...a).finally(() => setTimeout(() => window.answered++, 200));
        };""")
    first, second = page.all("#sentence-target button")[1:3]
    first.click()
    second.click()
    page.until(lambda: page.driver.execute_script("return window.answered") == 2)
    assert page.driver.find_element(By.CSS_SELECTOR, "#alternatives p").text == "From “%s” on:" % second.text


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
    page.unfold("nbest")
    page.until(lambda: len(page.all("#nbest li")) >= 4)
    wanted = page.server.post("/v1/translate", {"text": "Where is the station?", "source": "en", "target": "de", "beam_size": 8, "n_best": 8,
                                                "scores": True}).json()["translations"][0]["n_best"]
    page.until(lambda: [b.text for b in page.all("#nbest li button")] == [w["text"] for w in wanted])
    scores = [float(s.text) for s in page.all("#nbest .score")]
    assert scores == [round(w["score"], 2) for w in wanted] and scores == sorted(scores, reverse=True)
    # One of them is taken.
    page.all("#nbest li button")[1].click()
    assert page.output() == wanted[1]["text"]


def test_other_translations_of_a_document_keep_its_marks(page, tmp_path):
    page.choose_languages()
    page.upload(tmp_path / "notes.md", "Where is the *station*?\n")
    page.done()
    page.open_sentence()
    page.unfold("nbest")
    wanted = page.server.post("/v1/translate", {"text": "Where is the *station*?", "source": "en", "target": "de", "format": "markdown", "beam_size": 8,
                                                "n_best": 8}).json()["translations"][0]["n_best"]
    page.until(lambda: [b.text for b in page.all("#nbest li button")] == [w["text"] for w in wanted])
    assert page.all("#nbest li button")[0].text == page.output().strip()


# A sentence of a format, one with a line break, one with marks: their source words and what is written around the sentence.
CUE = "1\n00:00:01,000 --> 00:00:02,000\n%s\n"
WRAPPED = [("film.srt", CUE, "Two dogs\nplay in the snow.", "Hunde", "dogs"), ("film.srt", CUE, "Two <i>black</i> dogs\nplay in the snow.", "Hunde", "dogs"),
           ("notes.md", "%s\n", "Two dogs\nplay in the snow.", "Hunde", "dogs"), ("notes.md", "%s\n", "Two *black* dogs play.", "*schwarze*", "*black*"),
           ("page.html", "<p>%s</p>", "Two <b>black</b> dogs play.", "Hunde", "dogs")]


@pytest.mark.parametrize("name, around, text, word, origin", WRAPPED)
def test_marks_and_line_breaks_stay_in_a_sentence(page, tmp_path, name, around, text, word, origin):
    """Alternatives and attention would take them for words: other translations alone are offered, asked for in the sentence's format."""
    page.choose_languages()
    page.upload(tmp_path / name, around % text)
    page.done()
    own = page.all("#output .s")[0].get_property("textContent")
    assert page.output() == around % own
    page.open_sentence()
    words = page.all("#sentence-target button")
    next(w for w in words if w.text == word).click()
    page.until(lambda: [w.text for w in page.all("#sentence-source .hit")] == [origin])
    assert "marks or line breaks" in page["sentence-hint"].text and not page["alternatives"].text
    assert not page["attention"].is_displayed() and not page["error"].is_displayed()
    page.unfold("nbest")
    kind = {"srt": "srt", "md": "markdown", "html": "html"}[name.split(".")[1]]
    answer = page.server.post("/v1/translate", {"text": around % text, "source": "en", "target": "de", "format": kind, "beam_size": 8, "n_best": 8}).json()
    wanted = [b["text"] for b in answer["translations"][0]["n_best"]]
    said = lambda: page.driver.execute_script("return [...document.querySelectorAll('#nbest li button')].map((b) => b.textContent)")
    page.until(lambda: [around % b for b in said()] == wanted)
    page.all("#nbest li button")[1].click()
    assert page.output() == wanted[1] and not page["error"].is_displayed()


def test_a_plain_sentence_of_a_document_has_alternatives(page, tmp_path):
    page.choose_languages()
    page.upload(tmp_path / "film.srt", CUE % "Two dogs play in the snow.")
    page.done()
    page.open_sentence()
    page.choose_word()
    page.until(lambda: len(page.all("#alternatives button")) >= 3)
    page.until(lambda: [w.text for w in page.all("#sentence-source .hit")] == ["dogs"])
    assert page["attention"].is_displayed()
    other = page.all("#alternatives button")[1].text
    page.all("#alternatives button")[1].click()
    assert page.output() == CUE % other


@pytest.mark.parametrize("target, why", [("fr", "goes through English"), ("de", "nothing was translated")])
def test_what_no_single_model_translates_has_no_alternatives(page, target, why):
    page.translate("Zwei Hunde spielen im Schnee.", "de", target)
    page.open_sentence()
    page.choose_word()
    assert why in page["sentence-hint"].text and not page["attention"].is_displayed()
    if target == "fr":
        page.until(lambda: [w.text for w in page.all("#sentence-source .hit")] == ["Hunde"])
        page.unfold("nbest")
        page.until(lambda: len(page.all("#nbest li button")) >= 2)
    assert not page["alternatives"].text and not page["error"].is_displayed()


def test_what_is_taken_is_doubted_by_itself(page, bundled):
    """Each translation has its own flags from the server, not those of the one before."""
    text = "She was born on 3 March 1987 and has 4 children."
    ask = {"text": text, "source": "en", "target": "de"}
    flags = lambda **more: bundled.post("/v1/translate", {**ask, **more}).json()["translations"][0]
    best = flags(beam_size=8, n_best=8)["n_best"]
    of = [flags(target_prefix=b["text"])["sentences"][0]["flags"] for b in best]
    doubted = next(i for i, f in enumerate(of) if f == ["number_mismatch"])
    assert of[0] == []
    page.translate(text)
    page.open_sentence()
    for i in (doubted, 0):
        page.driver.execute_script("document.getElementById('nbest').open = false")
        page.driver.execute_script("setTimeout(() => document.getElementById('nbest').open = true, 50)")
        # One query each time, because the list is filled anew when it opens.
        shown = lambda: [b.is_displayed() for b in page.all("#nbest li button")]
        page.until(lambda: shown() == [True] * len(best))
        page.all("#nbest li button")[i].click()
        page.until(lambda: page["legend"].is_displayed() == bool(of[i]) and len(page.all("#output .flagged")) == bool(of[i])
                   and ("number" in page["sentence-flags"].text) == bool(of[i]))
        assert page.output() == best[i]["text"]


def test_doubtful_sentences_are_explained(page):
    page.translate("Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.", "en", "de")
    page.until(lambda: page["legend"].is_displayed())
    assert len(page.all("#output .flagged")) == 1
    assert "language" in page["legend"].text or "low probability" in page["legend"].text
    page.all("#legend button")[0].click()
    assert page["sentence-flags"].text


def test_doubtful_sentences_that_are_not_listed_are_counted(page):
    page.translate("\n".join(["Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich."] * 23), "en", "de")
    listed = [li.text for li in page.all("#legend li")]
    assert len(page.all("#output .flagged")) == 23 and len(listed) == 21 and listed[-1] == "3 more sentences are underlined."


def test_every_flag_is_explained(bundled):
    with open(os.path.join(ROOT, "openapi.yaml"), encoding="utf-8") as f:
        schemas = yaml.safe_load(f)["components"]["schemas"]
    flags = schemas["Sentence"]["properties"]["flags"]["items"]["enum"]
    explained = re.findall(r"^  (\w+): '(.*)',$", bundled.get("/web/flags.js").text, re.M)
    assert {name for name, _ in explained} == {*flags, "read_back"}  # which the page finds itself
    assert all(text.endswith(".") for _, text in explained)


def test_models_have_their_cards(page, bundled):
    page["show-models"].click()
    models = bundled.get("/v1/models").json()["models"]
    assert len(page.all("#models .pairs li")) == len(models)
    assert [p.text for p in page.all("#models .pairs li")][:2] == ["English → German", "German → English"]
    card = bundled.get("/v1/models/%s/card" % models[0]["version"]).json()
    page.unfold("models")
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
    # A long card scrolls in a box of its own: what follows it stays in reach.
    height, whole, shown = page.driver.execute_script("const c = document.querySelector('#models .card-text'); return [c.clientHeight, c.scrollHeight, innerHeight]")
    assert height < shown < whole


def test_a_card_runs_nothing(page):
    """Everything in a card is shown as text, and its links lead only to web pages."""
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
