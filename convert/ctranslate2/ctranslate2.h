/* Converts a CTranslate2 directory (model.bin, config.json, vocabularies) of an OpenNMT or OPUS-MT
 * Transformer, or an Argos package (.argosmodel, a zip with such a directory and its SentencePiece
 * model), to a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_CTRANSLATE2_CTRANSLATE2_H
#define DG_CONVERT_CTRANSLATE2_CTRANSLATE2_H

#include "base/error.h"
#include "kernels/backend.h"

#include <stdbool.h>

struct dg_convert_ctranslate2 {
    const char *dir;
    /* SentencePiece models; target NULL: the source's; both NULL: the bundle takes pieces only.
     * Their pieces are looked up by name; their own ids are ignored. */
    const char *source_spm, *target_spm;
    /* target_lang: one code, or codes separated by commas if the vocabulary has tags
     * (convert/tags.h) */
    const char *source_lang, *target_lang;
    /* A piece that starts each answer but is not part of it, like CTranslate2's target_prefix; NULL
     * or "": none. */
    const char *target_prefix;
    const char *out;
    /* NULL: "<source>-<target>" */
    const char *name;
    /* NULL: not given */
    const char *licence;
    /* type of matrices and tables: DG_F32, DG_F16, DG_BF16; vectors stay fp32 */
    enum dg_type type;
    /* matrices and tables that are int8 in the file stay so, and are not stored as type */
    bool keep_int8;
};

/* Read, check, write the bundle. DG_EUNSUP, DG_EFORMAT name the variable, field or file. */
int dg_convert_ctranslate2(const struct dg_convert_ctranslate2 *o, struct dg_error *err);

#endif
