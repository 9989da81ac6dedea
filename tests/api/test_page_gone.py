"""Servers that are slow, and servers that die: the page says so, keeps what it has, and goes on when there is one again."""
import signal
import time

import pytest

from conftest import NARROW, PATIENCE, Server, long_text
from web_page import BUNDLES, TEXT, Keys, Page, axe, before_each_page, bundled, chrome, expected, page, unplugged  # noqa: F401

LONG = "\n".join("The %d dogs play in the snow near the old station." % n for n in range(3000))


def test_a_server_that_is_killed_while_it_answers(chrome):
    """Killed with SIGKILL, as by the kernel: replies break off. A new server at the same address is used without reloading the page."""
    first = Server(BUNDLES, "--threads", "1").__enter__()
    try:
        page = Page(chrome, first)
        chrome.execute_script("localStorage.clear(); sessionStorage.clear()")
        page.choose_languages()
        page.paste(LONG)
        page.until(lambda: len(page.all("#output .s")) > 3)
    finally:
        assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    page.until(lambda: page["error"].is_displayed())
    assert "connection to the server was lost" in page["error"].text or "does not answer" in page["error"].text, page["error"].text
    assert page["status"].text == "" and not page["copy"].is_enabled()
    kept = len(page.all("#output .s"))
    assert 3 < kept < 3000 and page["input"].get_property("value") == LONG  # the typed text is not lost
    page["translate"].click()
    page.until(lambda: "does not answer" in page["error"].text)
    with Server(BUNDLES, "--port", str(first.port)) as second:
        assert second.port == first.port
        page.paste(TEXT)
        page.done()
        assert page.output() == expected(second, TEXT)
        assert not page["error"].is_displayed() and page["copy"].is_enabled()
    chrome.get_log("browser")


def test_a_server_that_dies_under_a_sentence(chrome):
    """Alternatives, other translations and attention report the lost server, too, and work again with the next one."""
    first = Server(BUNDLES).__enter__()
    try:
        page = Page(chrome, first)
        page.translate(TEXT)
        page.open_sentence()
        page.until(lambda: len(page.all("#sentence-target button")) >= 4)
    finally:
        first.stop(signal.SIGKILL)
    for act in ("document.querySelectorAll('#sentence-target button')[1].click()", "document.querySelector('#nbest summary').click()",
                "document.querySelector('#attention summary').click()"):
        chrome.execute_script("document.getElementById('error').hidden = true;" + act)
        page.until(lambda: page["error"].is_displayed())
        assert "does not answer" in page["error"].text
    with Server(BUNDLES, "--port", str(first.port)):
        chrome.execute_script("document.querySelectorAll('#sentence-target button')[1].click()")
        page.until(lambda: len(page.all("#alternatives button")) >= 3)
        assert not page["error"].is_displayed()
        chrome.execute_script("for (const id of ['nbest', 'attention']) { document.getElementById(id).open = false; }")
        chrome.execute_script("for (const id of ['nbest', 'attention']) setTimeout(() => { document.getElementById(id).open = true; }, 100)")
        page.until(lambda: page.all("#nbest li") and page.all("#att-picture line"))
    chrome.get_log("browser")


def test_the_look_at_the_server_outlives_it(chrome):
    first = Server(BUNDLES).__enter__()
    try:
        page = Page(chrome, first, "status", languages=0)
        page.until(lambda: len(page.all("svg.chart")) == 6)
    finally:
        first.stop(signal.SIGKILL)
    page.until(lambda: "does not answer" in page["error"].text)
    assert axe(page) == "[]"
    with Server(BUNDLES, "--port", str(first.port)) as second:
        assert second.translate(TEXT).status_code == 200
        page.until(lambda: not page["error"].is_displayed())
        page.until(lambda: [r.text for r in page.all("#use tbody tr") if r.text.startswith("en-de 2 ")])
    chrome.get_log("browser")


def test_models_that_cannot_be_read_yet_are_asked_for_again(chrome, bundled):
    """If the server goes away before it lists its models, the page fills itself once it is back."""
    with unplugged(chrome, "*/v1/models"):
        page = Page(chrome, bundled, languages=0)
        page.until(lambda: "does not answer" in page["error"].text)
        assert not page.all("#target option")
    page.until(lambda: len(page.all("#target option")) >= 3 and not page["error"].is_displayed())
    chrome.get_log("browser")


def test_a_proxy_without_a_server_is_asked_again(chrome, bundled):
    """The languages stayed empty until the page was loaded again."""
    with before_each_page(chrome, """
        const real = window.fetch, proxy = [502, 504];
        window.fetch = (path, ...more) => path === '/v1/models' && proxy.length
            ? Promise.resolve(new Response('<html><h1>Bad Gateway</h1></html>', {status: proxy.shift()})) : real(path, ...more);"""):
        page = Page(chrome, bundled)
        assert not page["error"].is_displayed()


@pytest.mark.parametrize("status, said", [(413, "refuses requests of this size"), (502, "got no valid answer"), (504, "timed out")])
def test_what_a_proxy_says_of_itself_is_explained(page, status, said):
    """nginx takes 1 MB by default: the page said "The server answered 413." of a larger document."""
    page.driver.execute_script("""
        const real = window.fetch;
        window.fetch = (path, ...more) => path === '/v1/translate' ? Promise.resolve(new Response('<html><h1>nginx</h1></html>', {status: arguments[0]}))
            : real(path, ...more);""".replace("arguments[0]", str(status)))
    page.paste(TEXT)
    page.until(lambda: said in page["error"].text and str(status) in page["error"].text)


def test_a_slow_server_is_waited_for_and_left(chrome, endless):
    """Sentences appear one by one while the rest is pending; Clear ends the server's work, too."""
    with Server(endless, *NARROW) as server:
        page = Page(chrome, server, languages=1)
        page.choose_languages()
        page.paste(long_text(2000))
        page.until(lambda: 3 <= len(page.all("#output .s")) < 2000)
        assert page["status"].text == "Translating …" and not page["error"].is_displayed() and not page["copy"].is_enabled()
        page["clear"].click()
        assert page.output() == "" and page["status"].text == ""
        server.until(lambda: "dragoman_live_sentences 0\n" in server.get("/metrics").text and "dragoman_queue_depth 0\n" in server.get("/metrics").text,
                     PATIENCE / 4)


def test_stop_ends_the_work_and_keeps_what_came(chrome, endless):
    with Server(endless, *NARROW) as server:
        page = Page(chrome, server, languages=1)
        page.choose_languages()
        text = long_text(2000)
        page.paste(text)
        page.until(lambda: len(page.all("#output .s")) >= 3)
        page["stop"].click()
        kept = page.output()
        assert kept and page["input"].get_property("value") == text and page["status"].text == "Stopped. Press Translate to go on."
        assert chrome.execute_script("return document.activeElement.id") == "translate" and not page["stop"].is_enabled()
        server.until(lambda: "dragoman_live_sentences 0\n" in server.get("/metrics").text and "dragoman_queue_depth 0\n" in server.get("/metrics").text,
                     PATIENCE / 4)
        assert page.output() == kept and not page["error"].is_displayed()


USED_UP = """
    const real = window.fetch, left = {'/v1/models': 1, '/': 1, '/v1/alternatives': 1, '/v1/attention': 1, card: 1};
    window.asked = [];
    window.fetch = (path, request) => {
        const body = request?.body || '', close = path === '/v1/translate' && /alignments|n_best/.exec(body)?.[0];
        const what = close || (path.endsWith('/card') ? 'card' : path);
        if (close && !(close in left)) left[close] = 1;
        asked.push(what);
        return left[what]-- > 0
            ? Promise.resolve(new Response('{"error": {"code": "rate_limited", "message": "Not now."}}', {status: 429, headers: {'Retry-After': '0.2'}}))
            : real(path, request);
    };"""


def test_used_up_requests_are_waited_for_everywhere(chrome, bundled):
    """Each question of the page is refused once, because the requests of the minute are used up; it is asked again."""
    with before_each_page(chrome, USED_UP):
        page = Page(chrome, bundled)
        page.until(lambda: page["version"].text and "Files" in page["formats"].text)
        page.translate(TEXT)
        page.all("#output .s")[0].send_keys(Keys.ENTER)  # a click would choose a word
        page.choose_word()
        page.until(lambda: page.all("#alternatives button"))
        page.until(lambda: page.all("#sentence-source .hit"))
        page.unfold("nbest")
        page.until(lambda: page.all("#nbest li"))
        page.unfold("attention")
        page.until(lambda: page.all("#att-picture svg"))
        page["show-models"].click()
        page.unfold("models")
        page.until(lambda: page.all("#models dl"))
        page.until(lambda: page["status"].text.startswith("Done"))  # what was said before
        assert not page["error"].is_displayed()
        asked = page.driver.execute_script("return asked")
        for what in ("/v1/models", "/", "/v1/alternatives", "/v1/attention", "alignments", "n_best", "card"):
            assert asked.count(what) == 2, asked


def test_a_panel_that_is_left_asks_no_more(chrome, bundled):
    """Its questions used up the requests of the next text, and said so over its translation."""
    with before_each_page(chrome, """
        const real = window.fetch;
        window.asked = 0;
        window.fetch = (path, request) => !/alignments|target_prefix/.test(request?.body || '') ? real(path, request)
            : ++asked && Promise.resolve(new Response('{"error": {"code": "rate_limited", "message": "Not now."}}', {status: 429, headers: {'Retry-After': '0.5'}}));"""):
        page = Page(chrome, bundled)
        page.translate(TEXT)
        page.listen()
        page.open_sentence()
        page.until(lambda: any(text.startswith("The requests of this minute are used up") for text in page.said()))
        page.translate("Two dogs.")
        asked = page.driver.execute_script("return asked")
        time.sleep(1.5)
        assert page.driver.execute_script("return asked") == asked
        assert page["status"].text.startswith("Done") and not page["error"].is_displayed() and not page["sentence"].is_displayed()


@pytest.mark.parametrize("leave", ["Escape", "✕"])
def test_a_panel_s_waiting_takes_nothing_from_what_the_page_says(chrome, bundled, leave):
    """It said that it tries again for ever, once the panel was left; where it was not, it wiped what the translation said."""
    with before_each_page(chrome, """
        const real = window.fetch;
        window.refused = 2;
        window.fetch = (path, request) => !/alignments/.test(request?.body || '') || !refused-- ? real(path, request)
            : Promise.resolve(new Response('{"error": {"code": "rate_limited", "message": "Not now."}}', {status: 429, headers: {'Retry-After': refused ? '0.2' : '60'}}));"""):
        page = Page(chrome, bundled)
        page.translate(TEXT)
        done = page["status"].text
        page.open_sentence()
        page.until(lambda: page["status"].text.startswith("The requests of this minute are used up"))
        page.until(lambda: chrome.execute_script("return refused") == 0)
        page.until(lambda: page["status"].text.startswith("The requests of this minute are used up"))
        if leave == "Escape":
            page["sentence"].send_keys(Keys.ESCAPE)
        else:
            page["sentence-close"].click()
        page.until(lambda: page["status"].text == done)
        assert not page["error"].is_displayed() and not page["sentence"].is_displayed()


def test_a_wait_that_is_over_leaves_no_listener(page):
    """A document had one more for each question about it."""
    left = page.driver.execute_async_script("""
        const done = arguments[0], {signal} = new AbortController();
        let left = 0;
        for (const [name, more] of [['addEventListener', 1], ['removeEventListener', -1]]) {
          const real = signal[name];
          signal[name] = (...all) => { left += more; real.apply(signal, all); };
        }
        import('/web/api.js').then(async ({wait}) => {
          for (let n = 0; n < 3; n++) await wait(1, signal);
          done(left);
        });""")
    assert left == 0


@pytest.mark.parametrize("later", ["", "40 %"])
def test_of_several_that_wait_the_last_one_ends_it(page, later):
    """What was said before returns when nothing waits any more, unless something else was said meanwhile."""
    said = page.driver.execute_async_script("""
        const [later, done] = arguments;
        import('/web/api.js').then(async (api) => {
          const place = document.createElement('p'), seen = [];
          place.textContent = 'Translating …';
          const once = (status, retryAfter) => {
            let refused = false;
            return api.patiently(async () => {
              if (refused) return;
              refused = true;
              throw Object.assign(new Error(), {status, retryAfter, code: status === 503 ? 'overloaded' : 'rate_limited'});
            }, undefined, place);
          };
          const long = once(429, 0.5), short = once(503, 0.1);
          await short;
          seen.push(place.textContent);
          if (later) place.textContent = later;
          await long;
          seen.push(place.textContent);
          done(seen);
        });""", later)
    assert said == ["The server is busy. Trying again …", later or "Translating …"]
