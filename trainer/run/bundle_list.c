#include "trainer/run/bundle_list.h"

#include "base/clock.h"
#include "trainer/align/lexicon.h"
#include "trainer/align/shortlist.h"
#include "trainer/run/internal.h"
#include "trainer/score/list_guard.h"

#include <stdlib.h>

/* True if sentences need more than half of the vocabulary: the engine ignores such lists. */
static bool too_long(const struct dg_config *c, double pieces)
{
    return 2 * pieces > c->target_vocab;
}

bool dg_bundle_list_wanted(const struct dg_run *r)
{
    return r->recipe->validation.shortlist && dg_prepared_sets(r->prepared, "dev") &&
           !too_long(&r->config, DG_SHORTLIST_FREQUENT);
}

size_t dg_bundle_list_bytes(const struct dg_run *r)
{
    const struct dg_lexicon_options o = {.source_vocab = r->config.source_vocab,
        .target_vocab = r->config.target_vocab,
        .source_eos = dg_prepared_eos(r->prepared),
        .target_eos = r->config.eos,
        .pairs = DG_LEXICON_PAIRS};
    return dg_bundle_list_wanted(r) ? dg_lexicon_bytes(r->data, &o) : 0;
}

/* Replace *decision by `now`, which it takes, and seal the bundle with it. */
static int seal_take(
    struct dg_export *e, struct dg_json **decision, struct dg_json *now, struct dg_error *err)
{
    dg_json_free(*decision);
    *decision = now;
    e->shortlist = now;
    return now ? dg_export_seal(e, err)
               : dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
}

static struct dg_json *not_yet(void)
{
    struct dg_json *o = dg_json_new_object();
    if (dg_json_set_bool(o, "use", false) == 0)
        return o;
    dg_json_free(o);
    return NULL;
}

static int measure(const struct dg_run *r, struct dg_json **decision, struct dg_error *err)
{
    size_t n;
    struct dg_calibrate_set *sets = dg_run_dev_sets(r, &n);
    const struct dg_list_guard g = {.bundle = r->bundle_dir,
        .sets = sets,
        .n_sets = n,
        .lines = (uint64_t)r->recipe->validation.shortlist,
        .threads = (int)r->recipe->training.threads,
        .stop = r->o->stop};
    int rc = dg_list_guard_measure(&g, decision, err);
    free(sets);
    return rc;
}

/* Add the list's figures to the decision, and the seconds that making and measuring took. */
static int note(
    struct dg_json *decision, const struct dg_made_shortlist *made, double s, struct dg_error *err)
{
    int lost = dg_json_set_int(decision, "pairs", (int64_t)made->pairs);
    lost = dg_json_set_real(decision, "tokens", made->mean_rows) || lost;
    lost = dg_json_set_real(decision, "coverage", made->coverage) || lost;
    lost = dg_json_set_real(decision, "seconds", s) || lost;
    return lost ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest") : 0;
}

static void tell(const struct dg_run *r, const struct dg_json *decision)
{
    char words[1024];
    dg_list_guard_say(decision, words, sizeof words);
    dg_trainlog_say(r->log, "shortlist: %.0f of %u tokens a sentence, %s (%.1f s)",
        dg_json_number(dg_json_get(decision, "tokens")), r->config.target_vocab, words,
        dg_json_number(dg_json_get(decision, "seconds")));
}

int dg_bundle_list_add(
    const struct dg_run *r, struct dg_export *e, struct dg_json **decision, struct dg_error *err)
{
    const struct dg_make_shortlist m = {.bundle = r->bundle_dir,
        .prepared_dir = r->prepared_dir,
        .pairs = DG_LEXICON_PAIRS,
        .file_only = true,
        .stop = r->o->stop};
    const uint64_t began = dg_clock_ns();
    struct dg_made_shortlist made;
    struct dg_json *measured = NULL;
    *decision = NULL;
    int rc = dg_shortlist_make(&m, &made, err);
    if (!rc && too_long(&r->config, made.mean_rows)) {
        dg_trainlog_say(r->log, "shortlist: none: sentences would need %.0f of %u tokens",
            made.mean_rows, r->config.target_vocab);
        dg_export_remove_shortlist(e);
        return 0;
    }
    if (!rc)
        rc = seal_take(e, decision, not_yet(), err);
    if (!rc)
        rc = measure(r, &measured, err);
    if (!rc)
        rc = note(measured, &made, (double)(dg_clock_ns() - began) * 1e-9, err);
    if (rc) {
        dg_json_free(measured);
        return rc;
    }
    rc = seal_take(e, decision, measured, err);
    if (!rc)
        tell(r, measured);
    return rc;
}
