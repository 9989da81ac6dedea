/* A loaded bundle as translate/ itself sees it. Const after open: any thread. */
#ifndef DG_TRANSLATE_TRANSLATOR_INTERNAL_H
#define DG_TRANSLATE_TRANSLATOR_INTERNAL_H

#include "translate/pair_search.h"
#include "translate/translate.h"

/* What separates vocabulary tokens; CR, because lines may come from files that end them in CR
 * LF. */
#define DG_PIECE_GAPS " \t\r\n"

/* Most bytes that a tokenizer is given at once: it may make 18 characters of three bytes, and takes
 * some hundred bytes for each while it works. The longest sentence of ordinary text within the
 * piece limit has half as many. */
#define DG_ENCODE_BYTES 8192

/* Pieces that continue a word, and pieces after which a word may start without a space (bits by
 * id). */
struct dg_word_pieces {
    uint64_t *continues, *opens;
};

struct dg_translator {
    struct dg_bundle *bundle;
    struct dg_tokenizer *source, *target;
    /* NULL: the bundle has none */
    struct dg_shortlist *shortlist;
    struct dg_model *model;
    /* [pairs of the bundle] */
    struct dg_pair_search *pair_search;
    /* of the target vocabulary */
    struct dg_word_pieces words;
    /* of the target vocabulary; NULL: it has none */
    struct dg_byte_pieces *bytes;
    /* characters that the vocabularies have pieces for */
    struct dg_alphabet *alphabet;
    /* pieces that represent protected spans; 0: words do, where there are any */
    uint32_t n_reserved;
    /* [n_reserved] each, source's and target's */
    int32_t *reserved[2];
    bool stand_ins;
};

/* Which of the bundle's pairs this is, codes compared without case; NULL fits every code. DG_EINVAL
 * names the field. */
int dg_translator_pair(const struct dg_translator *t, const char *source, const char *target,
    size_t *pair, struct dg_error *err);

#endif
