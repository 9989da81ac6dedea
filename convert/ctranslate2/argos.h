/* An Argos package as a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_CTRANSLATE2_ARGOS_H
#define DG_CONVERT_CTRANSLATE2_ARGOS_H

#include "convert/ctranslate2/ctranslate2.h"

/* Unpack what is needed of the .argosmodel at `path`, or take it from the directory that one was
 * unpacked to, into a folder of its own, which is removed, and convert it; dir and SentencePiece
 * models of `o` are those found there, languages that are NULL metadata.json's. DG_EUNSUP: a
 * package with bpe.model. DG_EFORMAT, DG_EIO. */
int dg_convert_argos(
    const char *path, const struct dg_convert_ctranslate2 *o, struct dg_error *err);

/* BCP 47 for a code of Argos that is none ("zt", "pb"); any other as it is. */
const char *dg_argos_language(const char *code);

#endif
