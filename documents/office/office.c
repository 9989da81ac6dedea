/* Decides which members of an office file have text, and names the tags of that text. */
#include "documents/kinds.h"
#include "documents/office/runs.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

/* <b> ends a sentence, and no other tag does; in the cells of a sheet and in slides, a line end and
 * a tab do, too. The words of <f> stay. */
static const char *const ends[] = {"b", NULL}, *const fields[] = {"f", NULL};
static const struct dg_markup markup = {.no_outline = true, .splitting = ends, .ignored = fields},
                              lines_markup = {.no_outline = true, .splitting = ends, .lines = true};

static const struct dg_run_names word = {
    .markup = &markup,
    .paragraphs = (const char *const[]){"w:p", NULL},
    .paragraph_properties = "w:pPr",
    .run = "w:r",
    .run_properties = "w:rPr",
    .text = "w:t",
    .text_tag = "w:t xml:space=\"preserve\"",
    .containers = (const char *const[]){"w:hyperlink", "w:ins", "w:smartTag", "w:sdt",
        "w:fldSimple", "w:bdo", "w:dir", "w:customXml", "w:moveTo", NULL},
    .container_words = (const char *const[]){"w:sdtContent", NULL},
    .container_properties =
        (const char *const[]){"w:smartTagPr", "w:customXmlPr", "w:fldData", NULL},
    .hyphen = "w:noBreakHyphen",
    .dropped = (const char *const[]){"w:proofErr", "w:lastRenderedPageBreak", "w:softHyphen", NULL},
    .breaks = (const char *const[]){"w:tab", "w:br", "w:cr", "w:ptab", NULL},
    .links = (const char *const[]){"w:hyperlink", "w:fldSimple", NULL},
    .ranges = (const char *const[]){"w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart",
        "w:commentRangeEnd", "w:permStart", "w:permEnd", "w:moveToRangeStart", "w:moveToRangeEnd",
        NULL},
    .reference = "w:commentReference",
};

static const struct dg_run_names slide = {
    .markup = &lines_markup,
    .paragraphs = (const char *const[]){"a:p", NULL},
    .paragraph_properties = "a:pPr",
    .run = "a:r",
    .run_properties = "a:rPr",
    .text = "a:t",
    .text_tag = "a:t",
    .end = "a:endParaRPr",
    .breaks = (const char *const[]){"a:br", NULL},
    .links = (const char *const[]){"a:hlinkClick", "a:hlinkMouseOver", NULL},
};

static const struct dg_run_names sheet = {
    .markup = &lines_markup,
    .paragraphs = (const char *const[]){"si", "is", NULL},
    .run = "r",
    .run_properties = "rPr",
    .text = "t",
    .text_tag = "t xml:space=\"preserve\"",
};

static const struct dg_run_names open_document = {
    .markup = &markup,
    .paragraphs = (const char *const[]){"text:p", "text:h", "presentation:header-decl",
        "presentation:footer-decl", NULL},
    .containers = (const char *const[]){"text:span", "text:a", "text:meta", "text:ruby", NULL},
    .container_words = (const char *const[]){"text:ruby-base", NULL},
    .container_properties = (const char *const[]){"office:event-listeners", NULL},
    .space = "text:s",
    .dropped = (const char *const[]){"text:soft-page-break", NULL},
    .breaks = (const char *const[]){"text:tab", "text:line-break", NULL},
    .ranges = (const char *const[]){"text:bookmark-start", "text:bookmark-end", "office:annotation",
        "office:annotation-end", "text:change-start", "text:change-end",
        "text:reference-mark-start", "text:reference-mark-end",
        "text:alphabetical-index-mark-start", "text:alphabetical-index-mark-end",
        "text:toc-mark-start", "text:toc-mark-end", "text:user-index-mark-start",
        "text:user-index-mark-end", NULL},
    .fields = true,
};

/* Scans the part's tags; r->xml must be closed in every case. */
static int scan(struct dg_runs *r, struct dg_error *err)
{
    struct dg_error why = {0};
    int rc = dg_xml_scan(r->p->s, r->p->n, &r->xml, &why);
    return rc == DG_OK       ? DG_OK
           : rc == DG_ENOMEM ? dg_error_set(err, rc, "%s", why.message)
                             : dg_extract_broken(err, "%s", why.message);
}

static int add_paragraphs(struct dg_runs *r, struct dg_error *err)
{
    int rc = DG_OK;
    for (size_t i = 0; i < r->xml.n_tags && rc == DG_OK; i++)
        if (r->xml.tags[i].kind == DG_XML_OPEN &&
            dg_runs_lists(r, &r->xml.tags[i], r->names->paragraphs))
            rc = dg_runs_add(r, i, err);
    return rc;
}

static int read_paragraphs(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_run_names *names, struct dg_error *err)
{
    struct dg_runs r = {.x = x, .p = p, .names = names};
    int rc = scan(&r, err);
    if (rc == DG_OK)
        rc = add_paragraphs(&r, err);
    dg_xml_close(&r.xml);
    return rc;
}

/* True if the name is `begin`, then anything without "/", then ".xml": "word/header3.xml" for
 * "word/header". Microsoft's Open XML SDK gives the first part no number, and its older versions
 * count on in base 16; names of parts differ by more than letter case. */
static bool is_numbered(const char *name, const char *begin)
{
    size_t n = strlen(name), len = strlen(begin);
    return n >= len + 4 && strncasecmp(name, begin, len) == 0 &&
           strcasecmp(name + n - 4, ".xml") == 0 && !strchr(name + len, '/');
}

static int read_word(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return read_paragraphs(x, p, &word, err);
}

dg_part_reader *dg_member_docx(const char *name)
{
    static const char *const parts[] = {"word/document", "word/header", "word/footer",
        "word/footnotes", "word/endnotes", "word/comments"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!is_numbered(name, parts[i]))
            continue;
        const char *number = name + strlen(parts[i]); /* not that of commentsExtended.xml */
        if (number[strspn(number, "0123456789abcdefABCDEF")] == '.')
            return read_word;
    }
    return NULL;
}

static int read_slide(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return read_paragraphs(x, p, &slide, err);
}

dg_part_reader *dg_member_pptx(const char *name)
{
    return is_numbered(name, "ppt/slides/slide") || is_numbered(name, "ppt/notesSlides/notesSlide")
               ? read_slide
               : NULL;
}

/* ---- spreadsheets ---- */

/* Finds the prefix of the root's name, which a sheet's other names have, too: Microsoft's Open XML
 * SDK writes <x:sst><x:si><x:t>. */
static void find_prefix(struct dg_runs *r)
{
    size_t root = 0;
    while (root < r->xml.n_tags && r->xml.tags[root].kind == DG_XML_OTHER)
        root++;
    if (root == r->xml.n_tags)
        return;
    const struct dg_xml_tag *t = &r->xml.tags[root];
    const char *colon = memchr(r->xml.s + t->name, ':', t->name_end - t->name);
    r->prefix = t->name;
    r->prefix_end = colon ? (size_t)(colon - r->xml.s) + 1 : t->name;
}

/* Adds a string without runs, whose text has a single format. */
static int add_string(struct dg_runs *r, size_t i, struct dg_error *err)
{
    const char *s = r->p->s;
    size_t begin = r->xml.tags[i].end, end = r->xml.tags[r->xml.tags[i].partner].begin;
    const struct dg_segment like = {
        .begin = begin, .end = end, .format = DG_FORMAT_XML, .markup = &lines_markup};
    if (!dg_utf8_has_letter(s + begin, end - begin))
        return DG_OK;
    return dg_segment_add(r->x, r->p, like, s + begin, end - begin, err) ? DG_OK : err->code;
}

/* True if the element at tag i has a cell's text that no formula computes, and that is in no list
 * of shared strings: <c t="str"><v>. */
static bool is_own_string(const struct dg_runs *r, size_t i)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *cell = dg_xml_parent(x, &x->tags[i]);
    if (!dg_runs_is(r, &x->tags[i], "v") || !cell || !dg_runs_is(r, cell, "c") ||
        !dg_xml_attribute_is(x, cell, "t", "str"))
        return false;
    for (size_t k = (size_t)(cell - x->tags) + 1; k < cell->partner; k = x->tags[k].partner + 1)
        if (dg_runs_is(r, &x->tags[k], "f"))
            return false;
    return true;
}

/* True if the element at tag i has a whole string without runs. */
static bool is_string(const struct dg_runs *r, size_t i)
{
    const struct dg_xml_tag *t = &r->xml.tags[i], *parent = dg_xml_parent(&r->xml, t);
    return is_own_string(r, i) ||
           (dg_runs_is(r, t, sheet.text) && parent && dg_runs_lists(r, parent, sheet.paragraphs));
}

static int read_sheet(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct dg_runs r = {.x = x, .p = p, .names = &sheet};
    int rc = scan(&r, err);
    if (rc == DG_OK) {
        find_prefix(&r);
        rc = add_paragraphs(&r, err);
    }
    for (size_t i = 0; i < r.xml.n_tags && rc == DG_OK; i++)
        if (r.xml.tags[i].kind == DG_XML_OPEN && is_string(&r, i))
            rc = add_string(&r, i, err);
    dg_xml_close(&r.xml);
    return rc;
}

/* Keeps a table's column names, and with them the header cells, which must equal them: formulas,
 * pivot tables and slicers name columns, and no two columns may have one name. */
static int read_table(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct dg_xml xml;
    size_t begin, end;
    int rc = dg_xml_scan(p->s, p->n, &xml, err);
    for (size_t i = 0; i < xml.n_tags && rc == DG_OK; i++)
        if (dg_xml_is_local(&xml, &xml.tags[i], "tableColumn") &&
            xml.tags[i].kind != DG_XML_CLOSE &&
            dg_xml_attribute(&xml, &xml.tags[i], "name", &begin, &end))
            dg_extract_keep(x, p->s + begin, end - begin);
    dg_xml_close(&xml);
    return rc;
}

dg_part_reader *dg_member_xlsx(const char *name)
{
    if (strcasecmp(name, "xl/sharedStrings.xml") == 0 || is_numbered(name, "xl/worksheets/sheet"))
        return read_sheet;
    return is_numbered(name, "xl/tables/table") ? read_table : NULL;
}

/* ---- OpenDocument ---- */

static int read_open(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return read_paragraphs(x, p, &open_document, err);
}

dg_part_reader *dg_member_odt(const char *name)
{
    return strcmp(name, "content.xml") == 0 || strcmp(name, "styles.xml") == 0 ? read_open : NULL;
}
