/* A short sentence in a language, to try a model with. Any thread. */
#ifndef DG_TRANSLATE_RUN_SAMPLE_H
#define DG_TRANSLATE_RUN_SAMPLE_H

/* The sentence for the first part of a code such as "pt-BR", in any letter case; the English one
 * for a language without its own. */
const char *dg_sample_sentence(const char *language);

#endif
