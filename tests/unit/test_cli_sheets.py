"""dragoman translate FILE -o FILE: spreadsheets whose formulas, lists and comments must agree with the words of their cells."""
import re
import zipfile

import pytest

from test_cli_documents import DOGS, GIRL, SMILES, SNOW, check_others, members, prefixed, translate

BOOK = '<workbook xmlns="u"><sheets><sheet name="Two dogs" sheetId="1"/></sheets>%s</workbook>'
SHEET = '<worksheet xmlns="u"><sheetData><row>%s</row></sheetData>%s</worksheet>'


def pack(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, xml in parts.items():
            z.writestr(name, xml)
    return path


def text_of(path, member):
    return members(path)[0][member][0].decode()


@pytest.mark.parametrize("prefix", ("", "x"))
@pytest.mark.parametrize("before,after", [
    ("", '<calcPr fullCalcOnLoad="1"/>'),
    ('<definedNames><definedName name="a">1</definedName></definedNames><oleSize ref="A1"/>',
     '<definedNames><definedName name="a">1</definedName></definedNames><calcPr fullCalcOnLoad="1"/><oleSize ref="A1"/>'),
    ('<calcPr calcId="1"/>', '<calcPr fullCalcOnLoad="1" calcId="1"/>'),
    ('<calcPr calcId="1" fullCalcOnLoad="0"/>', '<calcPr calcId="1" fullCalcOnLoad="1"/>'),
    ('<calcPr fullCalcOnLoad="1"/>', '<calcPr fullCalcOnLoad="1"/>')])
def test_xlsx_results_of_formulas(tmp_path, prefix, before, after):
    """A cell with =A1 showed the English text: its result is translated, too, and Excel computes all formulas when it opens the file."""
    cell = '<c r="A1" t="inlineStr"><is><t>%s</t></is></c><c r="A2" t="str"><f>A1</f><v>%s</v></c><c r="A3"><f>LEN(A1)</f><v>26</v></c>'
    parts = {"xl/workbook.xml": BOOK % before, "xl/worksheets/sheet1.xml": SHEET % (cell % (DOGS, DOGS), "")}
    path = pack(tmp_path / "a.xlsx", {name: prefixed(xml, prefix) for name, xml in parts.items()})
    out = translate(path)
    assert text_of(out, "xl/workbook.xml") == prefixed(BOOK % after, prefix)
    assert text_of(out, "xl/worksheets/sheet1.xml") == prefixed(SHEET % (cell % (SNOW, SNOW), ""), prefix)


def test_xlsx_without_translations_is_not_computed(tmp_path):
    path = pack(tmp_path / "a.xlsx", {"xl/workbook.xml": BOOK % "", "xl/worksheets/sheet1.xml": SHEET % ('<c t="str"><f>A2</f><v>12</v></c>', "")})
    assert translate(path).read_bytes() == path.read_bytes()


ODS = '<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b">%s</office:document-content>'


def test_ods_results_of_formulas(tmp_path):
    """LibreOffice shows office:string-value, not the paragraph, where a cell has both, and computes a formula that has none."""
    cell = '<table:table-cell table:formula="of:=[.A1]" office:value-type="string"%s><office:annotation><text:p>%s</text:p></office:annotation><text:p>%s</text:p></table:table-cell>'
    same = '<table:table-cell%s><text:p>%s</text:p></table:table-cell>'
    others = ('<table:table-cell office:string-value="A girl"/><table:table-cell office:string-value="A girl"><text:p/></table:table-cell>'  # a format may add words
              '<table:table-cell office:string-value="A girl"><text:p>12</text:p></table:table-cell>')
    xml = ODS % (cell % (f" office:string-value='{DOGS}'", GIRL, "Two dogs") + same % (f' office:string-value="{DOGS}"', DOGS) + others)
    path = pack(tmp_path / "a.ods", {"content.xml": xml})
    assert text_of(translate(path), "content.xml").replace(" >", ">") == ODS % (cell % ("", SMILES, "Zwei Hunde") + same % ("", SNOW) + others)


NOTE = '<comments xmlns="u"><authors><author>Two dogs</author></authors><commentList>%s</commentList></comments>'
THREAD = '<ThreadedComments xmlns="u"><threadedComment ref="A1"><text>%s</text></threadedComment><threadedComment ref="A1"><text>%s</text>%s</threadedComment></ThreadedComments>'
BOX = '<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><xdr:sp><xdr:txBody><a:p><a:r><a:t>%s</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:wsDr>'
MENTION = '<mentions><mention startIndex="0" length="3"/></mentions>'


@pytest.mark.parametrize("prefix", ("", "x"))
@pytest.mark.parametrize("member", ("xl/comments1.xml", "xl/comments/comment1.xml"))
def test_xlsx_comments_and_text_boxes(tmp_path, member, prefix):
    """Comments of cells and text boxes beside them stayed, while those of .ods were translated. A comment that mentions a person says where in its text."""
    note = NOTE % ('<comment ref="A1"><text><r><rPr><b/></rPr><t>%s</t></r></text></comment><comment ref="A2"><text><t>%s</t></text></comment>')
    parts = {"xl/worksheets/sheet1.xml": SHEET % ("", ""), member: note % (DOGS, GIRL), "xl/drawings/drawing1.xml": BOX % DOGS,
             "xl/threadedComments/threadedComment1.xml": THREAD % (DOGS, "@A girl is smiling.", MENTION)}
    path = pack(tmp_path / "a.xlsx", {name: xml if "drawing" in name else prefixed(xml, prefix) for name, xml in parts.items()})
    out = translate(path)
    check_others(path, out, {*parts} - {"xl/worksheets/sheet1.xml"})
    assert text_of(out, member).replace(' xml:space="preserve"', "") == prefixed(note % (SNOW, SMILES), prefix)
    assert text_of(out, "xl/drawings/drawing1.xml") == BOX % SNOW
    assert text_of(out, "xl/threadedComments/threadedComment1.xml") == prefixed(THREAD % (SNOW, "@A girl is smiling.", MENTION), prefix)


@pytest.mark.parametrize("prefix", ("", "x"))
@pytest.mark.parametrize("quote", ('"', "&quot;"))
def test_xlsx_lists_and_pivot_tables(tmp_path, prefix, quote):
    """A cell stays one of the words that its own list allows, and a pivot table finds the columns of its data; a list of cells is translated with them."""
    lists = (f'<dataValidations><dataValidation type="list" sqref="A1"><formula1>{quote}Two dogs, A girl &amp; dog{quote}</formula1></dataValidation>'
             '<dataValidation type="list" sqref="A2"><formula1>$A$3</formula1></dataValidation><dataValidation type="custom"><formula1>"The dog"=A4</formula1></dataValidation></dataValidations>')
    cells = "".join('<c t="inlineStr"><is><t>%s</t></is></c>' % words for words in ("Two dogs", "A girl &amp;  dog", "The snow", "%s", "%s"))
    pivot = '<pivotCacheDefinition xmlns="u"><cacheSource type="%s">%s</cacheSource><cacheFields><cacheField name="%s"/></cacheFields></pivotCacheDefinition>'
    parts = {"xl/pivotCache/pivotCacheDefinition1.xml": pivot % ("worksheet", '<worksheetSource ref="A1:A3" sheet="S"/>', "The snow"),
             "xl/pivotCache/pivotCacheDefinition2.xml": pivot % ("external", "", "The dog"),
             "xl/worksheets/sheet1.xml": SHEET % (cells % ("The dog", DOGS), lists)}
    path = pack(tmp_path / "a.xlsx", {name: prefixed(xml, prefix) for name, xml in parts.items()})
    out = translate(path)
    check_others(path, out, {"xl/worksheets/sheet1.xml"})
    assert text_of(out, "xl/worksheets/sheet1.xml") == prefixed(SHEET % (cells % ("Der Hund", SNOW), lists), prefix)


@pytest.mark.parametrize("quote,mark", (("&quot;", '"'), ('"', "'")))
def test_ods_lists_and_pivot_tables(tmp_path, quote, mark):
    lists = f'<table:content-validation table:condition={mark}of:cell-content-is-in-list({quote}Two dogs{quote};{quote}A girl{quote}){mark}/>'
    custom = f'<table:content-validation table:condition={mark}of:is-true-formula([.A4]={quote}The dog{quote}){mark}/>'
    fields = '<table:data-pilot-field table:source-field-name="The snow"/>'
    xml = ODS % (lists + custom + "".join("<text:p>%s</text:p>" % words for words in ("Two dogs", "A girl", "The snow", "%s", "%s")) + fields)
    path = pack(tmp_path / "a.ods", {"content.xml": xml % ("The dog", DOGS)})
    assert text_of(translate(path), "content.xml") == xml % ("Der Hund", SNOW)


@pytest.mark.parametrize("prefix", ("", "x"))
@pytest.mark.parametrize("formula,stays", (
    ('COUNTIF(A1:A2,"Two dogs")', True), ("IF(A1=&quot;Two dogs&quot;,1,0)", True), ('SUMIF(A1:A2, "A girl" , B1:B2)+COUNTIF(A1:A2,"Two dogs")', True),
    ('"Two dogs"&amp;A2', False), ('A2 &amp; "Two dogs"', False), ("A1", False)))
def test_xlsx_words_in_formulas(tmp_path, prefix, formula, stays):
    """=COUNTIF(A1:A2,"Two dogs") counted no cell of a translation, where they were "Zwei Hunde"."""
    cells = '<c t="inlineStr"><is><t>%s</t></is></c><c t="inlineStr"><is><t>%s</t></is></c><c><f>' + formula + "</f><v>1</v></c>"
    path = pack(tmp_path / "a.xlsx", {"xl/worksheets/sheet1.xml": prefixed(SHEET % (cells % ("Two dogs", DOGS), ""), prefix)})
    assert text_of(translate(path), "xl/worksheets/sheet1.xml") == prefixed(SHEET % (cells % ("Two dogs" if stays else "Zwei Hunde", SNOW), ""), prefix)


def test_xlsx_words_in_conditional_formats(tmp_path):
    """A colour of cells that say "Two dogs" was gone where these said "Zwei Hunde"."""
    rules = ('<conditionalFormatting sqref="A1:A2"><cfRule type="cellIs" operator="equal"><formula>"Two dogs"</formula></cfRule>'
             '<cfRule type="containsText" text="A girl"><formula>NOT(ISERROR(SEARCH("A girl",A1)))</formula></cfRule></conditionalFormatting>')
    cells = "".join(f'<c t="inlineStr"><is><t>{words}</t></is></c>' for words in ("Two dogs", "A girl", "%s"))
    path = pack(tmp_path / "a.xlsx", {"xl/worksheets/sheet1.xml": SHEET % (cells % DOGS, rules)})
    assert text_of(translate(path), "xl/worksheets/sheet1.xml") == SHEET % (cells % SNOW, rules)


@pytest.mark.parametrize("compares", (
    '<table:table-cell table:formula="of:=COUNTIF([.A1:.A2];&quot;Two dogs&quot;)"/>', "<table:table-cell table:formula='of:=IF([.A1]=\"Two dogs\";1;0)'/>",
    '<style:style xmlns:style="s"><style:map style:condition="cell-content()=&quot;Two dogs&quot;"/></style:style>',
    '<calcext:conditional-format xmlns:calcext="c"><calcext:condition calcext:value="=&quot;Two dogs&quot;"/></calcext:conditional-format>'))
def test_ods_words_in_formulas(tmp_path, compares):
    xml = ODS % (compares + "<text:p>Two dogs</text:p><text:p>%s</text:p>")
    path = pack(tmp_path / "a.ods", {"content.xml": xml % DOGS})
    assert text_of(translate(path), "content.xml") == xml % SNOW


@pytest.mark.parametrize("prefix", ("", "x"))
def test_xlsx_readings(tmp_path, prefix):
    """Excel notes how Japanese words were typed: for which characters of the string, and sorts by it. A translation has none, an unchanged string keeps its own."""
    reading = '<rPh sb="0" eb="2"><t>ア</t></rPh><rPh sb="7" eb="25"><t>イ</t></rPh>'
    before = ('<sst xmlns="u"><si><t>Two dogs</t>%s<phoneticPr fontId="1"/></si><si><r><t>A girl is </t></r><r><rPr><b/></rPr><t>smiling</t></r><r><t>.</t></r>%s'
              '<phoneticPr fontId="1"/></si><si><t>12</t>%s<phoneticPr fontId="1"/></si></sst>') % (reading, reading, reading)
    out = text_of(translate(pack(tmp_path / "a.xlsx", {"xl/sharedStrings.xml": prefixed(before, prefix)})), "xl/sharedStrings.xml")
    first, second, third = (prefixed(si, prefix) for si in re.findall("<si>.*?</si>", before))
    assert first.replace("Two dogs", "Zwei Hunde").replace(prefixed(reading, prefix), "") in out and third in out, out
    assert out.count("ア") == out.count("イ") == 1 and out.count(prefixed('</t></r><phoneticPr fontId="1"/></si>', prefix)) == 1, out


def test_xlsx_filters(tmp_path):
    """The words that a filter shows were translated in the cells alone: applied again, it hid all rows."""
    values = ['<filter val="%s"/>', "<filter val='%s'/>", '<filter val="12"/>', '<customFilter val="*dogs"/>', '<customFilter operator="notEqual" val="%s"/>', '<customFilter val="%s"/>',
              '<customFilter operator="greaterThan" val="A girl"/>']
    xml = '<autoFilter ref="A1:A5"><filterColumn colId="0"><filters>' + "".join(values) + "</filters></filterColumn></autoFilter>"
    table = '<table xmlns="u">%s<tableColumns><tableColumn name="A girl"/></tableColumns></table>'
    parts = {"xl/worksheets/sheet1.xml": SHEET % ('<c t="inlineStr"><is><t>%s</t></is></c>', xml), "xl/tables/table1.xml": table % xml}
    path = pack(tmp_path / "a.xlsx", {name: part.replace("%s", DOGS) for name, part in parts.items()})
    out = translate(path)
    for name, part in parts.items():
        assert text_of(out, name) == part.replace("%s", SNOW), name


def test_ods_filters(tmp_path):
    cell = "<table:table-cell><text:p>%s</text:p></table:table-cell>"
    values = ['<table:filter-condition table:operator="=" table:value="%s"/>', '<table:filter-set-item table:value="%s"/>', '<table:filter-condition table:operator="="/>',
              '<table:filter-condition table:operator="contains" table:value="A girl"/>']
    path = pack(tmp_path / "a.ods", {"content.xml": (ODS % (cell + "".join(values))).replace("%s", DOGS)})
    assert text_of(translate(path), "content.xml") == (ODS % (cell + "".join(values))).replace("%s", SNOW)


def test_a_filter_stays_with_its_cells(tmp_path):
    """Words that a cell must choose from stay, in a filter, too."""
    rest = f'<autoFilter><filters><filter val="{DOGS}"/></filters></autoFilter><dataValidation type="list"><formula1>"{DOGS}"</formula1></dataValidation>'
    path = pack(tmp_path / "a.xlsx", {"xl/worksheets/sheet1.xml": SHEET % (f'<c t="inlineStr"><is><t>{DOGS}</t></is></c>', rest)})
    assert translate(path).read_bytes() == path.read_bytes()


def test_members_with_backslashes(tmp_path):
    """Some programs on Windows write them, and Excel opens such a file; it was refused as broken, or stayed."""
    cell = '<c t="inlineStr"><is><t>%s</t></is></c>'
    path = pack(tmp_path / "a.xlsx", {"xl\\workbook.xml": BOOK % "", "xl\\worksheets\\sheet1.xml": SHEET % (cell % DOGS, "")})
    out = translate(path)
    check_others(path, out, {"xl\\workbook.xml", "xl\\worksheets\\sheet1.xml"})
    assert text_of(out, "xl\\worksheets\\sheet1.xml") == SHEET % (cell % SNOW, "")
