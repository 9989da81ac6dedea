"""What leaves the browser: the text to this server when it is translated, and nothing else. By the browser's own list of requests."""
import json

from web_page import TEXT, Keys, Page, bundled, chrome, expected, page, sent  # noqa: F401

SECRET = "Two dogs play in the snow near the blue house."


def paths(requests, server):
    assert all(url.startswith(server.url("/")) for url, _ in requests), requests
    return [url[len(server.url("")):] for url, _ in requests]


def test_the_history_never_leaves_the_browser(page, chrome, bundled):
    page["show-history"].click()
    page["history-keep"].click()
    page.translate(SECRET)
    page.until(lambda: len(page.all("#history-list li")) == 1)
    page["clear"].click()
    page.translate(TEXT)
    page.until(lambda: len(page.all("#history-list li")) == 2)
    # The history is only in localStorage.
    entries = chrome.execute_script("return JSON.parse(localStorage.getItem('dragoman-history'))")
    assert [e["text"] for e in entries] == [TEXT, SECRET]
    elsewhere = chrome.execute_async_script("""
        const done = arguments[0];
        Promise.all([indexedDB.databases(), caches.keys(), navigator.serviceWorker.getRegistrations()]).then((found) =>
            done([found.map((f) => f.length), document.cookie, sessionStorage.length]));""")
    assert elsewhere == [[0, 0, 0], "", 0]
    # A reopened page shows the history from there: no request has its text.
    sent(chrome)
    page = Page(chrome, bundled)
    page["show-history"].click()
    page.until(lambda: len(page.all("#history-list li")) == 2)
    page["show-history"].click()
    page["show-history"].click()
    page["history-clear"].click()
    assert not page.all("#history-list li")
    requests = sent(chrome)
    assert {"/", "/web/app.js", "/v1/models"} <= set(paths(requests, bundled))
    assert not [r for r in requests if "dogs" in r[0] + r[1]], requests
    assert all(body == "" for _, body in requests)


def test_an_entry_of_the_history_is_opened(page, chrome, bundled):
    """Opening it translates it: one text to this server, as if it were typed."""
    page["show-history"].click()
    page["history-keep"].click()
    page.translate(SECRET)
    page["clear"].click()
    page.until(lambda: page.output() == "")
    sent(chrome)
    page.all("#history-list li button")[0].click()
    page.done()
    assert page.output() == expected(bundled, SECRET)
    requests = sent(chrome)
    assert paths(requests, bundled) == ["/v1/translate"]
    assert json.loads(requests[0][1])["text"] == SECRET


def test_an_entry_of_a_language_that_is_gone_is_opened(page, chrome, bundled):
    """The list of languages was empty then, and the server refused the text."""
    entry = {"source": "xx", "target": "de", "text": TEXT, "format": "text", "work": "1"}
    chrome.execute_script("localStorage.setItem('dragoman-history', arguments[0])", json.dumps([entry]))
    page = Page(chrome, bundled)
    page.choose_languages("en", "fr")
    page["show-history"].click()
    page.all("#history-list li button")[0].click()
    page.done()
    assert page["source"].get_property("value") == "en" and page.output() == expected(bundled, TEXT)


def test_an_entry_that_is_opened_keeps_the_focus(page, chrome):
    """The list was drawn anew when its translation came, and the keyboard began at the top of the page again."""
    page["show-history"].click()
    page["history-keep"].click()
    for text in SECRET, TEXT:
        page["clear"].click()
        page.translate(text)
    page.until(lambda: len(page.all("#history-list li")) == 2)
    chrome.execute_script("document.getElementById('status').textContent = ''")
    page.all("#history-list li:last-child button")[0].send_keys(Keys.ENTER)
    page.done()
    page.until(lambda: kept(page) == [SECRET, TEXT])
    assert chrome.switch_to.active_element == page.all("#history-list button")[0]


def kept(page):
    return [button.text.split(": ", 1)[-1] for button in page.all("#history-list li button:first-child")]


def test_a_text_that_is_changed_is_one_entry(page, chrome, bundled):  # noqa: F811
    """Each pause in typing added an entry, so that one text replaced all others with its fifty."""
    page["show-history"].click()
    page["history-keep"].click()
    for text in "Two dogs plya.", "Two dogs play.", "A man. Two dogs play.":
        page.translate(text)
        page.until(lambda: kept(page) == [text])
    page["clear"].click()
    page.translate("A man.")  # a text that another one begins with is a text of its own
    page.until(lambda: kept(page) == ["A man.", text])
    again = Page(chrome, bundled)
    again.translate("Two dogs.")
    again["show-history"].click()
    assert kept(again) == ["Two dogs.", "A man.", text]
    again.translate("Two dogs.", "en", "fr")
    again.until(lambda: kept(again) == ["Two dogs.", "Two dogs.", "A man.", text])


def test_one_entry_is_deleted(page):
    page["show-history"].click()
    page["history-keep"].click()
    for text in "Two dogs.", "A man.", "A girl.":
        page["clear"].click()
        page.translate(text)
        page.until(lambda: kept(page)[:1] == [text])
    page.all("[aria-label='Delete A man.']")[0].click()
    assert kept(page) == ["A girl.", "Two dogs."]
    assert page.driver.switch_to.active_element.get_attribute("aria-label") == "Delete Two dogs."
    page["show-history"].click()


def test_a_history_that_is_switched_off_in_one_tab_is_off_in_all(page, chrome, bundled):
    """The other tab kept the next text, and wrote the list anew."""
    first = chrome.current_window_handle
    page["show-history"].click()
    page["history-keep"].click()
    page.translate(TEXT)
    page.until(lambda: len(page.all("#history-list li")) == 1)
    chrome.switch_to.new_window("tab")
    try:
        other = Page(chrome, bundled)
        other["show-history"].click()
        assert other["history-keep"].is_selected() and len(other.all("#history-list li")) == 1
        other["history-keep"].click()
    finally:
        chrome.close()
        chrome.switch_to.window(first)
    page.until(lambda: not page["history-keep"].is_selected() and not page.all("#history-list li"))
    page.translate(SECRET)
    assert chrome.execute_script("return localStorage.getItem('dragoman-history')") is None


def test_a_link_keeps_the_text_from_every_server(page, chrome, bundled):
    """The text is in no request but the one that translates it, neither when the link is made nor when it is opened."""
    page.translate(SECRET)
    sent(chrome)
    page["share"].click()
    page.until(lambda: "#" in chrome.current_url)
    assert sent(chrome) == []
    link = chrome.current_url
    again = Page(chrome, bundled, link[link.index("#"):])
    again.done()
    requests = sent(chrome)
    with_text = [r for r in requests if "dogs" in r[0] + r[1]]
    assert paths(with_text, bundled) == ["/v1/translate"] and "dogs" not in with_text[0][0]
    assert not [url for url, _ in requests if "text=" in url]


def test_a_browser_that_translates_pages_leaves_texts_alone(page):
    """It replaced the translation by its own, which went to its maker's server and was what Copy took."""
    page["show-history"].click()
    page["history-keep"].click()
    page.translate(SECRET + " Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.")
    page.until(lambda: page.all("#legend button") and page.all("#history-list li"))
    page.open_sentence()
    page.choose_word()
    page.until(lambda: page.all("#alternatives button"))
    page.unfold("nbest")
    page.until(lambda: page.all("#nbest li button"))
    found = page.driver.execute_script("""
        const texts = '#output .s, #sentence-source span, #sentence-target button, #alternatives button, #nbest li button, #legend button, #history-list bdi';
        return [...document.querySelectorAll(texts)].map((e) => [e.closest('[id]').id, e.translate]);""")
    assert len({place for place, _ in found}) == 7 and not [place for place, translates in found if translates]
    assert page.driver.execute_script("return document.getElementById('sentence-hint').translate")


def test_all_that_the_page_does_asks_this_server_alone(page, chrome, bundled):
    sent(chrome)
    page.translate(SECRET, "auto", "de")
    page["show-models"].click()
    chrome.execute_script("document.querySelector('#models summary').click()")
    page.until(lambda: page.all("#models .card-text table"))
    page.open_sentence()
    page.choose_word()
    page.until(lambda: page.all("#alternatives button"))
    chrome.execute_script("document.querySelector('#nbest summary').click(); document.querySelector('#attention summary').click()")
    page.until(lambda: page.all("#nbest li") and page.all("#att-picture line"))
    asked = set(paths(sent(chrome), bundled))
    card = {p for p in asked if p.endswith("/card")}
    assert len(card) == 1
    assert asked - card == {"/v1/detect", "/v1/translate", "/v1/alternatives", "/v1/attention"}
    for other in ("/status", "/docs"):
        chrome.get(bundled.url(other))
        page.until(lambda: page.all("svg.chart") or page.all(".try summary"))
        assert other in paths(sent(chrome), bundled)
    chrome.get_log("browser")
