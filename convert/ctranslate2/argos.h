/* An Argos package as a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_CTRANSLATE2_ARGOS_H
#define DG_CONVERT_CTRANSLATE2_ARGOS_H

#include "convert/ctranslate2/ctranslate2.h"

/* Unpack the needed parts of the .argosmodel at `path`, or take them from its unpacked directory,
 * into a temporary folder, and convert them. dir and SentencePiece models of `o` are those found
 * there; languages that are NULL come from metadata.json. DG_EUNSUP: a package with bpe.model.
 * DG_EFORMAT, DG_EIO. */
int dg_convert_argos(
    const char *path, const struct dg_convert_ctranslate2 *o, struct dg_error *err);

/* BCP 47 for a code of Argos that is none ("zt", "pb"); any other as it is. */
const char *dg_argos_language(const char *code);

#endif
