"""The web page's catalogs (server/api/web/de.js and fr.js) have a translation for each text that the page says, and no others."""
import html.parser
import os
import re

import pytest

WEB = os.path.join(os.path.dirname(__file__), "..", "..", "server", "api", "web")
NO_PAGE = {"de.js", "fr.js", "words.js", "status.js", "docs.js"}  # catalogs, their reader, and scripts of other pages
ATTRIBUTES = ("aria-label", "data-empty", "placeholder", "title")
NAMES = {"Dragoman", "API", "openapi.yaml"}


def read(name):
    with open(os.path.join(WEB, name), encoding="utf-8") as f:
        return f.read()


class Templates:
    """Collects the texts of t`…` in a script, with {0}, {1} … for what is put in."""

    def __init__(self, script):
        self.script, self.texts = script, []
        for match in re.finditer(r"(?<![\w$.])t`", script):
            self.texts.append(self.template(match.end())[0])

    def template(self, i):
        text, n, s = "", 0, self.script
        while s[i] != "`":
            if s.startswith("${", i):
                text, n, i = text + "{%d}" % n, n + 1, self.expression(i + 2)
            else:
                text, i = text + s[i], i + 1
        return text, i + 1

    def expression(self, i):
        depth, s = 1, self.script
        while depth:
            if s[i] == "`":
                i = self.template(i + 1)[1]
            elif s[i] == "'":
                i = s.index("'", i + 1) + 1
            else:
                depth, i = depth + {"{": 1, "}": -1}.get(s[i], 0), i + 1
        return i


class Page(html.parser.HTMLParser):
    """Collects texts and attributes with texts, but not those for browsers without scripts."""

    def __init__(self):
        super().__init__()
        self.texts, self.open = set(), []
        self.feed(read("index.html"))

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.texts |= {value for name, value in attrs if name in ATTRIBUTES}

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "body" in self.open and "noscript" not in self.open and re.search(r"[^\W\d]{2}", data) and not data.startswith("."):
            self.texts.add(data.strip())


def said():
    texts = Page().texts - NAMES
    for name in os.listdir(WEB):
        if name.endswith(".js") and name not in NO_PAGE:
            script = re.sub(r"^\s*//.*$", "", read(name), flags=re.M)
            texts |= set(Templates(script).texts)
            for unit in re.findall(r"counted\([\w.]+, '(\w+)'\)", script):
                texts |= {unit, unit + "s"}
    return texts | set(re.findall(r"^  \w+: '(.*)',$", read("flags.js"), re.M))


def catalog(language):
    return dict(re.findall(r"^  '((?:[^'\\]|\\.)*)':\s+'((?:[^'\\]|\\.)*)',$", read(language + ".js"), re.M))


@pytest.mark.parametrize("language", ["de", "fr"])
def test_a_catalog_has_all_texts_of_the_page(language):
    wanted, found = said(), catalog(language)
    assert len(wanted) > 200 and set(found) == wanted
    for text, translation in found.items():
        assert sorted(re.findall(r"\{\d\}", text)) == sorted(re.findall(r"\{\d\}", translation)), text


def test_no_script_has_another_t():
    """A variable of that name hid the function, and a sentence without other translations ended in an error."""
    for name in os.listdir(WEB):
        script = re.sub(r"//.*$", "", read(name), flags=re.M) if name.endswith(".js") else ""
        if re.search(r"import \{.*\bt\} from './words.js'", script):
            rest = re.sub(r"^import .*$", "", script, flags=re.M)
            assert not re.findall(r"[^\n]*(?:(?:const|let) |[(,{\[] ?)t(?:[,)}\]]| [=o]).*", rest), name


def test_messages_are_not_written_past_the_catalogs():
    """A message in quotation marks is one that nobody can translate."""
    for name in os.listdir(WEB):
        if name.endswith(".js") and name not in NO_PAGE | {"flags.js"}:
            script = re.sub(r"//.*$", "", read(name), flags=re.M)
            assert not re.findall(r"(?:say|end|fail|Error|Option)\((?:new Error\()?['`][“\w][^'`]* .*", script), name
            assert not re.findall(r"node\('\w+', \{[^{}]*\}, ['`][“\w].*", script), name
            assert not re.findall(r"(?:aria-label'|[{ ]title): ['`].*|textContent = ['`][“\w].*", script), name
