#include "documents/table.h"

#include "documents/kinds.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MOST_LINES 100 /* that tell the separator */

struct table {
    /* [n] */
    const char *s;
    size_t n;
    /* between two cells of a line */
    char separator;
};

struct cell {
    /* bytes with the quotation marks */
    size_t begin, end;
    bool quoted;
};

static bool ends_cell(const struct table *t, size_t at)
{
    return at >= t->n || t->s[at] == t->separator || t->s[at] == '\n' || t->s[at] == '\r';
}

/* The byte after the quotation that begins at s[at]; `at`: it does not end. */
static size_t quotation_end(const struct table *t, size_t at)
{
    size_t i = at + 1;
    while (i < t->n && (t->s[i] != '"' || (i + 1 < t->n && t->s[i + 1] == '"')))
        i += t->s[i] == '"' ? 2 : 1;
    return i < t->n ? i + 1 : at;
}

/* The cell that begins at s[at]. Quotation marks that are not around all of it are part of its
 * text. */
static struct cell read_cell(const struct table *t, size_t at)
{
    struct cell c = {.begin = at, .end = at};
    if (at < t->n && t->s[at] == '"') {
        c.end = quotation_end(t, at);
        c.quoted = c.end > at && ends_cell(t, c.end);
    }
    if (!c.quoted)
        for (c.end = at; !ends_cell(t, c.end);)
            c.end++;
    return c;
}

/* Moves *at from a cell's end to the next cell; false: that is in another line. */
static bool next_cell(const struct table *t, size_t *at)
{
    const bool more = *at < t->n && t->s[*at] == t->separator;
    *at += !more && t->n - *at > 1 && t->s[*at] == '\r' && t->s[*at + 1] == '\n';
    *at += *at < t->n;
    return more;
}

/* Counts the cells of the line at *at, and moves *at to the next line. */
static size_t count_cells(const struct table *t, size_t *at)
{
    size_t n = 0;
    do {
        *at = read_cell(t, *at).end;
        n++;
    } while (next_cell(t, at));
    return n;
}

/* Finds the separator: the one that gives most lines as many cells as the first line has. Moves *at
 * past Excel's line "sep=;", which names it. */
static void find_separator(struct table *t, size_t *at)
{
    static const char signs[] = "\t;|,"; /* a comma may be in all numbers */
    const char *s = t->s + *at;
    size_t most = 0;
    char best = ',';
    if (t->n - *at > 5 && strncasecmp(s, "sep=", 4) == 0 && (s[5] == '\n' || s[5] == '\r')) {
        t->separator = s[4];
        *at += 5;
        next_cell(t, at);
        return;
    }
    for (const char *sign = signs; *sign; sign++) {
        size_t to = *at, alike = 1;
        t->separator = *sign;
        const size_t first = count_cells(t, &to);
        for (size_t line = 1; line < MOST_LINES && to < t->n; line++)
            alike += count_cells(t, &to) == first;
        if (first > 1 && alike > most) {
            most = alike;
            best = *sign;
        }
    }
    t->separator = best;
}

/* True if the cell is a name that a program reads: unit_price. */
static bool is_name(const struct table *t, struct cell c)
{
    size_t i = c.begin + c.quoted;
    const size_t end = c.end - c.quoted;
    if (i == end || !(islower((unsigned char)t->s[i]) || t->s[i] == '_'))
        return false;
    while (i < end && (isalnum((unsigned char)t->s[i]) || strchr("_-.:", t->s[i])))
        i++;
    return i == end;
}

static bool has_words(const struct table *t, struct cell c)
{
    return dg_utf8_has_letter(t->s + c.begin, c.end - c.begin);
}

/* What stays, because programs read it. */
struct names {
    /* the first line, "id,title,unit_price", and the first column: keys */
    bool line, column;
};

/* Finds what stays of the table from byte `at` on. A first line of two names or more and nothing
 * else stays, and so do the cells below it of a first column that has only names, with a first line
 * whose first cell is none: "Handle,Title", "red-shirt,Red shirt". If there are no words but names,
 * they are words, too. */
static struct names find_names(const struct table *t, size_t at)
{
    struct names all = {.line = true, .column = true};
    size_t cells = 0, lines = 0;
    bool words = false, head = false; /* the first cell is a name */
    for (bool begins = true; at < t->n;) {
        const struct cell c = read_cell(t, at);
        const bool name = is_name(t, c);
        if (lines == 0) {
            head = cells++ == 0 ? name : head;
            all.line = all.line && name;
        } else if (begins) {
            all.column = all.column && (name || c.end == c.begin);
        }
        words = words || (lines > 0 && !name && has_words(t, c));
        at = c.end;
        begins = !next_cell(t, &at);
        lines += begins;
    }
    all.column = all.column && words && cells > 1 && lines > 1;
    all.line = words && cells > 1 && (all.line || (all.column && !head));
    return all;
}

static int add(struct dg_extract *x, struct dg_extract_part *p, const struct table *t,
    struct cell c, struct dg_error *err)
{
    const struct dg_segment like = {.begin = c.begin,
        .end = c.end,
        .writing = c.quoted ? DG_WRITE_QUOTED_CELL : DG_WRITE_CELL,
        .separator = t->separator};
    const size_t end = c.end - c.quoted;
    struct dg_buffer text = {0};
    if (!has_words(t, c) || t->s[c.begin + c.quoted] == '=') /* a formula */
        return DG_OK;
    for (size_t i = c.begin + c.quoted; i < end; i++) {
        dg_buffer_add(&text, t->s + i, 1);
        i += c.quoted && t->s[i] == '"';
    }
    const int rc = dg_segment_add_text(x, p, like, &text, err);
    dg_buffer_deinit(&text);
    return rc;
}

int dg_read_table(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct table t = {.s = p->s, .n = p->n, .separator = '\t'};
    size_t at = dg_utf8_bom(p->s, p->n);
    int rc = DG_OK;
    if (strcasecmp(x->kind->suffix, ".tsv") != 0)
        find_separator(&t, &at);
    const struct names names = find_names(&t, at);
    bool begins = true, first = true; /* of a line; the first line */
    while (at < t.n && rc == DG_OK) {
        const struct cell c = read_cell(&t, at);
        if (first ? !names.line : !(begins && names.column))
            rc = add(x, p, &t, c, err);
        at = c.end;
        begins = !next_cell(&t, &at);
        first = first && !begins;
    }
    return rc;
}

void dg_table_write(
    struct dg_writer *w, const struct dg_segment *g, const struct dg_extract_answer *a)
{
    const char opening = w->part->s[g->begin];
    bool quotes =
        g->writing == DG_WRITE_QUOTED_CELL || (a->n > 0 && a->s[0] == '"' && opening != '"');
    for (size_t i = 0; i < a->n; i++)
        quotes = quotes || a->s[i] == g->separator || a->s[i] == '\n' || a->s[i] == '\r';
    if (quotes)
        dg_buffer_add_quoted(w->out, a->s, a->n, '"');
    else
        dg_buffer_add(w->out, a->s, a->n);
}
