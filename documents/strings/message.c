#include "documents/strings/message.h"

#include "text/scan.h"

#include <ctype.h>
#include <string.h>

#define MOST_SPANS 64
#define LONGEST_ARGUMENT 512 /* longer ones are not protected (text/placeholder.c) */

/* An argument or a quotation: what it is in the message and in the message as it is read. */
struct span {
    bool argument;
    /* [n] borrowed from the message */
    const char *s;
    size_t n;
    /* bytes of the message as it is read */
    size_t begin, len;
};

/* A message as it is read. */
struct message {
    struct dg_buffer text;
    /* [n] spans that differ */
    struct span list[MOST_SPANS];
    size_t n;
    /* arguments with equal ones */
    size_t n_arguments;
};

/* True if the brace s[at] begins an argument of ICU that has words: "{n, plural,". */
static bool has_words(const char *s, size_t at, size_t n)
{
    static const char *const types[] = {"plural", "selectordinal", "select"};
    const size_t name = dg_scan_skip_ascii_space(s, at + 1, n);
    size_t i = name;
    while (i < n && !isspace((unsigned char)s[i]) && !strchr("{},", s[i]))
        i++;
    const size_t comma = dg_scan_skip_ascii_space(s, i, n);
    if (i == name || comma == n || s[comma] != ',')
        return false;
    const size_t type = dg_scan_skip_ascii_space(s, comma + 1, n);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        const size_t len = strlen(types[k]);
        if (n - type < len || memcmp(s + type, types[k], len) != 0)
            continue;
        i = dg_scan_skip_ascii_space(s, type + len, n);
        return i < n && s[i] == ',';
    }
    return false;
}

bool dg_message_has_words(const char *s, size_t n)
{
    for (size_t at = 0; at < n; at++)
        if (s[at] == '{' && has_words(s, at, n))
            return true;
    return false;
}

bool dg_message_is(const char *s, size_t n)
{
    for (size_t i = 0; i + 2 < n; i++)
        if (s[i] == '{' && isdigit((unsigned char)s[i + 1]) && strchr("},", s[i + 2]))
            return true;
    return false;
}

static bool has(const char *s, size_t i, size_t n, const char *either)
{
    return i < n && s[i] && strchr(either, s[i]);
}

/* Returns the end of what the apostrophe s[at] begins: two of them, a quotation, or itself. */
static size_t apostrophe_end(const char *s, size_t at, size_t n)
{
    if (has(s, at + 1, n, "'"))
        return at + 2;
    if (!has(s, at + 1, n, "{}"))
        return at + 1;
    for (at++; at < n; at++) {
        if (s[at] != '\'')
            continue;
        if (!has(s, at + 1, n, "'"))
            return at + 1;
        at++;
    }
    return n;
}

/* Returns the end of the argument that begins at the brace s[at]; `at`: it does not end. In a
 * format every apostrophe begins or ends a quotation (h 'o''clock'), in words only one before a
 * brace. */
static size_t end_of(const char *s, size_t at, size_t n, bool words)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = at; i < n; i = words && s[i] == '\'' ? apostrophe_end(s, i, n) : i + 1) {
        quoted ^= !words && s[i] == '\'';
        depth += !quoted && s[i] == '{';
        if (!quoted && s[i] == '}' && --depth == 0)
            return i + 1;
    }
    return at;
}

static size_t argument_end(const char *s, size_t at, size_t n)
{
    n = n - at > LONGEST_ARGUMENT ? at + LONGEST_ARGUMENT : n;
    const size_t end = end_of(s, at, n, false);
    return end > at ? end : end_of(s, at, n, true);
}

/* Returns the longest argument, or the longest quotation if there is none, that s[n] begins with,
 * as it is read; NULL: neither. */
static const struct span *match(const struct message *m, const char *s, size_t n)
{
    const struct span *best = NULL;
    for (const struct span *t = m->list; t < m->list + m->n; t++)
        if (t->len <= n && memcmp(m->text.data + t->begin, s, t->len) == 0 &&
            (!best || t->argument > best->argument ||
                (t->argument == best->argument && t->len > best->len)))
            best = t;
    return best;
}

/* Adds a span that was read last; false: there are too many. */
static bool add_span(struct message *m, struct span t)
{
    t.len = m->text.len - t.begin;
    const struct span *same = m->text.failed ? NULL : match(m, m->text.data + t.begin, t.len);
    m->n_arguments += t.argument;
    if (same && same->argument == t.argument && same->len == t.len)
        return true;
    if (m->n == MOST_SPANS)
        return false;
    m->list[m->n++] = t;
    return true;
}

/* Appends what is meant by the apostrophe s[0] and what it begins, n bytes. */
static void add_meant(const char *s, size_t n, struct dg_buffer *out)
{
    if (n <= 2)
        dg_buffer_adds(out, "'");
    for (size_t i = 1; n > 2 && i < n; i++) {
        i += s[i] == '\'';
        if (i < n)
            dg_buffer_add(out, s + i, 1);
    }
}

/* Reads the message s[n]; false: one of its arguments does not end, or it has too many spans. */
static bool read_message(const char *s, size_t n, struct message *m)
{
    bool fits = true;
    for (size_t i = 0, end; i < n && fits; i = end) {
        const struct span t = {.argument = s[i] == '{', .s = s + i, .begin = m->text.len};
        end = s[i] == '\'' ? apostrophe_end(s, i, n) : s[i] == '{' ? argument_end(s, i, n) : i + 1;
        if (end == i)
            return false;
        if (s[i] == '\'')
            add_meant(s + i, end - i, &m->text);
        else
            dg_buffer_add(&m->text, s + i, end - i);
        if (s[i] == '{' || end > i + 2)
            fits = add_span(m, (struct span){t.argument, t.s, end - i, t.begin, 0});
    }
    return fits;
}

bool dg_message_read(const char *s, size_t n, struct dg_buffer *out)
{
    struct message m = {.n = 0};
    bool fits = read_message(s, n, &m);
    size_t found = 0;
    for (size_t i = 0; fits && !m.text.failed && i < m.text.len;) {
        const struct span *t =
            m.text.data[i] == '{' ? match(&m, m.text.data + i, m.text.len - i) : NULL;
        found += t && t->argument;
        i += t && t->argument ? t->len : 1;
    }
    fits = fits && found == m.n_arguments;
    if (fits)
        dg_buffer_add(out, m.text.data, m.text.len);
    out->failed = out->failed || m.text.failed;
    dg_buffer_deinit(&m.text);
    return fits;
}

void dg_message_write(
    const char *s, size_t n, const char *text, size_t n_text, struct dg_buffer *out)
{
    struct message m = {.n = 0};
    read_message(s, n, &m);
    for (size_t i = 0; i < n_text && !m.text.failed;) {
        const bool brace = text[i] == '{' || text[i] == '}';
        const struct span *t = brace ? match(&m, text + i, n_text - i) : NULL;
        if (t)
            dg_buffer_add(out, t->s, t->n);
        else if (brace)
            dg_buffer_addf(out, "'%c'", text[i]);
        else if (text[i] == '\'')
            dg_buffer_adds(out, "''");
        else
            dg_buffer_add(out, text + i, 1);
        i += t ? t->len : 1;
    }
    out->failed = out->failed || m.text.failed;
    dg_buffer_deinit(&m.text);
}
