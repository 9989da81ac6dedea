"""The text field of the web page: Undo restores a text that the page replaced; a reload keeps the text and its format; and a page that is
opened again has the languages of the last time, and the text that a browser kept."""
import pytest

from web_page import TEXT, Keys, Page, before_each_page, bundled, chrome, expected, page  # noqa: F401

CUES = f"1\n00:00:01,000 --> 00:00:02,000\n{TEXT}\n"


def typed(page):
    return page["input"].get_property("value")


def kept(text):
    """Returns what a browser does with the field of a closed tab that is opened again, or of a page to which a person goes back, as a script."""
    return "document.addEventListener('DOMContentLoaded', () => { for (const i of document.querySelectorAll('#input')) i.value = %r; });" % text


def languages(page):
    return [page[side].get_property("value") for side in ("source", "target")]


@pytest.fixture
def movie(page, tmp_path):
    """Opens a subtitle file, which replaces a text."""
    page.translate("Two dogs.")
    page.upload(tmp_path / "movie.srt", CUES)
    page.until(lambda: typed(page) == CUES)
    page.done()


def by_button(page):
    page["undo"].click()


def by_keys(page):
    page["input"].send_keys(Keys.CONTROL, "z")


@pytest.mark.parametrize("undo", [by_button, by_keys])
def test_a_text_that_was_cleared_comes_back(page, movie, undo):
    said = page["count"].text
    assert said.endswith("movie.srt read as subtitles")
    answer = page.output()
    page["clear"].click()
    page.until(lambda: not typed(page) and not page.output())
    undo(page)
    page.until(lambda: page.output() == answer)
    assert typed(page) == CUES and page["count"].text == said and not page["undo"].is_displayed()


@pytest.mark.parametrize("undo", [by_button, by_keys])
def test_a_text_that_a_file_replaced_comes_back(page, movie, undo):
    undo(page)
    page.until(lambda: page.output().startswith("Zwei Hunde"))
    assert typed(page) == "Two dogs." and page["count"].text == "9 characters"
    undo(page)  # and the file again
    page.until(lambda: typed(page) == CUES)
    assert page["count"].text.endswith("movie.srt read as subtitles")


def test_the_file_that_was_chosen_last_is_shown(page, bundled, tmp_path):
    """A large file that was still being read replaced a small one that was chosen after it."""
    page.driver.execute_script("""
        const real = File.prototype.arrayBuffer;
        File.prototype.arrayBuffer = async function () {
          if (this.name === 'large.txt') await new Promise((go) => { window.go = go; });
          const read = await real.call(this);
          if (this.name === 'large.txt') setTimeout(() => { window.was_read = true; }, 100);
          return read;
        };""")
    for name, text in ("large.txt", "It is late."), ("small.txt", "Two dogs."):
        page.upload(tmp_path / name, text)
    page.until(lambda: typed(page) == "Two dogs.")
    page.driver.execute_script("go()")
    page.until(lambda: page.driver.execute_script("return window.was_read"))
    assert typed(page) == "Two dogs." and page["count"].text.endswith("small.txt")


def test_a_link_is_not_replaced_by_a_file_that_was_chosen_before_it(page, tmp_path):
    page.driver.execute_script("""
        const real = File.prototype.arrayBuffer;
        File.prototype.arrayBuffer = async function () {
          await new Promise((go) => { window.go = go; });
          setTimeout(() => { window.was_read = true; }, 100);
          return real.call(this);
        };""")
    page.upload(tmp_path / "large.txt", "It is late.")
    page.until(lambda: page.driver.execute_script("return Boolean(window.go)"))
    page.driver.execute_script("location.hash = 'source=en&target=de&text=Two+dogs.'")
    page.until(lambda: typed(page) == "Two dogs.")
    page.driver.execute_script("go()")
    page.until(lambda: page.driver.execute_script("return window.was_read"))
    assert typed(page) == "Two dogs." and page["count"].text == "9 characters"


def test_a_long_file_is_opened_at_once(page):
    """A file of 5 MB froze the page for almost a minute before it was in the field."""
    took = page.driver.execute_async_script("""
        const done = arguments[0], data = new DataTransfer(), begin = performance.now();
        data.items.add(new File(['Two dogs play in the snow near the old station.\\n'.repeat(60000)], 'long.txt'));
        new MutationObserver(() => done(performance.now() - begin)).observe(document.getElementById('count'), {childList: true});
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));""")
    page["stop"].click()
    assert took < 5000 and len(typed(page)) == 48 * 60000
    assert page["input"].get_attribute("dir") == "auto"


def test_a_swap_is_undone_with_its_languages(page):
    answer = page.translate(TEXT)
    page["swap"].click()
    page.until(lambda: typed(page) == answer)
    page["undo"].click()
    page.until(lambda: page.output() == answer)
    assert typed(page) == TEXT and languages(page) == ["en", "de"]


def test_what_was_typed_since_is_undone_first(page):
    page.translate(TEXT)
    page["clear"].click()
    page["input"].send_keys("x")
    assert not page["undo"].is_displayed()
    page["input"].send_keys(Keys.CONTROL, "z")
    page.until(lambda: page["undo"].is_displayed())
    page["input"].send_keys(Keys.CONTROL, "z")
    page.until(lambda: typed(page) == TEXT)


def test_a_reload_keeps_the_text_its_format_and_its_file(page, movie, chrome):  # noqa: F811
    answer, said = page.output(), page["count"].text
    chrome.refresh()
    page.until(lambda: page.output() == answer)
    assert typed(page) == CUES and page["count"].text == said and not page["undo"].is_displayed()
    page["clear"].click()
    chrome.refresh()
    page.until(lambda: len(page.all("#target option")) >= 3)
    assert not typed(page)


def test_a_new_visit_begins_with_an_empty_field(page, chrome, bundled):  # noqa: F811
    page.translate(TEXT)
    again = Page(chrome, bundled)
    assert not typed(again) and chrome.execute_script("return sessionStorage.length") == 0


def test_the_format_of_a_text_that_the_browser_kept(page, movie, chrome):  # noqa: F811
    """Some browsers restore the field's text by themselves after a reload."""
    said = page["count"].text
    with before_each_page(chrome, kept(CUES)):
        chrome.refresh()
        page.until(lambda: page["count"].text == said)


def test_typing_alone_translates_only_where_it_did(page, chrome, bundled):  # noqa: F811
    page["auto"].click()
    again = Page(chrome, bundled)
    assert not again["auto"].is_selected()


def test_an_unknown_language_is_called_so(page):
    """The page said that it is English, with 0 % certainty."""
    page.choose("source", "auto")
    page.paste("Это предложение на русском языке.")
    page.done()
    assert page["detected"].text == "Not recognized: read as English"
    page["clear"].click()
    assert page["detected"].text == ""
    page["swap"].click()
    assert page["status"].text == "Choose the language of the text first, or let a text be translated."


def test_swapped_languages_are_those_of_the_next_time(page, chrome, bundled):
    page.choose_languages()
    page["swap"].click()
    again = Page(chrome, bundled)
    assert languages(again) == ["de", "en"]


def test_a_kept_text_is_translated(page, chrome, bundled):
    """It stood there without its length and beside an empty translation."""
    page.choose("target", "de")
    with before_each_page(chrome, kept(TEXT)):
        again = Page(chrome, bundled)
        again.done()
        assert again.output() == expected(bundled, TEXT) and again["count"].text == f"{len(TEXT)} characters"


def test_a_link_is_translated_in_a_kept_text_s_place(page, chrome, bundled):
    with before_each_page(chrome, kept(TEXT)):
        again = Page(chrome, bundled, "#source=en&target=de&text=Two+dogs+play.")
        again.done()
        assert typed(again) == "Two dogs play." and again.output() == expected(bundled, "Two dogs play.")
