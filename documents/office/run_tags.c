/* Where a paragraph's words are among its tags. */
#include "documents/office/runs.h"

#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

bool dg_runs_is(const struct dg_runs *r, const struct dg_xml_tag *t, const char *name)
{
    const char *s = r->xml.s;
    const size_t n = name ? strlen(name) : 0, prefix = r->prefix_end - r->prefix;
    return name && t->name_end - t->name == prefix + n &&
           memcmp(s + t->name, s + r->prefix, prefix) == 0 &&
           memcmp(s + t->name + prefix, name, n) == 0;
}

bool dg_runs_lists(const struct dg_runs *r, const struct dg_xml_tag *t, const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        if (dg_runs_is(r, t, list[i]))
            return true;
    return false;
}

char dg_runs_field(const struct dg_xml *x, size_t i)
{
    size_t begin, end;
    for (size_t k = i + 1; k < x->tags[i].partner; k++)
        if (dg_xml_is(x, &x->tags[k], "w:fldChar") &&
            dg_xml_attribute(x, &x->tags[k], "w:fldCharType", &begin, &end))
            return x->s[begin];
    return 0;
}

bool dg_runs_is_merge(const char *s, size_t n)
{
    static const char name[] = "MERGEFIELD";
    while (n > 0 && isspace((unsigned char)*s)) {
        s++;
        n--;
    }
    return n > strlen(name) && strncasecmp(s, name, strlen(name)) == 0;
}

static bool is_shown(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isdigit((unsigned char)s[i]))
            return true;
    return dg_utf8_has_letter(s, n);
}

bool dg_runs_find_shown(
    const struct dg_runs *r, size_t first, size_t last, size_t *begin, size_t *end)
{
    const struct dg_xml *x = &r->xml;
    for (size_t k = first; k < last; k++) {
        const struct dg_xml_tag *t = &x->tags[k];
        if (t->kind != DG_XML_OPEN || !dg_runs_is(r, t, r->names->text))
            continue;
        *begin = t->end;
        *end = x->tags[t->partner].begin;
        if (is_shown(x->s + *begin, *end - *begin))
            return true;
    }
    return false;
}

void dg_runs_find_words(const struct dg_runs *r, size_t i, size_t *first, size_t *last)
{
    const struct dg_xml *x = &r->xml;
    const size_t end = x->tags[i].partner;
    for (size_t k = i + 1; k < end; k = x->tags[k].partner + 1) {
        if (x->tags[k].kind != DG_XML_OPEN ||
            !dg_runs_lists(r, &x->tags[k], r->names->container_words))
            continue;
        *first = k + 1;
        *last = x->tags[k].partner;
        return;
    }
    *first = i + 1;
    *last = end;
    while (*first < end && dg_runs_lists(r, &x->tags[*first], r->names->container_properties))
        *first = x->tags[*first].partner + 1;
}

void dg_runs_find_ends(const struct dg_runs *r, size_t i, size_t *first, size_t *last)
{
    const struct dg_xml *x = &r->xml;
    *first = i + 1;
    *last = x->tags[i].partner;
    if (*first < *last && dg_runs_is(r, &x->tags[*first], r->names->paragraph_properties))
        *first = x->tags[*first].partner + 1;
    for (size_t k = *first; k < *last; k = x->tags[k].partner + 1)
        if (dg_runs_is(r, &x->tags[k], r->names->end))
            *last = k;
}
