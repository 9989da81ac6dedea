"""The web page at /: text goes in, its translation comes out; files, links, history and failures."""
import gzip
import os
import re

import pytest

from conftest import ROOT
from web_page import TEXT, Page, before_each_page, bundled, chrome, expected, page, unplugged  # noqa: F401


def test_what_is_typed_is_translated(page, bundled):
    """Typing key by key is enough; no button is pressed at the end."""
    page.choose_languages()
    page["input"].send_keys(TEXT)
    page.done()
    assert page.output() == expected(bundled, TEXT)
    assert page["count"].text == "48 characters"
    assert len(page.all("#output .s")) == 2
    assert [page[side].get_attribute("lang") for side in ("input", "output")] == ["en", "de"]
    assert re.fullmatch(r"Done in ([1-9]\d{0,2} ms|[1-9]\d*\.\d s)", page["status"].text)


def test_short_times_are_in_milliseconds(page):
    said = page.driver.execute_async_script("const done = arguments[0]; import('/web/words.js').then((m) => done([0.2, 7.4, 999.4, 999.6, 61040].map(m.took)))")
    assert said == ["1 ms", "7 ms", "999 ms", "1.0 s", "61.0 s"]


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
    page.choose_languages()
    page.driver.execute_script("""
        window.seen = [];
        new MutationObserver(() => seen.push(document.querySelectorAll('#output .s').length))
            .observe(document.getElementById('output'), {childList: true, subtree: true});""")
    page.paste(text)
    page.done()
    seen = page.driver.execute_script("return seen")
    assert seen[0] < seen[-1] == 88
    assert page.output() == expected(bundled, text)


def test_a_sentence_is_opened_while_others_stream_in(page, bundled):
    """It stays open and focused when the whole answer is there, and its replacement appears on the page."""
    text = " ".join("The %d dogs play in the snow near the old station." % n for n in range(2, 90))
    page.choose_languages()
    page.driver.execute_script("""
        const real = window.fetch, output = document.getElementById('output');
        window.fetch = async (path, request, ...more) => {
          const reply = await real(path, request, ...more);
          if (path !== '/v1/translate' || !JSON.parse(request.body).stream) return reply;
          // The last event waits until a sentence is open.
          const held = new TransformStream({transform: async (chunk, out) => {
            if (new TextDecoder().decode(chunk).includes('event: done')) while (!window.opened) await new Promise((go) => setTimeout(go, 10));
            out.enqueue(chunk);
          }});
          return new Response(reply.body.pipeThrough(held), {headers: reply.headers});
        };
        new MutationObserver(() => {
          if (window.opened || !output.querySelector('.s')) return;
          window.opened = output.querySelector('.s');
          opened.click();
          opened.focus();
        }).observe(output, {childList: true, subtree: true});""")
    page.paste(text)
    page.done()
    assert page.driver.execute_script("return opened.isConnected && document.activeElement === opened && opened.getAttribute('aria-current') === 'true'")
    wanted = expected(bundled, text)
    assert page.output() == wanted and len(page.all("#output .s")) == 88
    page.unfold("nbest")
    page.until(lambda: len(page.all("#nbest li button")) >= 2)
    other = page.all("#nbest li button")[1]
    said = other.text
    other.click()
    first = page.driver.execute_script("return opened.entry.streamed")
    assert said != first and page.output() == said + wanted[len(first):]


def test_a_text_with_any_line_end_is_translated(page, bundled):
    """U+2028 and U+2029 end lines in JavaScript, but not in JSON and server-sent events."""
    text = "Two dogs.\u2028A girl.\u2029Where is the station?"
    assert page.translate(text) == expected(bundled, text) and "\u2028" in page.output()
    assert not page["error"].is_displayed()


def test_a_document_keeps_its_marks(page, tmp_path):
    page.choose_languages()
    page.upload(tmp_path / "notes.md", "# Two dogs\n\n- Where is the *station*?\n\n```\nmake test\n```\n")
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
    # A link also works in a page that is already open, and leaves the address when the text changes.
    chrome.execute_script("location.hash = 'source=de&target=en&text=Guten%20Morgen.'")
    again.until(lambda: again["input"].get_property("value") == "Guten Morgen." and again.output() == expected(bundled, "Guten Morgen.", "de", "en"))
    again["input"].send_keys(" Ja")
    assert "#" not in chrome.current_url


def refuse(page, status, code):
    """The first request to translate is refused like this; window.tries has the time of each."""
    page.driver.execute_script("""
        const [status, code] = arguments, real = window.fetch;
        window.tries = [];
        window.fetch = (path, ...more) => path === '/v1/translate' && tries.push(performance.now()) <= 1
            ? Promise.resolve(new Response(JSON.stringify({error: {code, message: 'Not now.'}}), {status, headers: {'Retry-After': '1'}}))
            : real(path, ...more);""", status, code)


COPIED = "return navigator.clipboard.readText()"


def test_the_translation_is_copied(page, chrome):
    wanted = page.translate(TEXT)
    for permission in ("clipboardReadWrite", "clipboardSanitizedWrite"):
        chrome.execute_cdp_cmd("Browser.grantPermissions", {"permissions": [permission, "clipboardReadWrite"]})
    page["copy"].click()
    page.until(lambda: page["status"].text == "Translation copied")
    assert chrome.execute_script(COPIED) == wanted
    page["share"].click()
    page.until(lambda: page["status"].text == "Link copied")
    assert chrome.execute_script(COPIED) == chrome.current_url
    # Pages without HTTPS have no navigator.clipboard; what a paste would give is checked then.
    page.translate("Where is the station?")
    chrome.execute_script("const c = navigator.clipboard; window.pasted = () => c.readText();"
                          "Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page["copy"].click()
    page.until(lambda: page["status"].text == "Translation copied")
    assert chrome.execute_script("return pasted()") == page.output()


def test_languages_change_while_a_translation_streams_in(page, bundled):
    """The second answer contains nothing of the first."""
    text = " ".join("The %d dogs play in the snow near the old station." % n for n in range(2, 300))
    page.choose_languages()
    page.paste(text)
    page.until(lambda: len(page.all("#output .s")) > 3)
    page.choose("target", "fr")
    page.until(lambda: page["output"].get_attribute("lang") == "fr")
    page.done()
    assert page.output() == expected(bundled, text, "en", "fr")


def test_the_other_sides_language_swaps_them(page):
    page.choose_languages()
    page["target"].send_keys("English")
    assert [page[side].get_property("value") for side in ("source", "target")] == ["de", "en"]
    page.translate(TEXT, "auto", "de")
    page["source"].send_keys("German")  # in place of the English that was detected
    assert [page[side].get_property("value") for side in ("source", "target")] == ["de", "en"]


def test_half_a_character_is_never_sent(page, bundled):
    """The part sent to detect the language would end within an emoji."""
    text = "Wo ist der Bahnhof? " * 99 + "Ich suche ihn schon" + "😀" * 10
    assert len(text[:1999].encode("utf-16-le")) // 2 == 1999 and text[1999] == "😀"
    page.translate(text, "auto", "en")
    assert "German" in page["detected"].text and not page["error"].is_displayed()


def test_a_file_is_dropped(page):
    page.choose_languages()
    page.driver.execute_script("""
        const data = new DataTransfer();
        data.items.add(new File(['# Two dogs\\n'], 'notes.md'));
        document.getElementById('input').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));""")
    page.until(lambda: page.output().startswith("# "))
    page.done()
    assert page["count"].text == "11 characters, notes.md read as Markdown"
    page["clear"].click()
    page.translate("# Two dogs")
    assert page["count"].text == "10 characters"


PASTE = """
    const data = new DataTransfer();
    for (const [name, content] of Object.entries(arguments[0])) data.items.add(new File([content], name));
    for (const [type, text] of Object.entries(arguments[1])) data.setData(type, text);
    const event = new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true});
    document.getElementById('input').dispatchEvent(event);
    return event.defaultPrevented;"""


def test_a_file_is_pasted(page, bundled):
    """Ctrl+V of a file did nothing. The text of other programs, which comes with a picture of it, is pasted by the browser."""
    page.choose_languages()
    assert page.driver.execute_script(PASTE, {"dogs.txt": "Two dogs play.\n"}, {"text/plain": "dogs.txt"})  # as file managers copy it
    page.until(lambda: page.output() == expected(bundled, "Two dogs play.\n"))
    page.done()
    assert page["count"].text == "15 characters, dogs.txt"
    assert not page.driver.execute_script(PASTE, {"image.png": "x"}, {"text/plain": "Two dogs.", "text/html": "<b>Two dogs.</b>"})
    assert not page.driver.execute_script(PASTE, {}, {"text/plain": "Two dogs."})
    assert not page["error"].is_displayed() and page["count"].text == "15 characters, dogs.txt"
    assert page.driver.execute_script(PASTE, {"image.png": "x"}, {})
    page.until(lambda: "image.png" in page["error"].text)


def test_a_browser_that_keeps_nothing_still_translates(chrome, bundled):
    """With cookies blocked, access to localStorage itself throws."""
    with before_each_page(chrome, """
        for (const area of ['localStorage', 'sessionStorage'])
            Object.defineProperty(window, area, {get() { throw new DOMException('denied', 'SecurityError'); }});"""):
        page = Page(chrome, bundled)
        assert page.translate(TEXT) == expected(bundled, TEXT)
        page["show-history"].click()
        page["history-keep"].click()
        page["translate"].click()
        page.until(lambda: len(page.all("#history-list li")) == 1)
        assert not [line for line in chrome.get_log("browser") if line["level"] == "SEVERE"]


def test_a_server_that_starts_is_waited_for(chrome, bundled):
    """The server lists no models until they are loaded."""
    with before_each_page(chrome, """
        const real = window.fetch;
        window.fetch = (path, ...more) => path === '/v1/models' && !window.up
            ? Promise.resolve(new Response('{"models": []}', {headers: {'Content-Type': 'application/json'}})) : real(path, ...more);"""):
        page = Page(chrome, bundled, languages=0)
        page.until(lambda: page["status"].text == "The server is starting …")
        chrome.execute_script("window.up = true")
        page.until(lambda: len(page.all("#target option")) >= 3)
        assert page["status"].text == ""


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


def test_a_server_that_is_gone_is_named(page, bundled):
    page.translate("Where is the station?")
    with unplugged(page.driver, "*/v1/*"):
        page["translate"].click()
        page.until(lambda: page["error"].is_displayed())
        assert "does not answer" in page["error"].text
    page["translate"].click()
    page.done()
    assert not page["error"].is_displayed()


def test_what_the_server_refuses_is_shown(page):
    page.choose_languages()
    page.paste("word " * 50000)
    page.until(lambda: page["error"].is_displayed())
    assert "characters" in page["error"].text


def test_a_slow_server_is_waited_for(page):
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": 700, "downloadThroughput": -1, "uploadThroughput": -1})
    try:
        page.choose_languages()
        page.listen()
        page.paste("Where is the station?")
        page.done()
        assert page.said()[0] == "Translating …"
    finally:
        page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})


@pytest.mark.parametrize("status, code, said", [(503, "overloaded", "The server is busy. Trying again …"),
                                                (429, "rate_limited", "The requests of this minute are used up. Trying again …")])
def test_what_is_refused_for_a_moment_is_asked_again(page, bundled, status, code, said):
    """The page waits as the server asks and tries a few times, so that one busy moment does not lose a text."""
    page.choose_languages()
    refuse(page, status, code)
    page.listen()
    page.paste(TEXT)
    page.done()
    first, second = page.driver.execute_script("return tries")
    assert second - first >= 990 and said in page.said() and page.output() == expected(bundled, TEXT) and not page["error"].is_displayed()


def test_a_used_up_quota_is_not_asked_again(page):
    page.choose_languages()
    refuse(page, 429, "quota_exceeded")
    page.paste(TEXT)
    page.until(lambda: page["error"].text == "Not now.")
    assert len(page.driver.execute_script("return tries")) == 1


def test_long_texts_are_translated_in_parts(page, bundled):
    lines = ["The %d dogs play in the snow." % n for n in range(500)]
    text = "\n".join(lines) + "\n"
    page.translate(text)
    answer = page.output().split("\n")
    assert len(answer) == 501
    for n in (0, 250, 499):
        assert answer[n] == expected(bundled, lines[n])


def test_nothing_is_fetched_from_elsewhere(page, bundled):
    page.translate(TEXT)
    fetched = page.driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert len(fetched) > 8 and all(url.startswith(bundled.url("/")) for url in fetched), fetched


def test_the_page_names_its_modules_before_they_are_asked_for(page):
    """The browser then fetches all modules at once; it requested each only after the module that imports it had arrived."""
    names = page.driver.execute_script("""
        return [[...document.querySelectorAll('link[rel=modulepreload]')].map((l) => l.href),
                performance.getEntriesByType('resource').map((e) => e.name).filter((n) => n.endsWith('.js') && !n.endsWith('/app.js'))];""")
    assert len(names[0]) > 10 and sorted(names[0]) == sorted(names[1])


def test_the_page_is_small_and_strict(bundled):
    page = bundled.get("/", headers={"Accept": "text/html,*/*"})
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy
    names = {"/" + n for n in re.findall(r'web/[a-z.]+', page.text)} | {"/web/" + n for n in os.listdir(os.path.join(ROOT, "server", "api", "web"))}
    names.discard("/web/index.html")
    total = len(gzip.compress(page.content)) + sum(len(gzip.compress(bundled.get(n).content)) for n in names)
    assert total <= 120 * 1024
    with open(os.path.join(ROOT, "docs", "page.md"), encoding="utf-8") as f:
        quoted = re.search(r"(\d+) KB compressed and (\d+) KB uncompressed", f.read())
    assert abs(int(quoted.group(1)) - total / 1000) < 1.5, total
    assert bundled.get("/", headers={"Accept": "application/json"}).json()["name"] == "dragoman-server"
    assert bundled.get("/").json()["routes"]
    assert bundled.get("/web/none.js").status_code == 404
