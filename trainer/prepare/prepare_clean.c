/* DESIGN. Blocks of lines are read by the caller, cleaned in parallel by the pool, and written in
 * order by the caller: the outcome does not depend on the number of threads, and memory is one
 * block. */
#include "trainer/prepare/prepare_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "text/detect/cld2.h"
#include "text/detect/langcheck.h"
#include "text/utf8.h"
#include "trainer/data/corpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_PAIRS = 16384, TASK_PAIRS = 256, TASKS = BLOCK_PAIRS / TASK_PAIRS };
#define BLOCK_BYTES ((size_t)8 << 20)

struct place {
    size_t begin, len;
};

struct line_pair {
    /* source and target in block.text and, once clean, in the task's buffer */
    struct place raw[2], clean[2];
    uint32_t domain;
    bool cut, swapped;
    /* of source and target */
    bool columns[2];
    enum dg_drop why;
    struct dg_hash128 hash;
};

struct task {
    /* clean lines */
    struct dg_buffer text;
    struct dg_error err;
};

struct block {
    struct dg_prepare_job *job;
    /* index in the recipe's data.pairs */
    size_t pair;
    const struct dg_recipe_file *file;
    /* of the file, in job->counts */
    struct dg_prepare_count *count;
    /* lines as read */
    struct dg_buffer text;
    /* [BLOCK_PAIRS] */
    struct line_pair *pairs;
    /* [TASKS] */
    struct task *tasks;
    size_t n;
    /* NULL: duplicates stay */
    struct dg_dedup *dedup;
    /* pairs read so far, all files */
    uint64_t done;
};

enum dg_drop dg_prepare_held_out_as(
    const struct dg_prepare_job *j, const char *s, size_t s_len, const char *t, size_t t_len)
{
    if (j->r->cleaning.remove_overlap &&
        (dg_hash_set_has(j->held_out, dg_prepare_line_hash(s, s_len)) ||
            dg_hash_set_has(j->held_out, dg_prepare_line_hash(t, t_len))))
        return DG_DROP_OVERLAP;
    if (j->near && (dg_near_copies_has(j->near, s, s_len) || dg_near_copies_has(j->near, t, t_len)))
        return DG_DROP_NEAR_COPY;
    return DG_KEEP;
}

/* Hashes source and target together: the source's hash seeds the target's. */
static struct dg_hash128 pair_hash(
    size_t pair, const char *s, size_t s_len, const char *t, size_t t_len)
{
    struct dg_hash128 a = dg_hash128(s, s_len, pair), b = dg_hash128(t, t_len, a.low);
    return (struct dg_hash128){a.high ^ b.high, b.low};
}

/* Cleans one side to the end of the task's buffer. */
static enum dg_drop clean_side(
    struct block *b, struct task *t, const struct place *raw, struct place *clean)
{
    enum dg_drop why;
    clean->begin = t->text.len;
    if (dg_clean_line(b->text.data + raw->begin, raw->len, &t->text, &why, &t->err))
        return DG_DROP_UTF8; /* the task's error is reported */
    clean->len = t->text.len - clean->begin;
    return why;
}

bool dg_prepare_is_swapped(
    const struct dg_recipe_pair *pair, const char *s, size_t s_len, const char *t, size_t t_len)
{
    return !dg_langcheck_wrong(s, s_len, pair->target_lang) &&
           !dg_langcheck_wrong(t, t_len, pair->source_lang);
}

static void clean_one(struct block *b, struct task *t, struct line_pair *p)
{
    const struct dg_recipe_pair *pair = &b->job->r->data.pairs[b->pair];
    size_t start = t->text.len;
    p->why = DG_KEEP;
    for (int side = 0; side < 2; side++) {
        p->columns[side] =
            dg_prepare_has_columns(b->text.data + p->raw[side].begin, p->raw[side].len);
        if (p->why == DG_KEEP)
            p->why = clean_side(b, t, &p->raw[side], &p->clean[side]);
    }
    if (p->why == DG_KEEP && p->cut)
        p->why = DG_DROP_LONG;
    if (p->why == DG_KEEP) {
        /* text.data can be NULL only if both sides are empty */
        const char *text = t->text.data ? t->text.data : "";
        const char *s = text + p->clean[0].begin, *g = text + p->clean[1].begin;
        const size_t s_len = p->clean[0].len, g_len = p->clean[1].len;
        p->why = dg_clean_pair(&b->job->r->cleaning, pair, s, s_len, g, g_len);
        if (p->why == DG_KEEP)
            p->why = dg_prepare_held_out_as(b->job, s, s_len, g, g_len);
        p->swapped = p->why == DG_DROP_LANGUAGE && dg_prepare_is_swapped(pair, s, s_len, g, g_len);
        p->hash = pair_hash(b->pair, s, s_len, g, g_len);
    }
    if (p->why != DG_KEEP) /* free the space of a dropped pair */
        t->text.len = start;
}

static void run_task(void *arg, size_t i)
{
    struct block *b = arg;
    struct task *t = &b->tasks[i];
    dg_buffer_reset(&t->text);
    size_t end = (i + 1) * TASK_PAIRS < b->n ? (i + 1) * TASK_PAIRS : b->n;
    for (size_t k = i * TASK_PAIRS; k < end && !t->err.code; k++)
        clean_one(b, t, &b->pairs[k]);
}

int dg_prepare_domain(
    struct dg_prepare_job *j, const char *label, size_t n, uint32_t *out, struct dg_error *err)
{
    for (size_t i = 0; i < j->n_domains; i++)
        if (strlen(j->domains[i]) == n && memcmp(j->domains[i], label, n) == 0) {
            *out = (uint32_t)i;
            return 0;
        }
    if (dg_utf8_check(label, n, NULL))
        return dg_error_set(err, DG_EFORMAT, "the label is not UTF-8");
    if (j->n_domains == DG_MAX_DOMAINS || n > 200)
        return dg_error_set(err, DG_ELIMIT,
            "more than %d domains, or a label of more than 200 bytes", DG_MAX_DOMAINS);
    j->domains = dg_alloc_more(j->domains, j->n_domains + 1, sizeof *j->domains, "domains");
    j->domains[j->n_domains] = dg_alloc_print("%.*s", (int)n, label);
    *out = (uint32_t)j->n_domains++;
    return 0;
}

/* Reads lines into the block until it is full: 1 if there may be more, 0 at the end, negative on
 * error. */
static int read_block(struct block *b, struct dg_corpus *c, struct dg_error *err)
{
    dg_buffer_reset(&b->text);
    b->n = 0;
    while (b->n < BLOCK_PAIRS && b->text.len < BLOCK_BYTES) {
        struct dg_line lines[3];
        struct line_pair *p = &b->pairs[b->n];
        int got = dg_corpus_next(c, lines, err);
        if (got <= 0)
            return got;
        const char *labels = b->file->domains, *label = labels[0] ? lines[2].text : b->file->domain;
        int rc = dg_prepare_domain(
            b->job, label, labels[0] ? lines[2].len : strlen(label), &p->domain, err);
        if (rc) {
            dg_error_prefix(err, "%s line %" PRIu64, labels[0] ? labels : b->file->source,
                b->count->read + b->n + 1);
            return rc;
        }
        for (int side = 0; side < 2; side++) {
            p->raw[side] = (struct place){b->text.len, lines[side].len};
            dg_buffer_add(&b->text, lines[side].text, lines[side].len);
        }
        p->cut = lines[0].cut || lines[1].cut;
        p->swapped = false;
        b->n++;
        dg_alloc_check(!b->text.failed, "a block of lines");
    }
    return 1;
}

/* Writes what the tasks kept, in order, to the file of pairs. */
static int write_block(struct block *b, struct dg_error *err)
{
    struct dg_prepare_job *j = b->job;
    struct dg_prepare_count *count = b->count;
    int rc = 0;
    for (size_t k = 0; k < b->n && rc == 0; k++) {
        struct line_pair *p = &b->pairs[k];
        struct task *t = &b->tasks[k / TASK_PAIRS];
        if (t->err.code)
            return dg_error_set(err, t->err.code, "%s", t->err.message);
        double weight = b->file->weight * dg_recipe_domain_weight(j->r, j->domains[p->domain]);
        if (p->why == DG_KEEP && weight <= 0)
            p->why = DG_DROP_WEIGHT;
        count->read++;
        for (int side = 0; side < 2; side++)
            count->columns[side] += p->columns[side];
        if (p->why != DG_KEEP) {
            const char *text = b->text.data ? b->text.data : "";
            const char *const raw[2] = {text + p->raw[0].begin, text + p->raw[1].begin};
            const size_t len[2] = {p->raw[0].len, p->raw[1].len};
            count->by[p->why]++;
            count->swapped += p->swapped;
            dg_prepare_note_example(count, p->why, raw, len);
            continue;
        }
        struct dg_pair out = {.pair = (uint32_t)b->pair,
            .file = (uint32_t)(count - j->counts),
            .domain = p->domain,
            .weight = (float)weight,
            .back_translated = (uint32_t)b->file->back_translated,
            .source_len = (uint32_t)p->clean[0].len,
            .target_len = (uint32_t)p->clean[1].len,
            .source = t->text.data + p->clean[0].begin,
            .target = t->text.data + p->clean[1].begin};
        rc = dg_pairs_add(j->pairs, &out, err);
        if (rc == 0 && b->dedup)
            rc = dg_dedup_add(b->dedup, p->hash, err);
    }
    return rc;
}

static void show(struct block *b)
{
    char count[32], line[160];
    b->done += b->n;
    if (!dg_progress_due(&b->job->progress))
        return;
    dg_progress_count(b->done, count);
    snprintf(line, sizeof line, "cleaning  %s pairs  %s", count, b->file->source);
    dg_progress_draw(&b->job->progress, line);
}

static int clean_file(struct block *b, struct dg_error *err)
{
    struct dg_prepare_job *j = b->job;
    struct dg_corpus *c = NULL;
    char *paths[3] = {dg_recipe_path(j->r, b->file->source), dg_recipe_path(j->r, b->file->target),
        b->file->domains[0] ? dg_recipe_path(j->r, b->file->domains) : NULL};
    int more = 1, rc = dg_corpus_open((const char *const *)paths, 3, &c, err);
    while (rc == 0 && more) {
        rc = dg_prepare_check(j, err);
        more = rc ? rc : read_block(b, c, err);
        if (more < 0) {
            rc = more;
            break;
        }
        dg_pool_run(j->pool, (b->n + TASK_PAIRS - 1) / TASK_PAIRS, run_task, b);
        rc = write_block(b, err);
        show(b);
    }
    dg_corpus_close(c);
    for (size_t i = 0; i < 3; i++)
        free(paths[i]);
    return rc;
}

static void warn_unknown_languages(const struct dg_recipe *r)
{
    for (size_t i = 0; i < r->data.n_directions; i++)
        if (!dg_cld2_knows(r->data.directions[i].target_lang))
            dg_log(DG_LOG_WARN, "language_not_checked lang=%s reason=\"unknown to the detector\"",
                r->data.directions[i].target_lang);
}

static void leave_out_duplicate(void *pairs, uint64_t item)
{
    dg_pairs_leave_out(pairs, item, DG_DROP_DUPLICATE);
}

int dg_prepare_clean(struct dg_prepare_job *j, struct dg_error *err)
{
    struct block b = {.job = j, .count = j->counts};
    int rc = j->r->cleaning.deduplicate ? dg_dedup_open(j->o->dir, &b.dedup, err) : 0;
    if (j->r->cleaning.language_check)
        warn_unknown_languages(j->r);
    dg_buffer_init(&b.text);
    b.pairs = dg_alloc(BLOCK_PAIRS, sizeof *b.pairs, "a block of pairs");
    b.tasks = dg_alloc(TASKS, sizeof *b.tasks, "a block of pairs");
    for (b.pair = 0; b.pair < j->r->data.n_pairs && rc == 0; b.pair++) {
        const struct dg_recipe_pair *p = &j->r->data.pairs[b.pair];
        for (size_t i = 0; i < p->n_train && rc == 0; i++, b.count++) {
            b.file = &p->train[i];
            rc = clean_file(&b, err);
            if (rc == 0)
                rc = dg_prepare_faults(j->r, b.file, b.count, err);
        }
    }
    if (rc == 0 && b.dedup)
        rc = dg_dedup_finish(b.dedup, leave_out_duplicate, j->pairs, err);
    dg_dedup_close(b.dedup);
    for (size_t i = 0; i < TASKS; i++)
        dg_buffer_deinit(&b.tasks[i].text);
    free(b.tasks);
    free(b.pairs);
    dg_buffer_deinit(&b.text);
    return rc;
}
