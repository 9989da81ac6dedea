/* Java's .properties and Apple's .strings: pairs of a key and a value. */
#include "documents/kinds.h"
#include "documents/strings/message.h"
#include "documents/strings/program_string.h"
#include "text/scan.h"
#include "text/utf8.h"

static const struct dg_markup java = {.program = true, .key_signs = "&"}, apple = {.program = true};

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

/* Adds a value, which may be a message. */
static int add_value(struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end,
    enum dg_escapes escapes, struct dg_error *err)
{
    struct dg_segment like = {.begin = begin,
        .end = end,
        .markup = &java,
        .writing = DG_WRITE_ESCAPED,
        .escapes = escapes};
    struct dg_buffer value = {0}, text = {0};
    int rc = DG_OK;
    dg_escapes_read(escapes, p->s + begin, end - begin, &value);
    if (value.failed || !dg_message_is(p->s + begin, end - begin) ||
        dg_message_has_words(value.data, value.len)) {
        rc = dg_program_string_add(x, p, like, &value, NULL, err);
    } else if (dg_message_read(value.data, value.len, &text) || text.failed) {
        like.writing = DG_WRITE_MESSAGE;
        rc = dg_program_string_add_text(x, p, like, &text, NULL, err);
    }
    dg_buffer_deinit(&value);
    dg_buffer_deinit(&text);
    return rc;
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
    const enum dg_escapes escapes = is_ascii(p) ? DG_ESCAPES_ASCII : DG_ESCAPES_PROPERTIES;
    int rc = DG_OK;
    for (size_t at = dg_utf8_bom(s, p->n), end; at < p->n && rc == DG_OK; at = end + 1) {
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
        rc = add_value(x, p, at, end, escapes, err);
    }
    return rc;
}

/* ---- .strings ---- */

static size_t comment_end(const char *s, size_t n, size_t at)
{
    return s[at + 1] == '/' ? dg_scan_after(s, at, n, "\n") : dg_scan_after(s, at + 2, n, "*/");
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
            rc = dg_program_string_end(p, at, &end, err);
            if (rc == DG_OK && value)
                rc = dg_program_string_add_escaped(
                    x, p, (struct dg_span){at + 1, end - 1}, &apple, DG_ESCAPES_C, err);
        } else if (s[at] == '=' || s[at] == ';') {
            value = s[at] == '=';
        }
    }
    return rc;
}
