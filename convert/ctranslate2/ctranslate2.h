/* Converts a CTranslate2 directory (model.bin, config.json, vocabularies) of an OpenNMT or OPUS-MT
 * Transformer, or an Argos package (.argosmodel, a zip with such a directory and its SentencePiece
 * model), to a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_CTRANSLATE2_CTRANSLATE2_H
#define DG_CONVERT_CTRANSLATE2_CTRANSLATE2_H

#include "base/error.h"
#include "convert/to.h"

struct dg_convert_ctranslate2 {
    const char *dir;
    /* SentencePiece models; target NULL: the source's; both NULL: the bundle takes pieces only.
     * Their pieces are looked up by name; their own ids are ignored. */
    const char *source_spm, *target_spm;
    /* both languages are needed */
    struct dg_convert_to to;
    /* A piece that starts each answer but is not part of it, like CTranslate2's target_prefix; NULL
     * or "": none. */
    const char *target_prefix;
};

/* Read, check, write the bundle. DG_EUNSUP, DG_EFORMAT name the variable, field or file. */
int dg_convert_ctranslate2(const struct dg_convert_ctranslate2 *o, struct dg_error *err);

#endif
