/* Candidates that the topk op cannot offer: drawn at random (sampling), held to a spelling, or to
 * bytes that make characters. All look at a row's whole logits on the host, so they cost a copy of
 * V numbers per row and step, and nothing for other sentences. One thread at a time per engine. */
#ifndef DG_MODEL_ENGINE_CHOOSE_H
#define DG_MODEL_ENGINE_CHOOSE_H

#include "model/engine/beam.h"

/* The allowed first free pieces of an answer: an automaton over ids. State 0 is the end of the
 * prefix. State n_states allows everything and is final. The ids of a state ascend. */
struct dg_spelling {
    uint32_t n_states;
    /* [n_states + 1]: state s has edges first[s] .. first[s + 1] */
    const uint32_t *first;
    /* [first[n_states]] */
    const int32_t *ids;
    /* [first[n_states]]: where each leads */
    const uint32_t *next;
};

/* The state after ids[n]; n_states when they are spelt already, or leave the automaton. */
uint32_t dg_spelling_state(const struct dg_spelling *s, const int32_t *ids, uint32_t n);

/* One row's place in its search. */
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
    int32_t eos, never;
    /* of the sentence, for sampling */
    uint64_t key;
};

/* The k best candidates of logits[V] under the choice (sampling: the drawn one first), as the topk
 * op gives them: log-probabilities of the whole softmax; -inf if there are fewer. Spoils logits. */
void dg_choose(
    const struct dg_choice *c, float *logits, uint32_t V, uint32_t k, float *logprob, int32_t *ids);

/* A number that names a sentence by its ids. */
uint64_t dg_choose_key(const int32_t *ids, uint32_t n);

#endif
