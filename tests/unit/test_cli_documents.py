"""dragoman translate FILE -o FILE: files as other programs write them. Translated by the bundled model, they open in these
programs again with their formatting, and everything else in them is unchanged, byte for byte."""
import os
import re
import subprocess
import zipfile
from xml.etree import ElementTree

import docx
import openpyxl
import pptx
import pytest
from odf import style, text
from odf.opendocument import OpenDocumentText

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLI = os.path.join(ROOT, os.environ.get("DRAGOMAN_BUILD", "build/release"), "bin", "dragoman")
BUNDLE = os.path.join(ROOT, "tests", "data", "en-de")
SHIPPED = os.path.join(ROOT, "weights", "bundles", "en-de-fr")
DOGS, SNOW, GIRL, SMILES = "Two dogs play in the snow.", "Zwei Hunde spielen im Schnee.", "A girl is smiling.", "Ein Mädchen lächelt."


def translate(path, status=0, model=BUNDLE):
    out = path.with_name("out-" + path.name)
    done = subprocess.run([CLI, "translate", "--model", model, "--source-lang", "en", "--target-lang", "de", "--workers", "1", str(path), "-o", str(out)],
                          capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return out if status == 0 else done.stderr


def test_standard_output_is_written_and_stays(tmp_path):
    """What -o names may be no regular file: /dev/stdout, a link to a descriptor, used to be replaced by a file."""
    (tmp_path / "a.md").write_text(f"# {DOGS}\n")
    out = tmp_path / "stdout.md"
    out.symlink_to("/proc/self/fd/1")
    done = subprocess.run([CLI, "translate", "--model", BUNDLE, str(tmp_path / "a.md"), "-o", str(out)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == f"# {SNOW}\n" and out.is_symlink(), done.stderr


@pytest.mark.parametrize("options,text,language,translated", [
    (["--source-lang", "de"], SNOW, "en", DOGS), (["--model", "en-fr"], DOGS, "fr", "Deux chiens jouent dans la neige.")])
def test_a_file_says_the_language_of_its_translations(options, text, language, translated, tmp_path):
    """With one language left out, or with a pair as the model, the file said the target of the model's first pair, German."""
    path, out = tmp_path / "a.xlf", tmp_path / "b.xlf"
    path.write_text('<xliff version="1.2"><file original="a" datatype="plaintext" source-language="x"><body><trans-unit id="1">'
                    f'<source>{text}</source></trans-unit></body></file></xliff>')
    done = subprocess.run([CLI, "translate", "--model", SHIPPED, *options, str(path), "-o", str(out)], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert f'target-language="{language}"' in out.read_text() and translated in out.read_text()


def members(path):
    with zipfile.ZipFile(path) as z:
        return {i.filename: (z.read(i), i.compress_type, i.date_time) for i in z.infolist()}, [i.filename for i in z.infolist()]


def check_others(before, after, changed):
    """All members except `changed` are unchanged, and their order is the same."""
    (old, order), (new, order_now) = members(before), members(after)
    assert order == order_now
    assert {name for name in old if old[name] != new[name]} == changed


def test_docx(tmp_path):
    path = tmp_path / "a.docx"
    d = docx.Document()
    d.add_heading(DOGS, 1)
    p = d.add_paragraph("Two dogs play in the ")
    p.add_run("snow").bold = True
    p.add_run(".")
    p = d.add_paragraph()  # Word splits text into runs wherever somebody has edited: equal formatting makes them one text
    for piece in ("A gi", "rl is smi", "ling."):
        p.add_run(piece)
    d.add_paragraph(GIRL, style="List Bullet")
    table = d.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = DOGS, "12"
    d.add_paragraph(GIRL + "\t" + DOGS + "\n" + GIRL)
    d.sections[0].header.paragraphs[0].text = GIRL
    d.save(path)
    out = translate(path)
    check_others(path, out, {"word/document.xml", "word/header1.xml", "word/styles.xml"})
    d = docx.Document(out)
    assert [p.text for p in d.paragraphs] == [SNOW, SNOW, SMILES, SMILES, SMILES + "\t" + SNOW + "\n" + SMILES]
    assert [(r.text, r.bold) for r in d.paragraphs[1].runs] == [("Zwei Hunde spielen im ", None), ("Schnee", True), (".", None)]
    assert [len(d.paragraphs[i].runs) for i in (0, 2)] == [1, 1]
    assert d.paragraphs[0].style.name == "Heading 1" and d.paragraphs[3].style.name == "List Bullet"
    assert [c.text for c in d.tables[0].rows[0].cells] == [SNOW, "12"]
    assert d.sections[0].header.paragraphs[0].text == SMILES


FIELD = """<w:p xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:r><w:fldChar w:fldCharType="begin"/></w:r>
<w:r><w:instrText> HYPERLINK "http://a.b/two dogs" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>
<w:r><w:t>Two dogs</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> play in the snow.</w:t></w:r></w:p>"""


def test_docx_fields_and_notes(tmp_path):
    """A field's parts keep their order around its visible text; footnotes are texts of their own."""
    path = tmp_path / "a.docx"
    d = docx.Document()
    d.element.body.insert(0, docx.oxml.parse_xml(FIELD))
    d.save(path)
    xml = members(translate(path))[0]["word/document.xml"][0].decode()
    order = ['"begin"', "HYPERLINK", '"separate"', "Zwei Hunde", '"end"', "spielen im Schnee."]
    assert [xml.index(part) for part in order] == sorted(xml.index(part) for part in order)


def test_docx_fields_without_an_end(tmp_path):
    """Each of them was read up to the paragraph's end: 40,000 in a paragraph, 7 KB of .docx, took minutes."""
    path = tmp_path / "a.docx"
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    d = docx.Document()
    d.element.body.insert(0, docx.oxml.parse_xml(FIELD.replace("</w:p>", begin * 40000 + "</w:p>")))
    d.save(path)
    before = os.times()
    xml = members(translate(path))[0]["word/document.xml"][0].decode()
    after = os.times()
    assert after.children_user - before.children_user < 10
    assert xml.count('"begin"') == 40001 and "Zwei Hunde" in xml


W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def test_comments_within_words(tmp_path):
    """Comments, instructions and CDATA sections are no formatting: they stay within the words."""
    path = tmp_path / "a.docx"
    before = ('<w:document xmlns:w="u"><w:p><w:r><w:t>Two dogs</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t> play<!-- > <g i="9"> --> in the <?a > ?>snow.</w:t></w:r></w:p>'
              f"<w:p><w:r><w:t>{GIRL}<![CDATA[ > 12 <]]></w:t></w:r></w:p></w:document>")
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("word/document.xml", before)
    after = members(translate(path))[0]["word/document.xml"][0].decode()
    for kept in ('<!-- > <g i="9"> -->', "<?a > ?>", "<![CDATA[ > 12 <]]>"):
        assert after.count(kept) == 1
    texts = [e.text for e in ElementTree.fromstring(after, ElementTree.XMLParser()).iter("{u}t")]
    assert "".join(texts) == f"{SNOW}{SMILES} > 12 <"


def run_of(words):
    return f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r>'


CAPS, UNDERLINED = "<w:rPr><w:caps/></w:rPr>", '<w:rPr><w:u w:val="single"/></w:rPr>'
ADDRESS = "https://example.org/a/very/long/address"


def looks(paragraph):
    """(formatting, text) of the runs of a paragraph, also within links: the formatting is the name of its first property."""
    runs = [(r.find(W + "rPr"), "".join(t.text for t in r.iter(W + "t"))) for r in paragraph.iter(W + "r")]
    return [("" if rpr is None else rpr[0].tag.replace(W, ""), words) for rpr, words in runs]


@pytest.mark.parametrize("link", ids=("container", "run"), argvalues=[
    f"<w:hyperlink>{run_of(ADDRESS).replace('<w:t ', UNDERLINED + '<w:t ')}</w:hyperlink>", run_of(ADDRESS).replace("<w:t ", UNDERLINED + "<w:t ")])
def test_docx_links_keep_their_formatting_to_themselves(tmp_path, link):
    """A link was the paragraph's longest run, so what is between the words, such as spaces, got its line."""
    path = tmp_path / "a.docx"
    d = docx.Document()
    p = run_of("Two dogs").replace("<w:t ", CAPS + "<w:t ") + run_of(" play; see ") + link + run_of(". ") + run_of("A girl is smiling.")
    d.element.body.insert(0, docx.oxml.parse_xml(f'<w:p xmlns:w="{W[1:-1]}">{p}</w:p>'))
    d.save(path)
    runs = looks(docx.Document(translate(path)).paragraphs[0]._p)
    assert [words for look, words in runs if look == "u"] == [ADDRESS]
    assert [look for look, words in runs if not words.strip(" .;")] == [""] * sum(not words.strip(" .;") for _, words in runs)


def test_docx_words_after_many_tabs(tmp_path):
    """Only the first 64 parts of a paragraph were searched for words: after as many tabs, nothing was translated."""
    path = tmp_path / "a.docx"
    d = docx.Document()
    d.add_paragraph("\t" * 70 + DOGS)
    d.save(path)
    assert docx.Document(translate(path)).paragraphs[0].text == "\t" * 70 + SNOW


def test_pptx_links_keep_their_formatting_to_themselves(tmp_path):
    path = tmp_path / "a.pptx"
    p = pptx.Presentation()
    slide = p.slides.add_slide(p.slide_layouts[1])
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    for words in ("See ", "the very long description of two dogs", ". " + GIRL):
        paragraph.add_run().text = words
    paragraph.runs[1].hyperlink.address = ADDRESS
    only = slide.placeholders[1].text_frame.add_paragraph()  # a paragraph that is all link keeps its one run
    only.add_run().text = DOGS
    only.runs[0].hyperlink.address = ADDRESS
    p.save(path)
    first, second = pptx.Presentation(translate(path)).slides[0].placeholders[1].text_frame.paragraphs
    assert "".join(r.text for r in first.runs).endswith(". " + SMILES)
    assert [r.text[-1] not in " ." and r.text[0] != " " for r in first.runs if r.hyperlink.address] == [True]
    assert [(r.text, r.hyperlink.address) for r in second.runs] == [(SNOW, ADDRESS)]


CONTROLS = {  # elements around words, and the names of their children in order
    "sdt": ('<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtEndPr/><w:sdtContent>%s</w:sdtContent></w:sdt>', ["sdtPr", "sdtEndPr", "sdtContent"]),
    "smartTag": ('<w:smartTag w:element="a"><w:smartTagPr/>%s</w:smartTag>', ["smartTagPr", "r"]),
    "customXml": ('<w:customXml w:element="a"><w:customXmlPr/>%s</w:customXml>', ["customXmlPr", "r"]),
    "fldSimple": ('<w:fldSimple w:instr="a"><w:fldData>YQ==</w:fldData>%s</w:fldSimple>', ["fldData", "r"]),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_docx_controls(tmp_path, name):
    """A control's properties stay before its words, also where the verb moves behind it: the schema allows them nowhere else."""
    path = tmp_path / "a.docx"
    around, children = CONTROLS[name]
    sentences = (("I have seen ", "the dog", "."), ("The man wants to buy ", "a red car", " today."), ("She has never read ", "this book", "."),
                 ("We must visit ", "the old city", " tomorrow."), ("The customer has paid ", "the invoice", " in cash."))
    d = docx.Document()
    for before, words, after in sentences:
        p = run_of(before) + around % run_of(words) + run_of(after)
        d.element.body.insert(0, docx.oxml.parse_xml(f'<w:p xmlns:w="{W[1:-1]}">{p}</w:p>'))
    d.save(path)
    controls = list(docx.Document(translate(path, model=SHIPPED)).element.body.iter(W + name))
    assert [[child.tag for child in c] for c in controls] == [[W + child for child in children]] * len(sentences)
    assert all("".join(c.itertext(W + "t")) for c in controls)


def test_odt_ruby(tmp_path):
    """The reading stays behind its base text."""
    path = tmp_path / "a.odt"
    d = OpenDocumentText()
    p, ruby = text.P(text="I "), text.Ruby()
    ruby.addElement(text.RubyBase(text="have seen the dog"))
    ruby.addElement(text.RubyText(text="x"))
    p.addElement(ruby)
    p.addText(".")
    d.text.addElement(p)
    d.save(path)
    xml = members(translate(path, model=SHIPPED))[0]["content.xml"][0].decode()
    assert "</text:ruby-base><text:ruby-text>x</text:ruby-text></text:ruby>" in xml and "<text:ruby><text:ruby-base>" in xml


def test_docx_ruby(tmp_path):
    """Words with a reading above them stayed in the source language, and the rest was translated without them."""
    path = tmp_path / "a.docx"
    ruby = ('<w:r><w:rPr><w:b/></w:rPr><w:ruby><w:rubyPr><w:lid w:val="en"/></w:rubyPr><w:rt>' + run_of("x") + "</w:rt><w:rubyBase>%s</w:rubyBase></w:ruby></w:r>")
    xml = f'<w:document xmlns:w="w"><w:body><w:p>{run_of("The man plays with ")}{ruby}{run_of(" in the snow.")}</w:p></w:body></w:document>'
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("word/document.xml", xml % run_of("two dogs"))
    out = members(translate(path, model=SHIPPED))[0]["word/document.xml"][0].decode()
    before, after = (ruby % "|").split("|")
    assert out.count(before) == out.count(after) == 1 and "Hunde" in out[out.index(before):out.index(after)], out
    assert "".join(ElementTree.fromstring(out).itertext()) == "Der Mann spielt mit xzwei Hunde im Schnee."


RAISED = {  # for each kind: the part with words, its text around them, and what is around words and around a raised number
    "docx": ("word/document.xml", '<w:document xmlns:w="w"><w:p>%s</w:p></w:document>', ("<w:r><w:t>", "</w:t></w:r>"),
             ('<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>', "</w:t></w:r>")),
    "pptx": ("ppt/slides/slide1.xml", '<p:sld xmlns:p="p" xmlns:a="a"><a:p>%s</a:p></p:sld>', ("<a:r><a:rPr/><a:t>", "</a:t></a:r>"),
             ('<a:r><a:rPr baseline="30000"/><a:t>', "</a:t></a:r>")),
    "odt": ("content.xml", '<office:document-content xmlns:office="o" xmlns:text="t"><text:p>%s</text:p></office:document-content>', ("", ""),
            ('<text:span text:style-name="T1">', "</text:span>")),
}


def raised(tmp_path, kind, sentence):
    """The translated part of a file with one sentence, every second piece of which is raised; what is raised in it; and all its words."""
    part, root, plain, around = RAISED[kind]
    path = tmp_path / f"a.{kind}"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(part, root % "".join(words.join(around if i % 2 else plain) for i, words in enumerate(sentence)))
    xml = members(translate(path, model=SHIPPED))[0][part][0].decode().replace(' xml:space="preserve"', "")
    return re.findall("(.*?)".join(map(re.escape, around)), xml), "".join(ElementTree.fromstring(xml).itertext())


@pytest.mark.parametrize("kind", RAISED)
def test_numbers_of_notes(tmp_path, kind):
    """A number that was raised after a word raised the whole word, and was part of it for the model."""
    assert raised(tmp_path, kind, ("The girl", "1", " plays with the dogs", "2,3", " in the snow.")) == (
        ["1", "2,3"], "Das Mädchen1 spielt mit den Hunden2,3 im Schnee.")
    assert raised(tmp_path, kind, (DOGS, "4", " A girl is smiling", "[5]", ".")) == (["4", "[5]"], f"{SNOW}4 {SMILES[:-1]}[5].")


@pytest.mark.parametrize("sentence,number", [(("The dog drinks H", "2", "O."), "2"), (("A dog", ".", " A girl."), "Hund.")])
def test_what_is_no_number_of_a_note(tmp_path, sentence, number):
    """What is within a word, or ends a sentence, is part of the words."""
    assert raised(tmp_path, "docx", sentence)[0] == [number]


@pytest.mark.parametrize("before,after", [
    ("Table <text:sequence>2</text:sequence>: The house", "Tabelle <text:sequence>2</text:sequence>: Das Haus"),
    ("Illustration <text:sequence>1</text:sequence>: A dog in the snow", "Illustration <text:sequence>1</text:sequence>: Ein Hund im Schnee"),
    ("<text:page-number>3</text:page-number>. " + DOGS, "<text:page-number>3</text:page-number>. " + SNOW),
    ("A girl<text:note-ref>1</text:note-ref> is smiling.", "Ein Mädchen<text:note-ref>1</text:note-ref> lächelt."),
])
def test_odt_fields(tmp_path, before, after):
    """The model did not see what a field shows, so that a caption's colon went before its number."""
    part, root, _, _ = RAISED["odt"]
    path = tmp_path / "a.odt"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(part, root % before)
    assert members(translate(path, model=SHIPPED))[0][part][0].decode() == root % after


def test_pptx(tmp_path):
    path = tmp_path / "a.pptx"
    p = pptx.Presentation()
    slide = p.slides.add_slide(p.slide_layouts[1])
    slide.shapes.title.text = DOGS
    frame = slide.placeholders[1].text_frame
    frame.text = "A girl is "
    run = frame.paragraphs[0].add_run()
    run.text, run.font.bold = "smiling", True
    frame.paragraphs[0].add_run().text = "."
    slide.notes_slide.notes_text_frame.text = GIRL
    p.save(path)
    out = translate(path)
    check_others(path, out, {"ppt/presentation.xml", "ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml"})
    slide = pptx.Presentation(out).slides[0]
    assert slide.shapes.title.text == SNOW and slide.notes_slide.notes_text_frame.text == SMILES
    runs = slide.placeholders[1].text_frame.paragraphs[0].runs
    assert [(r.text, r.font.bold) for r in runs] == [("Ein Mädchen ", None), ("lächelt", True), (".", None)]


@pytest.mark.parametrize("kind,numbered,names", [
    ("docx", "word/header1.xml", ["word/header.xml", "word/headera.xml", "word/Header1.xml"]),
    ("docx", "word/document.xml", ["word/document2.xml", "word/Document.xml"]),
    ("pptx", "ppt/slides/slide1.xml", ["ppt/slides/slide.xml", "ppt/slides/slidea.xml", "ppt/slides/Slide1.xml"]),
    ("xlsx", "xl/worksheets/sheet1.xml", ["xl/worksheets/sheet.xml", "xl/worksheets/Sheet1.xml"]),
    ("xlsx", "xl/sharedStrings.xml", ["xl/SharedStrings.xml", "xl/sharedstrings.xml"])])
def test_names_of_parts(tmp_path, kind, numbered, names):
    """Microsoft's Open XML SDK has names without a number or in base 16 (slide.xml, slidea.xml), and letter case means nothing in them: such slides,
    headers and sheets came back untranslated, or a file of one slide was refused."""
    words = {"docx": '<w:document xmlns:w="w"><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:document>', "pptx": '<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>%s</a:t></a:r></a:p></p:sld>',
             "xlsx": "<sst><si><t>%s</t></si></sst>"}[kind]
    for name in [numbered] + names:
        path = tmp_path / f"a.{kind}"
        with zipfile.ZipFile(path, "w") as z:
            z.writestr(name, words % DOGS)
        out = members(translate(path))[0][name][0].decode()
        assert SNOW in out and DOGS not in out, name


def test_what_is_no_part_with_words(tmp_path):
    path = tmp_path / "a.docx"
    words = '<w:document xmlns:w="w"><w:p><w:r><w:t>Two dogs play in the snow.</w:t></w:r></w:p></w:document>'
    others = ["word/commentsExtended.xml", "word/commentsIds.xml", "word/headers/a.xml", "word/header1.xml.rels", "word/footer.bin"]
    with zipfile.ZipFile(path, "w") as z:
        for name in ["word/document.xml"] + others:
            z.writestr(name, words)
    check_others(path, translate(path), {"word/document.xml"})


def test_odp_headers_and_footers(tmp_path):
    """What Impress writes for Insert > Header and Footer."""
    path = tmp_path / "a.odp"
    root = ('<office:document-content xmlns:office="o" xmlns:presentation="p"><office:presentation><presentation:header-decl presentation:name="hdr1">%s</presentation:header-decl>'
            '<presentation:footer-decl presentation:name="ftr1">%s</presentation:footer-decl><presentation:date-time-decl presentation:name="dtd1">%s</presentation:date-time-decl>'
            "</office:presentation></office:document-content>")
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("content.xml", root % (DOGS, GIRL, "28 November"))
    assert members(translate(path))[0]["content.xml"][0].decode() == root % (SNOW, SMILES, "28 November")


def test_pptx_without_slides(tmp_path):
    """It was refused as broken; an empty .docx or .xlsx came back."""
    path = tmp_path / "a.pptx"
    pptx.Presentation().save(path)
    assert translate(path).read_bytes() == path.read_bytes()


def test_pptx_tabs_end_a_text(tmp_path):
    """Columns of a slide are texts of their own, also where the tab is a run, or bold."""
    path = tmp_path / "a.pptx"
    p = pptx.Presentation()
    frame = p.slides.add_slide(p.slide_layouts[1]).placeholders[1].text_frame
    frame.text = "9:00\tTwo dogs\tA big house"
    for runs in ((("The dog", None), ("\t", None), ("The house", None)), (("The dog", True), ("\tThe house", None)),
                 (("The dog\tThe house", True), (" plays.", None))):
        paragraph = frame.add_paragraph()
        for words, bold in runs:
            run = paragraph.add_run()
            run.text, run.font.bold = words, bold
    p.save(path)
    paragraphs = pptx.Presentation(translate(path, model=SHIPPED)).slides[0].placeholders[1].text_frame.paragraphs
    texts = ["".join(r.text for r in q.runs) for q in paragraphs]
    assert texts[:3] == ["9:00\tZwei Hunde\tEin großes Haus", "Der Hund\tDas Haus", "Der Hund\tDas Haus"], texts
    assert texts[3].split("\t")[0] == "Der Hund" and texts[3].split("\t")[1].startswith("Das Haus"), texts
    assert [(r.text.strip(), r.font.bold) for r in paragraphs[2].runs] == [("Der Hund", True), ("Das Haus", None)]


def test_xlsx(tmp_path):
    path = tmp_path / "a.xlsx"
    w = openpyxl.Workbook()
    s = w.active
    for row in ((GIRL, "Two dogs"), (DOGS, 12), ("A girl", "=B2*2")):
        s.append(row)
    w.save(path)
    out = translate(path)
    check_others(path, out, {"xl/worksheets/sheet1.xml"})
    s = openpyxl.load_workbook(out).active
    assert [[c.value for c in row] for row in s.rows] == [[SMILES, "Zwei Hunde"], [SNOW, 12], ["Ein Mädchen", "=B2*2"]]


def test_xlsx_tables(tmp_path):
    """Formulas name a table's columns, which must equal its header cells and differ from each other: names and headers stay."""
    path = tmp_path / "a.xlsx"
    w = openpyxl.Workbook()
    s = w.active
    names = ["A girl", "Two\ndogs", "Start & end", "Beginning"]
    for row in (names, (DOGS, 12, "Two dogs play.", ""), (GIRL, "=SUM(T[Two\ndogs])", "A girl", "")):
        s.append(row)
    s.add_table(openpyxl.worksheet.table.Table(displayName="T", ref="A1:D3"))
    w.save(path)
    out = translate(path)
    check_others(path, out, {"xl/worksheets/sheet1.xml"})
    s = openpyxl.load_workbook(out).active
    rows = [[c.value for c in row] for row in s.rows]
    assert rows[0] == names and rows[1][:2] == [SNOW, 12] and rows[2][:3] == [SMILES, "=SUM(T[Two\ndogs])", "A girl"]


def prefixed(xml, prefix):
    """The XML with this prefix before the names of its tags, as Microsoft's Open XML SDK writes spreadsheets."""
    return re.sub(r"<(/?)(?=\w)", rf"<\1{prefix}:", xml).replace("xmlns=", f"xmlns:{prefix}=") if prefix else xml


@pytest.mark.parametrize("prefix", ("", "x"))
def test_shared_header_strings(tmp_path, prefix):
    """A header's string may have formatting of its own, and a table's part may come before or after it."""
    sst = '<sst xmlns="u"><si><r><t>The </t></r><r><rPr><b/></rPr><t>amount &amp;\nsum</t></r></si><si><t>Two dogs</t></si></sst>'
    table = '<table xmlns="u" name="T"><tableColumns count="1"><tableColumn id="1" name="The amount &amp;_x000a_sum"/></tableColumns></table>'
    sst, table = prefixed(sst, prefix), prefixed(table, prefix)
    parts = [("xl/sharedStrings.xml", sst), ("xl/tables/table1.xml", table)]
    for name, order in (("a.xlsx", parts), ("b.xlsx", parts[::-1])):
        with zipfile.ZipFile(tmp_path / name, "w") as z:
            for part in order:
                z.writestr(*part)
        out = members(translate(tmp_path / name))[0]
        assert out["xl/sharedStrings.xml"][0].decode() == sst.replace("Two dogs", "Zwei Hunde")
        assert out["xl/tables/table1.xml"][0].decode() == table


@pytest.mark.parametrize("prefix", ("", "x"))
def test_strings_that_sheets_share(tmp_path, prefix):
    """Shared strings as spreadsheet programs write them, some with their own formatting."""
    path = tmp_path / "a.xlsx"
    before = ('<sst xmlns="u"><si><t>Two dogs</t></si><si><r><t xml:space="preserve">A girl is </t></r><r><rPr><b/></rPr><t>smiling</t></r>'
              '<r><t>.</t></r></si><si><t>12</t></si></sst>')
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("xl/sharedStrings.xml", prefixed(before, prefix))
        z.writestr("xl/styles.xml", "<styles>Two dogs</styles>")
    out = members(translate(path))[0]
    assert out["xl/sharedStrings.xml"][0].decode() == prefixed(
        '<sst xmlns="u"><si><t>Zwei Hunde</t></si><si><r><t xml:space="preserve">Ein Mädchen </t></r><r><rPr><b/></rPr>'
        '<t xml:space="preserve">lächelt</t></r><r><t xml:space="preserve">.</t></r></si><si><t>12</t></si></sst>', prefix)
    assert out["xl/styles.xml"] == members(path)[0]["xl/styles.xml"]


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_strings_in_values(tmp_path, prefix):
    """Programs with Microsoft's Open XML SDK write strings as <c t="str"><v>: none of these was translated. Results of formulas are, too."""
    path, xml = tmp_path / "a.xlsx", ('<worksheet xmlns%s="s"><sheetData><row><c r="A1" t="str"><v>%%s</v></c><c r="B1" t="str"><f>A1</f><v>%%s</v></c>'
                                      '<c r="C1" t="s"><v>0</v></c><c r="D1" t="e"><v>#NAME?</v></c><c r="E1" t="str"><v xml:space="preserve"> %%s </v></c></row></sheetData></worksheet>')
    xml = re.sub("<(/?)", rf"<\g<1>{prefix}", xml) % (":x" if prefix else "")
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("xl/worksheets/sheet1.xml", xml % (DOGS, "Two dogs", GIRL))
    assert members(translate(path))[0]["xl/worksheets/sheet1.xml"][0].decode() == xml % (SNOW, "Zwei Hunde", SMILES)


def test_odt(tmp_path):
    path = tmp_path / "a.odt"
    d = OpenDocumentText()
    bold = style.Style(name="Bold", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    d.automaticstyles.addElement(bold)
    d.text.addElement(text.H(outlinelevel=1, text=GIRL))
    p = text.P(text="Two dogs play in the ")
    p.addElement(text.Span(stylename=bold, text="snow"))
    p.addText(".")
    note = text.Note(id="n", noteclass="footnote")
    note.addElement(text.NoteCitation(text="1"))
    body = text.NoteBody()
    body.addElement(text.P(text=GIRL))
    note.addElement(body)
    p.addElement(note)
    d.text.addElement(p)
    d.save(path)
    out = translate(path)
    check_others(path, out, {"content.xml"})
    old, new = (members(x)[0]["content.xml"][0].decode() for x in (path, out))
    for a, b in ((GIRL, SMILES), ("Two dogs play in the <", "Zwei Hunde spielen im <"), (">snow<", ">Schnee<")):
        assert a in old
        old = old.replace(a, b)
    assert new == old
    assert members(out)[1][0] == "mimetype" and members(out)[0]["mimetype"][1] == zipfile.ZIP_STORED


PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><link href="a.css"/><script src="x"/></head>
<body><p>Two dogs <b>play</b> in the snow.</p><p><img src="a" title="Two dogs play in the snow." alt="A girl is smiling."/></p><p>A girl is <i>smiling</i>.<br/>Two dogs play in the snow.</p></body></html>
"""
PAGE_IN_GERMAN = (PAGE.replace("Two dogs <b>play</b> in the snow.", "Zwei Hunde <b>spielen</b> im Schnee.")
                  .replace(DOGS, SNOW).replace(GIRL, SMILES).replace("A girl is <i>smiling</i>.", "Ein Mädchen <i>lächelt</i>."))


def test_epub(tmp_path):
    path = tmp_path / "a.epub"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("mimetype", "application/epub+zip")
        z.writestr("META-INF/container.xml", "<container>Two dogs</container>", zipfile.ZIP_DEFLATED)
        z.writestr("a.xhtml", PAGE, zipfile.ZIP_DEFLATED)
        z.writestr("toc.ncx", "<ncx><navPoint id='a'><text>Two dogs</text></navPoint></ncx>", zipfile.ZIP_DEFLATED)
    out = translate(path)
    check_others(path, out, {"a.xhtml", "toc.ncx"})
    assert members(out)[0]["a.xhtml"][0].decode() == PAGE_IN_GERMAN
    assert b"<text>Zwei Hunde</text>" in members(out)[0]["toc.ncx"][0]


def test_epub_pages_of_any_name(tmp_path):
    """The package says which members are pages. Feedbooks names them main0.xml: only the table of contents of its books was translated."""
    path = tmp_path / "a.epub"
    others = {"META-INF/container.xml": PAGE, "OPS/page-map.xml": f"<page-map><page name='{GIRL}'/>{DOGS}</page-map>"}
    with zipfile.ZipFile(path, "w") as z:
        for name, content in {**others, "OPS/main0.xml": PAGE, "OPS/main1.XHTML": PAGE, "OPS/main2.xml": PAGE.replace("<html ", "<!-- a page --><html ")}.items():
            z.writestr(name, content)
    out = translate(path)
    check_others(path, out, {"OPS/main0.xml", "OPS/main1.XHTML", "OPS/main2.xml"})
    assert members(out)[0]["OPS/main0.xml"][0].decode() == PAGE_IN_GERMAN


@pytest.mark.parametrize("number", [
    '<a href="#fn1" class="footnote-ref" id="fnref1" epub:type="noteref">1</a>',  # pandoc, and the samples of EPUB 3
    '<a href="notes.xhtml#n1">*</a>', '<a href="#_ftn1" id="_ftnref1"><span class="MsoFootnoteReference">[1]</span></a>',  # Word
    '<a id="FNanchor_1_1"></a><a href="#Footnote_1_1" class="fnanchor">[1]</a>'])  # Project Gutenberg
def test_links_of_notes(tmp_path, number):
    """The number of a note that is a link was part of the word before it: the model saw "girl1", and the word became part of the link."""
    path = tmp_path / "a.html"
    path.write_text(f"<p>A girl{number} plays with <b>two dogs</b>{number}.</p>\n")
    assert translate(path, model=SHIPPED).read_text() == f"<p>Ein Mädchen{number} spielt mit <b>zwei Hunden</b>{number}.</p>\n"


def test_links_that_are_no_notes(tmp_path):
    path = tmp_path / "a.html"
    path.write_text('<p>Chapter <a href="#c3">3</a>: a girl (<a href="#c4">4</a>) is smiling.</p>\n')
    assert translate(path, model=SHIPPED).read_text() == '<p>Kapitel <a href="#c3">3</a>: ein Mädchen (<a href="#c4">4</a>) lächelt.</p>\n'


def test_members_declare_their_encoding(tmp_path):
    """Members are written in UTF-8, so they must not declare another encoding."""
    latin, utf = ('<?xml version="1.0" encoding="%s"?>' % name for name in ("ISO-8859-1", "UTF-8"))
    page = '<html><head><meta http-equiv="content-type" content="text/html; charset=%s"/></head><body><p>%s</p></body></html>'
    samples = {"a.epub": [("a.xhtml", page % ("latin1", GIRL), page % ("UTF-8", SMILES)), ("toc.ncx", f"<ncx><text>{GIRL}</text></ncx>", None)],
               "a.xlsx": [("xl/sharedStrings.xml", f"<sst><si><t>{GIRL}</t></si></sst>", None), ("xl/tables/table1.xml", "<table/>", "<table/>")]}
    for name, parts in samples.items():
        with zipfile.ZipFile(tmp_path / name, "w") as z:
            for part, text_in, _ in parts:
                z.writestr(part, latin + text_in)
        out = members(translate(tmp_path / name))[0]
        for part, text_in, want in parts:
            declared = latin if want == text_in else utf  # a member without a translation keeps its bytes
            assert out[part][0].decode() == declared + (want or text_in.replace(GIRL, SMILES)), part


def test_untouched_files_come_back_byte_for_byte(tmp_path):
    """There is nothing to translate in them: only numbers and code, or no words at all."""
    d = docx.Document()
    d.add_paragraph("12:30")
    d.save(tmp_path / "a.docx")
    (tmp_path / "a.html").write_bytes(b"<p>12<script>two dogs</script><code>a</code>")
    (tmp_path / "a.json").write_bytes(b'{"a": 12,\r\n "b":"%s"}')
    for name in ("a.docx", "a.html", "a.json"):
        assert translate(tmp_path / name).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("charset", ["UTF-8", "ISO-8859-1", "CHARSET"])
def test_po_is_what_gettext_takes(tmp_path, charset):
    """The header declares what is written then. With the shipped model: the other one was trained on captions alone and does not produce "%d"."""
    path = tmp_path / "a.po"
    path.write_text('msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=%s\\n"\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
                    .replace("%s", charset) +
                    '#, c-format\nmsgid "Two dogs play in the %s.\\n"\nmsgstr ""\n\n'
                    '#, c-format\nmsgid "%d dog"\nmsgid_plural "%d dogs"\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
                    'msgid "The girl is beautiful."\nmsgstr ""\n')
    out = translate(path, model=SHIPPED)
    subprocess.run(["msgfmt", "--check-format", "-o", os.devnull, str(out)], check=True)
    assert 'msgstr "Zwei Hunde spielen im %s.\\n"' in out.read_text() and 'msgstr[1] "%d Hunde"' in out.read_text()
    assert "ä" in out.read_text() and "; charset=UTF-8\\n" in out.read_text()
