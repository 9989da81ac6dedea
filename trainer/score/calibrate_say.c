/* A calibration in words. */
#include "trainer/score/calibrate.h"

static void add_penalty(struct dg_buffer *out, const struct dg_calibrate_trial *t)
{
    dg_buffer_addf(out, "length penalty %g", (double)t->alpha);
    if (t->penalty_cap > 0)
        dg_buffer_addf(out, " over at most %g x the source", (double)t->penalty_cap);
}

void dg_calibrate_say_trial(const struct dg_calibrated_pair *pair,
    const struct dg_calibrate_trial *t, struct dg_buffer *out)
{
    if (pair)
        dg_buffer_addf(out, "%s-%s ", pair->source_lang, pair->target_lang);
    dg_buffer_addf(out, "beam %u, ", t->beam);
    add_penalty(out, t);
    dg_buffer_addf(
        out, ": BLEU %.2f, chrF2 %.2f, brevity penalty %.3f", t->bleu, t->chrf, t->brevity);
}

void dg_calibrate_say_chosen(const struct dg_calibrated *c, struct dg_buffer *out)
{
    dg_buffer_addf(out, "chosen: beam %u, ", c->chosen.beam);
    add_penalty(out, &c->chosen);
    for (size_t i = 0; i < c->n_pairs; i++) {
        if (!c->pairs[i].own)
            continue;
        dg_buffer_addf(out, "; %s-%s: ", c->pairs[i].source_lang, c->pairs[i].target_lang);
        add_penalty(out, &c->pairs[i].chosen);
    }
    dg_buffer_addf(out, " (%+.2f BLEU, %+.2f chrF2)", c->after.bleu - c->before.bleu,
        c->after.chrf - c->before.chrf);
}
