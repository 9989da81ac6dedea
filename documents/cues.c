#include "documents/cues.h"

#include "documents/declared_language.h"
#include "documents/kinds.h"
#include "documents/word_times.h"
#include "text/format/srt.h"
#include "text/sentences/line_breaks.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_PAUSE 2.0 /* seconds between cues of one sentence */
#define MOST_CUES 8
/* Maximum characters of a line, as usual in broadcasting; a cue has two such lines. */
#define LINE 42

struct cue {
    /* seconds */
    double from, to;
    /* first byte of the line of times */
    size_t head;
    /* its lines of text */
    size_t begin, end;
    size_t next;
    size_t lines;
};

/* Adds the lines of text that follow a cue's times. */
static void read_lines(const char *s, size_t n, struct cue *c)
{
    for (size_t end; c->next < n; c->next = end < n ? end + 1 : n) {
        end = dg_scan_find(s, c->next, n, "\n");
        if (dg_srt_ends_cue(s, n, c->next))
            return;
        if (dg_scan_skip_space(s, c->next, end) == end)
            continue;
        c->begin = c->lines++ ? c->begin : c->next;
        c->end = dg_scan_trim_space(s, c->next, end);
    }
}

/* The next cue from byte `at` on; false: there is none. */
static bool next_cue(const char *s, size_t n, size_t at, struct cue *c)
{
    for (size_t end; at < n; at = end + 1) {
        end = dg_scan_find(s, at, n, "\n");
        if (!dg_srt_times(s, at, end, &c->from, &c->to))
            continue;
        c->head = at;
        c->begin = c->end = c->next = end < n ? end + 1 : n;
        c->lines = 0;
        read_lines(s, n, c);
        return true;
    }
    return false;
}

/* False if the cue has signs with a meaning beyond words (tags, places, speakers): such a cue is a
 * text by itself. */
static bool is_plain(const char *s, const struct cue *c)
{
    for (size_t i = c->begin; i < c->end; i++)
        if (strchr("<{[(", s[i]) || (s[i] == '-' && (i == c->begin || s[i - 1] == '\n')))
            return false;
    /* 0xE2: first byte of a dash or a music note */
    return c->end > c->begin && (unsigned char)s[c->begin] != 0xE2;
}

/* True if b continues a's sentence. */
static bool goes_on(const char *s, const struct cue *a, const struct cue *b)
{
    size_t end = a->end;
    if (!is_plain(s, a) || !is_plain(s, b) || b->from - a->to > LONGEST_PAUSE || b->from < a->from)
        return false;
    int32_t last = dg_scan_prev(s, a->begin, &end);
    size_t dots = a->end - a->begin >= 3 ? a->end - 3 : a->begin;
    bool trails = last == 0x2026 || memcmp(s + dots, "...", 3) == 0;
    return (!dg_scan_is_terminator(last) || trails) && last != '"' && last != ':' &&
           dg_scan_is_lower(dg_scan_peek(s, b->begin, b->end));
}

/* Adds one cue with its times, as the translator expects subtitles. */
static int add_cue(
    struct dg_extract *x, struct dg_extract_part *p, const struct cue *c, struct dg_error *err)
{
    if (!dg_utf8_has_letter(p->s + c->begin, c->end - c->begin))
        return DG_OK;
    if (dg_word_times_are(p->s, c->begin, c->end))
        return dg_word_times_read(x, p, c->begin, c->end, err);
    const struct dg_segment like = {.begin = c->head, .end = c->end, .format = DG_FORMAT_SRT};
    return dg_segment_add_own(x, p, like, err);
}

static int add_sentence(struct dg_extract *x, struct dg_extract_part *p, const struct cue *cues,
    size_t n, struct dg_error *err)
{
    struct dg_segment like = {
        .begin = cues[0].begin, .end = cues[n - 1].end, .writing = DG_WRITE_CUES};
    struct dg_buffer text = {0};
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            dg_buffer_adds(&text, " ");
        for (size_t at = cues[i].begin, to; at < cues[i].end; at = to + 1) {
            to = dg_scan_find(p->s, at, cues[i].end, "\n");
            size_t words = dg_scan_skip_space(p->s, at, to);
            if (at > cues[i].begin)
                dg_buffer_adds(&text, " ");
            dg_buffer_add(&text, p->s + words, dg_scan_trim_space(p->s, words, to) - words);
        }
    }
    int rc = DG_OK;
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = dg_slot_add(&like,
            (struct dg_slot){.kind = DG_SLOT_CUE,
                .begin = cues[i].begin,
                .end = cues[i].end,
                .close = cues[i].lines,
                .seconds = cues[i].to - cues[i].from},
            err);
    if (rc == DG_OK)
        rc = dg_segment_add_text(x, p, like, &text, err);
    if (rc != DG_OK)
        free(like.slots);
    dg_buffer_deinit(&text);
    return rc;
}

/* Adds the language in the head of WebVTT, as YouTube writes it: "Language: en". */
static int add_language(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    static const char field[] = "Language:";
    const size_t n = strlen(field);
    size_t at = dg_utf8_bom(p->s, p->n), end;
    if (!dg_scan_begins(p->s, at, p->n, "WEBVTT"))
        return DG_OK;
    for (; at < p->n; at = end + 1) {
        end = dg_scan_find(p->s, at, p->n, "\n");
        if (dg_scan_skip_space(p->s, at, end) == end) /* the head is over */
            break;
        if (end - at <= n || memcmp(p->s + at, field, n) != 0)
            continue;
        return dg_declared_language_add(x, p, at + n, end, err);
    }
    return DG_OK;
}

int dg_read_subtitles(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct cue cues[MOST_CUES];
    size_t n = 0, at = 0;
    bool more = next_cue(p->s, p->n, at, &cues[0]);
    int rc = add_language(x, p, err);
    while (more && rc == DG_OK) {
        struct cue next;
        n = 1;
        while ((more = next_cue(p->s, p->n, cues[n - 1].next, &next)) && n < MOST_CUES &&
               goes_on(p->s, &cues[n - 1], &next))
            cues[n++] = next;
        rc = n > 1 ? add_sentence(x, p, cues, n, err) : add_cue(x, p, &cues[0], err);
        cues[0] = next;
    }
    return rc;
}

/* ---- the answer ---- */

struct lines {
    const char *s;
    /* [n] where a line may end */
    struct dg_line_break *breaks;
    size_t n;
};

static bool is_clause_mark(int32_t c)
{
    return c == ',' || c == ';' || c == ':' || c == 0x3001 || c == 0xFF0C || c == 0xFF1A ||
           c == 0xFF1B || dg_scan_is_terminator(c);
}

/* Cost of ending a cue at byte `end` when the ideal position is `want`. */
static double cost(const char *s, size_t end, double want, double whole)
{
    double far = fabs((double)end - want) / (whole > 0 ? whole : 1);
    return is_clause_mark(dg_scan_prev(s, 0, &end)) ? far - 0.08 : far;
}

/* The end of the next cue's words, from break `first` on: one that leaves words for each of the
 * cues_left following cues, or the first if there are too few. l->n: no break is left. */
static size_t cut(const struct lines *l, size_t first, double want, size_t cues_left, double whole)
{
    size_t best = first;
    double least = 1e9;
    for (size_t k = first; k + cues_left <= l->n; k++) {
        double c = cost(l->s, l->breaks[k].end, want, whole);
        if (c < least) {
            least = c;
            best = k;
        }
    }
    return best;
}

static size_t distance(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* Writes a cue's words s[begin, end), in two lines if one would be too long or the cue had two. */
static void write_lines(const struct lines *l, const size_t words[2], size_t lines,
    const char *line_end_bytes, struct dg_buffer *out)
{
    const size_t begin = words[0], end = words[1], sum = begin + end;
    const struct dg_line_break *middle = NULL;
    if (lines > 1 || dg_utf8_count(l->s + begin, end - begin) > LINE)
        for (const struct dg_line_break *b = l->breaks; b < l->breaks + l->n; b++)
            if (b->end > begin && b->next < end &&
                (!middle || distance(2 * b->end, sum) < distance(2 * middle->end, sum)))
                middle = b;
    dg_buffer_add(out, l->s + begin, (middle ? middle->end : end) - begin);
    if (!middle)
        return;
    dg_buffer_adds(out, line_end_bytes);
    dg_buffer_add(out, l->s + middle->next, end - middle->next);
}

int dg_cues_write(struct dg_writer *w, const struct dg_segment *g,
    const struct dg_extract_answer *a, struct dg_error *err)
{
    const char *s = w->part->s;
    const char *end = memchr(s, '\n', w->part->n);
    const char *line = end && end > s && end[-1] == '\r' ? "\r\n" : "\n";
    double seconds = 0, said = 0, share = 0;
    struct lines l = {.s = a->s};
    int rc = dg_line_breaks(a->s, a->n, &l.breaks, &l.n, err);
    for (size_t i = 0; i < g->n_slots; i++) {
        seconds += g->slots[i].seconds;
        said += (double)(g->slots[i].end - g->slots[i].begin);
    }
    for (size_t i = 0, from = 0, k = 0; i < g->n_slots && rc == DG_OK; i++) {
        const struct dg_slot *c = &g->slots[i];
        const size_t left = g->n_slots - 1 - i;
        share += (double)(c->end - c->begin) / (2 * said);
        share += seconds > 0 ? c->seconds / (2 * seconds) : 0.5 / (double)g->n_slots;
        k = left ? cut(&l, k, share * (double)a->n, left, (double)a->n) : l.n;
        const struct dg_line_break b = k < l.n ? l.breaks[k++] : (struct dg_line_break){a->n, a->n};
        write_lines(&l, (size_t[2]){from, b.end}, (size_t)c->close, line, w->out);
        from = b.next;
        if (left)
            dg_buffer_add(w->out, s + c->end, g->slots[i + 1].begin - c->end);
    }
    free(l.breaks);
    return rc;
}
