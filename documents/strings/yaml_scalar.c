#include "documents/strings/yaml_scalar.h"

#include "text/format/yaml_plain.h"
#include "text/scan.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* ---- where a scalar is ---- */

/* The end of the line at s[at], without its line end. */
static size_t line_end(const char *s, size_t at, size_t end)
{
    while (at < end && s[at] != '\n' && s[at] != '\r')
        at++;
    return at;
}

static size_t next_line(const char *s, size_t at, size_t end)
{
    at = line_end(s, at, end);
    at += end - at > 1 && s[at] == '\r' && s[at + 1] == '\n';
    return at < end ? at + 1 : end;
}

void dg_yaml_skip_properties(const char *s, struct dg_yaml_scalar *a)
{
    size_t at = a->begin;
    while (at < a->end && strchr("&!# \t\r\n", s[at])) {
        const bool comment = s[at] == '#', name = s[at] == '&' || s[at] == '!';
        at = comment ? line_end(s, at, a->end) : at + 1;
        while (name && at < a->end && !isspace((unsigned char)s[at]))
            at++;
    }
    a->begin = at;
}

/* Moves the ends of s[*begin, *end) to those of its first and last line that is not blank; false:
 * all are. */
static bool trim_lines(const char *s, size_t *begin, size_t *end)
{
    size_t first = *end, last = *end;
    for (size_t at = *begin, to; at < *end; at = next_line(s, at, *end)) {
        to = line_end(s, at, *end);
        if (at + strspn(s + at, " \t") >= to)
            continue;
        first = first == *end ? at : first;
        last = to;
    }
    const bool found = first < *end;
    *begin = first;
    *end = last;
    return found;
}

bool dg_yaml_has_own_line_end(const char *s, size_t n)
{
    return memmem(s, n, "\xC2\x85", 2) || memmem(s, n, "\xE2\x80\xA8", 3) ||
           memmem(s, n, "\xE2\x80\xA9", 3);
}

bool dg_yaml_find_lines(const char *s, struct dg_yaml_scalar *a)
{
    size_t from = 0, to = a->n;
    if (a->style != DG_YAML_LITERAL && a->style != DG_YAML_FOLDED)
        return true;
    a->begin = next_line(s, a->begin, a->end);
    if (dg_yaml_has_own_line_end(s + a->begin, a->end - a->begin) ||
        !trim_lines(s, &a->begin, &a->end) || !trim_lines(a->text, &from, &to))
        return false;
    const size_t shown = strspn(a->text + from, " "), all = strspn(s + a->begin, " ");
    a->begin += all > shown ? all - shown : 0;
    a->text += from;
    a->n = to - from;
    return true;
}

/* ---- writing ---- */

/* True for a character that only quotation marks with escapes can hold: a line end or one that
 * YAML does not allow. */
static bool is_escaped(int32_t c)
{
    return (c < ' ' && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
           c == 0xFEFF || (c >= 0xFFFE && c <= 0xFFFF);
}

static bool has_escaped(const char *s, size_t n)
{
    for (size_t i = 0; i < n;)
        if (is_escaped(dg_scan_next(s, n, &i)))
            return true;
    return false;
}

static void write_double(const char *s, size_t n, struct dg_buffer *out)
{
    dg_buffer_adds(out, "\"");
    for (size_t i = 0, to; i < n; i = to) {
        to = i;
        const int32_t c = dg_scan_next(s, n, &to);
        const char *short_name = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
        if (c == '"' || c == '\\')
            dg_buffer_addf(out, "\\%c", (char)c);
        else if (short_name)
            dg_buffer_adds(out, short_name);
        else if (is_escaped(c))
            dg_buffer_addf(out, c < 0x100 ? "\\x%02X" : "\\u%04X", (unsigned)c);
        else
            dg_buffer_add(out, s + i, to - i);
    }
    dg_buffer_adds(out, "\"");
}

static bool is_indented(const char *s, size_t at, size_t n)
{
    return at < n && (s[at] == ' ' || s[at] == '\t');
}

/* Writes the lines of a block. Where it is folded, a line end is a space: the end of a line is
 * written as one more, unless a line beside it is indented. */
static void write_block(
    const char *before, const char *s, size_t n, bool folded, struct dg_buffer *out)
{
    const size_t end_n = strcspn(before, " ");
    for (size_t at = 0, to, next; at < n; at = next) {
        to = dg_scan_find(s, at, n, "\n");
        dg_buffer_add(out, s + at, to - at);
        for (next = to; next < n && s[next] == '\n';)
            next++;
        if (folded && next > to && !is_indented(s, at, n) && !is_indented(s, next, n))
            dg_buffer_add(out, before, end_n);
        for (size_t i = to; i + 1 < next; i++)
            dg_buffer_add(out, before, end_n);
        if (next > to)
            dg_buffer_adds(out, before);
    }
}

void dg_yaml_write(
    enum dg_yaml_style style, const char *before, const char *s, size_t n, struct dg_buffer *out)
{
    if (style == DG_YAML_LITERAL || style == DG_YAML_FOLDED)
        write_block(before, s, n, style == DG_YAML_FOLDED, out);
    else if (style == DG_YAML_DOUBLE || has_escaped(s, n))
        write_double(s, n, out);
    else if (style != DG_YAML_SINGLE && dg_yaml_plain_fits(s, n, style == DG_YAML_FLOW))
        dg_buffer_add(out, s, n);
    else if (style != DG_YAML_SINGLE && memchr(s, '\'', n))
        write_double(s, n, out);
    else
        dg_buffer_add_quoted(out, s, n, '\'');
}
