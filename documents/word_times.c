#include "documents/word_times.h"

#include "text/sentences/line_breaks.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A tag s[begin, end). */
struct tag {
    size_t begin, end;
    enum { TIME, CLASS, OTHER } kind;
};

/* Finds the next tag from `at` on; false: there is none. */
static bool next_tag(const char *s, size_t at, size_t end, struct tag *t)
{
    const char *open = at < end ? memchr(s + at, '<', end - at) : NULL;
    const char *close = open ? memchr(open, '>', (size_t)(s + end - open)) : NULL;
    if (!open)
        return false;
    *t = (struct tag){(size_t)(open - s), close ? (size_t)(close - s) + 1 : end, OTHER};
    const size_t name = t->begin + 1, n = t->end - name;
    if (close && isdigit((unsigned char)s[name]) &&
        strspn(s + name, "0123456789:.") == (size_t)(close - s) - name)
        t->kind = TIME;
    else if (close && ((n >= 2 && s[name] == 'c' && strchr(">.", s[name + 1])) ||
                          (n == 3 && memcmp(s + name, "/c", 2) == 0)))
        t->kind = CLASS;
    return true;
}

bool dg_word_times_are(const char *s, size_t begin, size_t end)
{
    struct tag t;
    bool any = false;
    for (size_t at = begin; next_tag(s, at, end, &t); at = t.end) {
        if (t.kind == OTHER)
            return false;
        any = any || t.kind == TIME;
    }
    return any;
}

/* Appends s[begin, end) without its tags. */
static void add_words(const char *s, size_t begin, size_t end, struct dg_buffer *out)
{
    struct tag t;
    for (; next_tag(s, begin, end, &t); begin = t.end)
        dg_buffer_add(out, s + begin, t.begin - begin);
    dg_buffer_add(out, s + begin, end - begin);
}

int dg_word_times_read(
    struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end, struct dg_error *err)
{
    struct dg_buffer words = {0};
    int rc = DG_OK;
    for (size_t at = begin, next; at < end && rc == DG_OK; at = next) {
        const size_t to = dg_scan_find(p->s, at, end, "\n");
        next = to < end ? to + 1 : end;
        const struct dg_segment like = {.begin = dg_scan_skip_space(p->s, at, to),
            .end = dg_scan_trim_space(p->s, at, to),
            .writing = DG_WRITE_WORD_TIMES};
        if (like.begin >= like.end)
            continue;
        dg_buffer_reset(&words);
        add_words(p->s, like.begin, like.end, &words);
        if (words.failed || dg_utf8_has_letter(words.data, words.len))
            rc = dg_segment_add_text(x, p, like, &words, err);
    }
    dg_buffer_deinit(&words);
    return rc;
}

/* An answer that is being written. */
struct writing {
    const struct dg_extract_answer *a;
    /* [n] where it may be parted; `at`: the first that is left */
    struct dg_line_break *breaks;
    size_t n, at;
    /* bytes of the answer that are written */
    size_t written;
    /* a <c> is open */
    bool open;
    struct dg_buffer *out;
};

/* Writes the answer up to byte `end`. */
static void write_until(struct writing *w, size_t end)
{
    dg_buffer_add(w->out, w->a->s + w->written, end - w->written);
    dg_buffer_adds(w->out, w->open ? "</c>" : "");
    w->written = end;
    w->open = false;
}

/* Finds the place of a time before which `said` of n bytes are, after the times that are written;
 * false: no words are left for it. */
static bool find_place(struct writing *w, size_t said, size_t n, size_t *end)
{
    const size_t want = said * w->a->n / (n ? n : 1);
    *end = 0;
    if (said == 0)
        return w->written == 0 && w->a->n > 0;
    while (w->at < w->n && w->breaks[w->at].end <= w->written)
        w->at++;
    while (w->at + 1 < w->n && w->breaks[w->at + 1].end <= want)
        w->at++;
    if (w->at == w->n || w->breaks[w->at].next >= w->a->n)
        return false;
    *end = w->breaks[w->at++].end;
    return true;
}

/* Writes a time, s[t->begin, t->end), and the <c> that follows it there. */
static void write_time(struct writing *w, const char *s, const struct tag *t, size_t end)
{
    struct tag after;
    dg_buffer_add(w->out, s + t->begin, t->end - t->begin);
    if (!next_tag(s, t->end, end, &after) || after.begin != t->end || after.kind != CLASS ||
        s[after.begin + 1] != 'c')
        return;
    dg_buffer_add(w->out, s + after.begin, after.end - after.begin);
    w->open = true;
}

int dg_word_times_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err)
{
    const char *s = w->part->s;
    struct writing out = {.a = a, .out = w->out};
    struct tag t;
    int rc = dg_line_breaks(a->s, a->n, &out.breaks, &out.n, err);
    size_t said = 0, end;
    for (size_t at = g->begin; rc == DG_OK && next_tag(s, at, g->end, &t); at = t.end) {
        said += t.begin - at;
        if (t.kind == TIME && find_place(&out, said, g->n, &end)) {
            write_until(&out, end);
            write_time(&out, s, &t, g->end);
        }
    }
    if (rc == DG_OK)
        write_until(&out, a->n);
    free(out.breaks);
    return rc;
}
