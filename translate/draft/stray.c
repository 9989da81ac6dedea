#include "translate/draft/draft.h"

#include "text/scan.h"

#include <stdint.h>
#include <string.h>

static bool is_joiner(int32_t c)
{
    return c == 0x200C || c == 0x200D;
}

static bool is_stray(int32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x202A && c <= 0x202E) || c == 0x2047 || (c >= 0x2060 && c <= 0x2069) ||
           c == 0xFEFF || c == 0xFFFD;
}

/* True if s contains what[n]; s may be NULL. */
static bool has(const char *s, const char *what, size_t n)
{
    return s && memmem(s, strlen(s), what, n);
}

bool dg_draft_drop_stray(struct dg_draft *d, const char *prefix)
{
    struct dg_buffer *text = &d->text;
    char *s = text->data;
    size_t to = 0, next = 0, bytes;
    bool any = false;
    for (size_t at = 0; at < text->len; at += bytes) {
        /* Tokens that end here end at the current end of the kept text. */
        while (next < d->n_ends && d->ends[next] <= at)
            d->ends[next++] = to;
        size_t after = at, before = to;
        const int32_t c = dg_scan_next(s, text->len, &after);
        bytes = after - at;
        const bool joins =
            is_joiner(c) && to > 0 &&
            dg_scan_joins(dg_scan_prev(s, 0, &before), dg_scan_peek(s, after, text->len));
        bool blank_before = to == 0 || s[to - 1] == ' ';
        if (is_stray(c) && !joins && !has(d->sentence, s + at, bytes) &&
            !has(prefix, s + at, bytes)) {
            any = true;
            /* Removing it from "ist � hier" would leave two blanks, and from "� hier" a leading
             * one. */
            if (blank_before && at + bytes < text->len && s[at + bytes] == ' ')
                bytes++;
            continue;
        }
        memmove(s + to, s + at, bytes);
        to += bytes;
    }
    if (!any)
        return false;
    while (next < d->n_ends)
        d->ends[next++] = to;
    text->len = to;
    s[to] = '\0';
    return true;
}
