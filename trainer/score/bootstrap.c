#include "trainer/score/bootstrap.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = DG_BOOTSTRAP_SAMPLES };

struct drawn {
    double bleu[2][SAMPLES], chrf[2][SAMPLES];
};

static uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static void add_line(struct dg_bootstrap_line *sum, const struct dg_bootstrap_line *line)
{
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < DG_BLEU_ORDER; i++) {
            sum->bleu[s].correct[i] += line->bleu[s].correct[i];
            sum->bleu[s].total[i] += line->bleu[s].total[i];
        }
        sum->bleu[s].hyp_len += line->bleu[s].hyp_len;
        sum->bleu[s].ref_len += line->bleu[s].ref_len;
        for (size_t i = 0; i < DG_CHRF_ORDER; i++) {
            sum->chrf[s].hyp[i] += line->chrf[s].hyp[i];
            sum->chrf[s].ref[i] += line->chrf[s].ref[i];
            sum->chrf[s].match[i] += line->chrf[s].match[i];
        }
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compute spread and p from the samples of both translations, which it sorts. */
static void judge(double samples[2][SAMPLES], struct dg_bootstrap_result *r)
{
    const double real = fabs(r->score[0] - r->score[1]);
    const size_t out = SAMPLES / 40; /* 2.5 % on either side */
    double mean = 0;
    size_t further = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        mean += fabs(samples[0][i] - samples[1][i]) / SAMPLES;
    for (size_t i = 0; i < SAMPLES; i++)
        further += fabs(samples[0][i] - samples[1][i]) - mean > real;
    r->p = real > 0 ? (double)(further + 1) / (SAMPLES + 1) : 1;
    for (size_t s = 0; s < 2; s++) {
        qsort(samples[s], SAMPLES, sizeof(double), ascending);
        r->spread[s] = (samples[s][SAMPLES - out - 1] - samples[s][out]) / 2;
    }
}

void dg_bootstrap(const struct dg_bootstrap_line *lines, size_t n, struct dg_bootstrap_result *bleu,
    struct dg_bootstrap_result *chrf)
{
    struct drawn *d = dg_alloc(1, sizeof *d, "samples of a bootstrap");
    struct dg_bootstrap_line all = {0};
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++)
        add_line(&all, &lines[i]);
    for (size_t i = 0; i < SAMPLES; i++) {
        struct dg_bootstrap_line sample = {0};
        for (size_t k = 0; k < n; k++)
            add_line(&sample, &lines[(uint64_t)next(&state) * n >> 32]);
        for (size_t s = 0; s < 2; s++) {
            d->bleu[s][i] = dg_bleu_score(&sample.bleu[s]);
            d->chrf[s][i] = dg_chrf_score(&sample.chrf[s]);
        }
    }
    for (size_t s = 0; s < 2; s++) {
        bleu->score[s] = dg_bleu_score(&all.bleu[s]);
        chrf->score[s] = dg_chrf_score(&all.chrf[s]);
    }
    judge(d->bleu, bleu);
    judge(d->chrf, chrf);
    free(d);
}
