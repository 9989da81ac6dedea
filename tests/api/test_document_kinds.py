"""Every kind of document that the server lists comes back byte for byte if nothing is to be translated, also with words in it."""
import functools
import io
import zipfile

import docx
import openpyxl
import pptx
import pytest
import requests
from odf import draw, style, table, text
from odf.opendocument import OpenDocumentPresentation, OpenDocumentSpreadsheet, OpenDocumentText

from conftest import BUNDLES, PATIENCE, Server

DOGS = "Two dogs play in the snow."
FILLED = {".po", ".pot", ".xlf", ".xliff", ".ts", ".xcstrings"}  # bilingual formats; these samples are fully translated


def saved(document):
    out = io.BytesIO()
    (document.write if hasattr(document, "write") else document.save)(out)
    return out.getvalue()


def word():
    d = docx.Document()
    p = d.add_paragraph("Two dogs play in the ")
    p.add_run("snow").bold = True
    p.add_run(".")
    return saved(d)


def slides():
    d = pptx.Presentation()
    d.slides.add_slide(d.slide_layouts[0]).shapes.title.text = DOGS
    return saved(d)


def sheet():
    d = openpyxl.Workbook()
    d.active["A1"], d.active["A2"] = DOGS, 12
    return saved(d)


def open_text():
    d = OpenDocumentText()
    p, span = text.P(text="Two dogs play in the "), text.Span(text="snow")
    p.addElement(span)
    d.text.addElement(p)
    return saved(d)


def open_slides():
    d = OpenDocumentPresentation()
    layout = style.PageLayout(name="L")
    master = style.MasterPage(name="M", pagelayoutname=layout)
    d.automaticstyles.addElement(layout)
    d.masterstyles.addElement(master)
    page, frame, box = draw.Page(masterpagename=master), draw.Frame(width="1cm", height="1cm"), draw.TextBox()
    box.addElement(text.P(text=DOGS))
    frame.addElement(box)
    page.addElement(frame)
    d.presentation.addElement(page)
    return saved(d)


def open_sheet():
    d = OpenDocumentSpreadsheet()
    t, row, cell = table.Table(name="A"), table.TableRow(), table.TableCell(valuetype="string")
    cell.addElement(text.P(text=DOGS))
    row.addElement(cell)
    t.addElement(row)
    d.spreadsheet.addElement(t)
    return saved(d)


def book():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("mimetype", "application/epub+zip")
        z.writestr("META-INF/container.xml", '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
                   '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>')
        z.writestr("c.opf", '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest>'
                   '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>')
        z.writestr("a.xhtml", '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Two dogs play in the <b>snow</b>.</p></body></html>')
    return out.getvalue()


OFFICE, MACROS, OPEN = "openxmlformats-officedocument.", "ms-", "oasis.opendocument."
# templates, slide shows and files with macros: another kind's members with another content type
RETYPED = {".docm": (word, OFFICE + "wordprocessingml.document", MACROS + "word.document.macroEnabled"),
           ".dotx": (word, OFFICE + "wordprocessingml.document", OFFICE + "wordprocessingml.template"),
           ".dotm": (word, OFFICE + "wordprocessingml.document", MACROS + "word.template.macroEnabledTemplate"),
           ".pptm": (slides, OFFICE + "presentationml.presentation", MACROS + "powerpoint.presentation.macroEnabled"),
           ".ppsx": (slides, OFFICE + "presentationml.presentation", OFFICE + "presentationml.slideshow"),
           ".ppsm": (slides, OFFICE + "presentationml.presentation", MACROS + "powerpoint.slideshow.macroEnabled"),
           ".potx": (slides, OFFICE + "presentationml.presentation", OFFICE + "presentationml.template"),
           ".potm": (slides, OFFICE + "presentationml.presentation", MACROS + "powerpoint.template.macroEnabled"),
           ".xlsm": (sheet, OFFICE + "spreadsheetml.sheet", MACROS + "excel.sheet.macroEnabled"),
           ".xltx": (sheet, OFFICE + "spreadsheetml.sheet", OFFICE + "spreadsheetml.template"),
           ".xltm": (sheet, OFFICE + "spreadsheetml.sheet", MACROS + "excel.template.macroEnabled"),
           ".ott": (open_text, OPEN + "text", OPEN + "text-template"),
           ".otp": (open_slides, OPEN + "presentation", OPEN + "presentation-template"),
           ".ots": (open_sheet, OPEN + "spreadsheet", OPEN + "spreadsheet-template")}


def retyped(kind):
    make, old, new = RETYPED[kind]
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(make())) as a, zipfile.ZipFile(out, "w") as b:
        for member in a.infolist():
            b.writestr(member, a.read(member).replace(old.encode(), new.encode(), 1))
        if MACROS in new:
            b.writestr(kind[1:3] + "/vbaProject.bin", bytes(range(256)))
    return out.getvalue()


CUES = "{}\r\n00:00:01{}000 --> 00:00:02{}000\r\nTwo dogs play\r\n\r\n{}\r\n00:00:02{}000 --> 00:00:03{}000\r\nin the snow.\r\n"
XLIFF = '<?xml version="1.0"?>\n<xliff version="%s" %s><file id="f" %s>%s</file></xliff>\n'
KINDS = {
    ".txt": "Two dogs play.\r\n\r\n  A girl is smiling.\n",
    ".html": "<p>Two dogs <b>play</b> in the snow.<br>&eacute;",
    ".xhtml": '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Two dogs <b>play</b>.<br/></p></body></html>\n',
    ".htm": "<title>Two dogs</title><img alt='a dog'>",
    ".md": "# Two dogs\n\n* play in **the** snow\n",
    ".markdown": "Two dogs\n========\n",
    ".srt": CUES.format(1, ",", ",", 2, ",", ","),
    ".vtt": "WEBVTT\n\n" + CUES.format("a", ".", ".", "b", ".", "."),
    ".ass": "[Events]\r\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\i1}Two dogs{\\i0}\\Nplay.\r\n",
    ".ssa": "[Events]\nFormat: Marked, Start, End, Text\nDialogue: Marked=0,0:00:01.00,0:00:02.00,Two dogs play.\n",
    ".resx": '<?xml version="1.0" encoding="utf-8"?>\n<root>\n  <data name="a" xml:space="preserve"><value>Two dogs &amp;amp; a cat</value></data>\n</root>\n',
    ".stringsdict": '<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict><key>a</key><dict><key>other</key><string>Two dogs</string></dict></dict></plist>\n',
    ".ts": '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1">\n<context><name>a</name><message><source>Two dogs</source>'
           '<translation>Zwei Hunde</translation></message></context>\n</TS>\n',
    ".yml": "# c\r\nen:\r\n  a: 'Two dogs' # d\r\n  b: >\r\n    A girl\r\n    is smiling.\r\n",
    ".yaml": "---\n- &a \"Two \\x64ogs\"\n- *a\n- {b: A girl, c: yes}\n",
    ".xcstrings": '{"sourceLanguage" : "en", "strings" : {"a" : {"localizations" : {"de" : {"stringUnit" : {"value" : "Hund"}}}}}, "version" : "1.0"}\n',
    ".csv": 'id,title\r\n1,"Two ""dogs"", a cat"\r\n2,A girl is smiling.\r\n',
    ".tsv": "Two dogs\t12\n\"A girl\"\tplay",
    ".php": "<?php\r\n\r\nreturn [\r\n    'dogs' => 'Two \\'dogs\\'', // 'x'\r\n    \"girl\" => \"A girl :name\\n\",\r\n];\r\n",
    ".docx": word, ".pptx": slides, ".xlsx": sheet, ".odt": open_text, ".odp": open_slides, ".ods": open_sheet, ".epub": book,
    ".po": 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n#~ msgid "old"\n\nmsgid ""\n"Two "\n"dogs"\nmsgstr "Zwei"\n',
    ".pot": '# c\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n',
    ".xlf": XLIFF % ("1.2", 'xmlns="urn:oasis:names:tc:xliff:document:1.2"', 'original="a" source-language="en" target-language="de" datatype="x"',
                     '<body><trans-unit id="1"><source>Two dogs</source><target>Zwei</target></trans-unit></body>'),
    ".xliff": XLIFF % ("2.0", 'srcLang="en" trgLang="de" xmlns="urn:oasis:names:tc:xliff:document:2.0"', "",
                       '<unit id="1"><segment><source>Two dogs</source><target>Zwei</target></segment></unit>'),
    ".json": '{\r\n  "a": "Two \\u0064ogs", "n": [1, {"b": "play"}]\n}',
    ".arb": '{"@@locale":"en","a":"Two dogs {n}","@a":{"description":"d"}}',
    ".properties": "# c\na = Two dogs\\\n   play\nb:\\u0054wo dogs\n",
    ".strings": '/* c */\n"a" = "Two dogs";\n',
    ".xml": '<?xml version="1.0" encoding="utf-8"?>\n<resources>\n  <string name="a">Two <b>dogs</b></string>\n</resources>\n',
    **{kind: functools.partial(retyped, kind) for kind in RETYPED},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(BUNDLES, "--documents", str(tmp_path_factory.mktemp("kinds") / "documents.db")) as s:
        yield s


def content(kind):
    made = KINDS[kind]
    return made.encode() if isinstance(made, str) else made()


def send(server, kind, sent, target):
    reply = requests.post(server.url("/translate_file"), files={"file": ("a" + kind, sent)}, data={"source": "en", "target": target}, timeout=PATIENCE)
    assert reply.status_code == 200, reply.text
    got = requests.get(reply.json()["translatedFileUrl"], timeout=PATIENCE)
    assert got.status_code == 200, got.text
    return got.content


def test_these_are_all_kinds(server):
    assert set(server.get("/frontend/settings").json()["supportedFilesFormat"]) == set(KINDS)
    assert set(server.get("/").json()["documents"]) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_byte_for_byte(server, kind):
    """English to English changes nothing; English to German changes something, unless the document is fully translated already."""
    sent = content(kind)
    assert send(server, kind, sent, "en") == sent
    assert (send(server, kind, sent, "de") == sent) == (kind in FILLED)
