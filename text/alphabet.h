/* The characters that a model can read and write, so that others come through a translation as they
 * are. Const once filled: any thread. */
#ifndef DG_TEXT_ALPHABET_H
#define DG_TEXT_ALPHABET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_alphabet;

/* Characters that it reads, that it writes, and that it reads at the start of a word. */
enum dg_alphabet_use { DG_ALPHABET_READ, DG_ALPHABET_WRITTEN, DG_ALPHABET_FIRST, DG_ALPHABET_USES };

struct dg_alphabet *dg_alphabet_open(void);    /* NULL: no memory */
void dg_alphabet_close(struct dg_alphabet *a); /* NULL is fine */

/* All characters of s[n], valid UTF-8, are known from now on. False: no memory. */
bool dg_alphabet_add(struct dg_alphabet *a, enum dg_alphabet_use use, const char *s, size_t n);
/* All characters of s[n], valid UTF-8, are unknown again. */
void dg_alphabet_remove(struct dg_alphabet *a, const char *s, size_t n);
bool dg_alphabet_has(const struct dg_alphabet *a, enum dg_alphabet_use use, int32_t c);

#endif
