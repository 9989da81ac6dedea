#include "documents/strings/plural_copy.h"

#include "documents/strings/program_string.h"

#include <ctype.h>
#include <string.h>

void dg_plural_copy_note(
    struct dg_plural_copy *c, const struct dg_extract_part *p, struct dg_span value, size_t first)
{
    c->value = value;
    c->segment = first;
    c->n_segments = p->n_segments;
}

void dg_plural_copy_space(const char *s, size_t at, struct dg_buffer *out)
{
    size_t begin = at;
    while (begin > 0 && isspace((unsigned char)s[begin - 1]))
        begin--;
    dg_buffer_add(out, s + begin, at - begin);
}

static int add_bytes(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_plural_copy *c, size_t at, struct dg_buffer *before, struct dg_error *err)
{
    dg_buffer_add(before, p->s + c->value.begin, c->value.end - c->value.begin);
    if (before->failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    return dg_segment_add_bytes(
        x, p, (struct dg_span){at, at}, DG_WRITE_DECLARATION, before->data, err);
}

static int add_translation(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_segment *of, size_t at, struct dg_buffer *before, const char *quote,
    struct dg_error *err)
{
    const struct dg_segment like = {.begin = at,
        .end = at,
        .markup = of->markup,
        .writing = of->writing,
        .escapes = of->escapes,
        .yaml = of->yaml};
    const char *s = of->message ? of->message : of->text;
    struct dg_segment *g;
    struct dg_buffer text = {0};
    dg_buffer_add(&text, s, of->message ? strlen(s) : of->n);
    const int rc = dg_program_string_add(x, p, like, &text, &g, err);
    dg_buffer_deinit(&text);
    if (rc != DG_OK || !g)
        return rc;
    dg_buffer_adds(before, quote);
    return dg_segment_enclose(g, before, quote, strlen(quote), err);
}

int dg_plural_copy_add(struct dg_extract *x, struct dg_extract_part *p,
    const struct dg_plural_copy *c, size_t at, struct dg_buffer *before, const char *quote,
    struct dg_error *err)
{
    if (c->segment == c->n_segments)
        return add_bytes(x, p, c, at, before, err);
    return add_translation(x, p, &p->segments[c->segment], at, before, quote, err);
}
