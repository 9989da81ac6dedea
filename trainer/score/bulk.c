#include "trainer/score/bulk.h"

#include "base/alloc.h"
#include "base/cores.h"
#include "kernels/cpu/cpu.h"
#include "text/utf8.h"
#include "translate/run/runner.h"

#include <stdlib.h>

/* Most tokens of one sentence with </s>, as in dg_translate_options. */
enum { SENTENCE_TOKENS = 512 };

struct dg_bulk {
    struct dg_bulk_options o;
    struct dg_backend *be;
    struct dg_translator *translator;
    struct dg_runner *runner;
    /* most tokens of a line that is scored as one sentence */
    uint32_t line;
    /* jobs of the slice in progress; NULL afterwards */
    struct dg_job *jobs[DG_BULK_SLICE];
};

/* Long lines are translated in parts but scored as a whole, so the model needs positions for the
 * longest one. Opens it again with more positions if it computes them. */
static int open_translator(struct dg_bulk *d, uint32_t longest, struct dg_error *err)
{
    int rc = dg_translator_open_lists(d->o.bundle, d->o.lists, d->be, 0, &d->translator, err);
    if (rc)
        return rc;
    const struct dg_model *model = dg_translator_model(d->translator);
    if (longest <= dg_model_max_positions(model) ||
        dg_model_config(model)->positions == DG_POS_LEARNED)
        return 0;
    dg_translator_close(d->translator);
    d->translator = NULL;
    return dg_translator_open_lists(d->o.bundle, d->o.lists, d->be, longest, &d->translator, err);
}

static int open_runner(struct dg_bulk *d, uint32_t longest, struct dg_error *err)
{
    struct dg_engine_limits limits = {.max_beam = d->o.beam}; /* the rest: engine's defaults */
    const struct dg_model *model = dg_translator_model(d->translator);
    const uint32_t most = dg_model_max_positions(model);
    limits.max_source = longest > SENTENCE_TOKENS ? longest : 0;
    limits.max_target = longest > SENTENCE_TOKENS ? most : 0;
    limits.max_search = SENTENCE_TOKENS + dg_model_config(model)->extra_length;
    d->line = longest < most ? longest : most;
    return dg_runner_open(d->translator, d->o.threads > 0 ? d->o.threads : dg_cores_available(), 1,
        &limits, &d->runner, err);
}

int dg_bulk_open(
    const struct dg_bulk_options *o, uint32_t longest, struct dg_bulk **out, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = 1};
    struct dg_bulk *d = dg_alloc(1, sizeof *d, "a bundle at work");
    *out = NULL;
    d->o = *o;
    int rc = dg_cpu_open(&cpu, &d->be, err);
    if (!rc)
        rc = open_translator(d, longest, err);
    if (!rc)
        rc = open_runner(d, longest, err);
    if (rc)
        dg_bulk_close(d);
    else
        *out = d;
    return rc;
}

void dg_bulk_close(struct dg_bulk *d)
{
    if (!d)
        return;
    dg_runner_close(d->runner);
    dg_translator_close(d->translator);
    dg_cpu_close(d->be);
    free(d);
}

const struct dg_translator *dg_bulk_translator(const struct dg_bulk *d)
{
    return d->translator;
}

static int count_tokens(const struct dg_tokenizer *tokenizer, const char *text, size_t len,
    uint32_t *out, struct dg_error *err)
{
    char *nfc = NULL;
    struct dg_token *tokens = NULL;
    size_t n, n_nfc;
    int rc = dg_utf8_nfc(text, len, &nfc, &n_nfc, err);
    if (!rc)
        rc = dg_tokenizer_encode(tokenizer, nfc, n_nfc, &tokens, &n, err);
    if (!rc)
        *out = (uint32_t)n + 2;
    free(tokens);
    free(nfc);
    return rc;
}

int dg_bulk_count(
    const struct dg_bulk *d, const struct dg_text_pair *pair, uint32_t *out, struct dg_error *err)
{
    uint32_t source = 0, target = 0;
    int rc = count_tokens(
        dg_translator_source(d->translator), pair->source, pair->n_source, &source, err);
    if (!rc)
        rc = count_tokens(
            dg_translator_target(d->translator), pair->target, pair->n_target, &target, err);
    *out = source > target ? source : target;
    return rc;
}

static struct dg_translate_options options_of(const struct dg_bulk *d, uint32_t max_source)
{
    struct dg_translate_options t = {.source = d->o.source_lang,
        .target = d->o.target_lang,
        .one_sentence = true,
        .max_source = max_source};
    t.search.beam = d->o.beam;
    t.search.alpha = d->o.alpha;
    t.search.penalty_cap = d->o.penalty_cap;
    return t;
}

static void free_jobs(struct dg_bulk *d)
{
    for (size_t i = 0; i < DG_BULK_SLICE; i++) {
        dg_job_free(d->jobs[i]);
        d->jobs[i] = NULL;
    }
}

int dg_bulk_translate(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    int (*answer)(void *arg, size_t i, const struct dg_answers *a, struct dg_error *err), void *arg,
    struct dg_error *err)
{
    const struct dg_translate_options options = options_of(d, 0);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = dg_job_encode(
            d->translator, pairs[i].source, pairs[i].n_source, &options, &d->jobs[i], err);
    if (!rc)
        rc = dg_runner_run(d->runner, d->jobs, n, NULL, NULL, err);
    for (size_t i = 0; i < n && !rc; i++) {
        struct dg_answers a;
        rc = dg_job_finish(d->jobs[i], &a, err);
        if (!rc)
            rc = answer(arg, i, &a, err);
    }
    free_jobs(d);
    return rc;
}

/* Encode the pairs that are short enough as jobs[0] to jobs[*made - 1]; pair_of[] gives the pair of
 * each job. */
static int encode_scores(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    size_t pair_of[DG_BULK_SLICE], size_t *made, struct dg_error *err)
{
    const struct dg_translate_options options = options_of(d, d->line);
    *made = 0;
    for (size_t i = 0; i < n; i++) {
        struct dg_error why = {0};
        int rc = dg_job_encode_score(d->translator, &pairs[i], &options, &d->jobs[*made], &why);
        if (rc && rc != DG_ELIMIT) {
            *err = why;
            return rc;
        }
        if (!rc)
            pair_of[(*made)++] = i;
    }
    return 0;
}

int dg_bulk_score(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    struct dg_bulk_score *out, struct dg_error *err)
{
    size_t pair_of[DG_BULK_SLICE], made = 0;
    int rc = encode_scores(d, pairs, n, pair_of, &made, err);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct dg_bulk_score){0, 0};
    if (!rc && made)
        rc = dg_runner_run(d->runner, d->jobs, made, NULL, NULL, err);
    for (size_t i = 0; i < made && !rc; i++) {
        struct dg_scored s;
        rc = dg_job_finish_score(d->jobs[i], &s, err);
        if (!rc)
            out[pair_of[i]] = (struct dg_bulk_score){s.total, s.n};
    }
    free_jobs(d);
    return rc;
}
