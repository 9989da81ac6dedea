#include "trainer/score/evaluate.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "trainer/data/corpus.h"
#include "trainer/recipe/recipe.h"
#include "trainer/score/bulk.h"

#include <stdlib.h>
#include <string.h>

int dg_evaluate_loss(struct dg_crew *ws, struct dg_params *params,
    const struct dg_evaluate_set *set, struct dg_loss_sums *sums, struct dg_error *err)
{
    struct dg_dataset *data = NULL;
    struct dg_dataset_options o = {
        .mode = DG_BATCH_SUM, .batch_tokens = set->micro_tokens * (uint64_t)ws->n / 2};
    struct dg_objective objective = {.epsilon = (float)set->label_smoothing};
    uint64_t seen = 0;
    memset(sums, 0, sizeof *sums);
    int rc = dg_dataset_open(set->prepared_dir, set->name, &o, &data, err);
    while (!rc && seen < dg_dataset_count(data)) {
        struct dg_batch batch;
        struct dg_loss_sums part;
        struct dg_crew_pass pass = {.data = data,
            .batch = &batch,
            .objective = &objective,
            .params = params,
            .micro_tokens = set->micro_tokens,
            .ranks = 1};
        if (set->stop && *set->stop)
            rc = dg_error_set(
                err, DG_ECANCELED, "stopped while measuring the loss on %s", set->name);
        if (!rc)
            rc = dg_dataset_next(data, &batch, err);
        if (!rc)
            rc = dg_crew_run(ws, &pass, err);
        if (rc)
            break;
        dg_crew_sums(ws, &part);
        seen += batch.count;
        dg_crew_add_sums(sums, &part);
    }
    dg_dataset_close(data);
    return rc;
}

/* All lines of both files. */
struct texts {
    struct dg_arena arena;
    /* [n], room for cap */
    struct dg_text_pair *pairs;
    size_t n, cap;
};

static void add_line(struct texts *t, const struct dg_line lines[2])
{
    t->pairs = dg_alloc_grow(t->pairs, t->n + 1, &t->cap, sizeof *t->pairs, "lines");
    const char *source = dg_arena_strndup(&t->arena, lines[0].text, lines[0].len);
    const char *target = dg_arena_strndup(&t->arena, lines[1].text, lines[1].len);
    dg_alloc_check(source && target, "lines");
    t->pairs[t->n++] = (struct dg_text_pair){source, target, lines[0].len, lines[1].len};
}

static int read_texts(struct texts *t, const struct dg_evaluate_text *o, struct dg_error *err)
{
    const char *paths[2] = {o->set.source, o->set.target};
    struct dg_corpus *corpus = NULL;
    struct dg_line lines[2];
    dg_arena_init(&t->arena, 0);
    int rc = dg_corpus_open(paths, 2, &corpus, err);
    while (!rc && (!o->lines || t->n < o->lines)) {
        int got = dg_corpus_next_text(corpus, lines, err);
        if (got <= 0) {
            rc = got;
            break;
        }
        add_line(t, lines);
    }
    dg_corpus_close(corpus);
    if (!rc && !t->n)
        rc = dg_error_set(err, DG_EINVAL, "%s has no lines", o->set.source);
    return rc;
}

static void free_texts(struct texts *t)
{
    free(t->pairs);
    dg_arena_deinit(&t->arena);
}

/* Find the tokens of the longest line on either side, counted with the open bundle's vocabularies,
 * among those that are scored. */
static int find_longest(
    const struct dg_bulk *d, const struct texts *x, uint32_t *longest, struct dg_error *err)
{
    int rc = 0;
    *longest = 0;
    for (size_t i = 0; i < x->n && !rc; i++) {
        uint32_t n;
        rc = dg_bulk_count(d, &x->pairs[i], &n, err);
        *longest = !rc && n > *longest && n <= DG_EVALUATE_TOKENS ? n : *longest;
    }
    return rc;
}

/* Open the bundle. References are scored as a whole, so for scoring open it again with positions
 * for the longest line. */
static int open_bulk(const struct dg_evaluate_text *o, const struct texts *x, struct dg_bulk **out,
    struct dg_error *err)
{
    const struct dg_bulk_options options = {.bundle = o->bundle,
        .source_lang = o->set.source_lang,
        .target_lang = o->set.target_lang,
        .threads = o->threads,
        .beam = o->beam,
        .alpha = o->alpha,
        .penalty_cap = o->penalty_cap,
        .lists = o->lists};
    uint32_t longest;
    int rc = dg_bulk_open(&options, 0, out, err);
    if (rc || !o->score)
        return rc;
    rc = find_longest(*out, x, &longest, err);
    dg_bulk_close(*out);
    *out = NULL;
    return rc ? rc : dg_bulk_open(&options, longest, out, err);
}

/* Add the reference log-probabilities of pairs[n]; count those that are too long for one. */
static int score_slice(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    struct dg_evaluated *out, struct dg_error *err)
{
    struct dg_bulk_score scores[DG_BULK_SLICE];
    int rc = dg_bulk_score(d, pairs, n, scores, err);
    for (size_t i = 0; i < n && !rc; i++) {
        out->unscored += !scores[i].tokens;
        out->nll -= scores[i].logprob;
        out->pieces += scores[i].tokens;
    }
    return rc;
}

/* Context for comparing the answers of a slice. */
struct slice {
    const struct dg_evaluate_text *o;
    const struct dg_text_pair *pairs;
    /* first: line that the slice starts at; every: lines from one sample to the next, 0: no
     * samples */
    size_t first, every;
    struct dg_evaluated *out;
};

static int compare(void *arg, size_t i, const struct dg_answers *a, struct dg_error *err)
{
    const struct slice *s = arg;
    const struct dg_text_pair *p = &s->pairs[s->first + i];
    (void)err;
    dg_bleu_add(&s->out->bleu, a->best->text, a->best->len, p->target, p->n_target);
    dg_chrf_add(&s->out->chrf, a->best->text, a->best->len, p->target, p->n_target);
    if (s->every && (s->first + i) % s->every == 0)
        s->o->sample(s->o->arg, p->source, p->target, a->best->text);
    if (s->o->answer)
        s->o->answer(s->o->arg, a, p->target, p->n_target);
    return 0;
}

int dg_evaluate_text(
    const struct dg_evaluate_text *o, struct dg_evaluated *out, struct dg_error *err)
{
    struct dg_bulk *d = NULL;
    struct texts x = {0};
    const uint64_t start = dg_clock_ns();
    memset(out, 0, sizeof *out);
    int rc = read_texts(&x, o, err);
    if (!rc)
        rc = open_bulk(o, &x, &d, err);
    struct slice slice = {.o = o, .pairs = x.pairs, .out = out};
    slice.every = o->samples ? (x.n + o->samples - 1) / o->samples : 0;
    for (size_t n; slice.first < x.n && !rc; slice.first += n) {
        n = x.n - slice.first < DG_BULK_SLICE ? x.n - slice.first : DG_BULK_SLICE;
        if (o->stop && *o->stop)
            rc = dg_error_set(err, DG_ECANCELED, "stopped while translating %s", o->set.source);
        if (!rc && o->score)
            rc = score_slice(d, x.pairs + slice.first, n, out, err);
        if (!rc)
            rc = dg_bulk_translate(d, x.pairs + slice.first, n, compare, &slice, err);
    }
    out->lines = x.n;
    out->seconds = (double)(dg_clock_ns() - start) * 1e-9;
    dg_bulk_close(d);
    free_texts(&x);
    return rc;
}
