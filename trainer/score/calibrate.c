#include "trainer/score/calibrate.h"

#include "base/alloc.h"
#include "model/config.h"
#include "trainer/score/evaluate.h"
#include "translate/translator/pair_search.h"
#include "translate/translate.h"
#include "weights/bundle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least gain in quality, mean of BLEU and chrF. A wider beam takes proportionally more time, so it
 * must gain `worth`; another penalty must gain a little, as a high one comes close to answers that
 * never end. */
static const double worth = 0.3, worth_penalty = 0.1;

/* Answers that are shorter than their references leave something out, which BLEU and chrF hardly
 * notice: a trial for a pair whose brevity penalty is below least_brevity loses worth_brevity. */
static const double least_brevity = 0.96, worth_brevity = 0.2;

/* Confidence and chrF of one answer of a trial. */
struct answer {
    double confidence, chrf;
};

struct answers {
    /* [n] */
    struct answer *list;
    size_t n, cap;
};

static void take_answer(
    void *arg, const struct dg_answers *a, const char *reference, size_t reference_len)
{
    struct answers *all = arg;
    struct dg_chrf chrf = {{0}, {0}, {0}};
    all->list = dg_alloc_grow(all->list, all->n + 1, &all->cap, sizeof *all->list, "answers");
    /* A line that was split into parts has the confidence of its least confident part. */
    double confidence = 0;
    for (size_t i = 0; i < a->n_sentences; i++)
        if (a->sentences[i].confidence < confidence)
            confidence = a->sentences[i].confidence;
    dg_chrf_add(&chrf, a->best->text, a->best->len, reference, reference_len);
    all->list[all->n++] = (struct answer){confidence, dg_chrf_score(&chrf)};
}

static int translate_set(const struct dg_calibrate_options *o, const struct dg_calibrate_set *set,
    const struct dg_calibrate_trial *t, struct answers *answers, struct dg_evaluated *e,
    struct dg_error *err)
{
    const struct dg_evaluate_text text = {.bundle = o->bundle,
        .set = *set,
        .lines = o->lines,
        .threads = o->threads,
        .beam = t->beam,
        .alpha = t->alpha,
        .penalty_cap = t->penalty_cap,
        .answer = answers ? take_answer : NULL,
        .arg = answers,
        .stop = o->stop};
    return dg_evaluate_text(&text, e, err);
}

static bool is_of(const struct dg_calibrate_set *set, const struct dg_calibrated_pair *pair)
{
    return !pair || (!strcmp(set->source_lang, pair->source_lang) &&
                        !strcmp(set->target_lang, pair->target_lang));
}

/* Translate the pair's sets (NULL: all sets) with the trial's settings and set its scores. */
static int try_one(const struct dg_calibrate_options *o, const struct dg_calibrated_pair *pair,
    struct dg_calibrate_trial *t, struct dg_error *err)
{
    size_t n = 0;
    t->bleu = t->chrf = 0;
    t->brevity = 1;
    for (size_t i = 0; i < o->n_sets; i++) {
        struct dg_evaluated e;
        if (!is_of(&o->sets[i], pair))
            continue;
        int rc = translate_set(o, &o->sets[i], t, NULL, &e, err);
        if (rc)
            return rc;
        t->bleu += dg_bleu_score(&e.bleu);
        t->chrf += dg_chrf_score(&e.chrf);
        t->brevity = fmin(t->brevity, dg_bleu_brevity(&e.bleu));
        n++;
    }
    t->bleu /= (double)n;
    t->chrf /= (double)n;
    if (o->tried)
        o->tried(o->arg, pair, t);
    return 0;
}

static double quality(const struct dg_calibrate_trial *t)
{
    return (t->bleu + t->chrf) / 2;
}

static double quality_for_pair(const struct dg_calibrate_trial *t)
{
    return quality(t) - (t->brevity < least_brevity ? worth_brevity : 0);
}

/* Choose the best length penalty at the bundle's beam, then the smallest beam that is as good. */
static int choose(const struct dg_calibrate_options *o, const struct dg_config *c,
    struct dg_calibrated *out, struct dg_error *err)
{
    static const float alphas[] = {0, 0.6f, 1, 1.25f, 1.5f, 2};
    static const uint32_t beams[] = {4, 6, 8};
    out->chosen = (struct dg_calibrate_trial){.beam = c->beam, .alpha = c->alpha};
    int rc = try_one(o, NULL, &out->chosen, err);
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas && !rc; i++) {
        struct dg_calibrate_trial t = {.beam = c->beam, .alpha = alphas[i]};
        if (alphas[i] == c->alpha)
            continue;
        rc = try_one(o, NULL, &t, err);
        if (!rc && quality(&t) > quality(&out->chosen) + worth_penalty)
            out->chosen = t;
    }
    for (size_t i = 0; i < sizeof beams / sizeof *beams && !rc; i++) {
        struct dg_calibrate_trial t = {.beam = beams[i], .alpha = out->chosen.alpha};
        if (beams[i] == c->beam)
            continue;
        rc = try_one(o, NULL, &t, err);
        const bool wider = beams[i] > out->chosen.beam;
        if (!rc && quality(&t) > quality(&out->chosen) + (wider ? worth : -worth))
            out->chosen = t;
    }
    return rc;
}

/* Choose the penalty of one pair: languages differ in how many tokens an answer has per source
 * token, and a high penalty is good only up to a cap on length. */
static int choose_for_pair(const struct dg_calibrate_options *o, struct dg_calibrated_pair *pair,
    const struct dg_calibrate_trial *of_all, struct dg_error *err)
{
    static const struct {
        float alpha, cap;
    } ways[] = {{0.6f, 0}, {1, 0}, {1.25f, 0}, {1.5f, 0}, {1.75f, 1.5f}, {2, 1.2f}, {2, 1.4f},
        {3, 1.1f}, {3, 1.2f}, {3, 1.25f}, {3, 1.3f}, {3, 1.4f}};
    pair->chosen = *of_all;
    int rc = try_one(o, pair, &pair->chosen, err);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !rc; i++) {
        struct dg_calibrate_trial t = {
            .beam = of_all->beam, .alpha = ways[i].alpha, .penalty_cap = ways[i].cap};
        if (t.penalty_cap <= 0 && t.alpha == of_all->alpha)
            continue;
        rc = try_one(o, pair, &t, err);
        if (!rc && quality_for_pair(&t) > quality_for_pair(&pair->chosen) + worth_penalty) {
            pair->chosen = t;
            pair->own = true;
        }
    }
    return rc;
}

static int choose_for_pairs(
    const struct dg_calibrate_options *o, struct dg_calibrated *out, struct dg_error *err)
{
    int rc = 0;
    out->pairs = dg_alloc(o->n_sets, sizeof *out->pairs, "pairs of languages");
    for (size_t i = 0; i < o->n_sets && !rc; i++) {
        size_t p = 0;
        while (p < out->n_pairs && !is_of(&o->sets[i], &out->pairs[p]))
            p++;
        if (p < out->n_pairs)
            continue;
        out->pairs[out->n_pairs++] = (struct dg_calibrated_pair){
            .source_lang = o->sets[i].source_lang, .target_lang = o->sets[i].target_lang};
        rc = choose_for_pair(o, &out->pairs[p], &out->chosen, err);
    }
    return rc;
}

/* Translate every set with its pair's chosen settings: sets `after` and collects the answers for
 * the threshold. */
static int try_chosen(const struct dg_calibrate_options *o, struct dg_calibrated *out,
    struct answers *answers, struct dg_error *err)
{
    out->after = out->chosen;
    out->after.bleu = out->after.chrf = 0;
    for (size_t i = 0; i < o->n_sets; i++) {
        struct dg_evaluated e;
        size_t p = 0;
        while (!is_of(&o->sets[i], &out->pairs[p]))
            p++;
        int rc = translate_set(o, &o->sets[i], &out->pairs[p].chosen, answers, &e, err);
        if (rc)
            return rc;
        out->after.bleu += dg_bleu_score(&e.bleu) / (double)o->n_sets;
        out->after.chrf += dg_chrf_score(&e.chrf) / (double)o->n_sets;
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

float dg_calibrate_threshold(double *good, size_t n)
{
    qsort(good, n, sizeof *good, by_value);
    return (float)(floor(good[n / 100] * 1000) / 1000);
}

/* Find the threshold from the answers with the chosen settings. */
static void find_threshold(
    const struct answers *all, const struct dg_config *c, struct dg_calibrated *out)
{
    double *good = dg_alloc(all->n + 1, sizeof *good, "answers");
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].chrf >= DG_CALIBRATE_GOOD)
            good[n++] = all->list[i].confidence;
    out->sentences = all->n;
    out->good = n;
    out->kept_confidence = n < DG_CALIBRATE_LEAST_GOOD;
    out->low_confidence =
        out->kept_confidence ? c->low_confidence : dg_calibrate_threshold(good, n);
    out->flagged = out->good_flagged = 0;
    for (size_t i = 0; i < all->n; i++) {
        const bool below = all->list[i].confidence < (double)out->low_confidence;
        out->flagged += below;
        out->good_flagged += below && all->list[i].chrf >= DG_CALIBRATE_GOOD;
    }
    free(good);
}

int dg_calibrate(
    const struct dg_calibrate_options *o, struct dg_calibrated *out, struct dg_error *err)
{
    struct answers answers = {0};
    struct dg_config c;
    memset(out, 0, sizeof *out);
    if (!o->n_sets)
        return dg_error_set(err, DG_EINVAL, "there is no development set to calibrate with");
    int rc = dg_config_load(o->bundle, &c, err);
    struct dg_calibrate_options quiet = *o;
    quiet.tried = NULL;
    out->before = (struct dg_calibrate_trial){.beam = c.beam, .alpha = -1};
    if (!rc)
        rc = try_one(&quiet, NULL, &out->before, err);
    out->before.alpha = c.alpha;
    if (!rc)
        rc = choose(o, &c, out, err);
    if (!rc)
        rc = choose_for_pairs(o, out, err);
    /* Translates once more with the chosen settings, to avoid keeping the answers of all trials. */
    if (!rc)
        rc = try_chosen(o, out, &answers, err);
    if (!rc)
        find_threshold(&answers, &c, out);
    else
        dg_calibrated_free(out);
    free(answers.list);
    return rc;
}

void dg_calibrated_free(struct dg_calibrated *c)
{
    free(c->pairs);
    c->pairs = NULL;
    c->n_pairs = 0;
}

int dg_calibrated_write(const struct dg_calibrated *c, struct dg_config *config,
    struct dg_json *manifest, struct dg_error *err)
{
    config->beam = c->chosen.beam;
    config->alpha = c->chosen.alpha;
    config->low_confidence = c->low_confidence;
    int rc = dg_config_write(config, manifest);
    for (size_t i = 0; i < c->n_pairs && !rc; i++) {
        const struct dg_calibrated_pair *p = &c->pairs[i];
        const struct dg_pair_search s = {p->chosen.alpha, p->chosen.penalty_cap};
        dg_pair_search_remove(manifest, p->source_lang, p->target_lang);
        if (p->own)
            rc = dg_pair_search_write(manifest, p->source_lang, p->target_lang, s);
    }
    return rc ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest") : 0;
}

int dg_calibrate_seal(const char *bundle, const struct dg_calibrated *c, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    struct dg_config config;
    int rc = dg_bundle_open(bundle, &b, err);
    if (!rc)
        rc = dg_config_read(dg_bundle_manifest(b), &config, err);
    if (!rc) {
        struct dg_json *manifest = dg_json_copy(dg_bundle_manifest(b));
        rc = manifest ? dg_calibrated_write(c, &config, manifest, err)
                      : dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
        if (!rc)
            rc = dg_bundle_seal(bundle, manifest, err);
        dg_json_free(manifest);
    }
    dg_bundle_close(b);
    return rc;
}
