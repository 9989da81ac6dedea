/* Subtitles: SubRip and WebVTT. A cue is a line of times, followed by lines of text up to an
 * empty line, and perhaps preceded by a number or a name. */
#include "text/format/srt.h"

#include "text/format/internal.h"
#include "text/scan.h"

#include <ctype.h>
#include <string.h>

#define LONGEST_OVERRIDE 4096 /* bytes of {\\an8}; keeps the time linear in the length */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* True for a line of times, checked loosely where no text is expected: within a cue,
 * "1 --> 2, then left." is text. */
static bool is_times(const char *s, const struct dg_line *l)
{
    const size_t at = dg_line_indent(s, l);
    return at < l->end && is_digit(s[at]) && dg_scan_find(s, at, l->end, "-->") < l->end;
}

/* Reads "00:00:01,500", "0:01.5", "00: 00: 01, 500" and blanks from *at on; false: there is no
 * time. */
static bool read_time(const char *s, size_t end, size_t *at, double *seconds)
{
    double part = 0, scale = 0;
    int parts = 0; /* digits, a colon, digits */
    *seconds = 0;
    for (; *at < end; ++*at) {
        const char c = s[*at];
        if (is_digit(c)) {
            parts += parts != 1 && parts != 3;
            part = scale > 0 ? part + (c - '0') * scale : part * 10 + (c - '0');
            scale /= 10;
        } else if (c == ':') {
            parts += parts == 1;
            *seconds = (*seconds + part) * 60;
            part = 0;
        } else if (c == ',' || c == '.') {
            scale = scale > 0 ? scale : 0.1;
        } else if (c != ' ' && c != '\t') {
            break;
        }
    }
    *seconds += part;
    return parts == 3;
}

bool dg_srt_times(const char *s, size_t begin, size_t end, double *from, double *to)
{
    size_t at = dg_line_skip_blanks(s, begin, end);
    if (at == end || !is_digit(s[at]) || !read_time(s, end, &at, from) ||
        !dg_scan_begins(s, at, end, "-->"))
        return false;
    at += 3;
    return read_time(s, end, &at, to);
}

/* Returns the byte after the dash at s[at]; `at` if there is none. */
static size_t dash_end(const char *s, size_t at, size_t end)
{
    if (at < end && s[at] == '-')
        return at + 1;
    return dg_scan_begins(s, at, end, "–") || dg_scan_begins(s, at, end, "—") ? at + 3 : at;
}

/* A cue's number. */
static bool is_number(const char *s, const struct dg_line *l)
{
    size_t at = dg_line_indent(s, l), end = at;
    while (end < l->end && is_digit(s[end]))
        end++;
    return end > at && dg_line_skip_blanks(s, end, l->end) == l->end;
}

bool dg_srt_ends_cue(const char *s, size_t n, size_t at)
{
    struct dg_line l, next;
    double from, to;
    if (!dg_line_at(s, n, at, &l))
        return false;
    return l.begin == l.end || dg_srt_times(s, l.begin, l.end, &from, &to) ||
           (is_number(s, &l) && dg_line_at(s, n, l.next, &next) &&
               dg_srt_times(s, next.begin, next.end, &from, &to));
}

/* Skips WebVTT's <00:00:01.500>, the time at which the following words appear; or returns `at`. */
static size_t skip_time_tag(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    while (i < end && (is_digit(s[i]) || s[i] == ':' || s[i] == '.'))
        i++;
    return i < end && s[i] == '>' && is_digit(s[at + 1]) ? i + 1 : at;
}

/* Skips {\\an8}, the position of a subtitle; or returns `at`. */
static size_t skip_override(const char *s, size_t at, size_t end)
{
    end = end - at > LONGEST_OVERRIDE ? at + LONGEST_OVERRIDE : end;
    const char *close = at + 1 < end && s[at + 1] == '\\' ? memchr(s + at, '}', end - at) : NULL;
    return close ? (size_t)(close - s) + 1 : at;
}

/* Skips WebVTT's marks of direction, which Netflix has before each line; or returns `at`. */
static size_t skip_direction(const char *s, size_t at, size_t end)
{
    return dg_scan_begins(s, at, end, "&lrm;") || dg_scan_begins(s, at, end, "&rlm;")
               ? at + strlen("&lrm;")
               : at;
}

/* Skips a "<", "{" or "&" and what it begins, if that is not text; or returns `at`. A tag ends
 * within its line. */
static size_t skip_code(struct dg_document *d, const char *s, size_t at, size_t end)
{
    size_t to = at;
    if (s[at] == '{')
        return skip_override(s, at, end);
    if (s[at] == '&')
        return skip_direction(s, at, end);
    if (s[at] == '<' && (to = skip_time_tag(s, at, end)) == at)
        to = dg_tag_end(d, s, at, end);
    return to;
}

/* Skips what is before the words of a line, from byte `at` on. */
static size_t skip_codes(struct dg_document *d, const char *s, size_t at, size_t end)
{
    for (size_t to; at < end; at = to) {
        to = dg_line_skip_blanks(s, at, end);
        to = to < end ? skip_code(d, s, to, end) : to;
        if (to == at)
            break;
    }
    return at;
}

/* "- Who is there?": another speaker begins. */
static bool is_speaker(struct dg_document *d, const char *s, const struct dg_line *l)
{
    const size_t at = skip_codes(d, s, l->begin, l->end);
    return dash_end(s, at, l->end) > at;
}

/* Skips the dash of "-Who is there?", which models leave out; or returns `at`. "- " is a bullet,
 * which the model does not see, "--" goes on with a sentence, and "-5" is a number. */
static size_t skip_dash(const char *s, size_t at, size_t end)
{
    const size_t to = dash_end(s, at, end);
    return to > at && to < end && !strchr(" \t-", s[to]) && !is_digit(s[to]) ? to : at;
}

static void write_line(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    const size_t words = skip_codes(d, s, begin, end);
    for (size_t at = begin, to; at < end; at = to) {
        const size_t line = dg_line_skip_tags(d, s, at, end);
        to = line > at ? line : at == words ? skip_dash(s, at, end) : skip_code(d, s, at, end);
        if (line > at)
            dg_document_line_end(d, s, at, to, end);
        else if (to > at)
            dg_document_mark(
                d, (struct dg_mark){.kind = DG_MARK_POINT, .begin = at, .end = to}, "");
        else
            dg_document_text(d, s, at, ++to);
    }
}

/* Reads the lines of a cue from *at on, up to an empty line or the next cue. */
static void read_cue(
    struct dg_document *d, struct dg_paragraph *p, const char *s, size_t n, size_t *at)
{
    struct dg_line line;
    while (dg_line_at(s, n, *at, &line) && !dg_srt_ends_cue(s, n, line.begin)) {
        if (is_speaker(d, s, &line))
            dg_paragraph_end(p, d, s, write_line);
        dg_paragraph_add(p, s, dg_line_indent(s, &line), line.end);
        *at = line.next;
    }
    dg_paragraph_end(p, d, s, write_line);
}

void dg_document_srt(struct dg_document *d, const char *s, size_t n)
{
    struct dg_paragraph p = {0};
    struct dg_line line;
    for (size_t at = 0; dg_line_at(s, n, at, &line);) {
        at = line.next;
        if (is_times(s, &line))
            read_cue(d, &p, s, n, &at);
    }
    dg_paragraph_deinit(&p, d);
}
