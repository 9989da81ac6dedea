/* Common steps of all converters for a bundle's directory: create it, add vocabularies and
 * SentencePiece models, name them in the manifest. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_OUTPUT_H
#define DG_CONVERT_OUTPUT_H

#include "base/error.h"
#include "base/json.h"
#include "model/config.h"
#include "convert/to.h"
#include "convert/vocab.h"
#include "weights/weights.h"

struct dg_convert_sides {
    /* paths; NULL: none */
    const char *source_spm, *target_spm;
    const struct dg_convert_vocab *source, *target;
};

/* Parts of a bundle. */
struct dg_convert_bundle {
    /* Its directory. */
    const char *out;
    /* From dg_convert_output_manifest; the files are added to its "files". */
    struct dg_json *manifest;
    struct dg_convert_sides sides;
    /* The converter's own part: the tensors, and further files (NULL: none). */
    void *job;
    int (*add_tensors)(void *job, struct dg_weights_writer *w, struct dg_error *err);
    int (*add_files)(void *job, struct dg_error *err);
};

/* Create the directory, write weights, vocabularies and SentencePiece models (one file where both
 * sides share it) and further files, and seal the bundle. An old bundle there stays as it is if
 * SentencePiece models or tensors are refused or the weights cannot be written. */
int dg_convert_output_write(const struct dg_convert_bundle *b, struct dg_error *err);

/* Make a manifest: format, name (SOURCE-TARGET unless given), licence, model, decoding, and in
 * "training" the original format; "pairs" and "files" are empty. DG_EINVAL: a manifest takes no
 * such name or licence. Caller frees *out, also after a failure. */
int dg_convert_output_manifest(const struct dg_convert_to *to, const char *from,
    const struct dg_config *c, struct dg_json **out, struct dg_error *err);

/* Add a pair of languages that the model translates. DG_EINVAL: a code is not a language tag. */
int dg_convert_output_pair(
    struct dg_json *m, const char *source_lang, const char *target_lang, struct dg_error *err);

#endif
