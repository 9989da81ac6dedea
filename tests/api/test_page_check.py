"""The web page's Check: which sentences of a translation would hardly give the text if they were translated back."""
import json
import os
import re

from conftest import ROOT
from web_page import BUNDLES, TEXT, Page, Server, bundled, chrome, page, sent  # noqa: F401

LIMIT = -0.8


def ordinary(source, target, n):
    with open(os.path.join(ROOT, "bench", "card", "ordinary.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    return [text for _, s, t, text in rows if (s, t) == (source, target)][:n]


def means(server, texts, translations, source, target):
    body = {"text": texts, "translation": translations, "source": source, "target": target}
    return [s["score"] / len(s["tokens"]) for s in server.post("/v1/score", body).json()["scores"]]


def check(page):
    page["check"].click()
    page.until(lambda: " checked, " in page["status"].text)
    return page["status"].text


def flagged(page):
    return [i for i, s in enumerate(page.all("#output .s")) if "read back" in (s.get_attribute("title") or "")]


def test_sentences_that_do_not_lead_back_are_marked(page, bundled):
    """Each sentence is scored in both directions; those below the limit are marked, explained, and counted."""
    page.translate("\n".join(ordinary("en", "de", 25)))
    spans = page.all("#output .s")
    texts = page.driver.execute_script("return [...document.querySelectorAll('#output .s')].map((s) => s.entry.source)")
    translations = [s.text for s in spans]
    there = means(bundled, texts, translations, "en", "de")
    back = means(bundled, translations, texts, "de", "en")
    wanted = [i for i, (a, b) in enumerate(zip(there, back)) if (2 * a + b) / 3 < LIMIT]
    assert 0 < len(wanted) < len(spans) // 2
    for _ in range(2):  # a second check says the same
        said = check(page)
        assert flagged(page) == wanted and said == f"{len(spans)} sentences checked, {len(wanted)} doubtful"
    assert all("flagged" in spans[i].get_attribute("class") for i in wanted)
    page.open_sentence(wanted[0])
    assert "Translated back, this would hardly give the text" in page["sentence-flags"].text
    assert "Translated back, this would hardly give the text" in page["legend"].text


def test_a_sentence_that_is_open_says_what_the_check_found(page):
    page.translate("We ran out of milk, so I went to the shop around the corner.")
    page.open_sentence()
    before = page["sentence-flags"].text
    assert check(page) == "1 sentence checked, 1 doubtful"
    assert before in page["sentence-flags"].text and "Translated back" in page["sentence-flags"].text


def test_another_text_ends_a_check(page):
    """Answers that come later say nothing about it."""
    page.translate("\n".join(ordinary("en", "de", 25) * 4))
    sent(page.driver)
    page["check"].click()
    page.paste(TEXT)
    page.done()
    assert sum(url.endswith("/v1/score") for url, _ in sent(page.driver)) < 14  # two for each sixteen sentences
    assert page["status"].text.startswith("Done") and not flagged(page) and not page["error"].is_displayed()
    assert check(page) == "2 sentences checked, none doubtful"


def test_marks_are_not_checked(page):
    """The model wrote the words of a sentence, not its marks."""
    page.choose_languages()
    page.driver.execute_script("location.hash = new URLSearchParams({source: 'en', target: 'de', format: 'markdown', text: 'Two *dogs* play.\\n\\nA man sings.'})")
    page.done()
    assert check(page) == "1 sentence checked, none doubtful, 1 could not be checked"


def test_there_is_no_check_without_the_way_back(page):
    """A pivot is two models, and neither has read the text and written the translation."""
    page.translate("Zwei Hunde spielen im Schnee.", "de", "fr")
    assert not page["check"].is_enabled()
    page.translate(TEXT)
    assert page["check"].is_enabled()
    page["clear"].click()
    page.until(lambda: not page["check"].is_enabled())


def test_a_check_keeps_to_the_limit_of_a_request(chrome):  # noqa: F811
    """Sixteen sentences and their translations were one request, whatever the server's limit."""
    with Server(BUNDLES, "--max-characters", "500") as server:
        page = Page(chrome, server)
        page.translate("\n".join(ordinary("en", "de", 16)))
        said = check(page)
    assert re.match(r"\d+ sentences checked, (\d+|none) doubtful", said)


def test_the_answer_that_leads_back_is_taken(page, chrome, bundled):  # noqa: F811
    """More careful, slower: so it is on the first visit. Without it, the text is translated anew, and the choice is kept for the next one."""
    text, plain, careful = "I forgot my umbrella on the bus this morning.", "heute Morgen vergessen", "heute Morgen im Bus vergessen"
    first = chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
        "source": "try { localStorage.removeItem('dragoman-rerank') } catch { /* about:blank */ }"})
    page = Page(chrome, bundled)
    chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", first)
    page.choose_languages()
    assert page["rerank"].is_selected() and careful in page.translate(text)
    page["rerank"].click()
    page.until(lambda: plain in page.output())
    page = Page(chrome, bundled)
    page.choose_languages()
    assert not page["rerank"].is_selected() and plain in page.translate(text)
    page["rerank"].click()
    page.until(lambda: careful in page.output())


def test_without_the_way_back_nothing_is_chosen(chrome, tmp_path):  # noqa: F811
    """The bundle for the fewest pairs answers. Where it translates one way, each text used to get the server's refusal."""
    os.symlink(os.path.join(ROOT, "tests", "data", "en-de"), tmp_path / "one-way")
    os.symlink(os.path.join(BUNDLES, "en-de-fr"), tmp_path / "en-de-fr")
    with Server(str(tmp_path)) as server:
        page = Page(chrome, server)
        page.choose_languages()
        page["rerank"].click()
        for text in ("Two dogs play in the snow.", "A man is riding a bike."):
            assert page.translate(text) and not page["error"].is_displayed()
        page.choose_languages("de", "fr")
        assert page.translate("Der Hund schläft.") and not page["error"].is_displayed()
    chrome.get_log("browser")  # of the refusal


def test_what_cannot_be_cut_is_not_chosen_from_when_it_is_long(page, chrome):  # noqa: F811
    """A long text on one line is sent without rerank, with which it might exceed the server's deadline."""
    page["rerank"].click()
    for text, careful in (("Two dogs. " * 20, True), ("Two dogs. " * 700, False)):
        sent(chrome)
        page.translate(text)
        asked = [json.loads(body) for url, body in sent(chrome) if url.endswith("/v1/translate")]
        assert [request["rerank"] for request in asked if request["text"].strip() == text.strip()] == [careful]
