/* One admitted sentence, from admission until its answer is released: its search, and where its
 * keys and values are. Only model/engine includes this; one thread at a time, the engine's. */
#ifndef DG_MODEL_ENGINE_LIVE_H
#define DG_MODEL_ENGINE_LIVE_H

#include "model/engine/engine.h"
#include "model/engine/output_rows.h"

/* Recycled: its arrays keep their memory. */
struct dg_live {
    struct dg_live *next;
    uint64_t id;
    /* [n_source], [n_prefix] ids */
    int32_t *source, *prefix;
    uint32_t n_source, n_prefix;
    struct dg_beam beam;
    /* [n_source] cache slots of the memory's keys and values */
    int32_t *cross_slots;
    /* [beam,max_len] each: cache slots of each hypothesis' positions; [0] is current */
    int32_t *history[2];
    /* [beam, blocks of max_len] blocks that each row writes into; -1: none yet */
    int32_t *chains;
    /* [beam] each row's place in the pool of an SSRU decoder's states */
    int32_t *states;
    /* [n_reserved] cache blocks, of which n_blocks are taken */
    int32_t *blocks;
    uint32_t n_blocks, n_reserved;
    /* all the arrays above */
    void *memory;
    size_t memory_bytes;
    /* borrowed; NULL: none, or already spelt to its end */
    const struct dg_spelling *spelling;
    /* borrowed; NULL: none */
    const struct dg_terms *terms;
    /* hash of the source, for sampling (dg_choose_key) */
    uint64_t key;
    /* the sentence's shortlist; NULL: the whole vocabulary */
    struct dg_output_rows *output;
    /* number of its encoder pass until steps are ordered after it; 0: none */
    uint32_t pass;
    bool want_alignment, paused;
    /* the host does the next step, because the device's candidates were too few */
    bool on_host;
    /* For pipelined steps: the place on the device, -1: none yet; hypotheses there after the steps
     * submitted so far, 0: the device's copy is missing or stale; steps submitted and not read
     * yet. */
    int32_t place;
    uint32_t device_hyps, in_flight;
    struct dg_result result;
};

/* Check a sentence against model and limits and fill in every default. DG_EINVAL, DG_ELIMIT. */
int dg_live_resolve(const struct dg_engine *e, const struct dg_sentence *in, struct dg_search *out,
    struct dg_error *err);
/* Copy the sentence in. DG_ENOMEM leaves s reusable. */
int dg_live_begin(struct dg_live *s, uint64_t id, const struct dg_sentence *in,
    const struct dg_search *search, int32_t eos, uint32_t n_reserved, struct dg_error *err);
void dg_live_free(struct dg_live *s); /* NULL is fine */

/* The link to which the next sentence of a list is appended. */
static inline struct dg_live **dg_live_tail(struct dg_live **list)
{
    while (*list)
        list = &(*list)->next;
    return list;
}

/* The cache slot of position t in row r, the same every time. Takes a block when the row first
 * writes into it (a row may start in the middle of a block). */
int32_t dg_live_slot(struct dg_engine *e, struct dg_live *s, uint32_t r, uint32_t t);
/* Give each hypothesis its parent's history: only lists of slots move, never keys and values. */
void dg_live_reorder(struct dg_live *s);

#endif
