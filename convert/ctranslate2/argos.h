/* Converts an Argos package to a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_CTRANSLATE2_ARGOS_H
#define DG_CONVERT_CTRANSLATE2_ARGOS_H

#include "convert/ctranslate2/ctranslate2.h"

/* Convert the package at `path`: an .argosmodel, of which the needed files are unpacked into a
 * temporary folder, or the directory that it unpacks to. Its files replace dir and the
 * SentencePiece models of `o`; NULL languages come from metadata.json. DG_EUNSUP: a package with
 * bpe.model. DG_EFORMAT, DG_EIO. */
int dg_convert_argos(
    const char *path, const struct dg_convert_ctranslate2 *o, struct dg_error *err);

/* The BCP 47 code for an Argos code that is none ("zt", "pb"); any other code unchanged. */
const char *dg_argos_language(const char *code);

#endif
