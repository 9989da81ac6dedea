/* Splits running text into words as the Penn Treebank does, separated by spaces. Any thread. */
#ifndef DG_TEXT_TREE_TREEBANK_WORDS_H
#define DG_TEXT_TREE_TREEBANK_WORDS_H

#include "base/buffer.h"

#include <stddef.h>

/* Append the words of one English sentence text[n], a space between: punctuation, brackets, quotes
 * and currencies by themselves, "didn't" as "did n't", "it's" as "it 's", the full stop at the end
 * apart and those of abbreviations not. Words that are apart already stay as they are. Any thread.
 */
void dg_treebank_words(const char *text, size_t n, struct dg_buffer *out);

#endif
