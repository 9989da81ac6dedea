"""The web page in the languages that it has: English, German and French, as the browser asks."""
import os
import re

import pytest

from conftest import ROOT, Server
from web_page import BUNDLES, TEXT, Page, axe, bundled, chrome, forget, phone  # noqa: F401


def catalog(language):
    with open(os.path.join(ROOT, "server", "api", "web", language + ".js"), encoding="utf-8") as f:
        return dict(re.findall(r"^  '((?:[^'\\]|\\.)*)':\s+'((?:[^'\\]|\\.)*)',$", f.read(), re.M))


@pytest.fixture
def opened(chrome, bundled):  # noqa: F811
    """Opens the page in a browser whose languages are these."""
    agent = chrome.execute_script("return navigator.userAgent")

    def open_in(languages, server=bundled):
        forget(chrome, server)
        chrome.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": languages})
        return Page(chrome, server)
    yield open_in
    chrome.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": "en"})


def texts(page):
    """Returns all texts and the attributes that people read or hear, but not a model card's, which the server has in English."""
    return page.driver.execute_script("""
        const list = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) if (!walk.currentNode.parentElement.closest('noscript, .card-text')) list.push(walk.currentNode.data.trim());
        for (const name of ['aria-label', 'title', 'placeholder', 'data-empty'])
          for (const e of document.querySelectorAll(`[${name}]`)) list.push(e.getAttribute(name));
        return list.filter(Boolean);""")


def open_all(page):
    """Opens all parts of the page, and waits for what they say."""
    page.choose_languages()
    page.paste(TEXT)
    page.until(lambda: page["copy"].is_enabled())
    page.open_sentence(1)
    for details in ("nbest", "attention"):
        page.unfold(details)
    page.until(lambda: page.all("#nbest li button") and page.all("#att-picture svg"))
    for button in ("show-models", "show-history"):
        page[button].click()
    page.unfold("models")
    page.until(lambda: page.all("#models dl"))
    page["check"].click()


@pytest.mark.parametrize("language", ["de", "fr"])
def test_the_whole_page_is_in_the_language(opened, language):
    page, words = opened(f"{language}-CH,{language},en"), catalog(language)
    assert page.driver.execute_script("return document.documentElement.lang") == language
    open_all(page)
    page.until(lambda: words["{0} doubtful"].format(words["none"]) in page["status"].text)
    left = {text for text, translation in words.items() if text != translation and "{" not in text} & set(texts(page))
    assert not left
    assert page["translate"].text == words["Translate"] and [o.text for o in page.all("#source option")][0] == words["Detect language"]
    assert {"de": "Englisch", "fr": "anglais"}[language] in [o.text for o in page.all("#source option")]
    assert {"de": "10.957.440 Parameter", "fr": "10\u202f957\u202f440 paramètres"}[language] in page["models"].text
    assert axe(page) == "[]"
    with phone(page):
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= 320


def test_the_first_language_that_the_page_has_is_taken(opened):
    for languages, wanted in (("ja", "en"), ("es-ES,fr-FR,de", "fr"), ("en-GB,de", "en")):
        assert opened(languages).driver.execute_script("return document.documentElement.lang") == wanted


def test_numbers_take_their_form(opened):
    """In French, nothing is in the singular."""
    page = opened("fr")
    page.choose("source", "en")
    for text, wanted in (("A", "1 caractère"), ("Ab", "2 caractères")):
        page.paste(text)
        assert page["count"].text == wanted
    page = opened("de")
    page.choose_languages()
    page.paste("A man sings.")
    page.until(lambda: page["copy"].is_enabled())
    page["check"].click()
    page.until(lambda: page["status"].text == "1 Satz geprüft, keiner zweifelhaft")


def test_what_people_write_stays(opened):
    """A text of one of the page's own words, in the history, is the person's."""
    page = opened("de")
    page["show-history"].click()
    page["history-keep"].click()
    page.choose_languages()
    page.paste("Languages")
    page.until(lambda: page["copy"].is_enabled())
    page.driver.refresh()
    page.until(lambda: page.all("#history-list li"))
    assert page.driver.execute_script("return document.querySelector('#history-list bdi').textContent") == "Languages"
    assert page["input"].get_property("value") == "Languages"


@pytest.mark.parametrize("languages, meaning", [("de", "Das ist zu viel für den Server. ({})"), ("fr", "C’est trop pour le serveur. ({})"), ("en", "{}")])
def test_what_an_error_means_is_in_the_language(opened, chrome, languages, meaning):  # noqa: F811
    """All that a German or French reader was told was the server's English sentence."""
    with Server(BUNDLES, "--max-characters", "400") as server:
        page = opened(languages, server)
        page.choose_languages()
        page.paste("A dog. " * 60)
        page.until(lambda: page["error"].is_displayed())
        assert page["error"].text == meaning.format("the request has 420 characters, the limit is 400")
    chrome.get_log("browser")  # of the refusal
