/* Android's string resources (<resources>), and XML of any other kind. */
#include "documents/kinds.h"
#include "documents/strings/plural_copy.h"
#include "documents/strings/plural_forms.h"
#include "documents/strings/program_string.h"
#include "documents/units.h"
#include "documents/xml/declaration.h"
#include "documents/xml/string.h"
#include "text/format/xml/scan.h"

#include <ctype.h>
#include <string.h>

static const char *const ignored[] = {"xliff:g", NULL};
static const struct dg_markup markup = {.no_outline = true, .ignored = ignored, .lines = true};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    struct dg_xml xml;
    /* NULL: a string's translation takes its place; else it is an item with this start tag, added
     * at byte `at` with all that is around the words in the item s[item, item_end) */
    const char *copy;
    size_t at, item, item_end;
};

/* Appends s[begin, end) with white space collapsed as Android shows it: one space for any run of
 * it. */
static void collapse(const char *s, size_t begin, size_t end, struct dg_buffer *out)
{
    for (size_t i = begin; i < end; i++) {
        if (!isspace((unsigned char)s[i]))
            dg_buffer_add(out, s + i, 1);
        else if (i == begin || !isspace((unsigned char)s[i - 1]))
            dg_buffer_adds(out, " ");
    }
}

/* The next quotation mark from `at` on that is neither escaped nor in a tag; `end`: there is none.
 */
static size_t find_quote(const char *s, size_t at, size_t end)
{
    while (at < end && s[at] != '"') {
        const char *tag = s[at] == '<' ? memchr(s + at, '>', end - at) : NULL;
        at = tag ? (size_t)(tag - s) + 1 : at + 1 + (s[at] == '\\');
    }
    return at < end ? at : end;
}

/* Appends XML s[begin, end) as Android shows it: without quotation marks, between which white space
 * is shown as it is. */
static void show(const char *s, size_t begin, size_t end, struct dg_buffer *out)
{
    for (bool inside = false; begin <= end; inside = !inside) {
        const size_t quote = find_quote(s, begin, end);
        if (inside)
            dg_buffer_add(out, s + begin, quote - begin);
        else
            collapse(s, begin, quote, out);
        begin = quote + 1;
    }
}

/* Adds a segment with a string's words. In a copy, the start tag and what is before the words are
 * written before the translation, and the rest of the item after it. */
static int add_segment(
    struct reader *r, struct dg_segment like, const struct dg_buffer *text, struct dg_error *err)
{
    const size_t begin = like.begin, end = like.end;
    struct dg_segment *g;
    struct dg_buffer before = {0};
    if (r->copy)
        like.begin = like.end = r->at;
    const int rc = dg_program_string_add(r->x, r->p, like, text, &g, err);
    if (rc != DG_OK || !g || !r->copy)
        return rc;
    dg_buffer_adds(&before, r->copy);
    dg_buffer_add(&before, r->p->s + r->item, begin - r->item);
    return dg_segment_enclose(g, &before, r->p->s + end, r->item_end - end, err);
}

static int add(struct reader *r, size_t begin, size_t end, enum dg_format format, bool quoted,
    struct dg_error *err)
{
    const char *s = r->p->s;
    const bool xml = format == DG_FORMAT_XML;
    struct dg_segment like = {.begin = begin,
        .end = end,
        .format = format,
        .markup = xml ? &markup : NULL,
        .writing = DG_WRITE_ESCAPED,
        .escapes = quoted ? DG_ESCAPES_ANDROID_QUOTED
                   : xml  ? DG_ESCAPES_ANDROID
                          : DG_ESCAPES_ANDROID_CDATA};
    struct dg_buffer spaced = {0}, text = {0}, meant = {0};
    int rc = DG_OK;
    if (quoted)
        dg_buffer_add(&spaced, s + begin, end - begin);
    else if (xml)
        show(s, begin, end, &spaced);
    else
        collapse(s, begin, end, &spaced);
    if (xml && !quoted && !spaced.failed && memmem(spaced.data, spaced.len, "&lt;", 4) &&
        dg_xml_string_read(spaced.data, spaced.len, true, &meant)) {
        like.format = DG_FORMAT_TEXT;
        like.markup = NULL;
        like.escapes = DG_ESCAPES_ANDROID_TEXT;
    }
    const bool is_text = like.format == DG_FORMAT_TEXT;
    const struct dg_buffer *from = is_text ? &meant : &spaced, *written = is_text ? &meant : &text;
    dg_escapes_read(like.escapes, from->data, from->len, &text);
    bool fits = text.len > 0;
    if (is_text && fits) {
        dg_buffer_reset(&meant);
        dg_escapes_write(like.escapes, text.data, text.len, &meant);
    }
    if (spaced.failed || text.failed || meant.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    else if (fits && xml) /* \f or \u0007 may stand for a character that XML cannot hold */
        rc = dg_xml_is_well_formed(written->data, written->len, &fits, err);
    if (rc == DG_OK && fits)
        rc = add_segment(r, like, &text, err);
    dg_buffer_deinit(&spaced);
    dg_buffer_deinit(&text);
    dg_buffer_deinit(&meant);
    return rc;
}

/* Adds a string's text: quoted as a whole, in one CDATA section, or bare. */
static int add_string(struct reader *r, const struct dg_xml_tag *t, struct dg_error *err)
{
    const char *s = r->p->s;
    size_t begin = t->end, end = r->xml.tags[t->partner].begin;
    const bool cdata = dg_xml_string_cdata(s, &begin, &end);
    dg_xml_string_trim(s, &begin, &end); /* Android shows no white space there */
    if (cdata)
        return add(r, begin, end, DG_FORMAT_HTML, false, err);
    if (begin == end || s[begin] == '@' || s[begin] == '?')
        return DG_OK; /* a reference */
    const bool quoted =
        end - begin > 2 && s[begin] == '"' && find_quote(s, begin + 1, end) == end - 1;
    return add(r, begin + quoted, end - quoted, DG_FORMAT_XML, quoted, err);
}

static bool is_translated(const struct dg_xml *x, const struct dg_xml_tag *t)
{
    return t->kind == DG_XML_OPEN && !dg_xml_attribute_is(x, t, "translatable", "false");
}

/* The item of plurals `in` for a category; NULL: there is none. */
static const struct dg_xml_tag *find_item(
    const struct dg_xml *x, const struct dg_xml_tag *in, const char *category)
{
    for (const struct dg_xml_tag *t = in + 1; t < &x->tags[in->partner];
         t = &x->tags[t->partner] + 1)
        if (dg_xml_is(x, t, "item") && dg_xml_attribute_is(x, t, "quantity", category))
            return t;
    return NULL;
}

/* Adds the items that the target language has and the plurals `in` lack, after that for "other" and
 * with its words. */
static int add_items(struct reader *r, const struct dg_xml_tag *in, struct dg_error *err)
{
    const struct dg_xml_tag *other = find_item(&r->xml, in, "other");
    int rc = DG_OK;
    if (!other || !is_translated(&r->xml, other))
        return DG_OK;
    r->at = r->xml.tags[other->partner].end;
    r->item = other->end;
    r->item_end = r->at;
    for (const struct dg_plural_sample *sample = dg_plural_samples(r->x->target);
         sample->category && rc == DG_OK; sample++) {
        struct dg_buffer tag = {0};
        if (find_item(&r->xml, in, sample->category))
            continue;
        dg_plural_copy_space(r->p->s, other->begin, &tag);
        dg_buffer_addf(&tag, "<item quantity=\"%s\">", sample->category);
        r->copy = tag.data;
        rc = tag.failed ? dg_error_set(err, DG_ENOMEM, "no memory for a text of a file")
                        : add_string(r, other, err);
        dg_buffer_deinit(&tag);
    }
    r->copy = NULL;
    return rc;
}

/* Adds the strings in <resources>, an array or a list of plurals, the element at tag `in`. */
static int add_strings(struct reader *r, const struct dg_xml_tag *in, struct dg_error *err)
{
    const struct dg_xml *x = &r->xml;
    const bool list = !dg_xml_is(x, in, "resources");
    int rc = DG_OK;
    if (!is_translated(x, in))
        return DG_OK;
    for (const struct dg_xml_tag *t = in + 1; t < &x->tags[in->partner] && rc == DG_OK;
         t = &x->tags[t->partner] + 1) {
        if (dg_xml_is(x, t, list ? "item" : "string"))
            rc = is_translated(x, t) ? add_string(r, t, err) : DG_OK;
        else if (!list && (dg_xml_is(x, t, "string-array") || dg_xml_is(x, t, "plurals")))
            rc = add_strings(r, t, err);
    }
    return rc == DG_OK && dg_xml_is(x, in, "plurals") ? add_items(r, in, err) : rc;
}

int dg_read_android(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct reader r = {.x = x, .p = p};
    int rc = dg_xml_scan(p->s, p->n, &r.xml, err);
    const struct dg_xml_tag *root = dg_xml_root(&r.xml);
    const bool android = root && dg_xml_is(&r.xml, root, "resources");
    if (rc == DG_OK && android)
        rc = add_strings(&r, root, err);
    dg_xml_close(&r.xml); /* before the units have a list of the tags, too */
    if (rc == DG_OK && !android)
        rc = dg_units_add(x, p, DG_FORMAT_XML, NULL, DG_FORMAT_XML, err);
    return rc == DG_OK ? dg_declaration_of_xml(x, p, err) : rc;
}
