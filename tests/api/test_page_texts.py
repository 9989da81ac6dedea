"""What the web page does with a person's text: swapped languages lose none of it, and files keep their bytes."""
import codecs

import pytest
import requests

from conftest import PATIENCE, Server
from web_page import BUNDLES, TEXT, Keys, Page, bundled, chrome, expected, page  # noqa: F401

NEW = "Two dogs. I have just written this."


def languages(page):
    return [page[side].get_property("value") for side in ("source", "target")]


def typed(page):
    return page["input"].get_property("value")


def test_a_swap_while_a_translation_streams_in_keeps_the_text(page):
    text = " ".join("The %d dogs play in the snow near the old station." % n for n in range(2, 300))
    page.choose_languages()
    page.driver.execute_script("""
        const output = document.getElementById('output');
        new MutationObserver((_, observer) => {
          if (output.querySelectorAll('.s').length < 3) return;
          observer.disconnect();
          document.getElementById('swap').click();
          window.swapped = [output.querySelectorAll('.s').length, document.getElementById('input').value];
        }).observe(output, {childList: true, subtree: true});""")
    page.paste(text)
    page.until(lambda: page.driver.execute_script("return window.swapped"))
    assert page.driver.execute_script("return window.swapped")[1] == text
    assert languages(page) == ["de", "en"] and typed(page) == text
    page.done()


def test_a_swap_before_a_text_is_translated_keeps_it(page, bundled):
    """The output still is the earlier text's; a swap after the new one is translated takes its translation."""
    page.translate("Two dogs.")
    page.driver.execute_script("document.getElementById('auto').checked = false")
    page.driver.execute_script("const i = document.getElementById('input'); i.value = arguments[0]; i.dispatchEvent(new Event('input'))", NEW)
    page["swap"].click()
    page.done()
    assert typed(page) == NEW and languages(page) == ["de", "en"]
    page["swap"].click()
    page.until(lambda: page.output() == expected(bundled, typed(page)))
    german = page.translate(NEW)
    page["swap"].click()
    page.until(lambda: page.output() == expected(bundled, german, "de", "en"))
    assert typed(page) == german


def test_a_swap_without_a_model_back_changes_nothing(chrome, models):  # noqa: F811
    with Server(models) as server:  # en-de and de-fr
        page = Page(chrome, server, languages=2)
        answer = page.translate("Two dogs.")
        page["swap"].click()
        assert page["status"].text == "No model translates to English"
        assert typed(page) == "Two dogs." and page.output() == answer and languages(page) == ["en", "de"]


TWO = "Two dogs.\nA café.\n"


@pytest.mark.parametrize("encoded, mark, end", [
    (TWO.encode(), b"", "\n"), (TWO.replace("\n", "\r\n").encode(), b"", "\r\n"), (codecs.BOM_UTF8 + TWO.encode(), codecs.BOM_UTF8, "\n"),
    (codecs.BOM_UTF16_LE + TWO.replace("\n", "\r\n").encode("utf-16-le"), codecs.BOM_UTF8, "\r\n"),
    (codecs.BOM_UTF16_BE + TWO.encode("utf-16-be"), codecs.BOM_UTF8, "\n"), (TWO.replace("\n", "\r").encode(), b"", "\r"),
    (TWO.replace("\n", "\r", 1).encode(), b"", "\n"), (TWO.replace("\n", "\r\n", 1).encode(), b"", "\n")])
def test_a_file_keeps_its_line_ends_and_its_mark(page, bundled, tmp_path, encoded, mark, end):
    """A translation is saved as UTF-8, which the mark of a file in UTF-16 then tells. Mixed line ends become LF."""
    downloads = tmp_path / "downloads"
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    page.choose_languages()
    page.upload(tmp_path / "two.txt", encoded)
    page.done()
    assert typed(page) == TWO
    page["download"].click()
    page.until(lambda: (downloads / "two.de.txt").exists())
    wanted = mark + expected(bundled, TWO).replace("\n", end).encode()
    page.until(lambda: (downloads / "two.de.txt").read_bytes() == wanted)


@pytest.mark.parametrize("encoded", ["Café und Tür".encode("cp1252"), codecs.BOM_UTF16_LE + b"a"])
def test_a_file_in_another_encoding_is_refused(page, tmp_path, encoded):
    page.translate("Two dogs.")
    page.upload(tmp_path / "old.txt", encoded)
    page.until(lambda: page["error"].is_displayed())
    assert page["error"].text == "old.txt: It cannot be read as text: it must be UTF-8, or UTF-16 with a byte order mark."
    assert typed(page) == "Two dogs."


def test_a_file_that_is_gone_is_not_blamed_on_its_encoding(page, tmp_path):
    page.driver.execute_script("File.prototype.arrayBuffer = () => Promise.reject(new DOMException('It was not found.', 'NotFoundError'))")
    page.upload(tmp_path / "old.txt", TEXT)
    page.until(lambda: page["error"].text == "old.txt: It was not found.")


def test_a_text_in_a_file_s_place_is_none_of_the_file(page, bundled, tmp_path):
    """Subtitles without cues are copied: a text that was pasted over a file of them came back untranslated. Undone, it is the file."""
    movie = tmp_path / "movie.srt"
    page.choose_languages()
    page.upload(movie, f"1\n00:00:01,000 --> 00:00:02,000\n{TEXT}\n")
    page.done()
    page["input"].send_keys(Keys.END, " It is late.")  # a change is no other text
    assert page["count"].text.endswith("movie.srt read as subtitles")
    page["input"].send_keys(Keys.CONTROL, "a")
    page["input"].send_keys(TEXT)
    page["translate"].click()
    page.done()
    assert page["count"].text == "48 characters" and page.output() == expected(bundled, TEXT)
    page["file"].send_keys(str(movie))
    page.until(lambda: page["count"].text.endswith("movie.srt read as subtitles"))
    page["input"].send_keys(Keys.CONTROL, "a")
    page["input"].send_keys("x")
    assert page["count"].text == "1 character"
    page["input"].send_keys(Keys.CONTROL, "z")
    page.until(lambda: page["count"].text.endswith("movie.srt read as subtitles"))
    page["input"].send_keys(Keys.END, "It is late.")  # the same for a file that was changed
    changed = page["count"].text
    for keys in ("a", "z"), ("a", "x", "z"):  # all is chosen, and one change undone; all is cut out
        for key in keys:
            page["input"].send_keys(Keys.CONTROL, key)
    page.until(lambda: page["count"].text.endswith("movie.srt read as subtitles"))
    page["input"].send_keys(Keys.CONTROL, "y")
    page["input"].send_keys(Keys.CONTROL, "z")
    page.until(lambda: page["count"].text.endswith("movie.srt read as subtitles") and page["count"].text != changed)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A server that takes 400 characters a request, and documents."""
    with Server(BUNDLES, "--max-characters", "400", "--documents", str(tmp_path_factory.mktemp("documents") / "d.db")) as server:
        yield server


CUES = "".join("%d\n00:00:%02d,000 --> 00:00:%02d,900\nThe %d dogs play\nin the snow.\n\n" % (n, n, n, n) for n in range(2, 40))


WRAPPED = "The %d dogs that are very old play in the deep snow near\nthe old station until the children come.\n"


@pytest.mark.parametrize("name, form, text", [
    ("a.txt", "text", "\n".join("The %d dogs play in the snow." % n for n in range(2, 60))),
    ("wrapped.txt", "wrapped", "\n".join(WRAPPED % n for n in range(2, 20))),
    ("a.srt", "srt", CUES), ("a.vtt", "srt", "WEBVTT\n\nNOTE\nTwo dogs.\n\n" + CUES.replace(",", ".").replace("\n\n", "\n \t\n"))],
    ids=["text", "wrapped", "srt", "vtt"])
def test_texts_over_the_servers_limit_go_in_parts(chrome, bundled, narrow, tmp_path, name, form, text):  # noqa: F811
    """The page asks for the server's limit; the language is detected by no more, either."""
    assert narrow.get("/").json()["max_characters"] == 400 and len(text) > 1200
    page = Page(chrome, narrow)
    page.choose_languages("auto", "de")
    page.upload(tmp_path / name, text)
    page.done()
    wanted = bundled.post("/v1/translate", {"text": text, "source": "en", "target": "de", "format": form}).json()["translations"][0]["text"]
    assert page.output() == wanted and not page["error"].is_displayed()


def test_a_sentence_of_a_wrapped_text_is_opened(chrome, narrow, tmp_path):  # noqa: F811
    page = Page(chrome, narrow)
    page.choose_languages()
    page.upload(tmp_path / "a.txt", WRAPPED % 7 + "\nTwo dogs* play in the [snow].\n")
    page.done()
    assert page["count"].text.endswith(", a.txt read as wrapped text")
    page.open_sentence(0)
    assert "line breaks" in page["sentence-hint"].text
    page.unfold("nbest")
    page.until(lambda: len(page.all("#nbest li button")) >= 2)
    page.open_sentence(1)
    page.choose_word()
    page.until(lambda: page.all("#alternatives button") and page.all("#sentence-source .hit"))
    assert not page["error"].is_displayed()


@pytest.mark.parametrize("lead, more", [("- ", "  "), ("  ", ""), ("> ", "> "), ("  1. ", "     ")], ids=["item", "indent", "quote", "number"])
def test_lines_of_a_wrapped_sentence_go_on(chrome, narrow, tmp_path, lead, more):  # noqa: F811
    """Its other translations are of the whole sentence, and its words have sources: the server was asked about two fragments."""
    lines = ["A man who stands on the corner of the street talks with", "the woman who sells the flowers."]
    text = f"{lead}{lines[0]}\n{more}{lines[1]}\n"
    page = Page(chrome, narrow)
    page.choose_languages()
    page.upload(tmp_path / "a.txt", text)
    page.done()
    assert page.output().startswith(lead) and len(page.all("#output .s")) == 1
    page.open_sentence(0)
    page.choose_word()
    page.until(lambda: page.all("#sentence-source .hit"))
    page.unfold("nbest")
    page.until(lambda: len(page.all("#nbest li button")) >= 2)
    asked = {"text": text, "source": "en", "target": "de", "format": "wrapped", "beam_size": 8, "n_best": 8}
    wanted = narrow.post("/v1/translate", asked).json()["translations"][0]["n_best"]
    assert [b.text.split() for b in page.all("#nbest li button")] == [n["text"][len(lead):].split() for n in wanted]
    assert not page["error"].is_displayed()


LETTER = "The old station near the river, which the town has\nnot used for a hundred years, is closed today."
WIDE = "The committee said on Thursday that the old station near the river of the town in the mountains is closed until summer, "
TITLES = "\n".join(["A Study of the Old Station near the River of the Town"] * 5)


@pytest.mark.parametrize("text", [
    LETTER, LETTER.replace("\n", "\r\n"), LETTER.replace(" has", ""), LETTER.replace("today.", "today.\nDogs\nand cats\nplay."),
    LETTER.replace(" which", "\n\nwhich"), LETTER.replace("has", "has."), WIDE + "\nand in winter it is cold.", WIDE + "é\nand in winter it is cold.",
    WIDE[:119] + "é\nand in winter it is cold.", LETTER.replace("has", "has.»)"), TITLES, TITLES.replace("\nA", "\na")],
    ids=["wrapped", "crlf", "short", "more others", "paragraphs", "sentences", "widest", "wider", "accents", "quoted", "titles", "no titles"])
def test_wrapped_texts_are_those_of_the_documents(chrome, narrow, tmp_path, text):  # noqa: F811
    """A file is translated alike on the page and as a document. Each of its lines was a sentence on the page."""
    form = {"source": "en", "target": "de"}
    url = requests.post(narrow.url("/translate_file"), files={"file": ("a.txt", text.encode())}, data=form, timeout=PATIENCE).json()["translatedFileUrl"]
    page = Page(chrome, narrow)
    for side, language in form.items():
        page.choose(side, language)
    page.upload(tmp_path / "a.txt", text.encode())
    page.done()
    assert page.output() == requests.get(url, timeout=PATIENCE).content.decode().replace("\r\n", "\n")


def test_markdown_over_the_servers_limit_is_a_document(chrome, bundled, narrow, tmp_path):  # noqa: F811
    path = tmp_path / "long.md"
    page = Page(chrome, narrow)
    page.until(lambda: ".docx" in page["formats"].text)
    page.choose_languages()
    page.upload(path, "# Two dogs\n\n" + "A dog.\n\n" * 100)
    page.until(lambda: page.all("#document-list li") and page.document(".state").text.startswith("Done in"))
    assert not page["error"].is_displayed() and page.document(".download").is_enabled()
    page.upload(path, "# Two dogs\n")
    page.done()
    with Server(BUNDLES, "--max-characters", "400") as server:
        page = Page(chrome, server)
        page.until(lambda: "Files" in page["formats"].text)
        page.upload(path, "A dog.\n\n" * 100)
        page.until(lambda: page["error"].is_displayed())
        assert page["error"].text == "the request has 800 characters, the limit is 400"
    chrome.get_log("browser")


def test_history_and_links_keep_the_format(page, tmp_path):
    page["show-history"].click()
    page["history-keep"].click()
    page.choose_languages()
    page.upload(tmp_path / "a.md", "# Two *dogs*\n")
    page.done()
    page.until(lambda: page.all("#history-list button"))
    translated = page.output()
    page["share"].click()
    link = page.driver.current_url
    assert "format=markdown" in link
    page["clear"].click()
    page.translate(TEXT)
    page.all("#history-list li:last-child button")[0].click()
    page.until(lambda: page.output() == translated)
    assert page["count"].text == "13 characters read as Markdown"
    other = Page(page.driver, page.server, link[link.index("#"):])
    other.until(lambda: other.output() == translated)


def test_the_direction_of_languages(page):
    """Of all languages that a converter writes, by their scripts; the text decides where the browser does not know."""
    said = page.driver.execute_async_script("""
        const [codes, done] = arguments;
        import('/web/text.js').then((m) => done(codes.map(m.direction)));""",
        "ar fa he iw ps sd ug ur yi dv ckb acm acq aeb ajp apc ars ary arz prs azb ks ace-Arab kr-Arab nqo en zh-Hans sr-Latn 0".split())
    assert said == ["rtl"] * 25 + ["ltr"] * 3 + ["auto"]
