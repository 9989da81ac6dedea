/* Common steps of all converters for a bundle's directory: create it, add vocabularies and
 * SentencePiece models, name them in the manifest. Private to convert/. One thread at a time. */
#ifndef DG_CONVERT_OUTPUT_H
#define DG_CONVERT_OUTPUT_H

#include "base/error.h"
#include "base/json.h"
#include "model/config.h"
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

/* Make a manifest with format, name, licence (unless NULL), model and decoding, and an empty
 * "files". NULL: err has DG_EINVAL (a manifest takes no such name or licence) or DG_ENOMEM. */
struct dg_json *dg_convert_output_manifest(
    const char *name, const char *licence, const struct dg_config *c, struct dg_error *err);

/* Add a pair of languages that the model translates, and the original format (NULL: not given
 * here). DG_EINVAL: a code is not a language tag. */
int dg_convert_output_pair(struct dg_json *m, const char *source_lang, const char *target_lang,
    const char *from, struct dg_error *err);
/* Add the original format to "training". */
int dg_convert_output_origin(struct dg_json *m, const char *from, struct dg_error *err);

#endif
