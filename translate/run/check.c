#include "translate/run/check.h"

#include "base/buffer.h"
#include "kernels/cpu/cpu.h"
#include "translate/run/runner.h"
#include "translate/run/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tolerances: relative to the sum; absolute, for the rounding of a sum near zero; and per token,
 * where matrices are rounded to 16 bits. */
#define RELATIVE 0.01
#define ABSOLUTE 0.02
#define ABSOLUTE_16_BITS 0.03

/* An answer is cut to MOST_TARGET tokens: each takes a step whenever the model is opened. */
enum { POSITIONS = 512, SENTENCE_TOKENS = 5, MOST_TARGET = 16 };

struct check {
    const char *pair[2], *source, *target;
    double logprob;
};

static int read_check(const struct dg_bundle *b, struct check *c, bool *there, struct dg_error *err)
{
    const struct dg_json *o = dg_json_get(dg_bundle_manifest(b), "check");
    *there = o != NULL;
    if (!o)
        return 0;
    for (size_t i = 0; i < 2; i++)
        c->pair[i] = dg_json_string(dg_json_at(dg_json_get(o, "pair"), i), NULL);
    c->source = dg_json_string(dg_json_get(o, "source"), NULL);
    c->target = dg_json_string(dg_json_get(o, "target"), NULL);
    c->logprob = dg_json_number(dg_json_get(o, "logprob"));
    return c->pair[0] && c->pair[1] && c->source && c->target
               ? 0
               : dg_error_field(err, DG_EFORMAT, "check",
                     "manifest: check must have pair, source, target and logprob");
}

/* Run the one sentence of a job that scores. */
static int run_engine(struct dg_engine *e, struct dg_backend *be, struct dg_job *job,
    const struct dg_sentence *s, struct dg_error *err)
{
    const struct dg_result *r = NULL;
    int rc = dg_engine_admit(e, 0, s, err);
    if (rc == DG_EAGAIN)
        rc = dg_error_set(err, DG_EINTERNAL, "no room for a sentence in an engine made for it");
    for (uint32_t step = 0; !rc && !r && step < s->n_prefix + 3; step++) {
        dg_engine_step(e);
        r = dg_engine_poll(e);
        rc = be->ops->status(be, err);
    }
    if (!rc && !r)
        rc = dg_error_set(err, DG_EINTERNAL, "scoring a sentence did not end");
    if (!rc)
        rc = dg_job_accept(job, 0, r, err);
    if (r)
        dg_engine_release(e, r);
    return rc;
}

static int score(const struct dg_translator *t, const struct dg_model *model, struct dg_backend *be,
    const struct check *c, double *total, size_t *n, struct dg_error *err)
{
    const struct dg_translate_options o = {
        .source = c->pair[0], .target = c->pair[1], .search.alpha = -1, .tokens = true};
    struct dg_job *job = NULL;
    struct dg_engine *e = NULL;
    struct dg_scored scored;
    const struct dg_text_pair texts = {c->source, c->target, strlen(c->source), strlen(c->target)};
    int rc = dg_job_encode_score(t, &texts, &o, &job, err);
    if (!rc) {
        struct dg_sentence s;
        dg_job_sentence(job, 0, &s);
        const struct dg_engine_limits limits = {.max_rows = dg_model_config(model)->beam,
            .max_sentences = 1,
            .max_source = s.n_source,
            .max_target = s.n_prefix,
            .max_search = s.n_prefix};
        rc = dg_engine_open(model, be, &limits, &e, err);
        if (!rc)
            rc = run_engine(e, be, job, &s, err);
    }
    if (!rc)
        rc = dg_job_finish_score(job, &scored, err);
    if (!rc) {
        *total = scored.total;
        *n = scored.n;
    }
    dg_engine_close(e);
    dg_job_free(job);
    return rc;
}

/* True if matrices are multiplied in 16 bits here, where other machines multiply in fp32. */
static bool rounds_to_16_bits(const struct dg_bundle *b, const struct dg_backend *be)
{
    const struct dg_weights *w = dg_bundle_weights(b);
    if (strncmp(be->name, "cpu", 3) != 0)
        return true;
    for (size_t i = 0; i < dg_weights_count(w); i++)
        if (dg_weights_at(w, i)->stored[0].type == DG_BF16)
            return true;
    return false;
}

int dg_check_run(const struct dg_translator *t, const struct dg_model *model, struct dg_backend *be,
    struct dg_error *err)
{
    const struct dg_bundle *b = dg_translator_bundle(t);
    struct check c = {.logprob = 0};
    bool there;
    double total = 0;
    size_t n = 0;
    int rc = read_check(b, &c, &there, err);
    if (rc || !there)
        return rc;
    if ((rc = score(t, model, be, &c, &total, &n, err)))
        return rc;
    const double allowed = RELATIVE * fabs(c.logprob) + ABSOLUTE +
                           (rounds_to_16_bits(b, be) ? ABSOLUTE_16_BITS * (double)n : 0);
    if (fabs(total - c.logprob) <= allowed) /* false for a NaN */
        return 0;
    return dg_error_field(err, DG_EFORMAT, "check",
        "%s: its test sentence has log-probability %.4f here, the manifest says %.4f: the model is "
        "not what it was when the bundle was made",
        dg_bundle_dir(b), total, c.logprob);
}

/* True if the token has no white space, so that it can be part of a space-separated list. */
static bool is_one_word(const char *token)
{
    return token[0] && !strpbrk(token, " \t\r\n");
}

/* Write the sample sentence of the language as tokens; without a SentencePiece model, a few tokens
 * from across the vocabulary. */
static int make_source(const struct dg_translator *t, const char *language, struct dg_buffer *out,
    struct dg_error *err)
{
    const struct dg_tokenizer *k = dg_translator_source(t);
    const struct dg_config *c = dg_model_config(dg_translator_model(t));
    const char *text = dg_sample_sentence(language);
    struct dg_token *tokens = NULL;
    size_t n = SENTENCE_TOKENS;
    int rc =
        dg_tokenizer_has_text(k) ? dg_tokenizer_encode(k, text, strlen(text), &tokens, &n, err) : 0;
    for (size_t i = 0; i < n && !rc; i++) {
        const int32_t id =
            tokens ? tokens[i].id : (int32_t)((i + 1) * dg_tokenizer_size(k) / (n + 1));
        const char *token = dg_tokenizer_piece(k, id);
        if (is_one_word(token) && id != c->eos && id != dg_tokenizer_unk(k))
            dg_buffer_addf(out, "%s%s", out->len ? " " : "", token);
    }
    free(tokens);
    if (!rc && out->failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a sentence");
    return rc;
}

/* Write the model's answer to c->source as tokens. */
static int make_target(const struct dg_translator *t, const struct check *c, struct dg_buffer *out,
    struct dg_error *err)
{
    const struct dg_translate_options o = {.source = c->pair[0],
        .target = c->pair[1],
        .search = {.alpha = -1, .max_len = MOST_TARGET},
        .tokens = true};
    const struct dg_engine_limits limits = {.max_target = POSITIONS};
    struct dg_runner *runner = NULL;
    struct dg_job *job = NULL;
    struct dg_answers answers;
    int rc = dg_runner_open(t, 1, 1, &limits, &runner, err);
    if (!rc)
        rc = dg_job_encode(t, c->source, strlen(c->source), &o, &job, err);
    if (!rc)
        rc = dg_runner_run(runner, &job, 1, NULL, NULL, err);
    if (!rc)
        rc = dg_job_finish(job, &answers, err);
    if (!rc)
        dg_buffer_add(out, answers.best[0].text, answers.best[0].len);
    dg_job_free(job);
    dg_runner_close(runner);
    return rc ? rc : out->failed ? dg_error_set(err, DG_ENOMEM, "no memory for an answer") : 0;
}

static struct dg_json *check_json(const struct check *c)
{
    struct dg_json *o = dg_json_new_object(), *pair = dg_json_new_array();
    int rc = 0;
    for (int i = 0; i < 2; i++)
        rc |= dg_json_append_take(pair, dg_json_new_string(c->pair[i], strlen(c->pair[i])));
    rc |= dg_json_set_take(o, "pair", pair);
    rc |= dg_json_set_string(o, "source", c->source);
    rc |= dg_json_set_string(o, "target", c->target);
    /* No more digits than all processors agree on, so that they make the same bundle. */
    rc |= dg_json_set_real(o, "logprob", round(100 * c->logprob) / 100);
    if (!rc)
        return o;
    dg_json_free(o);
    return NULL;
}

/* Seal the bundle with `check` in place of its own, or without one if NULL. Takes `check`. */
static int seal_with(const char *dir, struct dg_json *check, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    int rc = dg_bundle_open(dir, &b, err);
    if (rc) {
        dg_json_free(check);
        return rc;
    }
    struct dg_json *m = dg_json_copy(dg_bundle_manifest(b));
    if (m && check)
        rc = dg_json_set_take(m, "check", check);
    else
        dg_json_remove(m, "check");
    rc = !m || rc ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest")
                  : dg_bundle_seal(dir, m, err);
    dg_json_free(m);
    dg_bundle_close(b);
    return rc;
}

/* The first pair from English, which every model of many languages knows well; else the first. */
static void choose_pair(const struct dg_bundle *b, const char *pair[2])
{
    for (size_t i = 0; i < dg_bundle_pairs(b); i++) {
        dg_bundle_pair(b, i, &pair[0], &pair[1]);
        if (strcmp(pair[0], "en") == 0)
            return;
    }
    dg_bundle_pair(b, 0, &pair[0], &pair[1]);
}

int dg_check_write(const char *dir, struct dg_error *err)
{
    const struct dg_cpu_options cpu = {.threads = 1};
    struct dg_backend *be = NULL;
    struct dg_translator *t = NULL;
    struct dg_buffer source, target;
    struct check c = {.logprob = 0};
    size_t n;
    dg_buffer_init(&source);
    dg_buffer_init(&target);
    int rc = seal_with(dir, NULL, err);
    if (!rc)
        rc = dg_cpu_open(&cpu, &be, err);
    if (!rc)
        rc = dg_translator_open(dir, be, POSITIONS, &t, err);
    if (!rc) {
        choose_pair(dg_translator_bundle(t), c.pair);
        rc = make_source(t, c.pair[0], &source, err);
    }
    c.source = source.data ? source.data : "";
    if (!rc && source.len)
        rc = make_target(t, &c, &target, err);
    c.target = target.data ? target.data : "";
    if (!rc && source.len)
        rc = score(t, dg_translator_model(t), be, &c, &c.logprob, &n, err);
    if (!rc && source.len && !isfinite(c.logprob))
        rc = dg_error_set(
            err, DG_EFORMAT, "%s: its answer to a short sentence has no probability", dir);
    if (!rc && source.len) {
        struct dg_json *check = check_json(&c);
        rc = check ? seal_with(dir, check, err)
                   : dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    }
    dg_translator_close(t);
    dg_cpu_close(be);
    dg_buffer_deinit(&source);
    dg_buffer_deinit(&target);
    return rc;
}
