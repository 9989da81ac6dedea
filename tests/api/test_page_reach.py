"""Who can use the web page: by keyboard alone, with a screen reader (axe-core), on a phone, in the dark, from right to left."""
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import bundle
from conftest import CLI, Server
from web_page import TEXT, Page, axe, bundled, chord, chrome, emulate, expected, page, phone, picture, pressed, sideways, tab_to, unplugged  # noqa: F401

PICTURED = ("The children are playing football in the park near the old station. "
            "A woman with a red umbrella is waiting for the train. Where can I buy a ticket?")
DOUBTFUL = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich."


def everything_open(page, text=TEXT, word="Hunde"):
    """Opens a result, its history, the models with a card, and a sentence with alternatives, other translations and attention."""
    page["show-history"].click()
    page["history-keep"].click()
    page.translate(text)
    page["show-models"].click()
    page.unfold("models")
    page.until(lambda: page.all("#models .card-text table"))
    page.open_sentence()
    page.until(lambda: len(page.all("#sentence-target button")) >= 4)
    next(b for b in page.all("#sentence-target button") if b.text == word).click()
    page.until(lambda: page.all("#alternatives button"))
    page.unfold("nbest")
    page.until(lambda: page.all("#nbest li"))
    page.unfold("attention")
    page.until(lambda: page.all("#att-picture line"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(page, scheme):
    emulate(page, prefers_color_scheme=scheme)
    assert axe(page) == "[]"
    everything_open(page, TEXT + " " + DOUBTFUL)
    assert len(page.all("#history-list li")) == 1 and page["legend"].is_displayed()
    page.choose("att-head", "all")
    page.until(lambda: page.all("#att-picture .heads li"))
    assert axe(page) == "[]"
    page.choose("att-view", "map")
    page.until(lambda: len(page.all("#att-picture figure")) > 1)
    with unplugged(page.driver, "*/v1/*"):
        page.all("#sentence-target button")[0].click()
        page.until(lambda: page["error"].is_displayed())
    assert axe(page) == "[]"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light_are_the_systems(page, scheme):
    """The page has colours of its own for dark and light. Also takes the pictures of README and docs/page.md."""
    emulate(page, prefers_color_scheme=scheme)
    dark = [sum(int(c) for c in page.driver.execute_script("return getComputedStyle(document.body).%s" % which)[4:-1].split(",")) < 384
            for which in ("backgroundColor", "color")]
    assert dark == [scheme == "dark", scheme == "light"]
    page["rerank"].click()  # as on a first visit
    page.translate(PICTURED)
    page.open_sentence()
    page.choose_word()
    page.until(lambda: page.all("#alternatives button"))
    page.until(lambda: page.all("#sentence-source .hit"))
    page.unfold("attention")
    page.until(lambda: page.all("#att-picture line"))
    page.choose("att-unit", "words")
    picture(page, "page-" + scheme)


# The contrast of each colour with its background: placeholders, and the lines of eight heads.
CONTRASTS = r"""
const light = (colour) => { const [r, g, b] = colour.match(/[\d.]+/g).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const contrast = (a, b) => { const [low, high] = [light(a), light(b)].sort((x, y) => x - y); return (high + 0.05) / (low + 0.05); };
const card = getComputedStyle(document.querySelector('.card')).backgroundColor;
const heads = [...Array(8).keys()].map((n) => {
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line'), picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  picture.classList.add('att');
  line.classList.add('head-' + n);
  picture.append(line);
  document.body.append(picture);
  const colour = getComputedStyle(line).stroke;
  picture.remove();
  return colour;
});
return [contrast(getComputedStyle(document.getElementById('input'), '::placeholder').color, card),
        contrast(getComputedStyle(document.getElementById('output'), '::before').color, card), new Set(heads).size, ...heads.map((h) => contrast(h, card))];"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_axe_does_not_look_at_is_legible(page, scheme):
    """Placeholders as text (4.5), the heads' colours as marks (3), as WCAG 2 asks."""
    emulate(page, prefers_color_scheme=scheme)
    typed, shown, different, *heads = page.driver.execute_script(CONTRASTS)
    assert typed >= 4.5 and shown >= 4.5 and different == 8 and min(heads) >= 3, (typed, shown, heads)


def test_a_systems_own_colours_show_the_chosen_word(page):
    """With forced colours no background can mark a word: the chosen one has an outline."""
    emulate(page, forced_colors="active")
    try:
        everything_open(page)
        outlines = page.driver.execute_script("""return ['#sentence-source .hit', '#sentence-target [aria-pressed=true]', '#output [aria-current=true]',
            '#sentence-target [aria-pressed=false]'].map((s) => getComputedStyle(document.querySelector(s)).outlineStyle)""")
        assert outlines == ["solid", "solid", "solid", "none"]
        page.choose("att-view", "lines")
        page.choose("att-head", "all")
        colours = page.driver.execute_script("return [...document.querySelectorAll('.heads li')].map((e) => getComputedStyle(e, '::before').backgroundColor)")
        assert len(set(colours)) == len(colours) > 1, colours  # each head's own, as its lines have
    finally:
        emulate(page, forced_colors="none")


def test_a_narrow_phone_needs_no_sideways_scrolling(page):
    with phone(page):
        tops = {page[name].rect["y"] + page[name].rect["height"] / 2 for name in ("source", "swap", "target")}
        assert max(tops) - min(tops) < 2  # the languages beside each other
        everything_open(page)
        assert sideways(page) <= 320
        box = page["att-picture"]
        page.choose("att-unit", "words")
        assert box.get_property("scrollWidth") <= box.get_property("clientWidth")  # the lines fit the phone
        for view in ("lines", "map"):
            for head in ("mean", "all"):
                page.choose("att-view", view)
                page.choose("att-head", head)
                assert sideways(page) <= 320, (view, head)
        with unplugged(page.driver, "*/v1/*"):
            page.paste(TEXT)
            page.until(lambda: page["error"].is_displayed())
        assert sideways(page) <= 320


def test_long_words_need_no_sideways_scrolling(page, tmp_path):
    """Addresses, compounds and names of files: in flags, alternatives, the history, errors and the text's line of facts."""
    word = "Donaudampfschifffahrtsgesellschaft" * 3
    with phone(page):
        page["show-history"].click()
        page["history-keep"].click()
        page.translate(f"{word} is at https://example.org/{word}")
        page.until(lambda: page.all("#history-list button") and page["legend"].is_displayed())
        page.open_sentence()
        page.driver.execute_script("document.getElementById('nbest').open = true")
        page.until(lambda: page.all("#nbest button"))
        assert sideways(page) <= 320
        for ending in (".md", ".unknown"):
            page.upload(tmp_path / (word + ending), "Two dogs.")
            page.until(lambda: word in page["count"].text + page["error"].text)
            assert sideways(page) <= 320, ending
        page.until(lambda: word + ".unknown" in page["error"].text)
        assert sideways(page) <= 320


def test_all_of_a_translation_is_printed(page):
    """Its boxes scroll on the screen: a sheet had their first lines alone."""
    page.translate("Two dogs play.\n" * 100)
    cut = "return ['input', 'output'].map((id) => document.getElementById(id)).map((e) => e.scrollHeight > e.clientHeight + 1)"
    assert page.driver.execute_script(cut) == [True, True]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert page.driver.execute_script(cut) == [False, False]
        assert not page["copy"].is_displayed() and page["output"].is_displayed()
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_field_is_as_high_as_its_text(page):
    """The field showed eight of 39 lines, beside a translation of twenty."""
    page.translate("\n".join("Two dogs play." for _ in range(39)))
    heights = "return ['input', 'output'].map((id) => Math.round(document.getElementById(id).getBoundingClientRect().height))"
    text, translation = page.driver.execute_script(heights)
    assert abs(text - translation) <= 2
    page["clear"].click()
    assert page.driver.execute_script(heights)[0] < text / 2


def test_the_phone_is_pictured(page):
    emulate(page, prefers_color_scheme="light")
    with phone(page, 390):
        page["rerank"].click()  # as on a first visit
        page.translate(TEXT)
        page.open_sentence()
        page.choose_word()
        page.until(lambda: page.all("#alternatives button"))
        assert sideways(page) <= 390
        picture(page, "page-phone", 390)


def test_text_from_right_to_left_is_shown_so(chrome, tmp_path):
    """Uses a small random Hebrew model: its text is nonsense, but the layout counts."""
    bundle.make(CLI, str(tmp_path / "en-he"), "en", "he", seed=1)
    bundle.make(CLI, str(tmp_path / "he-en"), "he", "en", seed=2)
    way = lambda selector: chrome.execute_script(
        "const e = document.querySelector(arguments[0]); return [getComputedStyle(e).direction, e.closest('[lang]').lang]", selector)
    with Server(str(tmp_path)) as server:
        page = Page(chrome, server, languages=2)
        chrome.execute_script("localStorage.clear()")
        page["input"].send_keys("שלום Anna, עולם")
        assert way("#input")[0] == "rtl"
        page["input"].clear()
        page["input"].send_keys("Hello שלום")
        assert way("#input")[0] == "ltr"
        page["show-history"].click()
        page["history-keep"].click()
        for source, target, text in (("en", "he", "Two dogs play. Where is the station?"), ("he", "en", "שלום עולם.")):
            page.translate(text, source, target)
            left, right = ("ltr", "rtl") if target == "he" else ("rtl", "ltr")
            assert way("#output") == [right, target]
            page.open_sentence()
            page.until(lambda: page["sentence-source"].text)
            assert way("#sentence-source") == [left, source] and way("#sentence-target") == [right, target]
            page.unfold("nbest")
            page.until(lambda: page.all("#nbest li"))
            if target == "he":
                assert way("#nbest li button")[0] == "rtl"
                sentences = page.all("#output .s")
                page.driver.execute_script("arguments[0].focus()", sentences[0])
                for key, at in ((Keys.ARROW_LEFT, 1), (Keys.ARROW_RIGHT, 0), (Keys.ARROW_DOWN, 1), (Keys.ARROW_UP, 0)):
                    pressed(page, key)
                    assert page.driver.switch_to.active_element == sentences[at], key
            else:  # the model has no Hebrew letters: they came back unchanged
                assert page["nbest"].text.endswith("There is no other translation.")
            assert way("#history-list li bdi")[0] == left
        assert axe(page) == "[]"


def test_the_keyboard_is_enough_to_translate(page, bundled):
    pressed(page, Keys.TAB)
    assert page.driver.switch_to.active_element.text == "Skip to the text"
    pressed(page, Keys.ENTER)
    page.driver.execute_script("document.activeElement.blur(); document.querySelector('.skip').focus()")
    tab_to(page, page["source"])
    pressed(page, "English")
    tab_to(page, page["target"])
    pressed(page, "German")
    tab_to(page, page["input"])
    pressed(page, TEXT)
    tab_to(page, page["auto"])
    pressed(page, Keys.SPACE)
    assert not page["auto"].is_selected()
    page.done()
    tab_to(page, page["translate"], back=True)
    page.driver.execute_script("document.getElementById('output').replaceChildren()")
    pressed(page, Keys.ENTER)
    page.until(lambda: page.output() == expected(bundled, TEXT))
    page.done()
    for name, said in (("copy", "Translation copied"), ("share", "Link copied")):
        tab_to(page, page[name])
        pressed(page, Keys.ENTER)
        page.until(lambda: page["status"].text == said)
    page["input"].click()
    tab_to(page, page["download"])
    page.driver.execute_script("window.saved = 0; document.addEventListener('click', (e) => e.target.download && saved++, true);"
                               "HTMLAnchorElement.prototype.click = function () { saved++; }")
    pressed(page, Keys.ENTER)
    page.until(lambda: page.driver.execute_script("return saved") == 1)
    tab_to(page, page["swap"], back=True)
    pressed(page, Keys.ENTER)
    page.until(lambda: page["source"].get_property("value") == "de" and page.output() == expected(bundled, expected(bundled, TEXT), "de", "en"))
    tab_to(page, page["clear"])
    pressed(page, Keys.ENTER)
    assert page["input"].get_property("value") == "" and page.driver.switch_to.active_element == page["input"]


def test_the_keyboard_is_enough_for_a_sentence(page):
    page.choose_languages()
    page["input"].click()
    pressed(page, TEXT)
    chord(page, Keys.CONTROL, Keys.ENTER)
    page.done()
    tab_to(page, page.all("#output .s")[0])
    pressed(page, Keys.ARROW_RIGHT)
    second = page.driver.switch_to.active_element
    assert second == page.all("#output .s")[1]
    pressed(page, Keys.ENTER)
    page.until(lambda: page["sentence"].is_displayed())
    assert page["sentence-source"].text == "Where is the station?"
    station = page.all("#sentence-target button")[3]
    tab_to(page, station)
    page.until(lambda: [w.text for w in page.all("#sentence-source .hit")] == ["station?"])
    pressed(page, Keys.ENTER)
    page.until(lambda: len(page.all("#alternatives button")) >= 3)
    other = page.all("#alternatives button")[1]
    text = other.text
    tab_to(page, other)
    pressed(page, Keys.ENTER)
    page.until(lambda: page.output().endswith(text))
    tab_to(page, page.driver.find_element(By.CSS_SELECTOR, "#nbest summary"))
    pressed(page, Keys.ENTER)
    page.until(lambda: len(page.all("#nbest li button")) >= 3)
    best = page.all("#nbest li button")[0]
    text = best.text
    tab_to(page, best)
    pressed(page, Keys.ENTER)
    page.until(lambda: page.output().endswith(text))
    tab_to(page, page.driver.find_element(By.CSS_SELECTOR, "#attention summary"))
    pressed(page, Keys.ENTER)
    page.until(lambda: page.all("#att-picture line"))
    for name, choice, value in (("att-kind", "Enc", "encoder"), ("att-layer", "1", "0"), ("att-head", "All", "all"), ("att-view", "Heat", "map"),
                                ("att-unit", "Words", "words")):
        tab_to(page, page[name])
        pressed(page, choice)
        page.until(lambda: page[name].get_property("value") == value)
    page.until(lambda: len(page.all("#att-picture figure")) > 1)
    tab_to(page, page["att-picture"])
    pressed(page, Keys.ARROW_DOWN)
    assert "looks at" in page["att-note"].text
    pressed(page, Keys.ESCAPE, Keys.ESCAPE)
    assert not page["sentence"].is_displayed()
    assert page.driver.switch_to.active_element == second


def test_the_keyboard_is_enough_for_models_and_history(page):
    page.choose_languages()
    page["input"].click()
    tab_to(page, page["show-history"], back=True)
    pressed(page, Keys.ENTER)
    page.until(lambda: page["history"].is_displayed())
    assert page.driver.switch_to.active_element == page["history"]
    tab_to(page, page["history-keep"])
    pressed(page, Keys.SPACE)
    page.paste(DOUBTFUL)
    page.until(lambda: page["legend"].is_displayed())
    reason = page.all("#legend button")[0]
    tab_to(page, reason)
    pressed(page, Keys.ENTER)
    page.until(lambda: page["sentence-flags"].text)
    tab_to(page, page["sentence-close"])
    pressed(page, Keys.ENTER)
    assert not page["sentence"].is_displayed()
    page["clear"].click()
    page.paste("Where is the station?")
    page.until(lambda: len(page.all("#history-list li")) == 2)
    tab_to(page, page.all("#history-list li:last-child button")[0])
    pressed(page, Keys.ENTER)
    page.until(lambda: page["input"].get_property("value").startswith("Zwölf"))
    page.done()
    tab_to(page, page["history-clear"])
    pressed(page, Keys.ENTER)
    assert not page.all("#history-list li")
    tab_to(page, page["show-models"])
    pressed(page, Keys.ENTER)
    page.until(lambda: page["models"].is_displayed())
    tab_to(page, page.driver.find_element(By.CSS_SELECTOR, "#models summary"))
    pressed(page, Keys.ENTER)
    page.until(lambda: page.all("#models .card-text table"))
