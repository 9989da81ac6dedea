"""A server whose models are loading, at the start of the page or amid its use: texts and files wait for it, none is refused."""
import pytest

from conftest import Server
from web_page import BUNDLES, TEXT, Page, before_each_page, chrome, expected  # noqa: F401

# What a server says while its models load, until a test sets window.up.
LOADING = """
    const real = window.fetch, json = (status, content) => Promise.resolve(new Response(JSON.stringify(content),
        {status, headers: {'Content-Type': 'application/json', 'Retry-After': '1'}}));
    window.fetch = (path, ...more) => window.up || path === '/' ? real(path, ...more)
        : path === '/v1/models' ? json(200, {models: []}) : json(503, {error: {code: 'starting', message: 'the models are loading'}});"""
STARTING = "The server is starting …"


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    with Server(BUNDLES, "--documents", str(tmp_path_factory.mktemp("documents") / "d.db")) as s:
        yield s


@pytest.fixture
def starting(chrome, documents):  # noqa: F811
    """The page of a server that loads its models."""
    with before_each_page(chrome, LOADING):
        page = Page(chrome, documents, languages=0)
        chrome.execute_script("localStorage.clear(); sessionStorage.clear()")
        page.until(lambda: page["status"].text == STARTING)
        yield page


def test_a_text_waits_for_the_models(starting, documents):
    """It was refused, and its message went away, but no translation came."""
    starting["input"].send_keys(TEXT)
    starting["translate"].click()
    starting.until(lambda: starting["status"].text == STARTING)
    assert not starting["error"].is_displayed()
    starting.driver.execute_script("window.up = true")
    starting.done()
    assert starting.output() == expected(documents, TEXT, target=starting["target"].get_property("value"))


def test_a_file_waits_for_the_models(starting, tmp_path):
    """It was read as text or refused, "because the server runs without --documents"."""
    starting.upload(tmp_path / "dogs.html", "<p>Two dogs play.</p>")
    starting.driver.execute_script("window.up = true")
    starting.until(lambda: starting.all("#document-list li") and starting.document(".download").is_enabled())
    assert starting["input"].get_property("value") == "" and not starting["error"].is_displayed()


def test_a_restart_is_waited_for(starting, documents):
    """Longer than a busy server is asked again."""
    page = starting
    page.driver.execute_script("window.up = true")
    page.until(lambda: page.all("#target option"))
    page.translate(TEXT)
    page.driver.execute_script("window.up = false; document.getElementById('clear').click()")
    page.paste(TEXT)
    page.until(lambda: page["status"].text == STARTING)
    assert not page["error"].is_displayed()
    page.driver.execute_script("window.up = true")
    page.done()
    assert page.output() == expected(documents, TEXT)
