#include "trainer/synthetic/filtered.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "trainer/data/clean.h"
#include "trainer/data/corpus.h"
#include "trainer/progress.h"
#include "trainer/synthetic/growing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct dg_filtered_options *o;
    struct dg_bulk *forward, *back;
    struct dg_growing *scores_file, *kept_files;
    /* [n] scores of all pairs so far; NAN: none. */
    double *scores;
    size_t n, cap;
    /* Clean lines of the current slice; a pair that is not text has two empty sides. */
    struct dg_buffer text;
    struct dg_text_pair pairs[DG_BULK_SLICE];
    size_t n_pairs;
    struct dg_progress progress;
    uint64_t start_ns, read_before;
};

static void add_score(struct run *r, double score)
{
    r->scores = dg_alloc_grow(r->scores, r->n + 1, &r->cap, sizeof *r->scores, "scores of pairs");
    r->scores[r->n++] = score;
}

static int open_corpus(const struct run *r, struct dg_corpus **out, struct dg_error *err)
{
    const char *const paths[2] = {r->o->source, r->o->target};
    return dg_corpus_open(paths, 2, out, err);
}

/* Appends a clean side to the text; false: it is not text. */
static bool add_side(struct run *r, const struct dg_line *line)
{
    struct dg_error ignored = {0};
    enum dg_drop why = DG_KEEP;
    const size_t at = r->text.len;
    dg_alloc_check(!dg_clean_line(line->text, line->len, &r->text, &why, &ignored), "a line");
    return why == DG_KEEP && !line->cut && r->text.len > at;
}

/* Reads up to a slice of pairs; n_pairs is 0 at the end. */
static int read_slice(struct run *r, struct dg_corpus *corpus, struct dg_error *err)
{
    int got = 1;
    r->n_pairs = 0;
    dg_buffer_reset(&r->text);
    while (r->n_pairs < DG_BULK_SLICE) {
        struct dg_line lines[2];
        got = dg_corpus_next(corpus, lines, err);
        if (got <= 0)
            break;
        const size_t at = r->text.len;
        struct dg_text_pair p = {0};
        if (add_side(r, &lines[0])) {
            p.n_source = r->text.len - at;
            p.n_target = add_side(r, &lines[1]) ? r->text.len - at - p.n_source : 0;
        }
        if (!p.n_target) {
            p.n_source = 0;
            r->text.len = at;
        }
        r->pairs[r->n_pairs++] = p;
    }
    /* The buffer does not move from here on; it holds one text after another. */
    const char *text = r->text.data ? r->text.data : "";
    for (size_t i = 0; i < r->n_pairs; i++) {
        struct dg_text_pair *p = &r->pairs[i];
        p->source = text;
        p->target = text + p->n_source;
        text = p->target + p->n_target;
    }
    return got < 0 ? got : 0;
}

/* Returns nats per token; NAN if the pair has no score. */
static double cross_entropy(const struct dg_bulk_score *s)
{
    return s->tokens ? -s->logprob / (double)s->tokens : (double)NAN;
}

static int score_back(
    struct run *r, const struct dg_text_pair *pairs, size_t n, double *scores, struct dg_error *err)
{
    struct dg_text_pair turned[DG_BULK_SLICE];
    struct dg_bulk_score back[DG_BULK_SLICE];
    for (size_t i = 0; i < n; i++)
        turned[i] = (struct dg_text_pair){
            pairs[i].target, pairs[i].source, pairs[i].n_target, pairs[i].n_source};
    int rc = dg_bulk_score(r->back, turned, n, back, err);
    for (size_t i = 0; i < n && !rc; i++) {
        const double h = scores[i], b = cross_entropy(&back[i]);
        scores[i] = fabs(h - b) + (h + b) / 2;
    }
    return rc;
}

/* Scores the pairs that are text in one call, then adds every pair's score to memory and file. */
static int score_slice(struct run *r, struct dg_error *err)
{
    struct dg_text_pair pairs[DG_BULK_SLICE] = {{0}};
    struct dg_bulk_score forward[DG_BULK_SLICE];
    double scores[DG_BULK_SLICE];
    char line[32];
    size_t n = 0, at = 0;
    for (size_t i = 0; i < r->n_pairs; i++)
        if (r->pairs[i].n_source)
            pairs[n++] = r->pairs[i];
    int rc = dg_bulk_score(r->forward, pairs, n, forward, err);
    for (size_t i = 0; i < n && !rc; i++)
        scores[i] = cross_entropy(&forward[i]);
    if (!rc && r->back)
        rc = score_back(r, pairs, n, scores, err);
    for (size_t i = 0; i < r->n_pairs && !rc; i++) {
        const double score = r->pairs[i].n_source ? scores[at++] : (double)NAN;
        add_score(r, score);
        snprintf(line, sizeof line, isnan(score) ? "-" : "%.6f", score);
        /* Round as in the file, so that a run that was stopped continues with the same scores. */
        r->scores[r->n - 1] = isnan(score) ? score : strtod(line, NULL);
        rc = dg_growing_line(r->scores_file, 0, line, strlen(line), err);
    }
    return rc;
}

static int save(struct run *r, struct dg_error *err)
{
    struct dg_json *state = dg_json_new_object();
    dg_json_set_int(state, "read", (int64_t)r->n);
    return dg_growing_save_take(r->scores_file, state, err);
}

static void show(struct run *r)
{
    char done[32], line[120];
    if (!dg_progress_due(&r->progress))
        return;
    dg_progress_count(r->n, done);
    snprintf(line, sizeof line, "scoring  %s pairs  %.0f pairs/s", done,
        (double)(r->n - r->read_before) * 1e9 / (double)(dg_clock_ns() - r->start_ns));
    dg_progress_draw(&r->progress, line);
}

/* Loads the scores that an earlier call wrote. */
static int load_scores(struct run *r, uint64_t n, struct dg_error *err)
{
    struct dg_corpus_lines *lines = NULL;
    struct dg_line line;
    char *path =
        dg_alloc_print("%s%s", r->o->out_scores, dg_growing_is_done(r->scores_file) ? "" : ".part");
    int got = 1, rc = n ? dg_corpus_lines_open(path, &lines, err) : 0;
    while (!rc && r->n < n && (got = dg_corpus_lines_next(lines, &line, err)) > 0)
        /* "-" is no score; "-0.000000" is one. */
        add_score(r, line.len == 1 && line.text[0] == '-' ? (double)NAN : strtod(line.text, NULL));
    if (!rc && got < 0)
        rc = got;
    if (!rc && r->n < n)
        rc = dg_error_set(err, DG_EFORMAT, "%s has fewer lines than it should", path);
    dg_corpus_lines_close(lines);
    free(path);
    return rc;
}

static int score_all(struct run *r, struct dg_error *err)
{
    struct dg_corpus *corpus = NULL;
    struct dg_line lines[2];
    int got = 1, rc = open_corpus(r, &corpus, err);
    for (size_t i = 0; i < r->n && !rc && got > 0; i++)
        got = dg_corpus_next(corpus, lines, err);
    if (!rc && got < 0)
        rc = got;
    r->start_ns = dg_clock_ns();
    r->read_before = r->n;
    for (r->n_pairs = 1; !rc && r->n_pairs;) {
        if (r->o->stop && *r->o->stop)
            rc = dg_error_set(
                err, DG_ECANCELED, "stopped after %zu pairs; the same command continues", r->n);
        if (!rc)
            rc = read_slice(r, corpus, err);
        if (!rc && r->n_pairs)
            rc = score_slice(r, err);
        if (!rc)
            rc = save(r, err);
        show(r);
    }
    dg_progress_clear(&r->progress);
    dg_corpus_close(corpus);
    return rc ? rc : dg_growing_finish(r->scores_file, err);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Finds the score of the last pair to keep, among those that have one. */
static void find_limit(const struct run *r, struct dg_filtered *out)
{
    double *sorted = dg_alloc(r->n + 1, sizeof *sorted, "scores of pairs");
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (!isnan(r->scores[i]))
            sorted[n++] = r->scores[i];
    qsort(sorted, n, sizeof *sorted, by_value);
    const size_t keep = (size_t)ceil(r->o->keep * (double)n);
    out->read = r->n;
    out->unscored = r->n - n;
    out->limit = keep ? sorted[keep - 1] : -HUGE_VAL;
    free(sorted);
}

/* Counts the pairs on both sides of the limit. */
static void sum_up(const struct run *r, struct dg_filtered *out)
{
    double kept = 0, dropped = 0;
    for (size_t i = 0; i < r->n; i++) {
        const double score = r->scores[i];
        if (score <= out->limit) {
            kept += score;
            out->kept++;
        } else if (!isnan(score)) {
            dropped += score;
        }
    }
    const uint64_t n_dropped = out->read - out->unscored - out->kept;
    out->mean_kept = out->kept ? kept / (double)out->kept : 0;
    out->mean_dropped = n_dropped ? dropped / (double)n_dropped : 0;
}

/* Writes the pairs within the limit. */
static int write_pairs(const struct run *r, double limit, struct dg_error *err)
{
    struct dg_corpus *corpus = NULL;
    struct dg_line lines[2];
    int rc = open_corpus(r, &corpus, err);
    for (size_t i = 0; i < r->n && !rc; i++) {
        const int got = dg_corpus_next(corpus, lines, err);
        if (got <= 0)
            rc = got < 0 ? got
                         : dg_error_set(err, DG_EIO, "%s changed while it was read", r->o->source);
        for (size_t side = 0; side < 2 && !rc && r->scores[i] <= limit; side++)
            rc = dg_growing_line(r->kept_files, side, lines[side].text, lines[side].len, err);
    }
    if (!rc)
        rc = dg_growing_save_take(r->kept_files, dg_json_new_object(), err);
    dg_corpus_close(corpus);
    return rc;
}

/* Lists what determines the scores. */
static int list_made_of(const struct run *r, struct dg_json **out, struct dg_error *err)
{
    struct dg_json *j = *out = dg_json_new_object();
    const struct dg_bulk *models[2] = {r->forward, r->back};
    for (size_t i = 0; i < 2; i++)
        dg_json_set_string(j, i ? "back" : "forward",
            models[i] ? dg_bundle_version(dg_translator_bundle(dg_bulk_translator(models[i])))
                      : "");
    dg_json_set_string(j, "from", r->o->forward.source_lang ? r->o->forward.source_lang : "");
    dg_json_set_string(j, "to", r->o->forward.target_lang ? r->o->forward.target_lang : "");
    int rc = dg_growing_add_input(j, "source", r->o->source, err);
    return rc ? rc : dg_growing_add_input(j, "target", r->o->target, err);
}

/* Opens all outputs before anything is scored. *state: as dg_growing_open gives it, [0] of the
 * scores, [1] of the kept pairs, which are written all at once before theirs is saved. */
static int open_outputs(struct run *r, const struct dg_json *state[2], struct dg_error *err)
{
    const char *const kept[2] = {r->o->out_source, r->o->out_target};
    struct dg_json *about = NULL;
    int rc = list_made_of(r, &about, err);
    if (!rc)
        rc = dg_growing_open(&r->o->out_scores, 1, about, &r->scores_file, &state[0], err);
    dg_json_set_real(about, "keep", r->o->keep);
    if (!rc)
        rc = dg_growing_open(kept, 2, about, &r->kept_files, &state[1], err);
    dg_json_free(about);
    return rc;
}

int dg_filtered_write(
    const struct dg_filtered_options *o, struct dg_filtered *out, struct dg_error *err)
{
    const struct dg_json *state[2] = {NULL, NULL};
    struct run *r = dg_alloc(1, sizeof *r, "pairs to filter");
    memset(out, 0, sizeof *out);
    r->o = o;
    dg_buffer_init(&r->text);
    dg_progress_init(&r->progress, !o->quiet);
    int rc = dg_bulk_open(&o->forward, 0, &r->forward, err);
    if (!rc && o->back.bundle)
        rc = dg_bulk_open(&o->back, 0, &r->back, err);
    if (!rc)
        rc = open_outputs(r, state, err);
    if (!rc)
        rc = load_scores(r, (uint64_t)dg_json_int(dg_json_get(state[0], "read")), err);
    if (!rc && !dg_growing_is_done(r->scores_file))
        rc = score_all(r, err);
    if (!rc) {
        find_limit(r, out);
        sum_up(r, out);
    }
    if (!rc && !state[1])
        rc = write_pairs(r, out->limit, err);
    if (!rc && !dg_growing_is_done(r->kept_files))
        rc = dg_growing_finish(r->kept_files, err);
    dg_growing_close(r->kept_files);
    dg_growing_close(r->scores_file);
    dg_bulk_close(r->forward);
    dg_bulk_close(r->back);
    dg_buffer_deinit(&r->text);
    free(r->scores);
    free(r);
    return rc;
}
