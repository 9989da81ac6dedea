#include "store/tsv.h"

#include "text/utf8.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\r';
}

static void trim(const char **s, size_t *n)
{
    for (; *n > 0 && is_blank(**s); (*n)--)
        (*s)++;
    while (*n > 0 && is_blank((*s)[*n - 1]))
        (*n)--;
}

/* Read line[n], which has no line end. */
static int read_line(
    const char *line, size_t n, size_t number, struct dg_memory_pair *pair, struct dg_error *err)
{
    struct dg_error why = {0};
    if (dg_utf8_check(line, n, &why) != DG_OK)
        return dg_error_set(err, DG_EFORMAT, "line %zu is not UTF-8: %s", number, why.message);
    const char *tab = memchr(line, '\t', n);
    const char *second = tab ? memchr(tab + 1, '\t', (size_t)(line + n - tab - 1)) : NULL;
    if (!tab || second)
        return dg_error_set(err, DG_EFORMAT,
            "line %zu has %s tab, expected one between source and target", number,
            tab ? "more than one" : "no");
    pair->source = line;
    pair->source_len = (size_t)(tab - line);
    pair->target = tab + 1;
    pair->target_len = n - pair->source_len - 1;
    trim(&pair->source, &pair->source_len);
    trim(&pair->target, &pair->target_len);
    if (pair->source_len > 0 && pair->target_len > 0)
        return DG_OK;
    return dg_error_set(err, DG_EFORMAT, "line %zu has an empty %s", number,
        pair->source_len > 0 ? "target" : "source");
}

int dg_tsv_read(const char *s, size_t n, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    struct dg_memory_pair pair = {.source_lang = source_lang, .target_lang = target_lang};
    const size_t mark = dg_utf8_bom(s, n);
    const char *end = s + n;
    size_t number = 0;
    int rc = DG_OK;
    for (s += mark; s < end && rc == DG_OK;) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        size_t len = (size_t)((stop ? stop : end) - s);
        const char *line = s;
        s += len + (stop ? 1 : 0);
        number++;
        if (len > 0 && line[len - 1] == '\r')
            len--;
        if (len == 0)
            continue;
        rc = read_line(line, len, number, &pair, err);
        if (rc == DG_OK)
            rc = visit(ctx, &pair, err);
    }
    return rc;
}

static void add_column(const char *s, size_t n, struct dg_buffer *out)
{
    for (size_t i = 0; i < n; i++)
        dg_buffer_add(out, s[i] == '\t' || s[i] == '\n' || s[i] == '\r' ? " " : &s[i], 1);
}

void dg_tsv_write(const struct dg_memory_pair *pair, struct dg_buffer *out)
{
    add_column(pair->source, pair->source_len, out);
    dg_buffer_adds(out, "\t");
    add_column(pair->target, pair->target_len, out);
    dg_buffer_adds(out, "\n");
}
