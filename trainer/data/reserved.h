/* Reserved pieces ⟨1⟩, ⟨2⟩, ...: control pieces that no text can contain, for protected text. Any
 * thread. */
#ifndef DG_TRAINER_DATA_RESERVED_H
#define DG_TRAINER_DATA_RESERVED_H

#include "trainer/recipe/recipe.h"

#include <stdio.h>

enum { DG_RESERVED_NAME = 24 }; /* bytes of a name and its NUL, at most */

/* The name of reserved piece i: "⟨1⟩" is 0. */
static inline void dg_reserved_name(int64_t i, char out[DG_RESERVED_NAME])
{
    snprintf(out, DG_RESERVED_NAME, "\xE2\x9F\xA8%d\xE2\x9F\xA9", (int)i + 1);
}

/* In the text of a masked training pair (dg_pair.masked) the byte DG_RESERVED_FIRST + i means
 * reserved piece i: clean lines have no such bytes (trainer/data/clean.h), but lines of dev and
 * test sets may have them. */
enum { DG_RESERVED_FIRST = 0x0E };

/* The control piece before a source that a model made (tagged back-translation; Caswell et al.,
 * 2019). */
#define DG_BACK_TRANSLATED_PIECE "<bt>"
static inline bool dg_reserved_is(char c)
{
    return c >= DG_RESERVED_FIRST && c < DG_RESERVED_FIRST + DG_MAX_RESERVED;
}

#endif
