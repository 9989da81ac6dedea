/* The sign before the letter of a key in a label of a program, such as "&File" or "Save _As": a
 * model that sees it does not know the word. Any thread. Private to translate/. */
#ifndef DG_TRANSLATE_JOB_KEY_SIGN_H
#define DG_TRANSLATE_JOB_KEY_SIGN_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Where the sign was. */
struct dg_key_sign {
    /* [n] the sign: one character of dg_markup's key_signs, or "&&"; n 0: there is none */
    char s[3];
    size_t n;
    /* the byte of the label that follows it, without the sign in it */
    size_t at;
};

/* Find the only such sign in s[n], one line, that is neither in a protected span nor in a tag, and
 * before a letter that may be a key's: not that of "R&D", "a & b" or "file_name". False: there is
 * none. */
bool dg_key_sign_find(const char *signs, const char *s, size_t n, struct dg_key_sign *out);

/* Append s[n], a translation of label[n_label] (which has no sign), with the sign: before the same
 * letter at the start of a word, else within one, else before the first letter. In scripts such as
 * Chinese, "(&F)" is written at the end. *at: the byte of s that the sign was written before. */
void dg_key_sign_put(const struct dg_key_sign *sign, const char *label, size_t n_label,
    const char *s, size_t n, struct dg_buffer *out, size_t *at);

#endif
