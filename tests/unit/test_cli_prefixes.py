"""dragoman translate FILE -o FILE: office files whose names have other prefixes than Office writes, as after an edit with
ElementTree (<ns0:p>)."""
import zipfile
from xml.etree import ElementTree

import docx
import pptx
from odf import style, teletype, text
from odf.opendocument import OpenDocumentText, load

from test_cli_documents import DOGS, SNOW, check_others, translate


def with_other_prefixes(path, member):
    other = path.with_name("other-" + path.name)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == member:
                content = ElementTree.tostring(ElementTree.fromstring(content), encoding="utf-8", xml_declaration=True)
                assert b"<ns0:" in content
            new.writestr(name, content)
    return other


def test_word(tmp_path):
    """The file came back untranslated, without a message."""
    d, path = docx.Document(), tmp_path / "a.docx"
    p = d.add_paragraph("Two dogs play in the ")
    p.add_run("snow").bold = True
    p.add_run(".")
    d.save(path)
    sent = with_other_prefixes(path, "word/document.xml")
    out = translate(sent)
    p = docx.Document(out).paragraphs[0]
    assert p.text == SNOW and [r.text for r in p.runs if r.bold] == ["Schnee"]
    check_others(sent, out, {"word/document.xml", "word/styles.xml"})


def test_slides(tmp_path):
    d, path, member = pptx.Presentation(), tmp_path / "a.pptx", "ppt/slides/slide1.xml"
    d.slides.add_slide(d.slide_layouts[0]).shapes.title.text = DOGS
    d.save(path)
    out = translate(with_other_prefixes(path, member))
    assert pptx.Presentation(out).slides[0].shapes.title.text == SNOW


def test_open_document(tmp_path):
    d, path, bold = OpenDocumentText(), tmp_path / "a.odt", style.Style(name="B", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    d.automaticstyles.addElement(bold)
    p = text.P(text="Two dogs play in the ")
    p.addElement(text.Span(text="snow", stylename=bold))
    p.addText(".")
    d.text.addElement(p)
    d.save(path)
    read = load(translate(with_other_prefixes(path, "content.xml"))).text
    assert [teletype.extractText(p) for p in read.getElementsByType(text.P)] == [SNOW]
    assert [teletype.extractText(s) for s in read.getElementsByType(text.Span)] == ["Schnee"]
