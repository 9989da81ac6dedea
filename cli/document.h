/* dragoman translate FILE -o FILE: a whole document of any kind that documents/ reads. One thread,
 * main's. */
#ifndef DG_CLI_DOCUMENT_H
#define DG_CLI_DOCUMENT_H

#include "cli/decode_options.h"

/* Check that `out` may be a file in a folder that exists, before any work is done for it. */
int dg_document_check_place(const char *out, struct dg_error *err);
/* Translate the file at `in` and write it to `out` (which may be the same, or "-" for standard
 * output), whole or not at all. */
int dg_translate_document(struct dragoman_model *model, const struct dg_translate_options *options,
    const char *in, const char *out, bool progress, struct dg_error *err);

#endif
