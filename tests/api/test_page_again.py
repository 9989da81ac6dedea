"""The page opened again: with the languages of the last time, and with the text that a browser kept of a page it did not keep."""
from web_page import TEXT, Page, before_each_page, bundled, chrome, expected, page  # noqa: F401

# What a browser does with the field of a closed tab that is opened again, or of a page to which a person goes back.
KEPT = "document.addEventListener('DOMContentLoaded', () => { for (const i of document.querySelectorAll('#input')) i.value = %r; });" % TEXT


def test_swapped_languages_are_those_of_the_next_time(page, chrome, bundled):
    page.choose_languages()
    page["swap"].click()
    again = Page(chrome, bundled)
    assert [again[side].get_property("value") for side in ("source", "target")] == ["de", "en"]


def test_a_kept_text_is_translated(page, chrome, bundled):
    """It stood there without its length and beside an empty translation."""
    page.choose("target", "de")
    with before_each_page(chrome, KEPT):
        again = Page(chrome, bundled)
        again.done()
        assert again.output() == expected(bundled, TEXT) and again["count"].text == f"{len(TEXT)} characters"


def test_a_link_is_translated_in_a_kept_text_s_place(page, chrome, bundled):
    with before_each_page(chrome, KEPT):
        again = Page(chrome, bundled, "#source=en&target=de&text=Two+dogs+play.")
        again.done()
        assert again["input"].get_property("value") == "Two dogs play." and again.output() == expected(bundled, "Two dogs play.")
