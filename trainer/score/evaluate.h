/* How good a model is: loss on encoded sets with the training's own forward pass, BLEU and chrF on
 * translated text with the server's own search. One thread at a time. */
#ifndef DG_TRAINER_SCORE_EVALUATE_H
#define DG_TRAINER_SCORE_EVALUATE_H

#include "trainer/score/bleu.h"
#include "trainer/score/chrf.h"
#include "trainer/update/crew.h"
#include "translate/translate.h"

struct dg_evaluate_set {
    const char *prepared_dir, *name; /* "dev-0" */
    double label_smoothing;
    uint64_t micro_tokens;
    const volatile int *stop; /* non-zero: DG_ECANCELED; NULL never */
};

/* Sums over a set; params NULL: the workers' own. */
int dg_evaluate_loss(struct dg_crew *ws, struct dg_params *params,
    const struct dg_evaluate_set *set, struct dg_loss_sums *sums, struct dg_error *err);

struct dg_evaluate_text {
    const char *bundle;
    const char *source, *target;           /* line-aligned files, plain or gzip */
    const char *source_lang, *target_lang; /* NULL: the bundle's first pair */
    uint64_t lines;                        /* the first so many; 0: all */
    int threads;                           /* 0: all that this process may use */
    uint32_t beam;                         /* 0: the bundle's */
    float alpha;                           /* negative: the bundle's */
    float penalty_cap; /* with alpha: times the source's tokens; 0: the penalty counts all */
    bool score;        /* also the reference's log-probability, by forced decoding */
    uint64_t samples;  /* how many are told to `sample`, from all over the text */
    void (*sample)(void *arg, const char *source, const char *reference, const char *translation);
    /* told of every answer; NULL: nobody is */
    void (*answer)(
        void *arg, const struct dg_answers *a, const char *reference, size_t reference_len);
    void *arg;                /* of both */
    const volatile int *stop; /* non-zero: DG_ECANCELED; NULL never */
};

struct dg_evaluated {
    struct dg_bleu bleu;
    struct dg_chrf chrf;
    uint64_t lines, pieces; /* pieces of the references, </s> counted: when scored */
    double nll;             /* of the references, summed */
    double seconds;
};

int dg_evaluate_text(
    const struct dg_evaluate_text *o, struct dg_evaluated *out, struct dg_error *err);

#endif
