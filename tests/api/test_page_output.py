"""The translation on the web page as a person works with it: its words are selected and copied."""
import pytest

from web_page import TEXT, ActionChains, Keys, bundled, chord, chrome, emulate, page  # noqa: F401

LINES = "\n".join("The %d dogs play in the snow near the old station." % n for n in range(2, 40))


@pytest.fixture
def clipboard(chrome):  # noqa: F811
    """Returns what is copied, by type."""
    for permission in ("clipboardReadWrite", "clipboardSanitizedWrite"):
        chrome.execute_cdp_cmd("Browser.grantPermissions", {"permissions": [permission, "clipboardReadWrite"]})
    return lambda: dict(chrome.execute_async_script("""
        const done = arguments[0], text = (item, type) => item.getType(type).then((b) => b.text()).then((t) => [type, t]);
        navigator.clipboard.read().then(([item]) => Promise.all(item.types.map((t) => text(item, t)))).then(done);"""))


def test_what_is_copied_has_no_colours_of_the_page(page, clipboard):
    """In dark mode a sentence was pasted into a document in white letters."""
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
