/* Qt Linguist's .ts: an empty translation is filled from its source, each of its numerus forms,
 * too. It stays marked as unfinished, which lrelease uses all the same. Obsolete messages stay. */
#include "documents/kinds.h"
#include "documents/strings/program_string.h"
#include "documents/xml/declaration.h"
#include "documents/xml/string.h"
#include "documents/xml/target.h"
#include "text/format/xml/scan.h"

#include <stdio.h>
#include <string.h>

static const struct dg_markup string = {.program = true, .key_signs = "&"};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    struct dg_xml xml;
    /* text of the current message's source */
    struct dg_buffer source;
};

/* Adds the source as the text of the empty element t. */
static int add(struct reader *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    struct dg_segment like = {
        .markup = &string, .writing = DG_WRITE_ESCAPED, .escapes = DG_ESCAPES_LINGUIST};
    struct dg_segment *g;
    if (!dg_xml_target_room(&r->xml, t, &like.begin, &like.end))
        return DG_OK;
    const int rc = dg_program_string_add(r->x, r->p, like, &r->source, &g, err);
    return rc == DG_OK && g ? dg_xml_target_enclose(&r->xml, t, "", "", g, err) : rc;
}

/* Adds what is empty in a translation: itself, or its forms. */
static int add_translation(struct reader *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    int rc = DG_OK;
    bool forms = false;
    if (dg_xml_attribute_is(x, t, "type", "obsolete") ||
        dg_xml_attribute_is(x, t, "type", "vanished"))
        return DG_OK;
    for (size_t i = (size_t)(t - x->tags) + 1; i < t->partner && rc == DG_OK;
         i = x->tags[i].partner + 1)
        if (dg_xml_is(x, &x->tags[i], "numerusform")) {
            forms = true;
            rc = add(r, &x->tags[i], err);
        }
    return forms || rc != DG_OK ? rc : add(r, t, err);
}

/* Reads the message that begins with the tag `at`: its source, then its translation. */
static int read_message(struct reader *r, size_t at, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *translation = NULL;
    bool is_text = false;
    dg_buffer_reset(&r->source);
    for (size_t i = at + 1; i < x->tags[at].partner; i = x->tags[i].partner + 1) {
        const struct dg_xml_tag *t = &x->tags[i];
        if (dg_xml_is(x, t, "source") && t->kind == DG_XML_OPEN)
            is_text = dg_xml_string_read(
                x->s + t->end, x->tags[t->partner].begin - t->end, true, &r->source);
        if (dg_xml_is(x, t, "translation"))
            translation = t;
    }
    if (r->source.failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    if (!translation || !is_text)
        return DG_OK;
    return add_translation(r, translation, err);
}

/* Adds the target language to <TS> if it names none. */
static int add_language(struct reader *r, const struct dg_xml_tag *root, struct dg_error *err)
{
    const struct dg_span at = {root->name_end, root->name_end};
    char language[DG_LANGUAGE_MAX + 16];
    size_t begin, end;
    if (dg_xml_attribute(&r->xml, root, "language", &begin, &end))
        return DG_OK;
    snprintf(language, sizeof language, " language=\"%s\"", r->x->program_locale);
    return dg_segment_add_bytes(r->x, r->p, at, DG_WRITE_DECLARATION, language, err);
}

static int read_tags(struct reader *r, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    const struct dg_xml_tag *root = dg_xml_root(x);
    if (!root || !dg_xml_is(x, root, "TS"))
        return dg_extract_broken(err, "it does not begin with <TS>, as files of Qt Linguist do");
    int rc = add_language(r, root, err);
    for (size_t i = 0; i < x->n_tags && rc == DG_OK; i++)
        if (x->tags[i].kind == DG_XML_OPEN && dg_xml_is(x, &x->tags[i], "message"))
            rc = read_message(r, i, err);
    return rc;
}

int dg_read_linguist(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct reader r = {.x = x, .p = p};
    struct dg_error why = {0};
    int rc = dg_xml_scan(p->s, p->n, &r.xml, &why);
    if (rc == DG_EINVAL)
        rc = dg_extract_broken(err, "it is not XML of Qt Linguist: %s", why.message);
    else if (rc != DG_OK)
        rc = dg_error_field(err, rc, "file", "%s", why.message);
    else
        rc = read_tags(&r, err);
    if (rc == DG_OK)
        rc = dg_declaration_of_xml(x, p, err);
    dg_buffer_deinit(&r.source);
    dg_xml_close(&r.xml);
    return rc;
}
