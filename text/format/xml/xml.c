/* XML's text as units. Where a client does not say which tags end a sentence, it is those that have
 * no text beside them: of <p>A <b>dog</b>.</p><p>Two</p> the paragraphs, and not <b>. */
#include "text/format/flow.h"
#include "text/format/xml/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct dg_flow f;
    struct dg_xml x;
    const struct dg_markup *markup;
    bool *mixed; /* [n_tags + 1] there is text right within it; the last: beside the roots */
};

static bool is_text(const char *s, size_t at, size_t end)
{
    while (at < end && strchr(" \t\r\n", s[at]))
        at++;
    return at < end;
}

/* Of an element's tags and of what has none: the one that is around it. */
static bool *mixed_in(const struct reader *r, size_t parent)
{
    return &r->mixed[parent == SIZE_MAX ? r->x.n_tags : parent];
}

static void find_mixed(struct reader *r)
{
    const struct dg_xml *x = &r->x;
    size_t at = dg_flow_first(x->s, x->n);
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

/* Does the tag end a sentence? */
static bool splits(const struct reader *r, const struct dg_xml_tag *t)
{
    const struct dg_markup *m = r->markup;
    if (m && lists(r, m->splitting, t))
        return true;
    if (m && lists(r, m->non_splitting, t))
        return false;
    return !(m && m->no_outline) && !*mixed_in(r, t->parent);
}

static bool is_quiet(const struct reader *r, const struct dg_xml_tag *t)
{
    return (r->markup && lists(r, r->markup->ignored, t)) ||
           dg_xml_attribute_is(&r->x, t, "translate", "no") ||
           dg_xml_attribute_is(&r->x, t, "its:translate", "no");
}

/* Tag i; the index of the last one that is done with it. */
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
    if (block)
        dg_flow_end(&r->f);
    else if (t->kind == DG_XML_OPEN || t->kind == DG_XML_CLOSE)
        dg_flow_tag(&r->f, t->begin, t->end, t->kind == DG_XML_OPEN);
    else
        dg_flow_point(&r->f, t->begin, t->end);
    return i;
}

int dg_document_xml(struct dg_document *d, const char *s, size_t n, const struct dg_markup *markup,
    struct dg_error *err)
{
    struct reader r = {.markup = markup};
    size_t at = dg_flow_first(s, n);
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
