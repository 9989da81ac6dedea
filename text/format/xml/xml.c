/* Makes units of XML's text. Unless a client says which tags end a sentence, those do that have no
 * text beside them: in <p>A <b>dog</b>.</p><p>Two</p> the <p>, but not the <b>. */
#include "text/format/flow.h"
#include "text/format/html/elements.h"
#include "text/format/xml/codes.h"
#include "text/format/xml/scan.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What holds for the text directly within an element. */
struct content {
    /* there is some */
    bool mixed;
    /* it stays as it is */
    bool quiet;
    /* its line ends end sentences */
    bool lines;
};

struct reader {
    struct dg_flow f;
    struct dg_xml x;
    const struct dg_markup *markup;
    struct dg_xml_codes codes;
    /* [n_tags + 1] by the index of the element's first tag; the last: beside the roots */
    struct content *contents;
};

/* The content of the element with this tag index; SIZE_MAX: the space beside the roots. */
static struct content *content_of(const struct reader *r, size_t element)
{
    return &r->contents[element == SIZE_MAX ? r->x.n_tags : element];
}

/* The content that ends where the tag begins. */
static struct content *content_before(const struct reader *r, const struct dg_xml_tag *t)
{
    return content_of(r, t->kind == DG_XML_CLOSE ? t->partner : t->parent);
}

static void find_mixed(struct reader *r)
{
    const struct dg_xml *x = &r->x;
    size_t at = dg_utf8_bom(x->s, x->n);
    for (size_t i = 0; i < x->n_tags; i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        if (dg_scan_skip_ascii_space(x->s, at, t->begin) < t->begin || t->kind == DG_XML_CDATA)
            content_before(r, t)->mixed = true;
        at = t->end;
    }
    if (dg_scan_skip_ascii_space(x->s, at, x->n) < x->n)
        content_of(r, SIZE_MAX)->mixed = true;
}

static bool lists(const struct reader *r, const char *const *list, const struct dg_xml_tag *t)
{
    return dg_markup_lists(list, r->x.s + t->name, t->name_end - t->name);
}

static enum dg_element element_of(const struct reader *r, const struct dg_xml_tag *t)
{
    char name[16] = "";
    size_t n = t->name_end - t->name;
    if (n < sizeof name)
        memcpy(name, r->x.s + t->name, n);
    return dg_element_find(name);
}

static bool is_element(const struct dg_xml_tag *t)
{
    return t->kind != DG_XML_CDATA && t->kind != DG_XML_OTHER;
}

/* True if the tag ends a sentence. */
static bool splits(const struct reader *r, const struct dg_xml_tag *t)
{
    const struct dg_markup *m = r->markup;
    if (lists(r, m->splitting, t))
        return true;
    if (lists(r, m->non_splitting, t))
        return false;
    if (m->html)
        return element_of(r, t) == DG_ELEMENT_BLOCK;
    return !m->no_outline && !content_of(r, t->parent)->mixed;
}

/* True if the tag's attribute translate has this value. */
static bool says_translate(const struct reader *r, const struct dg_xml_tag *t, const char *value)
{
    size_t begin, end;
    return (dg_xml_attribute(&r->x, t, "translate", &begin, &end) ||
               dg_xml_attribute(&r->x, t, "its:translate", &begin, &end)) &&
           end - begin == strlen(value) && strncasecmp(r->x.s + begin, value, end - begin) == 0;
}

/* True if the element's content stays as it is. before: the same of the element around it. */
static bool is_quiet(const struct reader *r, const struct dg_xml_tag *t, bool before)
{
    size_t begin, end;
    if (lists(r, r->markup->ignored, t))
        return true;
    if (r->markup->codes && dg_xml_attribute_is(&r->x, t, "mtype", "protected"))
        return true;
    if (r->markup->html && dg_xml_attribute(&r->x, t, "class", &begin, &end) &&
        dg_element_is_notranslate(r->x.s + begin, end - begin))
        return true;
    return says_translate(r, t, "no") || (before && !says_translate(r, t, "yes"));
}

static void add_text(struct reader *r, const struct content *in, size_t begin, size_t end)
{
    r->f.lines = in->lines;
    if (!in->quiet)
        dg_flow_text(&r->f, begin, end);
}

/* Find what holds within the element that begins with tag i. */
static void find_content(struct reader *r, size_t i, bool block)
{
    const struct dg_xml_tag *t = &r->x.tags[i];
    const struct content *around = content_of(r, t->parent);
    struct content *in = content_of(r, i);
    in->quiet = is_quiet(r, t, around->quiet);
    in->lines =
        around->lines || (block && r->markup->html &&
                             (dg_xml_is(&r->x, t, "pre") || dg_xml_is(&r->x, t, "textarea")));
}

/* Attributes of XHTML that are text for readers. */
static void add_values(struct reader *r, const struct dg_xml_tag *t)
{
    static const char *const names[] = {"alt", "title", "aria-label"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct dg_flow_value v;
        if (!dg_xml_attribute(&r->x, t, names[i], &v.begin, &v.end))
            continue;
        v.encoding = r->x.s[v.end] == '"' ? DG_ENCODING_DOUBLE_QUOTED : DG_ENCODING_SINGLE_QUOTED;
        dg_flow_value(&r->f, v);
    }
}

/* Adds tag *i of XHTML; false: it is treated as in any other XML. */
static bool add_html(struct reader *r, size_t *i)
{
    const struct dg_xml_tag *t = &r->x.tags[*i], *end = &r->x.tags[t->partner];
    const enum dg_element kind = element_of(r, t);
    if (kind == DG_ELEMENT_LINE_END && t->kind == DG_XML_EMPTY) {
        dg_flow_line_end(&r->f, t->begin, t->end);
    } else if (kind == DG_ELEMENT_OPAQUE && t->kind != DG_XML_CLOSE) {
        dg_flow_point(&r->f, t->begin, end->end);
        *i = t->partner;
    } else if (kind == DG_ELEMENT_PROTECTED && t->kind == DG_XML_OPEN) {
        dg_flow_protect(&r->f, t->begin, end->end, t->end, end->begin);
        *i = t->partner;
    } else {
        return false;
    }
    return true;
}

/* Adds tag i, which is to be translated; returns the index of the last tag that this covers. */
static size_t add_shown(struct reader *r, size_t i, bool block)
{
    const struct dg_xml_tag *t = &r->x.tags[i];
    if (r->markup->codes && dg_xml_codes_add(&r->codes, &r->f, &r->x, &i))
        return i;
    const bool html = is_element(t) && r->markup->html;
    if (html && add_html(r, &i))
        return i;
    if (block)
        dg_flow_end(&r->f);
    else if (t->kind == DG_XML_OPEN || t->kind == DG_XML_CLOSE)
        dg_flow_tag(&r->f, t->begin, t->end, t->kind == DG_XML_OPEN);
    else
        dg_flow_point(&r->f, t->begin, t->end);
    if (html && t->kind != DG_XML_CLOSE)
        add_values(r, t);
    return i;
}

/* The same for any tag. */
static size_t add_tag(struct reader *r, size_t i)
{
    const struct dg_xml_tag *t = &r->x.tags[i], *close = &r->x.tags[t->partner];
    const bool block = is_element(t) && splits(r, t), around = content_of(r, t->parent)->quiet;
    bool quiet = around;
    if (is_element(t) && t->kind != DG_XML_CLOSE)
        find_content(r, i, block);
    if (is_element(t))
        quiet = content_of(r, t->kind == DG_XML_CLOSE ? t->partner : i)->quiet;
    if (!quiet) {
        i = add_shown(r, i, block);
        /* What follows a shown element within a quiet one is not part of its sentence. */
        if (around && r->x.tags[i].kind != DG_XML_OPEN)
            dg_flow_end(&r->f);
        return i;
    }
    if (around)
        return i;
    /* The elements of a quiet block are visited: some of them may be shown. */
    if (block)
        dg_flow_end(&r->f);
    else if (t->kind == DG_XML_OPEN)
        dg_flow_protect(&r->f, t->begin, close->end, t->end, close->begin);
    else
        dg_flow_point(&r->f, t->begin, t->end);
    return block ? i : t->partner;
}

int dg_document_xml(struct dg_document *d, const char *s, size_t n, const struct dg_markup *markup,
    struct dg_error *err)
{
    struct reader r = {.markup = markup};
    size_t at = dg_utf8_bom(s, n);
    dg_flow_init(&r.f, d, s, n);
    r.f.lines = markup->lines;
    int rc = dg_xml_scan(s, n, &r.x, err);
    if (rc == DG_OK && !(r.contents = calloc(r.x.n_tags + 1, sizeof *r.contents)))
        rc = dg_error_set(err, DG_ENOMEM, "no memory to parse XML");
    if (rc == DG_OK) {
        content_of(&r, SIZE_MAX)->lines = r.f.lines;
        find_mixed(&r);
    }
    for (size_t i = 0; rc == DG_OK && i < r.x.n_tags; i++) {
        add_text(&r, content_before(&r, &r.x.tags[i]), at, r.x.tags[i].begin);
        i = add_tag(&r, i);
        at = r.x.tags[i].end;
    }
    if (rc == DG_OK)
        add_text(&r, content_of(&r, SIZE_MAX), at, n);
    dg_flow_end(&r.f);
    dg_flow_deinit(&r.f);
    dg_xml_close(&r.x);
    free(r.contents);
    return rc;
}
