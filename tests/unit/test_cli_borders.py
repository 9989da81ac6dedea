"""dragoman translate FILE -o FILE: what stands between the words of a file without being one. Where a text ends, each side is translated as by itself."""
import json
import os
import re
import subprocess
import zipfile

import docx
import openpyxl
import pytest
from docx.oxml import OxmlElement
from odf import text
from odf.opendocument import OpenDocumentText

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLI = os.path.join(ROOT, os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
BUNDLE = os.path.join(ROOT, "tests", "data", "en-de")
PARTS = ["Two dogs", "A girl with a red hat", "A boy"]  # without full stops
XLIFF = '<xliff version="1.2"><file original="a" source-language="en" target-language="de" datatype="x"><body>%s</body></file></xliff>\n'
UNIT = '<trans-unit id="1"%s><source>%s</source><target>%s</target></trans-unit>'


def translate(path):
    out = path.with_name("out-" + path.name)
    done = subprocess.run([CLI, "translate", "--model", BUNDLE, "--source-lang", "en", "--target-lang", "de", "--workers", "1", str(path), "-o", str(out)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def translated(folder, name, content):
    """The file's translation."""
    path = folder / name
    path.write_text(content, newline="")
    return translate(path).read_text()


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Each part translated by itself."""
    return json.loads(translated(tmp_path_factory.mktemp("parts"), "a.json", json.dumps(PARTS)))


def xliff(space, sign):
    return lambda source, target: XLIFF % (UNIT % (space, sign.join(source), sign.join(target or [])))


def one(form):
    """The form of a file in one language, whose text is its translation if there is one."""
    return lambda source, target: form(target or source)


APART = {
    "lines.json": one(lambda p: json.dumps(["\n".join(p)], ensure_ascii=False)),
    "lines.xml": one(lambda p: '<resources><string name="a">' + "\\n".join(p) + "</string></resources>"),
    "tabs.xml": one(lambda p: '<resources><string name="a">' + "\\t".join(p) + "</string></resources>"),
    "quoted.xml": one(lambda p: '<resources><string name="a">"' + "\\n".join(p) + '"</string></resources>'),
    "lines.xlf": xliff(' xml:space="preserve"', "\n  "),
    "table.md": one(lambda p: "| 1 |\n|---|\n| " + "<br>".join(p) + " |\n"),
    "list.md": one(lambda p: "* " + "<BR />".join(p) + "\n"),
    "tabs.txt": one(lambda p: "\t" + "\t".join(p) + "\t\n"),
    "bars.txt": one(lambda p: " | ".join(p) + "\n| " + " | ".join(p) + " |\n"),
    "bars.html": one(lambda p: "<p><a>" + "</a>|<a>".join(p) + "</a> | <b>1</b></p>\n"),
    "links.html": one(lambda p: '<nav><a href="/">' + '</a> &raquo; <a href="/b">'.join(p) + "</a></nav>\n"),
    "dots.md": one(lambda p: " • ".join(p) + " · 2\n"),
    "blanks.txt": one(lambda p: "        ".join(p) + "     $12.50  3\n"),
    "tabs.json": one(lambda p: json.dumps(["\t".join(p)], ensure_ascii=False)),
    "tabs.po": lambda source, target: 'msgid "%s"\nmsgstr "%s"\n' % ("\\t".join(source), "\\t".join(target or [])),
    "tabs.properties": one(lambda p: "é=é\na=" + "\\t".join(p) + "\n"),
}


@pytest.mark.parametrize("name", APART)
def test_texts_apart(tmp_path, parts, name):
    form = APART[name]
    assert translated(tmp_path, name, form(PARTS, None)) == form(PARTS, parts)


TAGGED = ["Press the <gui style=\"menu\">File</gui> button, or <keyseq><key>Ctrl</key><key>F</key></keyseq>.",  # Mallard, in GNOME's help
          "<para>The dogs of <filename>%1</filename> play.</para>",  # KDE
          "Two dogs play in the <link xref=\"snow\">snow</link> of <_:link-1/>.",  # itstool
          "<0>Click here</0> to see the <2>dogs</2>, <1/> or <icon name='cat'/>.",  # i18next
          "Use <option>--help</option> with the <xliff:g id=\"a\">dogs</xliff:g>.",
          "Remove the <meta name=\"referrer\" content=\"no-referrer\"> tag.",
          "<picture/> Two dogs play in the snow."]


@pytest.mark.parametrize("text", TAGGED)
@pytest.mark.parametrize("name", ["a.po", "a.json"])
def test_tags_of_strings(tmp_path, text, name):
    """Tags of any language come back once each, and pairs nested as before."""
    said = json.dumps(text)
    got = translated(tmp_path, name, said if name == "a.json" else 'msgid %s\nmsgstr ""\n' % said)
    answer = json.loads(got.split("msgstr ")[-1])
    tag = re.compile(r"<[^<>]*>")
    assert answer != text and sorted(tag.findall(answer)) == sorted(tag.findall(text))
    opened = []
    for slash, word in re.findall(r"<(/?)([\w:-]+)(?:[^<>]*[^<>/])?>", answer):
        assert not slash or opened.pop() == word
        opened += [] if slash or word == "meta" else [word]
    assert opened == []


@pytest.mark.parametrize("text", ["Two dogs play in {n, plural, one {the <b>snow</b>} other {<x/> snow}}.", "<b>Two dogs</b> play in {{ a + \"<i>\" }}."])
def test_tags_in_placeholders(tmp_path, text):
    """A placeholder comes back as it is, also with tags in it."""
    (tmp_path / "a.txt").write_text(text + "\n")
    assert re.search(r"\{.*\}", text).group(0) in translate(tmp_path / "a.txt").read_text()


@pytest.mark.parametrize("text", ["Two dogs <b and c> play.", "Two <dogs> play in the <snow>.", "We <3 dogs, and they > cats.",
                                  "Two dogs at <https://example.org/> play."])
def test_angle_brackets_that_are_no_tags(tmp_path, text):
    done = subprocess.run([CLI, "translate", "--model", BUNDLE, "--json"], input=text + "\n", capture_output=True, text=True, check=True)
    assert "markup_in_text" not in done.stdout


@pytest.mark.parametrize("name,form,sign", [("a.po", 'msgid "%s"\nmsgstr ""\n', "&"), ("a.po", 'msgid "%s"\nmsgstr ""\n', "_"), ("a.json", '["%s"]', "&&"),
                                            ("a.properties", "key=%s\n", "&"), ("a.xlf", XLIFF % '<trans-unit id="1"><source>%s</source></trans-unit>', "&amp;")])
def test_the_key_of_a_menu(tmp_path, name, form, sign):
    """A label is translated as one without the sign, which is before a letter of it."""
    label = "A girl %swith a red hat"
    whole = translated(tmp_path, name, form % label % "").replace(form % label % "", "")
    got = translated(tmp_path, name, form % label % sign)
    assert got.count(sign) == (1 if name.endswith(("json", "properties")) else 2)
    at = got.rindex(sign)
    assert got[at + len(sign)].isalpha() and got.replace(sign, "") == whole.replace(sign, "")


def test_arguments_of_programs(tmp_path):
    """MediaWiki's and Chrome's; in a text, $1 is a price."""
    got = json.loads(translated(tmp_path, "a.json", '["The girl has $1 dogs and $2 hats."]'))[0]
    assert got.count("$1") == got.count("$2") == 1


@pytest.mark.parametrize("sign", ["$$5", "%1", "%L2", "%B", "%-d", "$DOG$", "<%{dog}>"])
def test_more_arguments_of_programs(tmp_path, sign):
    """A price and a name in browser extensions, Qt's, those of dates, an address between brackets."""
    got = json.loads(translated(tmp_path, "a.json", json.dumps([f"The girl with {sign} is smiling."])))[0]
    assert got.count(sign) == 1 and got.replace(sign, "").count("%") == got.replace(sign, "").count("$") == 0


def test_options_of_commands(tmp_path):
    got = json.loads(translated(tmp_path, "a.json", '["The girl needs --no-check-certificate and --delay-directory-restore=A here."]'))[0]
    assert got.count("--no-check-certificate") == 1 and got.count("--delay-directory-restore=") == 1


@pytest.mark.parametrize("space", ["", ' xml:space="default"'])
def test_lines_within_a_text(tmp_path, space):
    """Without xml:space, a line end is any white space, as in HTML."""
    got = translated(tmp_path, "a.xlf", xliff(space, "\n  ")(["Two dogs play", "in the snow."], None))
    assert "<target>Zwei Hunde spielen im Schnee.</target>" in " ".join(got.split()) and got.count("\n  ") == 2


def test_xlsx_lines(tmp_path, parts):
    """A cell with line ends (Alt+Enter), also with runs of several formats."""
    path = tmp_path / "a.xlsx"
    d = openpyxl.Workbook()
    bold = openpyxl.cell.text.InlineFont(b=True)
    rich = openpyxl.cell.rich_text
    d.active["A1"] = "\n".join(PARTS)
    d.active["A2"] = rich.CellRichText(rich.TextBlock(bold, PARTS[0] + "\n"), PARTS[1] + "\n" + PARTS[2])
    d.save(path)
    d = openpyxl.load_workbook(translate(path), rich_text=True)
    assert str(d.active["A1"].value) == str(d.active["A2"].value) == "\n".join(parts)
    assert [str(r) for r in d.active["A2"].value if getattr(r, "font", None)][0].rstrip("\n") == parts[0]


@pytest.mark.parametrize("name,before,words,after", [
    ("a.md", "", "**Two dogs<br>play in the snow.**", ""),
    ("a.md", "", "[Two<br/><br/>dogs play](http://a.b) in the snow.", ""),
    ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n", "Two<br>dogs play in the snow.", "\n"),
    ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n", "Two<BR />dogs<br>\nplay in the snow.", "\n"),
])
def test_line_ends_within_words(tmp_path, name, before, words, after):
    """A <br> within a text is a space to the model, and comes back once."""
    got = translated(tmp_path, name, before + words + after)
    assert got.startswith(before) and got.endswith(after)
    got = got[len(before):]
    assert re.findall("(?i)<br ?/?>", got) == re.findall("(?i)<br ?/?>", words)
    plain = re.sub(r"(?i)<br ?/?>|\*\*|\[|\]\(.*?\)|\s", " ", got)
    assert " ".join(plain.split()) == "Zwei Hunde spielen im Schnee."


def test_br_does_not_get_lost(tmp_path):
    """An answer of one word has no space for it."""
    assert translated(tmp_path, "a.md", "**snow<br>storm**\n").count("<br>") == 1


def test_hyphens_of_word(tmp_path):
    """Ctrl+Shift+_ and Ctrl+- in Word: part of the word, not something between two."""
    path = tmp_path / "a.docx"
    d = docx.Document()
    for before, name, after in ("Two dogs play in the s", "w:softHyphen", "now."), ("A T", "w:noBreakHyphen", "shirt."):
        run = d.add_paragraph(before).runs[0]
        run._r.append(OxmlElement(name))
        run.add_text(after)
    d.save(path)
    d = docx.Document(translate(path))
    assert [p.text for p in d.paragraphs] == ["Zwei Hunde spielen im Schnee.", "Ein T-Shirt."]
    assert "Hyphen" not in d.element.xml


@pytest.mark.parametrize("count,left", [(None, 0), (1, 0), (3, 1)])
def test_spaces_of_open_document(tmp_path, count, left):
    """<text:s/> for the first space, as other programs than LibreOffice write it."""
    path = tmp_path / "a.odt"
    d = OpenDocumentText()
    p = text.P(text="Two")
    p.addElement(text.S(c=count) if count else text.S())
    p.addText("dogs play in the ")
    p.addElement(text.S(c=2))
    p.addText("snow.")
    d.text.addElement(p)
    d.save(path)
    got = translate(path)
    xml = zipfile.ZipFile(got).read("content.xml").decode()
    assert xml.count("<text:s ") == left + 1
    assert " ".join(re.sub("<.*?>", "", xml[xml.index("<text:p>"):]).split()) == "Zwei Hunde spielen im Schnee."


B, END = '<bpt id="1">&lt;b&gt;</bpt>', '<ept id="1">&lt;/b&gt;</ept>'
RID, RID_END = '<bpt id="1" rid="7">{b}</bpt>', '<ept id="2" rid="7">{/b}</ept>'
CODES = [  # a source and its target
    (f"Two {B}dogs{END} play in the snow.", f"Zwei {B}Hunde{END} spielen im Schnee."),
    (f"{B}Two dogs play in the snow.{END}", f"{B}Zwei Hunde spielen im Schnee.{END}"),
    (f"Two {B}dogs{END} play in the {RID}snow{RID_END}.", f"Zwei {B}Hunde{END} spielen im {RID}Schnee{RID_END}."),
    (f"Two {B}{RID}dogs{RID_END}{END} play in the snow.", f"Zwei {B}{RID}Hunde{RID_END}{END} spielen im Schnee."),
    ('Two <sc id="1"/>dogs<ec startRef="1"/> play in the <bx id="2"/>snow<ex id="2"/>.',
     'Zwei <sc id="1"/>Hunde<ec startRef="1"/> spielen im <bx id="2"/>Schnee<ex id="2"/>.'),
    # Halves of pairs, and placeholders that a word touches: marks at their place.
    (f"Two {B}dogs play in the snow.", f"Zwei {B}Hunde spielen im Schnee."),
    ('Two <ph id="1">&lt;b&gt;</ph>dogs<ph id="2">&lt;/b&gt;</ph> play in the snow.', 'Zwei <ph id="1">&lt;b&gt;</ph>Hunde<ph id="2">&lt;/b&gt;</ph> spielen im Schnee.'),
    ('Two <it id="1" pos="open">&lt;b&gt;</it>dogs play in the snow.', 'Zwei <it id="1" pos="open">&lt;b&gt;</it>Hunde spielen im Schnee.'),
]


@pytest.mark.parametrize("prefix", ["", "x:"])
@pytest.mark.parametrize("source,target", CODES)
def test_xliff_codes(tmp_path, prefix, source, target):
    """The model sees no code, and a code's end stays after what its beginning is before."""
    def form(source, target):
        whole = XLIFF.replace("<xliff", '<xliff xmlns="u" xmlns:x="u"') % (UNIT % ("", source, target))
        return re.sub(r"(</?)(bpt|ept|it|ph|sc|ec|bx|ex)\b", r"\1" + prefix + r"\2", whole)
    assert translated(tmp_path, "a.xlf", form(source, "")) == form(source, target)


def test_xliff_placeholders_in_words(tmp_path):
    """One that stands by itself is shown to the model as a word, which comes back once."""
    sign = '<ph id="1">%s</ph>'
    got = translated(tmp_path, "a.xlf", XLIFF % (UNIT % ("", f"Two dogs play in {sign} .", "")))
    target = re.search("<target>(.*)</target>", got).group(1)
    assert target.count(sign) == 1 and target.startswith("Zwei Hunde spielen in ")


@pytest.mark.parametrize("sign", ['<x id="INTERPOLATION" equiv-text="{{ name }}"/>', '<ph id="0" equiv="INTERPOLATION" disp="{{ name }}"/>', '<x id="PH" equiv-text="this.name"/>'])
def test_xliff_values(tmp_path, sign):
    """Angular's: a value is shown to the model as it is in other strings."""
    text = "A girl and %s, two dogs play in the snow with %s."
    want = json.loads(translated(tmp_path, "a.json", json.dumps([text % ("{{ name }}", "{{ name }}")])))[0]
    got = translated(tmp_path, "a.xlf", XLIFF % (UNIT % ("", text % (sign, sign), "")))
    assert re.search("<target>(.*)</target>", got).group(1) == want.replace("{{ name }}", sign)


@pytest.mark.parametrize("mark", ['translate="no"', 'mtype="protected"'])
def test_xliff_protected_words(tmp_path, mark):
    """The words of XLIFF 2's mark and of 1.2's stay."""
    words = f"<mrk {mark}>two dogs</mrk>"
    got = translated(tmp_path, "a.xlf", XLIFF % (UNIT % ("", f"A girl plays with {words} in the snow.", "")))
    assert got.count(words) == 2


def test_xliff_tags_of_angular(tmp_path):
    """They are no values."""
    source = '<x id="A" ctype="x-b" equiv-text="[b]"/>Two<x id="B" equiv-text="&lt;/b&gt;"/> dogs play.'
    got = translated(tmp_path, "a.xlf", XLIFF % (UNIT % ("", source, "")))
    assert "<target>" + source.replace("Two", "Zwei").replace("dogs play", "Hunde spielen") in got


LINE_ENDS = ['<x id="LINE_BREAK" ctype="lb" equiv-text="&lt;br/&gt;"/>', '<ph id="1">&lt;br/&gt;</ph>', '<ph id="0" equiv="LINE_BREAK"/>', '<ph id="1" type="fmt" subType="xlf:lb"/>']


@pytest.mark.parametrize("sign", LINE_ENDS)
def test_xliff_line_ends(tmp_path, parts, sign):
    form = xliff("", sign)
    assert translated(tmp_path, "a.xlf", form(PARTS, None)) == form(PARTS, parts)
    got = translated(tmp_path, "a.xlf", XLIFF % (UNIT % ("", f'<g id="9">Two{sign}dogs</g> play in the snow.', "")))
    target = re.search("<target>(.*)</target>", got).group(1)
    assert target.count(sign) == 1 and re.sub("<.*?>", "", target.replace(sign, " ")) == "Zwei Hunde spielen im Schnee."


@pytest.mark.parametrize("link", ["[A girl ↗]", "![A girl 🚀][]"])
def test_a_label_with_a_sign_at_its_end(tmp_path, link):
    """Signs at a sentence's ends are not translated with it, but those of a link whose text is its label are: the label is kept."""
    label = link.strip("![]")
    written = translated(tmp_path, "a.md", f"{link}\n\n[{label}]: u\n")
    assert f"][{label}]\n" in written and "Mädchen" in written and written.endswith(f"[{label}]: u\n"), written
