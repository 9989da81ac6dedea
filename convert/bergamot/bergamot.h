/* A folder with a student as Firefox, Bergamot and translateLocally lay it out (an int8 Marian
 * model, SentencePiece vocabularies, a lexical shortlist, perhaps a configuration that names them)
 * as a bundle. Any thread, one call per output. */
#ifndef DG_CONVERT_BERGAMOT_BERGAMOT_H
#define DG_CONVERT_BERGAMOT_BERGAMOT_H

#include "convert/marian/marian.h"

/* `o` as for dg_convert_marian, whose files (model, vocabularies, shortlist) are found in `dir`:
 * those that config*.yml names, else by their names. Languages that are NULL are taken from the
 * model's name (model.ende.*). DG_ENOTFOUND, DG_EFORMAT say which file is missing or there twice.
 */
int dg_convert_bergamot(const char *dir, const struct dg_convert_marian *o, struct dg_error *err);

#endif
