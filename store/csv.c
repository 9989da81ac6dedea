#include "store/csv.h"

#include "text/utf8.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 4, LANGUAGE = DG_MEMORY_LANGUAGE + 8 };

/* The row being read: the texts of its fields one after another, and where each begins and ends. */
struct row {
    struct dg_buffer text;
    size_t begin[COLUMNS], end[COLUMNS];
    size_t n;
    /* of its fields */
    char separator;
    /* line of the file, from 1 */
    size_t line;
};

/* Spreadsheets write ";" in languages where numbers have a comma. It counts if the first row has
 * one and no comma outside quotes. As in read_field, quotes open only where a field begins. */
static char separator_of(const char *s, size_t n)
{
    bool quoted = false;
    char found = ',';
    for (size_t i = 0; i < n && (quoted || s[i] != '\n'); i++) {
        if (s[i] == '"' && (quoted || i == 0 || strchr("\",;", s[i - 1])))
            quoted = !quoted;
        if (!quoted && s[i] == ',')
            return ',';
        if (!quoted && s[i] == ';')
            found = ';';
    }
    return found;
}

/* Append the field at s[*i], up to a separator or the row's end, to the row. */
static int read_field(
    const char *s, size_t n, size_t *i, size_t *line, struct row *row, struct dg_error *err)
{
    const size_t begin = row->text.len;
    size_t at = *i;
    if (at < n && s[at] == '"') {
        for (at++; at < n && (s[at] != '"' || (at + 1 < n && s[at + 1] == '"')); at++) {
            *line += s[at] == '\n';
            at += s[at] == '"';
            dg_buffer_add(&row->text, &s[at], 1);
        }
        if (at == n)
            return dg_error_set(
                err, DG_EFORMAT, "line %zu: a quoted field does not end", row->line);
        at++;
        /* a row ends with CRLF as well as with LF */
        const size_t end = at + (at + 1 < n && s[at] == '\r');
        if (at < n && s[at] != row->separator && s[end] != '\n' && (s[end] != '\r' || end + 1 < n))
            return dg_error_set(err, DG_EFORMAT,
                "line %zu: a quoted field continues after its closing quote", row->line);
    } else {
        for (; at < n && s[at] != row->separator && s[at] != '\n'; at++)
            if (s[at] != '\r' || (at + 1 < n && s[at + 1] != '\n'))
                dg_buffer_add(&row->text, &s[at], 1);
    }
    if (row->n == COLUMNS)
        return dg_error_set(
            err, DG_EFORMAT, "line %zu has more than %d columns", row->line, COLUMNS);
    row->begin[row->n] = begin;
    row->end[row->n++] = row->text.len;
    dg_buffer_add(&row->text, "", 1);
    *i = at;
    return DG_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Column c without surrounding white space; *len is its bytes. */
static const char *column(const struct row *row, size_t c, size_t *len)
{
    const char *s = row->text.data + row->begin[c], *end = row->text.data + row->end[c];
    while (s < end && is_blank(*s))
        s++;
    while (end > s && is_blank(end[-1]))
        end--;
    *len = (size_t)(end - s);
    return s;
}

/* Copy the language in column c; of a long one, so much that it is no code. */
static int read_language(const struct row *row, size_t c, char out[LANGUAGE], struct dg_error *err)
{
    struct dg_error why = {0};
    char canonical[DG_MEMORY_LANGUAGE];
    size_t n;
    const char *s = column(row, c, &n);
    snprintf(out, LANGUAGE, "%.*s", (int)(n < LANGUAGE ? n : LANGUAGE), s);
    if (n == 0)
        return dg_error_set(err, DG_EFORMAT, "line %zu names no languages", row->line);
    if (dg_memory_language(out, canonical, &why) != DG_OK)
        return dg_error_set(err, DG_EFORMAT, "line %zu: %s", row->line, why.message);
    return DG_OK;
}

static int visit_row(const struct row *row, const char *const langs[2], dg_memory_visit *visit,
    void *ctx, struct dg_error *err)
{
    struct dg_memory_pair pair = {.source_lang = langs[0], .target_lang = langs[1]};
    struct dg_error why = {0};
    char own[2][LANGUAGE];
    if (row->n != 2 && row->n != COLUMNS)
        return dg_error_set(err, DG_EFORMAT, "line %zu has %zu columns, expected 2 or %d",
            row->line, row->n, COLUMNS);
    pair.source = column(row, 0, &pair.source_len);
    pair.target = column(row, 1, &pair.target_len);
    if (row->n == COLUMNS) {
        if (read_language(row, 2, own[0], err) || read_language(row, 3, own[1], err))
            return DG_EFORMAT;
        pair.source_lang = own[0];
        pair.target_lang = own[1];
    }
    if (!pair.source_lang || !pair.target_lang)
        return dg_error_set(err, DG_EFORMAT, "line %zu names no languages", row->line);
    if (dg_utf8_check(pair.source, pair.source_len, &why) ||
        dg_utf8_check(pair.target, pair.target_len, &why))
        return dg_error_set(err, DG_EFORMAT, "line %zu is not UTF-8: %s", row->line, why.message);
    if (!pair.source_len || !pair.target_len)
        return dg_error_set(err, DG_EFORMAT, "line %zu has an empty %s", row->line,
            pair.source_len ? "target" : "source");
    return visit(ctx, &pair, err);
}

int dg_csv_read(const char *s, size_t n, const char *source_lang, const char *target_lang,
    dg_memory_visit *visit, void *ctx, struct dg_error *err)
{
    const char *const langs[2] = {source_lang, target_lang};
    const size_t mark = dg_utf8_bom(s, n);
    struct row row = {.separator = separator_of(s + mark, n - mark)};
    size_t line = 1;
    int rc = DG_OK;
    dg_buffer_init(&row.text);
    for (size_t i = mark; i < n && rc == DG_OK;) {
        dg_buffer_reset(&row.text);
        row.n = 0;
        row.line = line;
        for (bool more = true; more && rc == DG_OK;) {
            rc = read_field(s, n, &i, &line, &row, err);
            more = i < n && s[i] == row.separator;
            i += more;
        }
        while (i < n && s[i] == '\r')
            i++;
        line += i < n;
        i += i < n;
        if (rc == DG_OK && row.text.failed)
            rc = dg_error_set(err, DG_ENOMEM, "no memory for line %zu", row.line);
        const bool empty = row.n == 1 && row.end[0] == 0;
        if (rc == DG_OK && !empty)
            rc = visit_row(&row, langs, visit, ctx, err);
    }
    dg_buffer_deinit(&row.text);
    return rc;
}

static void add_field(const char *s, size_t n, struct dg_buffer *out)
{
    bool plain = true;
    for (size_t i = 0; i < n; i++)
        plain = plain && !strchr("\",\r\n", s[i]);
    if (plain)
        dg_buffer_add(out, s, n);
    else
        dg_buffer_add_quoted(out, s, n, '"');
}

void dg_csv_write(const struct dg_memory_pair *pair, struct dg_buffer *out)
{
    add_field(pair->source, pair->source_len, out);
    dg_buffer_adds(out, ",");
    add_field(pair->target, pair->target_len, out);
    dg_buffer_adds(out, "\n");
}
