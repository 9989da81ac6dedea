/* XLIFF 1.2 and 2: a missing or empty target is filled from its source; a target with text stays.
 * So are empty segments of a target, <mrk mtype="seg" mid="1"/>, from those of its <seg-source>.
 * Inline codes of the original (<ph>, <bpt>, ...) move with their words (text/format/xml/codes.h).
 * Markup that is text (&lt;b>, CDATA) does, too (string.h). */
#include "documents/kinds.h"
#include "documents/strings/program_string.h"
#include "documents/xml/declaration.h"
#include "documents/xml/string.h"
#include "documents/xml/target.h"
#include "text/format/xml/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* maximum tags between two segments of a source in the same order as its target's */
#define MOST_TAGS 1000

static const struct dg_markup string = {.key_signs = "&"};
static const char *const segment[] = {"mrk", NULL};
/* [white space is text][a source in segments, which are sentences of their own] */
static const struct dg_markup markups[2][2] = {
    {{.no_outline = true, .codes = true},
        {.no_outline = true, .codes = true, .splitting = segment}},
    {{.no_outline = true, .codes = true, .lines = true},
        {.no_outline = true, .codes = true, .lines = true, .splitting = segment}}};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    struct dg_xml xml;
    /* [xml.n_tags] what an element and those around it say */
    struct inherited *inherited;
};

struct inherited {
    /* one is marked as not to be translated */
    bool quiet;
    /* white space is part of the text: the nearest xml:space says so */
    bool keeps_space;
};

/* Finds what all elements inherit, each from the one around it. */
static int inherit(struct reader *r, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    size_t begin, end;
    r->inherited = calloc(x->n_tags + 1, sizeof *r->inherited);
    if (!r->inherited)
        return dg_error_set(err, DG_ENOMEM, "no memory for the tags of a file");
    for (size_t i = 0; i < x->n_tags; i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        struct inherited *own = &r->inherited[i];
        if (t->parent != SIZE_MAX)
            *own = r->inherited[t->parent];
        if (t->kind != DG_XML_OPEN)
            continue;
        own->quiet = own->quiet || dg_xml_attribute_is(x, t, "translate", "no");
        if (dg_xml_attribute(x, t, "xml:space", &begin, &end))
            own->keeps_space = dg_xml_attribute_is(x, t, "xml:space", "preserve");
    }
    return DG_OK;
}

static const struct inherited *inherited_of(const struct reader *r, const struct dg_xml_tag *t)
{
    return &r->inherited[t - r->xml.tags];
}

/* A source and what is beside it. */
struct unit {
    const struct dg_xml_tag *source;
    /* the source in segments, and the target; NULL: there is none */
    const struct dg_xml_tag *segmented, *target;
    /* where a new target is inserted */
    size_t after;
};

/* Finds what belongs to the source among the elements after it, up to the next source. */
static struct unit find_unit(const struct reader *r, const struct dg_xml_tag *source)
{
    const struct dg_xml *x = &r->xml;
    struct unit u = {.source = source, .after = x->tags[source->partner].end};
    for (size_t i = source->partner + 1; i < x->n_tags && !u.target; i = x->tags[i].partner + 1) {
        const struct dg_xml_tag *t = &x->tags[i];
        if (t->kind == DG_XML_CLOSE || dg_xml_is_local(x, t, "source"))
            break;
        if (dg_xml_is_local(x, t, "seg-source")) {
            u.segmented = t;
            u.after = x->tags[t->partner].end;
        }
        if (dg_xml_is_local(x, t, "target"))
            u.target = t;
    }
    return u;
}

/* Sets what is written around the answer: the tags of a target that is missing, with the source's
 * indentation and prefix, or is empty; and those of the source's CDATA section. */
static int enclose(struct reader *r, struct dg_segment *g, const struct dg_xml_tag *source,
    const struct dg_xml_tag *target, struct dg_error *err)
{
    const bool cdata = g->escapes == DG_ESCAPES_CDATA;
    const char *s = r->xml.s, *open = cdata ? "<![CDATA[" : "", *close = cdata ? "]]>" : "";
    const char *prefix = s + source->name;
    const int n = (int)(source->name_end - source->name - strlen("source"));
    struct dg_buffer before = {0}, after = {0};
    size_t at = source->begin;
    if (target)
        return dg_xml_target_enclose(&r->xml, target, open, close, g, err);
    while (at > 0 && strchr(" \t\r\n", s[at - 1]))
        at--;
    dg_buffer_addf(
        &before, "%.*s<%.*starget>%s", (int)(source->begin - at), s + at, n, prefix, open);
    dg_buffer_addf(&after, "%s</%.*starget>", close, n, prefix);
    g->before = dg_buffer_take(&before, NULL);
    g->after = dg_buffer_take(&after, NULL);
    return g->before && g->after ? DG_OK
                                 : dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
}

/* True if the XML has "<" or "&" as a character: a tag that is text, or the sign of a key. */
static bool has_signs(const char *s, size_t n)
{
    return memmem(s, n, "&lt;", 4) || memmem(s, n, "&amp;", 5);
}

/* Adds the content of `from`: the source, the source in segments, or one of these. Its answer goes
 * where `like` says, into `target` if that is not NULL. */
static int add_text(struct reader *r, const struct unit *u, const struct dg_xml_tag *from,
    const struct dg_xml_tag *target, struct dg_segment like, struct dg_error *err)
{
    const char *s = r->xml.s;
    size_t begin = from->end, end = r->xml.tags[from->partner].begin;
    const bool keeps = inherited_of(r, from)->keeps_space,
               cdata = dg_xml_string_cdata(s, &begin, &end);
    struct dg_buffer text = {0};
    like.format = DG_FORMAT_XML;
    like.markup = &markups[keeps][from == u->segmented];
    const bool escaped = !cdata && has_signs(s + begin, end - begin) &&
                         dg_xml_string_read(s + begin, end - begin, keeps, &text);
    if (cdata || escaped) {
        like.format = DG_FORMAT_TEXT;
        like.markup = &string;
        like.writing = DG_WRITE_ESCAPED;
        like.escapes = cdata ? DG_ESCAPES_CDATA : DG_ESCAPES_XML;
    }
    if (!escaped) {
        dg_buffer_reset(&text);
        dg_buffer_add(&text, s + begin, end - begin);
    }
    struct dg_segment *g;
    const int rc = dg_program_string_add(r->x, r->p, like, &text, &g, err);
    dg_buffer_deinit(&text);
    return rc == DG_OK && g ? enclose(r, g, u->source, target, err) : rc;
}

static bool is_segment(const struct dg_xml *x, const struct dg_xml_tag *t)
{
    return t->kind != DG_XML_CLOSE && dg_xml_is_local(x, t, "mrk") &&
           dg_xml_attribute_is(x, t, "mtype", "seg");
}

/* Finds the segment in tags[from, end) that has the same mid; `end`: there is none near. */
static size_t find_segment(
    const struct dg_xml *x, size_t from, size_t end, const struct dg_xml_tag *like)
{
    size_t begin[2], to[2];
    if (!dg_xml_attribute(x, like, "mid", &begin[0], &to[0]))
        return end;
    for (size_t i = from; i < end && i < from + MOST_TAGS; i++)
        if (is_segment(x, &x->tags[i]) &&
            dg_xml_attribute(x, &x->tags[i], "mid", &begin[1], &to[1]) &&
            to[1] - begin[1] == to[0] - begin[0] &&
            memcmp(x->s + begin[1], x->s + begin[0], to[0] - begin[0]) == 0)
            return i;
    return end;
}

/* Adds the segments that are empty in the target: <mrk mtype="seg" mid="1"/>. They are in the order
 * of the source's. */
static int add_segments(struct reader *r, const struct unit *u, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    const size_t end = u->segmented->partner;
    size_t from = (size_t)(u->segmented - x->tags) + 1;
    int rc = DG_OK;
    for (size_t i = (size_t)(u->target - x->tags) + 1; i < u->target->partner && rc == DG_OK; i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        struct dg_segment like = {.begin = 0};
        const size_t k = is_segment(x, t) ? find_segment(x, from, end, t) : end;
        if (k == end)
            continue;
        from = k + 1;
        if (x->tags[k].kind == DG_XML_OPEN && dg_xml_target_room(x, t, &like.begin, &like.end))
            rc = add_text(r, u, &x->tags[k], t, like, err);
    }
    return rc;
}

static int add_source(struct reader *r, const struct dg_xml_tag *source, struct dg_error *err)
{
    const struct unit u = find_unit(r, source);
    const bool segmented = u.segmented && u.segmented->kind == DG_XML_OPEN;
    struct dg_segment like = {.begin = u.after, .end = u.after};
    if (!u.target || dg_xml_target_room(&r->xml, u.target, &like.begin, &like.end))
        return add_text(r, &u, segmented ? u.segmented : source, u.target, like, err);
    return segmented ? add_segments(r, &u, err) : DG_OK;
}

/* Adds the attribute with the target language, which XLIFF 2 requires if there are targets, unless
 * it is there. */
static int add_language(
    struct reader *r, const struct dg_xml_tag *t, const char *name, struct dg_error *err)
{
    const struct dg_span at = {t->name_end, t->name_end};
    char language[DG_LANGUAGE_MAX + 24];
    size_t begin, end;
    if (dg_xml_attribute(&r->xml, t, name, &begin, &end))
        return DG_OK;
    snprintf(language, sizeof language, " %s=\"%s\"", name, r->x->target);
    return dg_segment_add_bytes(r->x, r->p, at, DG_WRITE_PLAIN, language, err);
}

static int read_tags(struct reader *r, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    int rc = DG_OK;
    for (size_t i = 0; i < x->n_tags && rc == DG_OK; i++) {
        const struct dg_xml_tag *t = &x->tags[i], *parent = dg_xml_parent(x, t);
        if (t->kind == DG_XML_OPEN && dg_xml_is_local(x, t, "source") && parent &&
            (dg_xml_is_local(x, parent, "trans-unit") || dg_xml_is_local(x, parent, "segment")) &&
            !inherited_of(r, t)->quiet)
            rc = add_source(r, t, err);
    }
    for (size_t i = 0; i < x->n_tags && r->p->n_segments > 0 && rc == DG_OK; i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        size_t begin, end;
        if (t->kind != DG_XML_OPEN)
            continue;
        if (dg_xml_is_local(x, t, "xliff") && dg_xml_attribute(x, t, "version", &begin, &end) &&
            x->s[begin] == '2')
            return add_language(r, t, "trgLang", err);
        if (dg_xml_is_local(x, t, "file"))
            rc = add_language(r, t, "target-language", err);
    }
    return rc;
}

int dg_read_xliff(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct reader r = {.x = x, .p = p};
    int rc = dg_xml_scan(p->s, p->n, &r.xml, err);
    if (rc == DG_OK)
        rc = inherit(&r, err);
    if (rc == DG_OK)
        rc = read_tags(&r, err);
    if (rc == DG_OK)
        rc = dg_declaration_of_xml(x, p, err);
    free(r.inherited);
    dg_xml_close(&r.xml);
    return rc;
}
