#include "trainer/evaluate.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/cores.h"
#include "kernels/cpu/cpu.h"
#include "trainer/corpus.h"
#include "trainer/recipe.h"
#include "translate/runner.h"
#include "translate/translate.h"

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
            rc = dg_crew_run(ws, &pass, &part, err);
        if (rc)
            break;
        seen += batch.count;
        sums->smoothed += part.smoothed;
        sums->nll += part.nll;
        sums->n += part.n;
        sums->correct += part.correct;
    }
    dg_dataset_close(data);
    return rc;
}

struct line {
    const char *text;
    size_t len;
};

enum { SLICE = 512 }; /* lines under way at once; between slices a stop is looked for */

/* The texts, and the jobs of a slice of them. */
struct texts {
    struct dg_arena arena;
    struct line *source, *target; /* [n] */
    size_t n, cap;
    struct dg_job *jobs[SLICE];
};

static int add_line(struct texts *t, const struct dg_line lines[2], struct dg_error *err)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 1024;
        struct line *s = realloc(t->source, cap * sizeof *s);
        if (s)
            t->source = s;
        struct line *q = s ? realloc(t->target, cap * sizeof *q) : NULL;
        if (!q)
            return dg_error_set(err, DG_ENOMEM, "no memory for %zu lines", cap);
        t->target = q;
        t->cap = cap;
    }
    struct line s = {dg_arena_strndup(&t->arena, lines[0].text, lines[0].len), lines[0].len};
    struct line q = {dg_arena_strndup(&t->arena, lines[1].text, lines[1].len), lines[1].len};
    if (!s.text || !q.text)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu lines", t->n + 1);
    t->source[t->n] = s;
    t->target[t->n++] = q;
    return 0;
}

static int read_texts(struct texts *t, const struct dg_evaluate_text *o, struct dg_error *err)
{
    const char *paths[2] = {o->source, o->target};
    struct dg_corpus *corpus = NULL;
    struct dg_line lines[2];
    dg_arena_init(&t->arena, 0);
    int rc = dg_corpus_open(paths, 2, &corpus, err);
    while (!rc && (!o->lines || t->n < o->lines)) {
        int got = dg_corpus_next(corpus, lines, err);
        if (got <= 0) {
            rc = got;
            break;
        }
        rc = add_line(t, lines, err);
    }
    dg_corpus_close(corpus);
    if (!rc && !t->n)
        rc = dg_error_set(err, DG_EINVAL, "%s has no lines", o->source);
    return rc;
}

static void free_jobs(struct texts *t)
{
    for (size_t i = 0; i < SLICE; i++) {
        dg_job_free(t->jobs[i]);
        t->jobs[i] = NULL;
    }
}

static void free_texts(struct texts *t)
{
    free(t->source);
    free(t->target);
    dg_arena_deinit(&t->arena);
}

static struct dg_translate_options options_of(const struct dg_evaluate_text *o)
{
    struct dg_translate_options t = {
        .source = o->source_lang, .target = o->target_lang, .one_sentence = true};
    t.search.beam = o->beam;
    t.search.alpha = o->alpha;
    return t;
}

/* Reference log-probabilities of n lines from the first on, through the engine. */
static int score_slice(const struct dg_translator *t, struct dg_runner *runner,
    const struct dg_evaluate_text *o, struct texts *x, size_t first, size_t n,
    struct dg_evaluated *out, struct dg_error *err)
{
    const struct line *source = x->source + first, *target = x->target + first;
    struct dg_translate_options options = options_of(o);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = dg_job_plan_score(t, source[i].text, source[i].len, target[i].text, target[i].len,
            &options, &x->jobs[i], err);
    if (!rc)
        rc = dg_runner_run(runner, x->jobs, n, NULL, NULL, err);
    for (size_t i = 0; i < n && !rc; i++) {
        struct dg_scored s;
        rc = dg_job_finish_score(x->jobs[i], &s, err);
        if (!rc) {
            out->nll -= s.total;
            out->pieces += s.n;
        }
    }
    free_jobs(x);
    return rc;
}

static int translate_slice(const struct dg_translator *t, struct dg_runner *runner,
    const struct dg_evaluate_text *o, struct texts *x, size_t first, size_t n,
    struct dg_evaluated *out, struct dg_error *err)
{
    const struct line *source = x->source + first, *target = x->target + first;
    struct dg_translate_options options = options_of(o);
    size_t every = o->samples ? (x->n + o->samples - 1) / o->samples : 0;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = dg_job_plan(t, source[i].text, source[i].len, &options, &x->jobs[i], err);
    if (!rc)
        rc = dg_runner_run(runner, x->jobs, n, NULL, NULL, err);
    for (size_t i = 0; i < n && !rc; i++) {
        struct dg_answers a;
        if ((rc = dg_job_finish(x->jobs[i], &a, err)))
            break;
        rc = dg_bleu_add(&out->bleu, a.best->text, a.best->len, target[i].text, target[i].len, err);
        if (!rc)
            rc = dg_chrf_add(
                &out->chrf, a.best->text, a.best->len, target[i].text, target[i].len, err);
        if (!rc && every && (first + i) % every == 0)
            o->sample(o->arg, source[i].text, target[i].text, a.best->text);
    }
    free_jobs(x);
    return rc;
}

int dg_evaluate_text(
    const struct dg_evaluate_text *o, struct dg_evaluated *out, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = 1};
    struct dg_backend *be = NULL;
    struct dg_translator *t = NULL;
    struct dg_runner *runner = NULL;
    struct texts x = {0};
    const uint64_t start = dg_clock_ns();
    memset(out, 0, sizeof *out);
    int rc = read_texts(&x, o, err);
    if (!rc)
        rc = dg_cpu_open(&cpu, &be, err);
    if (!rc)
        rc = dg_translator_open(o->bundle, be, 0, &t, err);
    if (!rc)
        rc = dg_runner_open(
            t, o->threads > 0 ? o->threads : dg_cores_available(), 1, NULL, &runner, err);
    for (size_t first = 0, n; first < x.n && !rc; first += n) {
        n = x.n - first < SLICE ? x.n - first : SLICE;
        if (o->stop && *o->stop)
            rc = dg_error_set(err, DG_ECANCELED, "stopped while translating %s", o->source);
        if (!rc && o->score)
            rc = score_slice(t, runner, o, &x, first, n, out, err);
        if (!rc)
            rc = translate_slice(t, runner, o, &x, first, n, out, err);
    }
    out->lines = x.n;
    out->seconds = (double)(dg_clock_ns() - start) * 1e-9;
    dg_runner_close(runner);
    dg_translator_close(t);
    dg_cpu_close(be);
    free_texts(&x);
    return rc;
}
