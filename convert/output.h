/* What every converter does with a bundle's directory: begin it, put vocabularies and SentencePiece
 * models in, name them in the manifest. Private to convert/. */
#ifndef DG_CONVERT_OUTPUT_H
#define DG_CONVERT_OUTPUT_H

#include "base/error.h"
#include "base/json.h"
#include "model/config.h"
#include "convert/vocab.h"
#include "weights/weights.h"

struct dg_convert_sides {
    const char *source_spm, *target_spm; /* paths; NULL: none */
    const struct dg_convert_vocab *source, *target;
};

/* The weights file, named in the manifest's "files". */
int dg_convert_write_weights(
    struct dg_weights_writer *w, const char *out, struct dg_json *manifest, struct dg_error *err);

/* Vocabularies and models, one file where both sides share it, named in the manifest's "files". */
int dg_convert_write_sides(const struct dg_convert_sides *s, const char *out,
    struct dg_json *manifest, struct dg_error *err);

/* A SentencePiece model that is none is found now, and not by the server. */
int dg_convert_check_spm(const char *path, struct dg_error *err);

/* A manifest with format, name, licence (unless NULL), model and decoding, and an empty "files";
 * NULL when memory is out or a text is not UTF-8. */
struct dg_json *dg_convert_manifest(
    const char *name, const char *licence, const struct dg_config *c, struct dg_error *err);

#endif
