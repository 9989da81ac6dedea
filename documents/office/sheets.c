/* Spreadsheets of Office: the strings of cells, what must agree with them, and comments. */
#include "documents/kinds.h"
#include "documents/office/office.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

static const struct dg_run_names sheet = {
    .markup = &dg_office_lines,
    .paragraphs = (const char *const[]){"si", "is", "text", NULL},
    .run = "r",
    .run_properties = "rPr",
    .text = "t",
    .text_tag = "t xml:space=\"preserve\"",
    /* readings of the words, by their places in the string */
    .dropped = (const char *const[]){"rPh", NULL},
    .end = "phoneticPr",
    .prefixed = true,
};

/* Adds a string without runs, whose text has a single format. A translation leaves out what gives
 * readings of its words. */
static int add_string(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    const char *s = r->p->s;
    const struct dg_xml_tag *close = &r->xml.tags[t->partner], *last = close;
    const size_t begin = t->end, end = close->begin;
    struct dg_segment like = {
        .begin = begin, .end = end, .format = DG_FORMAT_XML, .markup = &dg_office_lines};
    if (!dg_utf8_has_letter(s + begin, end - begin))
        return DG_OK;
    for (size_t k = t->partner + 1;
         k < r->xml.n_tags && dg_runs_lists(r, &r->xml.tags[k], sheet.dropped);
         k = r->xml.tags[k].partner + 1)
        last = &r->xml.tags[r->xml.tags[k].partner];
    if (last != close)
        like.end = last->end;
    struct dg_segment *g = dg_segment_add(r->x, r->p, like, s + begin, end - begin, err);
    if (g && last != close && !(g->after = strndup(s + end, close->end - end)))
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    return g ? DG_OK : err->code;
}

/* True if the element at tag t has a cell's text that is in no list of shared strings,
 * <c t="str"><v>: the text itself, or what a formula before it gave when the file was saved. */
static bool is_own_string(const struct dg_runs *r, const struct dg_xml_tag *t)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *cell = dg_xml_parent(x, t);
    if (!dg_runs_is(r, t, "v") || !cell || !dg_runs_is(r, cell, "c"))
        return false;
    const struct dg_xml_tag *first = cell + 1;
    const struct dg_xml_tag *value =
        dg_runs_is(r, first, "f") ? &x->tags[first->partner + 1] : first;
    return value == t && dg_xml_attribute_is(x, cell, "t", "str");
}

/* True for the text of a threaded comment without mentions, which refer to it by character index.
 */
static bool is_thread_comment(const struct dg_runs *r, const struct dg_xml_tag *t)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *in = dg_xml_parent(x, t);
    if (!dg_runs_is(r, t, "text") || !in || in + 1 != t || !dg_runs_is(r, in, "threadedComment"))
        return false;
    for (size_t k = t->partner + 1; k < in->partner; k = x->tags[k].partner + 1)
        if (dg_runs_is(r, &x->tags[k], "mentions"))
            return false;
    return true;
}

/* True if the element at tag t has a whole string without runs. */
static bool is_string(const struct dg_runs *r, const struct dg_xml_tag *t)
{
    const struct dg_xml_tag *parent = dg_xml_parent(&r->xml, t);
    return is_own_string(r, t) || is_thread_comment(r, t) ||
           (dg_runs_is(r, t, sheet.text) && parent && dg_runs_lists(r, parent, sheet.paragraphs));
}

/* Keeps the words that a cell may have, if the element at tag t lists them itself:
 * <formula1>"Open,Closed"</formula1>. */
static void keep_list(const struct dg_runs *r, const struct dg_xml_tag *t)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *in = dg_xml_parent(x, t);
    const char *at = x->s + t->end, *end = x->s + x->tags[t->partner].begin;
    if (!dg_runs_is(r, t, "formula1") || !in || in + 1 != t ||
        !dg_runs_is(r, in, "dataValidation") || !dg_xml_attribute_is(x, in, "type", "list") ||
        (*at != '"' && strncmp(at, "&quot;", strlen("&quot;")) != 0))
        return;
    for (const char *comma; at < end; at = comma + 1) {
        comma = memchr(at, ',', (size_t)(end - at));
        comma = comma ? comma : end;
        dg_extract_keep(r->x, at, (size_t)(comma - at));
    }
}

/* Keeps the words that the element at tag t compares cells with, if it is a formula or one of a
 * conditional format. */
static void keep_compared(const struct dg_runs *r, const struct dg_xml_tag *t)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *rule = dg_xml_parent(x, t);
    if (dg_xml_is_local(x, t, "f") ||
        (dg_xml_is_local(x, t, "formula") && rule && dg_xml_is_local(x, rule, "cfRule")))
        dg_office_keep_quoted(r->x, x->s + t->end, x->tags[t->partner].begin - t->end);
}

/* Adds the words that a filter compares cells with, if tag t has some: they must equal those.
 * Patterns stay ("*dogs"). */
static int add_filter(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    static const char value[] = "val", relation[] = "operator";
    const struct dg_xml *x = &r->xml;
    size_t begin, end;
    bool whole = dg_xml_is_local(x, t, "filter");
    if (dg_xml_is_local(x, t, "customFilter") && dg_xml_attribute(x, t, value, &begin, &end)) {
        size_t how, how_end;
        whole = !dg_xml_attribute(x, t, relation, &how, &how_end) ||
                dg_xml_attribute_is(x, t, relation, "equal") ||
                dg_xml_attribute_is(x, t, relation, "notEqual");
        for (size_t k = begin; k < end; k++)
            whole = whole && !strchr("*?~", x->s[k]);
    }
    return whole ? dg_office_add_value(r, t, value, err) : DG_OK;
}

static int visit_sheet(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    const int rc = add_filter(r, t, err);
    if (rc != DG_OK || t->kind != DG_XML_OPEN)
        return rc;
    keep_list(r, t);
    keep_compared(r, t);
    return is_string(r, t) ? add_string(r, t, err) : DG_OK;
}

static int read_sheet(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, &sheet, visit_sheet, err);
}

/* Keeps the name of the element at tag t, if it is one of these. */
static void keep_name(const struct dg_runs *r, const struct dg_xml_tag *t, const char *element)
{
    size_t begin, end;
    if (dg_xml_is_local(&r->xml, t, element) && dg_xml_attribute(&r->xml, t, "name", &begin, &end))
        dg_extract_keep(r->x, r->xml.s + begin, end - begin);
}

static int visit_table(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    keep_name(r, t, "tableColumn");
    return add_filter(r, t, err);
}

/* Keeps a table's column names, and with them the header cells, which must equal them: formulas,
 * pivot tables and slicers name columns, and no two columns may have one name. Reads its filter. */
static int read_table(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, NULL, visit_table, err);
}

static int visit_pivot(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    (void)err;
    keep_name(r, t, "cacheField");
    return DG_OK;
}

/* The same for the names of a pivot table's data, if they are in cells. */
static int read_pivot(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    static const char cells[] = "worksheetSource";
    return memmem(p->s, p->n, cells, strlen(cells)) ? dg_office_read(x, p, NULL, visit_pivot, err)
                                                    : DG_OK;
}

/* ---- formulas ---- */

/* The first tag of a workbook that has one of these names and is no closing tag, or with `last` the
 * last one that is no opening tag; NULL: there is none. */
static const struct dg_xml_tag *find_tag(
    const struct dg_runs *r, const char *const *names, bool last)
{
    const struct dg_xml_tag *found = NULL;
    for (size_t i = 0; i < r->xml.n_tags && (last || !found); i++)
        if (r->xml.tags[i].kind != (last ? DG_XML_OPEN : DG_XML_CLOSE) &&
            dg_runs_lists(r, &r->xml.tags[i], names))
            found = &r->xml.tags[i];
    return found;
}

/* Finds which bytes of a workbook say that formulas are computed when it is opened, and what they
 * should be; *begin and *end stay: it says so, or has no place for it. */
static void find_setting(const struct dg_runs *r, size_t *begin, size_t *end, struct dg_buffer *is)
{
    static const char *const formulas[] = {"calcPr", NULL}, *const before[] = {"sheets",
                                                                "functionGroups",
                                                                "externalReferences",
                                                                "definedNames", NULL};
    static const char attribute[] = "fullCalcOnLoad";
    const struct dg_xml_tag *t = find_tag(r, formulas, false);
    if (t && dg_xml_attribute_is(&r->xml, t, attribute, "1"))
        return;
    if (t && dg_xml_attribute(&r->xml, t, attribute, begin, end)) {
        dg_buffer_adds(is, "1");
    } else if (t) {
        *begin = *end = t->name_end;
        dg_buffer_addf(is, " %s=\"1\"", attribute);
    } else if ((t = find_tag(r, before, true))) {
        *begin = *end = t->end;
        dg_buffer_addf(is, "<%.*scalcPr %s=\"1\"/>", (int)(r->prefix_end - r->prefix),
            r->xml.s + r->prefix, attribute);
    }
}

/* Lets the formulas be computed when the file is opened: their results may be other words than the
 * translation of the old ones. */
static int read_workbook(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct dg_runs r;
    struct dg_span at = {0, 0};
    struct dg_buffer is = {0};
    int rc = dg_office_open(&r, x, p, &sheet, err);
    if (rc == DG_OK)
        find_setting(&r, &at.begin, &at.end, &is);
    if (rc == DG_OK && is.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    else if (rc == DG_OK && is.len > 0)
        rc = dg_segment_add_bytes(x, p, at, DG_WRITE_SETTING, is.data, err);
    dg_buffer_deinit(&is);
    dg_xml_close(&r.xml);
    return rc;
}

dg_part_reader *dg_member_xlsx(const char *name)
{
    static const char *const strings[] = {"xl/sharedStrings", "xl/worksheets/sheet", "xl/comments",
        "xl/comments/comment", "xl/threadedComments/threadedComment"};
    if (strcasecmp(name, "xl/workbook.xml") == 0)
        return read_workbook;
    if (dg_office_is_numbered(name, "xl/tables/table"))
        return read_table;
    if (dg_office_is_numbered(name, "xl/pivotCache/pivotCacheDefinition"))
        return read_pivot;
    if (dg_office_is_numbered(name, "xl/drawings/drawing"))
        return dg_office_read_slide;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (dg_office_is_numbered(name, strings[i]))
            return read_sheet;
    return dg_office_find_drawing("xl/", name);
}
