#include "documents/strings/yaml_plural.h"

#include "documents/strings/plural_forms.h"
#include "documents/strings/program_string.h"

#include <string.h>

static const char *const categories[] = {"zero", "one", "two", "few", "many", "other"};
enum { CATEGORIES = sizeof categories / sizeof *categories, OTHER = CATEGORIES - 1 };

/* The index of a category; CATEGORIES: it is none. */
static unsigned category_of(const char *name, size_t n)
{
    unsigned i = 0;
    while (i < CATEGORIES && (strlen(categories[i]) != n || memcmp(categories[i], name, n) != 0))
        i++;
    return i;
}

void dg_yaml_plural_read_key(struct dg_yaml_plural *f, const char *key, size_t n, size_t at)
{
    const unsigned i = category_of(key, n);
    f->at_other = i == OTHER;
    if (f->at_other)
        f->key = at;
    if (i < CATEGORIES)
        f->seen |= 1u << i;
    else
        f->other_keys = true;
}

/* True if there are forms: `other`, a string in its line, and one more. */
static bool has_forms(const struct dg_yaml_plural *f)
{
    const unsigned other = 1u << OTHER;
    return !f->other_keys && (f->seen & other) && f->seen != other && f->value.n > 0 &&
           f->value.style < DG_YAML_LITERAL && f->value.style != DG_YAML_FLOW;
}

/* Writes the end of the line before a new key, and its indentation: that of `other`. False: more
 * than a list's sign is before that. */
static bool write_line_end(
    const struct dg_extract_part *p, size_t key, bool crlf, struct dg_buffer *out)
{
    size_t begin = key;
    while (begin > 0 && (p->s[begin - 1] == ' ' || p->s[begin - 1] == '-'))
        begin--;
    if (begin > 0 && p->s[begin - 1] != '\n')
        return false;
    dg_buffer_adds(out, crlf ? "\r\n" : "\n");
    for (; begin < key; begin++)
        dg_buffer_adds(out, " ");
    return true;
}

/* Adds a form at byte `at`: `before` and a copy of the value of `other`. */
static int add_form(struct dg_extract *x, struct dg_extract_part *p, const struct dg_yaml_plural *f,
    size_t at, struct dg_buffer *before, struct dg_error *err)
{
    struct dg_segment *g;
    if (f->segment == f->n_segments) { /* nothing to translate */
        dg_buffer_add(before, p->s + f->value.begin, f->value.end - f->value.begin);
        if (before->failed)
            return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
        return dg_segment_add_bytes(
            x, p, (struct dg_span){at, at}, DG_WRITE_DECLARATION, before->data, err);
    }
    const struct dg_segment *of = &p->segments[f->segment];
    const struct dg_segment like = {
        .begin = at, .end = at, .markup = of->markup, .writing = of->writing, .yaml = of->yaml};
    const char *s = of->message ? of->message : of->text;
    struct dg_buffer text = {0};
    dg_buffer_add(&text, s, of->message ? strlen(s) : of->n);
    int rc = dg_program_string_add(x, p, like, &text, &g, err);
    dg_buffer_deinit(&text);
    if (rc != DG_OK || !g)
        return rc;
    g->linked = true;
    g->before = dg_buffer_take(before, NULL);
    return g->before ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
}

int dg_yaml_plural_add(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_yaml_plural *f, struct dg_error *err)
{
    int rc = DG_OK;
    if (!has_forms(f) || f->value.end > p->n)
        return DG_OK;
    const char *end = memchr(p->s + f->value.end, '\n', p->n - f->value.end),
               *before_key = memrchr(p->s, '\n', f->key), *any = before_key ? before_key : end;
    const bool crlf = any && any > p->s && any[-1] == '\r';
    size_t at = end ? (size_t)(end - p->s) : p->n;
    at -= end && at > f->value.end && end[-1] == '\r';
    for (const struct dg_plural_sample *sample = dg_plural_samples(x->target);
         sample->category && rc == DG_OK; sample++) {
        struct dg_buffer before = {0};
        if (f->seen & 1u << category_of(sample->category, strlen(sample->category)) ||
            !write_line_end(p, f->key, crlf, &before))
            continue;
        dg_buffer_addf(&before, "%s: ", sample->category);
        rc = add_form(x, p, f, at, &before, err);
        dg_buffer_deinit(&before);
    }
    return rc;
}
