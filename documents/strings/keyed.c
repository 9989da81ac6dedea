/* Java's .properties and Apple's .strings: pairs of a key and a value. */
#include "documents/kinds.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>

static int add(struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end,
    enum dg_escapes escapes, struct dg_error *err)
{
    struct dg_buffer text;
    int rc = DG_OK;
    dg_buffer_init(&text);
    dg_escapes_read(escapes, p->s + begin, end - begin, &text);
    if (text.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a text of a file");
    else if (text.len > 0 && dg_utf8_has_letter(text.data, text.len) &&
             !dg_segment_add(x, p,
                 (struct dg_segment){
                     .begin = begin, .end = end, .writing = DG_WRITE_ESCAPED, .escapes = escapes},
                 text.data, text.len, err))
        rc = err->code;
    dg_buffer_deinit(&text);
    return rc;
}

/* ---- .properties ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

/* Returns the end of a logical line, which a backslash at a line's end continues. */
static size_t logical_end(const char *s, size_t n, size_t at)
{
    for (; at < n && s[at] != '\n' && s[at] != '\r'; at++) {
        if (s[at] != '\\' || at + 1 >= n)
            continue;
        at++;
        if (s[at] == '\r' && at + 1 < n && s[at + 1] == '\n')
            at++;
    }
    return at < n ? at : n;
}

/* True if the value has a {0} of MessageFormat. */
static bool is_message(const char *s, size_t begin, size_t end)
{
    for (size_t i = begin; i + 2 < end; i++)
        if (s[i] == '{' && isdigit((unsigned char)s[i + 1]) && strchr("},", s[i + 2]))
            return true;
    return false;
}

/* True if the file is ASCII. Files for Java 8 and earlier are Latin-1: if nothing shows that a file
 * is UTF-8, only escapes are safe. */
static bool is_ascii(const struct dg_extract_part *p)
{
    for (size_t i = 0; i < p->n; i++)
        if ((unsigned char)p->s[i] >= 0x80)
            return false;
    return true;
}

int dg_read_properties(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    const char *s = p->s;
    const bool ascii = is_ascii(p);
    int rc = DG_OK;
    for (size_t at = 0, end; at < p->n && rc == DG_OK; at = end + 1) {
        while (at < p->n && (is_blank(s[at]) || s[at] == '\n' || s[at] == '\r'))
            at++;
        if (at < p->n && (s[at] == '#' || s[at] == '!')) { /* a comment has no continuation lines */
            for (end = at; end < p->n && s[end] != '\n' && s[end] != '\r';)
                end++;
            continue;
        }
        end = logical_end(s, p->n, at);
        while (at < end && !is_blank(s[at]) && s[at] != '=' && s[at] != ':')
            at += s[at] == '\\' ? 2 : 1;
        while (at < end && is_blank(s[at]))
            at++;
        if (at < end && (s[at] == '=' || s[at] == ':'))
            at++;
        while (at < end && is_blank(s[at]))
            at++;
        if (at >= end)
            continue;
        const bool message = is_message(s, at, end);
        rc = add(x, p, at, end,
            ascii     ? message ? DG_ESCAPES_ASCII_MESSAGE : DG_ESCAPES_ASCII
            : message ? DG_ESCAPES_MESSAGE
                      : DG_ESCAPES_PROPERTIES,
            err);
    }
    return rc;
}

/* ---- .strings ---- */

/* The byte after the string that begins with '"' at s[at]; n: it does not end. */
static size_t string_end(const char *s, size_t n, size_t at)
{
    for (at++; at < n && s[at] != '"'; at++)
        at += s[at] == '\\';
    return at < n ? at + 1 : n;
}

static size_t line_of(const char *s, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += s[i] == '\n';
    return line;
}

static size_t comment_end(const char *s, size_t n, size_t at)
{
    const bool line = s[at + 1] == '/';
    const char *found =
        line ? memchr(s + at, '\n', n - at) : memmem(s + at + 2, n - at - 2, "*/", 2);
    return found ? (size_t)(found - s) + (line ? 1 : 2) : n;
}

int dg_read_strings(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    const char *s = p->s;
    bool value = false; /* after a "=" */
    int rc = DG_OK;
    for (size_t at = 0, end; at < p->n && rc == DG_OK; at = end) {
        end = at + 1;
        if (s[at] == '/' && end < p->n && (s[end] == '/' || s[end] == '*')) {
            end = comment_end(s, p->n, at);
        } else if (s[at] == '"') {
            end = string_end(s, p->n, at);
            if (s[end - 1] != '"' || end - at < 2)
                rc = dg_extract_broken(err, "the string in line %zu does not end", line_of(s, at));
            else if (value)
                rc = add(x, p, at + 1, end - 1, DG_ESCAPES_C, err);
        } else if (s[at] == '=' || s[at] == ';') {
            value = s[at] == '=';
        }
    }
    return rc;
}
