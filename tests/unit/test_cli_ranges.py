"""dragoman translate FILE -o FILE: fields of forms and mail merges, and ranges of words (bookmarks, comments, changes), in Office files."""
import re
import zipfile
from xml.etree import ElementTree

import pytest

from test_cli_documents import SHIPPED, SMILES, members, run_of, translate


def complex_field(instruction, result):
    char, code = '<w:r><w:fldChar w:fldCharType="%s"/></w:r>', f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
    return char % "begin" + code + char % "separate" + result + char % "end"


def simple_field(instruction, result):
    return f'<w:fldSimple w:instr=" {instruction} ">{result}</w:fldSimple>'


@pytest.mark.parametrize("field", [complex_field, simple_field])
@pytest.mark.parametrize("before,after", [
    (run_of("Your name: ") + "%s" + run_of(" and the dog: ") + "%s", run_of("Ihr Name: ") + "%s" + run_of(" und der Hund: ") + "%s"),
    (run_of("The girl ") + "%s" + run_of(" plays in the house."), run_of("Das Mädchen ") + "%s" + run_of(" spielt im Haus."))])
def test_docx_fields_to_fill_in(tmp_path, field, before, after):
    """Word shows five wide spaces in a form's field that is empty: they came out before or after it, or a word of its label came into it."""
    path, blank = tmp_path / "a.docx", field("FORMTEXT", run_of("\u2002") * 5)
    root = '<w:document xmlns:w="w"><w:p>%s</w:p></w:document>'
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("word/document.xml", root % before.replace("%s", blank))
    assert members(translate(path, model=SHIPPED))[0]["word/document.xml"][0].decode() == root % after.replace("%s", blank)


@pytest.mark.parametrize("field", [complex_field, simple_field])
def test_docx_mail_merge(tmp_path, field):
    """The name of what is filled in stays, and its quotation marks leave none beside it."""
    path, name, house = tmp_path / "a.docx", field("MERGEFIELD First_Name", run_of("«First_Name»")), field("MERGEFIELD House", run_of("«") + run_of("House") + run_of("»"))
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("word/document.xml", f'<w:document xmlns:w="w"><w:p>{run_of("Dear ")}{name}{run_of(" ")}{house}{run_of(", two dogs play in the snow.")}</w:p></w:document>')
    xml = members(translate(path, model=SHIPPED))[0]["word/document.xml"][0].decode()
    assert xml.count(name) == xml.count(house) == 1 and xml.index(name) < xml.index(house)
    assert not re.search('["„“]', re.sub("<[^>]*>", "", xml)) and "zwei Hunde spielen im Schnee." in xml, xml


def test_docx_formatting_within_a_word(tmp_path):
    """Pieces of a word with different formattings: those after the first came back as they were, behind the translation: "Hunde ... gs"."""
    path, bold, italic = tmp_path / "a.docx", '<w:rPr><w:b/></w:rPr>', '<w:rPr><w:i/></w:rPr>'
    root = '<w:document xmlns:w="w"><w:p>%s</w:p></w:document>'
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("word/document.xml", root % (run_of("Two d") + run_of("o").replace("<w:t", bold + "<w:t") + run_of("gs").replace("<w:t", italic + "<w:t") +
                                                run_of(" play in the snow.")))
    xml = members(translate(path, model=SHIPPED))[0]["word/document.xml"][0].decode()
    assert xml == root % (run_of("Zwei ") + run_of("Hunde").replace("<w:t", bold + "<w:t") + run_of(" spielen im Schnee.")), xml


LINE = '<w:r><w:rPr><w:u w:val="single"/></w:rPr><w:t xml:space="preserve">%s</w:t></w:r>'


@pytest.mark.parametrize("before,after", [
    (run_of("Name: ") + "%s" + run_of(" Date: ") + "%s", run_of("Name: ") + "%s" + run_of(" Datum: ") + "%s"),
    (run_of("Name:") + "%s" + run_of("Date:") + "%s", run_of("Name:") + "%s" + run_of("Datum:") + "%s"),
    (run_of("The girl ") + "%s" + run_of(" plays in the house."), run_of("Das Mädchen ") + "%s" + run_of(" spielt im Haus."))])
@pytest.mark.parametrize("spaces", (" " * 12, "\u00a0 " * 6))
def test_docx_lines_of_underlined_spaces(tmp_path, before, after, spaces):
    """Lines to write on came out without the line, with a part of their label, or without the space after them."""
    path, line = tmp_path / "a.docx", LINE % spaces
    root = '<w:document xmlns:w="w"><w:p>%s</w:p></w:document>'
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("word/document.xml", root % before.replace("%s", line))
    assert members(translate(path, model=SHIPPED))[0]["word/document.xml"][0].decode() == root % after.replace("%s", line)


W_NS, ODF_NS = 'xmlns:w="w"', 'xmlns:text="text" xmlns:office="office"'
MORE = "One %smore%s. And this is big."
RANGES = [  # the paragraph's kind, words with two tags in them, and the tags: those of one range, and of two that begin or end together
    ("docx", "Here is a test %sdocument%s.", '<w:commentRangeStart w:id="3"/>', '<w:commentRangeEnd w:id="3"/>'),
    ("docx", MORE, '<w:bookmarkStart w:id="0" w:name="_Toc1"/>', '<w:bookmarkEnd w:id="0"/>'),
    ("docx", MORE, '<w:permStart w:id="0" w:edGrp="everyone"/>', '<w:permEnd w:id="0"/>'),
    ("docx", MORE, '<w:commentRangeStart w:id="1"/><w:commentRangeStart w:id="2"/>',
     '<w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r><w:commentRangeEnd w:id="2"/>'),
    ("docx", MORE, '<w:bookmarkStart w:id="0" w:name="a"/><w:commentRangeStart w:id="0"/>', '<w:commentRangeEnd w:id="0"/><w:bookmarkEnd w:id="0"/>'),
    ("odt", MORE, '<text:bookmark-start text:name="a"/>', '<text:bookmark-end text:name="a"/>'),
    ("odt", MORE, '<text:change-start text:change-id="ct1"/>', '<text:change-end text:change-id="ct1"/>'),
    ("odt", MORE, '<office:annotation office:name="1"><text:p>A girl is smiling.</text:p></office:annotation>', '<office:annotation-end office:name="1"/>')]


@pytest.mark.parametrize("kind,words,start,end", RANGES)
def test_ranges(tmp_path, kind, words, start, end):
    """A bookmark, or what a comment or a change is about, stays around its words: its last tag came before its first one where these words had become
    part of another."""
    path = tmp_path / f"a.{kind}"
    run, between = ("<w:r><w:t>", "</w:t></w:r>") if kind == "docx" else ("", "")
    words = re.sub("(%s)", between + r"\1" + run, words).replace("%s", "{}")
    root = f'<w:document {W_NS}><w:p>%s</w:p></w:document>' if kind == "docx" else f"<office:document-content {ODF_NS}><text:p>%s</text:p></office:document-content>"
    part = "word/document.xml" if kind == "docx" else "content.xml"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(part, root % (run + words.format(start, end) + between))
    xml = members(translate(path, model=SHIPPED))[0][part][0].decode()
    ElementTree.fromstring(xml)
    starts, ends = [re.findall(r"<[wto][^>]*/>|<office:annotation [^>]*>", s) for s in (start, end)]
    assert all(xml.count(tag) == 1 for tag in starts + ends)
    assert max(xml.index(tag) for tag in starts) < min(xml.index(tag) for tag in ends), xml
    assert end in xml  # a comment's number follows its range
    assert "annotation" not in start or SMILES in xml


def test_docx_elements_within_a_text(tmp_path):
    """Such a text, which the format forbids, stays. The file used to be refused: "a translation has a tag that is not in the file's text"."""
    path, odd = tmp_path / "a.docx", "<w:r><w:t>dog<br/>house</w:t></w:r>"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("word/document.xml", f'<w:document xmlns:w="w"><w:p>{run_of("Two dogs play in the snow. ")}{odd}</w:p></w:document>')
    xml = members(translate(path, model=SHIPPED))[0]["word/document.xml"][0].decode()
    assert xml.count(odd) == 1 and "Zwei Hunde" in xml
