"""The translation on the web page: its words can be selected and copied, and a change of the text leaves the other sentences in place."""
import contextlib
import json
import time

import pytest

from conftest import Server
from web_page import BUNDLES, TEXT, ActionChains, Keys, chord, chrome, emulate, expected, page, pressed, sent  # noqa: F401

LINES = "\n".join("The %d dogs play in the snow near the old station." % n for n in range(2, 40))


@pytest.fixture(scope="module")
def bundled():
    """A server that remembers its answers: a long text whose parts are compared is translated once."""
    with Server(BUNDLES, "--cache-bytes", "16000000") as s:
        yield s


@pytest.fixture
def clipboard(chrome):  # noqa: F811
    """Returns what is copied, by type."""
    for permission in ("clipboardReadWrite", "clipboardSanitizedWrite"):
        chrome.execute_cdp_cmd("Browser.grantPermissions", {"permissions": [permission, "clipboardReadWrite"]})
    return lambda: dict(chrome.execute_async_script("""
        const done = arguments[0], text = (item, type) => item.getType(type).then((b) => b.text()).then((t) => [type, t]);
        navigator.clipboard.read().then(([item]) => Promise.all(item.types.map((t) => text(item, t)))).then(done);"""))


def test_what_is_copied_has_no_colours_of_the_page(page, clipboard):
    """A sentence that was copied in dark mode had white letters in the document it was pasted into."""
    emulate(page, prefers_color_scheme="dark")
    answer = page.translate(TEXT.replace("? ", "?\n\n"))
    page.driver.execute_script("getSelection().selectAllChildren(document.getElementById('output'))")
    chord(page, Keys.CONTROL, "c")
    assert clipboard() == {"text/plain": answer}
    emulate(page)


def test_a_double_click_selects_the_word_under_it(page):
    """The first click moved the page, and the second one selected a word of another sentence."""
    page.translate(LINES)
    page.driver.execute_script("scrollTo(0, 0)")
    sentence = page.all("#output .s")[3]
    ActionChains(page.driver).double_click(sentence).perform()
    word, inside = page.driver.execute_script("const s = getSelection(); return [s.toString(), arguments[0].contains(s.anchorNode)]", sentence)
    assert inside and word and word.strip() in sentence.text.split()
    assert page["sentence"].is_displayed() and page.driver.execute_script("return scrollY") == 0
    page.all("#output .s")[5].click()  # one click shows the panel
    page.until(lambda: page.driver.execute_script("return document.getElementById('sentence').getBoundingClientRect().bottom <= innerHeight + 1"))


def test_the_page_stays_under_a_hand_that_uses_the_panel(page):
    """It scrolled 400 ms after the click on the sentence, and a click in the panel met another button."""
    page.translate(LINES)
    page.driver.execute_script("""
        scrollTo(0, 0);
        const {left, top} = document.querySelectorAll('#output .s')[5].getBoundingClientRect(), at = {clientX: left + 20, clientY: top + 5, bubbles: true};
        document.elementFromPoint(at.clientX, at.clientY).dispatchEvent(new MouseEvent('click', at));
        document.querySelector('#nbest summary').dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}));""")
    page.until(lambda: page["sentence"].is_displayed())
    time.sleep(0.6)
    assert page.driver.execute_script("return scrollY") == 0


LONG = "".join("The %d dogs play in the snow near the old station.\n" % n for n in range(2, 300))


def asked(page):
    """Returns the texts that the page sent for translation since the last call. A text that a busy server refused counts once."""
    return list(dict.fromkeys(json.loads(body)["text"] for url, body in sent(page.driver) if url.endswith("/v1/translate")))


@contextlib.contextmanager
def translated(page):
    """Waits for the translation that the block starts."""
    page.driver.execute_script("document.getElementById('status').textContent = ''")
    yield
    page.done()


def change(page, keys):
    with translated(page):
        page["input"].send_keys(*keys)


def test_a_change_sends_the_part_that_changed(page, bundled):
    """Each pause in typing translated all 200,000 characters again."""
    sent(page.driver)
    page.translate(LONG)
    first = asked(page)
    assert "".join(sorted(first, key=LONG.index)) == LONG and len(first) == 3
    change(page, [Keys.CONTROL + Keys.END, Keys.NULL, "Where is the station?"])
    text = LONG + "Where is the station?"
    assert len("".join(asked(page))) < 100 and page.output() == expected(bundled, text)
    change(page, [Keys.CONTROL + Keys.HOME, Keys.NULL, "A man. "])
    text = "A man. " + text
    last = "".join(asked(page))
    assert text.startswith(last) and len(last) < 6100 and page.output() == expected(bundled, text)
    assert [s.get_attribute("tabindex") for s in page.all("#output .s")].count("0") == 1
    with translated(page):
        page["translate"].click()  # an unchanged text is translated anew
    assert len("".join(asked(page))) == len(text) and page.output() == expected(bundled, text)


def test_a_part_of_a_text_is_deleted_and_joined(page, bundled):
    page.translate(LONG)
    for kept in (LONG[:100] + LONG[9000:], LONG[:7000] + LONG[7001:], LONG[:49] + LONG[49:].replace("\n", " ", 1), LONG[300:], LONG[:-1]):
        with translated(page):
            page.paste(kept)
        assert page.output() == expected(bundled, kept)


def test_a_translation_is_stopped_and_goes_on(page, bundled):
    """Only Clear ended a translation, and it discarded what was there. The parts that are translated are not sent again."""
    page.choose_languages()
    page.driver.execute_script("""
        const status = document.getElementById('status');
        new MutationObserver((_, observer) => {
          if (status.textContent !== '67 %') return; // two of three parts: either the first or the last is among them
          observer.disconnect();
          document.getElementById('stop').click();
        }).observe(status, {childList: true});""")
    page.paste(LONG)
    page.until(lambda: page["status"].text == "Stopped. Press Translate to go on.")
    assert len(page.all("#output .s")) > 10 and not page["stop"].is_enabled() and not page["error"].is_displayed()
    sent(page.driver)
    with translated(page):
        page["translate"].click()
    assert 0 < len("".join(asked(page))) < len(LONG) and page.output() == expected(bundled, LONG)
    assert not page["stop"].is_enabled()


def test_the_translation_stays_in_place_while_the_text_changes(page, bundled):
    """Each pause in typing emptied the translation and scrolled it to its beginning."""
    page.translate(LINES)
    page.driver.execute_script("""
        const output = document.getElementById('output');
        output.scrollTop = 300;
        window.least = Infinity;
        new MutationObserver(() => { least = Math.min(least, output.scrollTop, output.textContent.length); })
            .observe(output, {childList: true, subtree: true, characterData: true});""")
    change(page, [Keys.CONTROL + Keys.END, Keys.NULL, " A man."])
    assert page.driver.execute_script("return [least, document.getElementById('output').scrollTop]") == [300, 300]
    assert page.output() == expected(bundled, LINES + " A man.")


def test_a_translation_that_was_chosen_stays(page, bundled):
    """Typing discarded it, even at the other end of the text."""
    page.translate(TEXT)
    page.open_sentence(1)
    page.unfold("nbest")
    page.until(lambda: len(page.all("#nbest li button")) >= 2)
    other = page.all("#nbest li button")[1].text
    page.all("#nbest li button")[1].click()
    page.until(lambda: page.all("#output .s")[1].text == other)
    change(page, [Keys.CONTROL + Keys.END, Keys.NULL, "\nA man."])
    assert [s.text for s in page.all("#output .s")] == [expected(bundled, TEXT.split(" Where")[0]), other, expected(bundled, "A man.")]
    with translated(page):
        page["translate"].click()
    assert page.all("#output .s")[1].text == other
    page.choose("target", "fr")
    page.until(lambda: page.output() == expected(bundled, TEXT + "\nA man.", "en", "fr"))


def test_what_was_there_before_goes_where_no_answer_comes(page):
    page.translate(TEXT)
    page.driver.execute_script("""
        const real = window.fetch;
        window.fetch = (path, ...more) => path !== '/v1/translate' ? real(path, ...more) : new Promise((go, fail) => {
            window.seen = document.getElementById('output').textContent;
            setTimeout(() => fail(new TypeError('Failed to fetch')), 300);
        });""")
    page["input"].send_keys(" A man.")
    page.until(lambda: page["error"].is_displayed())
    assert page.output() == "" and not page["copy"].is_enabled()
    page["input"].send_keys(Keys.CONTROL, "a")
    pressed(page, Keys.DELETE)
    page.until(lambda: page.output() == "")
