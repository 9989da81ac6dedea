"""Glossaries on the web page of a server that keeps them (--collections): they are chosen for translations, made, changed and deleted."""
import codecs

import pytest
import requests

from conftest import PATIENCE, Server
from test_keys import new_key
from web_page import BUNDLES, Keys, Page, axe, bundled, chrome, expected, forget, no_script_failed, phone, pressed, sent, sideways, tab_to  # noqa: F401

TEXT = "Two dogs play in the snow."


@pytest.fixture(scope="module")
def keeping(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keeping")
    with Server(BUNDLES, "--collections", str(folder / "c.db"), "--documents", str(folder / "d.db")) as server:
        yield server


def listed(server):
    return server.get("/v1/glossaries").json()["glossaries"]


def made(server, name, entries, source="en", target="de"):
    reply = server.post("/v1/glossaries", {"name": name, "dictionaries": [{"source": source, "target": target, "entries": entries}]})
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


def opened(chrome, server):  # noqa: F811
    """Returns a freshly opened page, from English to German."""
    page = Page(chrome, server)
    page.until(lambda: page["show-glossaries"].is_displayed())
    page.choose_languages()
    return page


@pytest.fixture
def page(chrome, keeping):  # noqa: F811
    for glossary in listed(keeping):
        requests.delete(keeping.url("/v1/glossaries/" + glossary["id"]), timeout=PATIENCE)
    forget(chrome, keeping)
    yield opened(chrome, keeping)
    no_script_failed(chrome)


def entries(page):
    return page.driver.execute_script("return [...document.querySelectorAll('#glossary-list li button:first-child')].map((b) => b.textContent)")


def fill(page, **fields):
    for name, text in fields.items():
        page[name.replace("_", "-")].clear()
        page[name.replace("_", "-")].send_keys(text)


def add(page, source, target, **fields):
    fill(page, term_source=source, term_target=target, **fields)
    page["term-target"].send_keys(Keys.ENTER)
    page.until(lambda: f"{source} → {target}" in entries(page))


def test_a_glossary_is_made_changed_and_deleted(page, keeping):
    """There was no way to use a glossary on the page. The translation follows each change."""
    plain = page.translate(TEXT)
    page["show-glossaries"].click()
    page.until(lambda: page["term-source"].is_displayed())
    assert page["glossaries-title"].text == "New glossary: English → German" and page.driver.switch_to.active_element == page["glossaries"]
    add(page, "snow", "Neuschnee", glossary_name="pets")
    page.until(lambda: "Neuschnee" in page.output())
    [pets] = listed(keeping)
    assert page["glossary"].get_property("value") == pets["id"] and page["glossaries-title"].text == "Glossary “pets”: English → German"
    assert page.driver.switch_to.active_element == page["term-source"] and page["term-source"].get_property("value") == ""
    add(page, "dogs", "Vierbeiner")
    page.until(lambda: "Neuschnee" in page.output() and "Vierbeiner" in page.output())
    page.all("#glossary-list button")[0].click()  # dogs: its fields, to change it
    add(page, page["term-source"].get_property("value"), "Haustiere")
    page.until(lambda: "Haustiere" in page.output() and entries(page) == ["dogs → Haustiere", "snow → Neuschnee"])
    assert axe(page) == "[]"
    page.all("[aria-label='Delete dogs → Haustiere']")[0].click()
    page.until(lambda: entries(page) == ["snow → Neuschnee"] and "Haustiere" not in page.output() and "Neuschnee" in page.output())
    assert page.driver.switch_to.active_element.get_attribute("aria-label") == "Delete snow → Neuschnee"
    page["glossary-delete"].click()
    assert page.driver.switch_to.alert.text == "Delete the glossary “pets”? Entries in all its languages: 1."
    page.driver.switch_to.alert.accept()
    page.until(lambda: page.output() == plain and listed(keeping) == [] and page["glossary"].get_property("value") == "")
    assert not page["error"].is_displayed()


def test_a_chosen_glossary_is_that_of_the_next_visit(page, chrome, keeping):  # noqa: F811
    pets = made(keeping, "pets", {"snow": "Neuschnee"})
    other = made(keeping, "weather", {"snow": "Schneefall"})
    page = opened(chrome, keeping)
    plain = page.translate(TEXT)
    page.choose("glossary", pets)
    page.until(lambda: "Neuschnee" in page.output())
    page.choose("glossary", other)
    page.until(lambda: "Schneefall" in page.output())
    page.choose("glossary", "")
    page.until(lambda: page.output() == plain)
    page.choose("glossary", pets)
    page = opened(chrome, keeping)
    assert page["glossary"].get_property("value") == pets and "Neuschnee" in page.translate(TEXT)


TMX = ('<tmx version="1.4"><header/><body><tu><tuv xml:lang="en-US"><seg>snow</seg></tuv><tuv xml:lang="de"><seg>Neuschnee</seg></tuv></tu>'
       '<tu><tuv xml:lang="fr"><seg>neige</seg></tuv><tuv xml:lang="de"><seg>Schnee</seg></tuv></tu></body></tmx>')


# Version 3, and version 2 with a term that should be used no more.
TBX = {3: '<tbx type="TBX-Basic" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"><text><body><conceptEntry id="1"><langSec xml:lang="en-US"><termSec><term>snow'
          '</term></termSec></langSec><langSec xml:lang="de"><termSec><term>Neuschnee</term></termSec></langSec></conceptEntry><conceptEntry id="2">'
          '<langSec xml:lang="fr"><termSec><term>neige</term></termSec></langSec></conceptEntry></body></text></tbx>',
       2: '<?xml version="1.0" encoding="UTF-8"?><martif type="TBX"><text><body><termEntry><langSet xml:lang="en"><tig><term>snow</term></tig></langSet>'
          '<langSet xml:lang="de"><tig><term>Firn</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig>'
          '<tig><term>Neuschnee</term></tig></langSet></termEntry></body></text></martif>'}


@pytest.mark.parametrize("name, content", [
    ("pets.tbx", TBX[3].encode()), ("pets.tbx", TBX[2].encode()), ("pets.en-de.tsv", b"snow\tNeuschnee\n"), ("pets.csv", codecs.BOM_UTF8 + b'"snow",Neuschnee\r\n'),
    ("pets.csv", b"snow;Neuschnee\r\n"), ("pets.tmx", TMX.encode()),
    ("pets.txt", codecs.BOM_UTF16_LE + "snow\tNeuschnee\n".encode("utf-16-le"))])
def test_entries_come_from_a_file(page, keeping, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    page.translate(TEXT)
    page["show-glossaries"].click()
    page["glossary-file"].send_keys(str(tmp_path / name))
    page.until(lambda: entries(page) == ["snow → Neuschnee"] and "Neuschnee" in page.output())
    [pets] = listed(keeping)
    assert pets["name"] == "pets" and not page["glossary-error"].is_displayed() and not page["document"].is_displayed()
    (tmp_path / "more.tsv").write_text("dogs\tVierbeiner\n")
    page["glossary-file"].send_keys(str(tmp_path / "more.tsv"))
    page.until(lambda: "Vierbeiner" in page.output() and len(entries(page)) == 2)
    assert len(listed(keeping)) == 1


@pytest.mark.parametrize("name, content, said", [
    ("terms.xlsx", b"PK", "terms.xlsx: Files of entries end in .tsv"), ("terms.tbx", b"<tbx>", "terms.tbx: It is not well-formed XML"),
    ("terms.tbx", TBX[3].replace("snow", "").encode(), "terms.tbx: It has no terms from English to German"), ("terms.csv", "Schnee;Café".encode("cp1252"), "must be UTF-8"),
    ("terms.csv", b"snow\n", "line 1 has 1 columns, expected 2 or 4"), ("terms.tmx", TMX.replace("en-US", "it").encode(), "no entries from en to de")])
def test_a_file_without_entries_is_refused_beside_its_button(page, keeping, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    page["show-glossaries"].click()
    page["glossary-file"].send_keys(str(tmp_path / name))
    page.until(lambda: said in page["glossary-error"].text)
    assert axe(page) == "[]" and listed(keeping) == [] and not page["error"].is_displayed()
    page.driver.get_log("browser")  # Chromium describes broken XML in a document with a style, which the page's policy blocks


def test_files_that_are_dropped_on_the_card_are_the_glossary_s(page, keeping):
    """All of them: the second one and those after it used to be ignored."""
    page["show-glossaries"].click()
    page.until(lambda: page["term-source"].is_displayed())
    page.driver.execute_script("""
        const data = new DataTransfer();
        data.items.add(new File(['snow,Neuschnee\\n'], 'pets.csv'));
        data.items.add(new File(['dogs,Vierbeiner\\n'], 'more.csv'));
        document.getElementById('term-source').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));""")
    page.until(lambda: len(entries(page)) == 2)
    assert len(listed(keeping)) == 1 and not page["error"].is_displayed()


def test_an_entry_waits_for_the_files_before_it(page, keeping):
    """It used to be dropped, with the rest of the files, while one of them was on its way."""
    page["show-glossaries"].click()
    page.until(lambda: page["term-source"].is_displayed())
    fill(page, term_source="two", term_target="zwo")
    page.driver.execute_script("""
        const data = new DataTransfer();
        data.items.add(new File(['snow,Neuschnee\\n'], 'pets.csv'));
        data.items.add(new File(['dogs,Vierbeiner\\n'], 'more.csv'));
        const fetched = window.fetch;
        window.fetch = (...request) => { // the first request: Add is pressed while it runs
          window.fetch = fetched;
          document.getElementById('glossary-form').requestSubmit();
          return fetched(...request);
        };
        document.getElementById('term-source').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));""")
    page.until(lambda: entries(page) == ["dogs → Vierbeiner", "snow → Neuschnee", "two → zwo"])
    assert len(listed(keeping)) == 1 and not page["glossary-error"].is_displayed()


def test_a_glossary_is_renamed(page, chrome, keeping):  # noqa: F811
    """Another name needed another client."""
    made(keeping, "pets", {"snow": "Neuschnee"})
    page = opened(chrome, keeping)
    page.choose("glossary", listed(keeping)[0]["id"])
    page["show-glossaries"].click()
    page.until(lambda: entries(page) == ["snow → Neuschnee"])
    page["glossary-rename"].click()
    assert page.driver.switch_to.alert.text == "New name of the glossary “pets”:"
    page.driver.switch_to.alert.send_keys(" animals ")
    page.driver.switch_to.alert.accept()
    page.until(lambda: page["glossaries-title"].text == "Glossary “animals”: English → German")
    [animals] = listed(keeping)
    assert animals["name"] == "animals" and entries(page) == ["snow → Neuschnee"] and "Neuschnee" in page.translate(TEXT)
    page["glossary-rename"].click()
    page.driver.switch_to.alert.dismiss()
    assert page["glossaries-title"].text.startswith("Glossary “animals”")


def test_a_glossary_without_the_languages_is_not_used(page, chrome, keeping):  # noqa: F811
    """The server refuses it: a text could not be swapped, or translated into another language, with a glossary chosen."""
    pets = made(keeping, "pets", {"dogs": "toutous"}, target="fr")
    page = opened(chrome, keeping)
    page.choose("glossary", pets)
    said = "“pets” has no entries from English to German."
    assert page.translate(TEXT) == expected(keeping, TEXT) and page["glossary-hint"].text == said and not page["error"].is_displayed()
    page.choose("target", "fr")
    page.until(lambda: "toutous" in page.output() and page["glossary-hint"].text == "")
    page["show-glossaries"].click()
    page.until(lambda: entries(page) == ["dogs → toutous"])
    page.choose("target", "de")
    page.until(lambda: entries(page) == [] and page["glossary-hint"].text == said)
    add(page, "dogs", "Vierbeiner")
    page.until(lambda: "Vierbeiner" in page.output() and page["glossary-hint"].text == "")
    assert len(listed(keeping)[0]["dictionaries"]) == 2


@pytest.mark.parametrize("asked, kept, same", [("en", "en-US", True), ("zh-Hans", "zh-CN", True), ("zh-Hans", "zh-TW", False), ("de-CH", "de-AT", False),
                                               ("sr", "sr-Latn", True), ("he", "iw", True), ("en", "de", False), (None, "en", True)])
def test_languages_are_compared_as_the_server_does(page, asked, kept, same):
    found = page.driver.execute_async_script("""
        const [asked, kept, done] = arguments;
        import('/web/glossaries.js').then(({dictionary}) => done(Boolean(dictionary({dictionaries: [{source: kept, target: 'fr'}]}, asked, 'fr'))));""",
        asked, kept)
    assert found is same


def test_other_translations_and_documents_have_its_terms(page, chrome, keeping, tmp_path):  # noqa: F811
    pets = made(keeping, "pets", {"snow": "Neuschnee"})
    page = opened(chrome, keeping)
    page.choose("glossary", pets)
    page.translate(TEXT)
    page.open_sentence()
    page.unfold("nbest")
    page.until(lambda: page.all("#nbest li"))
    assert "Neuschnee" in page.all("#nbest li button")[0].text
    page.choose_word()
    page.until(lambda: page.all("#alternatives button") and page.all("#sentence-source .hit"))
    sent(chrome)
    page.upload(tmp_path / "page.html", f"<p>{TEXT}</p>")
    page.until(lambda: page.all("#document-list li") and page.document(".download").is_enabled())
    url = next(url for url, _ in sent(chrome) if "/v1/documents/" in url and not url.endswith("/result"))
    assert requests.get(url, timeout=PATIENCE).json()["glossary"] == pets
    assert "Neuschnee" in requests.get(url + "/result", timeout=PATIENCE).text and not page["error"].is_displayed()


def test_a_long_glossary_is_searched(page, chrome, keeping):  # noqa: F811
    made(keeping, "long", {"term %03d" % n: "Wort %03d" % n for n in range(250)})
    page = opened(chrome, keeping)
    page.choose("glossary", listed(keeping)[0]["id"])
    page["show-glossaries"].click()
    page.until(lambda: len(page.all("#glossary-list li")) == 201)
    assert page.all("#glossary-list li")[-1].text == "50 more entries: search for one."
    page["glossary-find"].send_keys("wort 23")
    page.until(lambda: entries(page) == [f"term 23{n} → Wort 23{n}" for n in range(10)])


def test_a_glossary_that_somebody_deleted_is_not_chosen_for_ever(page, chrome, keeping):  # noqa: F811
    pets = made(keeping, "pets", {"snow": "Neuschnee"})
    page = opened(chrome, keeping)
    page.choose("glossary", pets)
    requests.delete(keeping.url("/v1/glossaries/" + pets), timeout=PATIENCE)
    page.paste(TEXT)
    page.until(lambda: "glossary" in page["error"].text and page["glossary"].get_property("value") == "")
    page["translate"].click()
    page.done()
    assert page.output() == expected(keeping, TEXT) and not page["error"].is_displayed()


def test_the_languages_must_be_known(page):
    page.choose("source", "auto")
    page["show-glossaries"].click()
    page.until(lambda: page["glossary-note"].text == "Choose the language of the text first, or let a text be translated.")
    assert not page["glossary-form"].is_displayed()
    page.paste(TEXT)
    page.until(lambda: page["glossary-form"].is_displayed() and page["glossaries-title"].text == "New glossary: English → German")


def test_the_keyboard_is_enough_and_a_phone_wide_enough(page, keeping):
    page.translate(TEXT)
    page["input"].click()
    tab_to(page, page["show-glossaries"], back=True)
    pressed(page, Keys.ENTER)
    page.until(lambda: page["term-source"].is_displayed())
    word = "Donaudampfschifffahrtsgesellschaft" * 3
    for name, text in (("glossary-name", word), ("term-source", "snow"), ("term-target", word)):
        tab_to(page, page[name])
        pressed(page, text)
    pressed(page, Keys.ENTER)
    page.until(lambda: entries(page) == [f"snow → {word}"])
    with phone(page):
        assert sideways(page) <= 320 and axe(page) == "[]"
        tops = {page[name].rect["y"] + page[name].rect["height"] / 2 for name in ("source", "swap", "target")}
        assert max(tops) - min(tops) < 2
    tab_to(page, page.all("#glossary-list .close")[0])
    pressed(page, Keys.ENTER)
    page.until(lambda: entries(page) == [])
    tab_to(page, page["glossary-delete"], back=True)
    pressed(page, Keys.ENTER)
    page.driver.switch_to.alert.accept()
    page.until(lambda: listed(keeping) == [] and page.driver.switch_to.active_element == page["glossaries"])


def test_a_glossary_of_all_is_read_only_for_a_key(chrome, tmp_path):  # noqa: F811
    """One that was made before the server had keys can be used, but only the server's owner can change it."""
    keys, kept = str(tmp_path / "keys.db"), str(tmp_path / "c.db")
    key = new_key(keys)
    with Server(BUNDLES, "--collections", kept) as server:
        pets = made(server, "pets", {"snow": "Neuschnee"})
    with Server(BUNDLES, "--collections", kept, "--keys", keys) as server:
        chrome.get(server.url("/web/icon.svg"))
        chrome.execute_script("sessionStorage.setItem('dragoman-key', arguments[0])", key)
        page = opened(chrome, server)
        page.choose("glossary", pets)
        assert "Neuschnee" in page.translate(TEXT)
        page["show-glossaries"].click()
        page.until(lambda: entries(page) == ["snow → Neuschnee"])
        assert not page["glossary-form"].is_displayed() and not page["glossary-delete"].is_displayed() and not page.all("#glossary-list .close")[0].is_displayed()
        page["glossary-new"].click()
        add(page, "dogs", "Vierbeiner", glossary_name="mine")
        page.until(lambda: "Vierbeiner" in page.output())
        mine = requests.get(server.url("/v1/glossaries"), headers={"Authorization": "Bearer " + key}, timeout=PATIENCE).json()["glossaries"][-1]
        assert mine["name"] == "mine" and mine["shared"] is False
        chrome.execute_script("sessionStorage.clear()")


def test_glossaries_of_the_server_s_files_are_chosen(chrome, tmp_path):  # noqa: F811
    (tmp_path / "pets.en-de.tsv").write_text("snow\tNeuschnee\n")
    with Server(BUNDLES, "--glossaries", str(tmp_path / "pets.en-de.tsv")) as server:
        page = Page(chrome, server)
        page.until(lambda: page["glossary-choice"].is_displayed())
        assert not page["show-glossaries"].is_displayed()
        plain = page.translate(TEXT)
        page.choose("glossary", "pets")
        page.until(lambda: "Neuschnee" in page.output())
        page.choose("glossary", "")
        page.until(lambda: page.output() == plain)
    with Server(BUNDLES, "--glossaries", str(tmp_path / "pets.en-de.tsv"), "--collections", str(tmp_path / "c.db")) as server:
        page = opened(chrome, server)
        page.choose("glossary", "pets")
        page["show-glossaries"].click()
        page.until(lambda: page["glossary-note"].text == "This glossary is a file of the server and is changed there.")
        assert not page["glossary-form"].is_displayed() and not page["glossary-delete"].is_displayed() and page["glossary-new"].is_displayed()


def test_a_server_that_keeps_none_offers_none(chrome, bundled):  # noqa: F811
    page = Page(chrome, bundled)
    page.until(lambda: page["formats"].text)
    assert not page["show-glossaries"].is_displayed() and not page["glossary-choice"].is_displayed() and not page["error"].is_displayed()
