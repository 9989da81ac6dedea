#include "text/format/xml/codes.h"

#include <stdint.h>
#include <string.h>

/* Codes that begin, and those that end them. */
static const char *const pairs[][2] = {{"bpt", "ept"}, {"bx", "ex"}, {"sc", "ec"}};
#define PAIRS (sizeof pairs / sizeof *pairs)

/* The row of `pairs` that has the tag as its beginning (side 0) or end (1); PAIRS: none. */
static size_t row_of(const struct dg_xml *x, const struct dg_xml_tag *t, size_t side)
{
    size_t row = 0;
    while (row < PAIRS && !dg_xml_is_local(x, t, pairs[row][side]))
        row++;
    return row;
}

/* Finds which half of a pair the tag is, and what it has in common with the other; false: it is
 * none, or has nothing. */
static bool find_half(
    const struct dg_xml *x, const struct dg_xml_tag *t, size_t side, struct dg_xml_code *out)
{
    out->row = row_of(x, t, side);
    return out->row < PAIRS &&
           ((side == 1 && dg_xml_attribute(x, t, "startRef", &out->key, &out->key_end)) ||
               dg_xml_attribute(x, t, "rid", &out->key, &out->key_end) ||
               dg_xml_attribute(x, t, "id", &out->key, &out->key_end));
}

static bool are_partners(const char *s, const struct dg_xml_code *a, const struct dg_xml_code *b)
{
    const size_t n = a->key_end - a->key;
    return a->row == b->row && n == b->key_end - b->key && memcmp(s + a->key, s + b->key, n) == 0;
}

/* Ends the last code that began and whose end this is; false: there is none. */
static bool end_code(struct dg_xml_codes *c, const char *s, struct dg_xml_code *end)
{
    size_t k = c->n;
    while (k > 0 && !are_partners(s, &c->open[k - 1], end))
        k--;
    if (k == 0)
        return false;
    end->id = c->open[k - 1].id;
    memmove(c->open + k - 1, c->open + k, (c->n - k) * sizeof *c->open);
    c->n--;
    return true;
}

/* True if a placeholder is a line end: by an attribute of XLIFF 1.2 or 2, or of Angular's files, or
 * because it has a <br>. */
static bool is_line_end(const struct dg_xml *x, const struct dg_xml_tag *t)
{
    static const char br[] = "&lt;br";
    const size_t n = x->tags[t->partner].begin - t->begin;
    return dg_xml_attribute_is(x, t, "ctype", "lb") ||
           dg_xml_attribute_is(x, t, "subType", "xlf:lb") ||
           dg_xml_attribute_is(x, t, "equiv", "LINE_BREAK") ||
           (t->kind == DG_XML_OPEN && n > t->end - t->begin + strlen(br) &&
               memcmp(x->s + t->end, br, strlen(br)) == 0 &&
               strchr(" /&", x->s[t->end + strlen(br)]));
}

/* Finds the value that a placeholder stands for: its content, or what an attribute says, such as
 * Angular's equiv-text="{{ name }}". That of a tag has a "<" or a ctype. */
static bool find_value(
    const struct dg_xml *x, const struct dg_xml_tag *t, size_t *begin, size_t *end)
{
    if (t->kind != DG_XML_OPEN)
        return !dg_xml_attribute(x, t, "ctype", begin, end) &&
               (dg_xml_attribute(x, t, "equiv-text", begin, end) ||
                   dg_xml_attribute(x, t, "disp", begin, end)) &&
               !memmem(x->s + *begin, *end - *begin, "&lt;", 4);
    *begin = t->end;
    *end = x->tags[t->partner].begin;
    return true;
}

/* Adds something between words. The model sees its value if no word touches it. */
static void add_placeholder(
    const struct dg_xml_codes *c, struct dg_flow *f, const struct dg_xml *x, size_t i)
{
    const struct dg_xml_tag *t = &x->tags[i], *last = &x->tags[t->partner];
    size_t value, value_end;
    if (is_line_end(x, t) && c->n == 0 && t->parent == SIZE_MAX)
        dg_flow_line_end(f, t->begin, last->end);
    else if (is_line_end(x, t))
        dg_flow_space(f, t->begin, last->end);
    else if (find_value(x, t, &value, &value_end) && !dg_flow_is_beside_word(f, last->end))
        dg_flow_protect(f, t->begin, last->end, value, value_end);
    else
        dg_flow_point(f, t->begin, last->end);
}

bool dg_xml_codes_add(struct dg_xml_codes *c, struct dg_flow *f, const struct dg_xml *x, size_t *i)
{
    const struct dg_xml_tag *t = &x->tags[*i];
    const size_t end = x->tags[t->partner].end;
    struct dg_xml_code code = {.id = 0};
    if (t->kind != DG_XML_OPEN && t->kind != DG_XML_EMPTY)
        return false;
    if (c->n < DG_XML_MAX_CODES && find_half(x, t, 0, &code)) {
        code.id = dg_flow_open_pair(f, t->begin, end);
        c->open[c->n++] = code;
    } else if (find_half(x, t, 1, &code) && end_code(c, x->s, &code)) {
        dg_flow_close_pair(f, t->begin, end, code.id);
    } else if (dg_xml_is_local(x, t, "ph") || dg_xml_is_local(x, t, "x")) {
        add_placeholder(c, f, x, *i);
    } else if (row_of(x, t, 0) < PAIRS || row_of(x, t, 1) < PAIRS || dg_xml_is_local(x, t, "it")) {
        dg_flow_point(f, t->begin, end);
    } else {
        return false;
    }
    *i = t->partner;
    return true;
}
