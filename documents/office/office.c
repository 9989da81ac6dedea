/* Decides which members of an office file have text, and names the tags of that text. */
#include "documents/office/office.h"

#include "documents/kinds.h"
#include "documents/office/languages.h"
#include "text/utf8.h"

#include <string.h>
#include <strings.h>

/* <b> ends a sentence, and no other tag does; in the cells of a sheet and in slides, a line end and
 * a tab do, too. The words of <f> stay. */
static const char *const ends[] = {"b", NULL}, *const fields[] = {"f", NULL};
static const struct dg_markup markup = {.no_outline = true, .splitting = ends, .ignored = fields};
const struct dg_markup dg_office_lines = {.no_outline = true, .splitting = ends, .lines = true};

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
    .underline = "w:u",
    .ruby = (const char *const[]){"w:ruby", "w:rubyBase", NULL},
    .hyphen = "w:noBreakHyphen",
    .dropped = (const char *const[]){"w:proofErr", "w:lastRenderedPageBreak", "w:softHyphen", NULL},
    .breaks = (const char *const[]){"w:tab", "w:br", "w:cr", "w:ptab", NULL},
    .links = (const char *const[]){"w:hyperlink", "w:fldSimple", NULL},
    .ranges = (const char *const[]){"w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart",
        "w:commentRangeEnd", "w:permStart", "w:permEnd", "w:moveToRangeStart", "w:moveToRangeEnd",
        NULL},
    .reference = "w:commentReference",
    .language = "<w:lang",
    .codes = {" w:val=\"", " w:eastAsia=\"", " w:bidi=\""},
};

const struct dg_run_names dg_office_slide = {
    .markup = &dg_office_lines,
    .paragraphs = (const char *const[]){"a:p", NULL},
    .paragraph_properties = "a:pPr",
    .run = "a:r",
    .run_properties = "a:rPr",
    .text = "a:t",
    .text_tag = "a:t",
    .end = "a:endParaRPr",
    .breaks = (const char *const[]){"a:br", NULL},
    .links = (const char *const[]){"a:hlinkClick", "a:hlinkMouseOver", NULL},
    .language = "<a:rPr",
    .codes = {" lang=\"", " lang=\"", " lang=\""},
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

/* Finds the prefix of the root's name, which a sheet's other names have, too: Microsoft's Open XML
 * SDK writes <x:sst><x:si><x:t>. */
static void find_prefix(struct dg_runs *r)
{
    const struct dg_xml_tag *t = dg_xml_root(&r->xml);
    if (!t)
        return;
    const char *colon = memchr(r->xml.s + t->name, ':', t->name_end - t->name);
    r->prefix = t->name;
    r->prefix_end = colon ? (size_t)(colon - r->xml.s) + 1 : t->name;
}

int dg_office_open(struct dg_runs *r, struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_run_names *names, struct dg_error *err)
{
    *r = (struct dg_runs){.x = x, .p = p, .names = names};
    const int rc = dg_xml_scan(p->s, p->n, &r->xml, err);
    if (rc == DG_OK && names && names->prefixed)
        find_prefix(r);
    return rc;
}

int dg_office_read(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_run_names *names, dg_office_visit *visit, struct dg_error *err)
{
    struct dg_runs r;
    int rc = dg_office_open(&r, x, p, names, err);
    for (size_t i = 0; names && i < r.xml.n_tags && rc == DG_OK; i++)
        if (r.xml.tags[i].kind == DG_XML_OPEN &&
            dg_runs_lists(&r, &r.xml.tags[i], names->paragraphs))
            rc = dg_runs_add(&r, i, err);
    for (size_t i = 0; visit && i < r.xml.n_tags && rc == DG_OK; i++)
        if (r.xml.tags[i].kind != DG_XML_CLOSE)
            rc = visit(&r, &r.xml.tags[i], err);
    dg_xml_close(&r.xml);
    return rc;
}

/* Adds the bytes of `like` as a text, if they are one. */
static int add_lines(struct dg_runs *r, struct dg_segment like, struct dg_error *err)
{
    like.format = DG_FORMAT_XML;
    like.markup = &dg_office_lines;
    return dg_utf8_has_letter(r->p->s + like.begin, like.end - like.begin)
               ? dg_segment_add_own(r->x, r->p, like, err)
               : DG_OK;
}

int dg_office_add_words(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    const struct dg_segment like = {.begin = t->end, .end = r->xml.tags[t->partner].begin};
    return t->kind == DG_XML_OPEN ? add_lines(r, like, err) : DG_OK;
}

int dg_office_add_value(
    struct dg_runs *r, const struct dg_xml_tag *t, const char *attribute, struct dg_error *err)
{
    struct dg_segment like = {0};
    if (!dg_xml_attribute(&r->xml, t, attribute, &like.begin, &like.end))
        return DG_OK;
    like.encoding =
        r->p->s[like.begin - 1] == '"' ? DG_ENCODING_DOUBLE_QUOTED : DG_ENCODING_SINGLE_QUOTED;
    return add_lines(r, like, err);
}

/* True if "&" joins other words to those in s[n] whose quotation marks are s[open, close). */
static bool is_joined(const char *s, size_t n, size_t open, size_t close)
{
    static const char sign[] = "&amp;";
    const size_t len = strlen(sign);
    while (open > 0 && s[open - 1] == ' ')
        open--;
    while (close < n && s[close] == ' ')
        close++;
    return (open >= len && memcmp(s + open - len, sign, len) == 0) ||
           (n - close >= len && memcmp(s + close, sign, len) == 0);
}

void dg_office_keep_quoted(struct dg_extract *x, const char *s, size_t n)
{
    static const char *const marks[] = {"\"", "&quot;"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t len = strlen(marks[i]);
        const char *open = NULL, *end = s + n;
        for (const char *at = s; (at = memmem(at, (size_t)(end - at), marks[i], len)); at += len) {
            if (open && !is_joined(s, n, (size_t)(open - s) - len, (size_t)(at - s) + len))
                dg_extract_keep(x, open, (size_t)(at - open));
            open = open ? NULL : at + len;
        }
    }
}

bool dg_office_is_numbered(const char *name, const char *begin)
{
    size_t n = strlen(name), len = strlen(begin);
    return n >= len + 4 && strncasecmp(name, begin, len) == 0 &&
           strcasecmp(name + n - 4, ".xml") == 0 && !strchr(name + len, '/');
}

bool dg_office_is_counted(const char *name, const char *begin)
{
    if (!dg_office_is_numbered(name, begin))
        return false;
    const char *number = name + strlen(begin);
    return number[strspn(number, "0123456789abcdefABCDEF")] == '.';
}

static int read_word(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, &word, NULL, err);
}

dg_part_reader *dg_member_docx(const char *name)
{
    static const char *const parts[] = {"word/document", "word/header", "word/footer",
        "word/footnotes", "word/endnotes", "word/comments"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (dg_office_is_counted(name, parts[i]))
            return read_word;
    if (dg_office_is_counted(name, "word/styles"))
        return dg_languages_read_styles;
    return dg_office_find_drawing("word/", name);
}

int dg_office_read_slide(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, &dg_office_slide, NULL, err);
}

static int add_remark(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    return dg_xml_is(&r->xml, t, "p:text") ? dg_office_add_words(r, t, err) : DG_OK;
}

/* Comments on a slide: those of PowerPoint before 2021 have no paragraphs. */
static int read_remarks(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, &dg_office_slide, add_remark, err);
}

dg_part_reader *dg_member_pptx(const char *name)
{
    if (strcasecmp(name, "ppt/presentation.xml") == 0)
        return dg_languages_read_presentation; /* there may be no slides */
    if (dg_office_is_numbered(name, "ppt/comments/"))
        return read_remarks;
    return dg_office_is_numbered(name, "ppt/slides/slide") ||
                   dg_office_is_numbered(name, "ppt/notesSlides/notesSlide")
               ? dg_office_read_slide
               : dg_office_find_drawing("ppt/", name);
}

/* ---- OpenDocument ---- */

/* True if the cell at tag t has the words s[n] in a paragraph, or those that a formula gave. */
static bool has_words(const struct dg_xml *x, const struct dg_xml_tag *t, const char *s, size_t n)
{
    size_t begin, end;
    const bool formula = dg_xml_attribute(x, t, "table:formula", &begin, &end);
    for (const struct dg_xml_tag *p = t + 1; p < &x->tags[t->partner];
         p = &x->tags[p->partner] + 1) {
        if (!dg_xml_is(x, p, "text:p"))
            continue;
        begin = p->end;
        end = x->tags[p->partner].begin;
        return formula || (end == begin + n && memcmp(x->s + begin, s, n) == 0);
    }
    return false;
}

/* Leaves out what the cell at tag t says its words are, which programs show instead of them, if the
 * words change; LibreOffice then computes a formula when it opens the file. If they differ in a
 * cell without a formula, a format adds words to those. */
static int add_cell(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    static const char attribute[] = "office:string-value";
    const struct dg_xml *x = &r->xml;
    size_t begin, end;
    if (!dg_xml_attribute(x, t, attribute, &begin, &end) ||
        !has_words(x, t, x->s + begin, end - begin))
        return DG_OK;
    while (memcmp(x->s + begin, attribute, strlen(attribute)) != 0)
        begin--;
    return dg_segment_add_bytes(
        r->x, r->p, (struct dg_span){begin, end + 1}, DG_WRITE_DECLARATION, "", err);
}

/* Keeps the words that a formula, a list of allowed words or a conditional format compares cells
 * with, if tag t has some, and the name of a column for a pivot table, which the header cell must
 * equal. */
static void keep_names(const struct dg_runs *r, const struct dg_xml_tag *t)
{
    static const char in_list[] = "cell-content-is-in-list(";
    static const char *const compares[][2] = {{"table:table-cell", "table:formula"},
        {"style:map", "style:condition"}, {"calcext:condition", "calcext:value"}};
    const struct dg_xml *x = &r->xml;
    size_t begin, end;
    for (size_t k = 0; k < sizeof compares / sizeof *compares; k++)
        if (dg_xml_is(x, t, compares[k][0]) && dg_xml_attribute(x, t, compares[k][1], &begin, &end))
            dg_office_keep_quoted(r->x, x->s + begin, end - begin);
    if (dg_xml_is(x, t, "table:content-validation")) {
        if (dg_xml_attribute(x, t, "table:condition", &begin, &end) &&
            memmem(x->s + begin, end - begin, in_list, strlen(in_list)))
            dg_office_keep_quoted(r->x, x->s + begin, end - begin);
    } else if (dg_xml_is(x, t, "table:data-pilot-field")) {
        if (dg_xml_attribute(x, t, "table:source-field-name", &begin, &end))
            dg_extract_keep(r->x, x->s + begin, end - begin);
    }
}

/* Adds the words that a filter compares cells with, if tag t has some: they must equal those. */
static int add_filter(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    const bool whole = dg_xml_is(x, t, "table:filter-set-item") ||
                       (dg_xml_is(x, t, "table:filter-condition") &&
                           (dg_xml_attribute_is(x, t, "table:operator", "=") ||
                               dg_xml_attribute_is(x, t, "table:operator", "!=")));
    return whole ? dg_office_add_value(r, t, "table:value", err) : DG_OK;
}

static int visit_open(struct dg_runs *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    keep_names(r, t);
    if (dg_xml_is(&r->xml, t, "table:table-cell"))
        return add_cell(r, t, err);
    if (dg_xml_is(&r->xml, t, "style:text-properties"))
        return dg_languages_add(r, t, err);
    return add_filter(r, t, err);
}

static int read_open(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    return dg_office_read(x, p, &open_document, visit_open, err);
}

dg_part_reader *dg_member_odt(const char *name)
{
    static const char object[] = "/content.xml"; /* a chart, or another document within this one */
    const size_t n = strlen(name);
    return strcmp(name, object + 1) == 0 || strcmp(name, "styles.xml") == 0 ||
                   (n > strlen(object) && strcmp(name + n - strlen(object), object) == 0)
               ? read_open
               : NULL;
}
