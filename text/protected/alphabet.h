/* The characters that a model can read and write; others are carried through a translation
 * unchanged. Const once filled: any thread. */
#ifndef DG_TEXT_PROTECTED_ALPHABET_H
#define DG_TEXT_PROTECTED_ALPHABET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_alphabet;

/* Uses of a character: the model reads it, writes it, reads it at the start of a word. */
enum dg_alphabet_use { DG_ALPHABET_READ, DG_ALPHABET_WRITTEN, DG_ALPHABET_FIRST, DG_ALPHABET_USES };

struct dg_alphabet *dg_alphabet_open(void);    /* NULL: no memory */
void dg_alphabet_close(struct dg_alphabet *a); /* NULL is fine */

/* Add all characters of s[n], valid UTF-8. False: out of memory. */
bool dg_alphabet_add(struct dg_alphabet *a, enum dg_alphabet_use use, const char *s, size_t n);
/* Remove all characters of s[n], valid UTF-8, from all uses. */
void dg_alphabet_remove(struct dg_alphabet *a, const char *s, size_t n);
bool dg_alphabet_has(const struct dg_alphabet *a, enum dg_alphabet_use use, int32_t c);

#endif
