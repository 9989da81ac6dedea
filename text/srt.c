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

/* A cue's number. */
static bool is_number(const char *s, const struct dg_line *l)
{
    size_t at = dg_line_indent(s, l), end = at;
    while (end < l->end && s[end] >= '0' && s[end] <= '9')
        end++;
    return end > at && dg_line_skip_blanks(s, end, l->end) == l->end;
}

/* Does the next cue begin here, without a blank line before it? */
static bool is_cue(const char *s, size_t n, const struct dg_line *l)
{
    struct dg_line next;
    return is_times(s, l) ||
           (is_number(s, l) && dg_line_at(s, n, l->next, &next) && is_times(s, &next));
}

/* The lines of a cue from *at on, to the blank one behind them, or to the next cue. */
static void read_cue(
    struct dg_document *l, struct dg_paragraph *p, const char *s, size_t n, size_t *at)
{
    struct dg_line line;
    while (dg_line_at(s, n, *at, &line) && !dg_line_is_blank(s, &line) && !is_cue(s, n, &line)) {
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
