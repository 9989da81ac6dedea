/* Writes <g i="2">words</g>, <x i="3"/> and <f i="4">what it shows</f> of an answer as slots 2, 3
 * and 4 say. If the file has runs, each text gets a run of its own, with the properties of the
 * innermost <g> that has some. */
#include "documents/slots.h"

#include "documents/declared_language.h"
#include "text/format/xml/scan.h"
#include "text/scan.h"

#include <stdlib.h>
#include <string.h>

#define MAX_OPEN 64

struct state {
    struct dg_writer *w;
    const struct dg_segment *g;
    /* slots of the open <g>s */
    size_t open[MAX_OPEN], n_open;
    /* properties of the open <g>s that have some */
    size_t run[MAX_OPEN][2], n_runs;
};

static void add_bytes(struct state *t, size_t begin, size_t end)
{
    dg_buffer_add(t->w->out, t->w->part->s + begin, end - begin);
}

/* Writes a tag of the office file, which begins with "<" or "</". */
static void add_tag(struct state *t, const char *begin, const char *name)
{
    dg_buffer_adds(t->w->out, begin);
    add_bytes(t, t->g->prefix, t->g->prefix_end);
    dg_buffer_addf(t->w->out, "%s>", name);
}

/* Finds the code of a language in a run's properties s[begin, end); false: they have none, or the
 * target's. */
static bool find_code(
    const struct state *t, size_t begin, size_t end, size_t *code, size_t *code_end)
{
    const struct dg_extract *file = t->w->file;
    const char *s = t->w->part->s, *name = t->g->names->language,
               *before = t->g->names->codes[file->scripts];
    const char *tag = name ? memmem(s + begin, end - begin, name, strlen(name)) : NULL;
    const char *close = tag ? memchr(tag, '>', (size_t)(s + end - tag)) : NULL;
    const char *found = close ? memmem(tag, (size_t)(close - tag), before, strlen(before)) : NULL;
    if (!found)
        return false;
    found += strlen(before);
    const char *quote = memchr(found, '"', (size_t)(close - found));
    *code = (size_t)(found - s);
    *code_end = quote ? (size_t)(quote - s) : *code;
    return dg_declared_language_differs(found, *code_end - *code, file->target);
}

/* Opens a run with the properties s[begin, end), and the target language. */
static void open_run(struct state *t, size_t begin, size_t end)
{
    size_t code, code_end;
    add_tag(t, "<", t->g->names->run);
    if (find_code(t, begin, end, &code, &code_end)) {
        add_bytes(t, begin, code);
        dg_buffer_adds(t->w->out, t->w->file->locale);
        begin = code_end;
    }
    add_bytes(t, begin, end);
}

static void close_run(struct state *t)
{
    add_tag(t, "</", t->g->names->run);
}

static void add_text(struct state *t, const char *s, size_t n)
{
    const struct dg_run_names *names = t->g->names;
    if (n == 0)
        return;
    if (!names) {
        dg_buffer_add(t->w->out, s, n);
        return;
    }
    const size_t *run = t->n_runs ? t->run[t->n_runs - 1] : NULL;
    open_run(t, run ? run[0] : t->g->run, run ? run[1] : t->g->run_end);
    add_tag(t, "<", names->text_tag);
    dg_buffer_add(t->w->out, s, n);
    add_tag(t, "</", names->text);
    close_run(t);
}

static int broken(struct dg_error *err)
{
    return dg_error_field(
        err, DG_EINVAL, "file", "a translation has a tag that is not in the file's text");
}

static int too_large(struct dg_error *err)
{
    return dg_error_field(err, DG_ELIMIT, "file",
        "the translation, with its formatting, has more bytes than the limit");
}

static int open_slot(struct state *t, size_t i, struct dg_error *err)
{
    const struct dg_slot *slot = &t->g->slots[i];
    if (t->n_open == MAX_OPEN)
        return broken(err);
    t->open[t->n_open++] = i;
    if (slot->kind == DG_SLOT_TAGS) {
        add_bytes(t, slot->begin, slot->end);
    } else {
        t->run[t->n_runs][0] = slot->begin;
        t->run[t->n_runs++][1] = slot->end;
    }
    return DG_OK;
}

static int close_slot(struct state *t, struct dg_error *err)
{
    if (t->n_open == 0)
        return broken(err);
    const struct dg_slot *slot = &t->g->slots[t->open[--t->n_open]];
    if (slot->kind == DG_SLOT_TAGS)
        add_bytes(t, slot->close, slot->close_end);
    else
        t->n_runs--;
    return DG_OK;
}

/* Writes the slot's bytes, which may contain texts of their own, such as a footnote's. */
static int write_raw(struct state *t, const struct dg_slot *slot, struct dg_error *err)
{
    if (slot->kind == DG_SLOT_CHILD)
        open_run(t, slot->close, slot->close_end);
    int rc = dg_extract_part_write(t->w, slot->begin, slot->end, err);
    if (slot->kind == DG_SLOT_CHILD)
        close_run(t);
    return rc;
}

/* Writes the tag s[n], one of ours. */
static int write_tag(struct state *t, const char *s, size_t n, struct dg_error *err)
{
    if (n > 2 && s[1] == '/')
        return close_slot(t, err);
    const char *number = memchr(s, '"', n);
    size_t i = number ? strtoul(number + 1, NULL, 10) : t->g->n_slots;
    if (i >= t->g->n_slots)
        return broken(err);
    const struct dg_slot *slot = &t->g->slots[i];
    const bool pair = slot->kind == DG_SLOT_TAGS || slot->kind == DG_SLOT_RUN;
    if (pair != (s[1] == 'g'))
        return broken(err);
    return pair ? open_slot(t, i, err) : write_raw(t, slot, err);
}

/* Moves *at from a field's words to the end of its closing tag; false: it has none. */
static bool skip_field(const struct dg_extract_answer *a, size_t *at)
{
    static const char close[] = "</f>";
    const size_t found = dg_scan_find(a->s, *at, a->n, close);
    if (found < a->n)
        *at = found + strlen(close);
    return found < a->n;
}

/* Moves *at to the next tag of the answer, and *end to the byte after it; false: there is none.
 * Comments, instructions and CDATA sections are part of the words. */
static bool next_tag(const struct dg_extract_answer *a, size_t *at, size_t *end)
{
    for (; (*at = dg_scan_find(a->s, *at, a->n, "<")) < a->n; *at = *end) {
        *end = dg_xml_skip_other(a->s, *at, a->n);
        if (*end > *at)
            continue;
        *end = dg_scan_after(a->s, *at, a->n, ">");
        return true;
    }
    return false;
}

static int write_answer(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err)
{
    struct state t = {.w = w, .g = g};
    size_t text = 0;
    int rc = DG_OK;
    for (size_t at = 0, to; rc == DG_OK && next_tag(a, &at, &to); text = at = to) {
        add_text(&t, a->s + text, at - text);
        rc = write_tag(&t, a->s + at, to - at, err);
        if (rc == DG_OK && w->out->len > w->most)
            rc = too_large(err);
        if (rc == DG_OK && a->s[at + 1] == 'f' && !skip_field(a, &to))
            rc = broken(err);
    }
    if (rc != DG_OK)
        return rc;
    add_text(&t, a->s + text, a->n - text);
    return t.n_open == 0 ? DG_OK : broken(err);
}

/* ---- ranges ---- */

/* Most bytes between a range's end and the start that is moved before it. */
#define MAX_WORD 256

/* A tag that is moved: its bytes are added at byte `at`, or left out there. */
struct move {
    size_t at, slot;
    bool adds;
};

static int by_place(const void *a, const void *b)
{
    const struct move *p = a, *q = b;
    if (p->at != q->at)
        return p->at < q->at ? -1 : 1;
    if (p->adds != q->adds)
        return p->adds ? -1 : 1;
    return p->slot < q->slot ? -1 : p->slot > q->slot;
}

static bool is_space(char c)
{
    return strchr(" \t\r\n", c) != NULL;
}

/* Where a <g>, a </g> or an <x/> begins that ends at byte `at`; at: none does. */
static size_t skip_back(const char *s, size_t at, size_t least)
{
    /* comments and the like do not end with these */
    if (at < least + 4 || s[at - 1] != '>' || !strchr("\"/g", s[at - 2]))
        return at;
    for (size_t k = at - 1; k-- > least;)
        if (s[k] == '<')
            return strchr("gx", s[k + 1]) || memcmp(s + k + 1, "/g", 2) == 0 ? k : at;
    return at;
}

/* Where the word before byte `at` begins; at: there is none. */
static size_t word_before(const char *s, size_t at)
{
    const size_t least = at > MAX_WORD ? at - MAX_WORD : 0;
    size_t begin = at, before;
    while (begin > least && (is_space(s[begin - 1]) || skip_back(s, begin, least) < begin)) {
        before = skip_back(s, begin, least);
        begin = before < begin ? before : begin - 1;
    }
    if (begin == least || s[begin - 1] == '>')
        return at;
    while (begin > least && !is_space(s[begin - 1]) && s[begin - 1] != '>')
        begin--;
    while (begin < at && ((unsigned char)s[begin] & 0xC0) == 0x80)
        begin++;
    return begin;
}

/* Lists the starts of ranges that follow their ends in the answer: moves[2 * g->n_slots]. tags:
 * [g->n_slots] where each slot's tag is, or 0, 0. */
static size_t list_moves(const struct dg_segment *g, const struct dg_extract_answer *a,
    const struct dg_span *tags, struct move *moves)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_slots; i++) {
        const size_t start = g->slots[i].start;
        if (start == 0 || tags[i].end == 0 || tags[i].begin > tags[start - 1].begin)
            continue;
        moves[n++] = (struct move){word_before(a->s, tags[i].begin), start - 1, true};
        moves[n++] = (struct move){tags[start - 1].begin, start - 1, false};
    }
    qsort(moves, n, sizeof *moves, by_place);
    return n;
}

/* Find where the answer has each slot. */
static void find_tags(
    const struct dg_segment *g, const struct dg_extract_answer *a, struct dg_span *tags)
{
    for (size_t at = 0, to; next_tag(a, &at, &to); at = to) {
        const char *number = memchr(a->s + at, '"', to - at);
        const size_t i = number ? strtoul(number + 1, NULL, 10) : g->n_slots;
        if (i < g->n_slots)
            tags[i] = (struct dg_span){at, to};
    }
}

/* Append the answer with the start of each range before its end: the words that were between them
 * may have become part of others. False: no memory. */
static bool order_ranges(
    const struct dg_segment *g, const struct dg_extract_answer *a, struct dg_buffer *out)
{
    struct dg_span *tags = calloc(g->n_slots + 1, sizeof *tags);
    struct move *moves = calloc(2 * g->n_slots + 1, sizeof *moves);
    if (tags && moves) {
        find_tags(g, a, tags);
        size_t n = list_moves(g, a, tags, moves), at = 0;
        for (size_t i = 0; i < n; i++) {
            const struct dg_span *tag = &tags[moves[i].slot];
            dg_buffer_add(out, a->s + at, moves[i].at - at);
            at = moves[i].adds ? moves[i].at : tag->end;
            if (moves[i].adds)
                dg_buffer_add(out, a->s + tag->begin, tag->end - tag->begin);
        }
        dg_buffer_add(out, a->s + at, a->n - at);
    }
    const bool done = tags && moves && !out->failed;
    free(tags);
    free(moves);
    return done;
}

int dg_slots_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err)
{
    bool ranges = false;
    for (size_t i = 0; i < g->n_slots; i++)
        ranges = ranges || g->slots[i].start > 0;
    if (!ranges)
        return write_answer(w, g, a, err);
    struct dg_buffer ordered = {0};
    const int rc =
        order_ranges(g, a, &ordered)
            ? write_answer(w, g, &(struct dg_extract_answer){ordered.data, ordered.len}, err)
            : dg_error_set(err, DG_ENOMEM, "no memory for the ranges of a paragraph");
    dg_buffer_deinit(&ordered);
    return rc;
}
