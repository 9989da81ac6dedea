/* Makes units of XML's text. Unless a client says which tags end a sentence, those do that have no
 * text beside them: in <p>A <b>dog</b>.</p><p>Two</p> the <p>, but not the <b>. */
#include "text/format/flow.h"
#include "text/format/html/elements.h"
#include "text/format/xml/scan.h"
#include "text/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct dg_flow f;
    struct dg_xml x;
    const struct dg_markup *markup;
    /* [n_tags + 1] true if text is directly within the element; the last: beside the roots */
    bool *mixed;
};

static bool is_text(const char *s, size_t at, size_t end)
{
    while (at < end && strchr(" \t\r\n", s[at]))
        at++;
    return at < end;
}

/* The flag of the element with this tag index; SIZE_MAX: of the space beside the roots. */
static bool *mixed_in(const struct reader *r, size_t parent)
{
    return &r->mixed[parent == SIZE_MAX ? r->x.n_tags : parent];
}

static void find_mixed(struct reader *r)
{
    const struct dg_xml *x = &r->x;
    size_t at = dg_utf8_bom(x->s, x->n);
    for (size_t i = 0; i < x->n_tags; i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        size_t around = t->kind == DG_XML_CLOSE ? t->partner : t->parent;
        if (is_text(x->s, at, t->begin) || t->kind == DG_XML_CDATA)
            *mixed_in(r, around) = true;
        at = t->end;
    }
    if (is_text(x->s, at, x->n))
        *mixed_in(r, SIZE_MAX) = true;
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

/* True if the tag ends a sentence. */
static bool splits(const struct reader *r, const struct dg_xml_tag *t)
{
    const struct dg_markup *m = r->markup;
    if (m && lists(r, m->splitting, t))
        return true;
    if (m && lists(r, m->non_splitting, t))
        return false;
    if (m && m->html)
        return element_of(r, t) == DG_ELEMENT_BLOCK;
    return !(m && m->no_outline) && !*mixed_in(r, t->parent);
}

static bool is_quiet(const struct reader *r, const struct dg_xml_tag *t)
{
    return (r->markup && lists(r, r->markup->ignored, t)) ||
           dg_xml_attribute_is(&r->x, t, "translate", "no") ||
           dg_xml_attribute_is(&r->x, t, "its:translate", "no");
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

/* Adds tag i; returns the index of the last tag that this covers. */
static size_t add_tag(struct reader *r, size_t i)
{
    const struct dg_xml_tag *t = &r->x.tags[i];
    const bool element = t->kind != DG_XML_CDATA && t->kind != DG_XML_OTHER;
    const bool block = element && splits(r, t);
    if (t->kind == DG_XML_OPEN && is_quiet(r, t)) {
        const struct dg_xml_tag *close = &r->x.tags[t->partner];
        if (block)
            dg_flow_end(&r->f);
        else
            dg_flow_protect(&r->f, t->begin, close->end, t->end, close->begin);
        return t->partner;
    }
    const bool html = element && r->markup && r->markup->html;
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

int dg_document_xml(struct dg_document *d, const char *s, size_t n, const struct dg_markup *markup,
    struct dg_error *err)
{
    struct reader r = {.markup = markup};
    size_t at = dg_utf8_bom(s, n);
    dg_flow_init(&r.f, d, s, n);
    int rc = dg_xml_scan(s, n, &r.x, err);
    if (rc == DG_OK && !(r.mixed = calloc(r.x.n_tags + 1, sizeof *r.mixed)))
        rc = dg_error_set(err, DG_ENOMEM, "no memory to parse XML");
    if (rc == DG_OK)
        find_mixed(&r);
    for (size_t i = 0; rc == DG_OK && i < r.x.n_tags; i++) {
        dg_flow_text(&r.f, at, r.x.tags[i].begin);
        i = add_tag(&r, i);
        at = r.x.tags[i].end;
    }
    if (rc == DG_OK)
        dg_flow_text(&r.f, at, n);
    dg_flow_end(&r.f);
    dg_flow_deinit(&r.f);
    dg_xml_close(&r.x);
    free(r.mixed);
    return rc;
}
