/* Candidates that the topk op cannot offer: drawn at random (sampling), restricted to a spelling,
 * or to bytes that form characters. All need a row's whole logits on the host, so they cost a copy
 * of V numbers per row and step, and nothing for other sentences. One thread at a time per
 * engine. */
#ifndef DG_MODEL_ENGINE_CHOOSE_H
#define DG_MODEL_ENGINE_CHOOSE_H

#include "model/engine/beam.h"

/* The allowed pieces at the start of an answer, after the prefix: an automaton over ids. State 0 is
 * the end of the prefix. State n_states allows everything and is final. The ids of a state
 * ascend. */
struct dg_spelling {
    uint32_t n_states;
    /* [n_states + 1]: state s has edges first[s] .. first[s + 1] */
    const uint32_t *first;
    /* [first[n_states]] */
    const int32_t *ids;
    /* [first[n_states]]: the state that each edge leads to */
    const uint32_t *next;
    /* [n_states + 1]: fewest pieces from each state to n_states. An edge is taken only if the
     * output limit leaves room for the rest of the spelling */
    const uint32_t *least;
};

/* The state after ids[n]; n_states if they complete the spelling or leave the automaton. */
uint32_t dg_spelling_state(const struct dg_spelling *s, const int32_t *ids, uint32_t n);

/* One row's state in its search, and the constraints on its next piece. */
struct dg_choice {
    const struct dg_search *search;
    /* NULL: none */
    const struct dg_spelling *spelling;
    uint32_t state;
    /* of the sentence; NULL: none */
    const struct dg_byte_rule *bytes;
    /* [n] the pieces so far */
    const int32_t *ids;
    uint32_t n;
    /* as in struct dg_beam: the first n_prefix (<= n) may be repeated, the first n_lead do not
     * count in min_len */
    uint32_t n_prefix, n_lead;
    int32_t eos, never;
    /* hash of the sentence, for sampling (dg_choose_key) */
    uint64_t key;
};

/* Write the k best candidates of logits[V] under the choice (sampling: the drawn one first), like
 * the topk op: log-probabilities of the whole softmax; -inf where there are fewer. Overwrites
 * logits. */
void dg_choose(
    const struct dg_choice *c, float *logits, uint32_t V, uint32_t k, float *logprob, int32_t *ids);

/* Hash of a sentence's ids. */
uint64_t dg_choose_key(const int32_t *ids, uint32_t n);

#endif
