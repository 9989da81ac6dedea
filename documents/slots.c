/* Writes <g i="2">words</g>, <x i="3"/> and <f i="4">what it shows</f> of an answer as slots 2, 3
 * and 4 say. If the file has runs,
 * each text gets a run of its own, with the properties of the innermost <g> that has some. */
#include "documents/slots.h"

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

static void open_run(struct state *t, size_t begin, size_t end)
{
    add_tag(t, "<", t->g->names->run);
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

/* Skips one character of the words, or a comment, an instruction or a CDATA section, which are part
 * of them; `at`: a tag begins there. */
static size_t skip_words(const char *s, size_t at, size_t n)
{
    static const char *const kinds[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    if (s[at] != '<')
        return at + 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t begin = strlen(kinds[i][0]), end = strlen(kinds[i][1]);
        if (n - at < begin || memcmp(s + at, kinds[i][0], begin) != 0)
            continue;
        const char *found = memmem(s + at + begin, n - at - begin, kinds[i][1], end);
        return found ? (size_t)(found - s) + end : n;
    }
    return at;
}

/* Moves *at from a field's words to the end of its closing tag; false: it has none. */
static bool skip_field(const struct dg_extract_answer *a, size_t *at)
{
    static const char close[] = "</f>";
    const char *found = memmem(a->s + *at, a->n - *at, close, strlen(close));
    if (found)
        *at = (size_t)(found - a->s) + strlen(close);
    return found != NULL;
}

int dg_slots_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err)
{
    struct state t = {.w = w, .g = g};
    size_t text = 0;
    int rc = DG_OK;
    for (size_t at = 0; at < a->n && rc == DG_OK;) {
        const size_t words = skip_words(a->s, at, a->n);
        if (words > at) {
            at = words;
            continue;
        }
        const char *end = memchr(a->s + at, '>', a->n - at);
        size_t to = end ? (size_t)(end - a->s) + 1 : a->n;
        add_text(&t, a->s + text, at - text);
        rc = write_tag(&t, a->s + at, to - at, err);
        if (rc == DG_OK && a->s[at + 1] == 'f' && !skip_field(a, &to))
            rc = broken(err);
        text = at = to;
    }
    if (rc != DG_OK)
        return rc;
    add_text(&t, a->s + text, a->n - text);
    return t.n_open == 0 ? DG_OK : broken(err);
}
