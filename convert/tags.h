/* Language tags: pieces that name the target language and that OPUS-MT's models for several
 * languages expect before a source: ">>fra<<", ">>pt_BR<<". Any thread. Private to convert/. */
#ifndef DG_CONVERT_TAGS_H
#define DG_CONVERT_TAGS_H

#include "base/error.h"
#include "base/json.h"
#include "convert/language.h"
#include "convert/vocab.h"

/* Read a piece as a tag: its language as written ("pt_BR") and in BCP 47 ("pt-BR"). False: it is no
 * tag. */
bool dg_convert_tag_read(
    const char *piece, char written[DG_LANGUAGE_BYTES], char code[DG_LANGUAGE_BYTES]);

/* Write the manifest's pairs and their tags. `targets` is one code, or codes separated by commas if
 * the vocabulary has tags. DG_EINVAL names a code that has no tag, since the model would answer in
 * an arbitrary language. */
int dg_convert_tags_write(const struct dg_convert_vocab *v, const char *source, const char *targets,
    struct dg_json *manifest, struct dg_error *err);

#endif
