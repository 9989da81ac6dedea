#include "trainer/score/list_guard.h"

#include "base/alloc.h"
#include "trainer/score/evaluate.h"
#include "weights/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t beams[] = {1, 4};

static int translate_set(const struct dg_list_guard *g, const struct dg_calibrate_set *set,
    enum dg_list_use lists, struct dg_list_guard_trial *t, struct dg_error *err)
{
    struct dg_evaluated e;
    const struct dg_evaluate_text text = {.bundle = g->bundle,
        .set = *set,
        .lines = g->lines,
        .threads = g->threads,
        .beam = t->beam,
        .alpha = -1,
        .lists = lists,
        .stop = g->stop};
    int rc = dg_evaluate_text(&text, &e, err);
    if (rc)
        return rc;
    const size_t full = lists == DG_LISTS_OFF;
    t->lines = e.lines;
    t->bleu[full] = dg_bleu_score(&e.bleu);
    t->chrf[full] = dg_chrf_score(&e.chrf);
    return 0;
}

static bool within(const struct dg_list_guard_trial *t)
{
    return t->bleu[0] >= t->bleu[1] - DG_LIST_GUARD_TOLERANCE &&
           t->chrf[0] >= t->chrf[1] - DG_LIST_GUARD_TOLERANCE;
}

static struct dg_json *pair_json(const char *source, const char *target)
{
    struct dg_json *pair = dg_json_new_array();
    int lost = dg_json_append_take(pair, dg_json_new_string(source, strlen(source)));
    lost = dg_json_append_take(pair, dg_json_new_string(target, strlen(target))) || lost;
    if (!lost)
        return pair;
    dg_json_free(pair);
    return NULL;
}

static int note_trial(struct dg_json *measured, const struct dg_calibrate_set *set,
    const struct dg_list_guard_trial *t, struct dg_error *err)
{
    struct dg_json *o = dg_json_new_object();
    int lost = dg_json_set_take(o, "pair", pair_json(set->source_lang, set->target_lang));
    lost = lost || dg_json_set_int(o, "lines", (int64_t)t->lines) ||
           dg_json_set_int(o, "beam_size", t->beam) || dg_json_set_real(o, "bleu", t->bleu[0]) ||
           dg_json_set_real(o, "bleu_full", t->bleu[1]) ||
           dg_json_set_real(o, "chrf", t->chrf[0]) || dg_json_set_real(o, "chrf_full", t->chrf[1]);
    lost = dg_json_append_take(measured, o) || lost;
    return lost ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest") : 0;
}

/* Measure every set with every beam and append the figures to `measured`. kept[i]: set i stays
 * within the tolerance. */
static int measure(
    const struct dg_list_guard *g, struct dg_json *measured, bool *kept, struct dg_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < g->n_sets; i++)
        kept[i] = true;
    for (size_t i = 0; i < g->n_sets * 2 && !rc; i++) {
        const struct dg_calibrate_set *set = &g->sets[i / 2];
        struct dg_list_guard_trial t = {.beam = beams[i % 2]};
        rc = translate_set(g, set, DG_LISTS_ON, &t, err);
        if (!rc)
            rc = translate_set(g, set, DG_LISTS_OFF, &t, err);
        if (!rc)
            rc = note_trial(measured, set, &t, err);
        if (!rc && g->tried)
            g->tried(g->arg, set, &t);
        kept[i / 2] = kept[i / 2] && within(&t);
    }
    return rc;
}

/* True if the pair has sets and all of them stay within the tolerance. */
static bool keeps_quality(
    const struct dg_list_guard *g, const bool *kept, const char *source, const char *target)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_sets; i++) {
        const struct dg_calibrate_set *set = &g->sets[i];
        if (strcmp(set->source_lang, source) || strcmp(set->target_lang, target))
            continue;
        if (!kept[i])
            return false;
        n++;
    }
    return n > 0;
}

/* Make the decision. It names the pairs that use the list unless all pairs of the bundle do. */
static struct dg_json *decide(const struct dg_list_guard *g, const struct dg_bundle *b,
    const bool *kept, const struct dg_json *measured)
{
    struct dg_json *o = dg_json_new_object(), *pairs = dg_json_new_array();
    int lost = 0;
    for (size_t i = 0; i < dg_bundle_pairs(b); i++) {
        const char *source, *target;
        dg_bundle_pair(b, i, &source, &target);
        if (keeps_quality(g, kept, source, target))
            lost = dg_json_append_take(pairs, pair_json(source, target)) || lost;
    }
    const bool use = dg_json_length(pairs) > 0;
    lost = dg_json_set_bool(o, "use", use) || lost;
    if (use && dg_json_length(pairs) < dg_bundle_pairs(b))
        lost = dg_json_set_take(o, "use_for", dg_json_copy(pairs)) || lost;
    dg_json_free(pairs);
    lost = dg_json_set_real(o, "tolerance", DG_LIST_GUARD_TOLERANCE) || lost;
    lost = dg_json_set_take(o, "measured", dg_json_copy(measured)) || lost;
    if (!lost)
        return o;
    dg_json_free(o);
    return NULL;
}

int dg_list_guard_measure(
    const struct dg_list_guard *g, struct dg_json **decision, struct dg_error *err)
{
    struct dg_json *measured = dg_json_new_array();
    bool *kept = dg_alloc(g->n_sets + 1, sizeof *kept, "figures");
    struct dg_bundle *b = NULL;
    *decision = NULL;
    int rc = dg_bundle_open(g->bundle, &b, err);
    if (!rc && !dg_bundle_has_shortlist(b))
        rc = dg_error_set(err, DG_EINVAL,
            "%s has no shortlist: make one with --prepared, and --text for text that is not prepared",
            g->bundle);
    if (!rc && !g->n_sets)
        rc = dg_error_set(err, DG_EINVAL, "there is no set to measure the shortlist with");
    if (!rc)
        rc = measure(g, measured, kept, err);
    if (!rc && !(*decision = decide(g, b, kept, measured)))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    dg_json_free(measured);
    free(kept);
    dg_bundle_close(b);
    return rc;
}

void dg_list_guard_say(const struct dg_json *decision, char *to, size_t cap)
{
    const struct dg_json *pairs = dg_json_get(decision, "use_for");
    const size_t n = dg_json_length(pairs);
    size_t at = 0;
    if (!dg_json_bool(dg_json_get(decision, "use")))
        snprintf(to, cap, "not used: it costs more than 0.1 BLEU or chrF2");
    else if (!n)
        snprintf(to, cap, "used: no set loses more than 0.1 BLEU or chrF2");
    for (size_t i = 0; i < n && at < cap; i++)
        at += (size_t)snprintf(to + at, cap - at, "%s%s-%s", i ? ", " : "used for ",
            dg_json_string(dg_json_at(dg_json_at(pairs, i), 0), NULL),
            dg_json_string(dg_json_at(dg_json_at(pairs, i), 1), NULL));
    if (n && at < cap)
        snprintf(to + at, cap - at,
            ": it costs other directions more than 0.1 BLEU or chrF2, or was not measured for "
            "them");
}

static int seal(const struct dg_list_guard *g, const struct dg_json *decision, struct dg_error *err)
{
    struct dg_bundle *b = NULL;
    int rc = dg_bundle_open(g->bundle, &b, err);
    if (rc)
        return rc;
    struct dg_json *manifest = dg_json_copy(dg_bundle_manifest(b));
    rc = !manifest || dg_json_set_take(manifest, "shortlist", dg_json_copy(decision))
             ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest")
             : dg_bundle_seal(dg_bundle_dir(b), manifest, err);
    dg_json_free(manifest);
    dg_bundle_close(b);
    return rc;
}

int dg_list_guard(const struct dg_list_guard *g, struct dg_json **decision, struct dg_error *err)
{
    int rc = dg_list_guard_measure(g, decision, err);
    if (!rc)
        rc = seal(g, *decision, err);
    if (!rc)
        return 0;
    dg_json_free(*decision);
    *decision = NULL;
    return rc;
}
