/* Beam search without tensors (contract 5; paper section 6.1, Wu et al. 2016): takes each live row's best
 * candidates and decides who lives, who is finished and when to stop. One thread at a time per beam. */
#ifndef DG_MODEL_BEAM_H
#define DG_MODEL_BEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dg_penalty {
    DG_PENALTY_GNMT,  /* lp(Y) = ((5+|Y|)/6)^alpha */
    DG_PENALTY_POWER, /* |Y|^alpha */
    DG_PENALTY_NONE,  /* 1 */
};

struct dg_search {
    uint32_t beam;    /* K, 1..32; 0 = the model's default */
    uint32_t n_best;  /* 1..K; 0 = 1 */
    uint32_t max_len; /* positions, </s> counted; 0 = from the source's length */
    float alpha;
    enum dg_penalty penalty;
};

/* Length penalty of n pieces, </s> counted. */
double dg_length_penalty(enum dg_penalty penalty, double alpha, uint32_t n);

#endif
