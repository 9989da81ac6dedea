/* Terms that an answer must contain, each as a run of pieces of its own (lexically constrained
 * decoding). Pure functions over ids; any thread.
 *
 * The search (constrained.c) is beam search with dynamic beam allocation (Post & Vilar 2018) over
 * banks by the number of the terms' pieces that a hypothesis has (Hokamp & Liu 2017). */
#ifndef DG_MODEL_ENGINE_TERMS_H
#define DG_MODEL_ENGINE_TERMS_H

#include <stdbool.h>
#include <stdint.h>

/* Most terms of one sentence; a term that is wanted twice counts as two. */
#define DG_MAX_TERMS 32u
/* Most forms of all terms of one sentence together. */
#define DG_MAX_TERM_FORMS 96u

enum dg_term_place {
    DG_TERM_ANYWHERE, /* its first piece begins a word */
    DG_TERM_INSIDE,   /* without a blank before it: only after a piece of `opens` */
    DG_TERM_FIRST,    /* only at the beginning of the answer */
};

/* One way to write a term: ids[at .. at + n). Plain numbers, so that equal terms have equal bytes.
 */
struct dg_term_form {
    uint32_t term, at, n;
    /* enum dg_term_place */
    uint32_t place;
};

/* Where a term's source is: positions begin..end of the encoder's input. */
struct dg_term_source {
    uint32_t begin, end;
};

struct dg_terms {
    /* [n_forms] ascending by term; the first form of each term may be anywhere */
    const struct dg_term_form *forms;
    uint32_t n_forms;
    /* terms, 1..DG_MAX_TERMS */
    uint32_t n;
    /* [n_ids] of all forms */
    const int32_t *ids;
    uint32_t n_ids;
    /* [target vocabulary] bits. continues: pieces that continue the word before them, so that a
     * term right before one does not count; opens: pieces after which a word may begin without a
     * blank */
    const uint64_t *continues, *opens;
    /* [n] and, as `opens`, the pieces that begin a word: for dg_terms_against; NULL: unknown */
    const struct dg_term_source *sources;
    const uint64_t *begins;
};

/* The terms contained in a sequence of ids. */
struct dg_terms_state {
    /* terms present, one bit each */
    uint32_t met;
    /* no term that is missing has begun before it */
    uint32_t from;
    /* pieces of those terms, and of the one in progress */
    uint32_t pieces;
};

/* Pieces of all terms, each in its first form. */
uint32_t dg_terms_pieces(const struct dg_terms *t);
/* Move *settled, zero at first, over those of ids[n] where no later ids can change what is there:
 * a term that has been followed by another word, or none. So a sequence that grows is looked at
 * from where its terms are open, instead of from its beginning. */
void dg_terms_settle(
    const struct dg_terms *t, struct dg_terms_state *settled, const int32_t *ids, uint32_t n);
/* Find the terms in ids[n]: matched from left to right, the longest form first, without overlap.
 * settled: of a beginning of ids[n], or zero. */
struct dg_terms_state dg_terms_look(
    const struct dg_terms *t, const struct dg_terms_state *settled, const int32_t *ids, uint32_t n);
/* The pieces that start or continue a term missing in ids[n]: ids into next[cap], each once.
 * Returns how many. */
uint32_t dg_terms_next(const struct dg_terms *t, const struct dg_terms_state *s, const int32_t *ids,
    uint32_t n, int32_t *next, uint32_t cap);

/* The terms whose source has the position (-1: none), one bit each; with them those that are
 * written alike, as a term that is wanted twice is. */
uint32_t dg_terms_from(const struct dg_terms *t, int32_t position);

/* A sequence of ids, and the same one with one piece more. */
struct dg_terms_step {
    struct dg_terms_state before, after;
    int32_t id;
    /* dg_terms_next has the id for the sequence */
    bool needed;
    /* dg_terms_from where attention is when the piece is chosen, and where it was for the last */
    uint32_t here, last;
    /* [n] the source position of each piece of the sequence */
    const int32_t *sources;
    uint32_t n;
};

/* What a hypothesis loses (a sum of log-probabilities, 0 or less) when the step does not put a term
 * where its source is translated: a word of the model's own is begun there, a term that was begun
 * there is broken off, or a term is completed elsewhere. 0 without `sources`. */
double dg_terms_against(const struct dg_terms *t, const struct dg_terms_step *s);
/* True if both require the same terms. NULL: no terms. */
bool dg_terms_same(const struct dg_terms *a, const struct dg_terms *b);

#endif
