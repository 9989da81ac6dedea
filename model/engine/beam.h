/* Beam search without tensors (contract 5; paper section 6.1, Wu et al. 2016): takes each live
 * row's best candidates and decides which stay live, which are finished and when to stop. One
 * thread at a time per beam. Each step considers the 2K best of all candidates (ties: smaller row,
 * then smaller id). Those that end in </s> enter the finished set (the best n_best by logP/lp
 * stay); the first K others stay live. It stops when the set is full and the best live
 * logP/lp(max_len) is not above its worst score. K = 1 is greedy: only the best candidate. A piece
 * that is never put out (padding) is not a candidate, but keeps its share of the probability; a
 * byte that does not form a whole character is not a candidate either. */
#ifndef DG_MODEL_ENGINE_BEAM_H
#define DG_MODEL_ENGINE_BEAM_H

#include "base/error.h"
#include "model/byte_pieces.h"
#include "model/engine/terms.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DG_MAX_BEAM 32u

enum dg_penalty {
    DG_PENALTY_GNMT,  /* lp(Y) = ((5+|Y|)/6)^alpha */
    DG_PENALTY_POWER, /* |Y|^alpha */
    DG_PENALTY_NONE,  /* 1 */
};

#define DG_MAX_SAMPLE_TOP_K 64u

/* Draw each piece at random instead of searching; the beam is 1 then. Which ones are drawn depends
 * on seed, sentence and position: not on the batch. */
struct dg_sampling {
    /* 0 = no sampling; below 1 stays closer to the best pieces, above 1 strays from them */
    float temperature;
    /* draw from this many best pieces, 1..DG_MAX_SAMPLE_TOP_K; 0 = from all */
    uint32_t top_k;
    uint64_t seed;
};

struct dg_search {
    /* K, 1..DG_MAX_BEAM; 0 = the model's default */
    uint32_t beam;
    /* 1..K; 0 = 1 */
    uint32_t n_best;
    /* positions, </s> included; 0 = from the source's length. In dg_beam.search it also counts the
     * n_lead leading pieces */
    uint32_t max_len;
    /* least pieces of an answer, </s> included; 0 = no such limit */
    uint32_t min_len;
    /* >= 0; negative = the model's default */
    float alpha;
    enum dg_penalty penalty;
    /* the length penalty counts at most this many tokens per source token, so that a high alpha
     * does not lead to endless answers; 0 = every token */
    float penalty_cap;
    /* the same limit in tokens; dg_live_resolve computes it from penalty_cap. 0 = every token */
    uint32_t penalty_tokens;
    /* no run of this many pieces occurs twice in an answer; 0 = it may */
    uint32_t no_repeat_ngram;
    /* the first free piece is exactly the pick-th best (1 = the best); 0 = the search's choice */
    uint32_t pick;
    struct dg_sampling sampling;
};

/* Length penalty of n pieces, </s> counted. */
double dg_length_penalty(enum dg_penalty penalty, double alpha, uint32_t n);

struct dg_hypothesis {
    /* [n] with </s> unless length_limited or forced without it */
    const int32_t *ids;
    /* [n] */
    const float *token_logprob;
    uint32_t n;
    /* sum over the pieces, natural logarithm */
    double logprob;
    /* logprob / lp(n) */
    double score;
    /* the search's ranking: as score, with the row's `against` added to logprob */
    double rank;
    bool length_limited;
    /* [n] the source position with most attention for each piece */
    const int32_t *sources;
};

/* Pieces of one hypothesis, live or finished. Arrays belong to the beam's block. */
struct dg_beam_row {
    /* [t] */
    int32_t *ids;
    /* [t] */
    float *token_logprob;
    /* [t] */
    int32_t *sources;
    double logprob;
    /* with terms: the sum of dg_terms_against, which the search ranks by; otherwise 0 */
    double against;
    /* of the answer's pieces, without the n_lead leading ones */
    struct dg_terms_state settled;
};

/* Further candidates of a row: pieces that terms need next. */
struct dg_needed {
    uint32_t n;
    /* [n] */
    int32_t ids[DG_MAX_TERM_FORMS];
    float logprob[DG_MAX_TERM_FORMS];
};

/* Output of a step: k candidates of each live row r, best first. */
struct dg_candidates {
    /* [n_live,ld], of which k count */
    const float *logprob;
    /* [n_live,ld] likewise */
    const int32_t *ids;
    uint32_t k;
    size_t ld;
    /* [n_live] the source position that each row attends to most; NULL: unknown, recorded as -1 */
    const int32_t *sources;
    /* [n_live] with terms; otherwise NULL */
    const struct dg_needed *needed;
};

struct dg_beam {
    /* all fields resolved */
    struct dg_search search;
    int32_t eos;
    /* [n_prefix] borrowed */
    const int32_t *prefix;
    uint32_t n_prefix;
    /* Number of prefix pieces that are not part of the answer, its probability or its length, such
     * as the piece that names a language. dg_beam_begin sets 0 */
    uint32_t n_lead;
    /* the prefix is the whole answer */
    bool forced;
    /* id that is always passed over; dg_beam_begin sets -1 (none), the engine sets the model's */
    int32_t never;
    /* which byte may follow which; dg_beam_begin sets no rule, the engine sets the model's */
    struct dg_byte_rule bytes;
    /* terms that the answer must contain; borrowed. NULL: none, or the answer is still being spelt.
     * dg_beam_begin sets NULL */
    const struct dg_terms *terms;
    /* pieces that every live hypothesis has */
    uint32_t t;
    uint32_t n_live, n_finished;
    bool done;
    struct dg_beam_row live[DG_MAX_BEAM], next[DG_MAX_BEAM];
    /* row of the last step that each live row came from */
    uint32_t parents[DG_MAX_BEAM];
    /* [n_finished]; best first once done */
    struct dg_hypothesis finished[DG_MAX_BEAM];
    struct dg_beam_row finished_rows[DG_MAX_BEAM];
    /* memory of all rows' arrays */
    void *block;
    size_t block_bytes;
};

/* Begin a search; a beam can be reused, its memory is kept and grows when needed. search: all
 * fields resolved. DG_ENOMEM. */
int dg_beam_begin(struct dg_beam *b, const struct dg_search *search, int32_t eos,
    const int32_t *prefix, uint32_t n_prefix, bool forced, struct dg_error *err);
void dg_beam_deinit(struct dg_beam *b); /* a zeroed beam is fine */

/* Requirements of the step at t pieces: candidates per live row, and the forced id (or -1). The
 * search need not have reached it yet, if dg_beam_plain: then a candidate is passed over for its
 * own id, not for the pieces before it. */
uint32_t dg_beam_wants(const struct dg_beam *b, uint32_t t);
int32_t dg_beam_force(const struct dg_beam *b, uint32_t t);
bool dg_beam_plain(const struct dg_beam *b, uint32_t t);
/* The last piece of live row r; `start` while there is none. */
int32_t dg_beam_last(const struct dg_beam *b, uint32_t r, int32_t start);

/* Rows, one bit each, whose k candidates are too few for the step, because bytes among them are
 * passed over and the search needs more of the row than remain. The caller then gives them the best
 * of all allowed pieces. */
uint32_t dg_beam_short(const struct dg_beam *b, const struct dg_candidates *c);
/* True if any candidate is a byte that forms no character. */
bool dg_beam_offers_no_character(const struct dg_beam *b, const struct dg_candidates *c);
/* One step. Sets parents, live rows and, when the search is over, done and the sorted finished set.
 * Allocates nothing. */
void dg_beam_advance(struct dg_beam *b, const struct dg_candidates *c);

#endif
