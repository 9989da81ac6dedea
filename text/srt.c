/* Subtitles: SubRip and WebVTT. A cue is a line of times, after it lines of text up to a blank one,
 * and before it perhaps a number or a name. */
#include "text/document_internal.h"

#include <string.h>

static bool is_times(const char *s, const struct dg_line *l)
{
    const char *arrow = memmem(s + l->begin, l->end - l->begin, "-->", 3);
    size_t at = dg_line_indent(s, l);
    return arrow && at < l->end && s[at] >= '0' && s[at] <= '9';
}

/* "- Who is there?": another speaker begins. */
static bool is_speaker(const char *s, const struct dg_line *l)
{
    size_t at = dg_line_indent(s, l);
    return at < l->end && (s[at] == '-' || strncmp(s + at, "\xE2\x80\x93", 3) == 0 ||
                              strncmp(s + at, "\xE2\x80\x94", 3) == 0);
}

/* The lines of a cue from *at on, to the blank one behind them. */
static void read_cue(
    struct dg_document *l, struct dg_paragraph *p, const char *s, size_t n, size_t *at)
{
    struct dg_line line;
    while (dg_line_at(s, n, *at, &line) && !dg_line_is_blank(s, &line)) {
        if (is_speaker(s, &line))
            dg_paragraph_end(p, l, s, DG_MARKS_TAGS);
        dg_paragraph_add(p, s, dg_line_indent(s, &line), line.end);
        *at = line.next;
    }
    dg_paragraph_end(p, l, s, DG_MARKS_TAGS);
}

void dg_document_srt(struct dg_document *l, const char *s, size_t n)
{
    struct dg_paragraph p = {0};
    struct dg_line line;
    for (size_t at = 0; dg_line_at(s, n, at, &line);) {
        at = line.next;
        if (is_times(s, &line))
            read_cue(l, &p, s, n, &at);
    }
    dg_paragraph_deinit(&p, l);
}
