/* A loaded bundle as translate/ itself sees it. Const after open: any thread. */
#ifndef DG_TRANSLATE_TRANSLATOR_TRANSLATOR_H
#define DG_TRANSLATE_TRANSLATOR_TRANSLATOR_H

#include "translate/translator/pair_search.h"
#include "translate/protected/stand_in.h"
#include "translate/translate.h"
#include "translate/translator/word_pieces.h"

/* Separators of vocabulary tokens; CR, too, because a file's lines may end in CR LF. */
#define DG_PIECE_GAPS " \t\r\n"

/* Maximum bytes passed to a tokenizer at once: it may turn three bytes into 18 characters, and
 * needs some hundred bytes of memory for each. The longest sentence of ordinary text within the
 * piece limit has half as many bytes. */
#define DG_ENCODE_BYTES 8192

struct dg_translator {
    struct dg_bundle *bundle;
    struct dg_tokenizer *source, *target;
    /* NULL: the bundle has none */
    struct dg_shortlist *shortlist;
    struct dg_model *model;
    /* [dg_bundle_pairs(bundle)] */
    struct dg_pair_search *pair_search;
    /* of the target vocabulary */
    struct dg_word_pieces words;
    /* of the target vocabulary; NULL: it has none */
    struct dg_byte_pieces *bytes;
    /* characters that the vocabularies have pieces for */
    struct dg_alphabet *alphabet;
    struct dg_stand_ins stand_ins;
};

#endif
