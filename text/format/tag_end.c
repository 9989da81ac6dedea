/* Where a tag, a comment or a declaration ends. A text may have a beginning of one at every other
 * byte and no end, so what a search did not find is remembered: all searches together take a time
 * that is linear in the text's length. */
#include "text/format/internal.h"
#include "text/scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Returns the byte after the next `close` in s[from, end); 0 if there is none. */
static size_t after(
    struct dg_tag_none *none, const char *s, size_t from, size_t end, const char *close)
{
    if (from >= none->from && end <= none->end)
        return 0;
    const size_t found = dg_scan_find(s, from, end, close);
    if (found >= end)
        *none = (struct dg_tag_none){from, end};
    return found < end ? found + strlen(close) : 0;
}

/* Returns the byte after s[k], or after the value in quotation marks that begins there; k if the
 * value is not closed, or the mark is none of a value. */
static size_t next_in_tag(const char *s, size_t k, size_t end)
{
    if (s[k] != '"' && s[k] != '\'')
        return k + 1;
    const char *close = s[k - 1] == '=' ? memchr(s + k + 1, s[k], end - k - 1) : NULL;
    return close ? (size_t)(close - s) + 1 : k;
}

static bool is_endless(const struct dg_tag_search *t, size_t k, size_t end)
{
    return t->endless && t->end == end && k >= t->begin && k < end && t->endless[k - t->begin];
}

/* Notes that no tag ends in which one of bytes k to `until` is outside the values. */
static void note_endless(struct dg_document *d, const char *s, size_t k, size_t until, size_t end)
{
    struct dg_tag_search *t = &d->tags;
    if (!t->endless || t->end != end || k < t->begin) {
        free(t->endless);
        t->endless = calloc(end - k, sizeof *t->endless);
        t->begin = k;
        t->end = end;
        d->text.failed = d->text.failed || !t->endless;
    }
    for (size_t next; t->endless && k < until; k = next) {
        t->endless[k - t->begin] = true;
        next = next_in_tag(s, k, end);
    }
}

/* Returns the end of the tag whose name begins at s[at]; 0 if there is none. A value in quotation
 * marks may contain ">"; one that is not closed does not count. */
static size_t named_end(struct dg_document *d, const char *s, size_t at, size_t end)
{
    size_t k = at, to = 0;
    while (k < end && s[k] != '>' && !is_endless(&d->tags, k, end)) {
        const size_t next = next_in_tag(s, k, end);
        if (next == k)
            break;
        k = next;
    }
    if (!is_endless(&d->tags, k, end))
        to = after(&d->tags.none[DG_TAG_NAMED], s, k, end, ">");
    if (!to)
        note_endless(d, s, at, k, end);
    return to;
}

size_t dg_tag_end(struct dg_document *d, const char *s, size_t at, size_t end)
{
    struct dg_tag_none *none = d->tags.none;
    size_t to = 0, name = at + 1;
    if (dg_scan_begins(s, at, end, "<!--"))
        to = after(&none[DG_TAG_COMMENT], s, at + 2, end, "-->");
    else if (dg_scan_begins(s, at, end, "<![CDATA["))
        to = after(&none[DG_TAG_CDATA], s, at, end, "]]>");
    else if (dg_scan_begins(s, at, end, "<?"))
        to = after(&none[DG_TAG_INSTRUCTION], s, at + 2, end, "?>");
    else {
        name += name < end && s[name] == '/';
        if (name < end && (isalpha((unsigned char)s[name]) || s[name] == '!'))
            to = named_end(d, s, name, end);
    }
    return to ? to : at;
}
