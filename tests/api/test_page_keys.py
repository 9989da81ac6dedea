"""API keys that are entered on the web page: pasted ones come with signs that nobody sees, and some are none."""
import pytest

from conftest import Server
from test_keys import new_key
from web_page import BUNDLES, TEXT, Page, before_each_page, chrome, pressed  # noqa: F401

NO_KEY = "This is no API key: a key has ASCII characters alone."


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server that asks for keys: (server, a key, one with the scope admin)."""
    keys = str(tmp_path_factory.mktemp("keys") / "keys.db")
    key, admin = new_key(keys), new_key(keys, "--scope", "admin")
    with Server(BUNDLES, "--keys", keys) as server:
        yield server, key, admin


@pytest.fixture
def asked(chrome, guarded):  # noqa: F811
    page = Page(chrome, guarded[0], "web/icon.svg", languages=0)
    chrome.execute_script("sessionStorage.clear()")
    yield page
    chrome.execute_script("sessionStorage.clear()")
    chrome.get_log("browser")  # drops the messages about refused requests


def opened(page, rest=""):
    page.open(rest)
    page.until(lambda: page["key-form"].is_displayed())


def entered(page, key):
    page.driver.execute_script("document.getElementById('key').value = arguments[0]; document.querySelector('#key-form button').click()", key)


@pytest.mark.parametrize("around", ["\u200b%s", "%s\ufeff", " %s\u00a0", "\u2060%s\u200d"])
def test_a_key_is_pasted_with_signs_that_nobody_sees(asked, guarded, around):
    opened(asked)
    entered(asked, around % guarded[1])
    asked.until(lambda: len(asked.all("#target option")) >= 3)
    assert not asked["key-form"].is_displayed() and not asked["error"].is_displayed()
    assert asked.translate(TEXT)


@pytest.mark.parametrize("wrong", ["%s–", "ключ", "\u200b"])
def test_what_can_be_no_key_is_refused_beside_its_form(asked, guarded, wrong):
    """fetch throws at such a header before it asks; the page said for ever that the server does not answer."""
    opened(asked)
    entered(asked, wrong.replace("%s", guarded[1]))
    asked.until(lambda: asked["error"].text == NO_KEY)
    assert asked["key-form"].is_displayed() and asked.driver.execute_script("return document.activeElement.id") == "key"
    assert asked.driver.execute_script("return sessionStorage.getItem('dragoman-key')") is None
    entered(asked, guarded[1])
    asked.until(lambda: len(asked.all("#target option")) >= 3)
    assert not asked["error"].is_displayed()


def test_a_kept_key_that_cannot_be_sent_is_asked_for_again(asked, guarded):
    """The page of forms, /docs, keeps what is typed there for this page, too."""
    asked.driver.execute_script("sessionStorage.setItem('dragoman-key', 'ключ')")
    opened(asked)
    entered(asked, guarded[1])
    asked.until(lambda: len(asked.all("#target option")) >= 3)


@pytest.mark.parametrize("path", ["", "status"])
def test_a_server_without_keys_asks_for_none(asked, path):
    """It refuses pages whose address has a name that strangers may own (403); the page then asked for an API key that nobody has."""
    said = "the Host header names no host of this server"
    with before_each_page(asked.driver, """
        window.fetch = () => Promise.resolve(new Response(JSON.stringify({error: {code: 'forbidden', message: %r}}), {status: 403}));""" % said):
        asked.open(path)
        asked.until(lambda: asked["error"].text == said)
        assert not asked["key-form"].is_displayed()


def test_a_key_that_ends_while_someone_types(asked, guarded):
    """The rest of what was typed went into the key's field; then the text was translated into the languages that were chosen before,
    or a link's text took its place."""
    server, key, _ = guarded
    opened(asked, "#source=en&target=de&text=Two+dogs+play.")
    entered(asked, key)
    asked.done()
    assert asked.driver.execute_script("return document.activeElement.id") == "input"
    asked["swap"].click()
    asked.until(lambda: asked["source"].get_property("value") == "de" and asked["status"].text.startswith("Done"))
    asked.driver.execute_script("sessionStorage.setItem('dragoman-key', 'ended')")
    asked["translate"].click()
    asked.until(lambda: asked["key-form"].is_displayed())
    assert asked.driver.execute_script("return document.activeElement.id") == "key"
    entered(asked, key)
    asked.done()
    german = asked["input"].get_property("value")
    assert asked["source"].get_property("value") == "de" and german != "Two dogs play."
    asked.driver.execute_script("sessionStorage.setItem('dragoman-key', 'ended')")
    asked["input"].send_keys(" Ein")
    asked.until(lambda: asked["key-form"].is_displayed())
    pressed(asked, " Hund.")
    assert asked["input"].get_property("value") == german + " Ein Hund." and asked["key"].get_property("value") == ""
    entered(asked, key)
    asked.done()
    assert [asked[side].get_property("value") for side in ("source", "target")] == ["de", "en"]


def test_a_file_without_a_key_is_not_blamed_on_the_server(asked, guarded, tmp_path):
    opened(asked)
    asked.upload(tmp_path / "dogs.docx", "PK")
    asked.until(lambda: "has not said yet" in asked["error"].text)
    assert asked["key-form"].is_displayed()


def test_the_operators_page_refuses_them_too(asked, guarded):
    opened(asked, "status")
    entered(asked, guarded[2] + "–")
    asked.until(lambda: asked["error"].text == NO_KEY)
    assert asked["key-form"].is_displayed()
    entered(asked, guarded[2] + "\u200b")
    asked.until(lambda: len(asked.all("svg.chart")) == 6)
