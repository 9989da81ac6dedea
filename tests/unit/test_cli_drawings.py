"""dragoman translate FILE -o FILE: charts and diagrams of Office files, and comments on slides."""
import zipfile

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from test_cli_documents import DOGS, GIRL, SMILES, SNOW, check_others, translate
from test_cli_sheets import ODS, pack, text_of

WORDS = '<a:p><a:r><a:rPr lang="en"/><a:t>%s</a:t></a:r></a:p>'
POINT = '<c:pt idx="0"><c:v>%s</c:v></c:pt>'
CHART = ('<c:chart xmlns:c="c" xmlns:a="a"><c:title><c:tx><c:rich><a:bodyPr/>' + WORDS + '</c:rich></c:tx></c:title><c:ser><c:tx><c:v>%s</c:v></c:tx></c:ser>'
         f'<c:cat><c:strLit>{POINT}</c:strLit></c:cat><c:cat><c:strRef><c:f>Sheet1!$A$1</c:f><c:strCache>{POINT}</c:strCache></c:strRef></c:cat>'
         f'<c:cat><c:multiLvlStrCache><c:lvl>{POINT}</c:lvl></c:multiLvlStrCache></c:cat>'
         f'<c:val><c:numCache><c:formatCode>General</c:formatCode>{POINT % "#N/A"}</c:numCache></c:val></c:chart>')


def test_chart_of_a_slide(tmp_path):
    """A chart stayed in the source's language: its title, its legend and its categories."""
    path, data = tmp_path / "a.pptx", CategoryChartData()
    data.categories = ["Two dogs", "2024"]
    data.add_series(GIRL, (1, 2))
    deck = pptx.Presentation()
    chart = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9000000, 5000000, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = DOGS
    deck.save(path)
    out = translate(path)
    chart = pptx.Presentation(out).slides[0].shapes[0].chart
    assert chart.chart_title.text_frame.text == SNOW and list(chart.plots[0].categories) == ["Zwei Hunde", "2024"] and chart.plots[0].series[0].name == SMILES
    with zipfile.ZipFile(path) as z:
        check_others(path, out, {"ppt/presentation.xml", *(name for name in z.namelist() if name.startswith("ppt/charts/chart"))})


@pytest.mark.parametrize("kind,folder", [("docx", "word"), ("pptx", "ppt"), ("xlsx", "xl")])
def test_charts_and_diagrams(tmp_path, kind, folder):
    """A diagram has its words twice: as data, and as it was drawn. A sheet's chart gets the words of cells from them."""
    data = '<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:pt modelId="Two"><dgm:prSet phldrT="[Text]"/><dgm:t><a:bodyPr/>%s</dgm:t></dgm:pt></dgm:dataModel>' % WORDS
    parts = {"diagrams/data1": data, "diagrams/drawing2": data.replace("dgm", "dsp"), "drawings/drawing1": data.replace("dgm", "cdr"),
             "diagrams/layout1": data, "charts/chartEx1": CHART % ((DOGS,) * 5), "charts/chart12": CHART % ((DOGS,) * 5)}
    path = pack(tmp_path / f"a.{kind}", {f"{folder}/{name}.xml": xml.replace("%s", DOGS) for name, xml in parts.items()})
    out = translate(path)
    for name, xml in parts.items():
        wanted = xml.replace("%s", DOGS if "layout" in name else SNOW)
        if name == "charts/chart12":
            wanted = CHART % ((SNOW, SNOW, SNOW) + (DOGS if kind == "xlsx" else SNOW,) * 2)
        if "layout" not in name and "chartEx" not in name:
            wanted = wanted.replace('lang="en"', 'lang="de-DE"')
        assert text_of(out, f"{folder}/{name}.xml") == wanted, name


@pytest.mark.parametrize("kind", ("odt", "odp", "ods"))
def test_charts_of_open_document(tmp_path, kind):
    """A chart is a document of its own within another one."""
    chart = ODS.replace("%s", '<chart:title><text:p>%s</text:p></chart:title><table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>')
    path = pack(tmp_path / f"a.{kind}", {"content.xml": ODS % f"<text:p>{GIRL}</text:p>", "Object 1/content.xml": chart.replace("%s", DOGS),
                                         "Object 1/meta.xml": chart.replace("%s", DOGS)})
    out = translate(path)
    check_others(path, out, {"content.xml", "Object 1/content.xml"})
    assert text_of(out, "Object 1/content.xml") == chart.replace("%s", SNOW)


def test_comments_on_slides(tmp_path):
    """Comments stayed, those of .docx and .xlsx did not. Newer ones have paragraphs, in parts with other names."""
    root = '<p:cmLst xmlns:p="p" xmlns:a="a"><p:cm authorId="0"><p:pos x="1" y="2"/>%s</p:cm></p:cmLst>'
    old, new = root % "<p:text>%s</p:text>", root % ("<p188:txBody><a:bodyPr/>" + WORDS + "</p188:txBody>")
    parts = {"ppt/comments/comment12.xml": old, "ppt/comments/modernComment_7F_0.xml": new, "ppt/commentAuthors.xml": old}
    path = pack(tmp_path / "a.pptx", {name: xml % DOGS for name, xml in parts.items()})
    out = translate(path)
    for name, xml in parts.items():
        assert text_of(out, name) == (xml % DOGS if "Authors" in name else (xml % SNOW).replace('lang="en"', 'lang="de-DE"'))
