#include "trainer/score/evaluate.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/cores.h"
#include "kernels/cpu/cpu.h"
#include "text/utf8.h"
#include "trainer/data/corpus.h"
#include "trainer/recipe/recipe.h"
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

enum { SLICE = 512 };           /* lines under way at once; between slices a stop is looked for */
enum { SENTENCE_PIECES = 512 }; /* of one sentence with </s>, as in dg_translate_options */

/* The texts, and the jobs of a slice of them. */
struct texts {
    struct dg_arena arena;
    struct line *source, *target; /* [n] */
    size_t n, cap;
    struct dg_job *jobs[SLICE];
};

/* The bundle at work. */
struct model {
    struct dg_translator *translator;
    struct dg_runner *runner;
    uint32_t line; /* most pieces of what is scored as one */
};

static void add_line(struct texts *t, const struct dg_line lines[2])
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 1024;
        t->source = dg_alloc_more(t->source, cap, sizeof *t->source, "lines");
        t->target = dg_alloc_more(t->target, cap, sizeof *t->target, "lines");
        t->cap = cap;
    }
    struct line s = {dg_arena_strndup(&t->arena, lines[0].text, lines[0].len), lines[0].len};
    struct line q = {dg_arena_strndup(&t->arena, lines[1].text, lines[1].len), lines[1].len};
    dg_alloc_check(s.text && q.text, "lines");
    t->source[t->n] = s;
    t->target[t->n++] = q;
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
        add_line(t, lines);
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

/* Pieces of a line, and at most a tag and </s> beside them. */
static int count_pieces(const struct dg_tokenizer *tokenizer, const struct line *line,
    uint32_t *out, struct dg_error *err)
{
    char *nfc = NULL;
    struct dg_token *tokens = NULL;
    size_t n, n_nfc;
    int rc = dg_utf8_nfc(line->text, line->len, &nfc, &n_nfc, err);
    if (!rc)
        rc = dg_tokenizer_encode(tokenizer, nfc, n_nfc, &tokens, &n, err);
    if (!rc)
        *out = (uint32_t)n + 2;
    free(tokens);
    free(nfc);
    return rc;
}

/* Pieces of the longest line on either side. */
static int find_longest(
    const struct dg_translator *t, const struct texts *x, uint32_t *longest, struct dg_error *err)
{
    int rc = 0;
    *longest = 0;
    for (size_t i = 0; i < x->n && !rc; i++) {
        uint32_t source = 0, target = 0;
        rc = count_pieces(dg_translator_source(t), &x->source[i], &source, err);
        if (!rc)
            rc = count_pieces(dg_translator_target(t), &x->target[i], &target, err);
        *longest = source > *longest ? source : *longest;
        *longest = target > *longest ? target : *longest;
    }
    return rc;
}

/* A line is translated in parts when it is longer than what a server takes as one sentence, but its
 * reference is scored as a whole: the model needs positions for the longest one. */
static int open_model(const struct dg_evaluate_text *o, const struct texts *x,
    struct dg_backend *be, struct model *m, struct dg_error *err)
{
    struct dg_engine_limits limits = {.max_beam = o->beam}; /* the others are the engine's own */
    uint32_t longest = 0;
    int rc = dg_translator_open(o->bundle, be, 0, &m->translator, err);
    if (!rc && o->score)
        rc = find_longest(m->translator, x, &longest, err);
    if (rc)
        return rc;
    const struct dg_model *model = dg_translator_model(m->translator);
    if (longest > dg_model_max_positions(model) &&
        dg_model_config(model)->positions != DG_POS_LEARNED) {
        dg_translator_close(m->translator);
        m->translator = NULL;
        if ((rc = dg_translator_open(o->bundle, be, longest, &m->translator, err)))
            return rc;
        model = dg_translator_model(m->translator);
    }
    const uint32_t most = dg_model_max_positions(model);
    limits.max_source = longest > SENTENCE_PIECES ? longest : 0;
    limits.max_target = longest > SENTENCE_PIECES ? most : 0;
    limits.max_search = SENTENCE_PIECES + dg_model_config(model)->extra_length;
    m->line = longest < most ? longest : most;
    return dg_runner_open(m->translator, o->threads > 0 ? o->threads : dg_cores_available(), 1,
        &limits, &m->runner, err);
}

static struct dg_translate_options options_of(const struct dg_evaluate_text *o, uint32_t max_source)
{
    struct dg_translate_options t = {.source = o->source_lang,
        .target = o->target_lang,
        .one_sentence = true,
        .max_source = max_source};
    t.search.beam = o->beam;
    t.search.alpha = o->alpha;
    return t;
}

/* Reference log-probabilities of n lines from the first on, through the engine. */
static int score_slice(const struct model *m, const struct dg_evaluate_text *o, struct texts *x,
    size_t first, size_t n, struct dg_evaluated *out, struct dg_error *err)
{
    const struct line *source = x->source + first, *target = x->target + first;
    struct dg_translate_options options = options_of(o, m->line);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const struct dg_text_pair pair = {
            source[i].text, target[i].text, source[i].len, target[i].len};
        rc = dg_job_encode_score(m->translator, &pair, &options, &x->jobs[i], err);
        if (rc)
            dg_error_prefix(err, "%s line %zu", o->source, first + i + 1);
    }
    if (!rc)
        rc = dg_runner_run(m->runner, x->jobs, n, NULL, NULL, err);
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

static int translate_slice(const struct model *m, const struct dg_evaluate_text *o, struct texts *x,
    size_t first, size_t n, struct dg_evaluated *out, struct dg_error *err)
{
    const struct line *source = x->source + first, *target = x->target + first;
    struct dg_translate_options options = options_of(o, 0);
    size_t every = o->samples ? (x->n + o->samples - 1) / o->samples : 0;
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc =
            dg_job_encode(m->translator, source[i].text, source[i].len, &options, &x->jobs[i], err);
    if (!rc)
        rc = dg_runner_run(m->runner, x->jobs, n, NULL, NULL, err);
    for (size_t i = 0; i < n && !rc; i++) {
        struct dg_answers a;
        if ((rc = dg_job_finish(x->jobs[i], &a, err)))
            break;
        dg_bleu_add(&out->bleu, a.best->text, a.best->len, target[i].text, target[i].len);
        dg_chrf_add(&out->chrf, a.best->text, a.best->len, target[i].text, target[i].len);
        if (!rc && every && (first + i) % every == 0)
            o->sample(o->arg, source[i].text, target[i].text, a.best->text);
        if (!rc && o->answer)
            o->answer(o->arg, &a, target[i].text, target[i].len);
    }
    free_jobs(x);
    return rc;
}

int dg_evaluate_text(
    const struct dg_evaluate_text *o, struct dg_evaluated *out, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = 1};
    struct dg_backend *be = NULL;
    struct model m = {0};
    struct texts x = {0};
    const uint64_t start = dg_clock_ns();
    memset(out, 0, sizeof *out);
    int rc = read_texts(&x, o, err);
    if (!rc)
        rc = dg_cpu_open(&cpu, &be, err);
    if (!rc)
        rc = open_model(o, &x, be, &m, err);
    for (size_t first = 0, n; first < x.n && !rc; first += n) {
        n = x.n - first < SLICE ? x.n - first : SLICE;
        if (o->stop && *o->stop)
            rc = dg_error_set(err, DG_ECANCELED, "stopped while translating %s", o->source);
        if (!rc && o->score)
            rc = score_slice(&m, o, &x, first, n, out, err);
        if (!rc)
            rc = translate_slice(&m, o, &x, first, n, out, err);
    }
    out->lines = x.n;
    out->seconds = (double)(dg_clock_ns() - start) * 1e-9;
    dg_runner_close(m.runner);
    dg_translator_close(m.translator);
    dg_cpu_close(be);
    free_texts(&x);
    return rc;
}
