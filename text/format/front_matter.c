#include "text/format/front_matter.h"

#include "text/format/yaml_plain.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The byte after the escape that begins at s[at], in a value in "": \n, \u00e9. */
static size_t skip_escape(const char *s, size_t at, size_t end)
{
    size_t n = 2;
    if (at + 1 < end)
        n += s[at + 1] == 'x' ? 2 : s[at + 1] == 'u' ? 4 : s[at + 1] == 'U' ? 8 : 0;
    return end - at < n ? end : at + n;
}

/* Adds the escape s[at, to) of a value in "" or ''. */
static void add_escape(struct dg_document *d, const char *s, size_t at, size_t to)
{
    struct dg_mark m = {.begin = at, .end = to, .len = 1};
    if (to - at != 2) {
        dg_document_protect(d, s, (size_t[2]){at, to}, (size_t[2]){at, to});
    } else if (ispunct((unsigned char)s[at + 1])) {
        m.kind = DG_MARK_ESCAPE;
        dg_document_mark(d, m, s + at + 1);
    } else {
        m.kind = DG_MARK_BREAK; /* \n, \t */
        dg_document_mark(d, m, " ");
    }
}

/* Makes a unit of the value s[begin, end), without its quotation marks. */
static void read_value(
    struct dg_document *d, const char *s, size_t begin, size_t end, enum dg_encoding encoding)
{
    dg_document_begin(d, begin);
    for (size_t at = begin, to; at < end; at = to) {
        to = at;
        if (encoding == DG_ENCODING_ESCAPED_DOUBLE && s[at] == '\\')
            to = skip_escape(s, at, end);
        else if (encoding == DG_ENCODING_YAML_SINGLE && dg_scan_begins(s, at, end, "''"))
            to = at + 2;
        if (to > at) {
            add_escape(d, s, at, to);
            continue;
        }
        for (to = at + 1; to < end && s[to] != '\\' && s[to] != '\'';)
            to++;
        dg_document_text(d, s, at, to);
    }
    dg_document_end_value(d, s, encoding);
}

/* The sign that ends the quoted value whose text begins at s[at]; `end` if none does, or if more
 * than a comment follows it. */
static size_t find_quote(const char *s, size_t at, size_t end, char sign, enum dg_encoding encoding)
{
    for (; at < end && s[at] != sign; at++)
        if (encoding == DG_ENCODING_ESCAPED_DOUBLE && s[at] == '\\')
            at++;
    const size_t after = at < end ? dg_line_skip_blanks(s, at + 1, end) : end;
    return at < end && (after == end || s[after] == '#') ? at : end;
}

/* Makes a unit of the title in 'title = "Two dogs"', TOML. What follows three quotation marks stays
 * as it is. */
static void read_toml_title(struct dg_document *d, const char *s, size_t at, size_t end)
{
    const bool escaped = at < end && s[at] == '"';
    const enum dg_encoding encoding =
        escaped ? DG_ENCODING_ESCAPED_DOUBLE : DG_ENCODING_TOML_LITERAL;
    if (at == end || !strchr("\"'", s[at]))
        return;
    const size_t close = find_quote(s, at + 1, end, s[at], encoding);
    if (close < end)
        read_value(d, s, at + 1, close, encoding);
}

/* Makes a unit of the title in "title: Two dogs" or "title: 'Two dogs'", YAML. */
static void read_yaml_title(struct dg_document *d, const char *s, size_t at, size_t end)
{
    enum dg_encoding encoding = DG_ENCODING_YAML_UNQUOTED;
    if (at < end && strchr("\"'", s[at])) {
        end = dg_line_trim_blanks(s, at, end);
        if (end - at < 2 || s[end - 1] != s[at])
            return;
        encoding = s[at] == '"' ? DG_ENCODING_ESCAPED_DOUBLE : DG_ENCODING_YAML_SINGLE;
        at++;
        end--;
    } else {
        end = dg_line_trim_blanks(s, at, dg_scan_find(s, at, end, " #"));
        if (strchr("|>[{&*!#%@`", s[at]) || !dg_yaml_plain_is_string(s + at, end - at))
            return;
    }
    read_value(d, s, at, end, encoding);
}

/* True if the YAML value continues on the next line of s[n] that is not blank: an indented one. */
static bool goes_on(const char *s, size_t n, const struct dg_line *line)
{
    struct dg_line next = *line;
    do {
        if (!dg_line_at(s, n, next.next, &next))
            return false;
    } while (dg_line_is_blank(s, &next));
    const size_t at = dg_line_indent(s, &next);
    return at > next.begin && s[at] != '#';
}

/* Makes a unit of the line's value if its key is "title". One in several lines of YAML stays. */
static void read_field(
    struct dg_document *d, const char *s, size_t n, const struct dg_line *line, bool toml)
{
    static const char name[] = "title";
    const size_t len = strlen(name), end = line->end;
    if (end - line->begin <= len || strncasecmp(s + line->begin, name, len) != 0)
        return;
    size_t at = line->begin + len;
    at = toml ? dg_line_skip_blanks(s, at, end) : at;
    if (at == end || s[at] != (toml ? '=' : ':'))
        return;
    at = dg_line_skip_blanks(s, at + 1, end);
    if (toml)
        read_toml_title(d, s, at, end);
    else if (!goes_on(s, n, line))
        read_yaml_title(d, s, at, end);
}

/* True if the line is these three signs, before blanks that nobody sees. */
static bool is_border(const char *s, const struct dg_line *line, const char *signs)
{
    return line->end - line->begin >= 3 && memcmp(s + line->begin, signs, 3) == 0 &&
           dg_line_skip_blanks(s, line->begin + 3, line->end) == line->end;
}

size_t dg_front_matter_read(struct dg_document *d, const char *s, size_t n)
{
    struct dg_line line;
    const size_t begin = dg_utf8_bom(s, n);
    if (!dg_line_at(s, n, begin, &line) ||
        !(is_border(s, &line, "---") || is_border(s, &line, "+++")))
        return begin;
    const bool toml = s[begin] == '+';
    size_t first = line.next, end = 0;
    for (size_t at = first; !end && dg_line_at(s, n, at, &line); at = line.next)
        if (is_border(s, &line, s + begin) || (!toml && is_border(s, &line, "...")))
            end = line.next;
    for (size_t at = first; end && dg_line_at(s, end, at, &line); at = line.next) {
        if (toml && s[at] == '[')
            break; /* a table, whose titles are others */
        read_field(d, s, end, &line, toml);
    }
    return end ? end : begin;
}
