/* The engine as its own files see it: engine.c (admission, answers), live.c (one sentence), step.c
 * (encode, decode), ahead.c (decode with the search's state on the device). */
#ifndef DG_MODEL_ENGINE_INTERNAL_H
#define DG_MODEL_ENGINE_INTERNAL_H

#include "model/engine/cache.h"
#include "model/engine/engine.h"
#include "model/engine/output_rows.h"
#include "model/engine/states.h"
#include "model/layers/workspace.h"

/* Rows of one encoder pass when several sentences join at once: enough to keep the GEMMs busy,
 * where the backend does not ask for more. */
#define DG_ENCODE_ROWS 512u

/* One admitted sentence. Recycled, its arrays keep their memory. */
struct dg_live {
    struct dg_live *next;
    uint64_t id;
    int32_t *source; /* [n_source] */
    int32_t *prefix; /* [n_prefix] */
    uint32_t n_source, n_prefix;
    struct dg_beam beam;
    int32_t *cross_slots; /* [n_source]: where the memory's keys and values are */
    /* [beam, max_len] slots of each hypothesis' positions; [0] is current */
    int32_t *history[2];
    /* [beam, blocks of max_len]: blocks each row writes into; -1: none yet */
    int32_t *chains;
    int32_t *states; /* [beam] each row's place in the pool of an SSRU decoder's states */
    int32_t *blocks; /* [n_blocks] taken so far */
    uint32_t n_blocks, n_reserved;
    void *memory; /* all the arrays above */
    size_t memory_bytes;
    const struct dg_spelling *spelling; /* borrowed; NULL: none, or spelt to its end */
    uint64_t key;                       /* of the source, for sampling */
    struct dg_output_rows *output;      /* the sentence's own; NULL: the whole vocabulary */
    bool want_alignment, paused;
    int32_t place; /* of its search on the device; -1: none yet */
    /* there after the steps given so far; 0: what is there is old. Steps given and not read yet */
    uint32_t tracks, ahead;
    struct dg_result result;
};

/* Where the rows of a step look in their sources (align.c). */
struct dg_align {
    uint32_t first_head, n_heads; /* those that count */
    /* [dec_layers] the workspace's; the alignment layer's cross-attention writes its weights */
    struct dg_dec_slots *slots;
    struct dg_rows probs; /* [sum of H*n_q*n_k] of the step's sentences; at most of max_rows */
    float *weights;       /* the same on the host */
    int32_t *sources;     /* [max_rows] */
};

struct dg_engine {
    const struct dg_model *model;
    struct dg_backend *be;
    struct dg_engine_limits limits;
    struct dg_cache cache;
    struct dg_state_pool states;
    struct dg_workspace ws;
    struct dg_align align;
    struct dg_ahead *ahead; /* NULL: the search is the host's alone */
    struct dg_rows logits;  /* [max_rows,V] */
    uint32_t max_rows, encode_rows, k_max;
    uint32_t rows_reserved, n_sentences;
    struct dg_live *pending, *live, *done, *spare; /* pending and live in order of admission */
    int32_t *ids, *pos, *slots;                    /* [max(max_rows, encode_rows)] */
    struct dg_attn_seg *segs;                      /* likewise */
    struct dg_attn_seg *cross_segs;                /* [max_rows] */
    uint32_t *want;                                /* [max_rows] */
    int32_t *force;                                /* [max_rows] */
    float *top_logprob;                            /* [max_rows,k_max] */
    int32_t *top_ids;
    float *row; /* [V] one row's logits, once a sentence needed them on the host; else NULL */
    uint64_t *list_bits; /* with a shortlist: its scratch */
    int32_t *list_ids;   /* [max_list] */
    uint32_t max_list;   /* what is longer takes the whole vocabulary */
    size_t bytes;
};

/* Check a sentence against model and limits and fill in every default. DG_EINVAL, DG_ELIMIT. */
int dg_live_resolve(const struct dg_engine *e, const struct dg_sentence *in, struct dg_search *out,
    struct dg_error *err);
/* Copy the sentence in. DG_ENOMEM leaves s reusable. */
int dg_live_begin(struct dg_live *s, uint64_t id, const struct dg_sentence *in,
    const struct dg_search *search, int32_t eos, uint32_t n_reserved, struct dg_error *err);
void dg_live_free(struct dg_live *s);

/* The slot for position t of row r, the same every time: a row's chain of blocks grows when it
 * first writes into one (a row may come to life in the middle of a block). */
int32_t dg_live_slot(struct dg_engine *e, struct dg_live *s, uint32_t r, uint32_t t);
/* Hypotheses' histories follow their parents: lists of slots move, keys and values never do. */
void dg_live_reorder(struct dg_live *s);

/* After the workspace. DG_ENOMEM. */
int dg_align_open(struct dg_engine *e, struct dg_error *err);
void dg_align_close(struct dg_engine *e);
/* The sources of a step's rows, from the weights that its cross_segs[n_segs] have written. */
void dg_align_read(struct dg_engine *e, size_t n_segs);
/* [n] of the best answer's pieces, when they are wanted or it holds the unknown piece; else NULL.
 * The beam's. */
const int32_t *dg_align_answer(const struct dg_engine *e, const struct dg_live *s);

/* e->ahead, where the device can keep a search; NULL elsewhere. DG_ENOMEM. */
int dg_ahead_open(struct dg_engine *e, struct dg_error *err);
void dg_ahead_close(struct dg_engine *e); /* without e->ahead: nothing */
/* Can the next step be given before the last one was read? When nobody who advances needs the host
 * for its choice. */
bool dg_ahead_possible(const struct dg_engine *e);
/* Give one step, then read the one before it. Rows given; when there were none, rows read. */
uint32_t dg_ahead_step(struct dg_engine *e);
/* Read what was given; its rows. */
uint32_t dg_ahead_settle(struct dg_engine *e);
/* The sentence leaves: steps that hold it are done for nobody, its place is free. */
void dg_ahead_forget(struct dg_engine *e, struct dg_live *s);

/* The sentence is finished: its room goes back, its answer waits to be polled. */
void dg_engine_retire(struct dg_engine *e, struct dg_live *s);

#endif
