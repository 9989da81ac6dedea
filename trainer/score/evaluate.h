/* Measures a model's quality: loss on encoded sets with the training's own forward pass, BLEU and
 * chrF on translated text with the server's own search. One thread at a time. */
#ifndef DG_TRAINER_SCORE_EVALUATE_H
#define DG_TRAINER_SCORE_EVALUATE_H

#include "trainer/score/bleu.h"
#include "trainer/score/calibrate.h"
#include "trainer/score/chrf.h"
#include "trainer/update/crew.h"
#include "translate/translate.h"

struct dg_evaluate_set {
    /* "dev-0" */
    const char *prepared_dir, *name;
    double label_smoothing;
    uint64_t micro_tokens;
    /* set to non-zero: return DG_ECANCELED; NULL: cannot be stopped */
    const volatile int *stop;
};

/* Compute the loss sums over a set. params NULL: the workers' own. */
int dg_evaluate_loss(struct dg_crew *ws, struct dg_params *params,
    const struct dg_evaluate_set *set, struct dg_loss_sums *sums, struct dg_error *err);

struct dg_evaluate_text {
    const char *bundle;
    /* codes NULL: the bundle's first pair */
    struct dg_calibrate_set set;
    /* number of lines from the start; 0: all */
    uint64_t lines;
    /* 0: all cores that this process may use */
    int threads;
    /* 0: the bundle's */
    uint32_t beam;
    /* negative: the bundle's */
    float alpha;
    /* with alpha: cap on the length that the penalty counts, as a multiple of the source's tokens;
     * 0: no cap */
    float penalty_cap;
    /* whether a shortlist is used; 0: as the bundle says */
    enum dg_list_use lists;
    /* also compute the references' log-probability, by forced decoding */
    bool score;
    /* call `sample` for at most this many lines, spread evenly over the text */
    uint64_t samples;
    void (*sample)(void *arg, const char *source, const char *reference, const char *translation);
    /* called for every answer; NULL: no callback */
    void (*answer)(
        void *arg, const struct dg_answers *a, const char *reference, size_t reference_len);
    /* for both callbacks */
    void *arg;
    /* set to non-zero: return DG_ECANCELED; NULL: cannot be stopped */
    const volatile int *stop;
};

/* Most tokens of a side of a pair whose reference is scored, with a tag and </s>: time and memory
 * grow with the square. A translation is made in parts, so it needs no limit. */
enum { DG_EVALUATE_TOKENS = 4096 };

struct dg_evaluated {
    struct dg_bleu bleu;
    struct dg_chrf chrf;
    /* pieces of the references, </s> counted, only with `score` */
    uint64_t lines, pieces;
    /* pairs that `pieces` and `nll` leave out: over DG_EVALUATE_TOKENS, or longer than the model's
     * learned positions */
    uint64_t unscored;
    /* sum over the references, only with `score` */
    double nll;
    double seconds;
};

int dg_evaluate_text(
    const struct dg_evaluate_text *o, struct dg_evaluated *out, struct dg_error *err);

#endif
