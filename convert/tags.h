/* Pieces that say which language to translate into, as OPUS-MT's models for several languages have
 * them before a source: ">>fra<<", ">>pt_BR<<". Any thread. Private to convert/. */
#ifndef DG_CONVERT_TAGS_H
#define DG_CONVERT_TAGS_H

#include "base/error.h"
#include "base/json.h"
#include "convert/language.h"
#include "convert/vocab.h"

/* Is the piece a tag? Its language as it is written ("pt_BR") and by BCP 47 ("pt-BR"). */
bool dg_convert_tag_read(
    const char *piece, char written[DG_LANGUAGE_BYTES], char code[DG_LANGUAGE_BYTES]);

/* The manifest's pairs, their tags, and the original model: `targets` is one code, or codes
 * separated by commas if the vocabulary has tags. DG_EINVAL names a code that has no tag, since the
 * model would answer in whichever language it likes. */
int dg_convert_tags_write(const struct dg_convert_vocab *v, const char *source, const char *targets,
    const char *from, struct dg_json *manifest, struct dg_error *err);

#endif
