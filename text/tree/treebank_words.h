/* Splits running text into words as the Penn Treebank does, separated by spaces. Any thread. */
#ifndef DG_TEXT_TREE_TREEBANK_WORDS_H
#define DG_TEXT_TREE_TREEBANK_WORDS_H

#include "base/buffer.h"

#include <stddef.h>

/* Append the words of one English sentence text[n], separated by spaces: punctuation, brackets,
 * quotes and currency signs by themselves, "didn't" as "did n't", "it's" as "it 's"; the sentence's
 * final full stop is separated, those of abbreviations are not. Words that are separate already
 * stay as they are. Any thread. */
void dg_treebank_words(const char *text, size_t n, struct dg_buffer *out);

#endif
