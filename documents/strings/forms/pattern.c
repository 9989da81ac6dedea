#include "documents/strings/forms/pattern.h"

#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

int dg_pattern_stays(struct dg_error *err, const char *why)
{
    return dg_error_set(err, DG_EUNSUP, "%s", why);
}

size_t dg_pattern_skip_xml(const struct dg_pattern *p, const char *s, size_t at, size_t n)
{
    const char close = s[at] == '<' ? '>' : s[at] == '&' ? ';' : 0;
    const char *end = p->style.xml && close ? memchr(s + at, close, n - at) : NULL;
    return end ? (size_t)(end - s) + 1 : at;
}

/* True if the reference of XML s[n] is a sign of ICU's syntax. */
static bool is_sign(const char *s, size_t n)
{
    if (n < 4 || s[1] != '#')
        return n == 6 && memcmp(s, "&apos;", n) == 0;
    const unsigned long c = s[2] == 'x' ? strtoul(s + 3, NULL, 16) : strtoul(s + 2, NULL, 10);
    return c == '\'' || c == '{' || c == '}' || c == '#';
}

/* Appends the message with letters in place of XML's tags and references. */
static int mask(const struct dg_pattern *p, struct dg_buffer *out, struct dg_error *err)
{
    for (size_t at = 0, next; at < p->n; at = next) {
        next = dg_pattern_skip_xml(p, p->s, at, p->n);
        if (next == at) {
            dg_buffer_add(out, p->s + at, 1);
            next++;
        } else if (is_sign(p->s + at, next - at) || p->s[at + 1] == '!') {
            return dg_pattern_stays(
                err, "it has a brace, # or apostrophe as an XML reference, or CDATA or a comment");
        } else {
            for (size_t i = at; i < next; i++)
                dg_buffer_adds(out, "x");
        }
    }
    return out->failed ? dg_error_set(err, DG_ENOMEM, "no memory for a message") : DG_OK;
}

static int parse(struct dg_pattern *p, const struct dg_buffer *masked, struct dg_error *err)
{
    struct dg_error why = {0};
    size_t n_parts;
    const int rc = dg_message_pattern_read(
        masked->data ? masked->data : p->s, p->n, &p->parts, &n_parts, &why);
    if (rc == DG_EINVAL)
        return dg_pattern_stays(err, "ICU cannot read it");
    if (rc == DG_ELIMIT)
        return dg_pattern_stays(err, "it is too long");
    return rc == DG_OK ? DG_OK : dg_error_set(err, rc, "%s", why.message);
}

int dg_pattern_open(const char *s, size_t n, const struct dg_pattern_style *style,
    struct dg_pattern *out, struct dg_error *err)
{
    struct dg_buffer masked = {0};
    int rc = DG_OK;
    *out = (struct dg_pattern){.s = s, .n = n, .style = *style};
    out->doubled = n > 0 && memmem(s, n, "''", 2);
    if (style->xml)
        rc = mask(out, &masked, err);
    else if (n > 0 && memmem(s, n, "'<", 2)) /* FormatJS quotes tags so, ICU does not */
        rc = dg_pattern_stays(err, "an apostrophe before a tag in it may be a quotation mark");
    if (rc == DG_OK)
        rc = parse(out, &masked, err);
    dg_buffer_deinit(&masked);
    return rc;
}

void dg_pattern_close(struct dg_pattern *p)
{
    free(p->parts);
}

bool dg_pattern_same(const struct dg_pattern *p, size_t a, size_t b)
{
    const struct dg_pattern_part *x = &p->parts[a], *y = &p->parts[b];
    const size_t n = x->end - x->begin;
    return n == y->end - y->begin && memcmp(p->s + x->begin, p->s + y->begin, n) == 0;
}

bool dg_pattern_is(const struct dg_pattern *p, size_t part, const char *s)
{
    const struct dg_pattern_part *x = &p->parts[part];
    const size_t n = strlen(s);
    return n == x->end - x->begin && memcmp(p->s + x->begin, s, n) == 0;
}

bool dg_pattern_has_number(const struct dg_pattern *p, size_t argument)
{
    return argument != DG_PATTERN_NONE && (p->parts[argument].type == DG_PATTERN_PLURAL ||
                                              p->parts[argument].type == DG_PATTERN_ORDINAL);
}

size_t dg_pattern_offset(const struct dg_pattern *p, size_t argument)
{
    return p->parts[argument + 2].kind == DG_PATTERN_VALUE ? argument + 2 : DG_PATTERN_NONE;
}

bool dg_pattern_same_number(const struct dg_pattern *p, size_t a, size_t b)
{
    if (!dg_pattern_has_number(p, a) || !dg_pattern_has_number(p, b) ||
        !dg_pattern_same(p, a + 1, b + 1))
        return false;
    const size_t x = dg_pattern_offset(p, a), y = dg_pattern_offset(p, b);
    return x == DG_PATTERN_NONE || y == DG_PATTERN_NONE ? x == y : dg_pattern_same(p, x, y);
}

bool dg_pattern_next_branch(
    const struct dg_pattern *p, size_t argument, size_t *at, struct dg_pattern_branch *out)
{
    const struct dg_pattern_part *parts = p->parts;
    size_t k = *at + 1;
    while (k < parts[argument].partner && parts[k].kind != DG_PATTERN_SELECTOR)
        k++;
    if (k == parts[argument].partner)
        return false;
    out->selector = k;
    while (parts[k].kind != DG_PATTERN_MESSAGE)
        k++;
    out->message = k;
    *at = parts[k].partner;
    return true;
}

size_t dg_pattern_count_branches(const struct dg_pattern *p, size_t argument)
{
    struct dg_pattern_branch b;
    size_t n = 0;
    for (size_t at = argument; dg_pattern_next_branch(p, argument, &at, &b);)
        n++;
    return n;
}

bool dg_pattern_find_branch(
    const struct dg_pattern *p, size_t argument, size_t selector, struct dg_pattern_branch *out)
{
    for (size_t at = argument; dg_pattern_next_branch(p, argument, &at, out);)
        if (dg_pattern_same(p, out->selector, selector))
            return true;
    return false;
}

bool dg_pattern_same_choice(const struct dg_pattern *p, size_t a, size_t b)
{
    struct dg_pattern_branch x, y;
    if (p->parts[a].type != p->parts[b].type || !dg_pattern_same(p, a + 1, b + 1) ||
        (dg_pattern_has_number(p, a) && !dg_pattern_same_number(p, a, b)) ||
        dg_pattern_count_branches(p, a) != dg_pattern_count_branches(p, b))
        return false;
    for (size_t at = a; dg_pattern_next_branch(p, a, &at, &x);)
        if (!dg_pattern_find_branch(p, b, x.selector, &y))
            return false;
    return true;
}
