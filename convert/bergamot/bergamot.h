/* Converts a folder with a student model, as Firefox, Bergamot and translateLocally arrange it (an
 * int8 Marian model, SentencePiece vocabularies, a lexical shortlist, perhaps a configuration that
 * names them), to a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_BERGAMOT_BERGAMOT_H
#define DG_CONVERT_BERGAMOT_BERGAMOT_H

#include "convert/marian/marian.h"

/* `o` as for dg_convert_marian, except that the model, vocabularies and shortlist are found in
 * `dir`: those that config*.yml names, or else by their usual names. NULL languages are taken from
 * the model's file name (model.ende.*). DG_ENOTFOUND or DG_EFORMAT: the message names the file that
 * is missing or ambiguous. */
int dg_convert_bergamot(const char *dir, const struct dg_convert_marian *o, struct dg_error *err);

#endif
