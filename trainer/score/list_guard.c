#include "trainer/score/list_guard.h"

#include "trainer/score/evaluate.h"
#include "weights/bundle.h"

#include <string.h>

static const uint32_t beams[] = {1, 4};

static int translate_set(const struct dg_list_guard *g, const struct dg_calibrate_set *set,
    enum dg_list_use lists, struct dg_list_guard_trial *t, struct dg_error *err)
{
    struct dg_evaluated e;
    const struct dg_evaluate_text text = {.bundle = g->bundle,
        .source = set->source,
        .target = set->target,
        .source_lang = set->source_lang,
        .target_lang = set->target_lang,
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

static int note_trial(struct dg_json *measured, const struct dg_calibrate_set *set,
    const struct dg_list_guard_trial *t, struct dg_error *err)
{
    struct dg_json *o = dg_json_new_object(), *pair = dg_json_new_array();
    int lost = !o || !pair;
    lost = lost || dg_json_append_take(
                       pair, dg_json_new_string(set->source_lang, strlen(set->source_lang)));
    lost = lost || dg_json_append_take(
                       pair, dg_json_new_string(set->target_lang, strlen(set->target_lang)));
    lost = dg_json_set_take(o, "pair", pair) || lost;
    lost = lost || dg_json_set_int(o, "lines", (int64_t)t->lines) ||
           dg_json_set_int(o, "beam_size", t->beam) || dg_json_set_real(o, "bleu", t->bleu[0]) ||
           dg_json_set_real(o, "bleu_full", t->bleu[1]) ||
           dg_json_set_real(o, "chrf", t->chrf[0]) || dg_json_set_real(o, "chrf_full", t->chrf[1]);
    lost = dg_json_append_take(measured, o) || lost;
    return lost ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest") : 0;
}

/* Every set with every beam into `measured`; *use: all are within the tolerance. */
static int measure(
    const struct dg_list_guard *g, struct dg_json *measured, bool *use, struct dg_error *err)
{
    int rc = 0;
    *use = true;
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
        *use = *use && within(&t);
    }
    return rc;
}

static struct dg_json *decide(bool use, const struct dg_json *measured)
{
    struct dg_json *o = dg_json_new_object();
    int lost = dg_json_set_bool(o, "use", use) ||
               dg_json_set_real(o, "tolerance", DG_LIST_GUARD_TOLERANCE);
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
    struct dg_bundle *b = NULL;
    bool use = false;
    *decision = NULL;
    int rc = measured ? dg_bundle_open(g->bundle, &b, err)
                      : dg_error_set(err, DG_ENOMEM, "no memory for figures");
    if (!rc && !dg_bundle_has_shortlist(b))
        rc = dg_error_set(err, DG_EINVAL,
            "%s has no shortlist: make one with --prepared, and --text for text that is not prepared",
            g->bundle);
    if (!rc && !g->n_sets)
        rc = dg_error_set(err, DG_EINVAL, "there is no set to measure the shortlist with");
    if (!rc)
        rc = measure(g, measured, &use, err);
    if (!rc && !(*decision = decide(use, measured)))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    dg_json_free(measured);
    dg_bundle_close(b);
    return rc;
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

int dg_list_guard(const struct dg_list_guard *g, bool *use, struct dg_error *err)
{
    struct dg_json *decision = NULL;
    int rc = dg_list_guard_measure(g, &decision, err);
    if (!rc)
        rc = seal(g, decision, err);
    *use = !rc && dg_json_bool(dg_json_get(decision, "use"));
    dg_json_free(decision);
    return rc;
}
